#include "fcgi/negotiation.h"

#include <strings.h>

const struct err_kind err_not_acceptable = { "not-acceptable",
	"No reply of the types that Accept names can be made", 406, false,
	"Send Accept: application/json, or a type that the operation's page "
	"names." };

static bool
is_word(struct str s, struct str word)
{
	return s.n == word.n && strncasecmp(s.p, word.p, word.n) == 0;
}

/* Thousandths (RFC 9110, 12.4.2): "1", "0.8", "0.125". */
static int
read_weight(struct str s)
{
	int w = s.n > 0 && s.p[0] == '1' ? 1000 : 0, unit = 100;

	for (size_t i = 2; i < s.n && i < 5 && w < 1000; i++, unit /= 10)
		if (s.p[i] >= '0' && s.p[i] <= '9')
			w += (s.p[i] - '0') * unit;
	return w;
}

static int
weight_among(struct str parameters)
{
	while (parameters.p) {
		struct str value = header_trim(str_take(&parameters, ';'));
		struct str name = header_trim(str_take(&value, '='));

		if (value.p && is_word(name, STR("q")))
			return read_weight(header_trim(value));
	}
	return 1000;
}

/* How closely a range names a type: 3 by its name, 2 as JSON of some kind, 1
 * and 0 by "*"; -1 not at all. */
static int
closeness(struct str range, struct str type)
{
	struct str family = str_slice(type, 0, str_find(type, '/') + 1);
	struct str start =
	    str_slice(range, 0, range.n < family.n ? range.n : family.n);

	if (is_word(range, type))
		return 3;
	if (is_word(range, STR("application/json")) &&
	    str_has_suffix(type, STR("+json")))
		return 2;
	if (is_word(start, family) && range.n == family.n + 1 &&
	    range.p[range.n - 1] == '*')
		return 1;
	return is_word(range, STR("*/*")) ? 0 : -1;
}

/* The closest range decides, and no list at all wants everything. Parameters
 * other than the weight choose among renderings: the row's own affair. */
static int
weight_of(struct str list, const char *media_type)
{
	struct str rest = str_from(media_type);
	struct str type = header_trim(str_take(&rest, ';'));
	int best = -1, weight = 0;

	if (header_trim(list).n == 0)
		return 1000;
	while (list.p) {
		struct str parameters = str_take(&list, ',');
		struct str range = header_trim(str_take(&parameters, ';'));
		int close = closeness(range, type);
		int w = weight_among(parameters);

		if (close < 0 || close < best)
			continue;
		if (close > best || w > weight)
			weight = w;
		best = close;
	}
	return weight;
}

bool
negotiation_prefers(struct str accept, const char *first, const char *second)
{
	return weight_of(accept, first) > weight_of(accept, second);
}

int
negotiation_check_reply(
    const struct headers *headers, const struct operation *op, struct err *e)
{
	struct str list = headers_get(headers, "accept");
	const char *type = op->media_type ? op->media_type : "application/json";

	if (weight_of(list, type) > 0)
		return 0;
	for (size_t i = 0; op->renderings && op->renderings[i]; i++)
		if (weight_of(list, op->renderings[i]) > 0)
			return 0;
	return err_set(e, &err_not_acceptable,
	    "this operation answers %s, which Accept leaves out", type);
}

int
negotiation_check_body(const struct request *r, struct err *e)
{
	struct str coding = headers_get(&r->headers, "content-encoding");

	if (r->body.n == 0 || coding.n == 0 || is_word(coding, STR("identity")))
		return 0;
	return err_set(e, &err_media_type,
	    "the body must come without a Content-Encoding");
}

void
negotiation_offer(struct response *response, struct arena *a)
{
	response_add(response, a, "Accept", "application/json");
	response_add(response, a, "Accept-Encoding", "identity");
}
