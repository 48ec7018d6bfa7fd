/* `tracker bisect`: finds the commit that changed a series; `tracker bisect-step`: classifies one
 * commit for `git bisect run`; `tracker confirm`: compares an old and a new build of a series by
 * A/B runs, now. */
#include "nightly/bisect/bisect.h"
#include "base/base.h"
#include "base/process.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/night/night_report.h"
#include "cli/table.h"
#include "config/config.h"
#include "decide/rules/ab_result.h"
#include "nightly/compare/ab_compare.h"
#include "nightly/nightly.h"
#include "store/store.h"

static void add_word(struct tk_buf *b, const char *word)
{
	bool plain = *word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ012"
	                                   "3456789._/:@+=,-") == strlen(word);

	if (plain) {
		tk_buf_add_str(b, word);
		return;
	}
	tk_buf_add_char(b, '\'');
	for (; *word; word++)
		if (*word == '\'')
			tk_buf_add_str(b, "'\\''");
		else
			tk_buf_add_char(b, *word);
	tk_buf_add_char(b, '\'');
}

static void add_option(struct tk_buf *b, const char *name, const char *value)
{
	tk_buf_add_printf(b, " %s=", name);
	add_word(b, value);
}

/* The command is run in a clone of the upstream, so it names this configuration and this
 * history. */
static void add_tracker(
        struct tk_buf *b, const struct tk_globals *g, const struct tk_config *config)
{
	AUTO_TEXT db = tk_path_make_absolute(g->db_path ? g->db_path : config->db);

	add_word(b, g->program);
	if (config->path) {
		add_option(b, "--config", config->path);
	} else {
		tk_buf_add_str(b, " -C ");
		add_word(b, config->root);
	}
	if (db)
		add_option(b, "--db", db);
}

void tk_git_bisect_hint_print(FILE *out, const char *indent, const struct tk_globals *g,
        const struct tk_config *config, const char *upstream, const char *series, const char *good,
        const char *bad)
{
	AUTO(tk_buf) b = TK_BUF_INIT;
	const struct tk_upstream_config *u = tk_config_find_upstream(config, upstream);
	const char *url = u && u->url ? u->url : "";

	tk_buf_add_printf(&b, "%sgit log --first-parent --oneline %.12s..%.12s", indent, good, bad);
	if (*url) {
		tk_buf_add_str(&b, "   # in a clone of ");
		add_word(&b, url);
	}
	tk_buf_add_printf(&b, "\n%sgit bisect start --first-parent %.12s %.12s && git bisect run ",
	        indent, bad, good);
	add_tracker(&b, g, config);
	tk_buf_add_str(&b, " bisect-step ");
	add_word(&b, series);
	add_option(&b, "--good", good);
	add_option(&b, "--bad", bad);
	tk_text_write_sanitized(out, tk_buf_cstr(&b), "\n");
	fputc('\n', out);
}

#define GIT_BISECT_STOPS 128 /* from this exit code on `git bisect run` stops */

static struct {
	const char *series; /* or an alert */
	const char *good, *bad, *rev;
	int64_t budget_s;
	bool dry_run;
} o;

static const struct tk_option bisect_options[] = {
        {TK_OPT_TEXT(
                "bad", 'b', "REVISION", &o.bad, "Search up to REVISION (default: from the alert)")},
        {TK_OPT_NUMBER("budget", 't', "TIME", TK_QUANTITY_DURATION, 0, 1e9, &o.budget_s,
                "Spend at most TIME, for instance 2h (default: no limit); the same command "
                "continues")},
        {TK_OPT_FLAG("dry-run", 0, &o.dry_run,
                "List the range and what building all of it takes; a search builds and compares "
                "about log2 of them")},
        {TK_OPT_TEXT("good", 'g', "REVISION", &o.good,
                "Search after REVISION (default: from the alert)")},
        {TK_OPT_ARGUMENT(&o.series, "missing SERIES or ALERT")},
        {0},
};

static const struct tk_option step_options[] = {
        {TK_OPT_TEXT("bad", 'b', "REVISION", &o.bad,
                "A revision after the change (default: from the alert)")},
        {TK_OPT_TEXT("good", 'g', "REVISION", &o.good,
                "A revision before the change (default: from the alert)")},
        {TK_OPT_TEXT("rev", 0, "REVISION", &o.rev,
                "Classify REVISION (default: HEAD of the current repository)")},
        {TK_OPT_ARGUMENT(&o.series, "missing SERIES or ALERT")},
        {0},
};

static void print_commit(const char *what, const struct tk_revision *r)
{
	char when[TK_TIME_ISO_SIZE];
	printf("%s %.12s ", what, r->id);
	tk_text_write_sanitized(stdout, r->subject, "");
	printf("\n  ");
	if (*r->author) { /* a version of a package has none */
		printf("by ");
		tk_text_write_sanitized(stdout, r->author, "");
		printf(", ");
	}
	printf("%s\n", tk_time_format_iso(r->author_time_s, when));
}

static void print_work(const struct tk_bisect_report *r)
{
	char took[48];
	printf("work: %zu revision%s; %zu builds (%zu new, %zu cached, %zu failed); %zu decided by "
	       "equal code; %zu comparison%s with %zu pair%s; %zu skipped; %s\n",
	        r->revisions, r->revisions == 1 ? "" : "s", r->builds, r->built,
	        r->builds - r->built - r->builds_failed, r->builds_failed, r->same_code,
	        r->comparisons, r->comparisons == 1 ? "" : "s", r->pairs, r->pairs == 1 ? "" : "s",
	        r->skipped, tk_duration_format(r->wall_s, took, sizeof took));
}

static void print_result(const struct tk_bisect_report *r)
{
	char text[TK_AB_RESULT_TEXT_SIZE];
	printf("%s\n%.12s..%.12s of %s: %s\n", r->series, r->good.id, r->bad.id, r->upstream,
	        r->comparisons ? tk_ab_result_format(&r->range_result, text) : "by builds alone");
	if (r->outcome == TK_BISECT_FOUND || r->outcome == TK_BISECT_RANGE) {
		print_commit(r->outcome == TK_BISECT_FOUND
		                     ? "first bad:"
		                     : "first bad revision that can be measured:",
		        &r->first_bad);
		if (r->comparisons)
			printf("  against its parent %.12s: %s\n", r->last_good.id,
			        tk_ab_result_format(&r->step_result, text));
		printf("  confidence: %.1f %%\n", 100 * r->confidence);
	} else if (*r->first_bad.id) {
		printf("remaining range: %.12s..%.12s\n", r->last_good.id, r->first_bad.id);
	}
	if (*r->explanation)
		printf("  %s\n", r->explanation);
	print_work(r);
}

static int find_range(
        const struct tk_series_ref *named, struct tk_bisect_request *q, struct tk_error *err)
{
	*q = (struct tk_bisect_request){.series_id = named->series_id,
	        .good = o.good ? o.good : named->good,
	        .bad = o.bad ? o.bad : named->bad,
	        .budget_s = (double)o.budget_s};
	if (!*q->good || !*q->bad)
		return tk_fail(err, TK_EUSAGE,
		        "%s has no alert with a range; expected --good=REVISION and --bad=REVISION",
		        named->slug);
	return TK_OK;
}

/* The versions of a package are no commits. */
static bool is_in_git(const struct tk_config *c, const char *upstream)
{
	const struct tk_upstream_config *u = tk_config_find_upstream(c, upstream);

	return !u || u->kind != TK_UPSTREAM_PACKAGE;
}

static int print_range(
        struct tk_globals *g, const struct tk_bisect_request *q, struct tk_error *err)
{
	json_auto_t *row = NULL;
	TRY(tk_records_select_one(g->store, "SELECT upstream FROM series_v WHERE id = ?1",
	        TK_ARGS(q->series_id), &row, err));
	return tk_night_plan_print_range(g, tk_record_text(row, "upstream"), q->good, q->bad, err);
}

static int run_bisect(struct tk_globals *g, struct tk_error *err)
{
	struct tk_series_ref named;
	struct tk_bisect_request q;
	struct tk_bisect_report r;
	tk_cancel_install_handlers();
	TRY(tk_series_ref_resolve(g->store, o.series, &named, err));
	TRY(find_range(&named, &q, err));
	if (o.dry_run)
		return print_range(g, &q, err);
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_options night = {
	        .program = g->program, .observer = tk_progress_observer(progress)};
	int status = tk_bisect_run(g->config, g->store, &night, &q, &r, err);
	tk_progress_free(progress);
	if (status == TK_ECANCELED || status == TK_ENOSPC)
		tk_fail(err, status,
		        "%s; builds and pairs so far are kept, the same command continues",
		        status == TK_ECANCELED ? "stopped" : err->message);
	if (status)
		return status;
	print_result(&r);
	if (is_in_git(g->config, r.upstream)) {
		printf("the same search with git:\n");
		tk_git_bisect_hint_print(
		        stdout, "  ", g, g->config, r.upstream, r.series, r.good.id, r.bad.id);
	}
	if (r.detection_error.status)
		tk_command_fail("bisect", &r.detection_error);
	return r.outcome == TK_BISECT_FOUND && !r.detection_error.status ? TK_EXIT_OK
	                                                                 : TK_EXIT_INCOMPLETE;
}

const struct tk_command tk_command_bisect = {.name = "bisect",
        .summary = "find the commit that changed a series",
        .usage = {.options = bisect_options,
                .arguments = "SERIES|ALERT",
                .surplus = "expected one series or alert",
                .help = "Find the commit that changed a series: halve the first-parent history "
                        "between a good and a bad revision, build each middle, and compare it "
                        "with the good build by A/B runs. Revisions that cannot be built or "
                        "measured are skipped; noisy ones get more pairs.\v"
                        "SERIES is a name, or a part of one that only one series has; ALERT is "
                        "the first digits of an alert. Builds and pairs are kept: the same "
                        "command continues after an interruption. `tracker diff` and the site "
                        "show the result.\n\n"
                        "Exit code: 0 found, 3 not found (the ends do not differ, only a range "
                        "is left, or the budget was spent), or found but not analysed.\n\n"
                        "Examples:\n"
                        "  tracker bisect 3f9a01c2\n"
                        "  tracker bisect gemm-f32-512 --good=v0.3.20 --bad=develop --budget=2h"},
        .opens = TK_OPENS_WRITE,
        .run = run_bisect};

/* HEAD of the current repository. */
static int find_head(char *rev, size_t size, struct tk_error *err)
{
	const char *const argv[] = {"git", "rev-parse", "--verify", "HEAD^{commit}", NULL};
	const struct tk_process_spec spec = {.argv = argv, .deadline_s = 30};
	AUTO(tk_process_result) result = {0};
	TRY(tk_process_run(&spec, &result, err));
	TRY(tk_process_check(&spec, &result, err));
	snprintf(rev, size, "%.*s", (int)strcspn(tk_buf_cstr(&result.out), "\n"),
	        tk_buf_cstr(&result.out));
	return TK_OK;
}

static int run_bisect_step(struct tk_globals *g, struct tk_error *err)
{
	char head[80], text[TK_AB_RESULT_TEXT_SIZE];
	const char *rev = o.rev;
	struct tk_series_ref named;
	struct tk_bisect_request q;
	struct tk_bisect_report r;
	enum tk_bisect_mark side;

	tk_cancel_install_handlers();
	if (!rev) {
		TRY(find_head(head, sizeof head, err));
		rev = head;
	}
	TRY(tk_series_ref_resolve(g->store, o.series, &named, err));
	TRY(find_range(&named, &q, err));
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_options night = {
	        .program = g->program, .observer = tk_progress_observer(progress)};
	int status = tk_bisect_mark_revision(g->config, g->store, &night, &q, rev, &side, &r, err);
	tk_progress_free(progress);
	if (status)
		return status;
	if (r.detection_error.status) /* the next step tries again: git has its answer */
		tk_log(TK_LOG_WARN, "bisect", NULL, "%s", r.detection_error.message);
	printf("%.12s is %s (whole range: %s)\n", rev,
	        side == TK_BISECT_MARK_GOOD  ? "good"
	        : side == TK_BISECT_MARK_BAD ? "bad"
	                                     : "skipped: it cannot be built or measured",
	        tk_ab_result_format(&r.range_result, text));
	return (int)side;
}

const struct tk_command tk_command_bisect_step = {.name = "bisect-step",
        .summary = "one step of `git bisect run`",
        .usage = {.options = step_options,
                .arguments = "SERIES|ALERT",
                .surplus = "expected one series or alert",
                .help = "Classify one revision as good or bad, for `git bisect run`.\v"
                        "Exit code: 0 good, 1 bad, 125 it cannot be built or measured, 128 and "
                        "above: stop.\n\n"
                        "Example, in a clone of the upstream:\n"
                        "  git bisect start --first-parent BAD GOOD\n"
                        "  git bisect run tracker --config=/path/tracker.yml bisect-step SERIES "
                        "--good=GOOD --bad=BAD"},
        .opens = TK_OPENS_WRITE,
        /* a typing error is no bad revision */
        .usage_exit = GIT_BISECT_STOPS + 1,
        .failure_exit = GIT_BISECT_STOPS,
        .run = run_bisect_step,
        .hidden = true};

/* ---- tracker confirm ---- */

static struct {
	const char *series; /* or an alert */
	const char *good, *bad;
	int64_t budget_s;
} confirm_args;

static const struct tk_option confirm_options[] = {
        {TK_OPT_TEXT("bad", 'b', "REVISION", &confirm_args.bad,
                 "Measure REVISION as the new build; needs --good (default: the newest measured "
                 "one)"),
                .needs = "good"},
        {TK_OPT_NUMBER("budget", 't', "TIME", TK_QUANTITY_DURATION, 0, 1e9, &confirm_args.budget_s,
                "Spend at most TIME, for instance 10m (default: no limit, at most 256 pairs)")},
        {TK_OPT_TEXT("good", 'g', "REVISION", &confirm_args.good,
                "Measure REVISION as the old build (default: the last one before the reported "
                "change)")},
        {TK_OPT_ARGUMENT(&confirm_args.series, "missing SERIES or ALERT")},
        {0},
};

static int show(const struct tk_confirm_report *r)
{
	char text[TK_AB_RESULT_TEXT_SIZE], took[48], night[TK_FORMAT_SIZE];
	printf("%s\n  new %.12s, old %.12s: ", r->series, r->rev[TK_AB_HEAD], r->rev[TK_AB_BASE]);
	if (!r->pairs.count)
		printf("no A/B pair could be measured\n");
	else
		printf("%s, %s; took %s\n",
		        r->pairs.decision == TK_AB_INCONCLUSIVE ? "inconclusive"
		        : r->pairs.decision == TK_AB_SAME       ? "no change"
		        : r->worse                              ? "regression"
		                                                : "improvement",
		        tk_ab_result_format(&r->pairs, text),
		        tk_duration_format(r->wall_s, took, sizeof took));
	if (r->status < TK_VERDICT_STATUS_COUNT)
		printf("  verdict of the newest night, %s: %s%s%s\n",
		        tk_format_minute(r->night_s, night), tk_verdict_status_name(r->status),
		        *r->reason ? ": " : "", r->reason);
	if (r->detection_error.status)
		tk_command_fail("confirm", &r->detection_error);
	return r->detection_error.status ? TK_EXIT_INCOMPLETE
	       : r->worse                ? TK_EXIT_FOUND
	       : r->pairs.decision == TK_AB_NONE || r->pairs.decision == TK_AB_INCONCLUSIVE
	               ? TK_EXIT_INCOMPLETE
	               : TK_EXIT_OK;
}

static int run_confirm(struct tk_globals *g, struct tk_error *err)
{
	struct tk_series_ref named;
	struct tk_confirm_report report;

	tk_cancel_install_handlers();
	TRY(tk_series_ref_resolve(g->store, confirm_args.series, &named, err));
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_options night = {
	        .program = g->program, .observer = tk_progress_observer(progress)};
	struct tk_confirm_request q = {.series_id = named.series_id,
	        .rev = {confirm_args.good, confirm_args.bad},
	        .budget_s = (double)confirm_args.budget_s};
	int status = tk_confirm_run(g->config, g->store, &night, &q, &report, err);
	tk_progress_free(progress);
	return status ? status : show(&report);
}

const struct tk_command tk_command_confirm = {.name = "confirm",
        .summary = "compare an old and a new build of a series by A/B runs",
        .usage = {.options = confirm_options,
                .arguments = "SERIES|ALERT",
                .surplus = "expected one series or alert",
                .help = "Compare an old and a new build of a series by A/B runs: alternating, in "
                        "fresh processes, until the result is conclusive. Then analyse its night "
                        "again. `tracker nightly` does this by itself for suspected changes.\v"
                        "SERIES is a name, or a part of one that only one series has. The series "
                        "must have been measured on this machine, and both builds must be in the "
                        "cache. Pairs are kept: the same command continues after an "
                        "interruption.\n\n"
                        "Exit code: 0 no regression, 1 the new build is slower, 3 inconclusive, "
                        "or stored but not analysed.\n\n"
                        "Examples:\n"
                        "  tracker confirm 'box.cpu.self.cpu.gemm-f32-512*'\n"
                        "  tracker confirm gemm-f32-512 --good=0123abcd --budget=5m"},
        .opens = TK_OPENS_WRITE,
        .run = run_confirm};
