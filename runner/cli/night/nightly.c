/* `tracker nightly`: one night, from the newest revisions to the site. */
#include "base/base.h"
#include "base/process.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/host/survey.h"
#include "cli/night/night_report.h"
#include "config/config.h"
#include "config/suite.h"
#include "core/night.h"
#include "core/vocabulary.h"
#include "nightly/stages/detect_policy.h"
#include "store/store.h"

/* ---- tracker nightly ------------------------------------------------------------------------- */

static struct {
	bool resume, no_site, split, dry_run;
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
        {TK_OPT_FLAG("dry-run", 0, &o.dry_run,
                 "List the revisions and what building and measuring them takes; do nothing else"),
                .excludes = "resume import"},
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
	struct tk_night_publisher publisher = {
	        .arg = g->config, .publish = tk_night_report_publish};
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
	tk_night_report_print(g->store, &report);
	tk_status_set_default(&o.fail_on, g->config->fail_on);
	return tk_night_report_exit_code(&report, &o.fail_on);
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
	if (o.dry_run)
		return tk_night_plan_print_newest(g, o.only, err);
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
