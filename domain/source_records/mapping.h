/*
 * Which column of a CSV file is which member of a record:
 *
 *	amount=Betrag,currency:=EUR,reference="Invoice,
 *No",counterparty=Supplier
 *
 * member=Column takes the column with that header; member:=value gives every
 * row the same value. Names and values that hold a comma or begin with a
 * quotation mark stand in quotes, doubled within. Without a mapping each member
 * is the column of its own name, and optional ones may be missing.
 */
#ifndef DOMAIN_SOURCE_RECORDS_MAPPING_H
#define DOMAIN_SOURCE_RECORDS_MAPPING_H

#include "domain/source_records/faults.h"

enum member {
	MEMBER_AMOUNT,
	MEMBER_CURRENCY,
	MEMBER_REFERENCE,
	MEMBER_COUNTERPARTY,
	MEMBER_ARRANGEMENT,
	MEMBER_DATE,
	MEMBER_GENERAL_LEDGER,
	MEMBER_DESCRIPTION,
	MEMBERS
};

struct mapping {
	struct {
		bool set, constant;
		struct str text; /* the column's name, or the value */
		size_t column;   /* once bound */
	} members[MEMBERS];
};

const char *member_name(enum member);

/* Faults go to "#/mapping". No value gives the mapping by name. */
void mapping_parse(
    struct arena *, struct str text, struct mapping *, struct faults *);

/* Finds the columns in the header row. */
void mapping_bind(
    struct mapping *, const struct str *header, size_t n, struct faults *);

/* The member's text in a row, spaces around it removed; no value for a member
 * that is not mapped and for an empty field. */
struct str mapping_get(
    const struct mapping *, enum member, const struct str *fields);

/* For a fault: 'column "Betrag"', or "the constant". */
const char *mapping_where(struct arena *, const struct mapping *, enum member);

#endif
