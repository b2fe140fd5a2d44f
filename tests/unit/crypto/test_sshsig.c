#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ledger/base/io.h"
#include "ledger/codec/text.h"
#include "ledger/crypto/sshsig.h"

#define PRINCIPAL "ledger.example.com/acme/sandbox"
#define VECTORS   "tests/vectors/sshsig/"

static const char seed_hex[] =
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";

struct fixture {
	char dir[64];
	struct arena *arena;
	struct signer *signer;
	struct buf buf;
};

static int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	uint8_t seed[32];

	if (f == NULL || !hex_decode(str_from(seed_hex), seed, sizeof seed))
		return -1;
	snprintf(f->dir, sizeof f->dir, "/tmp/test_sshsig.XXXXXX");
	if (mkdtemp(f->dir) == NULL || setenv("dir", f->dir, 1))
		return -1;
	f->arena = arena_new();
	f->signer = signer_new(private_key_from_seed(seed), STR(PRINCIPAL));
	buf_init(&f->buf, SSHSIG_MAX);
	*state = f;
	return 0;
}

static int
tear_down(void **state)
{
	struct fixture *f = *state;
	int rc = system("rm -r \"$dir\"");

	buf_fini(&f->buf);
	signer_free(f->signer);
	arena_free(f->arena);
	free(f);
	return rc;
}

/* The shell finds the fixture's folder in $dir. */
static bool
run(const char *command)
{
	return system(command) == 0;
}

static void
write_file(struct fixture *f, const char *name, struct str bytes)
{
	struct err e = { 0 };

	if (io_write_file(
		arena_printf(f->arena, "%s/%s", f->dir, name), bytes, 0600, &e))
		fail_msg("%s", e.detail);
}

static struct str
read_path(struct fixture *f, const char *path)
{
	struct err e = { 0 };
	struct str s;

	if (io_read_file(f->arena, path, 65536, &s, &e))
		fail_msg("%s", e.detail);
	return s;
}

static struct str
read_file(struct fixture *f, const char *name)
{
	return read_path(f, arena_printf(f->arena, "%s/%s", f->dir, name));
}

static struct str
sign(struct fixture *f, const char *name_space, struct str message)
{
	struct err e = { 0 };

	buf_reset(&f->buf);
	if (sshsig_sign(f->signer, str_from(name_space), message, &f->buf, &e))
		fail_msg("%s", e.detail);
	return arena_str(f->arena, buf_str(&f->buf));
}

static struct sshsig
parse(struct str armored)
{
	struct err e = { 0 };
	struct sshsig s;

	if (sshsig_parse(armored, &s, &e))
		fail_msg("%s", e.detail);
	return s;
}

static void
expect_malformed(struct str armored)
{
	struct err e = { 0 };
	struct sshsig s;

	if (sshsig_parse(armored, &s, &e) == 0)
		fail_msg("accepted: %.*s", STR_ARGS(armored));
	assert_ptr_equal(e.kind, &err_malformed);
}

/* Byte for byte what ssh-keygen made with the same key. */
static void
test_frozen(void **state)
{
	struct fixture *f = *state;
	struct str message = read_path(f, VECTORS "message");
	struct str wanted = read_path(f, VECTORS "signature");
	struct buf line;

	assert_true(str_eq(sign(f, "git", message), wanted));
	buf_init(&line, 1000);
	allowed_signers_add(&line, STR(PRINCIPAL), signer_public(f->signer),
	    (struct instant){ 1700000000 * INT64_C(1000000) },
	    (struct instant){ 1704067200 * INT64_C(1000000) + 999999 });
	assert_true(
	    str_eq(buf_str(&line), read_path(f, VECTORS "allowed_signers")));
	buf_fini(&line);
}

static void
test_round_trip(void **state)
{
	struct fixture *f = *state;
	struct str message = STR("a\0message");
	struct sshsig s = parse(sign(f, "git", message));

	assert_true(public_key_eq(s.key, signer_public(f->signer)));
	assert_string_equal(s.name_space, "git");
	assert_true(sshsig_verify(&s, STR("git"), message));
	assert_false(sshsig_verify(&s, STR("file"), message));
	assert_false(sshsig_verify(&s, STR("gi"), message));
	assert_false(sshsig_verify(&s, STR_NONE, message));
	assert_false(sshsig_verify(&s, STR("git"), STR("a")));
	/* The namespace is signed too, not just carried. */
	memcpy(s.name_space, "gif", 4);
	assert_false(sshsig_verify(&s, STR("gif"), message));
	memcpy(s.name_space, "git", 4);
	s.signature.b[0] ^= 1;
	assert_false(sshsig_verify(&s, STR("git"), message));
}

static void
allow(struct fixture *f, int64_t after_s, int64_t before_s)
{
	struct buf line;

	buf_init(&line, 1000);
	allowed_signers_add(&line, STR(PRINCIPAL), signer_public(f->signer),
	    (struct instant){ after_s * 1000000 },
	    (struct instant){ before_s * 1000000 });
	assert_false(buf_failed(&line));
	write_file(f, "allowed", buf_str(&line));
	buf_fini(&line);
}

#define KEYGEN_VERIFY                                               \
	"ssh-keygen -Y verify -f \"$dir/allowed\" -s \"$dir/sig\" " \
	"-I " PRINCIPAL " "
#define TO_NOTHING " <\"$dir/message\" >\"$dir/out\" 2>&1"

static void
test_ssh_keygen_verifies(void **state)
{
	struct fixture *f = *state;
	struct str message = STR("a message\n");

	allow(f, 0, 0);
	write_file(f, "message", message);
	write_file(f, "sig", sign(f, "git", message));
	assert_true(run(KEYGEN_VERIFY "-n git" TO_NOTHING));
	assert_false(run(KEYGEN_VERIFY "-n file" TO_NOTHING));
	/* The line allows the namespace git alone. */
	write_file(f, "sig", sign(f, "file", message));
	assert_false(run(KEYGEN_VERIFY "-n file" TO_NOTHING));
	write_file(f, "sig", sign(f, "git", STR("another\n")));
	assert_false(run(KEYGEN_VERIFY "-n git" TO_NOTHING));
}

/* 2023-11-14T22:13:20Z to 2024-01-01T00:00:00Z, both included, whatever the
 * time zone of whoever verifies. */
static void
test_ssh_keygen_validity(void **state)
{
	static const struct {
		const char *at;
		bool good;
	} cases[] = {
		{ "20231114221319Z", false },
		{ "20231114221320Z", true },
		{ "20240101000000Z", true },
		{ "20240101000001Z", false },
	};
	struct fixture *f = *state;

	allow(f, 1700000000, 1704067200);
	write_file(f, "message", STR("m"));
	write_file(f, "sig", sign(f, "git", STR("m")));
	for (size_t i = 0; i < 4; i++) {
		setenv("at", cases[i].at, 1);
		assert_int_equal(run("TZ=UTC " KEYGEN_VERIFY
				     "-n git -O verify-time=$at" TO_NOTHING),
		    cases[i].good);
		assert_int_equal(run("TZ=America/New_York " KEYGEN_VERIFY
				     "-n git -O verify-time=$at" TO_NOTHING),
		    cases[i].good);
	}
	assert_false(run(KEYGEN_VERIFY "-n git" TO_NOTHING));
}

/* ssh-keygen makes a key and signs; we read both, and our armor of the same
 * signature is the same text. */
static void
test_ssh_keygen_signs(void **state)
{
	struct fixture *f = *state;
	struct public_key k;
	struct str message, armored;
	struct sshsig s;
	struct err e = { 0 };

	write_file(f, "message", message = STR("a message\n"));
	assert_true(run("ssh-keygen -q -t ed25519 -N '' -f \"$dir/key\" && "
			"ssh-keygen -q -Y sign -f \"$dir/key\" -n git "
			"\"$dir/message\" 2>\"$dir/out\""));
	assert_int_equal(public_key_parse(read_file(f, "key.pub"), &k, &e), 0);
	armored = read_file(f, "message.sig");
	s = parse(armored);
	assert_true(public_key_eq(s.key, k));
	assert_true(sshsig_verify(&s, STR("git"), message));
	assert_false(sshsig_verify(&s, STR("git"), STR("another\n")));
	buf_reset(&f->buf);
	sshsig_armor(&f->buf, s.key, STR("git"), s.signature);
	assert_true(str_eq(buf_str(&f->buf), armored));
}

/* Other algorithms are refused, not misread. */
static void
test_other_algorithms(void **state)
{
	struct fixture *f = *state;

	write_file(f, "message", STR("m"));
	assert_true(run("ssh-keygen -q -t ecdsa -N '' -f \"$dir/ec\" && "
			"ssh-keygen -q -Y sign -f \"$dir/ec\" -n git "
			"\"$dir/message\" 2>\"$dir/out\""));
	expect_malformed(read_file(f, "message.sig"));
	assert_true(run("rm \"$dir/message.sig\" && "
			"ssh-keygen -q -t ed25519 -N '' -f \"$dir/key\" && "
			"ssh-keygen -q -Y sign -O hashalg=sha256 -n git "
			"-f \"$dir/key\" \"$dir/message\" 2>\"$dir/out\""));
	expect_malformed(read_file(f, "message.sig"));
}

/* No byte of the armor can change without the signature being lost. */
static void
test_tampering(void **state)
{
	struct fixture *f = *state;
	struct str s = sign(f, "git", STR("m"));
	char *bytes = arena_cstr(f->arena, s);

	for (size_t i = 0; i < s.n; i++) {
		struct err e = { 0 };
		struct sshsig got;

		bytes[i] ^= 1;
		if (sshsig_parse((struct str){ bytes, s.n }, &got, &e) == 0)
			assert_false(sshsig_verify(&got, STR("git"), STR("m")));
		bytes[i] ^= 1;
	}
}

static void
test_cut_short(void **state)
{
	struct fixture *f = *state;
	struct str s = sign(f, "git", STR("m"));

	/* Git drops the last line end. */
	parse(str_slice(s, 0, s.n - 1));
	for (size_t n = 0; n < s.n - 1; n++)
		expect_malformed(str_slice(s, 0, n));
	for (size_t from = 1; from < s.n; from++)
		expect_malformed(str_slice(s, from, s.n));
}

/* Armor around bytes as they are. */
static struct str
wrap(struct fixture *f, struct str blob)
{
	char *base64 = arena_alloc(f->arena, BASE64_LENGTH(blob.n) + 1);

	base64_encode(blob.p, blob.n, base64);
	return arena_strf(f->arena,
	    "-----BEGIN SSH SIGNATURE-----\n%s\n"
	    "-----END SSH SIGNATURE-----\n",
	    base64);
}

#define HEAD    "SSHSIG\0\0\0\1"
#define KEY     "\0\0\0\63\0\0\0\13ssh-ed25519\0\0\0\40" B32
#define B32     "01234567890123456789012345678901"
#define SCOPE   "\0\0\0\3git\0\0\0\0\0\0\0\6sha512"
#define SIG     "\0\0\0\123\0\0\0\13ssh-ed25519\0\0\0\100" B32 B32
#define LONG_NS "\0\0\0\100" B32 B32

static void
test_blobs(void **state)
{
	struct fixture *f = *state;
	const struct str bad[] = {
		STR(""),
		STR(HEAD),
		STR("SSHSIH\0\0\0\1" KEY SCOPE SIG),
		STR("SSHSIG\0\0\0\2" KEY SCOPE SIG),
		STR(HEAD KEY SCOPE SIG "x"),
		STR(HEAD KEY SCOPE),
		/* namespace: empty, too long, with NUL */
		STR(HEAD KEY "\0\0\0\0\0\0\0\0\0\0\0\6sha512" SIG),
		STR(HEAD KEY LONG_NS "\0\0\0\0\0\0\0\6sha512" SIG),
		STR(HEAD KEY "\0\0\0\3g\0t\0\0\0\0\0\0\0\6sha512" SIG),
		/* reserved not empty; another hash */
		STR(HEAD KEY "\0\0\0\3git\0\0\0\1r\0\0\0\6sha512" SIG),
		STR(HEAD KEY "\0\0\0\3git\0\0\0\0\0\0\0\6sha256" SIG),
		/* a length beyond the end */
		STR(HEAD "\377\377\377\377" KEY),
		STR(HEAD
		    "\0\0\0\63\0\0\0\13ssh-ed25519\377\377\377\377" B32 SCOPE
			SIG),
		/* a key of 31 bytes and one left over */
		STR(HEAD
		    "\0\0\0\63\0\0\0\13ssh-ed25519\0\0\0\37" B32 SCOPE SIG),
		/* another algorithm's name on key and signature */
		STR(HEAD
		    "\0\0\0\63\0\0\0\13ssh-ed25518\0\0\0\40" B32 SCOPE SIG),
		STR(HEAD KEY SCOPE
		    "\0\0\0\123\0\0\0\13ssh-ed25518\0\0\0\100" B32 B32),
	};

	parse(wrap(f, STR(HEAD KEY SCOPE SIG)));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		expect_malformed(wrap(f, bad[i]));
}

static void
test_too_large(void **state)
{
	static char bytes[SSHSIG_MAX + 1];

	(void)state;
	memset(bytes, 'A', sizeof bytes);
	expect_malformed((struct str){ bytes, sizeof bytes });
	expect_malformed((struct str){ bytes, SSHSIG_MAX });
}

/* A principal that would change the meaning of the line spoils the buffer. */
static void
test_principals(void **state)
{
	static const char *const bad[] = { "", "a b", "*", "a?b", "!a", "a,b",
		"\"a\"", "#a", "a\nb", "\u00e9" };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		buf_reset(&f->buf);
		allowed_signers_add(&f->buf, str_from(bad[i]),
		    signer_public(f->signer), (struct instant){ 0 },
		    (struct instant){ 0 });
		assert_true(buf_failed(&f->buf));
		assert_int_equal(f->buf.n, 0);
	}
}

static void
test_sign_refuses(void **state)
{
	struct fixture *f = *state;
	struct err e = { 0 };
	struct buf small;

	assert_int_equal(
	    sshsig_sign(f->signer, STR(""), STR("m"), &f->buf, &e), -1);
	assert_ptr_equal(e.kind, &err_internal);
	err_clear(&e);
	buf_init(&small, 100);
	assert_int_equal(
	    sshsig_sign(f->signer, STR("git"), STR("m"), &small, &e), -1);
	assert_ptr_equal(e.kind, &err_internal);
	buf_fini(&small);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frozen),
		TEST(test_round_trip),
		TEST(test_ssh_keygen_verifies),
		TEST(test_ssh_keygen_validity),
		TEST(test_ssh_keygen_signs),
		TEST(test_other_algorithms),
		TEST(test_tampering),
		TEST(test_cut_short),
		TEST(test_blobs),
		TEST(test_too_large),
		TEST(test_principals),
		TEST(test_sign_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
