#ifndef DOMAIN_PRODUCTION_EVENTS_H
#define DOMAIN_PRODUCTION_EVENTS_H

#include "ledger/view/project.h"

/* Opened and closed: the person's decision, with all that verifies it. */
struct production_decided {
	struct uid approver;
	struct str public_key; /* the approver's, as an OpenSSH line */
	struct instant stated_at;
	struct str statement; /* the bytes that were signed */
	struct str signature; /* SSHSIG, armored */
};

extern const struct event_type event_production_opened, event_production_closed;

#endif
