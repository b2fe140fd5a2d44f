#!/bin/sh
# Verifies a Probity ledger with nothing of Probity: git, ssh-keygen, openssl
# (3.0 or later), sha256sum, awk and the usual small tools. It trusts the public
# key it is given and, if there is one, the checkpoint that was kept.
#
#	scripts/verify.sh REPO PUBKEY [CHECKPOINT]
#	    [--continues OLD [--old-key KEY]] ...
#
#	REPO        a bare repository or a clone of one
#	PUBKEY      the ledger's key: a file, or the key itself: an OpenSSH line,
#	            PEM, or a signed-note verifier key. After a change of the key
#	            any that the ledger had; a file may hold several, a line each:
#	            the first that the ledger names counts, and each for CHECKPOINT
#	CHECKPOINT  a file with a signed checkpoint kept from before
#	OLD         the repository of the closed ledger that this one continues;
#	            after it, the one that was before that, and so on
#	KEY         its key; without it the one that its event 0 names, for which
#	            this ledger's event 0 vouches
#
# It writes nothing but a temporary folder and needs no network. Exit status: 0
# good, 1 the ledger is bad, 2 wrong usage, 3 could not be carried out. The
# first fault is named in the words of `probity-audit verify`.
#
# Checked: all that docs/ledger-format.md lists under "What a verifier must
# check", with one exception. That an event is in canonical form (RFC 8785) is
# checked for the members around `data`, not inside `data`, nor for escapes in
# strings: plain tools cannot. The bytes are what is hashed and signed all the
# same, so nothing can be changed behind that; only an event that its signer
# made in another form would pass here and not with `probity-audit verify`.
#
# An event takes about 20 ms, and each batch some 0.2 s more: openssl is started
# for each signature and each node of the Merkle tree, git and ssh-keygen for each
# commit. For a long ledger, or one of many small batches, use probity-audit.

set -u
LC_ALL=C
export LC_ALL
unset IFS
umask 077

# Nothing that a repository or its user has configured may take part.
GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_NO_REPLACE_OBJECTS=1
GIT_GRAFT_FILE=/dev/null GIT_OPTIONAL_LOCKS=0 GIT_ALLOW_PROTOCOL=none
GIT_TERMINAL_PROMPT=0
export GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_NO_REPLACE_OBJECTS \
	GIT_GRAFT_FILE GIT_OPTIONAL_LOCKS GIT_ALLOW_PROTOCOL GIT_TERMINAL_PROMPT
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY \
	GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_NAMESPACE GIT_COMMON_DIR

usage() {
	echo "Usage: verify.sh REPO PUBKEY [CHECKPOINT]" \
		"[--continues OLD [--old-key KEY]] ..." >&2
	exit 2
}
not_done() {
	echo "verify.sh: $*" >&2
	exit 3
}
# bad SEQ CHECK REASON
bad() {
	[ -t 2 ] && printf '\r\033[K' >&2
	printf 'BAD: event %s: %s: %s\n' "$1" "$2" "$3"
	printf 'Found good before that: %s events in %s batches, %s payloads.\n' \
		"$size" "$batches" "$n_payloads"
	exit 1
}

[ "${1-}" = --help ] && { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 0; }
[ $# -ge 2 ] || usage
repo=$1 pubkey=$2 kept=
shift 2
case ${1-} in '' | --*) ;; *) kept=$1; shift ;; esac
# What is left are the closed ledgers.
check_older() {
	while [ $# -gt 0 ]; do
		[ "$1" = --continues ] && [ $# -ge 2 ] || usage
		shift 2
		[ "${1-}" != --old-key ] || { [ $# -ge 2 ] || usage; shift 2; }
	done
}
check_older "$@"
for tool in git ssh-keygen openssl sha256sum awk base64 od tac; do
	command -v "$tool" >/dev/null || not_done "$tool is needed"
done
T=$(mktemp -d) || not_done "no temporary folder"
trap 'rm -rf "$T"' EXIT
trap 'exit 3' HUP INT TERM

g() {
	git -c safe.directory='*' -c core.commitGraph=false \
		-c core.hooksPath=/dev/null -c core.fsmonitor=false \
		-c gpg.format=ssh -c gpg.ssh.program=ssh-keygen \
		-c gpg.ssh.allowedSignersFile="$T/allowed" \
		-c gpg.ssh.revocationFile= -c gpg.minTrustLevel=undefined \
		-C "$repo" "$@" 2>>"$T/messages"
}

# The pinned key, as 32 bytes, as PEM and as OpenSSH writes it.

key_bytes() {
	case $1 in
	*'BEGIN PUBLIC KEY'*)
		printf '%s\n' "$1" | openssl pkey -pubin -outform DER ;;
	*'ssh-ed25519 '*)
		printf '%s' "${1##*ssh-ed25519 }" | cut -d' ' -f1 | base64 -d ;;
	*+*+*)
		printf '%s' "${1#*+*+}" | base64 -d ;;
	esac 2>/dev/null | tail -c 32
}
if [ -f "$pubkey" ]; then
	text=$(head -c 65536 "$pubkey") || not_done "$pubkey cannot be read"
else
	text=$pubkey
fi
key_pem() {
	{ printf '\060\052\060\005\006\003\053\145\160\003\041\000'
		cat "$T/key"; } |
		openssl pkey -pubin -inform DER -out "$T/key.pem" 2>/dev/null
}
# add_given TEXT: a line of `given` for the key, as OpenSSH writes it.
add_given() {
	key_bytes "$1" >"$T/key"
	[ "$(wc -c <"$T/key")" -eq 32 ] && key_pem ||
		not_done "$pubkey is neither a file with a public key, or one a line, nor a key"
	echo "ssh-ed25519 $({ printf '\000\000\000\013ssh-ed25519\000\000\000\040'
		cat "$T/key"; } | base64 -w0)" >>"$T/given"
}
case $text in
*'BEGIN PUBLIC KEY'*) add_given "$text" ;;
*)
	printf '%s\n' "$text" | grep -v -e '^[[:space:]]*$' -e '^#' >"$T/lines" ||
		not_done "$pubkey holds no key"
	while IFS= read -r line; do add_given "$line"; done <"$T/lines" ;;
esac
read -r ssh_key <"$T/given"

# Helpers. Hashes of files, in hex; a signature over a file.

sha() {
	sha256sum <"$1" | cut -d' ' -f1
}
hex() {
	od -An -v -tx1 "$1" | tr -d ' \n'
}
signed_by_key() {
	openssl pkeyutl -verify -pubin -inkey "$T/key.pem" -rawin \
		-in "$1" -sigfile "$2" >/dev/null 2>&1
}
# token_of LIST: writes the one signature by the key, 64 bytes, to $T/sig. Four
# bytes of key id are five characters of base64 and a part of the sixth.
token_of() {
	found=0
	case $1 in ,* | *, | *,,*) return 1 ;; esac
	for token in $(printf %s "$1" | tr ',' ' '); do
		case $token in
		"$token_start"[$token_sixth]*)
			[ ${#token} -eq 92 ] && [ $found = 0 ] || return 1
			found=1
			printf %s "$token" | base64 -d 2>/dev/null |
				tail -c +5 >"$T/sig" ;;
		esac
	done
	[ $found = 1 ]
}
# fetch KIND OID FILE: an object whose bytes are what its name says.
fetch() {
	g cat-file "$1" "$2" >"$3" &&
		[ "$(g hash-object -t "$1" --stdin <"$3")" = "$2" ]
}
# note_good FILE ORIGIN: a signed note of three lines with one signature by the
# key, and perhaps others after it.
note_good() {
	head -n 3 "$1" >"$T/note.text"
	[ "$(sed -n 4p "$1")" = "" ] || return 1
	line=$(sed -n 5,99p "$1" | awk -v p="— $2 " \
		'index($0, p) == 1 { print substr($0, length(p) + 1); exit }')
	token_of "$line" && signed_by_key "$T/note.text" "$T/sig"
}
set_key_id() {
	{ printf '%s\n\001' "$1"; cat "$T/key"; } |
		openssl dgst -sha256 -binary | head -c 4 >"$T/id"
	token_start=$(base64 -w0 <"$T/id" | cut -c1-5)
	case $(hex "$T/id") in
	*[048c]) token_sixth=A-P ;;
	*[159d]) token_sixth=Q-Za-f ;;
	*[26ae]) token_sixth=g-v ;;
	*) token_sixth='w-z0-9+/' ;;
	esac
}

# The Merkle tree: files f.0, f.1, … hold the roots of full subtrees.

merkle_node() {
	{ printf '\001'; cat "$1" "$2"; } | openssl dgst -sha256 -binary >"$3"
}
# append HASH_FILE: it becomes the hash of leaf number $size
append() {
	mv "$1" "$T/node"
	level=0 rest=$size
	while [ $((rest % 2)) -eq 1 ]; do
		merkle_node "$T/f.$level" "$T/node" "$T/node.up"
		mv "$T/node.up" "$T/node"
		level=$((level + 1)) rest=$((rest / 2))
	done
	mv "$T/node" "$T/f.$level"
}
# root: base64, of the first $size events
root() {
	level=0 rest=$size some=0
	[ "$size" -gt 0 ] || printf '' | openssl dgst -sha256 -binary >"$T/root"
	while [ "$rest" -gt 0 ]; do
		if [ $((rest % 2)) -eq 1 ] && [ $some = 1 ]; then
			merkle_node "$T/f.$level" "$T/root" "$T/root.up"
			mv "$T/root.up" "$T/root"
		elif [ $((rest % 2)) -eq 1 ]; then
			cp "$T/f.$level" "$T/root"
			some=1
		fi
		level=$((level + 1)) rest=$((rest / 2))
	done
	base64 -w0 <"$T/root"
}
compare_kept() {
	[ "$(root)" = "$kept_root" ] || bad 0 consistency \
		"the history was rewritten: the first $kept_size events have another root than the kept checkpoint"
	compared=1
}

# Goes over a batch's lines. For each event: file ev.<i> with its bytes, leaf.<i>
# with a zero byte before them, and a line "<signatures> <prev> <at> <type>
# <subject>"; its payloads go to `named`. A fault ends it with a line
# "! <check> <reason>".
read_lines() {
	awk -v dir="$T" -v origin="$origin" -v seq="$size" -v last="$last_at" '
	function put(prefix, bytes,    file) {
		file = sprintf("%s/%s.%03d", dir, prefix, NR - 1)
		printf "%s", bytes >file
		close(file)
	}
	function fault(check, why) {
		put("ev", "")
		print "! " check " " why
		exit
	}
	function member(name) {
		fault("event", "an unknown member, or " name \
		    " missing or malformed")
	}
	# Where t stands last in s. A quote inside a JSON string is escaped, so
	# these texts only ever match between members.
	function last_index(s, t,    at, i, from) {
		from = 1
		while ((i = index(substr(s, from), t)) > 0) {
			at = from + i - 1
			from = at + length(t)
		}
		return at
	}
	function name_payloads(s, i,    p, hash, size) {
		while ((p = index(s, ",\"sha256\":\"")) > 0) {
			hash = substr(s, p + 11, 64)
			s = substr(s, p + 75)
			if (hash !~ /^[0-9a-f]+$/ || length(hash) != 64 ||
			    s !~ /^","size":(0|[1-9][0-9]*)[}]/)
				member("payloads")
			size = substr(s, 10, index(s, "}") - 10)
			print hash, size, i >(dir "/named")
		}
	}
	BEGIN {
		FS = "\001"
		word = "[a-z][a-z0-9_]*"
		uid = "\"[0-9a-f-]+\""
		tail = "^[0-9a-f]+\",\"request\":(null|" uid \
		    "),\"seq\":(0|[1-9][0-9]*),\"subject\":[{]\"kind\":\"" \
		    word "\",\"uid\":" uid "[}],\"type\":\"" word \
		    "([.]" word ")+\",\"uid\":" uid ",\"v\":1[}]$"
	}
	{
		sp = index($0, " ")
		if (sp < 2)
			fault("event", "a line without signatures")
		signatures = substr($0, 1, sp - 1)
		e = substr($0, sp + 1)
		if (length(e) < 1 || length(e) > 65535)
			fault("event", "an event of " length(e) \
			    " bytes; it has 1 to 65535")
		if (NR > 256 || (bytes += length(e)) > 4194304)
			fault("commit", "the batch is larger than a batch can be")
		put("ev", e)
		at_place = index(e, "},\"at\":\"")
		at = substr(e, at_place + 8, 27)
		if (index(e, "{\"actor\":{") != 1 || at_place == 0)
			member("actor")
		if (at !~ /^[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9][.][0-9][0-9][0-9][0-9][0-9][0-9]Z$/)
			member("at")
		if (index(substr(e, at_place + 35), "\",\"data\":{") != 1)
			member("data")
		p = last_index(e, ",\"prev\":\"")
		t = substr(e, p + 9)
		if (p == 0 || t !~ tail || substr(t, 65, 1) != "\"")
			member("prev, request, seq, subject, type, uid or v")
		head = substr(e, 1, p - 1)
		l = last_index(head, ",\"ledger\":\"")
		rest = substr(head, l + 11)
		if (index(rest, origin "\"") != 1)
			fault("event", "the event is of another ledger")
		rest = substr(rest, length(origin) + 2)
		if (rest != "" && (index(rest, ",\"payloads\":[{") != 1 ||
		    substr(rest, length(rest) - 1) != "}]"))
			member("payloads")
		match(t, /"seq":[0-9]+/)
		n = substr(t, RSTART + 6, RLENGTH - 6)
		match(t, /"type":"[^"]+/)
		type = substr(t, RSTART + 8, RLENGTH - 8)
		match(t, /"subject":.*/)
		subject = substr(t, RSTART, RLENGTH)
		match(subject, /"uid":"[^"]+/)
		subject = substr(subject, RSTART + 7, RLENGTH - 7)
		if (n != seq "")
			fault("chain", "seq is " n " where " seq " belongs")
		if (at < last)
			fault("chain", \
			    "at is earlier than that of the event before")
		seq++
		last = at
		name_payloads(rest, NR - 1)
		print signatures, substr(t, 1, 64), at, type, subject
	}' "$T/events"
}

# Listing, from the branch back.

size=0 batches=0 n_payloads=0 head=$(printf '%064d' 0)
last_at= origin= closed=0 compared=0 kept_size=

g rev-parse --git-dir >/dev/null || not_done "$repo is not a git repository"
tip=$(g rev-parse --verify -q refs/heads/main) || tip=
commit=$tip child=
: >"$T/list"
while [ -n "$commit" ]; do
	if ! fetch commit "$commit" "$T/commit"; then
		seq=0
		if [ -n "$child" ]; then
			seq=$(g cat-file blob "$child:events" | head -n 1 |
				sed -n 's/.*,"seq":\([0-9]*\),"subject".*/\1/p')
			seq=$((${seq:-1} - 1))
		fi
		bad "$seq" repository "commit $commit cannot be read"
	fi
	echo "$commit" >>"$T/list"
	child=$commit
	commit=$(sed -n '/^$/q;s/^parent //p' "$T/commit" | head -n 1)
done
tac "$T/list" >"$T/commits"

# The keys. `history` has a line for each: from, until or -, the window for stock
# git in seconds or 0, 1 for a recovery key, the key. `pinned` are the
# allowed_signers that follow from it, `allowed` only the key that has to sign.

# member_of EVENT NAME END: the OpenSSH line in a member that END follows.
member_of() {
	printf '%s\n' "$1" | sed -n \
		"s/.*\"$2\":\"\(ssh-ed25519 [A-Za-z0-9+\/=]*\)$3.*/\1/p"
}
# use_key LINE: it has to sign what comes next.
use_key() {
	in_force=$1
	key_bytes "$1" >"$T/key"
	key_pem || return 1
	set_key_id "$origin"
	printf '%s namespaces="git" %s\n' "$origin" "$1" >"$T/allowed"
}
# names_key LINE: whether some later event names the key. What it is worth is seen
# on the way there.
names_key() {
	g cat-file blob "$tip:allowed_signers" | grep -qF " $1"
}
# kept_good: whether a key given, or one of the ledger's, signed what was kept. Sets
# kept_id, the key id of the first signature there, and kept_known, whether it is
# that of such a key.
kept_good() {
	kept_known=0
	awk -v p="— $kept_origin " \
		'index($0, p) == 1 { print substr($0, length(p) + 1); exit }' \
		"$kept" | base64 -d 2>/dev/null | head -c 4 >"$T/id"
	kept_id=$(hex "$T/id")
	cp "$T/given" "$T/all"
	[ -z "$tip" ] || g cat-file blob "$tip:allowed_signers" |
		sed 's/.*ssh-ed25519 /ssh-ed25519 /' >>"$T/all"
	while read -r line; do
		key_bytes "$line" >"$T/key"
		key_pem && set_key_id "$kept_origin" || continue
		[ "$(hex "$T/id")" != "$kept_id" ] || kept_known=1
		note_good "$kept" "$kept_origin" && return 0
	done <"$T/all"
	return 1
}
# is_beyond: what was kept may be of this ledger, from a time that is not here.
is_beyond() {
	[ ${#kept_id} -eq 8 ] && [ $kept_known = 0 ] && [ -n "$tip" ] &&
		[ "$kept_origin" = "$origin" ] && [ "$kept_size" -gt "$(g log -1 \
		--format=%B "$tip" | sed -n 's/^Ledger-Size: //p')" ] 2>/dev/null
}
stamp() {
	date -u -d "@$1" +%Y%m%d%H%M%SZ
}
# write_signers: `pinned`, from `history`.
write_signers() {
	while read -r from until after before recovers key; do
		[ "$before" = 0 ] || [ "$before" -gt "$after" ] || continue
		options='namespaces="git"'
		[ "$after" = 0 ] || options="$options,valid-after=\"$(stamp "$after")\""
		[ "$before" = 0 ] ||
			options="$options,valid-before=\"$(stamp "$before")\""
		echo "$origin $options $key"
	done <"$T/history" >"$T/pinned"
}
# possession_good KEY BASE64: the new key signed that it is this ledger's.
possession_good() {
	printf 'probity-key/v1\n%s\nledger\n%s\n' "$origin" "$1" >"$T/statement"
	printf %s "$2" | base64 -d >"$T/sig" 2>/dev/null || return 1
	key_bytes "$1" >"$T/key"
	key_pem && [ "$(wc -c <"$T/sig")" -eq 64 ] &&
		signed_by_key "$T/statement" "$T/sig"
}
# last_good SIZE ROOT: the second of the commit that ended at that size.
last_good() {
	head -n "$batches" "$T/commits" | tac | while read -r c; do
		g cat-file commit "$c" >"$T/earlier"
		grep -qxF "Ledger-Size: $1" "$T/earlier" || continue
		grep -qxF "Ledger-Root: $2" "$T/earlier" &&
			sed -n 's/^committer .* \([0-9]*\) +0000$/\1/p' "$T/earlier"
		break
	done
}
# follow_keys: what the batch's last event does to the keys. Sets signs, the key
# that has to sign the batch, and next_key, in force after it or empty.
follow_keys() {
	signs=$in_force next_key=
	g cat-file blob "$commit:allowed_signers" | cmp -s - "$T/pinned" &&
		return 0
	last=$(tail -n 1 "$T/events")
	case $last in
	*'"},"type":"key.rotated","uid":"'*) kind=rotated ;;
	*'"},"type":"key.revoked","uid":"'*) kind=revoked ;;
	*) return 0 ;;
	esac
	seq=$((size + $(wc -l <"$T/events") - 1))
	second=$(date -u -d "$(printf '%s\n' "$last" |
		sed -n 's/.*},"at":"\([0-9T:-]*\)[.][0-9]*Z","data":.*/\1/p')Z" +%s) ||
		bad "$seq" event "at cannot be read"
	data=$(printf '%s\n' "$last" |
		sed -n 's/.*Z","data":\({[^{}]*}\),"idempotency":.*/\1/p')
	case $kind:$data in
	rotated:'{"possession":"'*'","public_key":"ssh-ed25519 '*'"}')
		next_key=$(member_of "$data" public_key '"}') ;;
	revoked:'{"possession":"'*'","public_key":"ssh-ed25519 '*'","revoked":"ssh-ed25519 '*'","root":"'*'","size":'*'}')
		next_key=$(member_of "$data" public_key '",')
		revoked=$(member_of "$data" revoked '",')
		good_root=$(printf '%s\n' "$data" |
			sed -n 's/.*"root":"\([0-9a-f]*\)".*/\1/p')
		good_size=$(printf '%s\n' "$data" |
			sed -n 's/.*"size":\([1-9][0-9]*\)}$/\1/p') ;;
	esac
	[ -n "$next_key" ] || bad "$seq" signers \
		"key.$kind has other members than it should"
	possession=$(printf '%s\n' "$data" |
		sed -n 's/^{"possession":"\([A-Za-z0-9+\/=]*\)".*/\1/p')
	possession_good "$next_key" "$possession" || bad "$seq" signers \
		"the new key did not sign that it is this ledger's"
	if grep -qF " $next_key" "$T/history" || [ "$next_key" = "$recovery" ]; then
		bad "$seq" signers "the new key is one that this ledger has or had"
	fi
	count=$(wc -l <"$T/history")
	case $kind in
	rotated) [ "$count" -lt 62 ] ;;
	revoked) [ "$count" -le 62 ] ;;
	esac || bad "$seq" signers \
		"the ledger has had $count keys, and can have no more"
	follow_$kind
	[ $kind = rotated ] || [ "$good_size" = "$seq" ] ||
		echo "$((seq - good_size)) events from seq $good_size are void: event $seq revokes the key that signed them." \
			>>"$T/void"
	mv "$T/history.new" "$T/history"
	write_signers
}
follow_rotated() {
	awk -v seq="$seq" -v at="$second" -v key="$next_key" '
	$2 == "-" {
		before = $3 != 0 && at <= $3 ? $3 + 1 : at
		$2 = seq
		$4 = before
	}
	{ print }
	END { print seq + 1, "-", before + 1, 0, 0, key }' \
		"$T/history" >"$T/history.new"
}
follow_revoked() {
	signs=$recovery
	[ -n "$good_size" ] && [ "$good_size" -le "$seq" ] || bad "$seq" signers \
		"the last good size is not one that the ledger has had"
	good_second=$(last_good "$good_size" "$good_root")
	[ -n "$good_second" ] || bad "$seq" signers \
		"the root that a revocation names is not that of its size"
	awk -v seq="$seq" -v at="$second" -v key="$next_key" -v size="$good_size" \
		-v good="$good_second" -v revoked="$revoked" \
		-v recovery="$recovery" '
	$5 == 1 && size <= $1 { wrong = 1 }
	size >= $1 && ($2 == "-" || size <= $2) && $6 " " $7 != revoked { wrong = 1 }
	$2 != "-" && $2 < size { print; next }
	{
		if ($1 >= size)
			$4 = $3 ? $3 : -1
		else
			$4 = $3 != 0 && good <= $3 ? $3 + 1 : good
		if ($2 != "-") { print; next }
		if ($1 == seq) next
		$2 = seq - 1
		print
	}
	END {
		print seq, seq, at, at + 1, 1, recovery
		print seq + 1, "-", at + 2, 0, 0, key
		exit wrong
	}' "$T/history" >"$T/history.new" || bad "$seq" signers \
		"the revoked key is not the one that was in force then"
}

# What event 0 says, and whether the key is one of the ledger's.

if [ -n "$tip" ]; then
	fetch commit "$child" "$T/commit" &&
		g cat-file blob "$child:events" >"$T/events" ||
		bad 0 repository "the first batch cannot be read"
	first=$(head -n 1 "$T/events")
	origin=$(printf '%s\n' "$first" |
		sed -n 's/.*,"ledger":"\([a-z0-9._\/-]*\)".*/\1/p')
	case $first in
	*'"type":"ledger.opened"'*) ;;
	*) origin= ;;
	esac
	[ -n "$origin" ] && [ ${#origin} -le 200 ] ||
		bad 0 event "event 0 does not open a ledger"
	case $first in
	*'","data":{"algorithms":{"hash":"sha256","signature":"ed25519","tree":"rfc6962-sha256"},"continues":'*',"public_key":"ssh-ed25519 '*'","recovery_key":"ssh-ed25519 '*'"},"idempotency":'*) ;;
	*) bad 0 event "ledger.opened names algorithms that are not known, or other members than it should" ;;
	esac
	first_key=$(member_of "$first" public_key '",')
	recovery=$(member_of "$first" recovery_key '"}')
	named=
	while read -r ssh_key; do
		[ "$first_key" = "$ssh_key" ] || names_key "$ssh_key" || continue
		named=1
		break
	done <"$T/given"
	[ -n "$named" ] || bad 0 signers \
		"event 0 names another key, which is not the key given"
	echo "0 - 0 0 0 $first_key" >"$T/history"
	use_key "$first_key"
fi

if [ -n "$kept" ]; then
	[ -r "$kept" ] || not_done "$kept cannot be read"
	kept_origin=$(sed -n 1p "$kept") kept_size=$(sed -n 2p "$kept")
	kept_root=$(sed -n 3p "$kept")
	case $kept_size in
	'' | *[!0-9]* | 0?*) not_done "$kept does not hold a signed checkpoint" ;;
	esac
	if ! kept_good && ! is_beyond; then
		why="its signature is bad"
		[ $kept_known = 1 ] || why="give a file with this key and that of key id ${kept_id:-?}, a line each"
		not_done "the checkpoint in $kept is not signed by this key, nor by another one of this ledger: $why"
	fi
	if [ -n "$origin" ]; then
		[ "$kept_origin" = "$origin" ] || bad 0 consistency \
			"the kept checkpoint is of another ledger"
		use_key "$first_key"
	fi
	[ "$kept_size" != 0 ] || compare_kept
fi

# One batch after the other.

# check_entries TREE: writes the names' object ids to variables.
check_entries() {
	events= checkpoint= signers= payloads=
	g ls-tree "$1" >"$T/entries" ||
		bad "$size" repository "tree $1 cannot be read"
	while read -r mode kind oid name; do
		case "$mode $kind $name" in
		'100644 blob events') [ -z "$events" ] && events=$oid && continue ;;
		'100644 blob checkpoint')
			[ -z "$checkpoint" ] && checkpoint=$oid && continue ;;
		'100644 blob allowed_signers')
			[ -z "$signers" ] && signers=$oid && continue ;;
		'040000 tree payloads')
			[ -z "$payloads" ] && payloads=$oid && continue ;;
		'100644 blob x-'*)
			fetch blob "$oid" "$T/extra" ||
				bad "$size" repository "an x- entry $oid cannot be read"
			grep -qxF "Ledger-X: $name $(sha "$T/extra")" "$T/trailers" ||
				bad "$size" commit \
				"entry $name is not listed by a trailer Ledger-X"
			continue ;;
		esac
		bad "$size" commit "entry $name is not known, or there twice"
	done <"$T/entries"
	[ -n "$events" ] || bad "$size" commit "entry events is missing"
	[ -n "$checkpoint" ] || bad "$size" commit "entry checkpoint is missing"
	[ -n "$signers" ] || bad "$size" commit "entry allowed_signers is missing"
}

# check_header PARENT: the header's lines in the only order there is.
check_header() {
	awk -v parent="$1" '
	BEGIN {
		n = split(parent ? "tree parent author committer gpgsig" \
		    : "tree author committer gpgsig", want, " ")
		i = 1
	}
	i > n && /^ / { next }
	i > n { good = $0 == ""; exit }
	index($0, want[i] " ") != 1 { exit }
	want[i] == "parent" && $0 != "parent " parent { exit }
	{ i++ }
	END { exit !good }' "$T/commit"
}

# trailer NAME: its value, if it is there once
trailer() {
	awk -v p="$1: " 'index($0, p) == 1 { v = substr($0, length(p) + 1); n++ }
		END { if (n == 1) print v }' "$T/trailers"
}

# The events of the batch: signatures, hashes, chain, tree.
check_events() {
	: >"$T/named"
	rm -f "$T"/ev.* "$T"/leaf.* "$T"/hash.*
	read_lines >"$T/lines"
	[ -s "$T/lines" ] || bad "$size" commit "the batch has no events"
	for file in "$T"/ev.*; do
		{ printf '\000'; cat "$file"; } >"$T/leaf.${file##*/ev.}"
	done
	openssl dgst -sha256 -binary "$T"/leaf.* |
		split -b 32 -d -a 3 - "$T/hash."
	sha256sum "$T"/ev.* | cut -d' ' -f1 | paste -d' ' - "$T/lines" \
		>"$T/hashed"
	[ "$(tail -c 1 "$T/events" | od -An -tx1 | tr -d ' ')" = 0a ] ||
		cut_short=1
	n=0 batch_start=$size
	while read -r hash signatures prev at type subject; do
		if [ "$signatures" = '!' ]; then
			bad "$size" "$prev" "$at $type $subject"
		fi
		i=00$n i=${i#"${i%???}"} file=$T/ev.$i
		token_of "$signatures" || bad "$size" event \
			"the signature by the ledger's key is missing"
		signed_by_key "$file" "$T/sig" ||
			bad "$size" event "the event's signature is bad"
		[ $closed = 0 ] ||
			bad "$size" chain "an event follows ledger.closed"
		[ "$prev" = "$head" ] || bad "$size" chain \
			"prev is not the hash of the event before"
		case $size:$type in
		0:ledger.opened) ;;
		*:key.rotated | *:key.revoked)
			[ $((n + 1)) -eq "$(wc -l <"$T/events")" ] ||
				bad "$size" chain \
				"an event follows a change of keys in its batch"
			[ -n "$next_key" ] || bad "$size" event \
				"a change of keys cannot stand here: allowed_signers is as before" ;;
		0:* | *:ledger.opened | *:key.*) bad "$size" event \
			"an event of type $type cannot stand here" ;;
		*:ledger.closed) closed=1 ;;
		esac
		[ $n -gt 0 ] || { first_type=$type first_subject=$subject; }
		head=$hash last_at=$at
		append "$T/hash.$i"
		size=$((size + 1)) n=$((n + 1))
		[ "$size" != "$kept_size" ] || compare_kept
	done <"$T/hashed"
	[ "${cut_short-}" != 1 ] ||
		bad $((size - 1)) event "a line without its end"
}

check_payloads() {
	: >"$T/there"
	if [ -n "$payloads" ]; then
		g ls-tree "$payloads" >"$T/there" ||
			bad "$batch_start" repository \
			"payloads $payloads cannot be read"
		[ -s "$T/there" ] || bad "$batch_start" commit "payloads is empty"
	fi
	sort -u -k1,2 "$T/named" | awk '{ print $1 }' >"$T/named.sorted"
	awk '{ print $4 }' "$T/there" >"$T/there.names"
	if ! cmp -s "$T/named.sorted" "$T/there.names"; then
		name=$(comm -23 "$T/named.sorted" "$T/there.names" 2>/dev/null |
			head -n 1)
		[ -z "$name" ] || bad \
			$((batch_start + $(awk -v h="$name" \
			'$1 == h { print $3; exit }' "$T/named"))) payload \
			"payload $name is named but not there"
		bad "$batch_start" payload \
			"a payload is there but no event names it, or is named with two sizes"
	fi
	while read -r mode kind oid name; do
		[ "$mode $kind" = "100644 blob" ] || bad "$batch_start" commit \
			"entry $name of payloads is malformed"
		set -- $(awk -v h="$name" '$1 == h { print $2, $3; exit }' \
			"$T/named")
		seq=$((batch_start + $2))
		fetch blob "$oid" "$T/stored" ||
			bad "$seq" repository "payload $name cannot be read"
		[ "$(wc -c <"$T/stored")" -ge 32 ] ||
			bad "$seq" payload "payload $name: the stored blob is cut off"
		tail -c +33 "$T/stored" >"$T/content"
		[ "$(sha "$T/content")" = "$name" ] || bad "$seq" payload \
			"payload $name: the content has another hash"
		[ "$(wc -c <"$T/content")" -eq "$1" ] || bad "$seq" payload \
			"payload $name has another size than its event says"
		n_payloads=$((n_payloads + 1))
	done <"$T/there"
}

# What the commit repeats of the entries.
check_said() {
	[ "$(trailer Ledger-Size)" = "$size" ] || bad "$batch_start" commit \
		"the trailer Ledger-Size is $(trailer Ledger-Size), the events end at $size"
	[ "$(trailer Ledger-Head)" = "$head" ] || bad "$batch_start" commit \
		"the trailer Ledger-Head is not the last event's hash"
	who="$origin <$origin> $(date -u -d "${last_at%.*}Z" +%s) +0000"
	[ "$(sed -n 's/^author //p;/^$/q' "$T/commit")" = "$who" ] &&
		[ "$(sed -n 's/^committer //p;/^$/q' "$T/commit")" = "$who" ] ||
		bad "$batch_start" commit \
		"author, committer or time is not the ledger's"
	if [ $n -eq 1 ]; then
		summary="$first_type $first_subject"
	else
		summary="events $batch_start-$((size - 1)) ($n)"
	fi
	[ "$(sed -n '1,/^$/d;p' "$T/commit" | head -n 2)" = "$summary" ] ||
		bad "$batch_start" commit \
		"the message's first line is not what happened"
}

check_checkpoint() {
	now=$(root)
	[ "$(wc -l <"$T/checkpoint")" -eq 5 ] && [ "$(sed -n 4p \
		"$T/checkpoint")" = "" ] ||
		bad "$batch_start" checkpoint "the checkpoint is malformed"
	[ "$(sed -n 1p "$T/checkpoint")" = "$origin" ] ||
		bad "$batch_start" checkpoint "the checkpoint is of another ledger"
	[ "$(sed -n 2p "$T/checkpoint")" = "$size" ] ||
		bad "$batch_start" checkpoint \
		"the checkpoint's size is $(sed -n 2p "$T/checkpoint"), the events end at $size"
	note_good "$T/checkpoint" "$origin" ||
		bad "$batch_start" checkpoint "the checkpoint's signature is bad"
	sed -n 3p "$T/checkpoint" | base64 -d >"$T/said" 2>/dev/null
	[ "$(trailer Ledger-Root)" = "$(hex "$T/said")" ] ||
		bad "$batch_start" commit \
		"the trailer Ledger-Root is not the checkpoint's root"
	[ "$(sed -n 3p "$T/checkpoint")" = "$now" ] ||
		bad "$batch_start" checkpoint \
		"the checkpoint's root is not that of the events"
}

total=$(wc -l <"$T/commits")
parent= answered=0 after_second=0
[ -z "$tip" ] || write_signers
while read -r commit <&3; do
	[ -t 2 ] && printf '\rbatch %s of %s, %s events' "$((batches + 1))" \
		"$total" "$size" >&2
	fetch commit "$commit" "$T/commit" ||
		bad "$size" repository "commit $commit cannot be read"
	check_header "$parent" || bad "$size" commit \
		"the commit's header has an unknown, missing or repeated line"
	g cat-file blob "$commit:events" >"$T/events" ||
		bad "$size" repository "events of $commit cannot be read"
	follow_keys
	use_key "$signs" || bad "$size" signers "a key is not one"
	g verify-commit "$commit" >/dev/null || bad "$size" commit \
		"the commit's signature is bad, or it is signed by another key"
	sed '1,/^$/d' "$T/commit" | awk '
		/^$/ { block = ""; some = 1; next }
		{ block = block $0 "\n" }
		END { if (some) printf "%s", block }' >"$T/trailers"
	for name in Size Root Head Signers; do
		[ -n "$(trailer Ledger-$name)" ] || bad "$size" commit \
			"the trailer Ledger-$name is missing, or there twice"
	done
	tree=$(sed -n '1s/^tree //p' "$T/commit")
	fetch_tree=$(g rev-parse --verify -q "$tree^{tree}") &&
		[ "$fetch_tree" = "$tree" ] ||
		bad "$size" repository "tree $tree cannot be read"
	check_entries "$tree"
	fetch blob "$events" "$T/events" ||
		bad "$size" repository "events $events cannot be read"
	fetch blob "$checkpoint" "$T/checkpoint" ||
		bad "$size" repository "checkpoint $checkpoint cannot be read"
	fetch blob "$signers" "$T/signers" ||
		bad "$size" repository "allowed_signers $signers cannot be read"
	cmp -s "$T/signers" "$T/pinned" || bad "$size" signers \
		"allowed_signers is not what the key events give"
	[ "$(trailer Ledger-Signers)" = "$(sha "$T/signers")" ] ||
		bad "$size" commit \
		"the trailer Ledger-Signers is not the hash of allowed_signers"
	check_events
	check_payloads
	check_said
	check_checkpoint
	[ "$after_second" -le "$(date -u -d "${last_at%.*}Z" +%s)" ] ||
		bad "$batch_start" commit \
		"the commit is earlier than the time from which its key signs"
	[ "$signs" != "$ssh_key" ] || answered=1
	if [ -n "$next_key" ]; then
		in_force=$next_key after_second=$(awk '$2 == "-" { print $3 }' \
			"$T/history")
	fi
	batches=$((batches + 1)) parent=$commit
done 3<"$T/commits"
[ -t 2 ] && printf '\r\033[K' >&2

[ -z "$tip" ] || [ $answered = 1 ] || bad $((size - 1)) signers \
	"the key given is named here but has signed nothing: verify with an earlier key"
if [ -n "$kept_size" ] && [ "$compared" = 0 ] && is_beyond; then
	bad "$size" consistency "the kept checkpoint of $kept_size events is signed by key id $kept_id, unknown to this history of $size: that was cut short before the key came in force, or the checkpoint is not this ledger's"
elif [ -n "$kept_size" ] && [ "$compared" = 0 ]; then
	bad "$size" consistency "the history was cut short: it has $size events, the kept checkpoint $kept_size"
fi
# Trees were read by name above; this hashes every object once more.
g fsck --full --strict --no-dangling --no-reflogs >/dev/null ||
	bad 0 repository "git fsck finds faults"

printf 'Good: %s events in %s batches, %s payloads.\n' \
	"$size" "$batches" "$n_payloads"
if [ "$size" -eq 0 ]; then
	[ $# -eq 0 ] || bad 0 succession "the ledger is empty"
	exit 0
fi
printf '  origin  %s\n  size    %s\n  root    %s\n  head    %s\n  commit  %s\n' \
	"$origin" "$size" "$(root >/dev/null; hex "$T/root")" "$head" "$tip"
[ ! -f "$T/void" ] || cat "$T/void"
if [ -n "$kept_size" ]; then
	echo "Consistent with the kept checkpoint of $kept_size events."
else
	cat <<-'END'
	No kept checkpoint was given: a shorter or another history by the holder of the
	key cannot be told from the true one. Keep this one and give it next time:
	END
	sed 's/^/    /' "$T/checkpoint"
fi

# The closed ledgers, each verified by this script, and held to the one after it.

bad_old() {
	printf 'BAD: in the closed ledger %s: event %s: succession: %s\n' \
		"$repo" "$1" "$2"
	exit 1
}
# said NAME: what was found out about the closed ledger
said() {
	sed -n "s/^  $1 *//p" "$T/old" | head -n 1
}
# named NAME: what the newer ledger's event 0 says of it
named() {
	printf '%s\n' "$newer_first" | sed -n 's/^.*,"data":{"algorithms":{[^}]*},"continues":{\([^}]*\)},"public_key".*$/\1,/p' |
		sed -n "s/.*\"$1\":\"\{0,1\}\([^\",]*\).*/\1/p"
}
# A quote inside a JSON string is escaped, so that a reason cannot pass for it.
names_successor() {
	case $1 in
	*',"successor":"'"$newer"'"},"idempotency":'*) return 0 ;;
	esac
	return 1
}
compare_old() {
	[ -n "$(named origin)" ] || bad_old 0 "$newer continues no other ledger"
	[ "$(named origin)" = "$(said origin)" ] || bad_old 0 \
		"$newer continues $(named origin), not $(said origin)"
	[ "$(named size)" = "$(said size)" ] || bad_old 0 \
		"$newer continues it at $(named size) events, but it has $(said size)"
	[ "$(named root)" = "$(said root)" ] || bad_old 0 \
		"$newer continues a ledger with another root"
	last=$(($(said size) - 1))
	[ "$(named head)" = "$(said head)" ] || bad_old "$last" \
		"$newer continues a ledger with another last event"
	grep -q '^It is closed' "$T/old" || bad_old "$last" \
		"the ledger is not closed: its last event is not ledger.closed"
	names_successor "$(g cat-file blob "$(said commit):events" | tail -n 1)" ||
		bad_old "$last" \
		"ledger.closed does not name $newer as the successor"
}

[ "$closed" = 0 ] ||
	echo "It is closed: ask for the ledger that continues it."
newer=$origin newer_first=$first
while [ $# -gt 0 ]; do
	repo=$2
	shift 2
	g rev-parse --git-dir >/dev/null ||
		not_done "$repo is not a git repository"
	old_first=$(g cat-file blob "$(g rev-list --max-parents=0 \
		refs/heads/main | tail -n 1):events" | head -n 1)
	old_key=$(printf '%s\n' "$old_first" | sed -n \
		's/.*,"public_key":"\(ssh-ed25519 [^"]*\)","recovery_key".*/\1/p')
	if [ "${1-}" = --old-key ]; then
		old_key=$2
		shift 2
	fi
	[ -n "$old_key" ] || bad_old 0 "event 0 does not open a ledger"
	sh "$0" "$repo" "$old_key" >"$T/old"
	status=$?
	if [ $status -ne 0 ]; then
		sed "s|^BAD: |&in the closed ledger $repo: |" "$T/old"
		exit $status
	fi
	[ -n "$(said size)" ] || bad_old 0 "the ledger is empty"
	compare_old
	printf 'Good: it continues %s, which is closed:\n  %s events\n  root    %s\n' \
		"$(said origin)" "$(said size)" "$(said root)"
	newer=$(said origin) newer_first=$old_first
done
if [ -n "$(named origin)" ]; then
	printf 'It continues %s, which is closed\nand was not checked: give that repository with --continues.\n' \
		"$(named origin)"
	printf '  size    %s\n  root    %s\n' "$(named size)" "$(named root)"
fi
