/*
 * The events of an import, all in one batch, so that it happens whole or not
 * at all.
 */
#ifndef DOMAIN_SOURCE_RECORDS_EMIT_H
#define DOMAIN_SOURCE_RECORDS_EMIT_H

#include "domain/context.h"
#include "domain/source_records/plan.h"

/* err_too_large when the sealed records exceed IMPORT_BYTES. */
int emit_import(
    struct context *, struct plan *, struct str_list warnings, struct err *);

#endif
