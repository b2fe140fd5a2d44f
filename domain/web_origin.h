#ifndef DOMAIN_WEB_ORIGIN_H
#define DOMAIN_WEB_ORIGIN_H

#include "ledger/codec/shape.h"

/* An origin as browsers write it in Origin (RFC 6454, 6.2), and nothing wider:
 * https://app.example.com, http://localhost:3000. */
extern const struct field_format format_web_origin;

#endif
