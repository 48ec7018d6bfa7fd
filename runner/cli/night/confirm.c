/* `tracker confirm`: compares an old and a new build of a series by A/B runs, now. */
#include "base/clock.h"
#include "base/error.h"
#include "base/present.h"
#include "base/process.h"
#include "base/try.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "config/config.h"
#include "decide/rules/ab_result.h"
#include "nightly/compare/ab_compare.h"
#include "nightly/nightly.h"
#include "store/store.h"

static struct {
	const char *series; /* or an alert */
	const char *good, *bad;
	int64_t budget_s;
} o;

static const struct tk_option options[] = {
        {TK_OPT_TEXT("bad", 'b', "REVISION", &o.bad,
                 "Measure REVISION as the new build; needs --good (default: the newest measured "
                 "one)"),
                .needs = "good"},
        {TK_OPT_NUMBER("budget", 't', "TIME", TK_QUANTITY_DURATION, 0, 1e9, &o.budget_s,
                "Spend at most TIME, for instance 10m (default: no limit, at most 256 pairs)")},
        {TK_OPT_TEXT("good", 'g', "REVISION", &o.good,
                "Measure REVISION as the old build (default: the last one before the reported "
                "change)")},
        {TK_OPT_ARGUMENT(&o.series, "missing SERIES or ALERT")},
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
	TRY(tk_series_ref_resolve(g->store, o.series, &named, err));
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_options night = {
	        .program = g->program, .observer = tk_progress_observer(progress)};
	struct tk_confirm_request q = {.series_id = named.series_id,
	        .rev = {o.good, o.bad},
	        .budget_s = (double)o.budget_s};
	int status = tk_confirm_run(g->config, g->store, &night, &q, &report, err);
	tk_progress_free(progress);
	return status ? status : show(&report);
}

const struct tk_command tk_command_confirm = {.name = "confirm",
        .summary = "compare an old and a new build of a series by A/B runs",
        .usage = {.options = options,
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
