/* `tracker tune`: which configuration of a backend is the fastest for a problem? */
#include "base/error.h"
#include "base/process.h"
#include "base/try.h"
#include "cli/ab/ab_options.h"
#include "cli/commands.h"
#include "cli/tune/print.h"
#include "config/config.h"
#include "nightly/nightly.h"
#include "store/store.h"

static struct tune_options {
	struct tk_tune_request request;
	struct tk_option_list devices, problems;
	bool json, list, no_store;
} opt = {.request.ab = TK_AB_OPTIONS_NONE};

static const struct tk_option options[] = {
        {TK_OPT_HEADING("What")},
        {TK_OPT_TEXT("suite", 0, "NAME|FILE", &opt.request.ab.suite,
                "Tune every problem of a suite, after the ones on the command line (default: "
                "the configured suites)")},
        {TK_OPT_HEADING("How")},
        {TK_OPT_NUMBER("budget", 0, "TIME", TK_QUANTITY_DURATION, 0, 1e6, &opt.request.ab.budget_s,
                "Measure for at most TIME, half of it in races; 0: no limit (default: 5m)")},
        {TK_AB_OPT_DEVICES(&opt.devices)},
        {TK_OPT_FLAG("exhaustive", 0, &opt.request.is_exhaustive,
                "Measure every configuration in all rounds, without dropping any")},
        {TK_AB_OPT_MODE(&opt.request.ab.mode)},
        {TK_OPT_FLAG("no-ab", 0, &opt.request.no_ab,
                "Do not compare the winner with the default in A/B runs; races get the whole "
                "budget")},
        {TK_OPT_NUMBER("threshold", 0, "PERCENT", TK_QUANTITY_FRACTION, 0, 10,
                &opt.request.ab.min_effect,
                "Ignore differences below PERCENT (default: thresholds.min_effect)")},
        {TK_OPT_HEADING("Output")},
        {TK_OPT_JSON(&opt.json, "Print a table (default) or JSON")},
        {TK_OPT_FLAG("list", 0, &opt.list,
                "List the stored results, newest first: of BACKEND or UPSTREAM, of all without "
                "one")},
        {TK_OPT_FLAG("no-store", 0, &opt.no_store, "Do not store the result in the history")},
        {TK_OPT_ARGUMENT(&opt.request.target, NULL)},
        {TK_OPT_ARGUMENTS(&opt.problems, NULL)},
        {0},
};

static int check_options(struct tk_error *err)
{
	struct tk_tune_request *q = &opt.request;

	q->ab.problems = opt.problems.items;
	q->ab.problem_count = opt.problems.count;
	if (!opt.list && (!q->target || !*q->target))
		return tk_fail(err, TK_EUSAGE, "missing BACKEND or UPSTREAM");
	if (opt.list && q->ab.problem_count)
		return tk_fail(err, TK_EUSAGE, "--list: expected at most one BACKEND or UPSTREAM");
	return tk_ab_options_check(&q->ab, err);
}

static int exit_code(const struct tk_tune_report *r)
{
	if (r->failed_candidates)
		return TK_EXIT_FOUND;
	if (r->by_verdict[TK_TUNE_VERDICT_INCONCLUSIVE] || r->by_verdict[TK_TUNE_VERDICT_FAILING] ||
	        r->by_verdict[TK_TUNE_VERDICT_UNSUPPORTED] == r->count)
		return TK_EXIT_INCOMPLETE;
	return TK_EXIT_OK;
}

static int show(const struct tk_globals *g, const struct tune_options *o,
        const struct tk_tune_report *report, struct tk_error *err)
{
	int status = o->json ? tk_tune_write_json(report, stdout, err)
	                     : tk_tune_write_text(g, report, stdout, err);

	return status || fflush(stdout) == 0 ? status
	                                     : tk_fail_errno(err, "cannot write to stdout");
}

static int run_tune(struct tk_globals *g, struct tk_error *err)
{
	AUTO(tk_tune_report) report = {0};

	if (opt.list) {
		TRY(tk_command_open(g, TK_OPENS_READ, err));
		return tk_tune_list(g, g->store, opt.request.target, opt.json, err);
	}
	TRY(tk_command_open(g, opt.no_store ? TK_OPENS_CONFIG : TK_OPENS_CREATE, err));
	opt.request.store = g->store;
	tk_cancel_install_handlers();
	opt.request.ab.db_path = g->db_path ? g->db_path : g->config->db;
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_options night = {.program = g->program,
	        .observer = tk_progress_observer(progress),
	        .devices = opt.devices.items};
	int status = tk_tune(g->config, &night, &opt.request, &report, err);
	tk_progress_free(progress);
	if (report.is_complete) {
		struct tk_error why = {0};
		int shown = show(g, &opt, &report, &why);
		if (!status && shown)
			status = tk_fail(err, shown, "%s", why.message);
	}
	if (!status)
		status = exit_code(&report);
	return status;
}

const struct tk_command tk_command_tune = {.name = "tune",
        .summary = "find the fastest configuration of a backend for each problem",
        .usage = {.options = options,
                .arguments = "BACKEND|UPSTREAM [PROBLEM...]\n--list [BACKEND|UPSTREAM]",
                .check = check_options,
                .help = "Find the fastest configuration of a backend for each problem. Every "
                        "configuration is verified and measured in rounds; those that can no "
                        "longer win are dropped. The winner is compared with the backend's "
                        "default in A/B runs. The result is stored in the history.\v"
                        "With an UPSTREAM that is built (self, or a git upstream of "
                        "tracker.yml), the newest revision of all its backends is tuned. BACKEND "
                        "is one of this tracker or a shared object (FILE.so); KEY=VALUE,... "
                        "after a colon sets its options, threads=N its threads.\n\n"
                        "Exit code: 0 every problem is decided, 1 a configuration fails or "
                        "computes wrong results, 2 usage or configuration, 3 inconclusive, "
                        "failing or unsupported, 4 could not finish: the upstream does not "
                        "build, or the result could not be stored.\n\n"
                        "Examples:\n"
                        "  tracker tune cpu gemm:m=512,n=512,k=512\n"
                        "  tracker tune cublaslt --suite=gemm-core --budget=10m\n"
                        "  tracker tune cpu:threads=1 --suite=smoke --format=json\n"
                        "  tracker tune --list cublaslt"},
        .run = run_tune};
