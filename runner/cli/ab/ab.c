/* `tracker ab`: is head slower than base? */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process.h"
#include "base/units.h"
#include "cli/ab/ab_options.h"
#include "cli/ab/format.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "config/config.h"
#include "core/problem.h"
#include "nightly/nightly.h"

enum { OPT_BASE = TK_AB_OPT_NEXT, OPT_HEAD, OPT_ALL, OPT_NO_VERIFY, OPT_GITHUB };

struct ab_options {
	struct tk_ab_request request;
	const struct tk_ab_format *format;
	bool github;
	struct tk_device_names devices;
};

#define FORMATS "text|json|csv|md|github"

static const struct argp_option options_table[] = {
        {"all", OPT_ALL, NULL, 0, "Also measure what has the same machine code on both sides", 2},
        {"base", OPT_BASE, "SIDE", 0,
                "Compare with SIDE (default: HEAD, the newest commit of UPSTREAM)", 1},
        {"budget", TK_AB_OPT_BUDGET, "TIME", 0,
                "Measure for at most TIME, without the builds; 0: no limit (default: 5m)", 2},
        TK_AB_ROW_DEVICES,
        {"format", 'f', FORMATS, 0, "Print in this format (default: text)", 3},
        {"github", OPT_GITHUB, NULL, 0,
                "Also annotate a workflow run of GitHub and write its step summary", 3},
        {"head", OPT_HEAD, "SIDE", 0,
                "Measure SIDE as the new one (default: worktree, the work tree of UPSTREAM)", 1},
        TK_AB_ROW_MODE,
        {"no-verify", OPT_NO_VERIFY, NULL, 0, "Do not check the results", 2},
        {"suite", TK_AB_OPT_SUITE, "NAME|FILE", 0,
                "Compare every problem of a suite, after the ones on the command line (default: "
                "the configured suites)",
                1},
        {"threshold", TK_AB_OPT_THRESHOLD, "PERCENT", 0,
                "Decide about changes above PERCENT (default: thresholds.min_effect)", 2},
        {0},
};

/* The first argument is an upstream unless it is a problem. */
static void take_arguments(struct ab_options *o, struct argp_state *state)
{
	struct tk_problem_spec p;
	char **args = state->argv + state->next;
	size_t count = (size_t)(state->argc - state->next);

	if (count && !strchr(args[0], ':') && tk_problem_parse(&p, args[0], NULL)) {
		o->request.upstream = args[0];
		args++;
		count--;
	}
	o->request.problems = args;
	o->request.problem_count = count;
}

static void check_sides(struct ab_options *o, struct argp_state *state)
{
	const char **side = o->request.side;

	if (o->request.upstream) {
		side[TK_AB_BASE] = side[TK_AB_BASE] ? side[TK_AB_BASE] : "HEAD";
		side[TK_AB_HEAD] = side[TK_AB_HEAD] ? side[TK_AB_HEAD] : "worktree";
	} else if (!side[TK_AB_BASE] || !side[TK_AB_HEAD]) {
		argp_error(state, "missing UPSTREAM, or --base and --head with a shared object or "
		                  "a backend each");
	}
	for (int k = 0; k < TK_AB_SIDES; k++)
		if (!*side[k])
			argp_error(state,
			        "--%s: expected a revision, a folder, a shared object or "
			        "a backend",
			        k == TK_AB_BASE ? "base" : "head");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct ab_options *o = state->input;
	struct tk_ab_request *q = &o->request;

	switch (key) {
	case OPT_ALL:
		q->all = true;
		return 0;
	case OPT_BASE:
		q->side[TK_AB_BASE] = arg;
		return 0;
	case OPT_HEAD:
		q->side[TK_AB_HEAD] = arg;
		return 0;
	case OPT_GITHUB:
		o->github = true;
		return 0;
	case OPT_NO_VERIFY:
		q->no_verify = true;
		return 0;
	case 'f':
		tk_option_parse_choice(arg, "format", FORMATS, state);
		o->format = tk_ab_format_find(arg);
		return 0;
	case ARGP_KEY_ARG:
		return ARGP_ERR_UNKNOWN; /* they come together as ARGP_KEY_ARGS */
	case ARGP_KEY_ARGS:
		take_arguments(o, state);
		return 0;
	case ARGP_KEY_END:
		check_sides(o, state);
		return 0;
	}
	return tk_ab_options_parse(key, arg, q, &o->devices, state);
}

const struct argp tk_argp_ab = {.options = options_table,
        .parser = parse_option,
        .args_doc = "[UPSTREAM] [PROBLEM...]",
        .doc = "Is my branch slower? Build base and head, and measure both in A/B runs: "
               "alternating, "
               "in fresh processes, until each problem is decided or the budget is spent. Problems "
               "whose machine code is the same are not measured. Nothing is stored.\v"
               "With UPSTREAM (self, or a git upstream of tracker.yml), SIDE is a branch, a tag, a "
               "commit, another ref such as refs/pull/12/head, `worktree` (the upstream's work "
               "tree "
               "with its uncommitted changes) or a folder (./DIR, /DIR) with a work tree. Without "
               "it, SIDE is a shared object (FILE.so) or a backend of this tracker; KEY=VALUE,... "
               "after a colon sets its options, threads=N its threads, config=NAME its "
               "configuration.\n\n"
               "Exit code: 0 nothing is slower, 1 something is slower or newly fails, 2 usage or "
               "configuration, 3 inconclusive or failing on both sides, 4 a side does not "
               "build.\n\n"
               "Examples:\n"
               "  tracker ab self --base=main --head=my-branch\n"
               "  tracker ab self\n"
               "  tracker ab openblas-git --base=v0.3.26 --head=refs/pull/12/head --suite=smoke\n"
               "  tracker ab --base=old.so --head=new.so gemm:m=512,n=512,k=512\n"
               "  tracker ab --base=openblas:threads=1 --head=openblas:threads=2 --budget=2m"};

static int exit_code(const struct tk_ab_report *r)
{
	if (r->by_verdict[TK_AB_VERDICT_SLOWER] || r->by_verdict[TK_AB_VERDICT_NEWLY_FAILED])
		return TK_EXIT_FOUND;
	if (r->by_verdict[TK_AB_VERDICT_INCONCLUSIVE] || r->by_verdict[TK_AB_VERDICT_FAILING] ||
	        r->by_verdict[TK_AB_VERDICT_UNSUPPORTED] == r->count)
		return TK_EXIT_INCOMPLETE;
	return TK_EXIT_OK;
}

static int show(const struct tk_globals *g, const struct ab_options *o,
        const struct tk_ab_report *report, struct tk_error *err)
{
	int status = TK_OK;

	if (o->github && o->format->write != tk_ab_write_github)
		status = tk_ab_write_github(g, report, stdout, err);
	if (!status)
		status = o->format->write(g, report, stdout, err);
	return status || fflush(stdout) == 0 ? status
	                                     : tk_fail_errno(err, "cannot write to stdout");
}

int tk_cmd_ab(const struct tk_globals *g, int argc, char **argv)
{
	struct ab_options o = {.request = tk_ab_options_defaults(), .format = tk_ab_formats};
	struct tk_ab_report report = {0};
	struct tk_error err = {0};
	struct tk_config *config = NULL;

	tk_command_parse(&tk_argp_ab, argc, argv, &o);
	int code = tk_command_open(g, "ab", -1, &config, NULL);
	if (code != TK_EXIT_OK)
		return code;
	tk_cancel_install_handlers();
	o.request.db_path = g->db_path ? g->db_path : config->db;
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_options night = {.program = g->program,
	        .observer = tk_progress_observer(progress),
	        .devices = o.devices.count ? o.devices.names : NULL};
	int status = tk_ab_compare(config, &night, &o.request, &report, &err);
	tk_progress_free(progress);
	if (!status)
		status = show(g, &o, &report, &err);
	code = status ? tk_command_fail("ab", &err) : exit_code(&report);
	tk_ab_report_free(&report);
	tk_command_close(config, NULL);
	return code;
}
