/* What users write for the range of a diff -> times and nights. */
#ifndef TK_DIFF_RANGE_H
#define TK_DIFF_RANGE_H
#include <stddef.h>
#include <stdint.h>

#include "detect/detect.h"

struct tk_config;
struct tk_error;
struct tk_store;

struct tk_diff_range_spec {
	const char *since, *until, *base, *head; /* NULL: not given */
	size_t last;                             /* 0: not given */
};

/* since, until: a duration back from now (7d), a date, a revision or tag (the first
 * night that had it), or run:ID (its night). base, head: the
 * number of a night as `tracker log` shows it, a date (the newest night up to the end of that day),
 * or a revision. Without any: the last 7 days. */
int tk_diff_range_resolve(struct tk_store *s, const struct tk_config *config,
        const struct tk_diff_range_spec *words, const char *machine, int64_t now_s,
        struct tk_diff_range *out, struct tk_error *err);

#endif
