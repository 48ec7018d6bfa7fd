/* The history as a whole: `tracker db`, `machine` and `detect`. */
#include "cli/commands.h"
#include "cli/table.h"
#include "config/config.h"
#include "nightly/stages/detect_policy.h"
#include "store/store.h"

static struct {
	const char *action, *file, *output, *drop_older;
} opt;

static const struct tk_option options[] = {
        {TK_OPT_TEXT("drop-samples-older", 'd', "AGE", &opt.drop_older,
                "vacuum: also drop the raw samples of runs older than AGE (90d, 2w); summaries "
                "stay")},
        {TK_OPT_TEXT("output", 'o', "FILE", &opt.output,
                "export: write to FILE instead of the standard output")},
        {TK_OPT_ARGUMENT(
                &opt.action, "missing action; expected check, backup, vacuum, export or migrate")},
        {TK_OPT_ARGUMENT(&opt.file, NULL)},
        {0},
};

/* Prints the problems to stdout and the advice for a damaged file to stderr. */
static int print_problems(const struct tk_rows *problems, const char *path, bool damaged)
{
	for (size_t i = 0; i < problems->count; i++)
		tk_print_line(stdout, "%s", *TK_ROWS_AT(problems, char *, i));
	fflush(stdout);
	if (damaged)
		fprintf(stderr,
		        "tracker db check: keep %s unchanged. Restore the newest copy of `tracker "
		        "db backup`, then merge what can still be read of the damaged file into "
		        "it: docs/reference/history.md, Damage\n",
		        path);
	return problems->count ? TK_EXIT_FOUND : TK_EXIT_OK;
}

/* The file cannot be opened, and the reason was printed: print which pages are damaged. */
static int diagnose(const struct tk_globals *g)
{
	AUTO(tk_rows) problems = {0};
	const char *path = !g->config ? NULL : g->db_path ? g->db_path : g->config->db;

	return path && !tk_store_diagnose_file(path, &problems, NULL) && problems.count
	               ? print_problems(&problems, path, true)
	               : TK_EXIT_OK;
}

static int check(struct tk_globals *g, struct tk_error *err)
{
	AUTO(tk_rows) problems = {0};

	TRY(tk_store_check(g->store, &problems, err));
	if (!problems.count)
		printf("%s: no damage found\n", tk_store_path(g->store));
	return print_problems(&problems, tk_store_path(g->store), tk_store_is_damaged(g->store));
}

static int backup(struct tk_globals *g, struct tk_error *err)
{
	TRY(tk_store_backup(g->store, opt.file, err));
	TRY(tk_signature_write(g->config->signing.key, opt.file, err));
	printf("%s: copied to %s\n", tk_store_path(g->store), opt.file);
	return TK_EXIT_OK;
}

static int vacuum(struct tk_globals *g, struct tk_error *err)
{
	int64_t age_s, before_s = INT64_MIN;

	if (opt.drop_older) {
		if (tk_units_parse_seconds(opt.drop_older, &age_s, err)) {
			tk_error_add_context(err, "--drop-samples-older");
			return err->status = TK_EUSAGE;
		}
		before_s = tk_clock_now_s() - age_s;
	}
	TRY(tk_store_vacuum(g->store, before_s, err));
	printf("%s: vacuumed\n", tk_store_path(g->store));
	return TK_EXIT_OK;
}

static int export(struct tk_globals *g, struct tk_error *err)
{
	struct tk_command_output out;

	TRY(tk_command_open_output(&out, opt.output, err));
	return tk_command_close_output(&out, tk_store_export(g->store, out.fd, err), err);
}

/* Opening the store for writing has migrated it. */
static int migrate(struct tk_globals *g, struct tk_error *err)
{
	printf("%s: is up to date (history version %d)\n", tk_store_path(g->store),
	        TK_STORE_SCHEMA);
	return TK_EXIT_OK;
}

static const struct {
	const char *name;
	enum tk_opens opens;
	bool takes_file;
	int (*run)(struct tk_globals *g, struct tk_error *err);
} actions[] = {
        {"check", TK_OPENS_READ, false, check},
        {"backup", TK_OPENS_READ, true, backup},
        {"vacuum", TK_OPENS_WRITE, false, vacuum},
        {"export", TK_OPENS_READ, false, export},
        {"migrate", TK_OPENS_WRITE, false, migrate},
};

static int run_db(struct tk_globals *g, struct tk_error *err)
{
	const int a = TK_FIND_ACTION(actions, opt.action, err);

	if (a < 0)
		return a;
	if (actions[a].takes_file != (opt.file != NULL))
		return tk_fail(err, TK_EUSAGE,
		        actions[a].takes_file ? "%s: missing FILE" : "%s: unexpected argument",
		        opt.action);
	if ((opt.output && actions[a].run != export) ||
	        (opt.drop_older && actions[a].run != vacuum))
		return tk_fail(err, TK_EUSAGE, "%s: this option belongs to %s", opt.action,
		        opt.output ? "export" : "vacuum");
	int status = tk_command_open(g, actions[a].opens, err);
	if (!status)
		return actions[a].run(g, err);
	int code = actions[a].run == check ? diagnose(g) : TK_EXIT_OK;
	return code ? code : status;
}

const struct tk_command tk_command_db = {.name = "db",
        .summary = "check, back up, shrink or export the history",
        .usage = {.options = options,
                .arguments = "check\nbackup FILE\nvacuum\nexport\nmigrate",
                .help = "Check, back up, shrink or export the history.\v"
                        "  check     find damage and rows edited by hand; exit code 1 if any\n"
                        "  backup    write a consistent copy to FILE, even during a night\n"
                        "  vacuum    return unused space to the file system\n"
                        "  export    write everything as JSON lines, in a stable order\n"
                        "  migrate   upgrade a history of an older tracker; keeps a copy\n\n"
                        "Examples:\n"
                        "  tracker db check\n"
                        "  tracker db backup /mnt/backup/tracker.db\n"
                        "  tracker db vacuum --drop-samples-older=90d\n"
                        "  tracker db export --output=history.jsonl"},
        .run = run_db};

/* ---- machines -------------------------------------------------------------------------------- */

static struct {
	const char *action, *old_name, *new_name;
	bool json;
} machine_opt;

static const struct tk_option machine_options[] = {
        {TK_OPT_JSON(&machine_opt.json, "list: print text (default) or JSON")},
        {TK_OPT_ARGUMENT(&machine_opt.action, NULL)},
        {TK_OPT_ARGUMENT(&machine_opt.old_name, NULL)},
        {TK_OPT_ARGUMENT(&machine_opt.new_name, NULL)},
        {0},
};

static const char list_sql[] =
        "SELECT name, (SELECT count(*) FROM device WHERE machine_id = m.id) AS devices,"
        "  (SELECT count(*) FROM series_v WHERE machine_id = m.id) AS series,"
        "  (SELECT count(*) FROM night WHERE machine_id = m.id) AS nights,"
        "  (SELECT max(as_of_s) FROM night WHERE machine_id = m.id) AS \"newest:time\""
        " FROM machine m ORDER BY m.name";

static const struct tk_column columns[] = {
        {"MACHINE", TK_COLUMN_CUT, "name"},
        {"DEVICES", TK_COLUMN_RIGHT, "devices"},
        {"SERIES", TK_COLUMN_RIGHT, "series"},
        {"NIGHTS", TK_COLUMN_RIGHT, "nights"},
        {"NEWEST", TK_COLUMN_LEFT, "newest", TK_SHOW_DAY},
        {0},
};

static int list_machines(struct tk_globals *g, struct tk_error *err)
{
	json_auto_t *rows = NULL;

	if (machine_opt.old_name)
		return tk_fail(
		        err, TK_EUSAGE, "list: unexpected argument \"%s\"", machine_opt.old_name);
	TRY(tk_command_open(g, TK_OPENS_READ, err));
	TRY(tk_records_select(g->store, list_sql, TK_NO_ARGS, &rows, err));
	return tk_records_print(g, columns, json_incref(rows), machine_opt.json, err);
}

static int check_known(struct tk_store *s, const char *name, struct tk_error *err)
{
	json_auto_t *rows = NULL;
	int64_t known;

	TRY(tk_store_select_int(
	        s, "SELECT count(*) FROM machine WHERE name = ?1", TK_ARGS(name), 0, &known, err));
	if (known)
		return TK_OK;
	TRY(tk_records_select(s, "SELECT name FROM machine ORDER BY name", TK_NO_ARGS, &rows, err));
	return tk_records_fail_unknown(rows, "name", name, "unknown machine",
	        json_array_size(rows) ? NULL : "; the history has none", err);
}

/* Takes the lock of the history: a running night writes rows of the machine. */
static int rename_machine(struct tk_globals *g, struct tk_error *err)
{
	AUTO_PTR(tk_lock) lock = NULL;

	if (!machine_opt.new_name)
		return tk_fail(err, TK_EUSAGE, "rename: expected the old and the new name");
	if (machine_opt.json)
		return tk_fail(err, TK_EUSAGE, "rename: --format belongs to list");
	TRY(tk_command_open(g, TK_OPENS_WRITE, err));
	TRY(check_known(g->store, machine_opt.old_name, err));
	TRY(tk_store_lock(tk_store_path(g->store), &lock, err));
	TRY(tk_store_rename_machine(g->store, machine_opt.old_name, machine_opt.new_name, err));
	printf("renamed %s to %s; run `tracker site` to update the pages\n", machine_opt.old_name,
	        machine_opt.new_name);
	return TK_OK;
}

static int run_machine(struct tk_globals *g, struct tk_error *err)
{
	static const struct {
		const char *name;
		int (*run)(struct tk_globals *g, struct tk_error *err);
	} machine_actions[] = {{"list", list_machines}, {"rename", rename_machine}};
	const int a = TK_FIND_ACTION(
	        machine_actions, machine_opt.action ? machine_opt.action : "list", err);

	return a < 0 ? a : machine_actions[a].run(g, err);
}

const struct tk_command tk_command_machine = {.name = "machine",
        .summary = "list the machines of the history, rename one",
        .usage = {.options = machine_options,
                .arguments = "[list]\nrename OLD NEW",
                .help = "List the machines of the history, or rename one.\v"
                        "A renamed machine keeps its history: nights, series, alerts and what "
                        "people decided about them. Names of series start with the machine's "
                        "name and change with it. A host that still has the old name in "
                        "tracker.yml goes on as the renamed machine, and where histories are "
                        "merged the newest name counts. A night that is running must end "
                        "first.\n\n"
                        "Examples:\n"
                        "  tracker machine\n"
                        "  tracker machine rename bench-01 bench-02"},
        .run = run_machine};

/* ---- analysis of stored nights --------------------------------------------------------------- */

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

static const struct tk_option detect_options[] = {
        {TK_OPT_FLAG("all", 'a', &all, "Analyse all nights")},
        {TK_OPT_PARSED("since", 's', "TIME", parse_since, &replay,
                "Analyse the nights since a date (2026-11-21), or of the last days of each "
                "machine (90d; default: 30d)")},
        {0},
};

static void print_counts(const struct tk_detect_replay_counts *c)
{
	static const enum tk_verdict_status statuses[] = {TK_VERDICT_REGRESSED,
	        TK_VERDICT_NEWLY_FAILED, TK_VERDICT_CHANGED, TK_VERDICT_IMPROVED,
	        TK_VERDICT_RECOVERED, TK_VERDICT_FIXED};

	printf("detect: analysed %zu night%s of %zu machine%s, searched %zu series for change "
	       "points:",
	        c->nights, c->nights == 1 ? "" : "s", c->machines, c->machines == 1 ? "" : "s",
	        c->series);
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
		if (statuses[i] != TK_VERDICT_CHANGED || c->by_status[TK_VERDICT_CHANGED])
			printf("%s %zu %s", i ? "," : "", c->by_status[statuses[i]],
			        tk_verdict_status_name(statuses[i]));
	putchar('\n');
}

/* Takes the lock of the history, because a running night analyses it too. */
static int run_detect(struct tk_globals *g, struct tk_error *err)
{
	struct tk_detect_replay_counts counts;
	AUTO(tk_detect_policy) policy = {0};
	AUTO_PTR(tk_lock) lock = NULL;

	if (all)
		replay.since_s = INT64_MIN;
	TRY(tk_detect_policy_load(g->config, NULL, &policy, err));
	TRY(tk_store_lock(tk_store_path(g->store), &lock, err));
	TRY(tk_detect_replay(g->store, &policy.options, &replay, &counts, err));
	print_counts(&counts);
	return TK_OK;
}

const struct tk_command tk_command_detect = {.name = "detect",
        .summary = "analyse stored nights: imported, merged, or with other thresholds",
        .usage = {.options = detect_options,
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
