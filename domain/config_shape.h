/*
 * The configuration's fields with bounds, defaults and words, so a test can
 * hold docs/configuration.md against them.
 */
#ifndef DOMAIN_CONFIG_SHAPE_H
#define DOMAIN_CONFIG_SHAPE_H

#include "ledger/codec/shape.h"

extern const struct shape config_shape;

#endif
