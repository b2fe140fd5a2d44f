/*
 * Pages for people: HTML that is written here whole, with no script and nothing
 * from elsewhere, and says so by its Content-Security-Policy.
 */
#ifndef FCGI_HTML_H
#define FCGI_HTML_H

#include "fcgi/response.h"

#define HTML_BYTES_MAX (8u << 20)

/* A page in progress. prefix: path of the public URL, in front of each link. */
struct html {
	struct buf *out;
	struct str prefix;
	struct arena *arena;
};

/* Text and attribute values; what means something to HTML is escaped. */
void html_text(const struct html *, struct str);
void html_cstr(const struct html *, const char *);

/* Markup as it stands. Conversions are for our own words and numbers: what
 * comes from elsewhere goes through html_text. */
__attribute__((format(printf, 2, 3))) void html_addf(
    const struct html *, const char *fmt, ...);

/* A piece of JSON, indented, as preformatted text that the keyboard reaches;
 * label says what it is. */
void html_json(
    const struct html *, const char *label, const struct json *value);

/* From the doctype into <main>, with the title as the first heading. menu may
 * add links to the navigation. */
void html_begin(const struct html *, struct str title,
    void (*menu)(const struct html *, const void *), const void *arg);
void html_end(const struct html *);

/* The reply with its policy and entity tag; err_internal when the page is
 * longer than HTML_BYTES_MAX. */
int html_reply(const struct html *, struct str if_none_match, struct response *,
    struct err *);

#endif
