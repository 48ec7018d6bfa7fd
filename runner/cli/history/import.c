/* `tracker import`: reads histories of other tools and nights of other machines into this
 * history. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/signature.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/try.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "config/config.h"
#include "store/store.h"

static struct tk_import_request request;
static struct tk_option_list arguments;
static enum { BETTER_BY_UNIT = -1, BETTER_LOWER, BETTER_HIGHER } better = BETTER_BY_UNIT;

static int parse_time(const char *text, void *to, struct tk_error *err)
{
	return tk_time_parse(text, to, NULL)
	               ? tk_fail(err, TK_EUSAGE, "expected a time (2026-11-21T09:42:00Z)")
	               : TK_OK;
}

static bool is_format(const char *word)
{
	const char *name;

	for (size_t i = 0; (name = tk_import_get_format_name(i, NULL)); i++)
		if (!strcmp(name, word))
			return true;
	return false;
}

/* The first argument is neither a file nor looks like one: it is a misspelt format. */
static int refuse_format(const char *word, struct tk_error *err)
{
	const char *names[32] = {0}, *near;
	char hint[TK_SUGGEST_HINT_SIZE];

	for (size_t i = 0; i < 31 && (names[i] = tk_import_get_format_name(i, NULL)); i++)
		;
	near = tk_suggest_name(word, names);
	for (size_t i = 0; !near && names[i] && strlen(word) > 3; i++) /* "google", "googlebench" */
		if (strncmp(names[i], word, 4) == 0)
			near = names[i];
	return tk_fail(err, TK_EUSAGE, "\"%s\" is neither a file nor a format%s", word,
	        tk_suggest_hint(near ? near : word, names, NULL, hint));
}

/* The first argument may be a format; the rest are files. */
static int take_arguments(struct tk_error *err)
{
	char **args = arguments.items;
	size_t count = arguments.count;

	if (count > 1 && !is_format(args[0]) && access(args[0], F_OK) != 0 &&
	        !strpbrk(args[0], "./"))
		return refuse_format(args[0], err);
	if (is_format(args[0]) && count > 1) {
		request.format = args[0];
		args++;
		count--;
	}
	request.paths = (const char *const *)args;
	request.path_count = count;
	return TK_OK;
}

static void write_formats(FILE *out)
{
	const char *name, *what;

	fputs("Formats (default: guessed from the file):\n", out);
	for (size_t i = 0; (name = tk_import_get_format_name(i, &what)); i++)
		fprintf(out, "  %-18s %s\n", name, what);
	fputc('\n', out);
}

static const struct tk_option options[] = {
        {TK_OPT_PARSED("at", 0, "TIME", parse_time, &request.at_s,
                "Date results that have no time of their own TIME (default: when the file was "
                "written)")},
        {TK_OPT_WORD("better", 0, "lower|higher", &better,
                "Set which direction is better (default: by the unit)")},
        {TK_OPT_FLAG("dry-run", 0, &request.dry_run,
                "Read everything and print what is new, but write nothing")},
        {TK_OPT_TEXT("machine", 0, "NAME", &request.machine,
                "Set the machine (default: from the file, else `imported`)")},
        {TK_OPT_TEXT(
                "rev", 0, "REV", &request.rev, "Set the commit of files that do not name one")},
        {TK_OPT_TEXT("upstream", 'u', "NAME", &request.upstream,
                "Set what was measured (default: from the file, else `imported`)")},
        {TK_OPT_ARGUMENTS(&arguments, "missing FILE; expected the files to import")},
        {0},
};

/* How many results were skipped, with the first one as an example. */
static void print_note(int64_t n, const char *one, const char *many, const char *first)
{
	if (!n)
		return;
	fprintf(stderr, "tracker import: %" PRId64 " %s%s", n, n == 1 ? one : many,
	        n == 1 ? "" : "the first is ");
	tk_text_write_sanitized(stderr, first, "");
	fputc('\n', stderr);
}

static void print_notes(const struct tk_import_counts *c)
{
	print_note(c->without_value, "result without a value (failed, skipped or empty) skipped: ",
	        "results without a value (failed, skipped or empty) skipped; ",
	        c->first_without_value);
	print_note(c->empty, "file without results skipped: ", "files without results skipped; ",
	        c->first_empty);
	print_note(c->differing, "value differs from the stored one, which was kept: ",
	        "values differ from the stored ones, which were kept; ", c->first_differing);
}

static int verify_signatures(const struct tk_config *config, struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; i < request.path_count && !status; i++)
		status =
		        tk_signature_verify(config->signing.allowed_signers, request.paths[i], err);
	return status;
}

static int run_import(struct tk_globals *g, struct tk_error *err)
{
	struct tk_import_counts counts = {0};

	if (better != BETTER_BY_UNIT)
		request.better = better == BETTER_LOWER ? "lower" : "higher";
	TRY(verify_signatures(g->config, err));
	TRY(tk_store_import(g->store, &request, &counts, err));
	printf("%s%" PRId64 " file%s: %" PRId64 " night%s, %" PRId64 " series, %" PRId64
	       " points are new\n",
	        request.dry_run ? "nothing written; " : "", counts.files,
	        counts.files == 1 ? "" : "s", counts.nights, counts.nights == 1 ? "" : "s",
	        counts.series, counts.points);
	if (counts.nights && !request.dry_run)
		fprintf(stderr,
		        "tracker import: new nights are not analysed yet; run `tracker detect`\n");
	print_notes(&counts);
	return TK_OK;
}

const struct tk_command tk_command_import = {.name = "import",
        .summary = "read exported nights, or the histories of other tools",
        .usage = {.options = options,
                .arguments = "[FORMAT] FILE...",
                .check = take_arguments,
                .write_notes = write_formats,
                .help = "Read histories of other tools, or nights that `tracker export` wrote, "
                        "into this history: all of the FILEs or none. Importing a file again "
                        "adds nothing.\v"
                        "Examples:\n"
                        "  tracker import night.ndjson\n"
                        "  tracker import asv results/ --upstream=numpy\n"
                        "  tracker import gh-pages/dev/bench/data.js\n"
                        "  tracker import nvbench.json --machine=h200-1 --rev=$(git rev-parse "
                        "HEAD)\n"
                        "  tracker import --dry-run history.csv --better=higher"},
        .opens = TK_OPENS_CREATE,
        .run = run_import};
