/* `tracker import`: nights of other trackers, and histories of other tools. */
#include <inttypes.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/table.h"
#include "config/config.h"
#include "store/store.h"
#include "upstream/git.h"

static struct tk_import_request request;
static const char *repo;
static struct tk_option_list arguments;
static struct tk_option_list better;

static int parse_time(const char *text, void *to, struct tk_error *err)
{
	return tk_time_parse(text, to, NULL)
	               ? tk_fail(err, TK_EUSAGE, "expected a time (2026-11-21T09:42:00Z)")
	               : TK_OK;
}

static bool is_format(const char *word)
{
	const char *name;

	if (tk_import_is_own_format(word))
		return true;
	for (size_t i = 0; (name = tk_import_get_format_name(i, NULL)); i++)
		if (!strcmp(name, word))
			return true;
	return false;
}

/* The first argument is neither a file nor looks like one: it is a misspelt format. */
static int refuse_format(const char *word, struct tk_error *err)
{
	const char *names[64] = {0}, *near;
	char hint[TK_SUGGEST_HINT_SIZE];

	for (size_t i = 0; i < 63 && (names[i] = tk_import_get_format_name(i, NULL)); i++)
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
	if (request.format && !is_format(request.format))
		return refuse_format(request.format, err);
	if (!request.format && is_format(args[0]) && count > 1) {
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
	const char *name;
	char *what;

	fputs("Formats (default: guessed from the file):\n", out);
	for (size_t i = 0; (name = tk_import_get_format_name(i, &what)); i++) {
		fprintf(out, "  %-18s %s\n", name, what);
		free(what);
	}
	fputc('\n', out);
}

static const struct tk_option import_options[] = {
        {TK_OPT_FLAG("allow-unknown-units", 0, &request.allow_unknown_units,
                "Store series whose unit does not say which direction is better: changes of them "
                "are neither better nor worse")},
        {TK_OPT_PARSED("at", 0, "TIME", parse_time, &request.at_s,
                "Date results that have no time of their own TIME (default: when the file was "
                "written)")},
        {TK_OPT_LIST("better", 0, "[NAME=]lower|higher", &better,
                "Set which direction is better (default: by the unit) for all series, or those of "
                "a unit, a metric or a pattern NAME; may be repeated")},
        {TK_OPT_FLAG("dry-run", 0, &request.dry_run,
                "Read everything and print what is new, but write nothing")},
        {TK_OPT_TEXT("format", 0, "FORMAT|FILE.sql", &request.format,
                "Read FORMAT, or what the query in FILE.sql says (default: guessed from each "
                "file)")},
        {TK_OPT_TEXT("identity", 0, "COLUMN,...", &request.identity,
                "Make these columns of CSV part of the names of series")},
        {TK_OPT_FLAG("keep-going", 'k', &request.keep_going,
                "Leave out files that are wrong, and import the others")},
        {TK_OPT_TEXT("machine", 0, "NAME", &request.machine,
                "Set the machine (default: from the file, else `imported`)")},
        {TK_OPT_TEXT("repo", 0, "PATH", &repo,
                "Put the revisions in the order of the commits of the git repository PATH "
                "(default: the order of the file)")},
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
	if (n)
		tk_print_line(stderr, "tracker import: %" PRId64 " %s%s%s", n, n == 1 ? one : many,
		        n == 1 || !first ? "" : "the first is ", first ? first : "");
}

static void print_unknown(const struct tk_import_counts *c)
{
	AUTO(tk_buf) names = {0};
	const char *name;
	json_t *value;

	json_object_foreach (c->unknown, name, value)
		tk_buf_add_printf(&names, "%s%s", names.len ? ", " : "", name);
	if (names.len)
		tk_print_line(stderr,
		        "tracker import: unknown columns are kept as attributes, they are no part "
		        "of a series' name: %s (--identity makes them one)",
		        tk_buf_cstr(&names));
}

static void print_notes(const struct tk_import_counts *c)
{
	print_unknown(c);
	print_note(c->broken, "file left out", "files left out", NULL);
	print_note(c->undirected,
	        "series has no direction, --better='NAME=higher' (or =lower) sets it: ",
	        "series have no direction, --better='NAME=higher' (or =lower) sets it; ",
	        c->first_undirected);
	print_note(c->misdated,
	        "revision has a time that contradicts the order of its file, which counts: ",
	        "revisions have times that contradict the order of their file, which counts; ",
	        c->first_misdated);
	print_note(c->turned, "series keeps the direction that is stored: ",
	        "series keep the directions that are stored; ", c->first_turned);
	print_note(c->without_value, "result without a value (failed, skipped or empty) skipped: ",
	        "results without a value (failed, skipped or empty) skipped; ",
	        c->first_without_value);
	print_note(c->empty, "file without results skipped: ", "files without results skipped; ",
	        c->first_empty);
	print_note(c->differing, "value differs from the stored one, which was kept: ",
	        "values differ from the stored ones, which were kept; ", c->first_differing);
}

static void print_counts(const struct tk_import_counts *c)
{
	printf("%s%" PRId64 " file%s: %" PRId64 " night%s, %" PRId64 " series, %" PRId64
	       " points are new\n",
	        request.dry_run ? "nothing written; " : "", c->files, c->files == 1 ? "" : "s",
	        c->nights, c->nights == 1 ? "" : "s", c->series, c->points);
	if (c->nights && !request.dry_run)
		fprintf(stderr,
		        "tracker import: new nights are not analysed yet; run `tracker detect`\n");
	print_notes(c);
}

#define GIT_DEADLINE_S 60

/* Reads "ID TIME" lines. */
static struct tk_import_commit *parse_commits(const char *line, size_t *count)
{
	struct tk_import_commit *commits = NULL;
	size_t capacity = 0;

	for (*count = 0; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (*count == capacity) {
			capacity = capacity ? 2 * capacity : 1024;
			commits = tk_reallocarray(commits, capacity, sizeof *commits);
		}
		struct tk_import_commit *c = &commits[(*count)++];
		const int length = (int)strcspn(line, " ");

		*c = (struct tk_import_commit){.time_s = strtoll(line + length, NULL, 10)};
		snprintf(c->rev, sizeof c->rev, "%.*s", length, line);
	}
	return commits;
}

/* Those of the repository, sorted for the request. NULL: none. */
static int read_commits(struct tk_import_commit **out, size_t *count, struct tk_error *err)
{
	const struct tk_git git = {
	        .dir = repo, .deadline_s = GIT_DEADLINE_S, .capture_max = SIZE_MAX / 2};
	AUTO(tk_buf) text = {0};

	if (!repo)
		return TK_OK;
	TRY(tk_git_run(&git,
	        (const char *const[]){
	                "log", "--all", "--topo-order", "--reverse", "--format=%H %ct", NULL},
	        &text, err));
	*out = parse_commits(tk_buf_cstr(&text), count);
	tk_import_order_commits(*out, *count);
	return TK_OK;
}

static int run_import(struct tk_globals *g, struct tk_error *err)
{
	struct tk_import_commit *commits = NULL;
	struct tk_import_counts counts = {0};
	request.better = (const char *const *)better.items;
	request.better_count = better.count;
	for (size_t i = 0; i < request.path_count; i++)
		TRY(tk_signature_verify(g->config->signing.allowed_signers, request.paths[i], err));
	TRY(read_commits(&commits, &request.commit_count, err));
	request.commits = commits;
	const int status = tk_store_import(g->store, &request, &counts, err);

	free(commits);

	for (const char *line = strtok((char *)tk_buf_cstr(&counts.errors), "\n"); line;
	        line = strtok(NULL, "\n"))
		tk_print_line(stderr, "tracker import: %s", line);
	if (!status)
		print_counts(&counts);
	const int code = counts.broken ? TK_EXIT_INCOMPLETE : TK_EXIT_OK;

	tk_import_counts_free(&counts);
	return status ? status : code;
}

const struct tk_command tk_command_import = {.name = "import",
        .summary = "read exported nights, or the histories of other tools",
        .usage = {.options = import_options,
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
