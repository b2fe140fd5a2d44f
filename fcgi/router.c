#include "fcgi/router.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct endpoint {
	const struct route *route;
	struct endpoint *next;
};

struct node {
	struct str literal;
	struct node *next;  /* beside it */
	struct node *first; /* below it, by a literal */
	struct node *any;   /* below it, by a parameter */
	struct endpoint *endpoints;
};

struct router {
	struct arena *arena;
	struct node root;
};

static bool
is_parameter(struct str segment)
{
	return segment.n > 2 && segment.p[0] == '{' &&
	       segment.p[segment.n - 1] == '}';
}

static struct node *
literal_child(const struct node *node, struct str segment)
{
	for (struct node *child = node->first; child; child = child->next)
		if (str_eq(child->literal, segment))
			return child;
	return NULL;
}

static struct node *
child_make(struct arena *a, struct node *node, struct str segment)
{
	struct node *child;

	if (is_parameter(segment)) {
		if (!node->any)
			node->any = ARENA_NEW(a, struct node);
		return node->any;
	}
	child = literal_child(node, segment);
	if (child)
		return child;
	child = ARENA_NEW(a, struct node);
	child->literal = segment;
	child->next = node->first;
	node->first = child;
	return child;
}

static const struct route *
method_find(const struct node *node, struct str method)
{
	for (const struct endpoint *p = node->endpoints; p; p = p->next)
		if (str_is(method, p->route->method))
			return p->route;
	return NULL;
}

static int
add(struct router *router, const struct route *route, struct err *e)
{
	struct str rest = str_from(route->path);
	struct node *node = &router->root;
	struct endpoint **end;
	size_t depth = 0, parameters = 0;

	if (rest.n < 2 || rest.p[0] != '/')
		return err_set(e, &err_internal, "%s is no path", route->path);
	str_take(&rest, '/');
	for (; rest.p; depth++) {
		struct str segment = str_take(&rest, '/');

		parameters += is_parameter(segment);
		/* Empty may be the last one alone: "/docs/". */
		if ((segment.n == 0 && rest.p) || depth == ROUTE_SEGMENTS_MAX ||
		    parameters > ROUTE_PARAMS_MAX)
			return err_set(
			    e, &err_internal, "%s is no path", route->path);
		node = child_make(router->arena, node, segment);
	}
	if (method_find(node, str_from(route->method)))
		return err_set(e, &err_internal, "%s %s is taken twice",
		    route->method, route->path);
	for (end = &node->endpoints; *end; end = &(*end)->next)
		continue;
	*end = ARENA_NEW(router->arena, struct endpoint);
	(*end)->route = route;
	return 0;
}

int
router_new(
    const struct route *routes, size_t n, struct router **out, struct err *e)
{
	struct arena *a = arena_new();
	struct router *router = ARENA_NEW(a, struct router);

	router->arena = a;
	for (size_t i = 0; i < n; i++)
		if (add(router, &routes[i], e)) {
			router_free(router);
			return -1;
		}
	*out = router;
	return 0;
}

void
router_free(struct router *router)
{
	if (router)
		arena_free(router->arena);
}

/* Falls back to the parameter when the literal leads nowhere. The depth is
 * that of the tree at most. */
static const struct node *
walk(const struct node *node, const struct str *segments, size_t n)
{
	const struct node *child, *found;

	if (n == 0)
		return node->endpoints ? node : NULL;
	child = literal_child(node, segments[0]);
	found = child ? walk(child, segments + 1, n - 1) : NULL;
	if (!found && node->any && segments[0].n > 0)
		found = walk(node->any, segments + 1, n - 1);
	return found;
}

static void
fill_params(struct route_match *match, const struct str *segments)
{
	struct str rest = str_from(match->route->path);

	str_take(&rest, '/');
	for (size_t i = 0; rest.p; i++) {
		struct str segment = str_take(&rest, '/');

		if (!is_parameter(segment))
			continue;
		match->params[match->n_params++] = (struct param){
			.name = str_slice(segment, 1, segment.n - 1),
			.value = segments[i],
			.place = IN_PATH,
		};
	}
}

static void
fill_allow(struct route_match *match, const struct node *node)
{
	size_t n = 0;

	for (const struct endpoint *p = node->endpoints; p; p = p->next) {
		bool get = strcmp(p->route->method, "GET") == 0;

		n += (size_t)snprintf(match->allow + n, sizeof match->allow - n,
		    "%s%s", p->route->method, get ? ", HEAD, " : ", ");
		/* Nine methods do not come near the end. */
		if (n >= sizeof match->allow - sizeof "OPTIONS")
			return;
	}
	snprintf(match->allow + n, sizeof match->allow - n, "OPTIONS");
}

int
router_find(const struct router *router, struct str method,
    const struct str *segments, size_t n, struct route_match *match,
    struct err *e)
{
	const struct node *node = walk(&router->root, segments, n);

	*match = (struct route_match){ .head = str_is(method, "HEAD") };
	if (!node)
		return err_set(e, &err_not_found, "there is no such path");
	fill_allow(match, node);
	if (str_is(method, "OPTIONS"))
		return 0;
	match->route = method_find(node, match->head ? STR("GET") : method);
	if (!match->route)
		return err_set(
		    e, &err_method, "this path offers %s", match->allow);
	fill_params(match, segments);
	return 0;
}
