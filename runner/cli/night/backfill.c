/* `tracker backfill`: measures past revisions, a night for each. */
#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "cli/commands.h"
#include "cli/host/survey.h"
#include "cli/night/publish.h"
#include "cli/night/report.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/when.h"
#include "config/config.h"
#include "nightly/nightly.h"
#include "store/store.h"
#include <stdio.h>
#include <stdlib.h>

enum {
	OPT_SINCE = 's',
	OPT_ARCH = 256,
	OPT_CHANGED_CODE,
	OPT_COMMITS,
	OPT_EVERY,
	OPT_EXPORT,
	OPT_IMPORT,
	OPT_NO_SITE,
};

struct options {
	const char *upstream, *since, *export_file, *import_file, *arch;
	size_t commits, every;
	bool changed_code, no_site;
};

static const struct argp_option options_table[] = {
        {"arch", OPT_ARCH, "ARCH", 0,
                "With --export: build for ARCH, as `tracker build --arch` (native, sm_90a, gfx942)",
                0},
        {"changed-code", OPT_CHANGED_CODE, NULL, 0,
                "Do not measure revisions with the same machine code as the one before", 0},
        {"commits", OPT_COMMITS, "N", 0,
                "Measure at most the newest N revisions (default: 10; with --since: all)", 0},
        {"every", OPT_EVERY, "K", 0, "Measure only every K-th revision", 0},
        {"export", OPT_EXPORT, "FILE", 0,
                "Build these revisions, measure nothing, and pack them into FILE (.tar.zst) for "
                "another machine",
                0},
        {"import", OPT_IMPORT, "FILE", 0,
                "Measure the revisions in FILE; needs neither the repository nor a compiler", 0},
        {"no-site", OPT_NO_SITE, NULL, 0, "Do not write the site", 0},
        {"since", OPT_SINCE, "TIME", 0, "Measure only revisions newer than TIME: 30d, 2026-08-01",
                0},
        {0},
};

static size_t parse_count(const char *arg, const char *option, struct argp_state *state)
{
	return (size_t)tk_option_parse_quantity(TK_QUANTITY_COUNT, arg, option, 1, 1e6, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case OPT_CHANGED_CODE:
		o->changed_code = true;
		return 0;
	case OPT_COMMITS:
		o->commits = parse_count(arg, "commits", state);
		return 0;
	case OPT_EVERY:
		o->every = parse_count(arg, "every", state);
		return 0;
	case OPT_SINCE:
		o->since = arg;
		return 0;
	case OPT_NO_SITE:
		o->no_site = true;
		return 0;
	case OPT_EXPORT:
		o->export_file = arg;
		return 0;
	case OPT_ARCH:
		o->arch = arg;
		return 0;
	case OPT_IMPORT:
		o->import_file = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->upstream)
			argp_error(state, "unexpected argument \"%s\"; expected one UPSTREAM", arg);
		o->upstream = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->upstream)
			argp_error(state,
			        "missing UPSTREAM; expected one of `upstreams` in tracker.yml");
		if (o->export_file && o->import_file)
			argp_error(state, "--export and --import exclude each other");
		if (o->arch && !o->export_file)
			argp_error(state,
			        "--arch needs --export; builds measured here are for this machine");
		if (o->export_file && o->changed_code)
			argp_error(state, "--export and --changed-code exclude each other");
		if (o->import_file && (o->commits || o->every || o->since))
			argp_error(state, "--import excludes --commits, --every and --since");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp tk_argp_backfill = {
        .options = options_table,
        .parser = parse,
        .args_doc = "UPSTREAM",
        .doc = "Measure past revisions of an upstream, oldest first. Each is a night of its own, "
               "dated by its commit.\v"
               "Revisions that this machine has measured are skipped, so a stopped backfill "
               "continues when it is run again. Revisions that do not build are left out of "
               "--export and named on stderr (exit code 3).\n\n"
               "Examples:\n"
               "  tracker backfill self --commits=10\n"
               "  tracker backfill openblas-develop --since=90d --every=5\n"
               "  tracker backfill self --arch=sm_90a --export=past.tar.zst    # on the build "
               "host\n"
               "  tracker backfill self --import=past.tar.zst                  # on the machine "
               "that measures",
};

static int build_only(const struct tk_config *config, const struct options *o,
        const struct tk_backfill_options *backfill)
{
	struct tk_backfill_build_report built;
	struct tk_error err = {0};
	if (tk_backfill_export(config, backfill, o->export_file, &built, &err))
		return tk_command_fail("backfill", &err);
	printf("backfill: packed %zu of %zu revision%s of %s into %s (%zu from the cache, %zu "
	       "failed)\n",
	        built.built, built.revisions, built.revisions == 1 ? "" : "s", o->upstream,
	        o->export_file, built.cached, built.failed);
	return built.failed ? TK_EXIT_INCOMPLETE : TK_EXIT_OK;
}

static int measure(const struct tk_globals *g, const struct tk_config *config,
        struct tk_store *store, const struct options *o, const struct tk_backfill_options *backfill)
{
	struct tk_error err = {0};
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_publisher publisher = tk_site_publisher(config);
	struct tk_night_options night = {.program = g->program,
	        .observer = tk_progress_observer(progress),
	        .publisher = o->no_site ? NULL : &publisher,
	        .import_file = o->import_file};
	struct tk_night_report report;
	int status = tk_backfill_run(config, store, &night, backfill, &report, &err);

	tk_progress_free(progress);
	if (status == TK_ECANCELED)
		tk_fail(&err, TK_ECANCELED,
		        "stopped; finished nights are kept, the same command continues");
	else if (status == TK_ENOSPC || status == TK_EBUSY)
		tk_fail(&err, status, "%s; finished nights are kept, the same command continues",
		        err.message);
	if (status)
		return tk_command_fail("backfill", &err);
	char same_code[96] = "";
	if (report.same_code)
		snprintf(same_code, sizeof same_code,
		        "; %zu more with the same machine code as the one before",
		        report.same_code);
	if (!report.nights) {
		printf("%s: nothing left to measure%s\n", o->upstream, same_code);
		return TK_EXIT_OK;
	}
	printf("backfill: %zu revision%s of %s%s\n", report.nights, report.nights == 1 ? "" : "s",
	        o->upstream, same_code);
	tk_night_report_print(store, &report);
	return tk_night_report_exit_code(&report, NULL);
}

int tk_cmd_backfill(const struct tk_globals *g, int argc, char **argv)
{
	struct options o = {0};
	struct tk_error err = {0};
	struct tk_config *config = NULL;
	struct tk_store *store = NULL;
	struct tk_backfill_options backfill = {0};

	tk_command_parse(&tk_argp_backfill, argc, argv, &o);
	if (o.since && tk_when_parse(o.since, tk_clock_now_s(), false, &backfill.since_s, &err)) {
		tk_error_add_context(&err, "--since");
		return tk_command_fail("backfill", &err);
	}
	backfill.upstream = o.upstream;
	backfill.commits = o.commits ? o.commits : o.since ? 0 : 10;
	backfill.every = o.every;
	backfill.changed_code = o.changed_code;
	backfill.arch = o.arch;
	/* Building needs no history. */
	int code = tk_command_open(
	        g, "backfill", o.export_file ? -1 : TK_STORE_CREATE, &config, &store);

	if (code != TK_EXIT_OK)
		return code;
	if (tk_survey_apply_defaults(g, &config, &err)) {
		code = tk_command_fail("backfill", &err);
	} else {
		tk_cancel_install_handlers();
		code = o.export_file ? build_only(config, &o, &backfill)
		                     : measure(g, config, store, &o, &backfill);
	}
	tk_command_close(config, store);
	return code;
}
