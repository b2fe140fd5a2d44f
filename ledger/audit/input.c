/* What is given on the command line: options, checkpoints; and text that came
 * from elsewhere. */
#include <stdarg.h>

#include "ledger/audit/audit.h"
#include "ledger/base/io.h"

/* A line about each page of a long list is some hundred bytes. */
#define JSON_MAX (8u << 20)

int
usage_error(const char *fmt, ...)
{
	va_list ap;

	fputs("probity-audit: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return EXIT_USAGE;
}

int
not_done(const struct err *e)
{
	fprintf(stderr, "probity-audit: %s\n", e->detail);
	return e->kind == &err_usage ? EXIT_USAGE : EXIT_NOT_DONE;
}

const char *
option_value(int argc, char **argv, int *i)
{
	if (*i + 1 < argc)
		return argv[++*i];
	usage_error("%s needs a value", argv[*i]);
	return NULL;
}

bool
option_number(int argc, char **argv, int *i, uint64_t *out)
{
	const char *name = argv[*i], *text = option_value(argc, argv, i);

	if (!text)
		return false;
	if (str_to_u64(str_from(text), out))
		return true;
	usage_error("%s takes a number, not %s", name, text);
	return false;
}

/* C0 and C1 controls; the latter are two bytes in UTF-8. */
static bool
is_control(struct str s, size_t i)
{
	uint8_t c = (uint8_t)s.p[i];

	return c < ' ' || c == 0x7f ||
	       (c == 0xc2 && i + 1 < s.n && (uint8_t)s.p[i + 1] < 0xa0);
}

void
print_plain(FILE *f, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		bool control = is_control(s, i);

		fputc(control ? '?' : s.p[i], f);
		i += control && (uint8_t)s.p[i] == 0xc2;
	}
}

void
print_json(FILE *f, const struct json *v)
{
	struct buf b;

	buf_init(&b, JSON_MAX);
	json_write(v, &b);
	fprintf(f, "%.*s\n", STR_ARGS(buf_str(&b)));
	buf_fini(&b);
}

void
fault_write(FILE *f, const struct fault *fault)
{
	fprintf(f, "BAD: %s: ", fault->check);
	if (fault->has_seq)
		fprintf(f, "event %llu: ", (unsigned long long)fault->seq);
	print_plain(f, str_from(fault->reason));
	fputc('\n', f);
}

struct json *
fault_json(struct arena *a, const struct fault *fault, bool numbered)
{
	struct json *v = json_object(a);

	json_put_str(a, v, "check", str_from(fault->check));
	if (numbered)
		json_put(v, "seq",
		    fault->has_seq ? json_int(a, (int64_t)fault->seq)
				   : json_null(a));
	json_put_str(a, v, "reason", str_from(fault->reason));
	return v;
}

int
checkpoint_load(struct arena *a, const char *path, struct note *note,
    struct checkpoint *c, struct err *e)
{
	struct str bytes;

	if (io_read_file(a, path, NOTE_MAX, &bytes, e))
		return -1;
	if (note_parse(a, note_kept(bytes), note, NULL) ||
	    checkpoint_parse(note->text, c, NULL))
		return err_set(e, &err_malformed,
		    "%s does not hold a signed checkpoint", path);
	return 0;
}
