#ifndef DOMAIN_SOURCE_RECORDS_GROUP_H
#define DOMAIN_SOURCE_RECORDS_GROUP_H

#include "domain/operation.h"

extern const struct operation op_source_record_import, op_source_record_list,
    op_source_record_show, op_source_record_file;

#endif
