/* The options of `tracker diff`. */
#ifndef TK_DIFF_OPTIONS_H
#define TK_DIFF_OPTIONS_H
#include <stdbool.h>
#include <stddef.h>

#include "cli/diff/range.h"
#include "cli/diff/view.h"

#define TK_DIFF_FILTERS_MAX 64

struct tk_diff_options {
	struct tk_diff_range_spec range;
	const char *machine, *filters[TK_DIFF_FILTERS_MAX + 1], *ignored[TK_DIFF_FILTERS_MAX + 1];
	const char *output, *fail_on, *site_url, *acks, *baseline;
	char metric[80];
	size_t filter_count, ignored_count, limit, min_samples, confirm_nights;
	bool uncorrected;
	double threshold, abs_ns, alpha; /* NAN: as configured */
	bool chosen[TK_VERDICT_STATUS_COUNT], statuses_given, explain, first_bad, allow_empty;
	enum tk_diff_sort sort;
	enum tk_diff_group group;
	const struct tk_diff_format *format;
};

/* "regressed,missing" -> flags; "none" sets none. Returns the unknown status in `bad`, or NULL. */
const char *tk_diff_parse_statuses(
        const char *text, bool flags[TK_VERDICT_STATUS_COUNT], char bad[64]);

#endif
