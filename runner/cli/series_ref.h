/* A series or an alert as an argument of the command line. */
#ifndef TK_SERIES_REF_H
#define TK_SERIES_REF_H
#include <stdint.h>

struct tk_error;
struct tk_store;

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
