/* docs/reference/commands.md, from the option tables. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/setup/manual.h"
#include "cli/setup/option_list.h"

#define WRAP_COLUMN 100

/* Escapes what Markdown would take for markup, except between backticks; `cell`: in a table's
 * cell. */
static void put_text(FILE *out, const char *text, size_t len, bool cell)
{
	bool code = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '`')
			code = !code;
		if ((cell && text[i] == '|') || (!code && strchr("*<", text[i])))
			fputc('\\', out);
		fputc(text[i], out);
	}
}

/* A paragraph, wrapped between words. */
static void put_paragraph(FILE *out, const char *text, size_t len)
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
		if (column && column + 1 + word > WRAP_COLUMN) {
			fputc('\n', out);
			column = 0;
		} else if (column) {
			fputc(' ', out);
			column++;
		}
		put_text(out, text + i, word, false);
		column += word;
		i += word;
	}
	fputc('\n', out);
}

/* Length of the lines from `text` on that are all indented, or all not, up to an empty line. */
static size_t block_length(const char *text)
{
	bool indented = *text == ' ';
	size_t len = 0;

	while (text[len] && text[len] != '\n' && (text[len] == ' ') == indented)
		len += strcspn(text + len, "\n") + (strchr(text + len, '\n') != NULL);
	return len;
}

static bool is_command(const char *text)
{
	return strncmp(text, "  tracker ", 10) == 0 || strncmp(text, "  git ", 6) == 0;
}

/* Prose as paragraphs, indented lines as code. */
static void put_doc(FILE *out, const char *text)
{
	while (*text) {
		size_t len;

		if (*text == '\n') {
			text++;
			continue;
		}
		len = block_length(text);
		fputc('\n', out);
		if (*text == ' ') {
			fputs(is_command(text) ? "```sh\n" : "```\n", out);
			for (size_t at = 0; at < len; at += strcspn(text + at, "\n") + 1)
				fprintf(out, "%.*s\n", (int)strcspn(text + at + 2, "\n"),
				        text + at + 2);
			fputs("```\n", out);
		} else {
			put_paragraph(out, text, len);
		}
		text += len;
	}
}

static void put_option(FILE *out, const struct tk_option_row *o)
{
	const char *open = o->arg_optional ? "[" : "", *close = o->arg_optional ? "]" : "";

	fputs("| ", out);
	if (o->letter)
		fprintf(out, "`-%c%s%s`%s", o->letter, !o->name && o->arg ? " " : "",
		        !o->name && o->arg ? o->arg : "", o->name ? ", " : "");
	if (o->name) {
		fprintf(out, "`--%s%s", o->name, open);
		if (o->arg) {
			fputc('=', out);
			put_text(out, o->arg, strlen(o->arg), true);
		}
		fprintf(out, "%s`", close);
	}
	fputs(" | ", out);
	put_text(out, o->doc, strlen(o->doc), true);
	fputs(" |\n", out);
}

static void put_options(FILE *out, const struct argp_option *options)
{
	struct tk_option_row rows[TK_OPTION_LIST_MAX];
	size_t count = tk_option_list(options, rows);

	for (size_t i = 0; i < count; i++) {
		if (i == 0 || rows[i].group != rows[i - 1].group) {
			if (rows[i].header)
				fprintf(out, "\n%s:\n", rows[i].header);
			fputs("\n| option | meaning |\n| --- | --- |\n", out);
		}
		put_option(out, &rows[i]);
	}
}

/* "list\nshow ID": one line each. */
static void put_synopsis(FILE *out, const struct tk_command *c)
{
	const char *args = c->argp->args_doc ? c->argp->args_doc : "";

	fputs("\n```\n", out);
	do {
		size_t len = strcspn(args, "\n");

		fprintf(out, "tracker %s%s%s%.*s\n", c->name,
		        c->argp->options ? " [OPTION...]" : "", len ? " " : "", (int)len, args);
		args += len;
	} while (*args++ == '\n');
	fputs("```\n", out);
}

static void put_command(FILE *out, const struct tk_command *c)
{
	char *before = tk_manual_doc_before(c), *after = tk_manual_doc_after(c);

	fprintf(out, "\n## `tracker %s`\n", c->name);
	put_synopsis(out, c);
	put_doc(out, before ? before : "");
	put_options(out, c->argp->options);
	put_doc(out, after ? after : "");
	free(before);
	free(after);
}

static void put_exit_codes(FILE *out)
{
	fputs("\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n", out);
	for (int code = 0; code < TK_EXIT_COUNT; code++)
		fprintf(out, "| %d | %s |\n", code, tk_exit_meaning((enum tk_exit)code));
}

static void put_environment(FILE *out)
{
	fputs("\n## Environment\n\n| variable | meaning |\n| --- | --- |\n", out);
	for (const struct tk_manual_entry *e = tk_manual_environment; e->name; e++) {
		fprintf(out, "| `%s` | ", e->name);
		put_text(out, e->meaning, strlen(e->meaning), true);
		fputs(" |\n", out);
	}
}

void tk_manual_write_markdown(FILE *out)
{
	fputs("# Commands\n\n"
	      "<!-- Made by `tracker manual markdown` from the option tables in runner/cli; do not "
	      "edit. -->\n\n"
	      "`tracker help` lists the commands. `tracker help COMMAND` and `man tracker-COMMAND` "
	      "list the\n"
	      "options of one. Results go to stdout; log and progress go to stderr.\n\n"
	      "| command | purpose |\n| --- | --- |\n",
	        out);
	for (const struct tk_command *c = tk_commands; c->name; c++)
		if (!c->hidden)
			fprintf(out, "| [`%s`](#tracker-%s) | %s |\n", c->name, c->name,
			        c->summary);
	fputs("\n## Global options\n\nThey may stand before or after the command.\n", out);
	put_options(out, tk_global_options);
	fputs("\nTimes are written `2026-11-21`, `2026-11-21T09:42:00Z` or `@1700000000`; "
	      "durations `90s`,\n"
	      "`15m`, `2h`, `7d` or `2w`.\n",
	        out);
	put_exit_codes(out);
	put_environment(out);
	for (const struct tk_command *c = tk_commands; c->name; c++)
		if (!c->hidden)
			put_command(out, c);
}
