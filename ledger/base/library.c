#include "ledger/base/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int
find_symbols(const struct library *l, void *handle, struct err *e)
{
	for (const struct library_symbol *s = l->symbols; s->name; s++) {
		void *found = dlsym(handle, s->name);

		if (!found)
			return err_set(e, &err_unavailable,
			    "%s has no function %s", l->file, s->name);
		memcpy(s->at, &found, sizeof found);
	}
	return 0;
}

static int
load(struct library *l, struct err *e)
{
	void *handle = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return err_set(e, &err_unavailable,
		    "the library %s cannot be loaded: %s", l->file, dlerror());
	if (find_symbols(l, handle, e)) {
		dlclose(handle);
		return -1;
	}
	l->handle = handle;
	return 0;
}

int
library_load(struct library *l, struct err *e)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = l->handle ? 0 : load(l, e);
	pthread_mutex_unlock(&lock);
	return rc;
}
