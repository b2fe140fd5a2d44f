/*
 * Lists of names that hold no space (scopes, entitlements) as one text in a
 * table, with single spaces between them.
 */
#ifndef DOMAIN_WORDS_H
#define DOMAIN_WORDS_H

#include "ledger/codec/shape.h"

struct str words_join(struct arena *, struct str_list);
struct str_list words_split(struct arena *, struct str);
bool words_have(struct str_list, struct str);

/*
 * Reports each item that is twice in the list or not among the permitted ones
 * (`known` says so) as a bad field "#/<field>/<index>". -1 when any was.
 */
int words_check(struct arena *, const char *field, struct str_list,
    bool (*known)(const void *, struct str), const void *arg, const char *what,
    struct err *);

/* words_have for words_check: arg is a struct str_list. */
bool words_among(const void *arg, struct str);

#endif
