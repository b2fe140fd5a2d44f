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
#include "ledger/crypto/ed25519.h"

static char dir[64];
static char path[128];

static int
make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "/tmp/test_key_file.XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(path, sizeof path, "%s/key", dir);
	return 0;
}

static int
remove_dir(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(dir);
}

/* The shell finds the path in $key. */
static void
run(const char *command)
{
	assert_int_equal(setenv("key", path, 1), 0);
	assert_int_equal(system(command), 0);
}

static void
write_file(struct str bytes, mode_t mode)
{
	struct err e = { 0 };

	assert_int_equal(io_write_file(path, bytes, mode, &e), 0);
}

static void
expect_load(const struct err_kind *kind)
{
	struct private_key *k = NULL;
	struct err e = { 0 };

	assert_int_equal(private_key_load(path, &k, &e), -1);
	assert_null(k);
	assert_string_equal(e.kind->slug, kind->slug);
}

static void
expect_same(const struct private_key *k, const char *file)
{
	struct private_key *again = NULL;
	struct err e = { 0 };

	if (private_key_load(file, &again, &e))
		fail_msg("%s", e.detail);
	assert_true(
	    public_key_eq(private_key_public(k), private_key_public(again)));
	private_key_free(again);
}

static void
test_round_trip(void **state)
{
	struct private_key *k = private_key_new();
	struct err e = { 0 };
	struct stat st;

	(void)state;
	assert_int_equal(private_key_save(k, path, &e), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	expect_same(k, path);
	/* Never over another key. */
	assert_int_equal(private_key_save(k, path, &e), -1);
	assert_ptr_equal(e.kind, &err_conflict);
	private_key_free(k);
}

/* openssl reads our file and makes the same public key of it. */
static void
test_openssl_reads(void **state)
{
	struct private_key *k = private_key_new();
	struct public_key public;
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct str pem;

	(void)state;
	assert_int_equal(private_key_save(k, path, &e), 0);
	run("openssl pkey -in $key -pubout -out $key.pub && "
	    "mv $key.pub $key");
	assert_int_equal(io_read_file(a, path, 4096, &pem, &e), 0);
	assert_int_equal(public_key_parse(pem, &public, &e), 0);
	assert_true(public_key_eq(public, private_key_public(k)));
	arena_free(a);
	private_key_free(k);
}

/* And we read the file that openssl makes. */
static void
test_openssl_writes(void **state)
{
	struct private_key *k = NULL;
	struct err e = { 0 };

	(void)state;
	run("umask 077; openssl genpkey -algorithm ed25519 -out $key");
	assert_int_equal(private_key_load(path, &k, &e), 0);
	private_key_free(k);
}

static void
test_refused_files(void **state)
{
	struct private_key *k = private_key_new();
	struct err e = { 0 };

	(void)state;
	expect_load(&err_not_found);
	assert_int_equal(private_key_save(k, path, &e), 0);
	for (mode_t bit = 1; bit <= 040; bit <<= 1) {
		assert_int_equal(chmod(path, 0600 | bit), 0);
		expect_load(&err_unavailable);
	}
	assert_int_equal(chmod(path, 0400), 0);
	expect_same(k, path);
	run("mv $key $key.real && ln -s $key.real $key");
	expect_load(&err_unavailable);
	run("rm $key.real $key; mkfifo -m 600 $key");
	expect_load(&err_unavailable);
	private_key_free(k);
}

/* A directory that is the group's may hold a key for the group: 0770, and the
 * key for nobody else. */
static void
test_a_key_for_a_group(void **state)
{
	struct private_key *k = NULL;
	struct err e = { 0 };

	(void)state;
	run("umask 077; openssl genpkey -algorithm ed25519 -out $key");
	assert_int_equal(chmod(path, 0660), 0);
	expect_load(&err_unavailable);
	assert_int_equal(chmod(dir, 0770), 0);
	assert_int_equal(private_key_load(path, &k, &e), 0);
	private_key_free(k);
	assert_int_equal(chmod(path, 0664), 0);
	expect_load(&err_unavailable);
	assert_int_equal(chmod(path, 0660), 0);
	assert_int_equal(chmod(dir, 0775), 0);
	expect_load(&err_unavailable);
	assert_int_equal(chmod(dir, 0700), 0);
	assert_int_equal(unlink(path), 0);
}

static void
test_refused_contents(void **state)
{
	static char large[5000];

	(void)state;
	write_file(STR(""), 0600);
	expect_load(&err_malformed);
	write_file(STR("-----BEGIN PRIVATE KEY-----\nAAAA\n"
		       "-----END PRIVATE KEY-----\n"),
	    0600);
	expect_load(&err_malformed);
	memset(large, 'A', sizeof large);
	write_file((struct str){ large, sizeof large }, 0600);
	expect_load(&err_too_large);
	run("umask 077; openssl genpkey -algorithm x25519 -out $key");
	expect_load(&err_malformed);
	run("umask 077; openssl genpkey -algorithm ec -out $key "
	    "-pkeyopt ec_paramgen_curve:P-256");
	expect_load(&err_malformed);
	/* A passphrase is not asked for. */
	run("umask 077; openssl genpkey -algorithm ed25519 -aes256 "
	    "-pass pass:secret -out $key");
	expect_load(&err_malformed);
	/* A public key is no private key. */
	run("umask 077; openssl genpkey -algorithm ed25519 | "
	    "openssl pkey -pubout -out $key");
	expect_load(&err_malformed);
}

static void
test_secret(void **state)
{
	uint8_t secret[32], again[32];
	struct err e = { 0 };

	(void)state;
	for (uint8_t i = 0; i < 32; i++)
		secret[i] = (uint8_t)(i * 9);
	assert_int_equal(secret_save(secret, path, &e), 0);
	assert_int_equal(secret_load(path, again, &e), 0);
	assert_memory_equal(secret, again, 32);
	assert_int_equal(secret_save(secret, path, &e), -1);
	assert_ptr_equal(e.kind, &err_conflict);
	err_clear(&e);
	assert_int_equal(chmod(path, 0604), 0);
	assert_int_equal(secret_load(path, again, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	err_clear(&e);
	write_file(STR("00ff\n"), 0600);
	assert_int_equal(secret_load(path, again, &e), -1);
	assert_ptr_equal(e.kind, &err_malformed);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),
		TEST(test_openssl_reads),
		TEST(test_openssl_writes),
		TEST(test_refused_files),
		TEST(test_a_key_for_a_group),
		TEST(test_refused_contents),
		TEST(test_secret),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
