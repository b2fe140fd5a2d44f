#include "fcgi/confined.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/confine.h"
#include "ledger/base/log.h"

/* Looking for tokens opens two files or more for each workspace: a program that
 * answers one request must not spend its time on it. */
#define LOOKED_AT_BY_CGI 4
#define LOOKED_AT        100000
#define DNS_PORT         53

/* Where libraries and git put what is temporary, and throw away what is not
 * wanted. */
static const char *const usual[] = { "/tmp", "/dev/null", "/var/tmp",
	"/dev/shm" };
#define N_USUAL (sizeof usual / sizeof usual[0])
/* Each is paid for: nothing of one request has used the others. */
#define N_USUAL_BY_CGI 2
/* Where an access log is likely to be that a reload brings. */
#define LOGS "/var/log/probity"
/* State, keys, socket's folder, access log and its folder, LOGS, TMPDIR. */
#define N_OWN 7

struct places {
	struct arena *arena;
	const char **list; /* ended by NULL */
	size_t n;
};

static void
add(struct places *p, const char *path)
{
	p->list[p->n++] = path;
}

static const char *
parent(struct arena *a, const char *path)
{
	const char *end = strrchr(path, '/');

	if (!end)
		return ".";
	if (end == path)
		return "/";
	return arena_cstr(a, (struct str){ path, (size_t)(end - path) });
}

/* A directory that is made later is made in the one that is there. */
static void
add_needed(struct places *p, struct str path)
{
	const char *at = arena_cstr(p->arena, path);

	while (access(at, F_OK) && errno == ENOENT && strcmp(at, ".") != 0)
		at = parent(p->arena, at);
	add(p, at);
}

/* Opened anew when it was moved aside, so its folder; a pipe or a terminal has
 * neighbours that are none of ours. */
static void
add_access_log(struct places *p, struct str path)
{
	const char *name = arena_cstr(p->arena, path);
	struct stat st;

	if (path.n == 0 || str_is(path, "-"))
		return;
	add(p, name);
	if (stat(name, &st) == 0 && S_ISREG(st.st_mode))
		add(p, parent(p->arena, name));
}

static void
add_writable(struct places *p, const struct str_list *writable, bool tells)
{
	for (size_t i = 0; i < writable->n; i++) {
		const char *path = arena_cstr(p->arena, writable->items[i]);

		if (access(path, F_OK) && tells)
			log_line(LOG_WARN, "server",
			    "writable: %s is not there and was passed over: "
			    "make it, and restart",
			    path);
		add(p, path);
	}
}

static const char *const *
find_places(struct arena *a, const struct config *config,
    const struct listener *listener)
{
	struct places p = { .arena = a };
	const char *temporary = getenv("TMPDIR");
	bool stays = listener->fd >= 0;

	p.list = arena_array(
	    a, N_OWN + N_USUAL + config->writable.n + 1, sizeof *p.list);
	add_needed(&p, config->state);
	add_needed(&p, config->keys);
	if (stays) {
		add_access_log(&p, config->access_log);
		add(&p, LOGS);
	}
	/* The socket is taken away at the end. */
	if (listener->own && listener->path)
		add(&p, parent(a, listener->path));
	for (size_t i = 0; i < (stays ? N_USUAL : N_USUAL_BY_CGI); i++)
		add(&p, usual[i]);
	if (temporary && temporary[0] == '/')
		add(&p, temporary);
	add_writable(&p, &config->writable, stays);
	return p.list;
}

/* A DNS server may want its longer answers fetched by TCP. */
static uint16_t
resolver_port(const struct config *config)
{
	struct str s = config->outbound_resolver;
	size_t from = s.n;
	uint64_t port;

	while (from > 0 && s.p[from - 1] != ':')
		from--;
	return str_to_u64(str_slice(s, from, s.n), &port) && port <= UINT16_MAX
		   ? (uint16_t)port
		   : 0;
}

void
front_confine(struct arena *a, const struct config *config,
    const struct listener *listener)
{
	bool stays = listener->fd >= 0;
	const uint16_t ports[] = { DNS_PORT, resolver_port(config), 0 };
	struct confine_limits limits = { .short_lived = !stays,
		.ports = ports };
	struct confined confined;

	if (str_is(config->confine, "no"))
		return;
	if (!service_has_tokens(config, stays ? LOOKED_AT : LOOKED_AT_BY_CGI))
		limits.folders = find_places(a, config, listener);
	confined = confine(&limits);
	if (stays)
		confined_tell(confined, "server");
}
