#include "ledger/codec/place.h"

#include <string.h>

#include "ledger/codec/text.h"

#define NAME_MAX_BYTES 64

/* A pointer's own two characters are escaped before the fragment's are. */
static void
add_name(struct buf *b, struct str name, bool fragment)
{
	size_t n = name.n < NAME_MAX_BYTES ? name.n : NAME_MAX_BYTES;

	while (n < name.n && n > 0 && ((unsigned char)name.p[n] & 0xc0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++) {
		if (name.p[i] == '~')
			buf_add_cstr(b, "~0");
		else if (name.p[i] == '/')
			buf_add_cstr(b, "~1");
		else if (fragment)
			percent_add(b, str_slice(name, i, i + 1));
		else
			buf_add(b, str_slice(name, i, i + 1));
	}
}

static void
add_place(struct buf *b, const struct place *at, bool fragment)
{
	struct buf step;

	if (!at)
		return;
	add_place(b, at->up, fragment);
	/* Whole steps only: half a step would name another place. */
	buf_init(&step, PLACE_TEXT_MAX);
	buf_add_byte(&step, '/');
	if (at->name.p)
		add_name(&step, at->name, fragment);
	else
		buf_addf(&step, "%zu", at->index);
	buf_add(b, buf_str(&step));
	buf_fini(&step);
}

void
place_format(const struct place *at, bool fragment, char out[PLACE_TEXT_MAX])
{
	struct buf b;
	struct str text;

	buf_init(&b, PLACE_TEXT_MAX - 1);
	if (fragment)
		buf_add_byte(&b, '#');
	add_place(&b, at, fragment);
	text = buf_str(&b);
	memcpy(out, text.p, text.n);
	out[text.n] = '\0';
	buf_fini(&b);
}
