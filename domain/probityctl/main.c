#include "domain/probityctl/ctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/log.h"

static int
dispatch(struct ctl *ctl, struct err *e)
{
	int result;

	/* These read it by themselves, and serve nothing. */
	if (ctl->special && str_is(ctl->noun, "config"))
		return ctl->special->run(ctl, e);
	if (config_load(ctl->arena, &ctl->config, e)) {
		/* Not what was asked for is at fault. */
		e->kind = &err_unavailable;
		return -1;
	}
	if (service_new(&ctl->config, &ctl->service, e))
		return -1;
	result =
	    ctl->special ? ctl->special->run(ctl, e) : run_operation(ctl, e);
	service_free(ctl->service);
	return result;
}

static int
run(struct ctl *ctl, int argc, char **argv)
{
	struct err e = { 0 };

	if (arguments_read(ctl, argc, argv, &e))
		return problem_print(ctl, &e);
	if (ctl->version) {
		puts("probityctl " PROBITY_VERSION);
		return CTL_OK;
	}
	if (ctl->help || (!ctl->op && !ctl->special)) {
		if (help_print(ctl))
			return CTL_OK;
		err_set(&e, &err_usage, "there is no command %.*s %.*s",
		    STR_ARGS(ctl->noun), STR_ARGS(ctl->verb));
		return problem_print(ctl, &e);
	}
	if (dispatch(ctl, &e))
		return problem_print(ctl, &e);
	return fflush(stdout) == 0 ? CTL_OK : CTL_UNAVAILABLE;
}

int
main(int argc, char **argv)
{
	struct ctl *ctl = calloc(1, sizeof *ctl);
	int status;

	if (!ctl)
		return CTL_UNAVAILABLE;
	log_set_level(LOG_WARN);
	ctl->arena = arena_new();
	ctl->place.environment = STR("sandbox");
	status = run(ctl, argc, argv);
	arena_free(ctl->arena);
	free(ctl);
	return status;
}
