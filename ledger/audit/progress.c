#include "ledger/audit/progress.h"

#include <stdio.h>
#include <unistd.h>

#define WIDTH 40

void
progress_show(void *unused, uint64_t done, uint64_t total)
{
	progress_show_what(unused, "events", done, total);
}

void
progress_show_what(
    void *unused, const char *what, uint64_t done, uint64_t total)
{
	char bar[WIDTH + 1];
	uint64_t full;

	(void)unused;
	if (!isatty(STDERR_FILENO) || total == 0)
		return;
	full = done >= total ? WIDTH : done * WIDTH / total;
	for (uint64_t i = 0; i < WIDTH; i++)
		bar[i] = i < full ? '#' : '.';
	bar[WIDTH] = '\0';
	fprintf(stderr, "\r[%s] %llu of %llu %s", bar, (unsigned long long)done,
	    (unsigned long long)total, what);
	fflush(stderr);
}

void
progress_end(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}
