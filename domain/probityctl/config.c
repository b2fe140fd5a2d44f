/*
 * What the programs would read: whether it is right, and where each setting
 * comes from.
 */
#include <stdio.h>

#include "domain/config.h"
#include "domain/config_shape.h"
#include "domain/probityctl/ctl.h"
#include "ledger/base/private.h"

struct config_request {
	struct str file;
};

/* clang-format off */
SHAPE(config_request, "Which configuration",
	FIELD(config_request, file, .max = 4000, .doc = "Path of the file; the programs' own when not given"));
/* clang-format on */

/* For standard error: what is there but may not be what was meant. */
static void
note_state(const struct ctl *ctl)
{
	if (!config_state_is_there(ctl->arena, &ctl->config))
		fprintf(stderr,
		    "state: %.*s is not there; the first workspace makes it,"
		    " unless another folder was meant\n",
		    STR_ARGS(ctl->config.state));
}

static const char *
file_of(const struct ctl *ctl)
{
	struct str file = ctl_param(ctl, "file");

	return file.n > 0 ? arena_cstr(ctl->arena, file) : NULL;
}

/* The programs go on with keys that others may put there, and log it. */
static int
check_keys(struct ctl *ctl, struct err *e)
{
	struct err why = { 0 };

	if (private_check(arena_cstr(ctl->arena, ctl->config.keys), &why))
		return err_set(e, &err_invalid, "keys: %s", why.detail);
	return 0;
}

int
run_config_check(struct ctl *ctl, struct err *e)
{
	struct config_origins origins;

	if (config_check_from(
		ctl->arena, file_of(ctl), &ctl->config, &origins, e) ||
	    check_keys(ctl, e))
		return -1;
	if (ctl->json)
		printf("{\"valid\": true}\n");
	else
		printf("%s is right\n",
		    origins.path ? origins.path
				 : "there is no file, and what is set");
	note_state(ctl);
	return 0;
}

/* As the file takes it. */
static void
add_list(struct buf *b, const struct json *list)
{
	for (const struct json *v = list->first; v; v = v->next) {
		buf_add(b, v->text);
		if (v->next)
			buf_add_cstr(b, ",");
	}
}

static void
show_lines(const struct json *list)
{
	for (const struct json *v = list->first; v; v = v->next) {
		const struct json *value = json_get(v, "value");
		struct buf text;

		buf_init(&text, 65536);
		if (value->type == JSON_STRING)
			buf_add(&text, json_get_str(v, "value"));
		else if (value->type == JSON_ARRAY)
			add_list(&text, value);
		else if (value->type != JSON_NULL)
			json_write(value, &text);
		printf("%-24.*s %-32.*s %.*s, reload: %.*s\n",
		    STR_ARGS(json_get_str(v, "name")), STR_ARGS(buf_str(&text)),
		    STR_ARGS(json_get_str(v, "from")),
		    STR_ARGS(json_get_str(v, "reload")));
		buf_fini(&text);
	}
}

static void
print_json(const struct json *v)
{
	struct buf b;

	buf_init(&b, 1 << 20);
	json_write(v, &b);
	printf("%.*s\n", STR_ARGS(buf_str(&b)));
	buf_fini(&b);
}

int
run_config_show(struct ctl *ctl, struct err *e)
{
	struct arena *a = ctl->arena;
	struct json *all, *list = json_array(a);
	struct config_origins origins;

	if (config_load_from(a, file_of(ctl), &ctl->config, &origins, e))
		return -1;
	all = shape_encode(&config_shape, &ctl->config, a);
	for (size_t i = 0; i < config_shape.n; i++) {
		const char *name = config_shape.fields[i].name;
		struct json *item = json_object(a);

		json_put_str(a, item, "name", str_from(name));
		json_put(item, "value", json_copy(a, json_get(all, name)));
		json_put_str(
		    a, item, "from", str_from(config_place(a, &origins, i)));
		json_put_str(a, item, "reload",
		    config_reloads(str_from(name)) ? STR("yes")
						   : STR("restart"));
		json_push(list, item);
	}
	if (ctl->json)
		print_json(list);
	else
		show_lines(list);
	return 0;
}
