/* `tracker db`: maintenance of the history. One row of the table of actions each. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signature.h"
#include "base/text.h"
#include "base/try.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "config/config.h"
#include "store/store.h"

static struct db_options {
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
	for (size_t i = 0; i < problems->count; i++) {
		tk_text_write_sanitized(stdout, *TK_ROWS_AT(problems, char *, i), "");
		putchar('\n');
	}
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

static int check(struct tk_store *s, const struct db_options *o, const struct tk_config *c,
        struct tk_error *err)
{
	struct tk_rows problems;

	TRY(tk_store_check(s, &problems, err));
	int code = print_problems(&problems, tk_store_path(s), tk_store_is_damaged(s));

	if (!problems.count)
		printf("%s: no damage found\n", tk_store_path(s));
	tk_rows_free(&problems);
	return code;
}

static int backup(struct tk_store *s, const struct db_options *o, const struct tk_config *c,
        struct tk_error *err)
{
	TRY(tk_store_backup(s, o->file, err));
	TRY(tk_signature_write(c->signing.key, o->file, err));
	printf("%s: copied to %s\n", tk_store_path(s), o->file);
	return TK_EXIT_OK;
}

static int vacuum(struct tk_store *s, const struct db_options *o, const struct tk_config *c,
        struct tk_error *err)
{
	int64_t age_s, before_s = INT64_MIN;

	if (o->drop_older) {
		if (tk_units_parse_seconds(o->drop_older, &age_s, err)) {
			tk_error_add_context(err, "--drop-samples-older");
			return err->status = TK_EUSAGE;
		}
		before_s = tk_clock_now_s() - age_s;
	}
	TRY(tk_store_vacuum(s, before_s, err));
	printf("%s: vacuumed\n", tk_store_path(s));
	return TK_EXIT_OK;
}

static int export(struct tk_store *s, const struct db_options *o, const struct tk_config *c,
        struct tk_error *err)
{
	int fd = o->output ? open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
	                   : STDOUT_FILENO;
	int status = fd < 0 ? tk_fail_errno(err, "%s", o->output) : tk_store_export(s, fd, err);

	if (fd >= 0 && o->output && close(fd) != 0 && !status)
		status = tk_fail_errno(err, "%s", o->output);
	return status;
}

/* Opening the store for writing has migrated it. */
static int migrate(struct tk_store *s, const struct db_options *o, const struct tk_config *c,
        struct tk_error *err)
{
	printf("%s: is up to date (history version %d)\n", tk_store_path(s), TK_STORE_SCHEMA);
	return TK_EXIT_OK;
}

static const struct {
	const char *name;
	enum tk_opens opens;
	bool takes_file;
	int (*run)(struct tk_store *s, const struct db_options *o, const struct tk_config *c,
	        struct tk_error *err);
} actions[] = {
        {"check", TK_OPENS_READ, false, check},
        {"backup", TK_OPENS_READ, true, backup},
        {"vacuum", TK_OPENS_WRITE, false, vacuum},
        {"export", TK_OPENS_READ, false, export},
        {"migrate", TK_OPENS_WRITE, false, migrate},
};
#define ACTIONS (sizeof actions / sizeof actions[0])

static int run_db(struct tk_globals *g, struct tk_error *err)
{
	const char *names[ACTIONS + 1] = {0};
	size_t a = 0;

	for (; a < ACTIONS && strcmp(actions[a].name, opt.action) != 0; a++)
		names[a] = actions[a].name;
	if (a == ACTIONS)
		return tk_options_fail_action(opt.action, names, err);
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
		return actions[a].run(g->store, &opt, g->config, err);
	int code = actions[a].run == check ? diagnose(g) : TK_EXIT_OK;
	return code ? code : status;
}

const struct tk_command tk_command_db = {.name = "db",
        .summary = "check, back up, shrink or export the history",
        .usage = {.options = options,
                .arguments = "check\nbackup FILE\nvacuum\nexport\nmigrate",
                .help = "Check, back up, shrink or export the history.\v"
                        "  check     find damage, dangling references and rows edited by hand; "
                        "exit\n"
                        "            code 1 if there are any, with advice\n"
                        "  backup    write a consistent copy to FILE, even during a night\n"
                        "  vacuum    return unused space to the file system\n"
                        "  export    write everything as JSON lines, in an order that two "
                        "histories\n"
                        "            with the same facts share\n"
                        "  migrate   upgrade a history of an older tracker, with a backup beside "
                        "it\n\n"
                        "Examples:\n"
                        "  tracker db check\n"
                        "  tracker db backup /mnt/backup/tracker.db\n"
                        "  tracker db vacuum --drop-samples-older=90d\n"
                        "  tracker db export --output=history.jsonl"},
        .run = run_db};
