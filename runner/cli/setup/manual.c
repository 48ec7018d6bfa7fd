/* `tracker help` and `tracker manual`: the manual, from the table of commands and their options.
 *
 * One walk writes both forms, man(7) and Markdown; a form is how it marks headings, entries, text
 * and code. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "cli/commands.h"
#include "config/reference.h"

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

/* ---- text in both forms ---------------------------------------------------------------------- */

/* Escapes what roff would take for a request or a typographic sign. */
static void put_roff(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((i == 0 || text[i - 1] == '\n') && (text[i] == '.' || text[i] == '\''))
			fputs("\\&", out);
		if (text[i] == '\\')
			fputs("\\e", out);
		else if (text[i] == '-')
			fputs("\\-", out);
		else if (text[i] != '`')
			fputc(text[i], out);
	}
}

/* Escapes what Markdown would take for markup, except between backticks. */
static void put_markdown(FILE *out, const char *text, size_t len, bool in_cell)
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

/* A paragraph, wrapped between words. */
static void put_wrapped(FILE *out, const char *text, size_t len)
{
	size_t column = 0;

	for (size_t i = 0; i < len;) {
		size_t word = 0;

		while (i < len && (text[i] == ' ' || text[i] == '\n'))
			i++;
		while (i + word < len && text[i + word] != ' ' && text[i + word] != '\n')
			word++;
		if (!word)
			break;
		if (column && column + 1 + word > WRAP_COLUMN)
			column = 0, fputc('\n', out);
		else if (column)
			column++, fputc(' ', out);
		put_markdown(out, text + i, word, false);
		column += word;
		i += word;
	}
	fputc('\n', out);
}

/* Lines from `text` on that are all indented, or all not, up to an empty line. */
static size_t block_length(const char *text)
{
	bool is_code = *text == ' ';
	size_t len = 0;

	while (text[len] && text[len] != '\n' && (text[len] == ' ') == is_code)
		len += strcspn(text + len, "\n") + (strchr(text + len, '\n') != NULL);
	return len;
}

static void put_block(FILE *out, bool man, const char *text, size_t len)
{
	bool is_code = *text == ' ',
	     is_shell = strncmp(text, "  tracker ", 10) == 0 || strncmp(text, "  git ", 6) == 0;

	if (!is_code && !man) {
		put_wrapped(out, text, len);
	} else if (man) {
		fputs(is_code ? ".RS 4\n.nf\n" : "", out);
		put_roff(out, text, len);
		fputs(text[len - 1] == '\n' ? "" : "\n", out);
		fputs(is_code ? ".fi\n.RE\n" : "", out);
	} else {
		fputs(is_shell ? "```sh\n" : "```\n", out);
		for (size_t at = 0; at < len; at += strcspn(text + at, "\n") + 1)
			fprintf(out, "%.*s\n", (int)strcspn(text + at + 2, "\n"), text + at + 2);
		fputs("```\n", out);
	}
}

/* Prose as paragraphs, indented lines as code. */
static void put_text(FILE *out, bool man, const char *text)
{
	for (size_t len; *text; text += len) {
		len = *text == '\n' ? 1 : block_length(text);
		if (*text != '\n' && !man)
			fputc('\n', out);
		if (*text != '\n')
			put_block(out, man, text, len);
		else if (man)
			fputs(".PP\n", out);
	}
}

/* ---- parts of a page ------------------------------------------------------------------------- */

static void put_heading(FILE *out, bool man, const char *text)
{
	if (!man) {
		fprintf(out, "\n## %s\n", text);
		return;
	}
	fputs(".SH \"", out);
	for (; *text; text++)
		fputc(toupper((unsigned char)*text), out);
	fputs("\"\n", out);
}

static void put_table_head(FILE *out, bool man, const char *what)
{
	if (!man)
		fprintf(out, "\n| %s | meaning |\n| --- | --- |\n", what);
}

/* `mark`: what Markdown puts around the name. */
static void put_entry(FILE *out, bool man, const char *mark, const char *name, const char *meaning)
{
	if (man) {
		fputs(".TP\n.B ", out);
		put_roff(out, name, strlen(name));
		fputc('\n', out);
		put_roff(out, meaning, strlen(meaning));
		fputc('\n', out);
		return;
	}
	fprintf(out, "| %s%s%s | ", mark, name, mark);
	put_markdown(out, meaning, strlen(meaning), true);
	fputs(" |\n", out);
}

static void put_man_option(FILE *out, const struct tk_option *o)
{
	fputs(".TP\n", out);
	if (o->letter)
		fprintf(out, "\\fB\\-%c\\fR%s", o->letter, o->name ? ", " : "");
	if (o->name) {
		fputs("\\fB\\-\\-", out);
		put_roff(out, o->name, strlen(o->name));
		fputs("\\fR", out);
	}
	if (o->kind != TK_OPTION_FLAG) {
		fprintf(out, "%s\\fI", o->name ? "=" : " ");
		put_roff(out, o->arg, strlen(o->arg));
		fputs("\\fR", out);
	}
	fputc('\n', out);
	put_roff(out, o->help, strlen(o->help));
	fputc('\n', out);
}

static void put_markdown_option(FILE *out, const struct tk_option *o)
{
	const char *arg = o->kind == TK_OPTION_FLAG ? NULL : o->arg;

	fputs("| ", out);
	if (o->letter)
		fprintf(out, "`-%c%s%s`%s", o->letter, !o->name && arg ? " " : "",
		        !o->name && arg ? arg : "", o->name ? ", " : "");
	if (o->name) {
		fprintf(out, "`--%s%s", o->name, arg ? "=" : "");
		put_markdown(out, arg ? arg : "", arg ? strlen(arg) : 0, true);
		fputc('`', out);
	}
	fputs(" | ", out);
	put_markdown(out, o->help, strlen(o->help), true);
	fputs(" |\n", out);
}

static void put_options(FILE *out, bool man, const struct tk_option *options)
{
	bool starts = true;

	for (const struct tk_option *o = options; o && o->kind; o++) {
		if (o->kind == TK_OPTION_HEADING) {
			if (man && starts)
				put_heading(out, man, "options");
			fprintf(out, man ? ".SS %s\n" : "\n%s:\n", o->help);
			put_table_head(out, man, "option");
			starts = false;
		}
		if (!tk_option_is_listed(o))
			continue;
		if (starts && man)
			put_heading(out, man, "options");
		else if (starts)
			put_table_head(out, man, "option");
		starts = false;
		(man ? put_man_option : put_markdown_option)(out, o);
	}
}

/* "list\nshow ID": one line each. */
static void put_synopsis(FILE *out, bool man, const struct tk_command *c)
{
	const char *args = c->usage.arguments ? c->usage.arguments : "";
	bool has_options = false;

	for (const struct tk_option *o = c->usage.options; o && o->kind; o++)
		has_options = has_options || tk_option_is_listed(o);
	fputs(man ? ".SH SYNOPSIS\n.nf\n" : "\n```\n", out);
	do {
		size_t len = strcspn(args, "\n");

		fprintf(out, man ? "\\fBtracker %s\\fR%s%s" : "tracker %s%s%s", c->name,
		        !has_options ? ""
		        : man        ? " [\\fIOPTION\\fR...]"
		                     : " [OPTION...]",
		        len ? " " : "");
		if (man)
			put_roff(out, args, len);
		else
			fprintf(out, "%.*s", (int)len, args);
		fputc('\n', out);
		args += len;
	} while (*args++ == '\n');
	fputs(man ? ".fi\n" : "```\n", out);
}

static void put_command(FILE *out, bool man, const struct tk_command *c)
{
	AUTO_TEXT purpose = tk_usage_purpose(&c->usage);
	AUTO_TEXT notes = tk_usage_notes(&c->usage);

	put_synopsis(out, man, c);
	if (man)
		put_heading(out, man, "description");
	put_text(out, man, purpose);
	put_options(out, man, c->usage.options);
	if (man && *notes)
		put_heading(out, man, "notes");
	put_text(out, man, notes);
}

static void put_exit_codes(FILE *out, bool man)
{
	put_heading(out, man, man ? "exit status" : "Exit codes");
	put_table_head(out, man, "code");
	for (int code = 0; code < TK_EXIT_COUNT; code++)
		put_entry(out, man, "", (char[]){(char)('0' + code), '\0'},
		        tk_exit_meaning((enum tk_exit)code));
}

static void put_environment(FILE *out, bool man)
{
	put_heading(out, man, "Environment");
	put_table_head(out, man, "variable");
	for (size_t i = 0; i < sizeof environment / sizeof *environment; i++)
		put_entry(out, man, "`", environment[i].name, environment[i].meaning);
}

/* ---- documents ------------------------------------------------------------------------------- */

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
	fputs("\n## Global options\n\nThey may stand before or after the command.\n", out);
	put_options(out, false, tk_global_options);
	fputs("\nTimes are written `2026-11-21`, `2026-11-21T09:42:00Z` or `@1700000000`; "
	      "durations `90s`,\n"
	      "`15m`, `2h`, `7d` or `2w`.\n",
	        out);
	put_exit_codes(out, false);
	put_environment(out, false);
	for (const struct tk_command *const *c = tk_commands; *c; c++) {
		if ((*c)->hidden)
			continue;
		fprintf(out, "\n## `tracker %s`\n", (*c)->name);
		put_command(out, false, *c);
	}
}

static void put_man_header(FILE *out, const char *name, const char *summary)
{
	fputs(".\\\" Made by `tracker manual`; do not edit.\n.TH \"", out);
	for (const char *c = name; *c; c++)
		fprintf(out, "%s%c", *c == '-' ? "\\" : "", toupper((unsigned char)*c));
	fputs("\" 1 \"\" \"tracker " TK_VERSION "\" \"tracker manual\"\n.SH NAME\n", out);
	put_roff(out, name, strlen(name));
	fputs(" \\- ", out);
	put_roff(out, summary, strlen(summary));
	fputc('\n', out);
}

/* tracker-COMMAND(1) */
static void write_man_command(const struct tk_command *c, const char *name, FILE *out)
{
	put_man_header(out, name, c->summary);
	put_command(out, true, c);
	fputs(".SH \"SEE ALSO\"\n.BR tracker (1)\n(global options, exit codes, environment),\n"
	      ".BR tracker.yml (5)\n",
	        out);
}

/* tracker(1) */
static void write_man_overview(const struct tk_command *unused, const char *name, FILE *out)
{
	(void)unused;
	put_man_header(out, name, "a nightly performance tracker for GPU kernels");
	fputs(".SH SYNOPSIS\n\\fBtracker\\fR [\\fIOPTION\\fR...] \\fICOMMAND\\fR "
	      "[\\fIOPTION\\fR...]\n"
	      ".SH DESCRIPTION\n",
	        out);
	put_roff(out, tk_command_purpose, strlen(tk_command_purpose));
	fputs("\n.SH COMMANDS\n", out);
	for (const struct tk_command *const *c = tk_commands; *c; c++) {
		if ((*c)->hidden)
			continue;
		fprintf(out, ".TP\n.BR tracker\\-%s (1)\n", (*c)->name);
		put_roff(out, (*c)->summary, strlen((*c)->summary));
		fputc('\n', out);
	}
	put_options(out, true, tk_global_options);
	put_exit_codes(out, true);
	put_environment(out, true);
	put_heading(out, true, "files");
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		put_entry(out, true, "", files[i].name, files[i].meaning);
	fputs(".SH \"SEE ALSO\"\n.BR tracker.yml (5)\n", out);
}

static int write_page(const char *dir, const char *name, const struct tk_command *c,
        void (*write)(const struct tk_command *, const char *, FILE *), struct tk_error *err)
{
	AUTO_TEXT path = tk_sprintf("%s/%s.1", dir, name);
	AUTO_TEXT text = NULL;
	size_t size = 0;
	FILE *f = tk_check_memory(open_memstream(&text, &size));

	write(c, name, f);
	fclose(f);
	return tk_file_write(path, text, size, err);
}

static int write_man_pages(const char *dir, struct tk_error *err)
{
	AUTO_TEXT path = tk_sprintf("%s/tracker.yml.5", dir);
	AUTO(tk_buf) config = TK_BUF_INIT;
	char name[64];

	TRY(tk_dir_create(dir, err));
	TRY(write_page(dir, "tracker", NULL, write_man_overview, err));
	tk_config_write_man_page(&config);
	TRY(tk_file_write(path, tk_buf_cstr(&config), config.len, err));
	for (const struct tk_command *const *c = tk_commands; *c; c++) {
		snprintf(name, sizeof name, "tracker-%s", (*c)->name);
		if (!(*c)->hidden)
			TRY(write_page(dir, name, *c, write_man_command, err));
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

	(void)g;
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

	(void)g;
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
