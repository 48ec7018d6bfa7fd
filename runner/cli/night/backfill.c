/* `tracker backfill`: measures past revisions, a night for each. */
#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "base/try.h"
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

static struct {
	const char *upstream, *since, *export_file, *import_file, *arch;
	size_t commits, every;
	bool changed_code, no_site;
} o;

static const struct tk_option options[] = {
        {TK_OPT_TEXT("arch", 0, "ARCH", &o.arch,
                 "With --export: build for ARCH, as `tracker build --arch` (native, sm_90a, "
                 "gfx942)"),
                .needs = "export"},
        {TK_OPT_FLAG("changed-code", 0, &o.changed_code,
                "Do not measure revisions with the same machine code as the one before")},
        {TK_OPT_COUNT("commits", 0, "N", 1, 1e6, &o.commits,
                "Measure at most the newest N revisions (default: 10; with --since: all)")},
        {TK_OPT_COUNT("every", 0, "K", 1, 1e6, &o.every, "Measure only every K-th revision")},
        {TK_OPT_TEXT("export", 0, "FILE", &o.export_file,
                 "Build these revisions, measure nothing, and pack them into FILE (.tar.zst) "
                 "for another machine"),
                .excludes = "import changed-code"},
        {TK_OPT_TEXT("import", 0, "FILE", &o.import_file,
                 "Measure the revisions in FILE; needs neither the repository nor a compiler"),
                .excludes = "commits every since"},
        {TK_OPT_FLAG("no-site", 0, &o.no_site, "Do not write the site")},
        {TK_OPT_TEXT("since", 's', "TIME", &o.since,
                "Measure only revisions newer than TIME: 30d, 2026-08-01")},
        {TK_OPT_ARGUMENT(
                &o.upstream, "missing UPSTREAM; expected one of `upstreams` in tracker.yml")},
        {0},
};

static int build_only(const struct tk_globals *g, const struct tk_backfill_options *backfill,
        struct tk_error *err)
{
	struct tk_backfill_build_report built;

	TRY(tk_backfill_export(g->config, backfill, o.export_file, &built, err));
	printf("backfill: packed %zu of %zu revision%s of %s into %s (%zu from the cache, %zu "
	       "failed)\n",
	        built.built, built.revisions, built.revisions == 1 ? "" : "s", o.upstream,
	        o.export_file, built.cached, built.failed);
	return built.failed ? TK_EXIT_INCOMPLETE : TK_EXIT_OK;
}

static int measure(const struct tk_globals *g, const struct tk_backfill_options *backfill,
        struct tk_error *err)
{
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_publisher publisher = tk_site_publisher(g->config);
	struct tk_night_options night = {.program = g->program,
	        .observer = tk_progress_observer(progress),
	        .publisher = o.no_site ? NULL : &publisher,
	        .import_file = o.import_file};
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
		printf("%s: nothing left to measure%s\n", o.upstream, same_code);
		return TK_EXIT_OK;
	}
	printf("backfill: %zu revision%s of %s%s\n", report.nights, report.nights == 1 ? "" : "s",
	        o.upstream, same_code);
	tk_night_report_print(g->store, &report);
	return tk_night_report_exit_code(&report, NULL);
}

static int run_backfill(struct tk_globals *g, struct tk_error *err)
{
	struct tk_backfill_options backfill = {.upstream = o.upstream,
	        .commits = o.commits ? o.commits
	                   : o.since ? 0
	                             : 10,
	        .every = o.every,
	        .changed_code = o.changed_code,
	        .arch = o.arch};

	if (o.since && tk_when_parse(o.since, tk_clock_now_s(), false, &backfill.since_s, err))
		return tk_error_add_context(err, "--since");
	/* Building needs no history. */
	TRY(tk_command_open(g, o.export_file ? TK_OPENS_CONFIG : TK_OPENS_CREATE, err));
	TRY(tk_survey_apply_defaults(g, &g->config, err));
	tk_cancel_install_handlers();
	return o.export_file ? build_only(g, &backfill, err) : measure(g, &backfill, err);
}

const struct tk_command tk_command_backfill = {.name = "backfill",
        .summary = "measure past revisions of an upstream",
        .usage = {.options = options,
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
