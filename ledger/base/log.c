#include "ledger/base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ledger/base/instant.h"

/* Up to PIPE_BUF, the kernel writes a line to a pipe as one piece. */
#define LINE_MAX_BYTES    4096
#define MESSAGE_MAX_BYTES 2048

struct line {
	char text[LINE_MAX_BYTES];
	size_t n;
};

static atomic_int lowest = LOG_INFO;

void
log_set_level(enum log_level level)
{
	atomic_store(&lowest, (int)level);
}

static const char *
level_name(enum log_level level)
{
	static const char *const names[] = { "debug", "info", "warn", "error" };

	return names[level];
}

/* Room for the closing quote, brace and line feed is always left. */
static bool
put(struct line *line, const char *p, size_t n)
{
	if (n > sizeof line->text - 3 - line->n)
		return false;
	memcpy(line->text + line->n, p, n);
	line->n += n;
	return true;
}

/* Bytes of the well-formed character at p; 0 when it is not one. */
static size_t
character_length(const char *p, size_t room)
{
	for (size_t n = 1; n <= 4 && n <= room; n++)
		if (str_is_utf8((struct str){ p, n }))
			return n;
	return 0;
}

static void
put_escaped(struct line *line, struct str s)
{
	char escape[8];
	bool fits = true;

	for (size_t i = 0; fits && i < s.n;) {
		unsigned char c = (unsigned char)s.p[i];
		size_t n = character_length(s.p + i, s.n - i);

		if (n == 0) {
			fits = put(line, "\xef\xbf\xbd", 3);
			n = 1;
		} else if (c < 0x20 || c == 0x7f) {
			snprintf(escape, sizeof escape, "\\u%04x", c);
			fits = put(line, escape, 6);
		} else if (c == '"' || c == '\\') {
			escape[0] = '\\';
			escape[1] = (char)c;
			fits = put(line, escape, 2);
		} else {
			fits = put(line, s.p + i, n);
		}
		i += n;
	}
}

static void
put_member(struct line *line, const char *before, struct str value)
{
	put(line, before, strlen(before));
	put_escaped(line, value);
}

void
log_line(enum log_level level, const char *module, const char *fmt, ...)
{
	char at[INSTANT_TEXT + 1], message[MESSAGE_MAX_BYTES];
	struct line line = { .n = 0 };
	ssize_t written;
	va_list ap;

	if ((int)level < atomic_load(&lowest))
		return;
	va_start(ap, fmt);
	vsnprintf(message, sizeof message, fmt, ap);
	va_end(ap);
	instant_format(clock_system.wall(&clock_system), at);
	put_member(&line, "{\"at\":\"", str_from(at));
	put_member(&line, "\",\"level\":\"", str_from(level_name(level)));
	put_member(&line, "\",\"module\":\"", str_from(module));
	put_member(&line, "\",\"message\":\"", str_from(message));
	memcpy(line.text + line.n, "\"}\n", 3);
	/* There is nowhere to report that the log cannot be written. */
	written = write(STDERR_FILENO, line.text, line.n + 3);
	(void)written;
}
