# Makes docs/man/probity.conf.5 of docs/configuration.md, whose table a test
# holds equal to what the programs read.
BEGIN {
	print ".\\\" Written by scripts/generate-docs from docs/configuration.md."
	print ".TH PROBITY.CONF 5 2026-11-21 \"Probity " version "\" \"Probity\""
	print ".SH NAME"
	print "probity.conf \\- settings of Probity's programs"
	print ".SH DESCRIPTION"
	chapter = "begin"
}

# Text of a manual: no Markdown, and nothing that roff would take as its own.
function plain(s,    text) {
	while (match(s, /\[[^]]*\]\([^)]*\)/)) {
		text = substr(s, RSTART + 1, RLENGTH - 2)
		sub(/\]\(.*/, "", text)
		s = substr(s, 1, RSTART - 1) text substr(s, RSTART + RLENGTH)
	}
	gsub(/`/, "", s)
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	return s
}

# Each sentence begins a line, and no line is longer than 80 bytes.
function fold(s,    n, word, i, line) {
	n = split(plain(s), word, " ")
	for (i = 1; i <= n; i++) {
		if (line != "" && length(line) + length(word[i]) > 77) {
			say(line)
			line = ""
		}
		line = line (line == "" ? "" : " ") word[i]
		if (word[i] ~ /[^.]\.$/) {
			say(line)
			line = ""
		}
	}
	if (line != "")
		say(line)
}
function say(line) { print (line ~ /^[.']/ ? "\\&" : "") line }

function end_paragraph() {
	if (text != "")
		fold(text)
	text = ""
}
function setting(line,    cell, name) {
	split(line, cell, " *[|] *")
	name = cell[2]
	if (name == "name" || name ~ /^-+$/)
		return
	gsub(/`/, "", name)
	print ".TP\n.B " name
	sub(/[.;:]*$/, "", cell[5])
	fold(toupper(substr(cell[5], 1, 1)) substr(cell[5], 2) ".")
	if (cell[3] != "")
		fold("Default: " cell[3] ".")
	if (cell[4] != "")
		fold("Bounds: " cell[4] ".")
}

/^# / { next }
/^## / {
	end_paragraph()
	chapter = substr($0, 4)
	if (chapter == "Reloading")
		print ".SH RELOADING"
	fresh = 1
	next
}
chapter != "begin" && chapter != "Reloading" { next }
/^\|/ {
	if (!settings++)
		print ".SH SETTINGS"
	setting($0)
	next
}
/^$/ { end_paragraph(); literal && literal_end(); gap = 1; next }
/^    / {
	if (!literal) {
		print ".PP\n.nf"
		literal = 1
	}
	say(plain(substr($0, 5)))
	next
}
{
	if (gap && text == "" && !fresh && begun)
		print ".PP"
	gap = fresh = 0
	begun = 1
	text = text (text == "" ? "" : " ") $0
}
function literal_end() { print ".fi"; literal = 0 }
END {
	end_paragraph()
	print ".SH FILES\n.TP\n.I /etc/probity/probity.conf\nRead when"
	print ".B PROBITY_CONFIG\nnames no other file."
	print ".SH SEE ALSO\n.BR probityctl (1),"
	print ".BR probity.fcgi (8),\n.BR probity\\-worker (8)"
}
