/*
 * The bounds: Ed25519 over an event's bytes by OpenSSL and by the library in
 * use, on one core and on all, and how long the disk takes to have an append.
 *
 *	bench_crypto DIR [SECONDS [EVENT-BYTES]]
 */
#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ledger/base/instant.h"
#include "ledger/base/io.h"
#include "ledger/crypto/ed25519.h"

#define CORES_MAX  256
#define SYNCS      200
#define FILES      200
#define FILE_BYTES (16u << 20)

static char message[65536];
static struct str text = { message, 805 };
static struct private_key *key;
static struct public_key public;
static struct signature good;
static EVP_PKEY *openssl_key;
static EVP_MD_CTX *openssl;
static double seconds = 1;

static double
now_s(void)
{
	return (double)clock_system.steady(&clock_system).us / 1e6;
}

/* As a program would that keeps its key: not ed25519_sign_openssl, which
 * derives the public key anew each time. */
static void
sign_openssl(void)
{
	uint8_t out[64];
	size_t n = sizeof out;

	if (EVP_DigestSignInit(openssl, NULL, NULL, NULL, openssl_key) != 1 ||
	    EVP_DigestSign(openssl, out, &n, (const uint8_t *)text.p, text.n) !=
		1)
		abort();
}

static void
sign_openssl_init(void)
{
	static const uint8_t seed[32] = { 1 };

	openssl_key = EVP_PKEY_new_raw_private_key(
	    EVP_PKEY_ED25519, NULL, seed, sizeof seed);
	openssl = EVP_MD_CTX_new();
	if (!openssl_key || !openssl)
		abort();
}

static void
sign(void)
{
	struct signature out;

	if (private_key_sign(key, text, &out, NULL))
		abort();
}

static void
verify(void)
{
	if (!ed25519_verify(public, text, good))
		abort();
}

struct core {
	pthread_t thread;
	void (*work)(void);
	double rate;
};

static void *
run_core(void *arg)
{
	struct core *c = arg;
	double from = now_s(), spent;
	long n = 0;

	do {
		for (int i = 0; i < 64; i++)
			c->work();
		n += 64;
		spent = now_s() - from;
	} while (spent < seconds);
	c->rate = (double)n / spent;
	return NULL;
}

static double
rate(void (*work)(void), int cores)
{
	struct core core[CORES_MAX];
	double sum = 0;

	for (int i = 0; i < cores; i++) {
		core[i].work = work;
		if (pthread_create(&core[i].thread, NULL, run_core, &core[i]))
			abort();
	}
	for (int i = 0; i < cores; i++) {
		pthread_join(core[i].thread, NULL);
		sum += core[i].rate;
	}
	return sum;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The median of an append within a file that has its blocks. */
static double
fdatasync_ms(int fd, size_t bytes)
{
	double took[SYNCS];

	for (int i = 0; i < SYNCS; i++) {
		double from = now_s();

		if (io_pwrite_all(fd, message, bytes,
			(off_t)((size_t)i * bytes % FILE_BYTES)) ||
		    fdatasync(fd))
			abort();
		took[i] = (now_s() - from) * 1e3;
	}
	qsort(took, SYNCS, sizeof *took, compare);
	return took[SYNCS / 2];
}

/* The median of making a file; all stay until the end. */
static double
create_ms(const char *dir)
{
	double took[FILES];
	char path[4096];

	for (int i = 0; i < FILES; i++) {
		double from = now_s();
		int fd;

		snprintf(path, sizeof path, "%s/create-%d", dir, i);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
		if (fd < 0)
			abort();
		close(fd);
		took[i] = (now_s() - from) * 1e3;
	}
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof path, "%s/create-%d", dir, i);
		unlink(path);
	}
	qsort(took, FILES, sizeof *took, compare);
	return took[FILES / 2];
}

static int
open_full_file(const char *dir)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/fdatasync-XXXXXX", dir);
	fd = mkstemp(path);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	unlink(path);
	for (size_t at = 0; at < FILE_BYTES; at += sizeof message)
		if (io_pwrite_all(fd, message, sizeof message, (off_t)at))
			abort();
	if (fsync(fd))
		abort();
	return fd;
}

int
main(int argc, char **argv)
{
	int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
	int fd;

	if (argc < 2)
		return 2;
	if (argc > 2)
		seconds = strtod(argv[2], NULL);
	if (argc > 3)
		text.n = strtoul(argv[3], NULL, 10) % sizeof message;
	if (cores > CORES_MAX)
		cores = CORES_MAX;
	memset(message, 'x', sizeof message);
	message[0] = '{';
	key = private_key_new();
	public = private_key_public(key);
	if (private_key_sign(key, text, &good, NULL))
		abort();
	sign_openssl_init();
	printf("{\"cores\":%d,\"event_bytes\":%zu,", cores, text.n);
	printf("\"sign_per_core\":%.0f,", rate(sign_openssl, 1));
	printf("\"sign_per_core_in_use\":%.0f,", rate(sign, 1));
	printf("\"verify_per_core\":%.0f,", rate(verify, 1));
	printf("\"verify_all_cores\":%.0f,", rate(verify, cores));
	fd = open_full_file(argv[1]);
	printf("\"fdatasync_4k_ms\":%.3f,", fdatasync_ms(fd, 4096));
	printf("\"fdatasync_64k_ms\":%.3f,", fdatasync_ms(fd, 65536));
	printf("\"create_file_ms\":%.3f}\n", create_ms(argv[1]));
	close(fd);
	EVP_MD_CTX_free(openssl);
	EVP_PKEY_free(openssl_key);
	private_key_free(key);
	return 0;
}
