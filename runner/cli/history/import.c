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
#include "cli/commands.h"
#include "cli/options.h"
#include "config/config.h"
#include "store/store.h"

enum { OPT_AT = 256, OPT_BETTER, OPT_DRY_RUN, OPT_MACHINE, OPT_REV };

struct import_options {
	struct tk_import_request request;
};

static const struct argp_option options[] = {
        {"at", OPT_AT, "TIME", 0,
                "Date results that have no time of their own TIME (default: when the file was "
                "written)",
                1},
        {"better", OPT_BETTER, "lower|higher", 0,
                "Set which direction is better (default: by the unit)", 1},
        {"dry-run", OPT_DRY_RUN, NULL, 0,
                "Read everything and print what is new, but write nothing", 1},
        {"machine", OPT_MACHINE, "NAME", 0,
                "Set the machine (default: from the file, else `imported`)", 1},
        {"rev", OPT_REV, "REV", 0, "Set the commit of files that do not name one", 1},
        {"upstream", 'u', "NAME", 0,
                "Set what was measured (default: from the file, else `imported`)", 1},
        {0},
};

static bool is_format(const char *word)
{
	const char *name;

	for (size_t i = 0; (name = tk_import_get_format_name(i, NULL)); i++)
		if (!strcmp(name, word))
			return true;
	return false;
}

/* The first argument is neither a file nor looks like one: it is a misspelt format. */
static void refuse_format(const char *word, struct argp_state *state)
{
	const char *names[32] = {0}, *near;
	struct tk_buf known = TK_BUF_INIT;

	for (size_t i = 0; i < 31 && (names[i] = tk_import_get_format_name(i, NULL)); i++)
		tk_buf_add_printf(&known, "%s%s", i ? ", " : "", names[i]);
	near = tk_suggest_name(word, names);
	for (size_t i = 0; !near && names[i] && strlen(word) > 3; i++) /* "google", "googlebench" */
		if (strncmp(names[i], word, 4) == 0)
			near = names[i];
	if (near)
		argp_error(state, "\"%s\" is neither a file nor a format; did you mean \"%s\"?",
		        word, near);
	argp_error(state, "\"%s\" is neither a file nor a format; expected one of %s", word,
	        tk_buf_cstr(&known));
	tk_buf_free(&known);
}

/* The first argument may be a format; the rest are files. */
static void take_arguments(struct import_options *o, struct argp_state *state)
{
	char **args = state->argv + state->next;
	size_t count = (size_t)(state->argc - state->next);

	if (count > 1 && !is_format(args[0]) && access(args[0], F_OK) != 0 &&
	        !strpbrk(args[0], "./"))
		refuse_format(args[0], state);
	if (is_format(args[0]) && count > 1) {
		o->request.format = args[0];
		args++;
		count--;
	}
	o->request.paths = (const char *const *)args;
	o->request.path_count = count;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct import_options *o = state->input;

	switch (key) {
	case OPT_MACHINE:
		o->request.machine = arg;
		return 0;
	case 'u':
		o->request.upstream = arg;
		return 0;
	case OPT_BETTER:
		tk_option_parse_choice(arg, "better", "lower|higher", state);
		o->request.better = arg;
		return 0;
	case OPT_REV:
		o->request.rev = arg;
		return 0;
	case OPT_AT:
		if (tk_time_parse(arg, &o->request.at_s, NULL))
			argp_error(state, "--at=%s: expected a time (2026-11-21T09:42:00Z)", arg);
		return 0;
	case OPT_DRY_RUN:
		o->request.dry_run = true;
		return 0;
	case ARGP_KEY_ARGS:
		take_arguments(o, state);
		return 0;
	case ARGP_KEY_END:
		if (!o->request.path_count)
			argp_error(state, "missing FILE; expected the files to import");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Adds the formats before the examples. */
static char *help_filter(int key, const char *text, void *input)
{
	char *out = NULL, *more;
	const char *name, *what;

	if (key != ARGP_KEY_HELP_POST_DOC || !text ||
	        asprintf(&out, "Formats (default: guessed from the file):\n") < 0)
		return (char *)text;
	for (size_t i = 0; out && (name = tk_import_get_format_name(i, &what)); i++) {
		if (asprintf(&more, "%s  %-18s %s\n", out, name, what) < 0)
			more = NULL;
		free(out);
		out = more;
	}
	if (out && asprintf(&more, "%s\n%s", out, text) >= 0) {
		free(out);
		return more;
	}
	free(out);
	return (char *)text;
}

const struct argp tk_argp_import = {options, parse_option, "[FORMAT] FILE...",
        "Read histories of other tools, or nights that `tracker export` wrote, into this history: "
        "all of the FILEs or none. Importing a file again adds nothing.\v"
        "Examples:\n"
        "  tracker import night.ndjson\n"
        "  tracker import asv results/ --upstream=numpy\n"
        "  tracker import gh-pages/dev/bench/data.js\n"
        "  tracker import nvbench.json --machine=h200-1 --rev=$(git rev-parse HEAD)\n"
        "  tracker import --dry-run history.csv --better=higher",
        NULL, help_filter, NULL};

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

static int verify_signatures(const struct tk_config *config,
        const struct tk_import_request *request, struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; i < request->path_count && !status; i++)
		status = tk_signature_verify(
		        config->signing.allowed_signers, request->paths[i], err);
	return status;
}

int tk_cmd_import(const struct tk_globals *g, int argc, char **argv)
{
	struct import_options o = {{0}};
	struct tk_config *config = NULL;
	struct tk_store *store = NULL;
	struct tk_import_counts counts = {0};
	struct tk_error err = {0};
	int code;

	tk_command_parse(&tk_argp_import, argc, argv, &o);
	code = tk_command_open(g, "import", TK_STORE_CREATE, &config, &store);
	if (code)
		return code;
	if (verify_signatures(config, &o.request, &err) ||
	        tk_store_import(store, &o.request, &counts, &err))
		code = tk_command_fail("import", &err);
	else
		printf("%s%" PRId64 " file%s: %" PRId64 " night%s, %" PRId64 " series, %" PRId64
		       " points are new\n",
		        o.request.dry_run ? "nothing written; " : "", counts.files,
		        counts.files == 1 ? "" : "s", counts.nights, counts.nights == 1 ? "" : "s",
		        counts.series, counts.points);
	if (!code && counts.nights && !o.request.dry_run)
		fprintf(stderr,
		        "tracker import: new nights are not analysed yet; run `tracker detect`\n");
	if (!code)
		print_notes(&counts);
	tk_command_close(config, store);
	return code;
}
