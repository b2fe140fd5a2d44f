#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/instant.h"
#include "ledger/base/uid.h"
#include "ledger/crypto/hash.h"
#include "ledger/crypto/pkcs11.h"

#define MODULES_MAX 16
#define PATH_BYTES  1024
#define REFUSED_MAX 16
#define RESTART_US  500000

struct pkcs11_module {
	char path[PATH_BYTES];
	struct ck_function_list *f;
	size_t users; /* under modules_lock */

	/* For reading while somebody is inside, for writing to initialise. */
	pthread_rwlock_t use;
	bool ready;
	pid_t pid; /* which process it is ready in */
	uint64_t generation;
	struct instant restarted;

	pthread_mutex_t pins;
	uint8_t salt[32];
	struct digest refused[REFUSED_MAX]; /* the oldest is written over */
	size_t n_refused;
};

static struct pkcs11_module *modules[MODULES_MAX];
static size_t n_modules;
static pthread_mutex_t modules_lock = PTHREAD_MUTEX_INITIALIZER;

static struct pkcs11_module *
module_new(const char *path, struct ck_function_list *f)
{
	struct pkcs11_module *m = calloc(1, sizeof *m);
	pthread_rwlockattr_t writer_first;

	if (m == NULL)
		abort();
	snprintf(m->path, sizeof m->path, "%s", path);
	m->f = f;
	random_bytes(m->salt, sizeof m->salt);
	pthread_mutex_init(&m->pins, NULL);
	/* Others that keep signing must not put off a new start for ever. */
	pthread_rwlockattr_init(&writer_first);
	pthread_rwlockattr_setkind_np(
	    &writer_first, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&m->use, &writer_first);
	pthread_rwlockattr_destroy(&writer_first);
	return m;
}

/* Whoever may write the file could run what they like as us. */
static int
check_file(const char *path, struct err *e)
{
	struct stat st;

	if (path[0] != '/')
		return err_set(e, &err_unavailable,
		    "module-path must be an absolute path");
	if (stat(path, &st))
		return err_errno(
		    e, &err_unavailable, "the PKCS #11 module %s", path);
	if (!S_ISREG(st.st_mode) || (st.st_mode & 022) ||
	    (st.st_uid != 0 && st.st_uid != geteuid()))
		return err_set(e, &err_unavailable,
		    "the PKCS #11 module %s must be a file that only root or "
		    "the service's user may write",
		    path);
	return 0;
}

static int
load(const char *path, struct ck_function_list **f, struct err *e)
{
	ck_rv_t (*get)(struct ck_function_list **) = NULL;
	void *library, *symbol;

	if (check_file(path, e))
		return -1;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return err_set(e, &err_unavailable,
		    "the PKCS #11 module does not load: %s", dlerror());
	symbol = dlsym(library, "C_GetFunctionList");
	memcpy(&get, &symbol, sizeof get);
	if (get == NULL || get(f) != CKR_OK || *f == NULL ||
	    ((*f)->version.major != 2 && (*f)->version.major != 3)) {
		dlclose(library);
		return err_set(
		    e, &err_unavailable, "%s is no PKCS #11 module", path);
	}
	return 0;
}

static struct pkcs11_module *
find_or_load(const char *path, struct err *e)
{
	struct ck_function_list *f;

	for (size_t i = 0; i < n_modules; i++)
		if (strcmp(modules[i]->path, path) == 0)
			return modules[i];
	if (n_modules == MODULES_MAX) {
		err_set(e, &err_unavailable,
		    "more than %d PKCS #11 modules in one process",
		    MODULES_MAX);
		return NULL;
	}
	if (load(path, &f, e))
		return NULL;
	modules[n_modules] = module_new(path, f);
	return modules[n_modules++];
}

int
pkcs11_module_get(struct str path, struct pkcs11_module **out, struct err *e)
{
	char name[PATH_BYTES];

	if (path.n >= sizeof name)
		return err_set(e, &err_unavailable,
		    "module-path has more than %zu bytes", sizeof name - 1);
	snprintf(name, sizeof name, "%.*s", STR_ARGS(path));
	pthread_mutex_lock(&modules_lock);
	*out = find_or_load(name, e);
	if (*out != NULL)
		(*out)->users++;
	pthread_mutex_unlock(&modules_lock);
	return *out == NULL ? -1 : 0;
}

void
pkcs11_module_put(struct pkcs11_module *m)
{
	pthread_mutex_lock(&modules_lock);
	if (--m->users == 0) {
		pthread_rwlock_wrlock(&m->use);
		if (m->ready && m->pid == getpid())
			m->f->C_Finalize(NULL);
		m->ready = false;
		pthread_rwlock_unlock(&m->use);
	}
	pthread_mutex_unlock(&modules_lock);
}

/* With the lock for writing. A child finds its parent's state in the module,
 * which then says that it is initialised already. */
static ck_rv_t
initialise(struct pkcs11_module *m)
{
	struct ck_c_initialize_args threads = { .flags = CKF_OS_LOCKING_OK };
	ck_rv_t rv = m->f->C_Initialize(&threads);

	if (rv == CKR_CRYPTOKI_ALREADY_INITIALIZED) {
		m->f->C_Finalize(NULL);
		rv = m->f->C_Initialize(&threads);
	}
	m->ready = rv == CKR_OK;
	m->pid = getpid();
	m->generation++;
	return rv;
}

static bool
is_ready(const struct pkcs11_module *m)
{
	return m->ready && m->pid == getpid();
}

int
pkcs11_module_enter(struct pkcs11_module *m, struct pkcs11_ask *ask,
    uint64_t *generation, struct err *e)
{
	ck_rv_t rv = CKR_OK;

	*ask = (struct pkcs11_ask){ .f = m->f, .e = e };
	pthread_rwlock_rdlock(&m->use);
	while (!is_ready(m)) {
		pthread_rwlock_unlock(&m->use);
		pthread_rwlock_wrlock(&m->use);
		if (!is_ready(m))
			rv = initialise(m);
		pthread_rwlock_unlock(&m->use);
		if (rv != CKR_OK)
			return pkcs11_failed(
			    ask, "the PKCS #11 module does not start", rv);
		pthread_rwlock_rdlock(&m->use);
	}
	*generation = m->generation;
	return 0;
}

void
pkcs11_module_leave(struct pkcs11_module *m)
{
	pthread_rwlock_unlock(&m->use);
}

bool
pkcs11_module_restart(struct pkcs11_module *m, uint64_t generation)
{
	struct instant now = clock_system.steady(&clock_system);
	bool anew;

	pthread_rwlock_wrlock(&m->use);
	if (m->generation == generation && is_ready(m) &&
	    now.us - m->restarted.us >= RESTART_US) {
		m->f->C_Finalize(NULL);
		initialise(m);
		m->restarted = now;
	}
	anew = m->generation != generation;
	pthread_rwlock_unlock(&m->use);
	return anew;
}

static struct digest
refusal(const struct pkcs11_module *m, struct str serial, struct str pin)
{
	struct str key = { (const char *)m->salt, sizeof m->salt };
	struct str parts[] = { serial, pin };

	return hmac_sha256(key, parts, 2);
}

bool
pkcs11_pin_is_refused(
    struct pkcs11_module *m, struct str serial, struct str pin)
{
	struct digest d = refusal(m, serial, pin);
	bool found = false;

	pthread_mutex_lock(&m->pins);
	for (size_t i = 0; i < m->n_refused && i < REFUSED_MAX; i++)
		found = found || digest_eq(m->refused[i], d);
	pthread_mutex_unlock(&m->pins);
	return found;
}

void
pkcs11_pin_refuse(struct pkcs11_module *m, struct str serial, struct str pin)
{
	pthread_mutex_lock(&m->pins);
	m->refused[m->n_refused++ % REFUSED_MAX] = refusal(m, serial, pin);
	pthread_mutex_unlock(&m->pins);
}
