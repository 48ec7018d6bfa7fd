/* `tracker db`: maintenance of the history. One row of the table of actions each. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signature.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "config/config.h"
#include "store/store.h"

struct db_options {
	const char *action, *file, *output, *drop_older;
};

static const struct argp_option options[] = {
        {"drop-samples-older", 'd', "AGE", 0,
                "vacuum: also drop the raw samples of runs older than AGE (90d, 2w); summaries "
                "stay",
                1},
        {"output", 'o', "FILE", 0, "export: write to FILE instead of the standard output", 1},
        {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct db_options *o = state->input;

	switch (key) {
	case 'd':
		o->drop_older = arg;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (!o->action)
			o->action = arg;
		else if (!o->file)
			o->file = arg;
		else
			argp_error(state, "unexpected argument \"%s\"", arg);
		return 0;
	case ARGP_KEY_END:
		if (!o->action)
			argp_error(state, "missing action; expected check, backup, vacuum, export "
			                  "or migrate");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp tk_argp_db = {options, parse_option,
        "check\nbackup FILE\nvacuum\nexport\nmigrate",
        "Check, back up, shrink or export the history.\v"
        "  check     find damage, dangling references and rows edited by hand; exit\n"
        "            code 1 if there are any, with advice\n"
        "  backup    write a consistent copy to FILE, even during a night\n"
        "  vacuum    return unused space to the file system\n"
        "  export    write everything as JSON lines, in an order that two histories\n"
        "            with the same facts share\n"
        "  migrate   upgrade a history of an older tracker, with a backup beside it\n\n"
        "Examples:\n"
        "  tracker db check\n"
        "  tracker db backup /mnt/backup/tracker.db\n"
        "  tracker db vacuum --drop-samples-older=90d\n"
        "  tracker db export --output=history.jsonl"};

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
static int check_closed(const struct tk_globals *g, int code)
{
	struct tk_config *config = NULL;
	struct tk_rows problems = {0};
	int status = tk_config_load(".", g->config_path, &config, NULL);
	const char *path = status ? NULL : g->db_path ? g->db_path : config->db;

	if (!status && !tk_store_diagnose_file(path, &problems, NULL) && problems.count)
		code = print_problems(&problems, path, true);
	tk_rows_free(&problems);
	if (config)
		tk_config_free(config);
	return code;
}

static int check(struct tk_store *s, const struct db_options *o, const struct tk_config *c,
        struct tk_error *err)
{
	struct tk_rows problems;

	if (tk_store_check(s, &problems, err))
		return tk_command_fail("db check", err);
	int code = print_problems(&problems, tk_store_path(s), tk_store_is_damaged(s));

	if (!problems.count)
		printf("%s: no damage found\n", tk_store_path(s));
	tk_rows_free(&problems);
	return code;
}

static int backup(struct tk_store *s, const struct db_options *o, const struct tk_config *c,
        struct tk_error *err)
{
	if (tk_store_backup(s, o->file, err) || tk_signature_write(c->signing.key, o->file, err))
		return tk_command_fail("db backup", err);
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
			err->status = TK_EUSAGE;
			return tk_command_fail("db vacuum", err);
		}
		before_s = tk_clock_now_s() - age_s;
	}
	if (tk_store_vacuum(s, before_s, err))
		return tk_command_fail("db vacuum", err);
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
	return status ? tk_command_fail("db export", err) : TK_EXIT_OK;
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
	int mode;
	bool takes_file;
	int (*run)(struct tk_store *s, const struct db_options *o, const struct tk_config *c,
	        struct tk_error *err);
} actions[] = {
        {"check", TK_STORE_READ, false, check},
        {"backup", TK_STORE_READ, true, backup},
        {"vacuum", TK_STORE_WRITE, false, vacuum},
        {"export", TK_STORE_READ, false, export},
        {"migrate", TK_STORE_WRITE, false, migrate},
};
#define ACTIONS (sizeof actions / sizeof actions[0])

int tk_cmd_db(const struct tk_globals *g, int argc, char **argv)
{
	struct db_options o = {0};
	struct tk_config *config = NULL;
	struct tk_store *store = NULL;
	struct tk_error err = {0};
	const char *names[ACTIONS + 1] = {0};
	size_t a = 0;
	int code;

	tk_command_parse(&tk_argp_db, argc, argv, &o);
	for (; a < ACTIONS && strcmp(actions[a].name, o.action) != 0; a++)
		names[a] = actions[a].name;
	if (a == ACTIONS)
		tk_option_fail_action(o.action, names, &err);
	else if (actions[a].takes_file != (o.file != NULL))
		tk_fail(&err, TK_EUSAGE,
		        actions[a].takes_file ? "%s: missing FILE" : "%s: unexpected argument",
		        o.action);
	else if ((o.output && actions[a].run != export) ||
	         (o.drop_older && actions[a].run != vacuum))
		tk_fail(&err, TK_EUSAGE, "%s: this option belongs to %s", o.action,
		        o.output ? "export" : "vacuum");
	if (err.status)
		return tk_command_fail("db", &err);
	code = tk_command_open(g, "db", actions[a].mode, &config, &store);
	if (code)
		return code == TK_EXIT_FAILED && actions[a].run == check ? check_closed(g, code)
		                                                         : code;
	code = actions[a].run(store, &o, config, &err);
	tk_command_close(config, store);
	return code;
}
