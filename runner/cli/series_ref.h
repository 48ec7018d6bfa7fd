/* Which series, or which alert, a command means by a word. */
#ifndef TK_SERIES_REF_H
#define TK_SERIES_REF_H
#include <stdint.h>

struct tk_error;
struct tk_store;

struct tk_series_ref {
	int64_t series_id;
	char slug[160];
	char good[128], bad[128]; /* the range of its newest alert or verdict; "": none is known */
};

/* The name of a series, its start, a pattern or a part that only one has, or the first four digits
 * or more of the uid of an alert, or of a group of them, as `tracker alert` shows it: its series
 * that moved most. TK_EUSAGE: none, or several (some are named). */
int tk_series_ref_resolve(
        struct tk_store *s, const char *text, struct tk_series_ref *out, struct tk_error *err);

#endif
