/* See night_report.h. */
#include "cli/night/night_report.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "config/config.h"
#include "core/night.h"
#include "site_gen/site.h"
#include "store/store.h"
#include "worker/worker.h"

/* ---- the site -------------------------------------------------------------------------------- */

int tk_night_report_publish(
        void *arg, struct tk_store *store, char *index_path, struct tk_error *err)
{
	const struct tk_config *config = arg;
	AUTO_TEXT templates = tk_path_join(tk_path_data_dir(), "templates");
	struct tk_site_options site = {.out_dir = config->site_dir,
	        .templates_dir = templates,
	        .title = config->site_title,
	        .base_url = config->site_url ? config->site_url : "",
	        .tie = config->site_tie,
	        .now_s = tk_clock_now_s()};
	struct tk_site_report written = {0};
	TRY(tk_site_write(store, &site, &written, err));
	snprintf(index_path, TK_NIGHT_INDEX_SIZE, "%s/index.html", config->site_dir);
	return TK_OK;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void print_count(const char *before, size_t count, const char *word)
{
	if (count)
		printf("%s%zu %s", before, count, word);
}

/* One line an upstream: its revision, whether it is new, and why it is not there. */
static void print_upstreams(struct tk_store *store, int64_t night_id)
{
	static const char sql[] =
	        "SELECT upstream, iif(rev = '', '-', rev) AS rev, status,"
	        "  CASE WHEN message = '' AND build_status <> 'ok'"
	        "    THEN build_status || ' build: ' || build_message"
	        "    WHEN message = '' THEN subject"
	        "    WHEN substr(message, 1, length(upstream) + 2) = upstream || ': '"
	        "    THEN substr(message, length(upstream) + 3) ELSE message END AS text"
	        " FROM resolution_v WHERE night_id = ?1 ORDER BY upstream_id";
	json_auto_t *rows = NULL;
	json_t *row;
	size_t i;

	tk_records_select(store, sql, TK_ARGS(night_id), &rows, NULL);
	json_array_foreach (rows, i, row) {
		printf("  %-20s %-12.12s %-11s ", tk_record_text(row, "upstream"),
		        tk_record_text(row, "rev"), tk_record_text(row, "status"));
		tk_text_write_sanitized(stdout, tk_record_text(row, "text"), "");
		putchar('\n');
	}
}

static bool has_comparisons(const struct tk_night_report *r)
{
	for (size_t i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		if (r->by_status[i] && i != TK_VERDICT_NEW && i != TK_VERDICT_UNSUPPORTED &&
		        i != TK_VERDICT_FAILING && i != TK_VERDICT_RETIRED)
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
			        i == TK_VERDICT_NEW
			                ? "new (no baseline yet)"
			                : tk_verdict_status_name((enum tk_verdict_status)i));
			separator = ", ";
		}
	putchar('\n');
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
	print_count(", ", r->builds_partial, "of them without all kernels");
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
	putchar('\n');
	if (tk_outcome_is_night_unreliable(r->unstable, r->measured))
		printf("UNSTABLE: %zu of %zu timings are less precise than their target interval: "
		       "small changes cannot be seen tonight; `tracker doctor` lists noise "
		       "sources\n",
		        r->unstable, r->measured);
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
	AUTO_TEXT sandbox = tk_worker_describe_sandbox();
	printf("sandbox:  %s\nhistory:  %s\n", sandbox, tk_store_path(store));
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
