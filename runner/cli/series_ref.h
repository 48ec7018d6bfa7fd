/* A series or an alert as an argument of the command line. */
#ifndef TK_SERIES_REF_H
#define TK_SERIES_REF_H
#include <jansson.h>
#include <stdint.h>

struct tk_error;
struct tk_store;

enum tk_likeness { TK_LIKENESS_NONE, TK_LIKENESS_PART, TK_LIKENESS_START, TK_LIKENESS_EQUAL };

/* The series that are most like `text`, by name: `id` and `slug` of the one with this name; else of
 * those that match the pattern or start with it; else of those with a part like it, in the name or,
 * where `problem` is not NULL, in the title; a problem that is not "" is one itself. The caller
 * frees *out, also after a failure. */
int tk_series_find(struct tk_store *s, const char *text, const char *problem, json_t **out,
        enum tk_likeness *likeness, struct tk_error *err);

struct tk_series_ref {
	int64_t series_id;
	char slug[160];
	char good[128], bad[128]; /* the range of its newest alert or verdict; "": unknown */
};

/* `text` is a series (its name, the start of it, a pattern, or a part that only one series has) or
 * the first 4 or more digits of the id of an alert or group, which stands for its series with the
 * largest change. TK_EUSAGE: none, or several (the message names some). */
int tk_series_ref_resolve(
        struct tk_store *s, const char *text, struct tk_series_ref *out, struct tk_error *err);

#endif
