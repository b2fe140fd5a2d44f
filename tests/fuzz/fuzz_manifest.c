/*
 * What a stranger hands in as a manifest. The first byte chooses: the Statement
 * alone, put into an envelope that the key of the corpus signed; a file as it
 * is; or a text that is walked through in the canonical form, which json_parse
 * and canon_write must agree with; or a pack.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ledger/base/io.h"
#include "ledger/chain/manifest.h"
#include "ledger/chain/pack_check.h"
#include "ledger/codec/canon.h"
#include "ledger/codec/json_walk.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/dsse.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
must(bool holds)
{
	if (!holds)
		abort();
}

/* The ledger key of tests/support/small_ledger. */
static struct public_key
ledger_key(void)
{
	struct private_key *k;
	struct public_key key;
	uint8_t seed[32];

	for (int i = 0; i < 32; i++)
		seed[i] = (uint8_t)(1 + i);
	k = private_key_from_seed(seed);
	key = private_key_public(k);
	private_key_free(k);
	return key;
}

static struct manifest_report
check(struct str file)
{
	struct public_key key = ledger_key();
	struct manifest_options o = { .keys = { &key, 1 },
		.temporary = "/dev/shm" };
	struct manifest_report r;
	struct err e = { 0 };
	int fd = memfd_create("manifest", MFD_CLOEXEC);

	must(fd >= 0 && !io_write_all(fd, file.p, file.n));
	must(manifest_check(fd, &o, &r, &e) == 0);
	must(r.good == (r.check[0] == '\0'));
	must(r.good == (r.reason[0] == '\0'));
	must(!r.good || r.events > 0);
	close(fd);
	return r;
}

/* Signed as tests/support/manifest_maker signs. */
static void
fuzz_statement(struct str text)
{
	static const uint8_t seed[32] = "the manifest key of the tests";
	struct private_key *k = private_key_from_seed(seed);
	struct manifest_report r;
	struct signature sig;
	struct buf b;

	buf_init(&b, 1u << 20);
	dsse_pae_head(&b, STR(DSSE_IN_TOTO), text.n);
	buf_add(&b, text);
	if (private_key_sign(k, buf_str(&b), &sig, NULL))
		abort();
	buf_reset(&b);
	dsse_head(&b);
	base64_add(&b, text);
	dsse_tail(&b, STR(DSSE_IN_TOTO), private_key_public(k), sig);
	r = check(buf_str(&b));
	must(!r.good || digest_eq(r.sha256, sha256(text)));
	buf_fini(&b);
	private_key_free(k);
}

static int
read_text(void *arg, char *to, size_t room, size_t *n, struct err *e)
{
	struct str *s = arg;

	(void)e;
	*n = s->n < room ? s->n : room;
	*n = *n < 100 ? *n : 100;
	memcpy(to, s->p, *n);
	*s = str_slice(*s, *n, s->n);
	return 0;
}

/* Each member of an object taken, in the canonical form. */
static int
walk(struct str text, struct arena *a)
{
	struct json_walk *w = json_walk_new(read_text, &text, 0, true);
	struct str name;
	struct json *v;
	int more = json_walk_open(w, JSON_OBJECT, NULL) ? -1 : 1;

	while (more > 0 && (more = json_walk_next(w, &name, NULL)) > 0)
		if (json_walk_value(w, a, 1u << 20, &v, NULL))
			more = -1;
	if (more == 0)
		more = json_walk_end(w, NULL);
	json_walk_free(w);
	return more;
}

static void
fuzz_walk(struct str text)
{
	struct arena *a = arena_new();
	struct json *v;
	struct str again;
	bool canonical =
	    json_parse(a, text, &json_limits_default, &v, NULL) == 0 &&
	    v->type == JSON_OBJECT && canon_str(a, v, &again, NULL) == 0 &&
	    str_eq(again, text);

	/* The walker takes one level more, and names only of some length. */
	if (walk(text, a) == 0)
		must(canonical || text.n > 60);
	else if (canonical)
		must(text.n > 1000);
	arena_free(a);
}

static void
fuzz_pack(struct str pack)
{
	struct arena *a = arena_new();
	struct public_key key = ledger_key();
	const struct pinned keys = { &key, 1 };
	struct pack_shown shown;
	char *bytes = arena_alloc(a, pack.n + SHA1_BYTES);
	struct str fitting = { bytes, pack.n + SHA1_BYTES };
	struct err e = { 0 };

	/* Without the SHA-1 at its end, so that the bytes before it count. */
	if (pack.n)
		memcpy(bytes, pack.p, pack.n);
	sha1_parts(&pack, 1, (uint8_t *)bytes + pack.n);
	if (pack_check(a, fitting, &keys, &shown, &e))
		must(shown.check != NULL && e.kind != NULL);
	else
		must(shown.check == NULL && shown.n > 0);
	arena_free(a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct str s = { (const char *)bytes + 1, n - 1 };

	if (n == 0)
		return 0;
	if (bytes[0] == 's')
		fuzz_statement(s);
	else if (bytes[0] == 'w')
		fuzz_walk(s);
	else if (bytes[0] == 'p')
		fuzz_pack(s);
	else
		check((struct str){ (const char *)bytes, n });
	return 0;
}
