/* --baseline of `tracker diff`: "window", "first", "best", "pinned:REV", "tag:NAME"; tags of
 * upstreams. */
#ifndef TK_DIFF_BASELINE_H
#define TK_DIFF_BASELINE_H
#include <stdint.h>

#include "detect/detect.h"

struct tk_config;
struct tk_error;
struct tk_store;

struct tk_diff_baseline {
	int64_t *revisions;
	size_t count;
};

/* Sets the baseline of `options`, which points into *out until tk_diff_baseline_free. A revision
 * counts in every upstream that has it. TK_EUSAGE: none has it. */
int tk_diff_baseline_resolve(struct tk_store *s, const struct tk_config *config, const char *text,
        struct tk_diff_baseline *out, struct tk_detect_options *options, struct tk_error *err);
void tk_diff_baseline_free(struct tk_diff_baseline *b);

/* The newest measured revision up to a tag. Queries the repositories of the upstreams. TK_EUSAGE:
 * no upstream or several have the tag, or nothing so old was measured. */
int tk_diff_resolve_tag(struct tk_store *s, const struct tk_config *config, const char *tag,
        int64_t *revision_id, struct tk_error *err);

#endif
