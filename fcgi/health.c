#include "fcgi/watch.h"

/* Anybody may ask, so asking often costs nothing. */
#define READINESS_HOLDS_US 1000000

int
healthz_page(struct front *front, struct request *request, struct arena *a,
    struct response *response, struct err *e)
{
	(void)front;
	(void)request;
	(void)a;
	(void)e;
	response->status = 200;
	response->type = "text/plain; charset=utf-8";
	response->body = STR("ok\n");
	return 0;
}

/* One thread looks; whoever comes meanwhile waits for what it finds. */
static struct readiness
readiness_of(struct front *front)
{
	struct readiness now;

	pthread_mutex_lock(&front->readiness_lock);
	if (front->readiness->at_us == 0 ||
	    clock_system.steady(&clock_system).us - front->readiness->at_us >
		READINESS_HOLDS_US)
		readiness_check(front->service, front->readiness);
	now = *front->readiness;
	pthread_mutex_unlock(&front->readiness_lock);
	return now;
}

int
readyz_page(struct front *front, struct request *request, struct arena *a,
    struct response *response, struct err *e)
{
	struct readiness r = readiness_of(front);
	struct json *v = json_object(a), *checks = json_array(a);

	(void)request;
	json_put(v, "ready", json_bool(a, r.ready));
	for (size_t i = 0; i < READINESS_CHECKS; i++) {
		struct json *check = json_object(a);

		json_put_str(a, check, "name", str_from(r.checks[i].name));
		json_put(check, "ok", json_bool(a, r.checks[i].ok));
		json_put_str(a, check, "detail", str_from(r.checks[i].detail));
		json_push(checks, check);
	}
	json_put(v, "checks", checks);
	return response_set_json(response, r.ready ? 200 : 503, v, a, e);
}
