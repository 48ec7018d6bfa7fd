/* See options.h. */
#include "base/options.h"

#include <argp.h>

#define ROWS_MAX 96
#define WORDS_MAX 16
#define KEY_BASE 0x1000 /* of an option without a letter: KEY_BASE + its row */

struct line {
	const struct tk_usage *usage;
	const struct tk_option *rows[ROWS_MAX + 1]; /* the command's own, then the global ones */
	bool is_given[ROWS_MAX + 1];
	size_t own, count;
	int rest; /* position of the first argument that is left */
};

bool tk_option_is_listed(const struct tk_option *o)
{
	return o->kind > TK_OPTION_HEADING && o->kind < TK_OPTION_ARGUMENT;
}

static void add_rows(struct line *l, const struct tk_option *rows)
{
	for (; rows && rows->kind && l->count < ROWS_MAX; rows++)
		l->rows[l->count++] = rows;
}

static size_t find_row(const struct line *l, const char *name)
{
	size_t i = 0;

	while (i < l->count && !(l->rows[i]->name && strcmp(l->rows[i]->name, name) == 0))
		i++;
	return i;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Cuts "a|b|c" into its words. */
static void split_words(char *text, const char *words[WORDS_MAX + 1])
{
	size_t count = 0;

	for (char *word; count < WORDS_MAX && (word = strsep(&text, "|"));)
		words[count++] = word;
	words[count] = NULL;
}

static void take_word(const struct tk_option *o, const char *arg, struct argp_state *state)
{
	char text[256], list[TK_SUGGEST_HINT_SIZE], hint[TK_SUGGEST_HINT_SIZE];
	const char *words[WORDS_MAX + 1];
	int i = 0;

	snprintf(text, sizeof text, "%s", o->words);
	split_words(text, words);
	while (words[i] && strcmp(words[i], arg) != 0)
		i++;
	if (!words[i])
		argp_error(state, "--%s=%s: expected %s%s", o->name, arg,
		        tk_suggest_list(words, list), tk_suggest_hint(arg, words, "", hint));
	else if (o->size == sizeof(bool))
		*(bool *)o->to = i;
	else
		*(int *)o->to = i;
}

static void take_number(const struct tk_option *o, const char *arg, struct argp_state *state)
{
	struct tk_error why = {0};
	double x = 0;

	if (tk_units_parse(o->unit, arg, o->min, o->max, &x, &why)) {
		argp_error(state, "--%s: %s", o->name, why.message);
		return;
	}
	switch (o->number) {
	case TK_OPTION_DOUBLE:
		*(double *)o->to = x;
		return;
	case TK_OPTION_SIZE:
		*(size_t *)o->to = (size_t)x;
		return;
	case TK_OPTION_INT64:
		*(int64_t *)o->to = (int64_t)x;
		return;
	case TK_OPTION_INT:
		*(int *)o->to = (int)x;
		return;
	}
}

void tk_option_list_append(struct tk_option_list *list, char *item)
{
	list->items = tk_reallocarray(list->items, list->count + 2, sizeof *list->items);
	list->items[list->count++] = item;
	list->items[list->count] = NULL;
}

static void take_items(const struct tk_option *o, char *arg, struct argp_state *state)
{
	struct tk_option_list *list = o->to;

	for (char *item; (item = strsep(&arg, ","));)
		if (*item)
			tk_option_list_append(list, item);
	if (!list->count)
		argp_error(state, "--%s: expected a list of %s", o->name, o->name);
}

static void take_parsed(const struct tk_option *o, const char *arg, struct argp_state *state)
{
	struct tk_error why = {0};

	if (!o->parse(arg, o->to, &why))
		return;
	if (!o->name)
		argp_failure(
		        state, argp_err_exit_status, 0, "-%c %s: %s", o->letter, arg, why.message);
	if (strncmp(why.message, "expected", 8) == 0)
		argp_error(state, "--%s=%s: %s", o->name, arg, why.message);
	else
		argp_error(state, "--%s: %s", o->name, why.message);
}

static void take_value(const struct tk_option *o, char *arg, struct argp_state *state)
{
	switch (o->kind) {
	case TK_OPTION_FLAG:
		*(bool *)o->to = true;
		return;
	case TK_OPTION_WORD:
		take_word(o, arg, state);
		return;
	case TK_OPTION_NUMBER:
		take_number(o, arg, state);
		return;
	case TK_OPTION_LIST:
		tk_option_list_append(o->to, arg);
		return;
	case TK_OPTION_ITEMS:
		take_items(o, arg, state);
		return;
	case TK_OPTION_PARSED:
		take_parsed(o, arg, state);
		return;
	case TK_OPTION_HEADING:
	case TK_OPTION_TEXT:
	case TK_OPTION_ARGUMENT:
	case TK_OPTION_ARGUMENTS:
		*(const char **)o->to = arg;
		return;
	}
}

/* ---- the line -------------------------------------------------------------------------------- */

static error_t take_argument(struct line *l, char *arg, struct argp_state *state)
{
	const struct tk_usage *u = l->usage;

	if (u->stops_at_argument) {
		l->rest = state->next - 1;
		state->next = state->argc;
		return 0;
	}
	for (size_t i = 0; i < l->own; i++) {
		if (l->rows[i]->kind == TK_OPTION_ARGUMENTS)
			return ARGP_ERR_UNKNOWN; /* they come together as ARGP_KEY_ARGS */
		if (l->rows[i]->kind != TK_OPTION_ARGUMENT || l->is_given[i])
			continue;
		l->is_given[i] = true;
		take_value(l->rows[i], arg, state);
		return 0;
	}
	argp_error(state, "unexpected argument \"%s\"%s%s", arg, u->surplus ? "; " : "",
	        u->surplus ? u->surplus : "");
	return 0;
}

static void take_arguments(struct line *l, struct argp_state *state)
{
	for (size_t i = 0; i < l->own; i++)
		if (l->rows[i]->kind == TK_OPTION_ARGUMENTS) {
			l->is_given[i] = true;
			*(struct tk_option_list *)l->rows[i]->to = (struct tk_option_list){
			        state->argv + state->next, (size_t)(state->argc - state->next)};
		}
}

static void check_partners(const struct line *l, size_t row, struct argp_state *state)
{
	const struct tk_option *o = l->rows[row];
	char other[64];

	for (const char *p = o->excludes; p && *p; p += strcspn(p, " "), p += *p == ' ') {
		snprintf(other, sizeof other, "%.*s", (int)strcspn(p, " "), p);
		if (l->is_given[find_row(l, other)])
			argp_error(state, "--%s and --%s exclude each other", o->name, other);
	}
	if (o->needs && !l->is_given[find_row(l, o->needs)])
		argp_error(state, "--%s needs --%s", o->name, o->needs);
}

static void check_line(const struct line *l, struct argp_state *state)
{
	struct tk_error why = {0};

	for (size_t i = 0; i < l->own; i++) {
		const struct tk_option *o = l->rows[i];

		if (l->is_given[i])
			check_partners(l, i, state);
		else if (o->kind >= TK_OPTION_ARGUMENT && o->arg)
			argp_error(state, "%s", o->arg);
	}
	if (l->usage->check && l->usage->check(&why))
		argp_error(state, "%s", why.message);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct line *l = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		return take_argument(l, arg, state);
	case ARGP_KEY_ARGS:
		take_arguments(l, state);
		return 0;
	case ARGP_KEY_END:
		check_line(l, state);
		return 0;
	}
	for (size_t i = 0; i < l->count; i++)
		if (key == (l->rows[i]->letter ? l->rows[i]->letter : KEY_BASE + (int)i)) {
			l->is_given[i] = true;
			take_value(l->rows[i], arg, state);
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

/* ---- unknown names --------------------------------------------------------------------------- */

/* As getopt_long: a name may be shortened to any prefix. */
static bool is_option_name(const struct line *l, const char *name)
{
	static const char *const of_argp[] = {"help", "usage", "version", "program-name", "HANG"};
	size_t len = strlen(name);

	for (size_t i = 0; i < l->count; i++)
		if (l->rows[i]->name && strncmp(l->rows[i]->name, name, len) == 0)
			return true;
	for (size_t i = 0; i < sizeof of_argp / sizeof *of_argp; i++)
		if (strncmp(of_argp[i], name, len) == 0)
			return true;
	return false;
}

/* argp reports an unknown option without a suggestion; report it here if a known one is near. */
static void check_name(const struct line *l, const char *program, const char *arg)
{
	const char *names[ROWS_MAX + 1], *near;
	char name[64];
	size_t count = 0;

	snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, "="), arg);
	if (!*name || is_option_name(l, name))
		return;
	for (size_t i = 0; i < l->count; i++)
		if (l->rows[i]->name)
			names[count++] = l->rows[i]->name;
	names[count] = NULL;
	near = tk_suggest_name(name, names);
	if (!near)
		return;
	fprintf(stderr, "%s: unknown option \"--%s\"; did you mean \"--%s\"?\n", program, name,
	        near);
	exit(argp_err_exit_status);
}

/* Whether `arg` is an option whose value is the next argument: "--note", "-C". */
static bool takes_next(const struct line *l, const char *arg)
{
	for (size_t i = 0; *arg == '-' && arg[1] && i < l->count; i++) {
		const struct tk_option *o = l->rows[i];

		if (!tk_option_is_listed(o))
			continue;
		if (arg[1] == '-' ? o->name && strncmp(o->name, arg + 2, strlen(arg + 2)) == 0
		                  : arg[1] == o->letter && !arg[2])
			return o->kind != TK_OPTION_FLAG;
	}
	return false;
}

/* Not of the values of options, which may be any text. */
static void check_names(const struct line *l, int argc, char **argv)
{
	bool stops = l->usage->stops_at_argument;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (stops && *argv[i] != '-')
			return;
		if (strncmp(argv[i], "--", 2) == 0)
			check_name(l, argv[0], argv[i] + 2);
		i += takes_next(l, argv[i]);
	}
}

/* ---- argp ------------------------------------------------------------------------------------ */

/* `out` has room for all rows and an end. The groups of options are those of the headings; global
 * ones are hidden, in the group of --help: another one would leave a blank line. */
static void make_argp_options(const struct line *l, struct argp_option *out)
{
	int group = 0;

	for (size_t i = 0; i < l->count; i++) {
		const struct tk_option *o = l->rows[i];

		if (o->kind == TK_OPTION_HEADING)
			*out++ = (struct argp_option){.doc = o->help, .group = ++group};
		if (!tk_option_is_listed(o))
			continue;
		*out++ = (struct argp_option){.name = o->name,
		        .key = o->letter ? o->letter : KEY_BASE + (int)i,
		        .arg = o->kind == TK_OPTION_FLAG ? NULL : o->arg,
		        .flags = i < l->own ? 0 : OPTION_HIDDEN,
		        .doc = o->help,
		        .group = i < l->own ? group : -1};
	}
	*out = (struct argp_option){0};
}

static char *filter_help(int key, const char *text, void *input)
{
	const struct line *l = input;

	if (key != ARGP_KEY_HELP_POST_DOC || !l || !l->usage->write_notes)
		return (char *)text;
	return tk_usage_notes(l->usage);
}

int tk_options_parse(
        const struct tk_usage *u, const struct tk_option *global, int argc, char **argv)
{
	struct line l = {.usage = u, .rest = argc};
	struct argp_option options[ROWS_MAX + 1];
	const struct argp argp = {options, parse, u->arguments, u->help, NULL, filter_help, NULL};

	add_rows(&l, u->options);
	l.own = l.count;
	add_rows(&l, global);
	make_argp_options(&l, options);
	check_names(&l, argc, argv);
	argp_parse(&argp, argc, argv, u->stops_at_argument ? ARGP_IN_ORDER : 0, NULL, &l);
	return l.rest;
}

static error_t parse_nothing(int key, char *arg, struct argp_state *state)
{
	(void)key, (void)arg, (void)state;
	return ARGP_ERR_UNKNOWN;
}

/* argp_help() has no input for the filter, so the notes are put into the text here. */
void tk_options_print_help(const struct tk_usage *u, const char *name, FILE *out)
{
	/* argp adds these itself when it parses, but not when it only prints. */
	static const struct argp_option common_options[] = {
	        {"help", '?', NULL, 0, "Give this help list", -1},
	        {"usage", 0x100, NULL, 0, "Give a short usage message", 0},
	        {"version", 'V', NULL, 0, "Print program version", -1},
	        {0},
	};
	static const struct argp common = {.options = common_options};
	static const struct argp_child children[] = {{&common, 0, NULL, 0}, {0}};
	struct line l = {.usage = u};
	struct argp_option options[ROWS_MAX + 1];
	AUTO_TEXT purpose = tk_usage_purpose(u), *notes = tk_usage_notes(u);
	AUTO_TEXT help = tk_sprintf("%s\v%s", purpose, notes);

	add_rows(&l, u->options);
	l.own = l.count;
	make_argp_options(&l, options);
	/* NULL, not a list of none: glibc does not free what it makes of that. */
	const struct argp argp = {
	        options[0].doc ? options : NULL, parse_nothing, u->arguments, help, children};
	argp_help(&argp, out, ARGP_HELP_STD_HELP, (char *)name);
}

char *tk_usage_purpose(const struct tk_usage *u)
{
	return tk_strndup(u->help, strcspn(u->help, "\v"));
}

char *tk_usage_notes(const struct tk_usage *u)
{
	const char *notes = strchr(u->help, '\v');
	char *text = NULL;
	size_t size = 0;
	FILE *f = tk_check_memory(open_memstream(&text, &size));

	if (u->write_notes)
		u->write_notes(f);
	fputs(notes ? notes + 1 : "", f);
	fclose(f);
	return tk_check_memory(text);
}

int tk_options_fail_action(const char *word, const char *const *known, struct tk_error *err)
{
	char hint[TK_SUGGEST_HINT_SIZE];

	return tk_fail(err, TK_EUSAGE, "unknown action \"%.60s\"%s", word,
	        tk_suggest_hint(word, known, NULL, hint));
}
