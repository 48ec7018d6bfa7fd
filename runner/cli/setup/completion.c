/* `tracker completion`: bash completion, made from the tables of options, so that it knows exactly
 * what --help knows. */
#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "cli/commands.h"
#include "config/config.h"
#include "nightly/plan/backend_name.h"
#include "nightly/plan/modules.h"
#include "store/store.h"
#include "suite/suite.h"

/* ---- names: the program itself lists them, at every press of the key ------------------------- */

/* The shell evaluates the list: a name with other characters (a file in suites/, an imported
 * history) is left out. */
static void print_name(const char *name)
{
	static const char allowed[] =
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:";

	if (*name && strspn(name, allowed) == strlen(name))
		puts(name);
}

static void print_series(const struct tk_globals *g, struct tk_store *s)
{
	struct tk_rows rows = {0};

	if (s && !tk_store_list(s, TK_TABLE_series, NULL, TK_NO_ARGS, &rows, NULL))
		for (size_t i = 0; i < rows.count; i++)
			print_name(TK_ROWS_AT(&rows, struct tk_series_row, i)->slug);
	tk_rows_free(&rows);
}

static void print_alerts(const struct tk_globals *g, struct tk_store *s)
{
	struct tk_rows rows = {0};
	char id[9];

	if (s && !tk_store_list_alerts(s, &rows, NULL))
		for (size_t i = 0; i < rows.count; i++) {
			const struct tk_alert_row *a = TK_ROWS_AT(&rows, struct tk_alert_row, i);

			snprintf(id, sizeof id, "%s", a->uid);
			if (!a->closed_s)
				print_name(id);
		}
	tk_rows_free(&rows);
}

static void print_upstreams(const struct tk_globals *g, struct tk_store *s)
{
	for (size_t i = 0; i < g->config->upstream_count; i++)
		print_name(g->config->upstreams[i].name);
}

static void print_suites(const struct tk_globals *g, struct tk_store *s)
{
	char **names = NULL;
	size_t count = 0;

	if (tk_suite_list_names(g->config->root, &names, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++)
		print_name(names[i]);
	tk_names_free(names, count);
}

static void print_machines(const struct tk_globals *g, struct tk_store *s)
{
	struct tk_rows rows = {0};

	if (s && !tk_store_list(s, TK_TABLE_machine, NULL, TK_NO_ARGS, &rows, NULL))
		for (size_t i = 0; i < rows.count; i++)
			print_name(TK_ROWS_AT(&rows, struct tk_machine_row, i)->name);
	tk_rows_free(&rows);
}

static void print_backends(const struct tk_globals *g, struct tk_store *s)
{
	struct tk_modules *modules = NULL;

	if (!tk_modules_load(g->program, &modules, NULL))
		tk_backend_list(g->config, modules, print_name, NULL);
	tk_modules_free(modules);
}

static const struct {
	const char *kind, *argument; /* as the usage of a command calls it */
	void (*print)(const struct tk_globals *g, struct tk_store *s);
} kinds[] = {
        {"series", "SERIES", print_series},
        {"alerts", "ALERT", print_alerts},
        {"upstreams", "UPSTREAM", print_upstreams},
        {"suites", "NAME|FILE", print_suites},
        {"machines", "OLD", print_machines},
        {"backends", "BACKEND", print_backends},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static int print_names(struct tk_globals *g, const char *kind)
{
	struct tk_store *store = NULL;
	size_t i = 0;

	while (i < KINDS && strcmp(kinds[i].kind, kind) != 0)
		i++;
	if (i == KINDS)
		return TK_EXIT_USAGE;
	if (tk_config_load(".", g->config_path, &g->config, NULL))
		return TK_EXIT_OK;
	if (tk_store_open(g->db_path ? g->db_path : g->config->db, TK_STORE_READ, &store, NULL))
		store = NULL;
	kinds[i].print(g, store);
	tk_store_close(store);
	return TK_EXIT_OK;
}

/* ---- the script ------------------------------------------------------------------------------ */

static void for_each_option(const struct tk_option *options, const char *command,
        void (*each)(const char *command, const struct tk_option *o))
{
	for (const struct tk_option *o = options; o && o->kind; o++)
		if (tk_option_is_listed(o))
			each(command, o);
}

static bool takes_value(const struct tk_option *o)
{
	return o->kind != TK_OPTION_FLAG;
}

static void print_option_name(const char *command, const struct tk_option *o)
{
	(void)command;
	if (o->name)
		printf(" --%s%s", o->name, takes_value(o) ? "=" : "");
}

static void print_option(const struct tk_option *o)
{
	if (o->name)
		printf("--%s", o->name);
	else
		printf("-%c", o->letter);
}

static void print_words(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		putchar(text[i] == '|' ? ' ' : text[i]);
}

/* A row of the `case` of values: the words of a choice, files or folders. */
static void print_values(const char *command, const struct tk_option *o)
{
	const char *files = !takes_value(o)          ? NULL
	                    : strstr(o->arg, "DIR")  ? "-d"
	                    : strstr(o->arg, "FILE") ? "-f"
	                                             : NULL;

	if (!files && !o->words)
		return;
	printf("\t%s:", command);
	print_option(o);
	if (!o->words) {
		printf(") files=%s ;;\n", files);
		return;
	}
	fputs(") values=\"", stdout);
	print_words(o->words, strlen(o->words));
	puts("\" ;;");
}

/* A pattern of the global options that take the next word, which therefore is not the command. */
static void print_skip(const char *command, const struct tk_option *o)
{
	(void)command;
	if (!takes_value(o))
		return;
	print_option(o);
	putchar('|');
}

/* "list", "ack|expect": not a placeholder. */
static bool is_action(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!islower((unsigned char)text[i]) && !strchr("|-", text[i]))
			return false;
	return n > 0;
}

/* The words that may come first in a line of the usage: "list|check [SUITE]". */
static void print_actions(const struct tk_usage *u)
{
	for (const char *p = u->arguments; p && *p;
	        p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
		size_t n;

		p += *p == '[';
		n = strcspn(p, " ]\n");
		if (is_action(p, n)) {
			putchar(' ');
			print_words(p, n);
		}
	}
}

static void print_argument_names(const struct tk_usage *u)
{
	for (size_t i = 0; i < KINDS; i++)
		if (u->arguments && strstr(u->arguments, kinds[i].argument))
			printf(" $(_tracker_names %s)", kinds[i].kind);
}

static void print_command_names(void)
{
	for (const struct tk_command *const *c = tk_commands; *c; c++)
		if (!(*c)->hidden)
			printf(" %s", (*c)->name);
}

static void print_script_start(void)
{
	fputs("# bash completion of tracker: source <(tracker completion)\n"
	      "_tracker_names()\n{\n"
	      "\t\"${COMP_WORDS[0]}\" completion names \"$1\" 2>/dev/null\n}\n"
	      "_tracker()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} option= "
	      "command= "
	      "values= files= i commands=\"",
	        stdout);
	print_command_names();
	fputs("\"\n"
	      "\t# bash splits --option=value at the sign\n"
	      "\tif [[ $cur == = ]]; then\n\t\toption=$prev cur=\n"
	      "\telif [[ $prev == = ]]; then\n\t\toption=${COMP_WORDS[COMP_CWORD-2]}\n"
	      "\telse\n\t\toption=$prev\n\tfi\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tcase ${COMP_WORDS[i]} in\n\t\t",
	        stdout);
	for_each_option(tk_global_options, "", print_skip);
	fputs("--) [[ ${COMP_WORDS[i+1]} == = ]] && ((i += 2)) || ((i += 1)) ;;\n"
	      "\t\t-*|=) ;;\n"
	      "\t\t*) command=${COMP_WORDS[i]}; break ;;\n\t\tesac\n\tdone\n",
	        stdout);
}

static void print_value_cases(void)
{
	puts("\tcase $command:$option in");
	for (const struct tk_command *const *c = tk_commands; *c; c++)
		if (!(*c)->hidden)
			for_each_option((*c)->usage.options, (*c)->name, print_values);
	for_each_option(tk_global_options, "*", print_values);
	fputs("\tesac\n"
	      "\tif [[ $values ]]; then\n\t\tCOMPREPLY=($(compgen -W \"$values\" -- "
	      "\"$cur\"))\n\t\treturn\n"
	      "\telif [[ $files ]]; then\n\t\tcompopt -o filenames 2>/dev/null\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen $files -- \"$cur\")\n"
	      "\t\treturn\n\tfi\n",
	        stdout);
}

static void print_option_cases(void)
{
	fputs("\tif [[ $cur == -* ]]; then\n\t\tcase $command in\n\t\t'') values=\"", stdout);
	for_each_option(tk_global_options, "", print_option_name);
	puts(" --help --version\" ;;");
	for (const struct tk_command *const *c = tk_commands; *c; c++) {
		if ((*c)->hidden)
			continue;
		printf("\t\t%s) values=\"", (*c)->name);
		for_each_option((*c)->usage.options, "", print_option_name);
		for_each_option(tk_global_options, "", print_option_name);
		puts(" --help --usage --version\" ;;");
	}
}

static void print_action_cases(void)
{
	fputs("\t\tesac\n\telse\n\t\tcase $command in\n\t\t''|help) values=$commands ;;\n", stdout);
	for (const struct tk_command *const *c = tk_commands; *c; c++) {
		if ((*c)->hidden || strcmp((*c)->name, "help") == 0)
			continue;
		printf("\t\t%s) values=\"", (*c)->name);
		print_actions(&(*c)->usage);
		print_argument_names(&(*c)->usage);
		puts("\" ;;");
	}
	fputs("\t\tesac\n\tfi\n"
	      "\tCOMPREPLY=($(compgen -W \"$values\" -- \"$cur\"))\n"
	      "\t[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace "
	      "2>/dev/null\n"
	      "\treturn 0\n}\ncomplete -o default -F _tracker tracker\n",
	        stdout);
}

static struct {
	const char *shell, *names;
} opt;

static const struct tk_option options[] = {
        {TK_OPT_ARGUMENT(&opt.shell, NULL)},
        {TK_OPT_ARGUMENT(&opt.names, NULL)},
        {0},
};

/* The script calls `tracker completion names KIND`. */
static int check_options(struct tk_error *err)
{
	if (!opt.shell || (strcmp(opt.shell, "bash") == 0 && !opt.names) ||
	        (strcmp(opt.shell, "names") == 0 && opt.names))
		return TK_OK;
	return tk_fail(err, TK_EUSAGE, "unknown shell \"%s\"; expected bash", opt.shell);
}

static int run_completion(struct tk_globals *g, struct tk_error *err)
{
	(void)err;
	if (opt.names)
		return print_names(g, opt.names);
	print_script_start();
	print_value_cases();
	print_option_cases();
	print_action_cases();
	return TK_EXIT_OK;
}

const struct tk_command tk_command_completion = {.name = "completion",
        .summary = "print the bash completion",
        .usage = {.options = options,
                .arguments = "[bash]",
                .check = check_options,
                .help = "Print the bash completion, made from the tables of options.\v"
                        "Example:\n"
                        "  tracker completion >~/.local/share/bash-completion/completions/tracker"},
        .run = run_completion};
