#include "ledger/base/instant.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#define SECOND_US   INT64_C(1000000)
#define DAY_S       INT64_C(86400)
#define END_OF_DAYS (INT64_C(253402300800) * SECOND_US) /* 10000-01-01 */

struct civil {
	int64_t year, month, day;
};

static struct instant
read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (struct instant){ t.tv_sec * SECOND_US + t.tv_nsec / 1000 };
}

static struct instant
read_wall(const struct clock *clock)
{
	(void)clock;
	return read_clock(CLOCK_REALTIME);
}

static struct instant
read_steady(const struct clock *clock)
{
	(void)clock;
	return read_clock(CLOCK_BOOTTIME);
}

const struct clock clock_system = { read_wall, read_steady };

/* Both conversions count from March, so that the leap day comes last; see
 * Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms". Years from
 * 0 on. */
static int64_t
days_from_civil(struct civil c)
{
	int64_t year = c.year - (c.month <= 2);
	int64_t era = (year < 0 ? year - 399 : year) / 400;
	int64_t year_of_era = year - era * 400;
	int64_t month = c.month + (c.month > 2 ? -3 : 9);
	int64_t day_of_year = (153 * month + 2) / 5 + c.day - 1;

	return era * 146097 + year_of_era * 365 + year_of_era / 4 -
	       year_of_era / 100 + day_of_year - 719468;
}

static struct civil
civil_from_days(int64_t days)
{
	int64_t z = days + 719468;
	int64_t era = z / 146097;
	int64_t day = z - era * 146097;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t of_year = day - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153;
	struct civil c = { .day = of_year - (153 * month + 2) / 5 + 1 };

	c.month = month < 10 ? month + 3 : month - 9;
	c.year = year + era * 400 + (c.month <= 2);
	return c;
}

/* width digits, ending before end. */
static void
put_digits(char *end, int64_t v, int width)
{
	while (width-- > 0) {
		*--end = (char)('0' + v % 10);
		v /= 10;
	}
}

void
instant_format(struct instant t, char out[INSTANT_TEXT + 1])
{
	int64_t second = t.us / SECOND_US % DAY_S;
	struct civil c;

	assert(t.us >= 0 && t.us < END_OF_DAYS);
	c = civil_from_days(t.us / SECOND_US / DAY_S);
	memcpy(out, "0000-00-00T00:00:00.000000Z", INSTANT_TEXT + 1);
	put_digits(out + 4, c.year, 4);
	put_digits(out + 7, c.month, 2);
	put_digits(out + 10, c.day, 2);
	put_digits(out + 13, second / 3600, 2);
	put_digits(out + 16, second / 60 % 60, 2);
	put_digits(out + 19, second % 60, 2);
	put_digits(out + 26, t.us % SECOND_US, 6);
}

/* Takes exactly width digits off the front. */
static bool
take_digits(struct str *s, size_t width, int64_t *out)
{
	int64_t v = 0;

	if (s->n < width)
		return false;
	for (size_t i = 0; i < width; i++) {
		if (s->p[i] < '0' || s->p[i] > '9')
			return false;
		v = v * 10 + (s->p[i] - '0');
	}
	*s = str_slice(*s, width, s->n);
	*out = v;
	return true;
}

static bool
take_byte(struct str *s, const char *any_of)
{
	if (s->n == 0 || s->p[0] == '\0' || !strchr(any_of, s->p[0]))
		return false;
	*s = str_slice(*s, 1, s->n);
	return true;
}

static bool
civil_exists(struct civil c)
{
	static const int64_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31,
		30, 31 };
	bool leap = (c.year % 4 == 0 && c.year % 100 != 0) || c.year % 400 == 0;

	if (c.month < 1 || c.month > 12 || c.day < 1)
		return false;
	return c.day <= days[c.month - 1] + (leap && c.month == 2);
}

static bool
take_date(struct str *s, struct civil *c)
{
	return take_digits(s, 4, &c->year) && take_byte(s, "-") &&
	       take_digits(s, 2, &c->month) && take_byte(s, "-") &&
	       take_digits(s, 2, &c->day) && civil_exists(*c);
}

/* Seconds of the day; a leap second counts as the one after it, as in POSIX
 * time. */
static bool
take_time(struct str *s, int64_t *out, bool *leap)
{
	int64_t hour, minute, second;

	if (!take_digits(s, 2, &hour) || !take_byte(s, ":") ||
	    !take_digits(s, 2, &minute) || !take_byte(s, ":") ||
	    !take_digits(s, 2, &second))
		return false;
	*out = hour * 3600 + minute * 60 + second;
	*leap = second == 60;
	return hour < 24 && minute < 60 && second <= 60;
}

static bool
take_fraction(struct str *s, int64_t *us)
{
	int64_t unit = SECOND_US, digit;

	*us = 0;
	if (!take_byte(s, "."))
		return true;
	if (!take_digits(s, 1, &digit))
		return false;
	do {
		unit /= 10;
		*us += digit * unit;
	} while (take_digits(s, 1, &digit));
	return true;
}

static bool
take_offset(struct str *s, int64_t *seconds)
{
	int64_t hour, minute;
	bool west = s->n > 0 && s->p[0] == '-';

	*seconds = 0;
	if (take_byte(s, "Zz"))
		return true;
	if (!take_byte(s, "+-") || !take_digits(s, 2, &hour) ||
	    !take_byte(s, ":") || !take_digits(s, 2, &minute))
		return false;
	*seconds = (hour * 3600 + minute * 60) * (west ? -1 : 1);
	return hour < 24 && minute < 60;
}

bool
instant_parse_rfc3339(struct str s, struct instant *out)
{
	struct civil date;
	int64_t second, us, offset;
	bool leap;

	if (!take_date(&s, &date) || !take_byte(&s, "Tt") ||
	    !take_time(&s, &second, &leap) || !take_fraction(&s, &us) ||
	    !take_offset(&s, &offset) || s.n > 0)
		return false;
	second += days_from_civil(date) * DAY_S - offset;
	/* Leap seconds come just before midnight UTC and nowhere else. */
	if (leap && second % DAY_S != 0)
		return false;
	us += second * SECOND_US;
	if (us < 0 || us >= END_OF_DAYS)
		return false;
	out->us = us;
	return true;
}

bool
instant_parse(struct str s, struct instant *out)
{
	if (s.n != INSTANT_TEXT || s.p[10] != 'T' || s.p[19] != '.' ||
	    s.p[26] != 'Z' || s.p[17] == '6')
		return false;
	return instant_parse_rfc3339(s, out);
}

bool
date_is_valid(struct str s)
{
	struct civil c;

	return take_date(&s, &c) && s.n == 0;
}
