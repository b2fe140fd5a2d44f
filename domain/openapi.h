#ifndef DOMAIN_OPENAPI_H
#define DOMAIN_OPENAPI_H

#include "ledger/codec/json.h"

/* What the rows' entries refer to: problem, evidence, headers, security. */
struct json *openapi_components(struct arena *);

#endif
