#include "ledger/store/pack.h"
int
pack_count_loose(struct repo *r, size_t s, size_t *n, struct err *e)
{
	(void)r;
	(void)s;
	(void)e;
	*n = 0;
	return 0;
}
int
pack_loose(struct repo *r, struct turn *t, size_t l, size_t *p, struct err *e)
{
	(void)r;
	(void)t;
	(void)l;
	(void)e;
	*p = 0;
	return 0;
}
int
pack_count(struct repo *r, size_t *n, struct err *e)
{
	(void)r;
	(void)e;
	*n = 0;
	return 0;
}
