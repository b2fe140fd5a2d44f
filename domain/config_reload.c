#include <string.h>

#include "domain/config.h"
#include "domain/config_shape.h"
#include "domain/pool.h"
#include "ledger/base/log.h"

static size_t
size_of(const struct field *f)
{
	switch (f->type) {
	case FIELD_INT:
		return sizeof(int64_t);
	case FIELD_BOOL:
		return sizeof(bool);
	case FIELD_STR:
		return sizeof(struct str);
	case FIELD_STR_LIST:
		return sizeof(struct str_list);
	case FIELD_OPT_INT:
	case FIELD_DECIMAL:
	case FIELD_UID:
	case FIELD_INSTANT:
	case FIELD_DIGEST:
	case FIELD_JSON:
	case FIELD_OBJECT:
	case FIELD_LIST:
		break;
	}
	return 0; /* settings are texts, numbers and yes or no */
}

static bool
is_same_list(const struct str_list *a, const struct str_list *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!str_eq(a->items[i], b->items[i]))
			return false;
	return true;
}

static bool
is_same(const struct config *a, const struct config *b, const struct field *f)
{
	const void *x = (const char *)a + f->offset;
	const void *y = (const char *)b + f->offset;

	if (f->type == FIELD_STR_LIST)
		return is_same_list(x, y);
	if (f->type != FIELD_STR)
		return memcmp(x, y, size_of(f)) == 0;
	/* Set to nothing is the same as not set. */
	return str_cmp(*(const struct str *)x, *(const struct str *)y) == 0;
}

/* What waits for a start keeps its value. True when anything changes now. */
static bool
merge(const struct config *old, struct config *new)
{
	bool changed = false;

	for (size_t i = 0; i < config_shape.n; i++) {
		const struct field *f = &config_shape.fields[i];

		if (is_same(old, new, f))
			continue;
		changed |= config_reloads(str_from(f->name));
		if (config_reloads(str_from(f->name)))
			continue;
		log_line(LOG_WARN, "config",
		    "%s was changed: it counts from the next start on",
		    f->name);
		memcpy((char *)new + f->offset, (const char *)old + f->offset,
		    size_of(f));
	}
	return changed;
}

int
service_reload(struct service *s, struct arena *a, struct err *e)
{
	struct config fresh;

	if (config_load_from(a, NULL, &fresh, NULL, e))
		return -1;
	if (merge(service_config(s), &fresh)) {
		service_put_config(s, &fresh);
		config_set_log_level(&fresh);
	}
	return 0;
}

static void
log_fault(void *arg, const char *line)
{
	const char *module = arg;

	log_line(LOG_ERROR, module, "%s", line);
}

void
service_reload_logged(struct service *s, const char *module)
{
	struct arena *a = arena_new();
	struct err e = { 0 };

	if (service_reload(s, a, &e)) {
		log_line(LOG_ERROR, module,
		    "the new configuration is refused, the old one stays in "
		    "force");
		config_complain(&e, log_fault, (void *)(uintptr_t)module);
	} else {
		log_line(LOG_INFO, module, "the configuration was read again");
	}
	arena_free(a);
}
