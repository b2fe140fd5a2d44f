#ifndef DOMAIN_LINEAGE_GROUP_H
#define DOMAIN_LINEAGE_GROUP_H

#include "domain/job.h"
#include "domain/operation.h"

#define PRODUCT "Core Platform"

extern const struct operation op_lineage_export_create, op_lineage_export_show;
extern const struct job_kind job_lineage_export, job_lineage_file;

/* An export that is too large to be shown otherwise than as its manifest. */
extern const struct err_kind err_rendering_too_large;

/* As many exports wait for the worker as may. */
extern const struct err_kind err_exports_waiting;

/* A large export's file is gone, and is made again. */
extern const struct err_kind err_export_file_gone;

#endif
