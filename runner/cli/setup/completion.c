/* `tracker completion`: a bash function that asks the program, at each press of the key, what may
 * stand there; the answer comes from the tables of options, so that it knows what --help knows. */
#include <ctype.h>

#include "cli/commands.h"
#include "cli/table.h"
#include "config/config.h"
#include "config/suite.h"
#include "nightly/plan/modules.h"
#include "store/store.h"

static struct {
	const char *shell;
	struct tk_option_list
	        words; /* of the line, after the program; the last is to be completed */
} opt;

static const char *current; /* what is there of the word that is to be completed */

/* ---- names of the history and the configuration --------------------------------------------- */

/* The shell evaluates the list: a name with other characters (a file in suites/, an imported
 * history) is left out. */
static void print_name(const char *name)
{
	static const char allowed[] =
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:";

	if (*name && strspn(name, allowed) == strlen(name) &&
	        strncmp(name, current, strlen(current)) == 0)
		puts(name);
}

/* What stands for an argument, as the usage of a command calls it: rows of the history. */
static const struct {
	const char *argument, *sql;
} queries[] = {
        {"SERIES", "SELECT slug AS name FROM series ORDER BY slug"},
        {"ALERT", "SELECT substr(uid, 1, 8) AS name FROM alert WHERE status = 'open' ORDER BY uid"},
        {"OLD", "SELECT name FROM machine ORDER BY name"},
};

static void print_rows(const struct tk_globals *g, const char *arguments)
{
	AUTO_PTR(tk_store) s = NULL;

	if (tk_store_open(g->db_path ? g->db_path : g->config->db, TK_STORE_READ, &s, NULL))
		return;
	for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
		json_auto_t *rows = NULL;
		json_t *row;
		size_t k;

		if (!strstr(arguments, queries[i].argument))
			continue;
		tk_records_select(s, queries[i].sql, TK_NO_ARGS, &rows, NULL);
		json_array_foreach (rows, k, row)
			print_name(tk_record_text(row, "name"));
	}
}

static void print_suites(const struct tk_globals *g)
{
	char **names = NULL;
	size_t count = 0;

	if (tk_suite_list_names(g->config->root, &names, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++)
		print_name(names[i]);
	tk_names_free(names, count);
}

static void print_backends(const struct tk_globals *g)
{
	AUTO_PTR(tk_modules) modules = NULL;

	if (!tk_modules_load(g->program, &modules, NULL))
		tk_backend_list(g->config, modules, print_name, NULL);
}

static void print_names(struct tk_globals *g, const char *arguments)
{
	if (!arguments || tk_config_load(".", g->config_path, &g->config, NULL))
		return;
	print_rows(g, arguments);
	if (strstr(arguments, "UPSTREAM"))
		for (size_t i = 0; i < g->config->upstream_count; i++)
			print_name(g->config->upstreams[i].name);
	if (strstr(arguments, "NAME|FILE"))
		print_suites(g);
	if (strstr(arguments, "BACKEND"))
		print_backends(g);
}

static const struct tk_option common[] = {{TK_OPT_FLAG("help", '?', NULL, NULL)},
        {TK_OPT_FLAG("usage", 0, NULL, NULL)}, {TK_OPT_FLAG("version", 'V', NULL, NULL)}, {0}};

/* ---- options and actions --------------------------------------------------------------------- */

/* The option that a word names: "--format", "-f". */
static const struct tk_option *find_option(const struct tk_option *options, const char *word)
{
	for (const struct tk_option *o = options; o && o->kind; o++)
		if (tk_option_is_listed(o) && *word == '-' &&
		        (word[1] == '-' ? o->name && strcmp(o->name, word + 2) == 0
		                        : word[1] == o->letter && !word[2]))
			return o;
	return NULL;
}

static void print_option_names(const struct tk_option *options)
{
	char name[80];

	for (const struct tk_option *o = options; o && o->kind; o++) {
		if (!tk_option_is_listed(o) || !o->name)
			continue;
		snprintf(
		        name, sizeof name, "--%s%s", o->name, o->kind == TK_OPTION_FLAG ? "" : "=");
		if (strncmp(name, current, strlen(current)) == 0)
			puts(name);
	}
}

/* "a|b c": the words up to a blank, where they are no placeholders. */
static void print_words(const char *text)
{
	char word[64];

	while (islower((unsigned char)*text)) {
		size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_");

		snprintf(word, sizeof word, "%.*s", (int)n, text);
		print_name(word);
		text += n + (text[n] == '|');
	}
}

/* The words that may come first in a line of the usage: "[list]", "list|check [SUITE]". */
static void print_actions(const struct tk_usage *u)
{
	for (const char *line = u->arguments; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		print_words(line + (*line == '['));
	}
}

/* ---- the line -------------------------------------------------------------------------------- */

static const char *word_at(size_t i)
{
	return i < opt.words.count ? opt.words.items[i] : "";
}

/* The first word that is neither a global option nor its value. bash splits --option=value at the
 * sign. */
static const char *find_command(void)
{
	for (size_t i = 0; i + 1 < opt.words.count; i++) {
		const struct tk_option *o = find_option(tk_global_options, word_at(i));

		if (o && o->kind != TK_OPTION_FLAG)
			i += strcmp(word_at(i + 1), "=") == 0 ? 2 : 1;
		else if (*word_at(i) != '-' && strcmp(word_at(i), "=") != 0)
			return word_at(i);
	}
	return "";
}

/* The word whose value is to be completed. */
static const char *find_owner(void)
{
	size_t last = opt.words.count - 1;

	if (strcmp(current, "=") == 0) {
		current = "";
		return last ? word_at(last - 1) : "";
	}
	if (last && strcmp(word_at(last - 1), "=") == 0)
		return last > 1 ? word_at(last - 2) : "";
	return last ? word_at(last - 1) : "";
}

/* The first line says whether files (-f) or folders (-d) are meant instead of the words below. */
static void complete(struct tk_globals *g)
{
	const char *name = find_command(), *owner;
	const struct tk_command *c = tk_command_find(name);
	const struct tk_option *own = c ? c->usage.options : NULL, *o;

	current = word_at(opt.words.count - 1);
	owner = find_owner();
	o = find_option(own, owner);
	o = o ? o : find_option(tk_global_options, owner);
	if (o && o->kind != TK_OPTION_FLAG && !o->words && strstr(o->arg, "DIR")) {
		puts("-d");
		return;
	}
	if (o && o->kind != TK_OPTION_FLAG && !o->words && strstr(o->arg, "FILE")) {
		puts("-f");
		return;
	}
	putchar('\n');
	if (o && o->words) {
		print_words(o->words);
	} else if (*current == '-') {
		print_option_names(own);
		print_option_names(tk_global_options);
		print_option_names(common);
	} else if (!c || strcmp(name, "help") == 0) {
		for (const struct tk_command *const *each = tk_commands; *each; each++)
			if (!(*each)->hidden)
				print_name((*each)->name);
	} else {
		print_actions(&c->usage);
		print_names(g, c->usage.arguments);
	}
}

static const char script[] =
        "# bash completion of tracker: source <(tracker completion)\n"
        "_tracker()\n{\n"
        "\tlocal cur=${COMP_WORDS[COMP_CWORD]} answer\n"
        "\tmapfile -t answer < <(\"${COMP_WORDS[0]}\" completion words -- "
        "\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
        "\t[[ $cur == = ]] && cur=\n"
        "\tif [[ ${answer[0]} == -* ]]; then\n"
        "\t\tcompopt -o filenames 2>/dev/null\n"
        "\t\tmapfile -t COMPREPLY < <(compgen \"${answer[0]}\" -- \"$cur\")\n"
        "\t\treturn\n\tfi\n"
        "\tCOMPREPLY=(\"${answer[@]:1}\")\n"
        "\t[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace "
        "2>/dev/null\n"
        "\treturn 0\n}\n"
        "complete -o default -F _tracker tracker\n";

/* ---- command --------------------------------------------------------------------------------- */

static const struct tk_option options[] = {
        {TK_OPT_ARGUMENT(&opt.shell, NULL)},
        {TK_OPT_ARGUMENTS(&opt.words, NULL)},
        {0},
};

/* The script calls `tracker completion words -- WORD...`. */
static int check_options(struct tk_error *err)
{
	if (!opt.shell || (strcmp(opt.shell, "bash") == 0 && !opt.words.count) ||
	        (strcmp(opt.shell, "words") == 0 && opt.words.count))
		return TK_OK;
	return tk_fail(err, TK_EUSAGE, "unknown shell \"%s\"; expected bash", opt.shell);
}

static int run_completion(struct tk_globals *g, struct tk_error *err)
{
	if (opt.words.count)
		complete(g);
	else
		fputs(script, stdout);
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
