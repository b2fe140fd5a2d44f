#include "ledger/codec/shape_decode.h"

#include <assert.h>
#include <string.h>

#include "ledger/codec/shape_field.h"

#define FIELDS_MAX 256

/* One struct being filled, and which of its fields were met. */
struct filling {
	const struct shape *shape;
	void *out;
	size_t next; /* where the search for a field begins */
	uint64_t seen[FIELDS_MAX / 64];
};

static void
start(struct filling *fill, const struct shape *shape, void *out)
{
	assert(shape->n <= FIELDS_MAX);
	*fill = (struct filling){ .shape = shape, .out = out };
	memset(out, 0, shape->size);
}

static bool
is_named(const struct field *f, struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (f->name[i] != name.p[i] || f->name[i] == '\0')
			return false;
	return f->name[name.n] == '\0';
}

/* Members mostly come in one order, so the search goes on where the last one
 * ended. */
static const struct field *
find_field(struct filling *fill, struct str name)
{
	size_t n = fill->shape->n, at = fill->next;

	for (size_t i = 0; i < n; i++, at++) {
		const struct field *f;

		if (at >= n)
			at = 0;
		f = &fill->shape->fields[at];
		if (is_named(f, name)) {
			fill->next = at + 1;
			return f;
		}
	}
	return NULL;
}

/* False when it was set before. */
static bool
mark_seen(struct filling *fill, const struct field *f)
{
	size_t i = (size_t)(f - fill->shape->fields);
	uint64_t bit = UINT64_C(1) << i % 64;
	bool first = !(fill->seen[i / 64] & bit);

	fill->seen[i / 64] |= bit;
	return first;
}

static void *
slot_of(const struct filling *fill, const struct field *f)
{
	return (char *)fill->out + f->offset;
}

static void
fill_absent(struct decoding *d, const struct filling *fill,
    const struct field *f, const struct place *at)
{
	if (f->required)
		shape_fault(d, at, "required", "must be given");
	else if (f->def)
		shape_text_read(d, f, str_from(f->def), slot_of(fill, f));
}

static void
fill_member(struct decoding *d, struct filling *fill, const struct field *f,
    const struct json *v, const struct place *at)
{
	if (!mark_seen(fill, f))
		shape_fault(d, at, "duplicate", "must be given once");
	else if (v->type != JSON_NULL)
		shape_value_read(d, f, v, at, slot_of(fill, f));
	else if (f->required || f->def)
		fill_absent(d, fill, f, at);
	else if (!shape_field_is_nullable(f))
		shape_fault(d, at, "type", "must not be null");
}

static bool
is_in_body(const struct field *f, bool any_place)
{
	return any_place || f->place == IN_BODY;
}

static void
fill_body(struct decoding *d, struct filling *fill, const struct json *body,
    const struct place *at, bool any_place)
{
	struct place inner = { .up = at };

	if (body->type != JSON_OBJECT) {
		shape_fault(d, at, "type", "must be an object");
		return;
	}
	for (const struct json *v = body->first; v; v = v->next) {
		const struct field *f = find_field(fill, v->name);

		if (d->faults >= SHAPE_FAULTS_MAX)
			return;
		inner.name = v->name;
		if (f && is_in_body(f, any_place))
			fill_member(d, fill, f, v, &inner);
		else
			shape_fault(d, &inner, "unknown", "is not known here");
	}
}

static void
fill_param(struct decoding *d, struct filling *fill, const struct param *param,
    bool flat)
{
	const struct field *f = find_field(fill, param->name);

	d->parameter = param->name;
	if (!f || (!flat && f->place != param->place))
		shape_fault(d, NULL, "unknown", "is not known here");
	else if (!mark_seen(fill, f))
		shape_fault(d, NULL, "duplicate", "must be given once");
	else
		shape_text_read(d, f, param->value, slot_of(fill, f));
	d->parameter = STR_NONE;
}

static bool
was_seen(const struct filling *fill, size_t i)
{
	return fill->seen[i / 64] >> i % 64 & 1;
}

/* Defaults, and what is missing. With `params`, a field that belongs into the
 * path or the query is named as a parameter. */
static void
fill_rest(struct decoding *d, struct filling *fill, const struct place *at,
    bool params)
{
	for (size_t i = 0; i < fill->shape->n; i++) {
		const struct field *f = &fill->shape->fields[i];
		struct str outer = d->parameter;
		struct place inner = { .up = at };

		if (was_seen(fill, i))
			continue;
		inner.name = str_from(f->name);
		if (params && f->place != IN_BODY)
			d->parameter = str_from(f->name);
		fill_absent(d, fill, f, &inner);
		d->parameter = outer;
	}
}

void
shape_object_read(struct decoding *d, const struct shape *shape,
    const struct json *v, const struct place *at, void *out)
{
	struct filling fill;

	start(&fill, shape, out);
	if (d->faults >= SHAPE_FAULTS_MAX)
		return;
	fill_body(d, &fill, v, at, true);
	if (v->type == JSON_OBJECT)
		fill_rest(d, &fill, at, false);
}

int
shape_decode(const struct shape *shape, const struct input *input,
    struct arena *a, void *out, struct err *e)
{
	struct decoding d = { .arena = a, .err = e };
	struct filling fill;
	bool body_is_bad = input->body && input->body->type != JSON_OBJECT;

	start(&fill, shape, out);
	for (size_t i = 0; i < input->n_params; i++)
		fill_param(&d, &fill, &input->params[i], input->flat);
	if (input->body)
		fill_body(&d, &fill, input->body, NULL, input->flat);
	/* Of a body that is no object, its fields are not missed one by one. */
	if (!body_is_bad)
		fill_rest(&d, &fill, NULL, !input->flat);
	return d.faults ? -1 : 0;
}

int
shape_decode_json(const struct shape *shape, const struct json *v,
    struct arena *a, void *out, struct err *e)
{
	struct decoding d = { .arena = a, .err = e };

	shape_object_read(&d, shape, v, NULL, out);
	return d.faults ? -1 : 0;
}
