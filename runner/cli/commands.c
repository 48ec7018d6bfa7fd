/* The table of commands, and what they share: finding one, opening the store, reporting an
 * error. */
#include "cli/commands.h"

#include <string.h>

#include "base/log.h"
#include "base/sandbox.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/markup.h"
#include "config/config.h"
#include "store/store.h"

const struct tk_command tk_commands[] = {
#define TK_COMMAND_ROW(name, summary, hidden) \
	{#name, summary, tk_cmd_##name, &tk_argp_##name, hidden},
        TK_COMMANDS(TK_COMMAND_ROW)
#undef TK_COMMAND_ROW
                {"bisect-step", "one step of `git bisect run`", tk_cmd_bisect_step,
                        &tk_argp_bisect_step, true},
        {0},
};

const struct tk_command *tk_command_find(const char *name)
{
	for (const struct tk_command *c = tk_commands; c->name; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

const char *tk_command_describe_unknown(const char *name, char *out, size_t size)
{
	const char *names[64] = {0};
	char hint[TK_SUGGEST_HINT_SIZE];
	size_t n = 0;

	for (const struct tk_command *c = tk_commands;
	        c->name && n + 1 < sizeof names / sizeof *names; c++)
		if (!c->hidden)
			names[n++] = c->name;
	snprintf(out, size, "unknown command \"%.60s\"%s", name,
	        tk_suggest_hint(name, names, "; `tracker help` lists the commands", hint));
	return out;
}

void tk_commands_print(FILE *out)
{
	for (const struct tk_command *c = tk_commands; c->name; c++)
		if (!c->hidden)
			fprintf(out, "  %-12s  %s\n", c->name, c->summary);
}

const char tk_command_purpose[] = "tracker follows the performance of GPU kernels night after "
                                  "night: it builds the newest revision\n"
                                  "of each upstream, measures and verifies a fixed suite, keeps "
                                  "the history, and reports what\n"
                                  "changed.";

const char *tk_exit_meaning(enum tk_exit code)
{
	static const char *const meanings[TK_EXIT_COUNT] = {
	        [TK_EXIT_OK] = "done",
	        [TK_EXIT_FOUND] = "found: a status of --fail-on, a slower build, damage",
	        [TK_EXIT_USAGE] = "wrong usage or configuration",
	        [TK_EXIT_INCOMPLETE] = "incomplete: some jobs failed, or nothing was compared",
	        [TK_EXIT_FAILED] = "could not finish",
	};

	return code < TK_EXIT_COUNT ? meanings[code] : "";
}

void tk_command_print_overview(FILE *out)
{
	fprintf(out, "%s\n\nUsage: tracker [OPTION...] COMMAND [OPTION...]\n\nCommands:\n",
	        tk_command_purpose);
	tk_commands_print(out);
	fputs("\nWhere to start:\n"
	      "  tracker doctor             show what can be measured here\n"
	      "  tracker nightly            run a night; makes tracker.db and site/ in this "
	      "folder\n"
	      "  tracker diff --since=7d    show what changed\n"
	      "  tracker help COMMAND       show the options of a command\n"
	      "  tracker --help             show the global options\n\n"
	      "Exit codes:\n",
	        out);
	for (int code = 0; code < TK_EXIT_COUNT; code++)
		fprintf(out, "  %d  %s\n", code, tk_exit_meaning((enum tk_exit)code));
}

static int exit_code(int status)
{
	switch (status) {
	case TK_OK:
		return TK_EXIT_OK;
	case TK_EUSAGE:
	case TK_ECONFIG:
		return TK_EXIT_USAGE;
	default:
		return TK_EXIT_FAILED;
	}
}

int tk_command_fail(const char *command, const struct tk_error *err)
{
	fflush(stdout);
	fprintf(stderr, "tracker %s: ", command);
	tk_text_write_sanitized(stderr, err->message, "\n\t");
	fputc('\n', stderr);
	tk_log_record(TK_LOG_ERROR, "command_failed",
	        json_pack("{s:s, s:s}", "command", command, "status", tk_status_name(err->status)),
	        err->message);
	return exit_code(err->status);
}

int tk_command_print_json(json_t *json, struct tk_error *err)
{
	return tk_json_write(json, JSON_INDENT(2), stdout, err);
}

static int open_store(const char *path, int mode, struct tk_store **store, struct tk_error *err)
{
	int status = tk_store_open(path, mode, store, err);

	if (status == TK_ENOTFOUND && mode != TK_STORE_CREATE)
		return tk_fail(err, TK_ENOTFOUND,
		        "no history yet: %s does not exist; `tracker nightly` makes it, -C or --db "
		        "names another",
		        path);
	return status;
}

int tk_command_open(const struct tk_globals *g, const char *command, int mode,
        struct tk_config **config, struct tk_store **store)
{
	struct tk_error err = {0};
	struct tk_config *c = NULL;
	int status = tk_config_load(".", g->config_path, &c, &err);

	if (!status)
		tk_sandbox_configure(c->sandbox);
	if (!status && mode >= 0)
		status = open_store(g->db_path ? g->db_path : c->db, mode, store, &err);
	if (status) {
		if (c)
			tk_config_free(c);
		return tk_command_fail(command, &err);
	}
	*config = c;
	return 0;
}

void tk_command_close(struct tk_config *config, struct tk_store *store)
{
	if (store)
		tk_store_close(store);
	if (config)
		tk_config_free(config);
}
