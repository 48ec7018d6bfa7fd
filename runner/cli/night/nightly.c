/* `tracker nightly`: one night, from the newest revisions to the site. */
#include "nightly/nightly.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/process.h"
#include "cli/commands.h"
#include "cli/host/survey.h"
#include "cli/night/publish.h"
#include "cli/night/report.h"
#include "cli/progress.h"
#include "config/config.h"
#include "core/night.h"
#include "nightly/stages/detect_policy.h"
#include "store/store.h"
#include "suite/rotation.h"
#include <stdlib.h>
#include <string.h>

enum {
	OPT_RESUME = 'r',
	OPT_ONLY = 'u',
	OPT_NO_SITE = 0x100,
	OPT_FAIL_ON,
	OPT_SEED,
	OPT_DEVICES,
	OPT_SPLIT,
	OPT_PART,
	OPT_IMPORT
};

struct options {
	bool resume, no_site, split;
	const char *only, *fail_on, *import_file;
	char **devices; /* NULL: as configured */
	uint32_t part, parts;
	unsigned long long seed;
};

static const struct argp_option options_table[] = {
        {"devices", OPT_DEVICES, "LIST", 0,
                "Measure on these devices instead of the configured ones: all, kinds (cuda), one "
                "of a kind (cuda:0), GPUs by number (0,2) or UUIDs",
                0},
        {"fail-on", OPT_FAIL_ON, "STATUS,...", 0,
                "Exit with 1 if a series has one of these statuses (default: as configured); none: "
                "never",
                0},
        {"import", OPT_IMPORT, "FILE", 0,
                "Measure exactly the builds of FILE, made by `tracker build --export`; use no "
                "network and no compiler",
                0},
        {"no-site", OPT_NO_SITE, NULL, 0, "Do not write the site", 0},
        {"part", OPT_PART, "K/N", 0,
                "Measure the K-th of N parts of the problems; other machines measure the others. A "
                "problem stays in its part",
                0},
        {"resume", OPT_RESUME, NULL, 0,
                "Resume the newest night that was stopped (Ctrl-C, kill -9, power failure)", 0},
        {"seed", OPT_SEED, "N", 0,
                "Seed the order of the jobs with N, to repeat the order of a night", 0},
        {"split", OPT_SPLIT, NULL, 0,
                "Share the problems among identical devices instead of measuring all on each", 0},
        {"upstream", OPT_ONLY, "NAME", 0, "Measure only this upstream, and the control", 0},
        {0},
};

/* "a,b" as a NULL-terminated list. */
static char **split_list(const char *text)
{
	size_t count = 1, n = 0;
	for (const char *c = text; *c; c++)
		count += *c == ',';
	char **parts = tk_calloc(count + 1, sizeof *parts);
	for (const char *at = text; parts && n < count; n++) {
		size_t len = strcspn(at, ",");
		parts[n] = tk_strndup(at, len);
		at += len + (at[len] == ',');
	}
	return parts;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	switch (key) {
	case OPT_RESUME:
		o->resume = true;
		return 0;
	case OPT_ONLY:
		o->only = arg;
		return 0;
	case OPT_NO_SITE:
		o->no_site = true;
		return 0;
	case OPT_FAIL_ON:
		o->fail_on = arg;
		return 0;
	case OPT_IMPORT:
		o->import_file = arg;
		return 0;
	case OPT_SPLIT:
		o->split = true;
		return 0;
	case OPT_PART:
		if (!tk_part_parse(arg, &o->part, &o->parts))
			argp_error(state, "--part=%s: expected K/N with 1 <= K <= N <= %d", arg,
			        TK_NIGHT_PARTS_MAX);
		return 0;
	case OPT_DEVICES:
		tk_fail_on_free(o->devices);
		o->devices = split_list(arg);
		return 0;
	case OPT_SEED: {
		char *end;
		o->seed = strtoull(arg, &end, 0);
		if (*end || end == arg)
			argp_error(state, "--seed=%s: expected a number", arg);
		return 0;
	}
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp tk_argp_nightly = {
        .options = options_table,
        .parser = parse,
        .doc = "Build the newest revision of every upstream, measure the suites, verify every "
               "result, store it, find what changed, and write the site.\v"
               "A stopped night keeps what was measured. --resume continues it with the --devices, "
               "--part, --split, --upstream, --import and --seed of its start; other values are an "
               "error. "
               "A stopped night that is "
               "not resumed is closed by the next one.\n\n"
               "Ctrl-C ends a night cleanly: only the running job is lost. A second Ctrl-C ends "
               "the program at "
               "once.\n\n"
               "Exit code: 0 done, 1 a series has a status of --fail-on, 3 something failed (it is "
               "a row of the "
               "night), 4 could not finish.\n\n"
               "Examples:\n"
               "  tracker nightly\n"
               "  tracker nightly --resume\n"
               "  tracker nightly --upstream=openblas --fail-on=regressed,newly-failed",
};

/* Adds how to go on. A night without an id has not begun. */
static void explain_stop(int status, const struct tk_night_report *report, struct tk_error *err)
{
	if (status == TK_ECANCELED)
		tk_fail(err, status, "stopped");
	if (report->is_stored)
		tk_fail(err, status,
		        "%s; the night is stored as a whole, `tracker site` writes the site",
		        err->message);
	else if (report->night_id &&
	         (status == TK_ECANCELED || status == TK_ENOSPC || status == TK_EBUSY))
		tk_fail(err, status,
		        "%s; results so far are kept, `tracker nightly --resume` continues",
		        err->message);
}

/* `fail_on`: of the command line, else of the configuration. */
static int run_night(const struct tk_globals *g, const struct options *o, struct tk_config *config,
        struct tk_store *store, char *const *fail_on)
{
	struct tk_error err = {0};
	struct tk_night_report report;
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_publisher publisher = tk_site_publisher(config);
	struct tk_night_options night = {.program = g->program,
	        .observer = tk_progress_observer(progress),
	        .resume = o->resume,
	        .devices = o->devices,
	        .split = o->split,
	        .import_file = o->import_file,
	        .publisher = o->no_site ? NULL : &publisher,
	        .part = o->part,
	        .parts = o->parts,
	        .only_upstream = o->only,
	        .seed = o->seed};
	tk_cancel_install_handlers();
	int status = tk_night_run(config, store, &night, &report, &err);
	tk_progress_free(progress);
	if (status) {
		explain_stop(status, &report, &err);
		return tk_command_fail("nightly", &err);
	}
	tk_night_report_print(store, &report);
	return tk_night_report_exit_code(&report, fail_on);
}

/* acks.yml is read again after the measuring; report a mistake in it before. */
static int check_acks(const struct tk_config *config, struct tk_error *err)
{
	struct tk_detect_policy policy;
	int status = tk_detect_policy_load(config, NULL, &policy, err);
	tk_detect_policy_free(&policy);
	return status;
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
	static const char *const kinds[] = {"cuda", "hip"};
	struct tk_modules *modules = NULL;
	if (tk_modules_load(g->program, &modules, NULL))
		return;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct tk_buf why = TK_BUF_INIT;
		if (tk_modules_find_device(modules, kinds[i]) || !tk_gpu_is_present(kinds[i]))
			continue;
		tk_gpu_explain_missing(modules, kinds[i], &why);
		tk_log(TK_LOG_WARN, "gpu", NULL, "%s", tk_buf_cstr(&why));
		tk_buf_free(&why);
	}
	tk_modules_free(modules);
}

int tk_cmd_nightly(const struct tk_globals *g, int argc, char **argv)
{
	struct options o = {0};
	struct tk_error err = {0};
	struct tk_config *config = NULL;
	struct tk_store *store = NULL;
	char **fail_on = NULL;
	tk_command_parse(&tk_argp_nightly, argc, argv, &o);
	if (o.fail_on && tk_fail_on_parse(o.fail_on, &fail_on, &err))
		return tk_command_fail("nightly", &err);
	int code = tk_command_open(
	        g, "nightly", o.resume ? TK_STORE_WRITE : TK_STORE_CREATE, &config, &store);
	if (code == TK_EXIT_OK && tk_survey_apply_defaults(g, &config, &err))
		code = tk_command_fail("nightly", &err);
	if (code == TK_EXIT_OK)
		warn_about_unmeasured_gpus(g);
	if (code == TK_EXIT_OK &&
	        (check_upstream(config, o.only, &err) || check_acks(config, &err)))
		code = tk_command_fail("nightly", &err);
	else if (code == TK_EXIT_OK)
		code = run_night(g, &o, config, store, fail_on ? fail_on : config->fail_on);
	tk_fail_on_free(fail_on);
	tk_fail_on_free(o.devices);
	tk_command_close(config, store);
	return code;
}
