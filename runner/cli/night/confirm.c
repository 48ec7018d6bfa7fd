/* `tracker confirm`: compares an old and a new build of a series by A/B runs, now. */
#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "base/process.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/range_options.h"
#include "cli/series_ref.h"
#include "config/config.h"
#include "detect/rules/ab_result.h"
#include "nightly/compare/ab_compare.h"
#include "store/store.h"

static const struct argp_option options_table[] = {
        {"bad", TK_OPT_BAD, "REVISION", 0,
                "Measure REVISION as the new build; needs --good (default: the newest measured "
                "one)",
                0},
        {"budget", TK_OPT_BUDGET, "TIME", 0,
                "Spend at most TIME, for instance 10m (default: no limit, at most 256 pairs)", 0},
        {"good", TK_OPT_GOOD, "REVISION", 0,
                "Measure REVISION as the old build (default: the last one before the reported "
                "change)",
                0},
        {0},
};

const struct argp tk_argp_confirm = {
        .options = options_table,
        .parser = tk_range_options_parse,
        .args_doc = "SERIES|ALERT",
        .doc = "Compare an old and a new build of a series by A/B runs: alternating, in fresh "
               "processes, until the result is conclusive. Then analyse its night again. `tracker "
               "nightly` does this by itself for suspected changes.\v"
               "SERIES is a name, or a part of one that only one series has. The series must have "
               "been measured on this machine, and both builds must be in the cache. Pairs are "
               "kept: the same command continues after an interruption.\n\n"
               "Exit code: 0 no regression, 1 the new build is slower, 3 inconclusive, or stored "
               "but not analysed.\n\n"
               "Examples:\n"
               "  tracker confirm 'box.cpu.self.cpu.gemm-f32-512*'\n"
               "  tracker confirm gemm-f32-512 --good=0123abcd --budget=5m",
};

static int show(const struct tk_confirm_report *r)
{
	char text[TK_AB_RESULT_TEXT_SIZE], took[48], night[TK_FORMAT_SIZE];
	printf("%s\n  new %.12s, old %.12s: ", r->series, r->rev[TK_AB_HEAD],
	        r->rev[TK_AB_BASE]);
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

int tk_cmd_confirm(const struct tk_globals *g, int argc, char **argv)
{
	struct tk_range_options o = {0};
	struct tk_error err = {0};
	struct tk_config *config = NULL;
	struct tk_store *store = NULL;
	struct tk_series_ref named;
	struct tk_confirm_report report;
	tk_command_parse(&tk_argp_confirm, argc, argv, &o);
	if (o.bad && !o.good) {
		tk_fail(&err, TK_EUSAGE, "--bad=%s needs --good=REVISION", o.bad);
		return tk_command_fail("confirm", &err);
	}
	int code = tk_command_open(g, "confirm", TK_STORE_WRITE, &config, &store);
	if (code != TK_EXIT_OK)
		return code;
	tk_cancel_install_handlers();
	int status = tk_series_ref_resolve(store, o.series, &named, &err);
	if (!status) {
		struct tk_progress *progress = tk_progress_new(g);
		struct tk_night_options night = {
		        .program = g->program, .observer = tk_progress_observer(progress)};
		struct tk_confirm_request q = {.series_id = named.series_id,
		        .rev = {o.good, o.bad},
		        .budget_s = (double)o.budget_s};
		status = tk_confirm_run(config, store, &night, &q, &report, &err);
		tk_progress_free(progress);
	}
	code = status ? tk_command_fail("confirm", &err) : show(&report);
	tk_command_close(config, store);
	return code;
}
