/* What the files of `tracker diff` share: diff.c has the command, rows.c chooses the rows and makes
 * their texts, the others write formats. */
#ifndef TK_DIFF_H
#define TK_DIFF_H
#include "base/base.h"
#include "cli/table.h"
#include "core/fields.h"
#include "core/verdict.h"
#include "decide/decide.h"

struct tk_config;
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

/* How a status is shown. */
struct tk_diff_look {
	const char *color;          /* on a terminal */
	const char *github, *sarif; /* the level where --fail-on does not name it; NULL: none */
	const char *junit;          /* the element; NULL: passed */
	bool is_bad;                /* the element is this one even if --fail-on names it */
};
extern const struct tk_diff_look tk_diff_looks[TK_VERDICT_STATUS_COUNT];

struct tk_diff_view {
	const struct tk_globals *globals;
	const struct tk_diff_report *report;
	const struct tk_diff_row **rows;      /* chosen and sorted; the first `shown` are shown */
	size_t count, shown, limit;           /* limit 0: all */
	bool chosen[TK_VERDICT_STATUS_COUNT]; /* statuses that are in `rows` */
	bool fail_on[TK_VERDICT_STATUS_COUNT];
	bool explicit_statuses; /* --only or --all was given */
	bool explain;
	const struct tk_config *first_bad_config; /* --first-bad; NULL: not given */
	enum tk_diff_sort sort;
	enum tk_diff_group group;
	const char *site_url; /* NULL: none */
	json_t *upstreams;    /* {BACKEND: UPSTREAM}; null: several have the backend */
	bool is_found;        /* at least one series has a status of --fail-on */
	bool is_empty;        /* nothing could be compared, and nothing was found */
	/* The last line of every format for people, without a newline; its shape does not change,
	 * for grep; where nothing could be compared, the reason. */
	char summary[1024];
	char direction[1024]; /* "time: lower is better", for each metric */
};

/* From the report and the choices. Free with tk_diff_view_free. */
void tk_diff_view_init(struct tk_diff_view *v, bool everything);
void tk_diff_view_free(struct tk_diff_view *v);

/* A row with its texts; "" where there is none. */
struct tk_diff_line {
	struct tk_diff_row r;
	const char *status, *mark;
	const char *better;    /* "lower", "higher" */
	const char *evidence;  /* what the change rests on: "nights", or "ab" for A/B runs */
	const char *ab_suffix; /* " (A/B confirmed)" */
	const char *accepted;  /* the status without the acknowledgement */
	/* "openblas"; "openblas (openblas-git)" if several upstreams have that backend; "openblas,
	 * hot" if the mode is not the default. */
	char backend[320];
	char commits[320];   /* "good..bad (3 commits)", or the commit that a bisection found */
	const char *subject; /* of the commit that this starts with */
	char reason[TK_REASON_SIZE];
	char url[512]; /* of its page on the site */
	char before[TK_FORMAT_SIZE], after[TK_FORMAT_SIZE], change[TK_FORMAT_SIZE];
	struct tk_rate rate; /* of its `after` */
	struct tk_first_bad_commit first_bad;
};
void tk_diff_line_make(const struct tk_diff_view *v, size_t i, struct tk_diff_line *out);
/* A row of --format=json, with texts for templates: label, commits, subject, ab, ab_suffix. */
json_t *tk_diff_line_to_texts(const struct tk_diff_line *l);

/* How many of the first `end` rows are like row i; 0 where one before it is. */
size_t tk_diff_count_alike(const struct tk_diff_view *v, size_t i, size_t end,
        bool (*is_alike)(const struct tk_diff_row *a, const struct tk_diff_row *b));

/* The name of a row's group; `out` holds a name that no row has. */
#define TK_DIFF_GROUP_SIZE 112
const char *tk_diff_group_name(
        const struct tk_diff_view *v, const struct tk_diff_row *row, char out[TK_DIFF_GROUP_SIZE]);
/* The end of the shown rows that are of the group of row i. */
size_t tk_diff_group_end(const struct tk_diff_view *v, size_t i);

/* Of all series of a group, not only of those shown. */
struct tk_diff_group_totals {
	size_t series, compared;
	struct tk_diff_mean mean;
};
struct tk_diff_group_totals tk_diff_group_totals(const struct tk_diff_view *v, const char *group);

int tk_diff_write_text(const struct tk_diff_view *v, FILE *out, struct tk_error *err);
int tk_diff_write_json(const struct tk_diff_view *v, FILE *out, struct tk_error *err);
int tk_diff_write_ndjson(const struct tk_diff_view *v, FILE *out, struct tk_error *err);
int tk_diff_write_csv(const struct tk_diff_view *v, FILE *out, struct tk_error *err);
int tk_diff_write_markdown(const struct tk_diff_view *v, FILE *out, struct tk_error *err);
int tk_diff_write_github(const struct tk_diff_view *v, FILE *out, struct tk_error *err);
int tk_diff_write_sarif(const struct tk_diff_view *v, FILE *out, struct tk_error *err);
int tk_diff_write_junit(const struct tk_diff_view *v, FILE *out, struct tk_error *err);

#endif
