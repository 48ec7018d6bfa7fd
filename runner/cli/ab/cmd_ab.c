/* `tracker ab`: is my branch slower? Its documents, and the phrases that its formats share. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/present.h"
#include "base/process.h"
#include "base/try.h"
#include "base/units.h"
#include "cli/ab/ab_options.h"
#include "cli/ab/format.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "config/config.h"
#include "core/problem.h"
#include "decide/rules/ab_result.h"
#include "nightly/nightly.h"

const struct tk_ab_format tk_ab_formats[] = {
        {"text", tk_ab_write_text},
        {"json", tk_ab_write_json},
        {"csv", tk_ab_write_csv},
        {"md", tk_ab_write_markdown},
        {"github", tk_ab_write_github},
};

const char *tk_ab_format_side(const struct tk_ab_side_report *s, char out[TK_AB_SIDE_TEXT_SIZE])
{
	const struct tk_revision *r = &s->revision;

	if (!*r->id)
		snprintf(out, TK_AB_SIDE_TEXT_SIZE, "%s", s->spec);
	else
		snprintf(out, TK_AB_SIDE_TEXT_SIZE, "%s (%.12s%s%s)", s->spec,
		        r->dirty ? r->parent : r->id, r->dirty ? " with " : " ", r->subject);
	return out;
}

const char *tk_ab_summarize(const struct tk_ab_report *r, char out[TK_AB_SUMMARY_SIZE])
{
	char took[32];
	size_t len = 0;

	for (int v = 0; v < TK_AB_VERDICT_COUNT; v++)
		if (r->by_verdict[v] || v == TK_AB_VERDICT_SLOWER)
			len += (size_t)snprintf(out + len, TK_AB_SUMMARY_SIZE - len, "%s%zu %s",
			        len ? ", " : "", r->by_verdict[v],
			        tk_ab_verdict_name((enum tk_ab_verdict)v));
	len += (size_t)snprintf(out + len, TK_AB_SUMMARY_SIZE - len, "; %zu A/B pair%s", r->pairs,
	        r->pairs == 1 ? "" : "s");
	if (r->pairs)
		len += (size_t)snprintf(out + len, TK_AB_SUMMARY_SIZE - len, " in %s",
		        tk_duration_format(r->wall_s, took, sizeof took));
	if (r->budget_spent)
		snprintf(out + len, TK_AB_SUMMARY_SIZE - len, "; the budget was spent");
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

const struct tk_field tk_ab_row_fields[] = {
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
		json_array_append_new(rows, tk_fields_to_json(tk_ab_row_fields, &r->rows[i], NULL));
	return rows;
}

int tk_ab_write_json(
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

int tk_ab_write_csv(
        const struct tk_globals *g, const struct tk_ab_report *r, FILE *out, struct tk_error *err)
{
	(void)g;
	tk_fields_write_csv_head(tk_ab_row_fields, out);
	for (size_t i = 0; i < r->count; i++) {
		json_t *row = tk_fields_to_json(tk_ab_row_fields, &r->rows[i], NULL);

		tk_fields_write_csv_row(tk_ab_row_fields, row, out);
		json_decref(row);
	}
	return ferror(out) ? tk_fail_errno(err, "cannot write") : TK_OK;
}

static struct ab_options {
	struct tk_ab_request request;
	struct tk_option_list devices, arguments;
	int format;
	bool github;
} opt = {.request = TK_AB_OPTIONS_NONE};

#define FORMATS "text|json|csv|md|github" /* in the order of tk_ab_formats */

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
	const struct tk_ab_format *format = &tk_ab_formats[opt.format];
	int status = TK_OK;

	if (opt.github && format->write != tk_ab_write_github)
		status = tk_ab_write_github(g, report, stdout, err);
	if (!status)
		status = format->write(g, report, stdout, err);
	return status || fflush(stdout) == 0 ? status
	                                     : tk_fail_errno(err, "cannot write to stdout");
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
	if (!status)
		status = exit_code(&report);
	return status;
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
