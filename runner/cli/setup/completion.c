/* `tracker completion`: bash completion, made from the option tables, so that it cannot know less
 * or more than --help.
 */
#include <ctype.h>
#include <string.h>

#include "cli/commands.h"

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG && (state->arg_num > 0 || strcmp(arg, "bash") != 0))
		argp_error(state, "`%s`: only bash is known", arg);
	return key == ARGP_KEY_ARG ? 0 : ARGP_ERR_UNKNOWN;
}

const struct argp tk_argp_completion = {NULL, parse_option, "[bash]",
        "Print the bash completion.\vExample:\n  source <(tracker completion)"};

/* Calls `each` for every option that people see; an alias has the argument of the option before it.
 */
static void walk(const struct argp *argp, const char *command,
        void (*each)(const char *command, const struct argp_option *o, const char *arg))
{
	const char *arg = NULL;

	for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++) {
		if (!(o->flags & OPTION_ALIAS))
			arg = o->arg;
		if (!(o->flags & (OPTION_HIDDEN | OPTION_DOC)))
			each(command, o, arg);
	}
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		walk(c->argp, command, each);
}

static void print_name(const char *command, const struct argp_option *o, const char *arg)
{
	if (o->name)
		printf(" --%s%s", o->name, arg && !(o->flags & OPTION_ARG_OPTIONAL) ? "=" : "");
}

static void print_all_names(const struct argp *argp)
{
	walk(argp, "", print_name);
	walk(&tk_argp_globals, "", print_name);
	fputs(" --help --usage --version", stdout);
}

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

/* A row of the `case` that knows values: the words of "auto|never|always", files, folders. */
static void print_values(const char *command, const struct argp_option *o, const char *arg)
{
	const char *files = arg && strstr(arg, "DIR")    ? "-d"
	                    : arg && strstr(arg, "FILE") ? "-f"
	                                                 : NULL;
	bool choice = arg && strchr(arg, '|') && is_choice(arg, strlen(arg));

	if (!files && !choice)
		return;
	printf("\t%s:", command);
	if (o->name)
		printf("--%s", o->name);
	else
		printf("-%c", o->key);
	if (!choice) {
		printf(") files=%s ;;\n", files);
		return;
	}
	fputs(") values=\"", stdout);
	print_choice(arg, strlen(arg));
	puts("\" ;;");
}

/* Options of the program that take the next word: it is not the command. */
static void print_skip(const char *command, const struct argp_option *o, const char *arg)
{
	if (!arg || (o->flags & OPTION_ARG_OPTIONAL))
		return;
	if (o->name)
		printf("--%s|", o->name);
	else
		printf("-%c|", o->key);
}

/* The words that may come first: "list|check [SUITE]" and "list\ncheck [SUITE]" are both list and
 * check. */
static void print_words(const struct argp *argp)
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

static void print_command_names(void)
{
	for (const struct tk_command *c = tk_commands; c->name; c++)
		if (!c->hidden)
			printf(" %s", c->name);
}

static void print_script_start(void)
{
	fputs("# bash completion of tracker: source <(tracker completion)\n"
	      "_tracker()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} option= "
	      "command= values= files= "
	      "i commands=\"",
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
	walk(&tk_argp_globals, "", print_skip);
	fputs("--) [[ ${COMP_WORDS[i+1]} == = ]] && ((i += 2)) || ((i += 1)) ;;\n"
	      "\t\t-*|=) ;;\n"
	      "\t\t*) command=${COMP_WORDS[i]}; break ;;\n\t\tesac\n\tdone\n",
	        stdout);
}

static void print_known_values(void)
{
	puts("\tcase $command:$option in");
	for (const struct tk_command *c = tk_commands; c->name; c++)
		if (!c->hidden)
			walk(c->argp, c->name, print_values);
	walk(&tk_argp_globals, "*", print_values);
	fputs("\tesac\n"
	      "\tif [[ $values ]]; then\n\t\tCOMPREPLY=($(compgen -W \"$values\" -- "
	      "\"$cur\"))\n\t\treturn\n"
	      "\telif [[ $files ]]; then\n\t\tcompopt -o filenames 2>/dev/null\n\t\tmapfile -t "
	      "COMPREPLY < <(compgen "
	      "$files -- \"$cur\")\n"
	      "\t\treturn\n\tfi\n",
	        stdout);
}

static void print_names_and_words(void)
{
	fputs("\tif [[ $cur == -* ]]; then\n\t\tcase $command in\n\t\t'') values=\"", stdout);
	walk(&tk_argp_globals, "", print_name);
	puts(" --help --version\" ;;");
	for (const struct tk_command *c = tk_commands; c->name; c++) {
		if (c->hidden)
			continue;
		printf("\t\t%s) values=\"", c->name);
		print_all_names(c->argp);
		puts("\" ;;");
	}
	fputs("\t\tesac\n\telse\n\t\tcase $command in\n\t\t''|help) values=$commands ;;\n", stdout);
	for (const struct tk_command *c = tk_commands; c->name; c++) {
		if (c->hidden || strcmp(c->name, "help") == 0)
			continue;
		printf("\t\t%s) values=\"", c->name);
		print_words(c->argp);
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
	argp_parse(&tk_argp_completion, argc, argv, 0, NULL, NULL);
	print_script_start();
	print_known_values();
	print_names_and_words();
	return TK_EXIT_OK;
}
