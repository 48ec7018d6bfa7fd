/* `tracker detect`: analyses stored nights: imported ones, merged ones, or all with other
 * thresholds. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/commands.h"
#include "nightly/stages/detect_policy.h"
#include "store/lock.h"
#include "store/store.h"

#define DEFAULT_DAYS 30

static const struct argp_option options[] = {
        {"all", 'a', NULL, 0, "Analyse all nights", 0},
        {"since", 's', "TIME", 0,
                "Analyse the nights since a date (2026-11-21), or of the last days of each machine "
                "(90d; default: 30d)",
                0},
        {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct tk_detect_replay *o = state->input;
	int64_t age_s;

	switch (key) {
	case 's':
		if (tk_units_parse_seconds(arg, &age_s, NULL) == 0)
			o->days = age_s / 86400;
		else if (tk_time_parse(arg, &o->since_s, NULL) || !o->since_s)
			argp_error(state,
			        "--since=%s: expected a duration (90d) or a time (2026-11-21)",
			        arg);
		return 0;
	case 'a':
		o->since_s = INT64_MIN;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument \"%s\"", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp tk_argp_detect = {options, parse_option, NULL,
        "Analyse stored nights, oldest first, as if each had just ended: verdicts, alerts, change "
        "points.\v"
        "`tracker nightly` does this at its end. Imported and merged nights wait for this command, "
        "and so do nights "
        "whose thresholds have changed. Existing pages keep the verdicts of their time: `tracker "
        "site --full` regenerates them.\n\n"
        "Examples:\n"
        "  tracker import asv results/ --upstream=numpy && tracker detect\n"
        "  tracker detect --since=90d\n"
        "  tracker detect --all"};

static void print_counts(const struct tk_detect_replay_counts *c)
{
	static const enum tk_verdict_status statuses[] = {TK_VERDICT_REGRESSED,
	        TK_VERDICT_NEWLY_FAILED, TK_VERDICT_IMPROVED, TK_VERDICT_RECOVERED,
	        TK_VERDICT_FIXED};

	printf("detect: analysed %zu night%s of %zu machine%s, searched %zu series for change "
	       "points:",
	        c->nights, c->nights == 1 ? "" : "s", c->machines, c->machines == 1 ? "" : "s",
	        c->series);
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
		printf("%s %zu %s", i ? "," : "", c->by_status[statuses[i]],
		        tk_verdict_status_name(statuses[i]));
	putchar('\n');
}

/* Takes the lock of the history, because a running night analyses it too. */
static int detect(struct tk_config *config, struct tk_store *store,
        const struct tk_detect_replay *replay, struct tk_error *err)
{
	struct tk_detect_replay_counts counts;
	struct tk_detect_policy policy;
	struct tk_lock *lock = NULL;
	int status = tk_detect_policy_load(config, NULL, &policy, err);

	if (!status)
		status = tk_store_lock(tk_store_path(store), &lock, err);
	if (!status)
		status = tk_detect_replay(store, &policy.options, replay, &counts, err);
	if (!status)
		print_counts(&counts);
	tk_lock_release(lock);
	tk_detect_policy_free(&policy);
	return status;
}

int tk_cmd_detect(const struct tk_globals *g, int argc, char **argv)
{
	struct tk_detect_replay replay = {.days = DEFAULT_DAYS};
	struct tk_config *config = NULL;
	struct tk_store *store = NULL;
	struct tk_error err = {0};
	int code;

	tk_command_parse(&tk_argp_detect, argc, argv, &replay);
	code = tk_command_open(g, "detect", TK_STORE_WRITE, &config, &store);
	if (code)
		return code;
	if (detect(config, store, &replay, &err))
		code = tk_command_fail("detect", &err);
	tk_command_close(config, store);
	return code;
}
