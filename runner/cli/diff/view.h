/* What the formats of `tracker diff` share. A new format is one row of TK_DIFF_FORMATS and one file
 * format_NAME.c. */
#ifndef TK_DIFF_VIEW_H
#define TK_DIFF_VIEW_H
#include <stdbool.h>
#include <stdio.h>

#include "core/fields.h"
#include "decide/decide.h"

struct tk_config;
struct tk_error;
struct tk_globals;

enum tk_diff_sort {
	TK_DIFF_SORT_SEVERITY,
	TK_DIFF_SORT_PERCENT,
	TK_DIFF_SORT_ABSOLUTE,
	TK_DIFF_SORT_NAME
};
enum tk_diff_group {
	TK_DIFF_GROUP_NONE,
	TK_DIFF_GROUP_MACHINE,
	TK_DIFF_GROUP_BACKEND,
	TK_DIFF_GROUP_UPSTREAM,
	TK_DIFF_GROUP_REVISION,
	TK_DIFF_GROUP_KERNEL,
};

#define TK_DIFF_SHARED_BACKENDS_MAX 32

struct tk_diff_view {
	const struct tk_globals *globals;
	const struct tk_diff_report *report;
	const struct tk_diff_row *
	        *rows;       /* chosen and sorted; tk_diff_shown_count() of them are shown */
	size_t count, limit; /* limit 0: all */
	bool chosen[TK_VERDICT_STATUS_COUNT]; /* statuses that are in `rows` */
	bool fail_on[TK_VERDICT_STATUS_COUNT];
	bool explicit_statuses; /* --only or --all was given */
	bool explain;
	const struct tk_config *first_bad_config; /* --first-bad; NULL: not given */
	enum tk_diff_sort sort;
	enum tk_diff_group group;
	const char *site_url;                                     /* NULL: none */
	const char *shared_backends[TK_DIFF_SHARED_BACKENDS_MAX]; /* backends that several upstreams
	                                                             have */
	size_t shared_backend_count;
};

/* name, all series unless --only selects (for programs), function of format_NAME.c. The table, the
 * declarations and the words of --format are made of these rows: `first` is applied to the first
 * row, `next` to the others, for the separators of the words. */
/* clang-format off */
#define TK_DIFF_FORMATS(first, next) \
	first("text", false, tk_diff_write_text) \
	next("json", true, tk_diff_write_json) \
	next("ndjson", true, tk_diff_write_ndjson) \
	next("csv", true, tk_diff_write_csv) \
	next("md", false, tk_diff_write_markdown) \
	next("github", false, tk_diff_write_github) \
	next("sarif", false, tk_diff_write_sarif) \
	next("junit", true, tk_diff_write_junit)
/* clang-format on */

extern const struct tk_field tk_diff_row_fields[]; /* of a row in JSON and CSV */

struct tk_diff_format {
	const char *name;
	bool everything;
	int (*write)(const struct tk_diff_view *v, FILE *out, struct tk_error *err);
};
extern const struct tk_diff_format tk_diff_formats[];

/* Fills rows and count from the report and the choices. Free with tk_diff_view_free. */
int tk_diff_view_init(struct tk_diff_view *v, bool everything, struct tk_error *err);
void tk_diff_view_free(struct tk_diff_view *v);
size_t tk_diff_shown_count(const struct tk_diff_view *v);
/* At least one series has a status of --fail-on. */
bool tk_diff_has_fail_on(const struct tk_diff_view *v);
/* "openblas"; "openblas (openblas-git)" if several upstreams have that backend; "openblas, hot" if
 * the mode is not the default. */
const char *tk_diff_describe_backend(
        const struct tk_diff_view *v, const struct tk_diff_row *row, char *out, size_t size);
/* The name of a row's group; `out` holds a name that no row has. */
#define TK_DIFF_GROUP_SIZE 112
const char *tk_diff_group_name(
        const struct tk_diff_view *v, const struct tk_diff_row *row, char out[TK_DIFF_GROUP_SIZE]);

/* Of all series of a group, not only of those shown. */
struct tk_diff_group_totals {
	size_t series, compared;
	struct tk_diff_mean mean;
};
struct tk_diff_group_totals tk_diff_group_totals(const struct tk_diff_view *v, const char *group);
/* "7-night median", "the best level", "tag:v1.0" */
const char *tk_diff_describe_baseline(const struct tk_diff_report *r, char *out, size_t size);

/* The last line of every format for people, without a newline; its shape does not change, for
 * grep; where nothing could be compared, the reason. */
void tk_diff_summarize(const struct tk_diff_view *v, char *out, size_t size);
/* "good..bad (3 commits)", or the commit that a bisection found; "": unknown. */
const char *tk_diff_describe_commits(const struct tk_diff_row *row, char *out, size_t size);
/* The subject of the commit that tk_diff_describe_commits() starts with. */
const char *tk_diff_first_bad_subject(const struct tk_diff_row *row);
/* What the change rests on: "nights" or "ab" (A/B runs); "": there is no change value. */
const char *tk_diff_evidence_name(const struct tk_diff_row *row);
/* Of its `after`. */
struct tk_rate tk_diff_row_rate(const struct tk_diff_row *row);
/* " (A/B confirmed)" or "" */
const char *tk_diff_ab_suffix(const struct tk_diff_row *row);
/* URL of the series' page on the site; "" without --site-url. */
const char *tk_diff_series_url(
        const struct tk_diff_view *v, const struct tk_diff_row *row, char *out, size_t size);
/* "time: lower is better", for each metric of the report. */
void tk_diff_describe_direction(const struct tk_diff_report *r, char *out, size_t size);

/* --explain: the numbers and reasons of each shown series. */
void tk_diff_write_details(const struct tk_diff_view *v, FILE *out);
/* --first-bad: each range of revisions once, with its most severe series and the commands to bisect
 * it. */
void tk_diff_write_bisect_hints(const struct tk_diff_view *v, FILE *out);

#define TK_DIFF_WRITER(name, everything, write) \
	int write(const struct tk_diff_view *v, FILE *out, struct tk_error *err);
TK_DIFF_FORMATS(TK_DIFF_WRITER, TK_DIFF_WRITER)
#undef TK_DIFF_WRITER

#endif
