#!/bin/sh
# Checks a lineage manifest (docs/ledger-format.md, "Manifests") with nothing of
# Probity: jq, openssl (3.0 or later), and check-proof.sh beside it, which needs
# sha256sum, base64, awk and the usual small tools. It needs neither the ledger
# nor a network. The whole file has to fit into memory.
#
#	scripts/check-manifest.sh FILE PUBKEY [SEQ …]
#
#	FILE    the DSSE envelope, or the service's reply that holds it
#	PUBKEY  the ledger's key: a file, or the key itself
#	SEQ     an event of the manifest whose proof is to be checked too; not
#	        of a complete manifest, where all events prove each other
#
# Exit status: 0 good, 1 the manifest is bad, 2 wrong usage, 3 could not be
# carried out.
#
# Checked: that the ledger's key signed the checkpoint and the event that
# certifies the manifest key, that this event is in the tree which the
# checkpoint signs, that the manifest key signed its possession and the
# manifest, that a reply's members which repeat the envelope, or the proof in
# the reply, agree with it, and that no event is void unless the manifest is
# complete. PUBKEY may be any key of the ledger whose history the manifest
# shows. Not checked: the canonical form, the other events, what is said of
# them, and the signature in a reply's proof; `probity-audit check-manifest`
# does. The members of a reply that nothing in the file shows are named.

set -u
LC_ALL=C
export LC_ALL
unset IFS
umask 077

not_done() {
	echo "check-manifest.sh: $*" >&2
	exit 3
}
bad() {
	printf 'BAD: %s: %s\n' "$1" "$2"
	exit 1
}

[ "${1-}" = --help ] && { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 0; }
[ $# -ge 2 ] || { echo "Usage: check-manifest.sh FILE PUBKEY [SEQ …]" >&2; exit 2; }
file=$1 pubkey=$2
shift 2
check_proof=$(dirname "$0")/check-proof.sh
for tool in jq openssl base64 "$check_proof"; do
	command -v "$tool" >/dev/null || not_done "$tool is needed"
done
[ -r "$file" ] || not_done "$file cannot be read"
T=$(mktemp -d) || not_done "no temporary folder"
trap 'rm -rf "$T"' EXIT
trap 'exit 3' HUP INT TERM

# signed MESSAGE BASE64: by the key in key.pem.
signed() {
	printf %s "$2" | base64 -d >"$T/sig" 2>/dev/null
	openssl pkeyutl -verify -pubin -inkey "$T/key.pem" -rawin \
		-in "$1" -sigfile "$T/sig" >/dev/null 2>&1
}

jq -e 'if has("envelope") then .envelope else . end |
	select((.payload | type) == "string")' "$file" >"$T/envelope" 2>/dev/null ||
	bad format "neither a DSSE envelope nor a reply that holds one"
type=$(jq -r .payloadType "$T/envelope")
[ "$type" = application/vnd.in-toto+json ] ||
	bad format "its payloadType is not application/vnd.in-toto+json"
jq -j .payload "$T/envelope" | base64 -d >"$T/payload" 2>/dev/null &&
	jq -e '._type == "https://in-toto.io/Statement/v1" and .predicateType ==
		"https://probity.dev/predicates/lineage-manifest/v1"' \
		"$T/payload" >/dev/null 2>&1 || bad format "it is no such Statement"

# prove FILTER: the evidence file of what the filter gives, and its check.
prove() {
	jq -cjS '.predicate | .log as $log | '"$1"' | {
		format: "probity-evidence/v1", keys: $log.keys,
		ledger: $log.origin, line: .line,
		proof: ("c2sp.org/tlog-proof@v1\nindex \(.seq)\n" +
			([.path[] + "\n"] | add // "") + "\n" + $log.checkpoint)}' \
		"$T/payload" >"$T/evidence" 2>/dev/null && [ -s "$T/evidence" ] ||
		bad format "it has no such evidence"
	"$check_proof" "$T/evidence" "$pubkey" >"$T/verdict" && return
	status=$?
	cat "$T/verdict"
	exit $status
}
prove .log.key_event
jq -r '.predicate.log | "  size     \(.size)", "  root     \(.root_sha256)"' \
	"$T/payload" >"$T/said"
grep -E '^  (size|root)  ' "$T/verdict" | cmp -s - "$T/said" ||
	bad checkpoint "size or root_sha256 in log is not the checkpoint's"
jq -j '.line | sub("^[^ ]+ "; "")' "$T/evidence" >"$T/event"
jq -e '.type == "manifest_key.certified" and .data.purpose == "manifest"' \
	"$T/event" >/dev/null || bad key "key_event does not certify a manifest key"
key=$(jq -r .data.public_key "$T/event")
origin=$(jq -r .ledger "$T/event")

printf %s "${key#ssh-ed25519 }" | base64 -d >"$T/blob" 2>/dev/null
{ printf '\060\052\060\005\006\003\053\145\160\003\041\000'
	tail -c 32 "$T/blob"; } |
	openssl pkey -pubin -inform DER -out "$T/key.pem" 2>/dev/null ||
	bad key "key_event certifies something that is no key"
printf 'probity-key/v1\n%s\nmanifest\n%s\n' "$origin" "$key" >"$T/possession"
signed "$T/possession" "$(jq -r .data.possession "$T/event")" ||
	bad key "the manifest key's statement of possession is not signed by it"

keyid=SHA256:$(openssl dgst -sha256 -binary "$T/blob" | base64 | tr -d =)
n=$(($(wc -c <"$T/payload")))
{ printf 'DSSEv1 %d %s %d ' ${#type} "$type" $n; cat "$T/payload"; } >"$T/pae"
signed "$T/pae" "$(jq -r --arg id "$keyid" \
	'.signatures[] | select(.keyid == $id) | .sig' "$T/envelope")" ||
	bad signature "the manifest is not signed by the key $keyid"

sha=$(sha256sum <"$T/payload" | cut -d' ' -f1)
# A reply repeats the envelope, and its evidence the proof: what disagrees, and
# what nothing in the file shows.
: >"$T/unchecked"
if jq -e 'has("envelope")' "$file" >/dev/null; then
	jq -r --arg sha "$sha" --argjson bytes "$n" --slurpfile said "$T/payload" '
		. as $reply | $said[0].predicate as $p | {status: "sealed",
			scope: $p.scope, size: $p.log.size,
			event_count: ($p.evidence | length),
			generated_at: $p.generated_at, manifest: $said[0],
			manifest_sha256: $sha, bytes: $bytes} as $wanted |
		((.proof // "") | [capture("\nindex (?<seq>[0-9]+)\n(?<path>([^\n]+\n)*)\n(?<checkpoint>(.|\n)*)$")] |
			.[0] // {}) as $proof |
		({ledger: $p.log.origin} + if $proof.seq then {checkpoint: $proof.checkpoint,
			seq: ($proof.seq | tonumber)} else {} end) as $seal |
		($wanted | keys[] | select($reply[.] != $wanted[.]) | "bad " + .),
		("progress", "fault" | select($reply[.] != null) | "bad " + .),
		((.evidence // {}) | to_entries[] | if $seal[.key] == null
			then "unchecked evidence." + .key
			elif .value != $seal[.key] then "bad evidence." + .key
			else empty end),
		(keys - ($wanted | keys) - ["envelope", "evidence", "fault", "progress"] |
			.[] | "unchecked " + .)' \
		"$file" >"$T/compared" 2>/dev/null ||
		bad reply "its members are not those of a reply"
	odd=$(sed -n 's/^bad //p' "$T/compared" | head -n 1 | tr -d '\000-\037\177')
	[ -z "$odd" ] || bad reply "$odd is not what the envelope or the proof says"
	sed -n 's/^unchecked //p' "$T/compared" >"$T/unchecked"
fi

# The keys are proved by now, revocations with them. A void event had no effect:
# only who shows the whole ledger shows it.
jq -r '.predicate | [.log.keys[] | select(.line).line | sub("^[^ ]+ "; "") |
	fromjson | select(.type == "key.revoked") | {from: .data.size, to: .seq}] as $gone |
	.evidence[].seq as $seq | select(any($gone[]; $seq >= .from and $seq < .to)) |
	$seq' "$T/payload" >"$T/void" || bad format "it has no such evidence"
if [ -s "$T/void" ]; then
	jq -e .predicate.log.complete "$T/payload" >/dev/null ||
		bad event "event $(head -n 1 "$T/void") is void, and the manifest is not complete"
fi
for seq in "$@"; do
	prove ".evidence[] | select((.seq | tostring) == \"${seq%%[!0-9]*}\")"
	head -n 1 "$T/verdict"
done

jq -r --arg sha "$sha" --arg key "$keyid" '.predicate |
	"Good: signed by a key that the ledger certifies.",
	"  scope    \(.scope.type) \(.scope.id)", "  made     \(.generated_at)",
	"  sha256   \($sha)", "  ledger   \(.log.origin)",
	"  size     \(.log.size)", "  root     \(.log.root_sha256)",
	"  key      \($key), certified by event \(.log.key_event.seq)"' \
	"$T/payload" | tr -d '\000-\011\013-\037\177'
[ ! -s "$T/void" ] ||
	printf '%d of the events are void: a key was revoked after them, and they have no effect.\n' \
		"$(wc -l <"$T/void")"
[ ! -s "$T/unchecked" ] ||
	printf 'Not checked: %s.\n' "$(tr -d '\000-\011\013-\037\177' <"$T/unchecked" |
		paste -s -d ' ' - | sed 's/ /, /g')"
exit 0
