/* `tracker ab`: is my branch slower? */
#include "base/base.h"
#include "base/process.h"
#include "cli/ab/ab_options.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "config/config.h"
#include "core/fields.h"
#include "core/problem.h"
#include "decide/rules/ab_result.h"
#include "nightly/nightly.h"
#include <math.h>

#define SIDE_TEXT_SIZE 960
/* "main (0123456789ab add a check)" */
static const char *format_side(const struct tk_ab_side_report *s, char out[SIDE_TEXT_SIZE])
{
	const struct tk_revision *r = &s->revision;

	if (!*r->id)
		snprintf(out, SIDE_TEXT_SIZE, "%s", s->spec);
	else
		snprintf(out, SIDE_TEXT_SIZE, "%s (%.12s%s%s)", s->spec,
		        r->dirty ? r->parent : r->id, r->dirty ? " with " : " ", r->subject);
	return out;
}

#define SUMMARY_SIZE 512
/* The last line, without a newline: "1 slower, 3 same; 60 A/B pairs in 31 s". */
static const char *summarize(const struct tk_ab_report *r, char out[SUMMARY_SIZE])
{
	char took[32];
	size_t len = 0;

	for (int v = 0; v < TK_AB_VERDICT_COUNT; v++)
		if (r->by_verdict[v] || v == TK_AB_VERDICT_SLOWER)
			len += (size_t)snprintf(out + len, SUMMARY_SIZE - len, "%s%zu %s",
			        len ? ", " : "", r->by_verdict[v],
			        tk_ab_verdict_name((enum tk_ab_verdict)v));
	len += (size_t)snprintf(out + len, SUMMARY_SIZE - len, "; %zu A/B pair%s", r->pairs,
	        r->pairs == 1 ? "" : "s");
	if (r->pairs)
		len += (size_t)snprintf(out + len, SUMMARY_SIZE - len, " in %s",
		        tk_duration_format(r->wall_s, took, sizeof took));
	if (r->budget_spent)
		snprintf(out + len, SUMMARY_SIZE - len, "; the budget was spent");
	return out;
}

#define SCHEMA "tracker-ab/1"

#define ROW struct tk_ab_row
#define SIDE_FIELDS(side) \
	{ \
		{TK_FIELD_WORDS("outcome", ROW, outcome[side], tk_outcome_words)}, \
		        {TK_FIELD(REAL, "value", ROW, level_ns[side])}, {0}, \
	}
static const struct tk_field base_fields[] = SIDE_FIELDS(TK_AB_BASE),
                             head_fields[] = SIDE_FIELDS(TK_AB_HEAD);

/* Of a row in JSON and CSV. */
static const struct tk_field row_fields[] = {
        {TK_FIELD_WORDS("verdict", ROW, verdict, tk_ab_verdict_words)},
        {TK_FIELD(TEXT, "problem", ROW, problem)},
        {TK_FIELD(TEXT, "title", ROW, title)},
        {TK_FIELD(TEXT, "backend", ROW, backend)},
        {TK_FIELD(TEXT, "device", ROW, device)},
        {TK_FIELD(TEXT, "mode", ROW, mode)},
        {TK_FIELD_GROUP("base", base_fields)},
        {TK_FIELD_GROUP("head", head_fields)},
        {TK_FIELD_MEMBERS("ab_test", ROW, result, tk_ab_result_fields)},
        {TK_FIELD(TEXT, "message", ROW, message)},
        {TK_FIELD(REAL, "wall_s", ROW, wall_s)},
        {0},
};
#undef ROW

static json_t *side_object(const struct tk_ab_side_report *s)
{
	return json_pack("{s:o, s:o, s:o, s:b, s:b, s:o, s:o}", "spec", tk_json_text(s->spec),
	        "revision", tk_json_text(s->revision.id), "subject",
	        tk_json_text(s->revision.subject), "worktree", s->is_worktree, "dirty",
	        s->revision.dirty, "backend", tk_json_text(s->backend), "toolchain",
	        tk_json_text(s->toolchain));
}

static json_t *rows_array(const struct tk_ab_report *r)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(rows, tk_fields_to_json(row_fields, &r->rows[i], NULL));
	return rows;
}

static int write_json(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err)
{
	json_t *o = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:b, s:o, s:o}",
	        "schema", SCHEMA, "upstream", tk_json_text(r->upstream), "machine",
	        tk_json_text(r->machine), "base", side_object(&r->side[TK_AB_BASE]), "head",
	        side_object(&r->side[TK_AB_HEAD]), "min_effect", tk_json_number(r->min_effect),
	        "pairs", (json_int_t)r->pairs, "wall_s", tk_json_number(r->wall_s), "budget_s",
	        r->budget_s > 0 ? tk_json_number(r->budget_s) : json_null(), "budget_spent",
	        r->budget_spent, "counts", tk_json_counts(&tk_ab_verdict_words, r->by_verdict),
	        "rows", rows_array(r));

	(void)g;
	return tk_json_write(o, JSON_INDENT(2), out, err);
}

static int write_csv(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err)
{
	(void)g;
	tk_fields_write_csv_row(row_fields, NULL, out);
	for (size_t i = 0; i < r->count; i++) {
		json_auto_t *row = tk_fields_to_json(row_fields, &r->rows[i], NULL);

		tk_fields_write_csv_row(row_fields, row, out);
	}
	return ferror(out) ? tk_fail_errno(err, "cannot write") : TK_OK;
}

/* ---- terminal -------------------------------------------------------------------------------- */

static const char *verdict_color(const json_t *row)
{
	static const struct tk_word_color colors[] = {{"slower", "red"}, {"newly-failed", "red"},
	        {"failing", "red"}, {"inconclusive", "yellow"}, {"faster", "green"},
	        {"fixed", "green"}, {0}};
	return tk_word_color_find(colors, tk_record_text(row, "verdict"));
}

#define NUMBER(order) (TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(order))
static const struct tk_column columns[] = {
        {"PROBLEM", TK_COLUMN_CUT, "title", 0, NULL},
        {"BACKEND", TK_COLUMN_CUT | TK_COLUMN_VARIED, "backend", 0, NULL},
        {"DEVICE", TK_COLUMN_CUT | TK_COLUMN_VARIED, "device", 0, NULL},
        {"BASE", NUMBER(2), "base.value", TK_SHOW_NS, NULL},
        {"HEAD", NUMBER(3), "head.value", TK_SHOW_NS, NULL},
        {"CHANGE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "ab_test.change", TK_SHOW_ESTIMATE, NULL},
        {"PAIRS", NUMBER(1), "ab_test.count", TK_SHOW_COUNT, NULL},
        {"VERDICT", TK_COLUMN_LEFT, "verdict", 0, verdict_color},
        {"WHY", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(4), "message", 0, NULL},
        {0},
};

/* Same code and unsupported problems are counted in the last line, not listed. */
static bool is_listed(const struct tk_ab_row *row)
{
	return row->verdict != TK_AB_VERDICT_SAME_CODE && row->verdict != TK_AB_VERDICT_UNSUPPORTED;
}

static void print_side(const struct tk_ab_side_report *s, FILE *out)
{
	char text[SIDE_TEXT_SIZE];

	fprintf(out, "%s: ", s->name);
	tk_text_write_sanitized(out, format_side(s, text), "");
	fputc('\n', out);
}

static int write_text(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, columns);
	char line[SUMMARY_SIZE];
	int status;

	for (int k = 0; k < TK_AB_SIDES; k++)
		print_side(&r->side[k], out);
	for (size_t i = 0; i < r->count; i++)
		if (is_listed(&r->rows[i])) {
			json_auto_t *row = tk_fields_to_json(row_fields, &r->rows[i], NULL);
			tk_table_add_record(t, row);
		}
	status = tk_table_print(t, out, err);
	for (size_t i = 0; !status && tk_table_is_dropped(t, "WHY") && i < r->count; i++) {
		if (!is_listed(&r->rows[i]) || !*r->rows[i].message)
			continue;
		fprintf(out, "%s: ", r->rows[i].title);
		tk_text_write_sanitized(out, r->rows[i].message, "");
		fputc('\n', out);
	}
	tk_table_free(t);
	if (r->by_verdict[TK_AB_VERDICT_SAME_CODE] == r->count)
		fputs("base and head have the same machine code: nothing was measured (--all "
		      "measures it)\n",
		        out);
	fprintf(out, "%s\n", summarize(r, line));
	return status;
}

/* ---- Markdown -------------------------------------------------------------------------------- */

#define MARKER "<!-- tracker-ab -->"
#define COMMENT_MAX 60000 /* GitHub refuses comments over 65,536 characters */

static void put_headline(struct tk_buf *b, const struct tk_ab_report *r)
{
	size_t slower = r->by_verdict[TK_AB_VERDICT_SLOWER],
	       failed = r->by_verdict[TK_AB_VERDICT_NEWLY_FAILED],
	       open = r->by_verdict[TK_AB_VERDICT_INCONCLUSIVE];

	tk_buf_add_str(b, MARKER "\n### ");
	if (slower || failed)
		tk_buf_add_printf(b, "%zu slower, %zu newly failed\n\n", slower, failed);
	else if (open)
		tk_buf_add_printf(b, "No slow-down found, %zu inconclusive\n\n", open);
	else
		tk_buf_add_str(b, "No slow-down\n\n");
}

static void put_side(struct tk_buf *b, const struct tk_ab_side_report *s)
{
	char text[SIDE_TEXT_SIZE];

	tk_buf_add_printf(b, "%s: ", s->name);
	tk_markdown_put_text(b, format_side(s, text));
	tk_buf_add_str(b, "  \n");
}

static void put_row(struct tk_buf *b, const struct tk_ab_row *row)
{
	char base[TK_FORMAT_SIZE], head[TK_FORMAT_SIZE], change[TK_FORMAT_ESTIMATE_SIZE];

	tk_buf_add_str(b, "| ");
	tk_markdown_put_text(b, row->title);
	tk_buf_add_str(b, " | ");
	tk_markdown_put_text(b, row->backend);
	tk_buf_add_printf(b, " | %s | %s | %s | %s",
	        tk_format_value(row->level_ns[TK_AB_BASE], "ns", base),
	        tk_format_value(row->level_ns[TK_AB_HEAD], "ns", head),
	        *tk_format_estimate(row->result.change, row->result.lo, row->result.hi, change)
	                ? change
	                : "–",
	        tk_ab_verdict_name(row->verdict));
	if (*row->message) {
		tk_buf_add_str(b, ": ");
		tk_markdown_put_text(b, row->message);
	}
	tk_buf_add_str(b, " |\n");
}

/* Returns how many rows were left out because the text is too long. */
static size_t put_table(struct tk_buf *b, const struct tk_ab_report *r)
{
	size_t rows = 0, left_out = 0;

	for (size_t i = 0; i < r->count; i++) {
		if (r->rows[i].verdict >= TK_AB_VERDICT_SAME_CODE)
			continue;
		if (!rows++)
			tk_buf_add_str(b,
			        "\n| problem | backend | base | head | change | verdict |\n"
			        "| --- | --- | ---: | ---: | ---: | --- |\n");
		if (b->len < COMMENT_MAX)
			put_row(b, &r->rows[i]);
		else
			left_out++;
	}
	return left_out;
}

static int write_markdown(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err)
{
	AUTO(tk_buf) b = TK_BUF_INIT;
	char line[SUMMARY_SIZE];
	size_t left_out;

	(void)g;
	put_headline(&b, r);
	for (int k = 0; k < TK_AB_SIDES; k++)
		put_side(&b, &r->side[k]);
	left_out = put_table(&b, r);
	if (left_out)
		tk_buf_add_printf(&b, "\n... and %zu more\n", left_out);
	tk_buf_add_str(&b, "\n");
	tk_markdown_put_text(&b, summarize(r, line));
	tk_buf_add_str(&b, "\n");
	return tk_markup_write(&b, out, err);
}

/* ---- GitHub ---------------------------------------------------------------------------------- */

#define COMMANDS_MAX 10

/* NULL: no news. */
static const char *choose_level(enum tk_ab_verdict v)
{
	switch (v) {
	case TK_AB_VERDICT_SLOWER:
	case TK_AB_VERDICT_NEWLY_FAILED:
		return "error";
	case TK_AB_VERDICT_INCONCLUSIVE:
	case TK_AB_VERDICT_FAILING:
		return "warning";
	case TK_AB_VERDICT_FASTER:
	case TK_AB_VERDICT_FIXED:
		return "notice";
	default:
		return NULL;
	}
}

static void put_command(const struct tk_ab_row *row, const char *level, FILE *out)
{
	char title[256], text[TK_FORMAT_ESTIMATE_SIZE];

	snprintf(title, sizeof title, "%s: %s on %s", tk_ab_verdict_name(row->verdict),
	        row->backend, row->device);
	fprintf(out, "::%s title=", level);
	tk_github_put_escaped(out, title, true);
	fputs("::", out);
	tk_github_put_escaped(out, row->title, false);
	if (*tk_format_estimate(row->result.change, row->result.lo, row->result.hi, text)) {
		fputc(' ', out);
		tk_github_put_escaped(out, text, false);
	}
	if (*row->message) {
		fputs("; ", out);
		tk_github_put_escaped(out, row->message, false);
	}
	fputc('\n', out);
}

static void put_commands(const struct tk_ab_report *r, FILE *out)
{
	size_t shown[TK_AB_VERDICT_COUNT] = {0}, more = 0;

	for (size_t i = 0; i < r->count; i++) {
		const char *level = choose_level(r->rows[i].verdict);

		if (!level)
			continue;
		if (shown[r->rows[i].verdict]++ < COMMANDS_MAX)
			put_command(&r->rows[i], level, out);
		else
			more++;
	}
	if (more)
		fprintf(out, "... and %zu more: see the summary\n", more);
}

static int put_outputs(const void *report, FILE *out, struct tk_error *err)
{
	const struct tk_ab_report *r = report;

	(void)err;
	for (int v = 0; v < TK_AB_VERDICT_COUNT; v++)
		fprintf(out, "%s=%zu\n", tk_ab_verdict_name((enum tk_ab_verdict)v),
		        r->by_verdict[v]);
	return TK_OK;
}

static int put_summary(const void *report, FILE *out, struct tk_error *err)
{
	return write_markdown(NULL, report, out, err);
}

/* Workflow commands to `out`; the Markdown form to $GITHUB_STEP_SUMMARY, the counts to
 * $GITHUB_OUTPUT. */
static int write_github(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err)
{
	char line[SUMMARY_SIZE];

	(void)g;
	put_commands(r, out);
	fprintf(out, "%s\n", summarize(r, line));
	TRY(tk_github_append("GITHUB_STEP_SUMMARY", put_summary, r, err));
	return tk_github_append("GITHUB_OUTPUT", put_outputs, r, err);
}

/* ---- the command ---- */

static struct ab_options {
	struct tk_ab_request request;
	struct tk_option_list devices, arguments;
	int format;
	bool github;
} opt = {.request = TK_AB_OPTIONS_NONE};

#define FORMATS "text|json|csv|md|github"
static int (*const formats[])(const struct tk_globals *g, const struct tk_ab_report *r, FILE *out,
        struct tk_error *err) = {write_text, write_json, write_csv, write_markdown, write_github};

static const struct tk_option options[] = {
        {TK_OPT_HEADING("What")},
        {TK_OPT_TEXT("base", 0, "SIDE", &opt.request.side[TK_AB_BASE],
                "Compare with SIDE (default: HEAD, the newest commit of UPSTREAM)")},
        {TK_OPT_TEXT("head", 0, "SIDE", &opt.request.side[TK_AB_HEAD],
                "Measure SIDE as the new one (default: worktree, the work tree of UPSTREAM)")},
        {TK_OPT_TEXT("suite", 0, "NAME|FILE", &opt.request.suite,
                "Compare every problem of a suite, after the ones on the command line "
                "(default: the configured suites)")},
        {TK_OPT_HEADING("How")},
        {TK_OPT_FLAG("all", 0, &opt.request.all,
                "Also measure what has the same machine code on both sides")},
        {TK_OPT_NUMBER("budget", 0, "TIME", TK_QUANTITY_DURATION, 0, 1e6, &opt.request.budget_s,
                "Measure for at most TIME, without the builds; 0: no limit (default: 5m)")},
        {TK_AB_OPT_DEVICES(&opt.devices)},
        {TK_AB_OPT_MODE(&opt.request.mode)},
        {TK_OPT_FLAG("no-verify", 0, &opt.request.no_verify, "Do not check the results")},
        {TK_OPT_NUMBER("threshold", 0, "PERCENT", TK_QUANTITY_FRACTION, 0, 10,
                &opt.request.min_effect,
                "Decide about changes above PERCENT (default: thresholds.min_effect)")},
        {TK_OPT_HEADING("Output")},
        {TK_OPT_WORD("format", 'f', FORMATS, &opt.format, "Print in this format (default: text)")},
        {TK_OPT_FLAG("github", 0, &opt.github,
                "Also annotate a workflow run of GitHub and write its step summary")},
        {TK_OPT_ARGUMENTS(&opt.arguments, NULL)},
        {0},
};

/* The first argument is an upstream unless it is a problem. */
static void take_arguments(void)
{
	struct tk_problem_spec p;
	char **args = opt.arguments.items;
	size_t count = opt.arguments.count;

	if (count && !strchr(args[0], ':') && tk_problem_parse(&p, args[0], NULL)) {
		opt.request.upstream = args[0];
		args++;
		count--;
	}
	opt.request.problems = args;
	opt.request.problem_count = count;
}

static int check_options(struct tk_error *err)
{
	const char **side = opt.request.side;

	take_arguments();
	if (opt.request.upstream) {
		side[TK_AB_BASE] = side[TK_AB_BASE] ? side[TK_AB_BASE] : "HEAD";
		side[TK_AB_HEAD] = side[TK_AB_HEAD] ? side[TK_AB_HEAD] : "worktree";
	} else if (!side[TK_AB_BASE] || !side[TK_AB_HEAD]) {
		return tk_fail(err, TK_EUSAGE,
		        "missing UPSTREAM, or --base and --head with a shared object or a backend "
		        "each");
	}
	for (int k = 0; k < TK_AB_SIDES; k++)
		if (!*side[k])
			return tk_fail(err, TK_EUSAGE,
			        "--%s: expected a revision, a folder, a shared object or a backend",
			        k == TK_AB_BASE ? "base" : "head");
	return tk_ab_options_check(&opt.request, err);
}

static int exit_code(const struct tk_ab_report *r)
{
	if (r->by_verdict[TK_AB_VERDICT_SLOWER] || r->by_verdict[TK_AB_VERDICT_NEWLY_FAILED])
		return TK_EXIT_FOUND;
	if (r->by_verdict[TK_AB_VERDICT_INCONCLUSIVE] || r->by_verdict[TK_AB_VERDICT_FAILING] ||
	        r->by_verdict[TK_AB_VERDICT_UNSUPPORTED] == r->count)
		return TK_EXIT_INCOMPLETE;
	return TK_EXIT_OK;
}

static int show(const struct tk_globals *g, const struct tk_ab_report *report, struct tk_error *err)
{
	if (opt.github && formats[opt.format] != write_github)
		TRY(write_github(g, report, stdout, err));
	TRY(formats[opt.format](g, report, stdout, err));
	return fflush(stdout) ? tk_fail_errno(err, "cannot write to stdout") : TK_OK;
}

static int run_ab(struct tk_globals *g, struct tk_error *err)
{
	AUTO(tk_ab_report) report = {0};

	tk_cancel_install_handlers();
	opt.request.db_path = g->db_path ? g->db_path : g->config->db;
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_options night = {.program = g->program,
	        .observer = tk_progress_observer(progress),
	        .devices = opt.devices.items};
	int status = tk_ab_compare(g->config, &night, &opt.request, &report, err);
	tk_progress_free(progress);
	if (!status)
		status = show(g, &report, err);
	return status ? status : exit_code(&report);
}

const struct tk_command tk_command_ab = {.name = "ab",
        .summary = "compare two revisions, builds or backends now: is my branch slower?",
        .usage = {.options = options,
                .arguments = "[UPSTREAM] [PROBLEM...]",
                .check = check_options,
                .help = "Is my branch slower? Build base and head, and measure both in A/B runs: "
                        "alternating, in fresh processes, until each problem is decided or the "
                        "budget is spent. Problems whose machine code is the same are not "
                        "measured. Nothing is stored.\v"
                        "With UPSTREAM (self, or a git upstream of tracker.yml), SIDE is a "
                        "branch, a tag, a commit, another ref such as refs/pull/12/head, "
                        "`worktree` (the upstream's work tree with its uncommitted changes) or a "
                        "folder (./DIR, /DIR) with a work tree. Without it, SIDE is a shared "
                        "object (FILE.so) or a backend of this tracker; KEY=VALUE,... after a "
                        "colon sets its options, threads=N its threads, config=NAME its "
                        "configuration.\n\n"
                        "Exit code: 0 nothing is slower, 1 something is slower or newly fails, 2 "
                        "usage or configuration, 3 inconclusive or failing on both sides, 4 a "
                        "side does not build.\n\n"
                        "Examples:\n"
                        "  tracker ab self --base=main --head=my-branch\n"
                        "  tracker ab self\n"
                        "  tracker ab openblas-git --base=v0.3.26 --head=refs/pull/12/head "
                        "--suite=smoke\n"
                        "  tracker ab --base=old.so --head=new.so gemm:m=512,n=512,k=512\n"
                        "  tracker ab --base=openblas:threads=1 --head=openblas:threads=2 "
                        "--budget=2m"},
        .opens = TK_OPENS_CONFIG,
        .run = run_ab};
