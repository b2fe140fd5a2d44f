/*
 * Preloaded into a program, makes every wait for the disk longer by
 * PROBITY_SYNC_DELAY_US microseconds (1,000): what the program would do on a
 * slower disk.
 *
 *	LD_PRELOAD=…/shim_slow_sync.so PROBITY_SYNC_DELAY_US=1000 program
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static struct {
	int (*fsync)(int);
	int (*fdatasync)(int);
	int (*syncfs)(int);
	int (*sync_file_range)(int, off64_t, off64_t, unsigned);
	int (*msync)(void *, size_t, int);
	struct timespec delay;
} real;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
load(void)
{
	const char *text = getenv("PROBITY_SYNC_DELAY_US");
	long us = text ? strtol(text, NULL, 10) : 1000;

	real.delay.tv_sec = us / 1000000;
	real.delay.tv_nsec = us % 1000000 * 1000;
	*(void **)&real.fsync = dlsym(RTLD_NEXT, "fsync");
	*(void **)&real.fdatasync = dlsym(RTLD_NEXT, "fdatasync");
	*(void **)&real.syncfs = dlsym(RTLD_NEXT, "syncfs");
	*(void **)&real.sync_file_range = dlsym(RTLD_NEXT, "sync_file_range");
	*(void **)&real.msync = dlsym(RTLD_NEXT, "msync");
}

static void
delay(void)
{
	struct timespec left;

	pthread_once(&once, load);
	left = real.delay;
	while (nanosleep(&left, &left))
		continue;
}

int
fsync(int fd)
{
	delay();
	return real.fsync(fd);
}

int
fdatasync(int fd)
{
	delay();
	return real.fdatasync(fd);
}

int
syncfs(int fd)
{
	delay();
	return real.syncfs(fd);
}

int
sync_file_range(int fd, off64_t from, off64_t n, unsigned flags)
{
	delay();
	return real.sync_file_range(fd, from, n, flags);
}

int
msync(void *p, size_t n, int flags)
{
	delay();
	return real.msync(p, n, flags);
}
