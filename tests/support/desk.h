/*
 * A service over a folder of its own with one workspace, for tests of
 * operations: each call goes the whole way of a request, from the decoded
 * input to the encoded reply. Fields of path and query stand in the body, as
 * on the command line. Setting up ends the test program when it fails.
 *
 *	struct desk d;
 *	desk_open(&d, "sandbox");
 *	body = desk_do(&d, "connector.add", "{\"name\":…}");
 *	desk_close(&d);
 */
#ifndef TESTS_SUPPORT_DESK_H
#define TESTS_SUPPORT_DESK_H

#include "domain/call.h"

struct desk {
	char dir[64];
	struct arena *a;
	struct service *service;
	struct place place;
	struct caller staff; /* an operator */
};

/* Makes the workspace "acme" in this environment. */
void desk_open(struct desk *, const char *environment);

/* Removes the folder. */
void desk_close(struct desk *);

/* For cmocka: a desk in the sandbox as a test's state, and its end. */
int desk_set_up(void **state);
int desk_tear_down(void **state);
#define WITH_DESK(test) \
	cmocka_unit_test_setup_teardown(test, desk_set_up, desk_tear_down)

/* Makes another workspace in the same environment and goes there. */
void desk_move(struct desk *, const char *workspace);

/* An application with these scopes and products (JSON arrays) and a key. */
void desk_application(struct desk *, const char *name, const char *scopes,
    const char *entitlements, struct caller *);

/* Runs an operation; input is JSON text. Fields of a refusal are in *e. */
int desk_call(struct desk *, const struct caller *, const char *id,
    const char *input, struct reply *, struct err *);

/* As the operator, and must succeed. The body. */
struct json *desk_do(struct desk *, const char *id, const char *input);

/* The whole read model as SQL text, with the service stopped meanwhile. */
struct str desk_dump(struct desk *);

/* Makes the read model again from the repository. */
void desk_rebuild(struct desk *);

#endif
