/* `tracker nightly`: one night, from the newest revisions to the site; `tracker backfill`: measures
 * past revisions, a night for each. */
#include "nightly/nightly.h"
#include "base/base.h"
#include "base/process.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/host/survey.h"
#include "cli/table.h"
#include "config/config.h"
#include "config/suite.h"
#include "core/night.h"
#include "core/vocabulary.h"
#include "nightly/stages/detect_policy.h"
#include "site_gen/site.h"
#include "store/store.h"

/* ---- the site -------------------------------------------------------------------------------- */

static int write_site(void *arg, struct tk_store *store, char *index_path, struct tk_error *err)
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
	        "  CASE WHEN message = '' THEN subject"
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

static void print_report(struct tk_store *store, const struct tk_night_report *r)
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
	/* once unstable timings are the rule: they look like any other numbers */
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
	printf("history:  %s\n", tk_store_path(store));
	if (*r->site_index)
		printf("site:     %s\n", r->site_index);
}

static int find_exit_code(const struct tk_night_report *report, const struct tk_status_set *fail_on)
{
	for (int s = 0; fail_on && s < TK_VERDICT_STATUS_COUNT; s++)
		if (fail_on->has[s] && report->by_status[s])
			return TK_EXIT_FOUND;
	return report->complete ? TK_EXIT_OK : TK_EXIT_INCOMPLETE;
}

/* ---- tracker nightly ------------------------------------------------------------------------- */

static struct {
	bool resume, no_site, split;
	const char *only, *import_file;
	struct tk_status_set fail_on;
	struct tk_option_list devices; /* empty: as configured */
	uint32_t part, parts;
	uint64_t seed;
} o;

static int parse_part(const char *text, void *to, struct tk_error *err)
{
	(void)to;
	return tk_part_parse(text, &o.part, &o.parts)
	               ? TK_OK
	               : tk_fail(err, TK_EUSAGE, "expected K/N with 1 <= K <= N <= %d",
	                         TK_NIGHT_PARTS_MAX);
}

static int parse_seed(const char *text, void *to, struct tk_error *err)
{
	char *end;

	*(uint64_t *)to = strtoull(text, &end, 0);
	return *end || end == text ? tk_fail(err, TK_EUSAGE, "expected a number") : TK_OK;
}

static const struct tk_option options[] = {
        {TK_OPT_ITEMS("devices", 0, "LIST", &o.devices,
                "Measure on these devices instead of the configured ones: all, kinds (cuda), "
                "one of a kind (cuda:0), GPUs by number (0,2) or UUIDs")},
        {TK_OPT_PARSED("fail-on", 0, "STATUS,...", tk_option_parse_statuses, &o.fail_on,
                "Exit with 1 if a series has one of these statuses (default: as configured); "
                "none: never")},
        {TK_OPT_TEXT("import", 0, "FILE", &o.import_file,
                "Measure exactly the builds of FILE, made by `tracker build --export`; use no "
                "network and no compiler")},
        {TK_OPT_FLAG("no-site", 0, &o.no_site, "Do not write the site")},
        {TK_OPT_PARSED("part", 0, "K/N", parse_part, NULL,
                "Measure the K-th of N parts of the problems; other machines measure the "
                "others. A problem stays in its part")},
        {TK_OPT_FLAG("resume", 'r', &o.resume,
                "Resume the newest night that was stopped (Ctrl-C, kill -9, power failure)")},
        {TK_OPT_PARSED("seed", 0, "N", parse_seed, &o.seed,
                "Seed the order of the jobs with N, to repeat the order of a night")},
        {TK_OPT_FLAG("split", 0, &o.split,
                "Share the problems among identical devices instead of measuring all on each")},
        {TK_OPT_TEXT(
                "upstream", 'u', "NAME", &o.only, "Measure only this upstream, and the control")},
        {0},
};

/* Adds how to go on. A night without an id has not begun. */
static void explain_stop(int status, const struct tk_night_report *report, struct tk_error *err)
{
	if (status == TK_ECANCELED)
		tk_fail(err, status, "stopped");
	if (report->is_stored)
		tk_fail(err, status, "%s; the results are stored, publish them with `tracker site`",
		        err->message);
	else if (report->night_id &&
	         (status == TK_ECANCELED || status == TK_ENOSPC || status == TK_EBUSY))
		tk_fail(err, status,
		        "%s; results so far are kept, `tracker nightly --resume` continues",
		        err->message);
}

static int run_night(const struct tk_globals *g, struct tk_error *err)
{
	struct tk_night_report report;
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_publisher publisher = {.arg = g->config, .publish = write_site};
	struct tk_night_options night = {.program = g->program,
	        .observer = tk_progress_observer(progress),
	        .resume = o.resume,
	        .devices = o.devices.items,
	        .split = o.split,
	        .import_file = o.import_file,
	        .publisher = o.no_site ? NULL : &publisher,
	        .part = o.part,
	        .parts = o.parts,
	        .only_upstream = o.only,
	        .seed = o.seed};
	tk_cancel_install_handlers();
	int status = tk_night_run(g->config, g->store, &night, &report, err);
	tk_progress_free(progress);
	if (status) {
		explain_stop(status, &report, err);
		return status;
	}
	print_report(g->store, &report);
	tk_status_set_default(&o.fail_on, g->config->fail_on);
	return find_exit_code(&report, &o.fail_on);
}

/* acks.yml is read again after the measuring; report a mistake in it before. */
static int check_acks(const struct tk_config *config, struct tk_error *err)
{
	AUTO(tk_detect_policy) policy = {0};
	return tk_detect_policy_load(config, NULL, &policy, err);
}

static int check_upstream(const struct tk_config *config, const char *name, struct tk_error *err)
{
	char hint[TK_SUGGEST_HINT_SIZE];
	return !name || tk_config_find_upstream(config, name)
	               ? TK_OK
	               : tk_fail(err, TK_EUSAGE,
	                         "there is no upstream \"%s\" in the configuration%s", name,
	                         tk_config_suggest_upstream(config, name, NULL, NULL, hint));
}

/* A GPU for which the tracker was not built is none of the night's devices. */
static void warn_about_unmeasured_gpus(const struct tk_globals *g)
{
	struct tk_modules *modules = NULL;
	bool is_present;

	if (tk_modules_load(g->program, &modules, NULL))
		return;
	for (size_t i = 0; i < TK_GPU_KINDS; i++) {
		AUTO_TEXT why = tk_gpu_explain_missing(modules, i, &is_present);

		if (why && is_present)
			tk_log(TK_LOG_WARN, "gpu", NULL, "%s", why);
	}
	tk_modules_free(modules);
}

static int run_nightly(struct tk_globals *g, struct tk_error *err)
{
	TRY(tk_command_open(g, o.resume ? TK_OPENS_WRITE : TK_OPENS_CREATE, err));
	TRY(tk_survey_apply_defaults(g, &g->config, err));
	warn_about_unmeasured_gpus(g);
	TRY(check_upstream(g->config, o.only, err));
	TRY(check_acks(g->config, err));
	return run_night(g, err);
}

const struct tk_command tk_command_nightly = {.name = "nightly",
        .summary = "build, measure, verify, store, analyse and publish one night",
        .usage = {.options = options,
                .help = "Build the newest revision of every upstream, measure the suites, verify "
                        "every result, store it, find what changed, and write the site.\v"
                        "A stopped night keeps what was measured. --resume continues it with the "
                        "--devices, --part, --split, --upstream, --import and --seed of its "
                        "start; other values are an error. A stopped night that is not resumed "
                        "is closed by the next one.\n\n"
                        "Ctrl-C ends a night cleanly: only the running job is lost. A second "
                        "Ctrl-C ends the program at once.\n\n"
                        "Exit code: 0 done, 1 a series has a status of --fail-on, 3 something "
                        "failed (it is a row of the night), 4 could not finish.\n\n"
                        "Examples:\n"
                        "  tracker nightly\n"
                        "  tracker nightly --resume\n"
                        "  tracker nightly --upstream=openblas --fail-on=regressed,newly-failed"},
        .run = run_nightly};

/* ---- tracker backfill ------------------------------------------------------------------------ */

static struct {
	const char *upstream, *since, *export_file, *import_file, *arch;
	size_t commits, every;
	bool changed_code, no_site;
} b;

static const struct tk_option backfill_options[] = {
        {TK_OPT_TEXT("arch", 0, "ARCH", &b.arch,
                 "With --export: build for ARCH, as `tracker build --arch` (native, sm_90a, "
                 "gfx942)"),
                .needs = "export"},
        {TK_OPT_FLAG("changed-code", 0, &b.changed_code,
                "Do not measure revisions with the same machine code as the one before")},
        {TK_OPT_COUNT("commits", 0, "N", 1, 1e6, &b.commits,
                "Measure at most the newest N revisions (default: 10; with --since: all)")},
        {TK_OPT_COUNT("every", 0, "K", 1, 1e6, &b.every, "Measure only every K-th revision")},
        {TK_OPT_TEXT("export", 0, "FILE", &b.export_file,
                 "Build these revisions, measure nothing, and pack them into FILE (.tar.zst) "
                 "for another machine"),
                .excludes = "import changed-code"},
        {TK_OPT_TEXT("import", 0, "FILE", &b.import_file,
                 "Measure the revisions in FILE; needs neither the repository nor a compiler"),
                .excludes = "commits every since"},
        {TK_OPT_FLAG("no-site", 0, &b.no_site, "Do not write the site")},
        {TK_OPT_TEXT("since", 's', "TIME", &b.since,
                "Measure only revisions newer than TIME: 30d, 2026-08-01")},
        {TK_OPT_ARGUMENT(
                &b.upstream, "missing UPSTREAM; expected one of `upstreams` in tracker.yml")},
        {0},
};

static int build_only(const struct tk_globals *g, const struct tk_backfill_options *backfill,
        struct tk_error *err)
{
	struct tk_backfill_build_report built;

	TRY(tk_backfill_export(g->config, backfill, b.export_file, &built, err));
	printf("backfill: packed %zu of %zu revision%s of %s into %s (%zu from the cache, %zu "
	       "failed)\n",
	        built.built, built.revisions, built.revisions == 1 ? "" : "s", b.upstream,
	        b.export_file, built.cached, built.failed);
	return built.failed ? TK_EXIT_INCOMPLETE : TK_EXIT_OK;
}

static int measure(const struct tk_globals *g, const struct tk_backfill_options *backfill,
        struct tk_error *err)
{
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_publisher publisher = {.arg = g->config, .publish = write_site};
	struct tk_night_options night = {.program = g->program,
	        .observer = tk_progress_observer(progress),
	        .publisher = b.no_site ? NULL : &publisher,
	        .import_file = b.import_file};
	struct tk_night_report report;
	int status = tk_backfill_run(g->config, g->store, &night, backfill, &report, err);

	tk_progress_free(progress);
	if (status == TK_ECANCELED)
		tk_fail(err, TK_ECANCELED,
		        "stopped; finished nights are kept, the same command continues");
	else if (status == TK_ENOSPC || status == TK_EBUSY)
		tk_fail(err, status, "%s; finished nights are kept, the same command continues",
		        err->message);
	if (status)
		return status;
	char same_code[96] = "";
	if (report.same_code)
		snprintf(same_code, sizeof same_code,
		        "; %zu more with the same machine code as the one before",
		        report.same_code);
	if (!report.nights) {
		printf("%s: nothing left to measure%s\n", b.upstream, same_code);
		return TK_EXIT_OK;
	}
	printf("backfill: %zu revision%s of %s%s\n", report.nights, report.nights == 1 ? "" : "s",
	        b.upstream, same_code);
	print_report(g->store, &report);
	return find_exit_code(&report, NULL);
}

static int run_backfill(struct tk_globals *g, struct tk_error *err)
{
	struct tk_backfill_options backfill = {.upstream = b.upstream,
	        .commits = b.commits ? b.commits
	                   : b.since ? 0
	                             : 10,
	        .every = b.every,
	        .changed_code = b.changed_code,
	        .arch = b.arch};

	if (b.since && tk_when_parse(b.since, tk_clock_now_s(), false, &backfill.since_s, err))
		return tk_error_add_context(err, "--since");
	/* Building needs no history. */
	TRY(tk_command_open(g, b.export_file ? TK_OPENS_CONFIG : TK_OPENS_CREATE, err));
	TRY(tk_survey_apply_defaults(g, &g->config, err));
	tk_cancel_install_handlers();
	return b.export_file ? build_only(g, &backfill, err) : measure(g, &backfill, err);
}

const struct tk_command tk_command_backfill = {.name = "backfill",
        .summary = "measure past revisions of an upstream",
        .usage = {.options = backfill_options,
                .arguments = "UPSTREAM",
                .surplus = "expected one UPSTREAM",
                .help = "Measure past revisions of an upstream, oldest first. Each is a night of "
                        "its own, dated by its commit.\v"
                        "Revisions that this machine has measured are skipped, so a stopped "
                        "backfill continues when it is run again. Revisions that do not build "
                        "are left out of --export and named on stderr (exit code 3).\n\n"
                        "Examples:\n"
                        "  tracker backfill self --commits=10\n"
                        "  tracker backfill openblas-develop --since=90d --every=5\n"
                        "  tracker backfill self --arch=sm_90a --export=past.tar.zst    # on the "
                        "build host\n"
                        "  tracker backfill self --import=past.tar.zst                  # on the "
                        "machine that measures"},
        .run = run_backfill};
