/*
 * What a stranger's repository feeds to the readers of a batch: lines, commit,
 * trailers, tree, event. The first byte chooses. What is accepted has one form
 * only: made anew, it is the input.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/chain/batch.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
must(bool holds)
{
	if (!holds)
		abort();
}

/* The lines, one after the other, are the blob. */
static void
fuzz_lines(struct str s)
{
	struct str rest = s;
	struct batch_line line;
	struct signature sig;
	size_t n = 0;
	int more;

	while ((more = batch_line_next(&rest, &line, NULL)) > 0) {
		must(line.whole.n == line.signatures.n + 1 + line.event.n);
		must(line.whole.p == s.p + n);
		n += line.whole.n + 1;
		batch_line_signature(&line, 0x45da4ab4, &sig);
	}
	must(more < 0 || n == s.n);
}

/* The signed bytes and the signature give the object back. */
static void
check_commit(const struct commit *c, struct str s)
{
	struct str sig = c->gpgsig;
	size_t header = c->signed_bytes.n - c->message.n - 1;
	struct buf b;

	buf_init(&b, 4 * s.n + 64);
	buf_add(&b, str_slice(c->signed_bytes, 0, header));
	buf_add(&b, STR("gpgsig"));
	while (sig.n > 0) {
		buf_add_byte(&b, ' ');
		buf_add(&b, str_take(&sig, '\n'));
		buf_add_byte(&b, '\n');
	}
	buf_add(&b, str_slice(c->signed_bytes, header, c->signed_bytes.n));
	must(str_eq(buf_str(&b), s));
	buf_fini(&b);
}

static void
fuzz_commit(struct arena *a, struct str s)
{
	struct trailers t;
	struct commit c;

	if (commit_parse(a, s, &c, NULL))
		return;
	check_commit(&c, s);
	if (!trailers_parse(c.message, &t, NULL))
		trailers_list_extra(c.message, STR("x-a"), t.root);
}

static void
fuzz_trailers(struct str s)
{
	struct trailers t;

	if (!trailers_parse(s, &t, NULL))
		must(str_has_suffix(s, STR("\n")));
	trailers_list_extra(s, STR("x-a"), sha256(STR("")));
}

static void
fuzz_tree(struct arena *a, struct str s)
{
	struct tree_entry *entries;
	size_t n;

	if (!tree_parse(a, s, &entries, &n, NULL))
		for (size_t i = 0; i < n; i++)
			must(entries[i].name.n > 0);
}

static void
fuzz_event(struct arena *a, struct str s)
{
	struct event ev, again;

	if (event_parse(a, s, &ev, NULL))
		return;
	again = ev;
	must(event_seal(a, &again, NULL) == 0);
	must(str_eq(again.bytes, s));
	must(digest_eq(again.hash, ev.hash));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct str s = { (const char *)bytes + 1, n - 1 };
	struct arena *a;

	if (n == 0)
		return 0;
	a = arena_new();
	switch (bytes[0] % 5) {
	case 0:
		fuzz_lines(s);
		break;
	case 1:
		fuzz_commit(a, s);
		break;
	case 2:
		fuzz_trailers(s);
		break;
	case 3:
		fuzz_tree(a, s);
		break;
	default:
		fuzz_event(a, s);
	}
	arena_free(a);
	return 0;
}
