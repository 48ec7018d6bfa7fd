/* The range options of `tracker diff` -> times and nights. */
#ifndef TK_DIFF_RANGE_H
#define TK_DIFF_RANGE_H
#include <stddef.h>
#include <stdint.h>

#include "decide/decide.h"

struct tk_config;
struct tk_error;
struct tk_store;

struct tk_diff_range_spec {
	const char *since, *until, *base, *head; /* NULL: not given */
	size_t last;                             /* 0: not given */
};

/* since, until: a moment (when.h), a revision or tag (the first night that measured it), or run:ID
 * (its night). base, head: the number of a night as in `tracker log`, a date (the newest night up
 * to its end), or a revision. Default: the last 7 days. TK_EUSAGE: one of them names nothing, or
 * they exclude each other. */
int tk_diff_range_resolve(struct tk_store *s, const struct tk_config *config,
        const struct tk_diff_range_spec *spec, const char *machine, int64_t now_s,
        struct tk_diff_range *out, struct tk_error *err);

/* --baseline: "window", "first", "best", "pinned:REV" or "tag:NAME". */
struct tk_diff_baseline {
	int64_t *revisions;
	size_t count;
};

/* Sets the baseline of `options`, which points into *out until tk_diff_baseline_free. A revision
 * counts in every upstream that has it. TK_EUSAGE: none has it. */
int tk_diff_baseline_resolve(struct tk_store *s, const struct tk_config *config, const char *text,
        struct tk_diff_baseline *out, struct tk_detect_options *options, struct tk_error *err);
void tk_diff_baseline_free(struct tk_diff_baseline *b);

#endif
