/* `tracker detect`: analyses stored nights: imported ones, merged ones, or all with other
 * thresholds. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/try.h"
#include "base/units.h"
#include "cli/commands.h"
#include "nightly/stages/detect_policy.h"
#include "store/lock.h"
#include "store/store.h"

#define DEFAULT_DAYS 30

static struct tk_detect_replay replay = {.days = DEFAULT_DAYS};
static bool all;

static int parse_since(const char *text, void *to, struct tk_error *err)
{
	int64_t age_s;

	if (tk_units_parse_seconds(text, &age_s, NULL) == 0)
		replay.days = age_s / 86400;
	else if (tk_time_parse(text, &replay.since_s, NULL) || !replay.since_s)
		return tk_fail(err, TK_EUSAGE, "expected a duration (90d) or a time (2026-11-21)");
	return TK_OK;
}

static const struct tk_option options[] = {
        {TK_OPT_FLAG("all", 'a', &all, "Analyse all nights")},
        {TK_OPT_PARSED("since", 's', "TIME", parse_since, &replay,
                "Analyse the nights since a date (2026-11-21), or of the last days of each "
                "machine (90d; default: 30d)")},
        {0},
};

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
static int detect(struct tk_config *config, struct tk_store *store, struct tk_error *err)
{
	struct tk_detect_replay_counts counts;
	AUTO(tk_detect_policy) policy = {0};
	struct tk_lock *lock = NULL;
	int status = tk_detect_policy_load(config, NULL, &policy, err);

	if (!status)
		status = tk_store_lock(tk_store_path(store), &lock, err);
	if (!status)
		status = tk_detect_replay(store, &policy.options, &replay, &counts, err);
	if (!status)
		print_counts(&counts);
	tk_lock_release(lock);
	return status;
}

static int run_detect(struct tk_globals *g, struct tk_error *err)
{
	if (all)
		replay.since_s = INT64_MIN;
	return detect(g->config, g->store, err);
}

const struct tk_command tk_command_detect = {.name = "detect",
        .summary = "analyse stored nights: imported, merged, or with other thresholds",
        .usage = {.options = options,
                .help = "Analyse stored nights, oldest first, as if each had just ended: "
                        "verdicts, alerts, change points.\v"
                        "`tracker nightly` does this at its end. Imported and merged nights wait "
                        "for this command, and so do nights whose thresholds have changed. "
                        "Existing pages keep the verdicts of their time: `tracker site --full` "
                        "regenerates them.\n\n"
                        "Examples:\n"
                        "  tracker import asv results/ --upstream=numpy && tracker detect\n"
                        "  tracker detect --since=90d\n"
                        "  tracker detect --all"},
        .opens = TK_OPENS_WRITE,
        .run = run_detect};
