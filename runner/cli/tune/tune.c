/* `tracker tune`: which configuration of a backend is the fastest for a problem? */
#include "base/error.h"
#include "base/process.h"
#include "cli/ab/ab_options.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/tune/print.h"
#include "config/config.h"
#include "nightly/nightly.h"
#include "store/store.h"

enum { OPT_EXHAUSTIVE = TK_AB_OPT_NEXT, OPT_LIST, OPT_NO_AB, OPT_NO_STORE };

struct tune_options {
	struct tk_tune_request request;
	struct tk_device_names devices;
	bool json, list, no_store;
};

static const struct argp_option options_table[] = {
        {"budget", TK_AB_OPT_BUDGET, "TIME", 0,
                "Measure for at most TIME, half of it in races; 0: no limit (default: 5m)", 2},
        TK_AB_ROW_DEVICES,
        {"exhaustive", OPT_EXHAUSTIVE, NULL, 0,
                "Measure every configuration in all rounds, without dropping any", 2},
        {"format", 'f', "text|json", 0, "Print a table (default) or JSON", 3},
        {"list", OPT_LIST, NULL, 0,
                "List the stored results, newest first: of BACKEND or UPSTREAM, of all without one",
                3},
        TK_AB_ROW_MODE,
        {"no-ab", OPT_NO_AB, NULL, 0,
                "Do not compare the winner with the default in A/B runs; races get the whole "
                "budget",
                2},
        {"no-store", OPT_NO_STORE, NULL, 0, "Do not store the result in the history", 3},
        {"suite", TK_AB_OPT_SUITE, "NAME|FILE", 0,
                "Tune every problem of a suite, after the ones on the command line (default: the "
                "configured suites)",
                1},
        {"threshold", TK_AB_OPT_THRESHOLD, "PERCENT", 0,
                "Ignore differences below PERCENT (default: thresholds.min_effect)", 2},
        {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct tune_options *o = state->input;
	struct tk_tune_request *q = &o->request;

	switch (key) {
	case OPT_EXHAUSTIVE:
		q->is_exhaustive = true;
		return 0;
	case OPT_NO_AB:
		q->no_ab = true;
		return 0;
	case OPT_LIST:
		o->list = true;
		return 0;
	case OPT_NO_STORE:
		o->no_store = true;
		return 0;
	case 'f':
		o->json = tk_option_parse_json(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (q->target)
			return ARGP_ERR_UNKNOWN; /* the problems come together as ARGP_KEY_ARGS */
		q->target = arg;
		return 0;
	case ARGP_KEY_ARGS:
		q->ab.problems = state->argv + state->next;
		q->ab.problem_count = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_END:
		if (!o->list && (!q->target || !*q->target))
			argp_error(state, "missing BACKEND or UPSTREAM");
		if (o->list && q->ab.problem_count)
			argp_error(state, "--list: expected at most one BACKEND or UPSTREAM");
		return 0;
	}
	return tk_ab_options_parse(key, arg, &q->ab, &o->devices, state);
}

const struct argp tk_argp_tune = {.options = options_table,
        .parser = parse_option,
        .args_doc = "BACKEND|UPSTREAM [PROBLEM...]\n--list [BACKEND|UPSTREAM]",
        .doc = "Find the fastest configuration of a backend for each problem. Every configuration "
               "is verified and measured in rounds; those that can no longer win are dropped. The "
               "winner is compared with the backend's default in A/B runs. The result is "
               "stored in the history.\v"
               "With an UPSTREAM that is built (self, or a git upstream of tracker.yml), the "
               "newest revision of all its backends is tuned. BACKEND is one of this tracker or a "
               "shared object (FILE.so); KEY=VALUE,... after a colon sets its options, threads=N "
               "its threads.\n\n"
               "Exit code: 0 every problem is decided, 1 a configuration fails or computes wrong "
               "results, 2 usage or configuration, 3 inconclusive, failing or unsupported, 4 could "
               "not finish: the upstream does not build, or the result could not be stored.\n\n"
               "Examples:\n"
               "  tracker tune cpu gemm:m=512,n=512,k=512\n"
               "  tracker tune cublaslt --suite=gemm-core --budget=10m\n"
               "  tracker tune cpu:threads=1 --suite=smoke --format=json\n"
               "  tracker tune --list cublaslt"};

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

static int list(const struct tk_globals *g, const struct tune_options *o)
{
	struct tk_error err = {0};
	struct tk_config *config = NULL;
	struct tk_store *store = NULL;
	int code = tk_command_open(g, "tune", TK_STORE_READ, &config, &store);

	if (code != TK_EXIT_OK)
		return code;
	int status = tk_tune_list(g, store, o->request.target, o->json, &err);
	if (!status && fflush(stdout))
		status = tk_fail_errno(&err, "cannot write to stdout");
	tk_command_close(config, store);
	return status ? tk_command_fail("tune", &err) : TK_EXIT_OK;
}

int tk_cmd_tune(const struct tk_globals *g, int argc, char **argv)
{
	struct tune_options o = {.request.ab = tk_ab_options_defaults()};
	struct tk_tune_report report = {0};
	struct tk_error err = {0};
	struct tk_config *config = NULL;

	tk_command_parse(&tk_argp_tune, argc, argv, &o);
	if (o.list)
		return list(g, &o);
	int code = tk_command_open(
	        g, "tune", o.no_store ? -1 : TK_STORE_CREATE, &config, &o.request.store);
	if (code != TK_EXIT_OK)
		return code;
	tk_cancel_install_handlers();
	o.request.ab.db_path = g->db_path ? g->db_path : config->db;
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_options night = {.program = g->program,
	        .observer = tk_progress_observer(progress),
	        .devices = o.devices.count ? o.devices.names : NULL};
	int status = tk_tune(config, &night, &o.request, &report, &err);
	tk_progress_free(progress);
	if (report.is_complete) {
		struct tk_error why = {0};
		int shown = show(g, &o, &report, &why);
		if (!status && shown)
			status = tk_fail(&err, shown, "%s", why.message);
	}
	code = status ? tk_command_fail("tune", &err) : exit_code(&report);
	tk_tune_report_free(&report);
	tk_command_close(config, o.request.store);
	return code;
}
