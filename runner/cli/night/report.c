/* The summary of a night for people: what was built, measured, verified, what moved, where the site
 * is. */
#include "cli/night/report.h"
#include "base/error.h"
#include "base/format.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/commands.h"
#include "core/outcome.h"
#include "core/status.h"
#include "nightly/nightly.h"
#include "store/store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_count(const char *before, size_t count, const char *word)
{
	if (count)
		printf("%s%zu %s", before, count, word);
}

static const struct tk_revision_row *revision_of(const struct tk_rows *revisions, int64_t id)
{
	for (size_t i = 0; i < revisions->count; i++)
		if (TK_ROWS_AT(revisions, struct tk_revision_row, i)->id == id)
			return TK_ROWS_AT(revisions, struct tk_revision_row, i);
	return NULL;
}

static const char *upstream_name(const struct tk_rows *upstreams, int64_t id)
{
	for (size_t i = 0; i < upstreams->count; i++)
		if (TK_ROWS_AT(upstreams, struct tk_upstream_row, i)->id == id)
			return TK_ROWS_AT(upstreams, struct tk_upstream_row, i)->name;
	return "?";
}

/* One line an upstream: its revision, whether it is new, and why it is not there. */
static void print_upstreams(struct tk_store *store, int64_t night_id)
{
	struct tk_rows answers = {0}, revisions = {0}, upstreams = {0};
	if (!tk_store_list(
	            store, TK_TABLE_resolution, "night_id=?1", TK_ARGS(night_id), &answers, NULL) &&
	        !tk_store_list(store, TK_TABLE_revision, NULL, TK_NO_ARGS, &revisions, NULL) &&
	        !tk_store_list(store, TK_TABLE_upstream, NULL, TK_NO_ARGS, &upstreams, NULL))
		for (size_t i = 0; i < answers.count; i++) {
			const struct tk_resolution_row *a =
			        TK_ROWS_AT(&answers, struct tk_resolution_row, i);
			const struct tk_revision_row *r = revision_of(&revisions, a->revision_id);
			printf("  %-20s %-12.12s %-11s ", upstream_name(&upstreams, a->upstream_id),
			        r ? r->rev : "-", tk_resolution_status_name(a->status));
			tk_text_write_sanitized(stdout,
			        *a->message ? a->message
			        : r         ? r->subject
			                    : "",
			        "");
			putchar('\n');
		}
	tk_rows_free(&answers);
	tk_rows_free(&revisions);
	tk_rows_free(&upstreams);
}

static bool has_comparisons(const struct tk_night_report *r)
{
	for (size_t i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		if (r->by_status[i] && i != TK_VERDICT_NEW && i != TK_VERDICT_UNSUPPORTED &&
		        i != TK_VERDICT_FAILING)
			return true;
	return false;
}

static void print_verdicts(const struct tk_night_report *r)
{
	bool compared = has_comparisons(r);
	const char *separator = compared ? "" : "; ";
	printf("verdicts: %s", compared ? "" : "first night, comparisons start with the next one");
	for (size_t i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		if (r->by_status[i]) {
			printf("%s%zu %s", separator, r->by_status[i],
			        tk_verdict_status_phrase((enum tk_verdict_status)i));
			separator = ", ";
		}
	putchar('\n');
}

/* A warning once unstable timings are the rule: they look like any other numbers. */
static void print_unstable(const struct tk_night_report *r)
{
	if (tk_outcome_is_night_unreliable(r->unstable, r->measured))
		printf("UNSTABLE: %zu of %zu timings missed their target interval, so results of "
		       "this night are unreliable; `tracker doctor` lists noise sources\n",
		        r->unstable, r->measured);
}

static void print_ab_runs(const struct tk_night_report *r)
{
	if (!r->suspects)
		return;
	printf("re-measured: %zu of %zu confirmed", r->confirmed, r->suspects);
	print_count(", ", r->refuted, "unchanged");
	print_count(", ", r->suspects - r->confirmed - r->refuted, "inconclusive");
	printf(" (%zu A/B pairs)\n", r->pairs);
}

void tk_night_report_print(struct tk_store *store, const struct tk_night_report *r)
{
	char took[48];
	printf("night %.12s %s in %s%s\n", r->uid, r->complete ? "complete" : "incomplete",
	        tk_duration_format(r->wall_s, took, sizeof took),
	        r->nights > 1 ? " (the last of several)" : "");
	print_upstreams(store, r->night_id);
	printf("built:    %zu from source", r->builds - r->builds_cached - r->builds_failed);
	print_count(", ", r->builds_cached, "from the cache");
	print_count(", ", r->builds_failed, "failed");
	print_count(", ", r->upstreams_unreachable,
	        r->upstreams_unreachable == 1 ? "upstream unreachable" : "upstreams unreachable");
	printf("\nmeasured: %zu of %zu jobs, %zu verified", r->measured, r->jobs, r->verified);
	print_count(", ", r->unstable, "unstable");
	print_count(", ", r->wrong, "wrong");
	print_count(", ", r->implausible, "implausible");
	print_count(", ", r->failed, "failed");
	print_count(", ", r->unsupported, "unsupported");
	print_count(", ", r->skipped, "skipped");
	printf("\n");
	print_unstable(r);
	print_ab_runs(r);
	print_verdicts(r);
	if (r->first_bad_commits)
		printf("bisected: %zu first bad commit%s found (`tracker diff --last=1 "
		       "--first-bad`)\n",
		        r->first_bad_commits, r->first_bad_commits == 1 ? "" : "s");
	if (r->stale_tunings)
		printf("tuned:    %zu of %zu stale or missing configurations (`tracker tune "
		       "--list`)\n",
		        r->tuned, r->stale_tunings);
	printf("history:  %s\n", tk_store_path(store));
	if (*r->site_index)
		printf("site:     %s\n", r->site_index);
}

int tk_night_report_exit_code(
        const struct tk_night_report *report, const struct tk_status_set *fail_on)
{
	for (int s = 0; fail_on && s < TK_VERDICT_STATUS_COUNT; s++)
		if (fail_on->has[s] && report->by_status[s])
			return TK_EXIT_FOUND;
	return report->complete ? TK_EXIT_OK : TK_EXIT_INCOMPLETE;
}
