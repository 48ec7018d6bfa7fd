/* `tracker completion`: bash completion, made from the option tables, so that it knows exactly what
 * --help knows. */
#include <ctype.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/setup/completion_names.h"
#include "cli/setup/option_list.h"

enum { OPT_NAMES = 256 };

static const struct argp_option own_options[] = {
        {"names", OPT_NAMES, "KIND", OPTION_HIDDEN, "Print names of a kind, one per line", 1},
        {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	const char **kind = state->input;

	if (key == OPT_NAMES) {
		*kind = arg;
		return 0;
	}
	if (key == ARGP_KEY_ARG && (state->arg_num > 0 || strcmp(arg, "bash") != 0))
		argp_error(state, "unknown shell \"%s\"; expected bash", arg);
	return key == ARGP_KEY_ARG ? 0 : ARGP_ERR_UNKNOWN;
}

const struct argp tk_argp_completion = {own_options, parse_option, "[bash]",
        "Print the bash completion, made from the option tables.\v"
        "Example:\n  tracker completion >~/.local/share/bash-completion/completions/tracker"};

static void for_each_option(const struct argp_option *options, const char *command,
        void (*each)(const char *command, const struct tk_option_row *o))
{
	struct tk_option_row rows[TK_OPTION_LIST_MAX];
	size_t count = tk_option_list(options, rows);

	for (size_t i = 0; i < count; i++)
		each(command, &rows[i]);
}

static bool takes_value(const struct tk_option_row *o)
{
	return o->arg && !o->arg_optional;
}

static void print_name(const char *command, const struct tk_option_row *o)
{
	(void)command;
	if (o->name)
		printf(" --%s%s", o->name, takes_value(o) ? "=" : "");
}

/* "auto|never|always" */
static bool is_choice(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!islower((unsigned char)text[i]) && !isdigit((unsigned char)text[i]) &&
		        !strchr("|-_", text[i]))
			return false;
	return n > 0;
}

static void print_choice(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		putchar(text[i] == '|' ? ' ' : text[i]);
}

static void print_option(const struct tk_option_row *o)
{
	if (o->name)
		printf("--%s", o->name);
	else
		printf("-%c", o->letter);
}

/* A row of the `case` of values: the words of a choice, files or folders. */
static void print_values(const char *command, const struct tk_option_row *o)
{
	const char *files = o->arg && strstr(o->arg, "DIR")    ? "-d"
	                    : o->arg && strstr(o->arg, "FILE") ? "-f"
	                                                       : NULL;
	bool choice = o->arg && strchr(o->arg, '|') && is_choice(o->arg, strlen(o->arg));

	if (!files && !choice)
		return;
	printf("\t%s:", command);
	print_option(o);
	if (!choice) {
		printf(") files=%s ;;\n", files);
		return;
	}
	fputs(") values=\"", stdout);
	print_choice(o->arg, strlen(o->arg));
	puts("\" ;;");
}

/* A pattern of the global options that take the next word, which therefore is not the command. */
static void print_skip(const char *command, const struct tk_option_row *o)
{
	(void)command;
	if (!takes_value(o))
		return;
	print_option(o);
	putchar('|');
}

/* The words that may come first: "list|check [SUITE]" and "list\ncheck [SUITE]" are both list and
 * check. */
static void print_actions(const struct argp *argp)
{
	const char *p = argp->args_doc;

	while (p && *p) {
		size_t n;

		p += *p == '[';
		n = strcspn(p, " ]\n");
		if (is_choice(p, n)) {
			putchar(' ');
			print_choice(p, n);
		}
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
}

/* The names of series, alerts... that the arguments of a command mean, from the program itself. */
static void print_argument_names(const struct argp *argp)
{
	for (size_t i = 0; tk_completion_kinds[i].kind; i++)
		if (argp->args_doc && strstr(argp->args_doc, tk_completion_kinds[i].argument))
			printf(" $(_tracker_names %s)", tk_completion_kinds[i].kind);
}

static void print_command_names(void)
{
	for (const struct tk_command *c = tk_commands; c->name; c++)
		if (!c->hidden)
			printf(" %s", c->name);
}

static void print_script_start(void)
{
	fputs("# bash completion of tracker: source <(tracker completion)\n"
	      "_tracker_names()\n{\n"
	      "\t\"${COMP_WORDS[0]}\" completion --names=\"$1\" 2>/dev/null\n}\n"
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
	for (const struct tk_command *c = tk_commands; c->name; c++)
		if (!c->hidden)
			for_each_option(c->argp->options, c->name, print_values);
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
	for_each_option(tk_global_options, "", print_name);
	puts(" --help --version\" ;;");
	for (const struct tk_command *c = tk_commands; c->name; c++) {
		if (c->hidden)
			continue;
		printf("\t\t%s) values=\"", c->name);
		for_each_option(c->argp->options, "", print_name);
		for_each_option(tk_global_options, "", print_name);
		puts(" --help --usage --version\" ;;");
	}
}

static void print_action_cases(void)
{
	fputs("\t\tesac\n\telse\n\t\tcase $command in\n\t\t''|help) values=$commands ;;\n", stdout);
	for (const struct tk_command *c = tk_commands; c->name; c++) {
		if (c->hidden || strcmp(c->name, "help") == 0)
			continue;
		printf("\t\t%s) values=\"", c->name);
		print_actions(c->argp);
		print_argument_names(c->argp);
		puts("\" ;;");
	}
	fputs("\t\tesac\n\tfi\n"
	      "\tCOMPREPLY=($(compgen -W \"$values\" -- \"$cur\"))\n"
	      "\t[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace "
	      "2>/dev/null\n"
	      "\treturn 0\n}\ncomplete -o default -F _tracker tracker\n",
	        stdout);
}

int tk_cmd_completion(const struct tk_globals *g, int argc, char **argv)
{
	const char *kind = NULL;

	tk_command_parse(&tk_argp_completion, argc, argv, &kind);
	if (kind)
		return tk_completion_print_names(g, kind);
	print_script_start();
	print_value_cases();
	print_option_cases();
	print_action_cases();
	return TK_EXIT_OK;
}
