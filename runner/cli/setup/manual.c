/* `tracker help` and `tracker manual`: the manual, from the table of commands and their options.
 * It is written in Markdown, of which put_man() makes man pages. */
#include <ctype.h>

#include "cli/commands.h"
#include "config/config.h"

#define WRAP_COLUMN 100

static const struct {
	const char *name, *meaning;
} environment[] =
        {
                {"NO_COLOR", "Set to anything: no colours, as with --color=never"},
                {"TRACKER_BACKENDS",
                        "The folder of the modules tk_backend_*.so and tk_device_*.so (default: "
                        "backends/ beside the program, else ../lib/tracker/backends)"},
                {"TRACKER_CACHE", "The folder of work trees and built artifacts (default: "
                                  "$XDG_CACHE_HOME/tracker, "
                                  "else ~/.cache/tracker)"},
                {"TRACKER_DATADIR",
                        "The folder that has suites/, templates/ and kernels/adapters/"},
                {"TRACKER_NOW", "The time that counts as now, for reproducible runs"},
},
  files[] = {
          {"tracker.yml", "The configuration; see tracker.yml(5)"},
          {"acks.yml", "Changes that somebody accepted"},
          {"tracker.db", "The history, a SQLite database"},
          {"site/", "The dashboard"},
};

/* ---- Markdown -------------------------------------------------------------------------------- */

/* Escapes what Markdown would take for markup, except between backticks. */
static void put_escaped(FILE *out, const char *text, size_t len, bool in_cell)
{
	bool code = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '`')
			code = !code;
		if ((in_cell && text[i] == '|') || (!code && strchr("*<", text[i])))
			fputc('\\', out);
		fputc(text[i], out);
	}
}

static void put_cell(FILE *out, const char *text)
{
	put_escaped(out, text, strlen(text), true);
}

/* A paragraph, wrapped between words. */
static void put_wrapped(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0, column = 0, word; i < len; i += word) {
		i += strspn(text + i, " \n");
		word = strcspn(text + i, " \n");
		if (i + word > len || !word)
			break;
		bool breaks = column && column + 1 + word > WRAP_COLUMN;

		fputs(breaks ? "\n" : column ? " " : "", out);
		put_escaped(out, text + i, word, false);
		column = breaks ? word : column + (column > 0) + word;
	}
	fputc('\n', out);
}

/* Prose as paragraphs, indented lines as code. */
static void put_text(FILE *out, const char *text)
{
	for (size_t len; *text; text += len) {
		bool is_code = *text == ' ';

		for (len = 0; text[len] && text[len] != '\n' && (text[len] == ' ') == is_code;)
			len += strcspn(text + len, "\n") + (strchr(text + len, '\n') != NULL);
		if (!len) {
			len = 1;
		} else if (!is_code) {
			fputc('\n', out);
			put_wrapped(out, text, len);
		} else {
			fputs(strncmp(text, "  tracker ", 10) == 0 ||
			                        strncmp(text, "  git ", 6) == 0
			                ? "\n```sh\n"
			                : "\n```\n",
			        out);
			for (size_t at = 0; at < len; at += strcspn(text + at, "\n") + 1)
				fprintf(out, "%.*s\n", (int)strcspn(text + at + 2, "\n"),
				        text + at + 2);
			fputs("```\n", out);
		}
	}
}

static void put_table_head(FILE *out, const char *what)
{
	fprintf(out, "\n| %s | meaning |\n| --- | --- |\n", what);
}

/* `mark`: what stands around the name. */
static void put_entry(FILE *out, const char *mark, const char *name, const char *meaning)
{
	fprintf(out, "| %s%s%s | ", mark, name, mark);
	put_cell(out, meaning);
	fputs(" |\n", out);
}

static void put_option(FILE *out, const struct tk_option *o)
{
	const char *arg = o->kind == TK_OPTION_FLAG ? NULL : o->arg;

	fputs("| ", out);
	if (o->letter)
		fprintf(out, "`-%c%s%s`%s", o->letter, !o->name && arg ? " " : "",
		        !o->name && arg ? arg : "", o->name ? ", " : "");
	if (o->name) {
		fprintf(out, "`--%s%s", o->name, arg ? "=" : "");
		put_cell(out, arg ? arg : "");
		fputc('`', out);
	}
	fputs(" | ", out);
	put_cell(out, o->help);
	fputs(" |\n", out);
}

static void put_options(FILE *out, const struct tk_option *options, const char *heading)
{
	bool starts = true;

	for (const struct tk_option *o = options; o && o->kind; o++) {
		if (o->kind != TK_OPTION_HEADING && !tk_option_is_listed(o))
			continue;
		if (starts)
			fputs(heading, out);
		if (o->kind == TK_OPTION_HEADING)
			fprintf(out, "\n%s:\n", o->help);
		if (starts || o->kind == TK_OPTION_HEADING)
			put_table_head(out, "option");
		starts = false;
		if (o->kind != TK_OPTION_HEADING)
			put_option(out, o);
	}
}

/* "list\nshow ID": one line each. */
static void put_synopsis(FILE *out, const struct tk_command *c)
{
	const char *args = c->usage.arguments ? c->usage.arguments : "";
	bool has_options = false;

	for (const struct tk_option *o = c->usage.options; o && o->kind; o++)
		has_options = has_options || tk_option_is_listed(o);
	fputs("\n```\n", out);
	do {
		size_t len = strcspn(args, "\n");

		fprintf(out, "tracker %s%s%s%.*s\n", c->name, has_options ? " [OPTION...]" : "",
		        len ? " " : "", (int)len, args);
		args += len;
	} while (*args++ == '\n');
	fputs("```\n", out);
}

/* Of a man page: with headings. */
static void put_command(FILE *out, bool man, const struct tk_command *c)
{
	AUTO_TEXT purpose = tk_usage_purpose(&c->usage);
	AUTO_TEXT notes = tk_usage_notes(&c->usage);

	fputs(man ? "\n## Synopsis\n" : "", out);
	put_synopsis(out, c);
	fputs(man ? "\n## Description\n" : "", out);
	put_text(out, purpose);
	put_options(out, c->usage.options, man ? "\n## Options\n" : "");
	fputs(man && *notes ? "\n## Notes\n" : "", out);
	put_text(out, notes);
}

/* Exit codes and environment. */
static void put_surroundings(FILE *out, const char *exit_heading)
{
	fprintf(out, "\n## %s\n", exit_heading);
	put_table_head(out, "code");
	for (int code = 0; code < TK_EXIT_COUNT; code++)
		put_entry(out, "", (char[]){(char)('0' + code), '\0'},
		        tk_exit_meaning((enum tk_exit)code));
	fputs("\n## Environment\n", out);
	put_table_head(out, "variable");
	for (size_t i = 0; i < sizeof environment / sizeof *environment; i++)
		put_entry(out, "`", environment[i].name, environment[i].meaning);
}

/* docs/reference/commands.md */
static void write_markdown(FILE *out)
{
	fputs("# Commands\n\n"
	      "<!-- Made by `tracker manual markdown` from the option tables in runner/cli; do not "
	      "edit. -->\n\n"
	      "`tracker help` lists the commands. `tracker help COMMAND` and `man tracker-COMMAND` "
	      "list the\n"
	      "options of one. Results go to stdout; log and progress go to stderr.\n\n"
	      "| command | purpose |\n| --- | --- |\n",
	        out);
	for (const struct tk_command *const *c = tk_commands; *c; c++)
		if (!(*c)->hidden)
			fprintf(out, "| [`%s`](#tracker-%s) | %s |\n", (*c)->name, (*c)->name,
			        (*c)->summary);
	put_options(out, tk_global_options,
	        "\n## Global options\n\nThey may stand before or after the command.\n");
	fputs("\nTimes are written `2026-11-21`, `2026-11-21T09:42:00Z` or `@1700000000`; "
	      "durations `90s`,\n"
	      "`15m`, `2h`, `7d` or `2w`.\n",
	        out);
	put_surroundings(out, "Exit codes");
	for (const struct tk_command *const *c = tk_commands; *c; c++) {
		if ((*c)->hidden)
			continue;
		fprintf(out, "\n## `tracker %s`\n", (*c)->name);
		put_command(out, false, *c);
	}
}

/* ---- man pages ------------------------------------------------------------------------------- */

/* `code` is bold, [a link](target) is its text. Escapes what roff would take for a request or a
 * typographic sign. */
static void put_roff(FILE *out, const char *text, size_t len, bool is_code)
{
	bool bold = false;

	fputs(len && strchr(".'", *text) ? "\\&" : "", out);
	for (const char *p = text, *end = text + len; p < end; p++) {
		if (*p == '`' && !is_code) {
			bold = !bold;
			fputs(bold ? "\\fB" : "\\fR", out);
		} else if (*p == '\\' && !is_code && p + 1 < end && strchr("|*<", p[1])) {
			fputc(*++p, out);
		} else if (*p == ']' && !is_code && !bold && p[1] == '(') {
			p += strcspn(p, ")");
		} else if (*p == '[' && !is_code && !bold && strstr(p, "](")) {
			continue;
		} else {
			fprintf(out, *p == '\\' ? "\\e" : *p == '-' ? "\\-" : "%c", *p);
		}
	}
	fputc('\n', out);
}

/* The cell at *row, which is moved to the next one. Returns its length. */
static size_t next_cell(const char **row, const char **cell)
{
	const char *end = *cell = *row + strspn(*row, "| ");

	while (*end && *end != '\n' && !(end[0] == ' ' && end[1] == '|'))
		end++;
	*row = *end == ' ' ? end + 2 : end;
	return (size_t)(end - *cell);
}

/* A row of a table: the first cell names it, the last one explains it. */
static void put_man_row(FILE *out, const char *header, const char *row)
{
	const char *cell, *name;
	char *between = NULL;
	size_t len = next_cell(&row, &cell), size, name_len;
	FILE *more = tk_check_memory(open_memstream(&between, &size));

	fputs(".TP\n", out);
	put_roff(out, cell, len, false);
	next_cell(&header, &name);
	for (;;) {
		len = next_cell(&row, &cell);
		name_len = next_cell(&header, &name);
		if (strspn(row, " ") == strcspn(row, "\n"))
			break;
		fprintf(more, "%s%.*s: %.*s", ftell(more) ? "; " : "", (int)name_len, name,
		        (int)len, cell);
	}
	fclose(more);
	put_roff(out, cell, len, false);
	if (*between) {
		fputs(".br\n", out);
		put_roff(out, between, size, false);
	}
	free(between);
}

/* The Markdown of this file and of config/reference.h. */
static void put_man(FILE *out, const char *text)
{
	const char *header = "", *next;
	bool is_code = false, ends = false;

	for (; *text; text = next) {
		size_t len = strcspn(text, "\n");

		next = text + len + (text[len] == '\n');
		if (strncmp(text, "```", 3) == 0) {
			is_code = !is_code;
			fputs(is_code ? ".PP\n.RS 4\n.nf\n" : ".fi\n.RE\n", out);
		} else if (is_code) {
			put_roff(out, text, len, true);
		} else if (strncmp(text, "## ", 3) == 0) {
			fputs(".SH \"", out);
			for (size_t i = 3; i < len; i++)
				fputc(toupper((unsigned char)text[i]), out);
			fputs("\"\n", out);
		} else if (strncmp(next, "| ---", 5) == 0) {
			header = text;
		} else if (*text == '|') {
			if (strncmp(text, "| ---", 5) != 0)
				put_man_row(out, header, text);
		} else if (len && strncmp(text, "# ", 2) != 0 && strncmp(text, "<!--", 4) != 0) {
			bool is_item = strncmp(text, "- ", 2) == 0;

			fputs(is_item ? ".IP \\(bu 2\n" : ends ? ".PP\n" : "", out);
			text += is_item ? 2 : strspn(text, " ");
			put_roff(out, text, (size_t)(next - text) - (next[-1] == '\n'), false);
		}
		ends = !len;
	}
}

/* Writes DIR/NAME.SECTION of a text in Markdown, which it frees. */
static int write_page(const char *dir, const char *name, int section, const char *summary,
        char *markdown, struct tk_error *err)
{
	AUTO_TEXT path = tk_sprintf("%s/%s.%d", dir, name, section);
	AUTO_TEXT text = markdown;
	AUTO_TEXT page = NULL;
	size_t size = 0;
	FILE *out = tk_check_memory(open_memstream(&page, &size));

	fputs(".\\\" Made by `tracker manual`; do not edit.\n.TH \"", out);
	for (const char *c = name; *c; c++)
		fprintf(out, "%s%c", *c == '-' ? "\\" : "", toupper((unsigned char)*c));
	fprintf(out, "\" %d \"\" \"tracker " TK_VERSION "\" \"tracker manual\"\n.SH NAME\n",
	        section);
	fprintf(out, "%.*s%s%s \\- ", (int)strcspn(name, "-"), name, strchr(name, '-') ? "\\" : "",
	        name + strcspn(name, "-"));
	put_roff(out, summary, strlen(summary), false);
	put_man(out, text);
	fclose(out);
	return tk_file_write(path, page, size, err);
}

/* tracker-COMMAND(1), and with NULL tracker(1). */
static char *make_page(const struct tk_command *command)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = tk_check_memory(open_memstream(&text, &size));

	if (command) {
		put_command(out, true, command);
		fputs("\n## See also\n\n`tracker`(1) (global options, exit codes, environment), "
		      "`tracker.yml`(5)\n",
		        out);
	} else {
		fprintf(out,
		        "\n## Synopsis\n\n```\ntracker [OPTION...] COMMAND [OPTION...]\n```\n"
		        "\n## Description\n\n%s\n\n## Commands\n",
		        tk_command_purpose);
		put_table_head(out, "command");
		for (const struct tk_command *const *c = tk_commands; *c; c++)
			if (!(*c)->hidden)
				fprintf(out, "| `tracker-%s`(1) | %s |\n", (*c)->name,
				        (*c)->summary);
		put_options(out, tk_global_options, "\n## Options\n");
		put_surroundings(out, "Exit status");
		fputs("\n## Files\n", out);
		put_table_head(out, "file");
		for (size_t i = 0; i < sizeof files / sizeof *files; i++)
			put_entry(out, "`", files[i].name, files[i].meaning);
		fputs("\n## See also\n\n`tracker.yml`(5)\n", out);
	}
	fclose(out);
	return text;
}

static int write_man_pages(const char *dir, struct tk_error *err)
{
	AUTO(tk_buf) config = TK_BUF_INIT;

	TRY(tk_dir_create(dir, err));
	TRY(write_page(dir, "tracker", 1, "a nightly performance tracker for GPU kernels",
	        make_page(NULL), err));
	tk_buf_add_str(&config, "## Description\n");
	tk_config_write_reference(&config);
	tk_buf_add_str(&config, "\n## See also\n\n`tracker`(1)\n");
	TRY(write_page(dir, "tracker.yml", 5, "configuration of tracker",
	        tk_strdup(tk_buf_cstr(&config)), err));
	for (const struct tk_command *const *c = tk_commands; *c; c++) {
		AUTO_TEXT name = tk_sprintf("tracker-%s", (*c)->name);

		if (!(*c)->hidden)
			TRY(write_page(dir, name, 1, (*c)->summary, make_page(*c), err));
	}
	return TK_OK;
}

/* ---- commands -------------------------------------------------------------------------------- */

static const char *form, *dir, *topic;

static const struct tk_option manual_options[] = {
        {TK_OPT_ARGUMENT(&form, "missing FORM; expected markdown, configuration or man")},
        {TK_OPT_ARGUMENT(&dir, NULL)},
        {0},
};

static int check_manual(struct tk_error *err)
{
	if (strcmp(form, "man") == 0 ? dir != NULL
	                             : !dir && (strcmp(form, "markdown") == 0 ||
	                                               strcmp(form, "configuration") == 0))
		return TK_OK;
	return tk_fail(err, TK_EUSAGE, "expected markdown, configuration, or man and a folder");
}

static int run_manual(struct tk_globals *g, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;

	if (dir)
		return write_man_pages(dir, err);
	if (strcmp(form, "markdown") == 0) {
		write_markdown(stdout);
		return TK_OK;
	}
	tk_config_write_reference(&text);
	fputs(tk_buf_cstr(&text), stdout);
	return TK_OK;
}

const struct tk_command tk_command_manual = {.name = "manual",
        .summary = "write the manual (internal)",
        .usage = {.options = manual_options,
                .arguments = "markdown\nconfiguration\nman DIR",
                .check = check_manual,
                .help = "Write the manual: docs/reference/commands.md or "
                        "docs/reference/configuration.md to the standard output, or the man "
                        "pages to DIR.\v"
                        "Example:\n"
                        "  tracker manual man build/man"},
        .run = run_manual,
        .hidden = true};

static const struct tk_option help_options[] = {{TK_OPT_ARGUMENT(&topic, NULL)}, {0}};

static int run_help(struct tk_globals *g, struct tk_error *err)
{
	const struct tk_command *c = topic ? tk_command_find(topic) : NULL;
	char text[256];

	if (topic && !c)
		return tk_fail(err, TK_EUSAGE, "%s",
		        tk_command_describe_unknown(topic, text, sizeof text));
	if (!c) {
		tk_command_print_overview(stdout);
		return TK_OK;
	}
	snprintf(text, sizeof text, "tracker %s", c->name);
	tk_options_print_help(&c->usage, text, stdout);
	return TK_OK;
}

const struct tk_command tk_command_help = {.name = "help",
        .summary = "show help on a command",
        .usage = {.options = help_options,
                .arguments = "[COMMAND]",
                .surplus = "expected one command",
                .help = "Show help on a command, or list the commands.\v"
                        "Example:\n"
                        "  tracker help diff"},
        .run = run_help};
