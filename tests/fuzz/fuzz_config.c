/*
 * A configuration is right, or has faults that each name a place in it. What
 * was read stands where its line and column say, and reads the same when it is
 * written anew.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "domain/config.h"
#include "domain/config_file.h"
#include "domain/config_shape.h"
#include "ledger/base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct settings *
read_text(struct arena *a, struct str text, bool *right)
{
	struct settings *s = ARENA_NEW(a, struct settings);
	struct err e = { 0 };

	*right = config_file_read(a, "f", text, s, &e) == 0;
	if (*right != (e.kind == NULL) || *right != (e.fields == NULL))
		abort();
	return s;
}

static void
check_place(struct str text, const struct setting *s)
{
	const struct config_origin *origin = &s->origin;
	struct str line = STR_NONE;
	size_t at;

	if (str_has_prefix(text, STR("\xef\xbb\xbf")))
		text = str_slice(text, 3, text.n);
	for (int i = 0; i < origin->line; i++)
		line = str_take(&text, '\n');
	at = (size_t)(s->value.p - line.p);
	if (origin->column < 1 || at + s->value.n > line.n ||
	    str_code_points(str_slice(line, 0, at)) !=
		(size_t)origin->column - 1)
		abort();
}

static void
check_reader(struct arena *a, struct str text)
{
	struct settings *once, *again;
	struct buf written;
	bool right;

	once = read_text(a, text, &right);
	buf_init(&written, (size_t)1 << 20);
	/* A name may begin with what would be a file's mark of UTF-8. */
	buf_add_byte(&written, '\n');
	for (size_t i = 0; i < once->n; i++) {
		check_place(text, &once->list[i]);
		buf_addf(&written, "%.*s = %.*s\n",
		    STR_ARGS(once->list[i].name),
		    STR_ARGS(once->list[i].value));
	}
	again = read_text(a, buf_str(&written), &right);
	if (buf_failed(&written) || !right || again->n != once->n)
		abort();
	for (size_t i = 0; i < once->n; i++)
		if (!str_eq(once->list[i].name, again->list[i].name) ||
		    str_cmp(once->list[i].value, again->list[i].value) != 0)
			abort();
	buf_fini(&written);
}

static void
count_line(void *arg, const char *line)
{
	size_t *n = arg;

	if (*line == '\0')
		abort();
	(*n)++;
}

/* Through a file, as a program does. */
static void
check_program(struct arena *a, struct str text)
{
	int fd = memfd_create("config", MFD_CLOEXEC);
	const char *path = arena_printf(a, "/proc/self/fd/%d", fd);
	struct config_origins origins;
	struct config config;
	struct err e = { 0 };
	size_t lines = 0;

	if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n)
		abort();
	if (config_load_from(a, path, &config, &origins, &e)) {
		config_complain(&e, count_line, &lines);
		if (!e.kind || lines == 0)
			abort();
	} else if (e.kind || config.threads < 1 || config.threads > 1024) {
		abort();
	}
	close(fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct str text = { (const char *)data, size };

	if (size > 0 && size <= 65536) {
		check_reader(a, text);
		check_program(a, text);
	}
	arena_free(a);
	return 0;
}
