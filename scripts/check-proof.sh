#!/bin/sh
# Checks an evidence file (docs/ledger-format.md, "Evidence files") with nothing
# of Probity: openssl (3.0 or later), sha256sum, base64, awk and the usual small
# tools. It needs neither the ledger nor a network.
#
#	scripts/check-proof.sh FILE [PUBKEY]
#
#	FILE    an evidence file
#	PUBKEY  the ledger's key: a file, or the key itself: an OpenSSH line, PEM,
#	        or a signed-note verifier key. A file may hold several, a line
#	        each: any of them will do. Without it the key in FILE is used and
#	        its fingerprint printed, to be compared with the ledger's
#
# Exit status: 0 good, 1 the evidence is bad, 2 wrong usage, 3 could not be
# carried out. The fault is named in the words of `probity-audit check-proof`.
#
# Checked: what docs/ledger-format.md lists, with one exception. That the event
# is in canonical form (RFC 8785) is checked for the members around `data`, not
# inside `data`, nor for escapes in the event's strings, nor that they are UTF-8:
# plain tools cannot. The bytes are what is hashed and signed all the same.

set -u
LC_ALL=C
export LC_ALL
unset IFS
umask 077

file_max=524288

usage() {
	echo "Usage: check-proof.sh FILE [PUBKEY]" >&2
	exit 2
}
not_done() {
	echo "check-proof.sh: $*" >&2
	exit 3
}
# bad CHECK REASON: what is printed of the file holds no control characters.
bad() {
	printf 'BAD: %s: %s\n' "$1" "$2"
	exit 1
}

[ "${1-}" = --help ] && { sed -n '2,/^$/s/^# \{0,1\}//p' "$0"; exit 0; }
[ $# -eq 1 ] || [ $# -eq 2 ] || usage
file=$1 pubkey=${2-}
for tool in openssl sha256sum awk base64 od; do
	command -v "$tool" >/dev/null || not_done "$tool is needed"
done
T=$(mktemp -d) || not_done "no temporary folder"
trap 'rm -rf "$T"' EXIT
trap 'exit 3' HUP INT TERM

# Helpers. Base64 that has only one form; hashes; a signature over a file.

decode() {
	printf %s "$1" | base64 -d >"$2" 2>/dev/null &&
		[ "$(base64 -w0 <"$2")" = "$1" ]
}
hex() {
	od -An -v -tx1 "$1" | tr -d ' \n'
}
sha() {
	openssl dgst -sha256 -binary
}
signed_by_key() {
	openssl pkeyutl -verify -pubin -inkey "$T/key.pem" -rawin \
		-in "$1" -sigfile "$2" >/dev/null 2>&1
}
# A whole number that the shell can count with.
is_number() {
	case $1 in
	'' | *[!0-9]* | 0?* | ????????????????*) return 1 ;;
	esac
}
# A key in any of its forms, as 32 bytes.
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
# add_given TEXT: a line of `given` for the key, in hex.
add_given() {
	key_bytes "$1" >"$T/key.given"
	if [ "$(wc -c <"$T/key.given")" -ne 32 ]; then
		echo "check-proof.sh: $pubkey is neither a file with a public key, or one a line, nor a key" >&2
		exit 2
	fi
	grep -qsx "$(hex "$T/key.given")" "$T/given" ||
		{ hex "$T/key.given"; echo; } >>"$T/given"
}
ssh_blob() {
	printf '\000\000\000\013ssh-ed25519\000\000\000\040'
	cat "$1"
}
# use_key KEY_FILE: key.pem and the key id under the origin.
use_key() {
	{ printf '\060\052\060\005\006\003\053\145\160\003\041\000'
		cat "$1"; } |
		openssl pkey -pubin -inform DER -out "$T/key.pem" 2>/dev/null ||
		bad format "not an evidence file: a key is not one"
	key_id=$({ printf '%s\n\001' "$origin"; cat "$1"; } | sha |
		head -c 4 | od -An -tx1 | tr -d ' \n')
}
no_controls() {
	tr -d '\000-\037' <"$1" | cmp -s - "$1"
}
# has_id TOKEN: base64 of four bytes of key id and something more.
has_id() {
	decode "$1" "$T/token" || return 2
	[ "$(wc -c <"$T/token")" -gt 4 ] || return 2
	head -c 4 "$T/token" >"$T/token.id"
	[ "$(hex "$T/token.id")" = "$key_id" ] || return 1
	tail -c +5 "$T/token" >"$T/sig"
}

# The file's members, each to a file of its own, strings without their escapes.

{ head -c $((file_max + 1)) <"$file" >"$T/file"; } 2>/dev/null ||
	not_done "$file cannot be read"
[ "$(wc -c <"$T/file")" -le "$file_max" ] ||
	not_done "$file is longer than $file_max bytes"
no_controls "$T/file" ||
	bad format "not canonical JSON: it holds control characters"

awk -v dir="$T" '
	function fault(why) {
		ORS = "\n"
		print "not an evidence file, or not canonical JSON: " why \
		    >(dir "/fault")
		failed = 1
		exit 1
	}
	# The part of the file before t, which is taken off with it. No t here
	# can stand inside a string: there each quote has a backslash before it.
	function take(t,    i, part) {
		if ((i = index(rest, t)) == 0)
			fault("its members are not as they should be")
		part = substr(rest, 1, i - 1)
		rest = substr(rest, i + length(t))
		return part
	}
	# \b, \t, \n, \f, \r where they exist, \u00xx for other controls.
	function control(p,    n) {
		if (p !~ /^u00[01][0-9a-f]/)
			fault("an escape is not one")
		n = index(digits, substr(p, 4, 1)) * 16 - 16
		n += index(digits, substr(p, 5, 1)) - 1
		if (n == 0 || n ~ /^(8|9|10|12|13)$/)
			fault("an escape is not the one for its character")
		return sprintf("%c", n)
	}
	function put(v, file,    n, i, p, c) {
		ORS = ""
		n = split(v, p, /\\/)
		if (index(p[1], "\""))
			fault("a quote inside a string")
		print p[1] >file
		for (i = 2; i <= n; i++) {
			if (p[i] == "") {
				if (++i > n)
					fault("an escape is not one")
				c = "\\"
			} else if ((c = substr(p[i], 1, 1)) in short) {
				c = short[c]
				p[i] = substr(p[i], 2)
			} else {
				c = control(p[i])
				p[i] = substr(p[i], 6)
			}
			if (index(p[i], "\""))
				fault("a quote inside a string")
			print c >file
			print p[i] >file
		}
		close(file)
		ORS = "\n"
	}
	# The line and the proof of a key that is not the first.
	function named(k, i,    a, b, c) {
		a = index(k, ",\"line\":\"")
		b = index(k, "\",\"proof\":\"")
		c = index(k, "\",\"public_key\":\"")
		if (a == 0 || b < a || c < b)
			fault("a key is not one")
		put(substr(k, a + 9, b - a - 9), dir "/line." i)
		put(substr(k, b + 11, c - b - 11), dir "/proof." i)
		return substr(k, 1, a - 1) substr(k, c + 1)
	}
	function key(k, i,    number, from, id, until) {
		number = "(0|[1-9][0-9]*)"
		if (i > 1)
			k = named(k, i)
		if (k !~ ("^[{]\"from_seq\":" number ",\"key_id\":\"[0-9a-f]+\"," \
		    "\"public_key\":\"ssh-ed25519 [A-Za-z0-9+/]+=*\"," \
		    "\"until_seq\":(null|" number ")[}]$"))
			fault("a key is not one")
		gsub(/[{}"]|from_seq|key_id|public_key|until_seq|ssh-ed25519/,
		    "", k)
		gsub(/[:,]+/, " ", k)
		print k >(dir "/keys")
	}
	BEGIN {
		RS = "\001"
		FS = "\002"
		digits = "0123456789abcdef"
		short["\""] = "\""
		short["b"] = "\b"
		short["t"] = "\t"
		short["n"] = "\n"
		short["f"] = "\f"
		short["r"] = "\r"
	}
	{
		rest = $0
		if (take("{\"format\":\"probity-evidence/v1\",\"keys\":[") != "")
			fault("its format is not probity-evidence/v1")
		keys = take("],\"ledger\":\"")
		ledger = take("\",\"line\":\"")
		line = take("\",\"proof\":\"")
		if (rest !~ /"[}]$/)
			fault("it does not end where it should")
		proof = substr(rest, 1, length(rest) - 2)
		n = split(keys, k, /[}],[{]"from_seq":/)
		if (n < 1 || n > 64)
			fault("keys is not a list of 1 to 64")
		for (i = 1; i <= n; i++)
			key((i > 1 ? "{\"from_seq\":" : "") k[i] \
			    (i < n ? "}" : ""), i)
		put(ledger, dir "/ledger")
		put(line, dir "/line")
		put(proof, dir "/proof")
		done = 1
	}
	END {
		if (!done && !failed)
			print "not an evidence file: it is empty" >(dir "/fault")
	}' "$T/file"
[ ! -s "$T/fault" ] || bad format "$(cat "$T/fault")"
[ -f "$T/proof" ] || not_done "awk did not read $file"

origin=$(cat "$T/ledger")
[ ${#origin} -le 200 ] && { cat "$T/ledger"; echo; } | awk '
	NR > 1 || !/^[a-z0-9-]+([.][a-z0-9-]+)+(\/[a-z0-9._-]+)+$/ { exit 1 }' ||
	bad format "not an evidence file: its ledger is not an origin"

# The tlog-proof: first line, perhaps extra data, index, hashes, a blank line,
# and the checkpoint.

awk -v dir="$T" '
	function malformed() {
		ended = 1
		exit 1
	}
	NR == 1 {
		if ($0 != "c2sp.org/tlog-proof@v1")
			malformed()
		next
	}
	in_note { print >(dir "/note"); next }
	NR == 2 && /^extra / { print substr($0, 7) >(dir "/extra"); next }
	!indexed {
		if (!/^index (0|[1-9][0-9]*)$/)
			malformed()
		print substr($0, 7) >(dir "/index")
		indexed = 1
		next
	}
	$0 == "" { in_note = 1; next }
	{
		if (++hashes > 64)
			malformed()
		print >(dir "/path")
	}
	END { exit ended || !in_note }' "$T/proof" &&
	[ -s "$T/note" ] && [ -z "$(tail -c 1 "$T/proof")" ] ||
	bad format "not a tlog-proof: its lines are not as they should be"
[ -f "$T/path" ] || : >"$T/path"
tr '\n' ' ' <"$T/proof" >"$T/proof.line"
no_controls "$T/proof.line" ||
	bad format "not a tlog-proof: it holds control characters"
[ ! -f "$T/extra" ] || decode "$(cat "$T/extra")" "$T/extra.bytes" ||
	bad format "not a tlog-proof: the extra data is not base64"
index=$(cat "$T/index")
is_number "$index" || bad format "not a tlog-proof: no index"

# The keys follow one on the other from event 0 on.

next=0 number=0
while read -r from id key until; do
	number=$((number + 1))
	[ "$next" != none ] && [ "$from" = "$next" ] ||
		bad format "not an evidence file: the keys do not follow one on the other"
	decode "$key" "$T/blob" && tail -c 32 "$T/blob" >"$T/key.$number" &&
		[ "$(ssh_blob "$T/key.$number" | base64 -w0)" = "$key" ] ||
		bad format "not an evidence file: a key is not one"
	use_key "$T/key.$number"
	[ "$id" = "$key_id" ] ||
		bad format "not an evidence file: a key_id is not that of its public_key"
	echo "$from $until $number" >>"$T/history"
	next=none
	if [ "$until" != null ]; then
		is_number "$until" && [ "$until" -ge "$from" ] ||
			bad format "not an evidence file: a key's until_seq is not a number from its from_seq on"
		next=$((until + 1))
	fi
done <"$T/keys"

if [ -n "$pubkey" ]; then
	text=$pubkey
	if [ -f "$pubkey" ]; then
		text=$(head -c 65536 "$pubkey") ||
			not_done "$pubkey cannot be read"
	fi
	case $text in
	*'BEGIN PUBLIC KEY'*) add_given "$text" ;;
	*)
		printf '%s\n' "$text" | grep -v -e '^[[:space:]]*$' -e '^#' \
			>"$T/lines" || add_given ''
		while IFS= read -r line; do add_given "$line"; done <"$T/lines" ;;
	esac
fi
# is_given KEY_FILE
is_given() {
	grep -qx "$(hex "$1")" "$T/given"
}
# not_given CHECK WHAT: the key that signed it was used last
not_given() {
	if [ "$(wc -l <"$T/given")" -eq 1 ]; then
		bad "$1" "the key in the file is not the one given: key id $key_id signed the $2"
	fi
	bad "$1" "no key in the file is one of those given: key id $key_id signed the $2"
}
# choose_key CHECK SEQ WHAT: the key that signs this event, and the checkpoint after it
choose_key() {
	chosen=
	while read -r from until candidate; do
		[ "$2" -ge "$from" ] || continue
		[ "$until" = null ] || [ "$2" -le "$until" ] || continue
		chosen=$candidate
	done <"$T/history"
	[ -n "$chosen" ] || bad "$1" "no key was in force at event $2"
	use_key "$T/key.$chosen"
	[ $number != 1 ] || [ -z "$pubkey" ] || is_given "$T/key.1" ||
		not_given "$1" "$3"
}
fingerprint() {
	ssh_blob "$1" | sha | base64 -w0 | tr -d =
}

# The event: its line, its form, its ledger and number, its signature.

choose_key key "$index" event
event_key=$T/key.$chosen
no_controls "$T/line" || bad event "the line holds control characters"
awk -v dir="$T" -v origin="$origin" '
	function fault(why) {
		print why >(dir "/fault")
		exit 1
	}
	function member(name) {
		fault("an unknown member, or " name " missing or malformed")
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
	BEGIN {
		RS = "\001"
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
			fault("a line without signatures")
		e = substr($0, sp + 1)
		if (length(e) < 1 || length(e) > 65535)
			fault("an event of " length(e) " bytes; it has 1 to 65535")
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
		ledger = substr(head, l + 11)
		if (l == 0 || index(ledger, origin "\"") != 1)
			fault("the event is of another ledger")
		left = substr(ledger, length(origin) + 2)
		if (left != "" && (index(left, ",\"payloads\":[{") != 1 ||
		    substr(left, length(left) - 1) != "}]"))
			member("payloads")
		match(t, /"seq":[0-9]+/)
		seq = substr(t, RSTART + 6, RLENGTH - 6)
		match(t, /"type":"[^"]+/)
		type = substr(t, RSTART + 8, RLENGTH - 8)
		match(t, /"kind":"[^"]+/)
		kind = substr(t, RSTART + 8, RLENGTH - 8)
		t = substr(t, RSTART + RLENGTH)
		match(t, /"uid":"[^"]+/)
		print seq, at, type, kind, substr(t, RSTART + 7, RLENGTH - 7) \
		    >(dir "/fields")
		ORS = ""
		print e >(dir "/event")
		print substr($0, 1, sp - 1) >(dir "/signatures")
	}' "$T/line"
[ ! -s "$T/fault" ] || bad event "$(cat "$T/fault")"
[ -s "$T/event" ] || bad event "a line without signatures"
read -r seq at type kind subject <"$T/fields"
[ "$seq" = "$index" ] ||
	bad event "the event is number $seq, the proof is of number $index"

signatures=$(cat "$T/signatures") found=0
case $signatures in
*[!A-Za-z0-9+/=,]* | ,* | *, | *,,*)
	bad event "the line's signatures are malformed" ;;
esac
[ ${#signatures} -le 32768 ] || bad event "the line's signatures are too long"
for token in $(printf %s "$signatures" | tr ',' ' '); do
	has_id "$token"
	case $? in
	0) found=$((found + 1)) && cp "$T/sig" "$T/event.sig" ;;
	2) bad event "the line's signatures are malformed" ;;
	esac
done
[ $found = 1 ] ||
	bad event "the line has no signature by the key, or more than one"
[ "$(wc -c <"$T/event.sig")" -eq 64 ] &&
	signed_by_key "$T/event" "$T/event.sig" ||
	bad event "the event's signature is bad"

# The checkpoint: three lines, a blank one, and signatures.

said=$(sed -n 1p "$T/note") size=$(sed -n 2p "$T/note")
decode "$(sed -n 3p "$T/note")" "$T/root" &&
	[ "$(wc -c <"$T/root")" -eq 32 ] ||
	bad checkpoint "the checkpoint's root is not 32 bytes in base64"
is_number "$size" ||
	bad checkpoint "the checkpoint's size is not a plain decimal number"
lines=$(wc -l <"$T/note")
[ -z "$(sed -n 4p "$T/note")" ] && [ "$lines" -ge 5 ] && [ "$lines" -le 104 ] ||
	bad checkpoint "a checkpoint has three lines: origin, size, root"
[ "$said" = "$origin" ] ||
	bad checkpoint "the checkpoint is of another ledger"
[ "$size" -gt 0 ] ||
	bad checkpoint "the checkpoint is of an empty ledger"
choose_key checkpoint $((size - 1)) checkpoint
checkpoint_key=$T/key.$chosen last_key=$chosen
head -n 3 "$T/note" >"$T/note.text"
sed 1,4d "$T/note" >"$T/note.signatures"
found=0
while IFS= read -r line; do
	case $line in
	'— '?*' '?*) line=${line#— } ;;
	*) bad checkpoint "a signature line of the note is not one" ;;
	esac
	has_id "${line#* }"
	case $? in
	2) bad checkpoint "a signature line of the note is not one" ;;
	1) continue ;;
	esac
	[ "${line%% *}" = "$origin" ] || continue
	[ "$(wc -c <"$T/sig")" -eq 64 ] && signed_by_key "$T/note.text" "$T/sig" ||
		bad checkpoint "the checkpoint's signature is bad"
	found=1
done <"$T/note.signatures"
[ $found = 1 ] || bad checkpoint "the checkpoint's signature is bad"

# The path from the event's leaf to the root (RFC 9162, 2.1.3.2).

# leads EVENT INDEX PATH: whether the path leads from the event to the root.
leads() {
	[ "$2" -lt "$size" ] || return 1
	{ printf '\000'; cat "$1"; } | sha >"$T/node"
	fn=$2 sn=$((size - 1))
	while read -r hash; do
		[ $sn -gt 0 ] || return 1
		decode "$hash" "$T/other" && [ "$(wc -c <"$T/other")" -eq 32 ] ||
			bad format "not a tlog-proof: a hash is not one"
		if [ $((fn % 2)) -eq 1 ] || [ $fn -eq $sn ]; then
			{ printf '\001'; cat "$T/other" "$T/node"; } | sha >"$T/up"
			while [ $((fn % 2)) -eq 0 ] && [ $fn -gt 0 ]; do
				fn=$((fn / 2)) sn=$((sn / 2))
			done
		else
			{ printf '\001'; cat "$T/node" "$T/other"; } | sha >"$T/up"
		fi
		mv "$T/up" "$T/node"
		fn=$((fn / 2)) sn=$((sn / 2))
	done <"$3"
	[ $sn -eq 0 ] && cmp -s "$T/node" "$T/root"
}
leads "$T/event" "$index" "$T/path" ||
	bad proof "the event is not in the tree of $size events"

# Each key but the first is named by an event in the same tree, which the key
# before signed, or the recovery key itself.

not_named() {
	bad key "key number $i of the file is not shown to be the ledger's: $1"
}
# key_line FILE: the key as OpenSSH writes it.
key_line() {
	printf 'ssh-ed25519 %s' "$(ssh_blob "$1" | base64 -w0)"
}
signed_line() {
	use_key "$1"
	found=0
	for token in $(cut -d' ' -f1 "$T/line.$i" | tr ',' ' '); do
		has_id "$token" && found=$((found + 1)) && cp "$T/sig" "$T/naming.sig"
	done
	[ $found = 1 ] && [ "$(wc -c <"$T/naming.sig")" -eq 64 ] &&
		signed_by_key "$T/naming" "$T/naming.sig"
}
member_of() {
	sed -n "s/.*\"$1\":\"\{0,1\}\([A-Za-z0-9+\/= -]*\).*/\1/p" "$T/data"
}
possession_good() {
	use_key "$1"
	printf 'probity-key/v1\n%s\nledger\n%s\n' "$origin" "$(key_line "$1")" \
		>"$T/statement"
	decode "$(member_of possession)" "$T/sig" &&
		[ "$(wc -c <"$T/sig")" -eq 64 ] &&
		signed_by_key "$T/statement" "$T/sig"
}
check_place() {
	cut -d' ' -f2- "$T/line.$i" | tr -d '\n' >"$T/naming"
	sed -n 's/^index \(0\|[1-9][0-9]*\)$/\1/p;2q' "$T/proof.$i" >"$T/naming.index"
	named_by=$(cat "$T/naming.index")
	[ "$(sed -n 1p "$T/proof.$i")" = 'c2sp.org/tlog-proof@v1' ] &&
		is_number "$named_by" ||
		not_named "its event or proof cannot be read"
	sed '1,2d;/^$/,$d' "$T/proof.$i" >"$T/naming.path"
	sed '1,/^$/d' "$T/proof.$i" | cmp -s - "$T/note" ||
		not_named "its proof is against another checkpoint"
	grep -qF "\"ledger\":\"$origin\",\"p" "$T/naming" &&
		grep -qF ",\"seq\":$named_by,\"subject\":" "$T/naming" ||
		not_named "the event is not that of the proof"
	leads "$T/naming" "$named_by" "$T/naming.path" ||
		not_named "the event is not in the tree"
	sed -n 's/.*Z","data":\({[^{}]*}\),"idempotency":.*/\1/p' "$T/naming" \
		>"$T/data"
}
check_revocation() {
	signs=$i
	[ "$from" = "$named_by" ] || signs=$((i - 1))
	read -r first last _ <<-END
	$(sed -n "${signs}p" "$T/history")
	END
	[ "$first" = "$named_by" ] && [ "$last" = "$named_by" ] &&
		signed_line "$T/key.$signs" ||
		not_named "the event is not signed by the recovery key"
	good_size=$(member_of size)
	[ "$index" -lt "$good_size" ] || [ "$index" -ge "$named_by" ] ||
		bad key "the event is void: event $named_by revokes the key from event $good_size on"
	[ $signs != "$i" ]
}
check_naming() {
	check_place
	case $(cat "$T/naming") in
	*'"},"type":"key.rotated","uid":"'*)
		signed_line "$T/key.$((i - 1))" ||
			not_named "the event is not signed by the key before" ;;
	*'"},"type":"key.revoked","uid":"'*)
		check_revocation || return 0 ;;
	*) not_named "the event names no key" ;;
	esac
	[ "$(member_of public_key)" = "$(key_line "$T/key.$i")" ] &&
		[ "$from" = $((named_by + 1)) ] ||
		not_named "the event names another key"
	possession_good "$T/key.$i" ||
		bad key "the new key did not sign that it is this ledger's"
}
answered=0
while read -r from until i; do
	[ "$i" = 1 ] || check_naming
	[ -z "$pubkey" ] || [ "$i" -gt "$last_key" ] ||
		! is_given "$T/key.$i" || answered=1
done <"$T/history"
use_key "$checkpoint_key"
[ -z "$pubkey" ] || [ $answered = 1 ] || not_given key checkpoint

printf 'Good: event %s is in the ledger of %s events.\n' "$index" "$size"
printf '  ledger   %s\n  seq      %s\n  time     %s\n  type     %s\n' \
	"$origin" "$seq" "$at" "$type"
printf '  subject  %s %s\n  hash     %s\n  size     %s\n  root     %s\n' \
	"$kind" "$subject" "$(sha256sum <"$T/event" | cut -d' ' -f1)" \
	"$size" "$(hex "$T/root")"
printf '  key      SHA256:%s\n' "$(fingerprint "$event_key")"
cmp -s "$event_key" "$checkpoint_key" ||
	printf '  and      SHA256:%s\n' "$(fingerprint "$checkpoint_key")"
if [ -n "$pubkey" ] && is_given "$event_key" && is_given "$checkpoint_key"; then
	several=s
	[ "$(wc -l <"$T/given")" -ne 1 ] || several=
	echo "Event and checkpoint are signed by the key$several given."
elif [ -n "$pubkey" ]; then
	echo "The key given is one of the ledger's, and answers for the others."
else
	cat <<-'END'
	The key was taken from the file itself: so far this shows only that the file
	agrees with itself. Compare the fingerprint with the ledger's, from somewhere
	else, or give the ledger's key as the second argument.
	END
fi
