#ifndef DOMAIN_CATALOG_CHECK_H
#define DOMAIN_CATALOG_CHECK_H

#include "domain/catalog.h"

/* catalog_check of other groups than the catalog's, so that a test can show it
 * tables with faults. */
bool catalog_check_groups(
    const struct group *const *groups, struct buf *faults);

#endif
