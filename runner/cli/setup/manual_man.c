/* The man pages, from the option tables: man(7) macros. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/setup/manual.h"
#include "cli/setup/option_list.h"

/* Escapes what roff would take for a request or a typographic sign. */
static void put_text(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bool line_start = i == 0 || text[i - 1] == '\n';

		if (line_start && (text[i] == '.' || text[i] == '\''))
			fputs("\\&", out);
		if (text[i] == '\\')
			fputs("\\e", out);
		else if (text[i] == '-')
			fputs("\\-", out);
		else if (text[i] != '`')
			fputc(text[i], out);
	}
}

static void put_string(FILE *out, const char *text)
{
	put_text(out, text, strlen(text));
}

/* Prose as paragraphs, indented lines unfilled. */
static void put_doc(FILE *out, const char *text)
{
	bool verbatim = false;

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (verbatim != (*text == ' ')) {
			verbatim = !verbatim;
			fputs(verbatim ? ".RS 4\n.nf\n" : ".fi\n.RE\n", out);
		}
		if (len) {
			put_text(out, text, len);
			fputc('\n', out);
		} else {
			fputs(".PP\n", out);
		}
		text += len + (text[len] == '\n');
	}
	if (verbatim)
		fputs(".fi\n.RE\n", out);
}

static void put_upper(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(toupper((unsigned char)*text), out);
}

static void put_header(FILE *out, const char *name, const char *summary)
{
	fputs(".\\\" Made by `tracker manual`; do not edit.\n.TH \"TRACKER", out);
	if (name)
		fputs("\\-", out);
	put_upper(out, name ? name : "");
	fputs("\" 1 \"\" \"tracker " TK_VERSION "\" \"tracker manual\"\n.SH NAME\ntracker", out);
	if (name) {
		fputs("\\-", out);
		put_string(out, name);
	}
	fputs(" \\- ", out);
	put_string(out, summary);
	fputc('\n', out);
}

static void put_argument(FILE *out, const struct tk_option_row *o, const char *separator)
{
	if (!o->arg)
		return;
	fprintf(out, "%s%s\\fI", o->arg_optional ? "[" : "", separator);
	put_string(out, o->arg);
	fprintf(out, "\\fR%s", o->arg_optional ? "]" : "");
}

static void put_option(FILE *out, const struct tk_option_row *o)
{
	fputs(".TP\n", out);
	if (o->letter)
		fprintf(out, "\\fB\\-%c\\fR%s", o->letter, o->name ? ", " : "");
	if (o->letter && !o->name)
		put_argument(out, o, " ");
	if (o->name) {
		fputs("\\fB\\-\\-", out);
		put_string(out, o->name);
		fputs("\\fR", out);
		put_argument(out, o, "=");
	}
	fputc('\n', out);
	put_string(out, o->doc);
	fputc('\n', out);
}

static void put_options(FILE *out, const struct argp_option *options)
{
	struct tk_option_row rows[TK_OPTION_LIST_MAX];
	size_t count = tk_option_list(options, rows);

	if (count)
		fputs(".SH OPTIONS\n", out);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].header && (i == 0 || rows[i].group != rows[i - 1].group))
			fprintf(out, ".SS %s\n", rows[i].header);
		put_option(out, &rows[i]);
	}
}

static void put_synopsis(FILE *out, const struct tk_command *c)
{
	const char *args = c->argp->args_doc ? c->argp->args_doc : "";

	fputs(".SH SYNOPSIS\n.nf\n", out);
	do {
		size_t len = strcspn(args, "\n");

		fprintf(out, "\\fBtracker %s\\fR%s%s", c->name,
		        c->argp->options ? " [\\fIOPTION\\fR...]" : "", len ? " " : "");
		put_text(out, args, len);
		fputc('\n', out);
		args += len;
	} while (*args++ == '\n');
	fputs(".fi\n", out);
}

void tk_manual_write_man_command(const struct tk_command *c, FILE *out)
{
	char *before = tk_manual_doc_before(c), *after = tk_manual_doc_after(c);

	put_header(out, c->name, c->summary);
	put_synopsis(out, c);
	fputs(".SH DESCRIPTION\n", out);
	put_doc(out, before ? before : "");
	put_options(out, c->argp->options);
	if (after && *after) {
		fputs(".SH NOTES\n", out);
		put_doc(out, after);
	}
	fputs(".SH \"SEE ALSO\"\n.BR tracker (1)\n(global options, exit codes, environment),\n"
	      ".BR tracker.yml (5)\n",
	        out);
	free(before);
	free(after);
}

static void put_entry(FILE *out, const char *name, const char *meaning)
{
	fputs(".TP\n.B ", out);
	put_string(out, name);
	fputc('\n', out);
	put_string(out, meaning);
	fputc('\n', out);
}

void tk_manual_write_man_overview(FILE *out)
{
	put_header(out, NULL, "a nightly performance tracker for GPU kernels");
	fputs(".SH SYNOPSIS\n\\fBtracker\\fR [\\fIOPTION\\fR...] \\fICOMMAND\\fR "
	      "[\\fIOPTION\\fR...]\n"
	      ".SH DESCRIPTION\n",
	        out);
	put_string(out, tk_command_purpose);
	fputs("\n.SH COMMANDS\n", out);
	for (const struct tk_command *c = tk_commands; c->name; c++) {
		if (c->hidden)
			continue;
		fprintf(out, ".TP\n.BR tracker\\-%s (1)\n", c->name);
		put_string(out, c->summary);
		fputc('\n', out);
	}
	put_options(out, tk_global_options);
	fputs(".SH \"EXIT STATUS\"\n", out);
	for (int code = 0; code < TK_EXIT_COUNT; code++)
		put_entry(out, (char[]){(char)('0' + code), '\0'},
		        tk_exit_meaning((enum tk_exit)code));
	fputs(".SH ENVIRONMENT\n", out);
	for (const struct tk_manual_entry *e = tk_manual_environment; e->name; e++)
		put_entry(out, e->name, e->meaning);
	fputs(".SH FILES\n", out);
	put_entry(out, "tracker.yml", "The configuration; see tracker.yml(5)");
	put_entry(out, "acks.yml", "Changes that somebody accepted");
	put_entry(out, "tracker.db", "The history, a SQLite database");
	put_entry(out, "site/", "The dashboard");
	fputs(".SH \"SEE ALSO\"\n.BR tracker.yml (5)\n", out);
}
