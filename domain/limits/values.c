/*
 * Which numbers hold for whom, and under which key they are counted.
 */
#include "domain/applications.h"
#include "domain/limits/group.h"

struct limits
limits_from(const struct rows *r, int column)
{
	return (struct limits){
		.application = { rows_int(r, column), rows_int(r, column + 1),
		    rows_int(r, column + 2) },
		.credential = { rows_int(r, column + 3),
		    rows_int(r, column + 4), rows_int(r, column + 5) },
	};
}

struct limits_party
limits_party_of(const struct caller *caller)
{
	return (struct limits_party){
		.place = caller->place,
		.application = caller->application,
		.credential = caller->credential,
		.limits = caller->found->limits,
	};
}

struct limit
limit_of_application(const struct config *config, struct limit set)
{
	return (struct limit){
		set.requests_per_second ? set.requests_per_second
					: config->limit_requests_per_second,
		set.burst ? set.burst : config->limit_burst,
		set.monthly ? set.monthly : config->limit_monthly,
	};
}

struct limit
limit_of_credential(struct limit set, struct limit application)
{
	return (struct limit){
		set.requests_per_second ? set.requests_per_second
					: application.requests_per_second,
		set.burst ? set.burst : application.burst,
		set.monthly ? set.monthly : application.monthly,
	};
}

bool
limit_is_set(struct limit l)
{
	return l.requests_per_second > 0 || l.burst > 0 || l.monthly > 0;
}

/* A hash, so that cells are of one size and nobody chooses where one lies. */
static struct limit_key
key_of(const struct place *place, const char *kind, struct str id)
{
	struct str slash = STR("/");
	struct str parts[] = { place->workspace, slash, place->environment,
		slash, str_from(kind), slash, id };
	struct digest d = sha256_parts(parts, sizeof parts / sizeof parts[0]);
	struct limit_key key = { 0 };

	for (size_t i = 0; i < 8; i++) {
		key.first = key.first << 8 | d.b[i];
		key.second = key.second << 8 | d.b[8 + i];
	}
	/* 0 is a free cell's. */
	key.first += key.first == 0;
	key.second += key.second == 0;
	return key;
}

struct limit_key
limit_key_of_application(const struct place *place, struct uid uid)
{
	char text[UID_TEXT + 1];

	uid_format(uid, text);
	return key_of(place, "application", str_from(text));
}

struct limit_key
limit_key_of_credential(const struct place *place, struct str public_id)
{
	return key_of(place, "credential", public_id);
}
