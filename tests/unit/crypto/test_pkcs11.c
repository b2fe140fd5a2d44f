/*
 * Keys on a token of SoftHSM2, made with its own tools and with OpenSC's in a
 * directory of the test's own.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ledger/base/io.h"
#include "ledger/crypto/ed25519.h"

#define MODULE "/usr/lib/softhsm/libsofthsm2.so"
/* A failure answers for so long, and a module is not begun anew sooner. */
#define A_WHILE_US 600000

static char dir[64];
static char key_path[128];

/* SoftHSM2 forgets the curve's name at each signature. */
const char *__lsan_default_suppressions(void);
const char *__asan_default_options(void);

const char *
__lsan_default_suppressions(void)
{
	return "leak:libsofthsm2.so\n";
}

const char *
__asan_default_options(void)
{
	return "fast_unwind_on_malloc=0";
}

/* The shell runs in the directory, with functions for tokens and keys. */
static void
run(const char *command)
{
	char line[2048];

	snprintf(line, sizeof line,
	    "cd %s && exec >>log 2>&1 && set -e; umask 077;"
	    "tool() { pkcs11-tool --module " MODULE
	    " --token-label probity --login --pin 1234 \"$@\"; };"
	    "token() { softhsm2-util --init-token --free --label \"$1\" "
	    "--so-pin 12345678 --pin 1234; };"
	    "import() { softhsm2-util --import \"$1\" --token probity "
	    "--label \"$2\" --id \"$3\" --pin 1234; };"
	    "%s",
	    dir, command);
	if (system(line) != 0)
		fail_msg("%s (see %s/log)", command, dir);
}

static int
make_token(void **state)
{
	char path[128];

	(void)state;
	snprintf(dir, sizeof dir, "/tmp/test_pkcs11.XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(key_path, sizeof key_path, "%s/key", dir);
	snprintf(path, sizeof path, "%s/conf", dir);
	setenv("SOFTHSM2_CONF", path, 1);
	run("mkdir tokens; echo directories.tokendir = $PWD/tokens >conf;"
	    "echo log.level = ERROR >>conf; token probity; printf 1234 >pin;"
	    "openssl genpkey -algorithm ed25519 -out a.pem;"
	    "openssl genpkey -algorithm ed25519 -out b.pem;"
	    "import a.pem a 0a");
	return 0;
}

static int
remove_token(void **state)
{
	char line[128];

	(void)state;
	snprintf(line, sizeof line, "rm -r %s", dir);
	return system(line);
}

/* The key file says this, with %s for the test's directory. */
__attribute__((format(printf, 1, 2))) static void
write_key(const char *fmt, ...)
{
	char text[1024];
	struct err e = { 0 };
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	if (io_write_file(key_path, str_from(text), 0600, &e))
		fail_msg("%s", e.detail);
}

static void
write_usual_key(const char *object)
{
	write_key(
	    "pkcs11:token=probity;object=%s;type=private?module-path=" MODULE
	    "&pin-source=file:%s/pin\n",
	    object, dir);
}

static struct private_key *
load(void)
{
	struct private_key *k = NULL;
	struct err e = { 0 };

	if (private_key_load(key_path, &k, &e))
		fail_msg("%s", e.detail);
	assert_true(private_key_on_token(k));
	return k;
}

static void
expect_refused(const char *why)
{
	struct private_key *k = NULL;
	struct err e = { 0 };

	assert_int_equal(private_key_load(key_path, &k, &e), -1);
	assert_null(k);
	assert_ptr_equal(e.kind, &err_unavailable);
	if (!strstr(e.detail, why))
		fail_msg("\"%s\" does not say \"%s\"", e.detail, why);
}

static void
expect_signs(const struct private_key *k)
{
	struct signature s;
	struct err e = { 0 };

	if (private_key_sign(k, STR("{}"), &s, &e))
		fail_msg("%s", e.detail);
	assert_true(ed25519_verify(private_key_public(k), STR("{}"), s));
}

static void
expect_fails(const struct private_key *k, const char *why)
{
	struct signature s;
	struct err e = { 0 };

	assert_int_equal(private_key_sign(k, STR("{}"), &s, &e), -1);
	assert_ptr_equal(e.kind, &err_unavailable);
	if (!strstr(e.detail, why))
		fail_msg("\"%s\" does not say \"%s\"", e.detail, why);
}

/* Ed25519 is deterministic: the token signs to the byte as the file does. */
static void
test_same_as_file(void **state)
{
	struct private_key *file = NULL, *token;
	char path[128];
	struct signature a, b;
	struct err e = { 0 };
	struct str m = STR("a message");

	(void)state;
	snprintf(path, sizeof path, "%s/a.pem", dir);
	assert_int_equal(private_key_load(path, &file, &e), 0);
	assert_false(private_key_on_token(file));
	write_usual_key("a");
	token = load();
	assert_true(
	    public_key_eq(private_key_public(file), private_key_public(token)));
	assert_int_equal(private_key_sign(file, m, &a, &e), 0);
	assert_int_equal(private_key_sign(token, m, &b, &e), 0);
	assert_memory_equal(a.b, b.b, sizeof a.b);
	private_key_free(file);
	private_key_free(token);
}

/* One that the token made, whose CKA_EC_POINT is written the other way; and
 * the other forms in which a PIN is given. */
static void
test_generated(void **state)
{
	struct private_key *k;

	(void)state;
	run("tool --keypairgen --key-type EC:edwards25519 --label g --id 07");
	write_usual_key("g");
	k = load();
	expect_signs(k);
	private_key_free(k);
	write_key("pkcs11:token=probity;id=%%07?module-path=" MODULE
		  "&pin-value=1234");
	k = load();
	expect_signs(k);
	private_key_free(k);
	write_key("pkcs11:id=%%07?pin-source=%s/pin&module-path=" MODULE, dir);
	k = load();
	expect_signs(k);
	private_key_free(k);
}

/* The PIN is tried once: a token locks itself after a few. */
static void
test_wrong_pin(void **state)
{
	struct private_key *k;

	(void)state;
	write_usual_key("a");
	run("printf 4321 >pin");
	expect_refused("CKR_PIN_INCORRECT");
	expect_refused("has refused this PIN");
	run("printf '1234\\n' >pin");
	k = load();
	expect_signs(k);
	private_key_free(k);
	run(": >pin");
	expect_refused("a PIN has 1 to 255 bytes");
	run("printf 1234 >pin; chmod 644 pin");
	expect_refused("open to others");
	run("rm pin");
	expect_refused("/pin");
	write_key("pkcs11:object=a?module-path=" MODULE);
	expect_refused("wants a PIN");
	write_key("pkcs11:object=a?pin-source=%%7Ccat&module-path=" MODULE);
	expect_refused("pin-source must be");
}

static void
test_wrong_key(void **state)
{
	(void)state;
	write_usual_key("nobody");
	expect_refused("no private key");
	run("openssl genpkey -algorithm ec -pkeyopt "
	    "ec_paramgen_curve:P-256 -out p.pem; import p.pem p 0b");
	write_usual_key("p");
	expect_refused("not Ed25519");
	run("tool --keypairgen --key-type rsa:2048 --label r --id 0c");
	write_usual_key("r");
	expect_refused("not Ed25519");
	/* Two under one name. */
	run("softhsm2-util --import b.pem --token probity --label a --id 0d "
	    "--pin 1234");
	write_usual_key("a");
	expect_refused("several private keys");
	/* Without a public key nobody knows whose signatures these are. */
	run("tool --delete-object --type pubkey --id 0d");
	write_usual_key("a;id=%0d");
	expect_refused("no public key");
	/* With another's they do not verify. */
	run("tool --type pubkey --id 0a --set-id 0d");
	expect_refused("does not verify");
}

static void
test_wrong_place(void **state)
{
	(void)state;
	write_key("pkcs11:token=elsewhere;object=a?module-path=" MODULE);
	expect_refused("no token");
	/* Only the whole label is the token's. */
	write_key("pkcs11:token=probit;object=a?module-path=" MODULE);
	expect_refused("no token");
	write_key("pkcs11:serial=;object=a?module-path=" MODULE);
	expect_refused("no token");
	run("token probity");
	write_usual_key("a");
	expect_refused("more than one token");
	write_key("pkcs11:object=a?module-path=%s/none.so", dir);
	expect_refused("none.so");
	write_key("pkcs11:object=a?module-path=libsofthsm2.so");
	expect_refused("absolute");
	write_key("pkcs11:object=a?module-path=%s", dir);
	expect_refused("must be a file");
	run("cp -L " MODULE " mine.so; chmod 775 mine.so");
	write_key("pkcs11:object=a?module-path=%s/mine.so", dir);
	expect_refused("must be a file");
	write_key("pkcs11:object=a?module-path=%s/conf", dir);
	expect_refused("does not load");
	run("cp -L /usr/lib/x86_64-linux-gnu/libz.so.1 z.so");
	write_key("pkcs11:object=a?module-path=%s/z.so", dir);
	expect_refused("no PKCS #11 module");
}

static void
test_wrong_uri(void **state)
{
	(void)state;
	write_key("pkcs11:object=a\nobject=b?module-path=" MODULE);
	expect_refused("object");
	write_key("pkcs11:token=probity?module-path=" MODULE);
	expect_refused("object or id");
	write_key("pkcs11:object=a");
	expect_refused("module-path");
	write_key("pkcs11:object=a;type=public?module-path=" MODULE);
	expect_refused("type");
	write_key("pkcs11:object=a;slot-id=0?module-path=" MODULE);
	expect_refused("slot-id");
	write_key(
	    "pkcs11:object=a?pin-value=1&pin-source=%s/pin&module-path=" MODULE,
	    dir);
	expect_refused("both");
	write_usual_key("a");
	assert_int_equal(chmod(key_path, 0640), 0);
	expect_refused("open to others");
	assert_int_equal(chmod(key_path, 0600), 0);
	/* Whose code it names is not for another user to choose. */
	if (geteuid() == 0) {
		assert_int_equal(chown(key_path, 65534, 65534), 0);
		expect_refused("run as that user");
	}
}

static void
test_taken_away(void **state)
{
	struct private_key *k;

	(void)state;
	write_usual_key("a");
	k = load();
	expect_signs(k);
	run("mv tokens away; mkdir tokens");
	expect_fails(k, "no token");
	expect_refused("no token");
	usleep(A_WHILE_US);
	expect_fails(k, "no token");
	/* For a while that answer holds. */
	run("rmdir tokens; mv away tokens");
	expect_fails(k, "no token");
	usleep(A_WHILE_US);
	expect_signs(k);
	/* Another key under the same name is not signed with. */
	run("tool --delete-object --type privkey --id 0a;"
	    "tool --delete-object --type pubkey --id 0a;"
	    "import b.pem a 0a");
	expect_fails(k, "another key");
	private_key_free(k);
}

/* A copy of the module beside us that does as SHIM_TOKEN says. */
static void
use_shim(void)
{
	char program[256];
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);

	assert_true(n > 0);
	program[n] = '\0';
	setenv("program", program, 1);
	run("cp $(dirname $program)/../../fault/shim_token.so . && "
	    "chmod 755 shim_token.so");
	write_key("pkcs11:token=probity;object=a?module-path=%s/shim_token.so"
		  "&pin-source=file:%s/pin\n",
	    dir, dir);
}

static int
logins(void)
{
	char path[128];
	void *shim;
	atomic_int *count;

	snprintf(path, sizeof path, "%s/shim_token.so", dir);
	shim = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	assert_non_null(shim);
	count = dlsym(shim, "shim_token_logins");
	assert_non_null(count);
	return *count;
}

static int
tell_nothing(void **state)
{
	unsetenv("SHIM_TOKEN");
	return remove_token(state);
}

static void
test_faulty_token(void **state)
{
	struct private_key *k;

	(void)state;
	use_shim();
	k = load();
	setenv("SHIM_TOKEN", "wrong", 1);
	expect_fails(k, "does not verify");
	unsetenv("SHIM_TOKEN");
	usleep(A_WHILE_US);
	expect_signs(k);
	setenv("SHIM_TOKEN", "short", 1);
	expect_fails(k, "does not verify");
	expect_refused("does not verify");
	unsetenv("SHIM_TOKEN");
	usleep(A_WHILE_US);
	/* A session that is gone costs a login and no failure. */
	setenv("SHIM_TOKEN", "lost", 1);
	expect_signs(k);
	assert_null(getenv("SHIM_TOKEN"));
	private_key_free(k);
}

static void *
sign_in_vain(void *k)
{
	struct signature s;

	return private_key_sign(k, STR("{}"), &s, NULL) ? k : NULL;
}

/* More than there are sessions for, and none of them waits for ever. */
static void
test_faulty_for_many(void **state)
{
	struct private_key *k;
	pthread_t threads[32];
	void *failed;

	(void)state;
	use_shim();
	k = load();
	setenv("SHIM_TOKEN", "wrong", 1);
	for (int i = 0; i < 32; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, sign_in_vain, k), 0);
	for (int i = 0; i < 32; i++) {
		pthread_join(threads[i], &failed);
		assert_ptr_equal(failed, k);
	}
	private_key_free(k);
}

static void
test_few_logins(void **state)
{
	(void)state;
	use_shim();
	run("printf 4321 >pin");
	for (int i = 0; i < 5; i++)
		expect_refused("PIN");
	assert_int_equal(logins(), 1);
	run("printf 1234 >pin");
	setenv("SHIM_TOKEN", "final", 1);
	expect_refused("one more PIN");
	setenv("SHIM_TOKEN", "locked", 1);
	expect_refused("locked");
	assert_int_equal(logins(), 1);
	unsetenv("SHIM_TOKEN");
	private_key_free(load());
	assert_int_equal(logins(), 2);
}

static bool
sign_once(const struct private_key *k, int i)
{
	char text[32];
	struct str m = { text, (size_t)snprintf(text, sizeof text, "{%d", i) };
	struct signature s;

	return private_key_sign(k, m, &s, NULL) == 0 &&
	       ed25519_verify(private_key_public(k), m, s);
}

static atomic_bool enough;

static void *
sign_until_enough(void *k)
{
	for (int i = 0; !enough; i++)
		if (!sign_once(k, i))
			return NULL;
	return k;
}

/* More threads than sessions. Meanwhile another key is let go, and one that is
 * not there is looked for, with the module begun anew each time. */
static void
test_threads(void **state)
{
	struct private_key *a, *b;
	pthread_t threads[12];
	void *good;

	(void)state;
	run("import b.pem b 0e");
	write_usual_key("b");
	b = load();
	write_usual_key("a");
	a = load();
	for (int i = 0; i < 12; i++)
		assert_int_equal(
		    pthread_create(&threads[i], NULL, sign_until_enough, a), 0);
	expect_signs(b);
	private_key_free(b);
	write_usual_key("nobody");
	for (int i = 0; i < 2; i++) {
		expect_refused("no private key");
		usleep(A_WHILE_US);
	}
	enough = true;
	for (int i = 0; i < 12; i++) {
		pthread_join(threads[i], &good);
		assert_ptr_equal(good, a);
	}
	private_key_free(a);
}

static void
test_fork(void **state)
{
	struct private_key *k;
	pid_t child;
	int status;

	(void)state;
	write_usual_key("a");
	k = load();
	child = fork();
	if (child == 0)
		_exit(sign_once(k, 0) && sign_once(k, 1) ? 0 : 1);
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	expect_signs(k);
	private_key_free(k);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_token, tell_nothing)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_same_as_file),
		TEST(test_generated),
		TEST(test_wrong_pin),
		TEST(test_wrong_key),
		TEST(test_wrong_place),
		TEST(test_wrong_uri),
		TEST(test_taken_away),
		TEST(test_faulty_token),
		TEST(test_faulty_for_many),
		TEST(test_few_logins),
		TEST(test_threads),
		TEST(test_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
