#ifndef LEDGER_BASE_CONFINE_PARTS_H
#define LEDGER_BASE_CONFINE_PARTS_H

#include <stdbool.h>

/* From now on the kernel answers EPERM to the system calls that nothing of ours
 * needs. Needs no_new_privs. False where there is no such filter. */
bool confine_calls(void);

#endif
