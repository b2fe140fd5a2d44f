#include "domain/examples.h"

#include <stddef.h>

#define EXAMPLES_MAX 32

/* clang-format off */
SHAPE(example_request, "What is sent",
	FIELD(example_request, path, .doc = "Parameters of the path"),
	FIELD(example_request, query, .doc = "Parameters of the query"),
	FIELD(example_request, headers, .doc = "Header fields beside the usual ones"),
	FIELD(example_request, body, .doc = "Body"));
SHAPE(example, "A request and its reply",
	FIELD(example, name, .required = true, .min = 1, .max = 64, .format = &format_key, .doc = "Name"),
	FIELD(example, summary, .required = true, .min = 1, .max = 120, .doc = "What it shows"),
	FIELD(example, credential, .def = "full", .values = VALUES("full", "none", "bare"), .doc = "full: of every scope; none: not sent; bare: of another scope"),
	FIELD(example, status, .required = true, .min = 200, .max = 599, .doc = "Of the reply"),
	FIELD(example, request, .of = &example_request_shape, .doc = "What is sent"),
	FIELD(example, given, .doc = "Values of the tests' workspace, by pointer"),
	FIELD(example, varies, .max = 64, .doc = "Pointers of what differs each time"),
	FIELD(example, reply, .doc = "Body of the reply"));

struct example_file {
	struct list examples;
};
SHAPE(example_file, "Examples of an operation",
	FIELD(example_file, examples, .required = true, .of = &example_shape, .min = 1, .max = EXAMPLES_MAX, .doc = "The examples"));
/* clang-format on */

int
examples_read(const struct operation *op, struct arena *a,
    const struct example **out, size_t *n, struct err *e)
{
	struct example_file file;
	struct json *v;

	*out = NULL;
	*n = 0;
	if (!op->examples)
		return 0;
	if (json_parse(
		a, str_from(op->examples), &json_limits_default, &v, e) ||
	    shape_decode_json(&example_file_shape, v, a, &file, e))
		return -1;
	*out = file.examples.items;
	*n = file.examples.n;
	return 0;
}

static void
fault(struct buf *faults, const struct operation *op, const char *what,
    struct str which)
{
	buf_addf(
	    faults, "%s: examples: %s %.*s\n", op->id, what, STR_ARGS(which));
}

/* A refusal's reply says the status that it came with. */
static void
check_refusal(const struct operation *op, const struct example *example,
    struct buf *faults)
{
	int64_t status;

	if (!json_get_int(example->reply, "status", &status) ||
	    status != example->status)
		fault(faults, op, "no problem of its status is", example->name);
}

static bool
is_success(const struct operation *op, int64_t status)
{
	return status == op->status || (op->may_wait && status == 202);
}

static void
check_list(const struct operation *op, const struct example *list, size_t n,
    struct buf *faults)
{
	size_t good = 0, refused = 0;

	for (size_t i = 0; i < n; i++) {
		if (is_success(op, list[i].status)) {
			good++;
		} else if (list[i].status >= 400) {
			refused++;
			check_refusal(op, &list[i], faults);
		} else {
			fault(faults, op,
			    "its status is not the row's:", list[i].name);
		}
		for (size_t k = 0; k < i; k++)
			if (str_eq(list[i].name, list[k].name))
				fault(
				    faults, op, "twice there is", list[i].name);
	}
	if (good == 0)
		fault(faults, op, "none succeeds", STR(""));
	if (refused == 0)
		fault(faults, op, "none is refused", STR(""));
}

void
examples_check(const struct operation *op, struct buf *faults)
{
	struct arena *a = arena_new();
	const struct example *list;
	struct err e = { 0 };
	size_t n;

	if (!op->examples)
		fault(faults, op, "there are none", STR(""));
	else if (examples_read(op, a, &list, &n, &e))
		fault(faults, op, "cannot be read:", str_from(e.detail));
	else
		check_list(op, list, n, faults);
	arena_free(a);
}
