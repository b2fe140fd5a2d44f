/*
 * What the front gives up once its places are open: ledger/base/confine.h, with
 * the places that its requests write to.
 */
#ifndef FCGI_CONFINED_H
#define FCGI_CONFINED_H

#include "fcgi/server.h"

/* Before any thread is started, when the listener and the access log are open.
 * Nothing happens if the configuration says so; nothing fails. What it needs
 * meanwhile is in the arena. */
void front_confine(
    struct arena *, const struct config *, const struct listener *);

#endif
