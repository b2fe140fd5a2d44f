/*
 * C2SP tlog-tiles: the Merkle tree as files of at most 256 hashes each. The
 * tree grows at its end alone, so what was served once never changes, and a
 * cache may keep it for ever.
 */
#include <string.h>

#include "fcgi/ledger_pages.h"

#define TILE_HASHES 256
#define LEVEL_MAX   63
/* Segments in front of the number: ledger, workspace, environment, tile, L; a
 * closed ledger has two more in front of the last two. */
#define NUMBER_AT 5

struct tile {
	bool entries; /* the events themselves; else the hashes of: */
	unsigned level;
	uint64_t number;
	size_t width;
};

/* Three digits, behind an x in each group but the last. */
static bool
read_group(struct str s, bool last, uint64_t *number)
{
	if (!last && (s.n == 0 || s.p[0] != 'x'))
		return false;
	if (!last)
		s = str_slice(s, 1, s.n);
	if (s.n != 3)
		return false;
	for (size_t i = 0; i < 3; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		*number = *number * 10 + (uint64_t)(s.p[i] - '0');
	}
	return true;
}

/* A first group of zeros would be a second spelling. */
static bool
read_number(const struct str *groups, size_t n, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < n; i++)
		if (!read_group(groups[i], i + 1 == n, number) ||
		    (i == 0 && n > 1 && *number == 0))
			return false;
	return n > 0;
}

static bool
read_level(struct str s, struct tile *tile)
{
	uint64_t level = 0;

	tile->entries = str_is(s, "entries");
	if (!tile->entries && (!str_to_u64(s, &level) || level > LEVEL_MAX))
		return false;
	tile->level = (unsigned)level;
	return true;
}

/* "x001/x234/067", or "x001/x234/067.p/5" for the first 5 of it. */
static bool
read_tile(const struct request *r, struct tile *tile)
{
	struct str groups[ROUTE_SEGMENTS_MAX];
	size_t at =
	    str_is(r->segments[3], "closed") ? NUMBER_AT + 2 : NUMBER_AT;
	size_t n = r->n_segments - at;
	uint64_t width = TILE_HASHES;

	memcpy(groups, r->segments + at, n * sizeof *groups);
	if (n >= 2 && str_has_suffix(groups[n - 2], STR(".p"))) {
		if (!str_to_u64(groups[n - 1], &width) || width == 0 ||
		    width >= TILE_HASHES)
			return false;
		groups[n - 2].n -= 2;
		n--;
	}
	tile->width = (size_t)width;
	/* An escaped digit is another spelling of the same path. */
	return str_find(r->path, '%') == r->path.n &&
	       read_level(r->segments[at - 1], tile) &&
	       read_number(groups, n, &tile->number);
}

/* Each event behind its length. */
static struct str
join(const struct stored_event *events, size_t n, struct arena *a)
{
	struct str line, event;
	size_t total = 0;
	char *bytes, *end;

	for (size_t i = 0; i < n; i++)
		total += 2 + events[i].line.n;
	bytes = arena_alloc(a, total);
	end = bytes;
	for (size_t i = 0; i < n; i++) {
		line = events[i].line;
		str_take(&line, ' '); /* the signatures */
		event = line;
		*end++ = (char)(event.n >> 8);
		*end++ = (char)(event.n & 0xff);
		memcpy(end, event.p, event.n);
		end += event.n;
	}
	return (struct str){ bytes, (size_t)(end - bytes) };
}

static int
read_entries(struct reading *reading, const struct tile *tile, struct arena *a,
    struct str *out, struct err *e)
{
	struct stored_event *events =
	    arena_array(a, tile->width, sizeof *events);
	uint64_t size, first = tile->number * TILE_HASHES;

	if (ledger_read_size(reading, &size, e))
		return -1;
	if (first + tile->width > size)
		return ledger_page_unknown(e);
	if (ledger_read_events(reading, first, tile->width, a, events, e))
		return -1;
	*out = join(events, tile->width, a);
	return 0;
}

static int
read_body(struct ledger *ledger, const struct tile *tile, struct arena *a,
    struct str *out, struct err *e)
{
	struct reading reading;
	int rc;

	if (ledger_read_begin(ledger, &reading, e))
		return -1;
	rc = tile->entries ? read_entries(&reading, tile, a, out, e)
			   : ledger_read_tile(&reading, tile->level,
				 tile->number, tile->width, a, out, e);
	ledger_read_end(&reading);
	return rc;
}

int
tile_page(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct err *e)
{
	struct ledger_visit visit;
	struct tile tile;
	int rc;

	if (ledger_visit_begin(front, r, a, response, &visit, e))
		return -1;
	rc = read_tile(r, &tile)
		 ? read_body(visit.ledger, &tile, a, &response->body, e)
		 : ledger_page_unknown(e);
	ledger_visit_end(front, &visit);
	if (rc)
		return -1;
	response->status = 200;
	response->type = "application/octet-stream";
	response->cache = "max-age=31536000, immutable, private";
	return 0;
}

static int
read_checkpoint(
    struct ledger *ledger, struct arena *a, struct str *note, struct err *e)
{
	struct reading reading;
	uint64_t newest = 0;
	int rc;

	if (ledger_read_begin(ledger, &reading, e))
		return -1;
	rc = ledger_read_checkpoint(&reading, &newest, a, note, e);
	ledger_read_end(&reading);
	return rc;
}

int
checkpoint_page(struct front *front, struct request *r, struct arena *a,
    struct response *response, struct err *e)
{
	struct ledger_visit visit;
	int rc;

	if (ledger_visit_begin(front, r, a, response, &visit, e))
		return -1;
	rc = read_checkpoint(visit.ledger, a, &response->body, e);
	ledger_visit_end(front, &visit);
	if (rc)
		return -1;
	response->status = 200;
	response->type = "text/plain; charset=utf-8";
	response->cache = "no-cache";
	response_set_etag(
	    response, a, headers_get(&r->headers, "if-none-match"));
	return 0;
}
