/* The table of commands, and the way from the command line to one of them. */
#include "cli/commands.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <unistd.h>

#include "base/sandbox.h"
#include "cli/table.h"
#include "config/config.h"
#include "core/vocabulary.h"
#include "store/store.h"

/* ---- global options -------------------------------------------------------------------------- */

static struct tk_globals globals;
static enum { COLOR_AUTO, COLOR_NEVER, COLOR_ALWAYS } color;

static int change_folder(const char *text, void *to, struct tk_error *err)
{
	return chdir(text) == 0 ? TK_OK : tk_fail(err, TK_EUSAGE, "%s", strerror(errno));
}

const struct tk_option tk_global_options[] = {
        {TK_OPT_PARSED(NULL, 'C', "DIR", change_folder, NULL,
                "Work in DIR instead of the current folder")},
        {TK_OPT_WORD("color", 0, "auto|never|always", &color,
                "Colour the tables (default: auto, on a terminal unless NO_COLOR is set)")},
        {TK_OPT_TEXT("config", 0, "FILE", &globals.config_path,
                "Read the configuration from FILE (default: tracker.yml if it exists, else "
                "built-in values)")},
        {TK_OPT_TEXT("db", 0, "FILE", &globals.db_path,
                "Use FILE as the history (default: as configured, tracker.db)")},
        {TK_OPT_TEXT(
                "log", 0, "FILE", &globals.log_path, "Append every event to FILE as a JSON line")},
        {TK_OPT_FLAG("quiet", 'q', &globals.quiet, "Print no progress, only warnings and errors")},
        {TK_OPT_FLAG("verbose", 'v', &globals.verbose, "Print details of what is being done")},
        {0},
};

static bool is_color_off(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (color != COLOR_AUTO)
		return color == COLOR_NEVER;
	return (no && *no) || !isatty(STDOUT_FILENO) || (term && strcmp(term, "dumb") == 0);
}

static int apply_globals(struct tk_globals *g, struct tk_error *err)
{
	g->no_color = is_color_off();
	tk_log_set_level(g->quiet ? TK_LOG_WARN : g->verbose ? TK_LOG_DEBUG : TK_LOG_INFO);
	return g->log_path ? tk_log_open(g->log_path, err) : TK_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

const struct tk_command *const tk_commands[] = {
#define TK_COMMAND_ROW(name) &tk_command_##name,
        TK_COMMANDS(TK_COMMAND_ROW)
#undef TK_COMMAND_ROW
                NULL,
};

const struct tk_command *tk_command_find(const char *name)
{
	for (const struct tk_command *const *c = tk_commands; *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

const char *tk_command_describe_unknown(const char *name, char *out, size_t size)
{
	const char *names[64] = {0};
	char hint[TK_SUGGEST_HINT_SIZE];
	size_t n = 0;

	for (const struct tk_command *const *c = tk_commands; *c; c++)
		if (!(*c)->hidden && n + 1 < sizeof names / sizeof *names)
			names[n++] = (*c)->name;
	snprintf(out, size, "unknown command \"%.60s\"%s", name,
	        tk_suggest_hint(name, names, "; `tracker help` lists the commands", hint));
	return out;
}

int tk_action_find(
        const void *rows, size_t count, size_t size, const char *name, struct tk_error *err)
{
	const char *names[16] = {0};

	for (size_t i = 0; i < count; i++) {
		names[i] = *(const char *const *)((const char *)rows + i * size);
		if (strcmp(names[i], name) == 0)
			return (int)i;
	}
	return tk_options_fail_action(name, names, err);
}

int tk_command_open_output(struct tk_command_output *out, const char *path, struct tk_error *err)
{
	*out = (struct tk_command_output){path, STDOUT_FILENO};
	if (path)
		out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return out->fd < 0 ? tk_fail_errno(err, "%s", path) : TK_OK;
}

int tk_command_close_output(const struct tk_command_output *out, int status, struct tk_error *err)
{
	if (out->path && close(out->fd) != 0 && !status)
		status = tk_fail_errno(err, "%s", out->path);
	return status;
}

const char tk_command_purpose[] = "tracker follows the performance of GPU kernels night after "
                                  "night: it builds the newest revision\n"
                                  "of each upstream, measures and verifies a fixed suite, keeps "
                                  "the history, and reports what\n"
                                  "changed.";

const char *tk_exit_meaning(enum tk_exit code)
{
	static const char *const meanings[TK_EXIT_COUNT] = {
	        [TK_EXIT_OK] = "done",
	        [TK_EXIT_FOUND] = "found: a status of --fail-on, a slower build, damage",
	        [TK_EXIT_USAGE] = "wrong usage or configuration",
	        [TK_EXIT_INCOMPLETE] = "incomplete: some jobs failed, or nothing was compared",
	        [TK_EXIT_FAILED] = "could not finish",
	};

	return code < TK_EXIT_COUNT ? meanings[code] : "";
}

static void print_commands(FILE *out)
{
	fputs("Commands:\n", out);
	for (const struct tk_command *const *c = tk_commands; *c; c++)
		if (!(*c)->hidden)
			fprintf(out, "  %-12s  %s\n", (*c)->name, (*c)->summary);
}

void tk_command_print_overview(FILE *out)
{
	fprintf(out, "%s\n\nUsage: tracker [OPTION...] COMMAND [OPTION...]\n\n",
	        tk_command_purpose);
	print_commands(out);
	fputs("\nWhere to start:\n"
	      "  tracker doctor             show what can be measured here\n"
	      "  tracker nightly            run a night; makes tracker.db and site/ in this "
	      "folder\n"
	      "  tracker diff --since=7d    show what changed\n"
	      "  tracker help COMMAND       show the options of a command\n"
	      "  tracker --help             show the global options\n\n"
	      "Exit codes:\n",
	        out);
	for (int code = 0; code < TK_EXIT_COUNT; code++)
		fprintf(out, "  %d  %s\n", code, tk_exit_meaning((enum tk_exit)code));
}

/* ---- running one ----------------------------------------------------------------------------- */

static int exit_code(int status)
{
	switch (status) {
	case TK_OK:
		return TK_EXIT_OK;
	case TK_EUSAGE:
	case TK_ECONFIG:
		return TK_EXIT_USAGE;
	default:
		return TK_EXIT_FAILED;
	}
}

int tk_command_fail(const char *command, const struct tk_error *err)
{
	fflush(stdout);
	fprintf(stderr, "tracker %s: ", command);
	tk_text_write_sanitized(stderr, err->message, "\n\t");
	fputc('\n', stderr);
	tk_log_record(TK_LOG_ERROR, "command_failed",
	        json_pack("{s:s, s:s}", "command", command, "status", tk_status_name(err->status)),
	        err->message);
	return exit_code(err->status);
}

int tk_command_print_json(json_t *json, struct tk_error *err)
{
	return tk_json_write(json, JSON_INDENT(2), stdout, err);
}

int tk_command_open(struct tk_globals *g, enum tk_opens opens, struct tk_error *err)
{
	static const int modes[] = {[TK_OPENS_READ] = TK_STORE_READ,
	        [TK_OPENS_WRITE] = TK_STORE_WRITE,
	        [TK_OPENS_CREATE] = TK_STORE_CREATE};
	const char *path;
	int status;

	if (opens == TK_OPENS_NOTHING)
		return TK_OK;
	status = g->config ? TK_OK : tk_config_load(".", g->config_path, &g->config, err);
	if (status)
		return status;
	tk_sandbox_configure(g->config->sandbox, g->config->cache_dir);
	if (opens == TK_OPENS_CONFIG)
		return TK_OK;
	path = g->db_path ? g->db_path : g->config->db;
	status = tk_store_open(path, modes[opens], &g->store, err);
	if (status == TK_ENOTFOUND && opens != TK_OPENS_CREATE)
		return tk_fail(err, TK_ENOTFOUND,
		        "no history yet: %s does not exist; `tracker nightly` makes it, -C or --db "
		        "names another",
		        path);
	return status ? status : tk_rate_define_function(g->store, err);
}

static void close_all(struct tk_globals *g)
{
	if (g->store)
		tk_store_close(g->store);
	if (g->config)
		tk_config_free(g->config);
	g->store = NULL;
	g->config = NULL;
}

static char *find_program(const char *argv0)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n <= 0)
		return realpath(argv0, NULL);
	path[n] = '\0';
	return tk_strdup(path);
}

/* Pages of megabytes come and go while a site is written: their memory stays in the process. Not
 * for the worker, whose memory is measured. A matter of the program: libraries leave the allocator
 * alone. */
static void keep_freed_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 1 << 28);
	mallopt(M_TRIM_THRESHOLD, 1 << 28);
#endif
}

static int run(const struct tk_command *c, struct tk_globals *g, int argc, char **argv)
{
	struct tk_error err = {0};
	char program[64];
	int result;

	snprintf(program, sizeof program, "tracker %s", c->name);
	argv[0] = program;
	if (c->usage_exit)
		argp_err_exit_status = c->usage_exit;
	tk_options_parse(&c->usage, tk_global_options, argc, argv);
	result = apply_globals(g, &err);
	if (result) {
		fprintf(stderr, "%s: %s\n", program, err.message);
		return argp_err_exit_status;
	}
	if (!c->hidden)
		keep_freed_memory();
	result = tk_command_open(g, c->opens, &err);
	if (!result)
		result = c->run(g, &err);
	if (result < 0) {
		result = tk_command_fail(c->name, &err);
		if (c->failure_exit)
			result = c->failure_exit;
	}
	close_all(g);
	return result;
}

static void write_notes(FILE *out)
{
	print_commands(out);
	fputs("\nRun `tracker help COMMAND` for the options of a command. The options above may "
	      "also follow the command.",
	        out);
}

int tk_command_main(int argc, char **argv)
{
	static const struct tk_usage usage = {.options = tk_global_options,
	        .arguments = "COMMAND [OPTION...]",
	        .help = "A nightly performance tracker for GPU kernels.\v",
	        .write_notes = write_notes,
	        .stops_at_argument = true};
	const struct tk_command *c;
	char message[256];
	int at;

	globals.program = find_program(argv[0]);
	argv[0] = (char[]){"tracker"};
	at = tk_options_parse(&usage, NULL, argc, argv);
	if (at >= argc) {
		tk_command_print_overview(stderr);
		return TK_EXIT_USAGE;
	}
	c = tk_command_find(argv[at]);
	if (!c) {
		fprintf(stderr, "tracker: %s\n",
		        tk_command_describe_unknown(argv[at], message, sizeof message));
		return TK_EXIT_USAGE;
	}
	at = run(c, &globals, argc - at, argv + at);
	free(globals.program);
	return at;
}

/* ---- texts in the formats that several commands write ---------------------------------------- */

void tk_markdown_put_text(struct tk_buf *b, const char *s)
{
	bool unprintable;

	for (size_t n; (n = tk_text_next_char(s, &unprintable)); s += n)
		if (unprintable)
			tk_buf_add_char(b, ' ');
		else if (n > 1)
			tk_buf_add(b, s, n);
		else if (strchr("\\`*_[]|~$", *s))
			tk_buf_add_printf(b, "\\%c", *s);
		else if (strchr("<>&@#", *s) || (*s == ':' && s[1] == '/') ||
		         (*s == '.' && b->len && b->data[b->len - 1] == 'w'))
			tk_buf_add_printf(b, "&#%d;", *s);
		else
			tk_buf_add_char(b, *s);
}

void tk_github_put_escaped(FILE *out, const char *s, bool property)
{
	bool unprintable;

	for (size_t n; (n = tk_text_next_char(s, &unprintable)); s += n)
		if (*s == '%' || *s == '\r' || *s == '\n' || (property && (*s == ':' || *s == ',')))
			fprintf(out, "%%%02X", *s);
		else if (unprintable)
			fputc(' ', out);
		else
			fwrite(s, 1, n, out);
}

int tk_github_append(const char *variable,
        int (*write)(const void *report, FILE *out, struct tk_error *err), const void *report,
        struct tk_error *err)
{
	const char *path = getenv(variable);
	int status;
	FILE *f;

	if (!path || !*path)
		return TK_OK;
	f = fopen(path, "ae");
	if (!f)
		return tk_fail_errno(err, "$%s: %s", variable, path);
	status = write(report, f, err);
	if (fclose(f) && !status)
		status = tk_fail_errno(err, "$%s: %s", variable, path);
	return status;
}

json_t *tk_json_counts(const struct tk_vocabulary *words, const size_t *counts)
{
	json_t *o = json_object();

	for (int i = 0; i < words->count; i++)
		json_object_set_new(
		        o, tk_vocabulary_name(words, i), json_integer((json_int_t)counts[i]));
	return o;
}

int tk_json_write(json_t *json, size_t flags, FILE *out, struct tk_error *err)
{
	int status = TK_OK;

	if (json_dumpf(json, out, flags) || fputc('\n', out) == EOF)
		status = tk_fail_errno(err, "cannot write the JSON document");
	json_decref(json);
	return status;
}

int tk_markup_write(const struct tk_buf *b, FILE *out, struct tk_error *err)
{
	TRY(tk_buf_status(b, err));
	if (fwrite(b->data, 1, b->len, out) != b->len)
		return tk_fail_errno(err, "cannot write");
	return TK_OK;
}

char *tk_plain_vsprintf(const char *fmt, va_list args)
{
	char *text = tk_vsprintf(fmt, args);
	tk_text_sanitize(text, "", '?');
	return text;
}

void tk_print_line(FILE *out, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	AUTO_TEXT text = tk_plain_vsprintf(fmt, ap);
	va_end(ap);
	fprintf(out, "%s\n", text);
}
