/* `tracker tune`: which configuration of a backend is the fastest for a problem? Its schemas are in
 * docs/reference/tune.md. */
#include "base/base.h"
#include "base/process.h"
#include "cli/ab/ab_options.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "config/config.h"
#include "core/fields.h"
#include "nightly/nightly.h"
#include "nightly/tune/tune.h"
#include "store/store.h"
#include "store/tuning.h"
#include <math.h>

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *config_name(const struct tk_tune_row *row, size_t index)
{
	return index < row->count ? tk_json_text(row->candidates[index].config) : json_null();
}

static json_t *make_chosen(const void *row, const void *context)
{
	(void)context;
	return config_name(row, ((const struct tk_tune_row *)row)->chosen);
}

static json_t *make_winner(const void *row, const void *context)
{
	(void)context;
	return config_name(row, ((const struct tk_tune_row *)row)->winner);
}

static json_t *make_candidates(const void *row, const void *context)
{
	(void)context;
	return tk_tune_candidates_json(row);
}

#define ROW struct tk_tune_row
static const struct tk_field row_fields[] = {
        {TK_FIELD_WORDS("verdict", ROW, verdict, tk_tune_verdict_words)},
        {TK_FIELD(TEXT, "problem", ROW, ab.problem)},
        {TK_FIELD(TEXT, "title", ROW, ab.title)},
        {TK_FIELD(TEXT, "backend", ROW, ab.backend)},
        {TK_FIELD(TEXT, "device", ROW, ab.device)},
        {TK_FIELD(TEXT, "mode", ROW, ab.mode)},
        {TK_FIELD_MAKE(MADE, "config", make_chosen)},
        {TK_FIELD_MAKE(MADE, "winner", make_winner)},
        {TK_FIELD(REAL, "default_ns", ROW, ab.level_ns[TK_AB_BASE])},
        {TK_FIELD(REAL, "winner_ns", ROW, ab.level_ns[TK_AB_HEAD])},
        {TK_FIELD_MEMBERS("ab_test", ROW, ab.result, tk_ab_result_fields)},
        {TK_FIELD(TEXT, "message", ROW, ab.message)},
        {TK_FIELD(INT, "evaluations", ROW, evaluations)},
        {TK_FIELD(INT, "exhaustive_evaluations", ROW, exhaustive_evaluations)},
        {TK_FIELD(REAL, "race_s", ROW, race_s)},
        {TK_FIELD(BOOL, "budget_spent", ROW, budget_spent)},
        {TK_FIELD_MAKE(LIST, "candidates", make_candidates)},
        {0},
};
#undef ROW

static int write_json(const struct tk_tune_report *r, FILE *out, struct tk_error *err)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(rows, tk_fields_to_json(row_fields, &r->rows[i], NULL));
	json_t *o = json_pack("{s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:b, s:o, s:o}", "schema",
	        "tracker-tune/1", "machine", tk_json_text(r->ab.machine), "upstream",
	        tk_json_text(r->ab.upstream), "revision",
	        tk_json_text(r->ab.side[TK_AB_BASE].revision.id), "min_effect",
	        tk_json_number(r->ab.min_effect), "evaluations", (json_int_t)r->evaluations,
	        "pairs", (json_int_t)r->ab.pairs, "budget_s",
	        r->ab.budget_s > 0 ? tk_json_number(r->ab.budget_s) : json_null(), "budget_spent",
	        r->ab.budget_spent, "counts", tk_json_counts(&tk_tune_verdict_words, r->by_verdict),
	        "rows", rows);

	return tk_json_write(o, JSON_INDENT(2), out, err);
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char *verdict_color(const json_t *row)
{
	static const struct tk_word_color colors[] = {{"faster", "green"}, {"fixed", "green"},
	        {"inconclusive", "yellow"}, {"slower", "yellow"}, {"failing", "red"}, {0}};
	return tk_word_color_find(colors, tk_record_text(row, "verdict"));
}

#define NUMBER(order) (TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(order))
static const struct tk_column columns[] = {
        {"PROBLEM", TK_COLUMN_CUT, "title", 0, NULL},
        /* an upstream may have several */
        {"BACKEND", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL, "backend", 0, NULL},
        {"DEVICE", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL, "device", 0, NULL},
        {"DEFAULT", NUMBER(2), NULL, 0, NULL},
        {"WINNER", NUMBER(3), NULL, 0, NULL},
        {"CHANGE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "ab_test.change", TK_SHOW_ESTIMATE, NULL},
        {"PAIRS", NUMBER(1), "ab_test.count", TK_SHOW_COUNT, NULL},
        {"TRIED", NUMBER(2), NULL, 0, NULL},
        {"RUNS", NUMBER(1), NULL, 0, NULL},
        {"VERDICT", TK_COLUMN_LEFT, "verdict", 0, verdict_color},
        {"CONFIGURATION", TK_COLUMN_LEFT | TK_COLUMN_OPTIONAL, "config", 0, NULL},
        {"WHY", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(4), "message", 0, NULL},
        {0},
};

/* Of the A/B runs; of the race where there were none. */
static double level(const struct tk_tune_row *row, enum tk_ab_side_id side)
{
	size_t index = side == TK_AB_BASE ? 0 : row->winner;

	if (!isnan(row->ab.level_ns[side]) || index >= row->count)
		return row->ab.level_ns[side];
	return row->candidates[index].median_ns;
}

static void add_row(struct tk_table *t, const struct tk_tune_row *row)
{
	json_auto_t *o = tk_fields_to_json(row_fields, row, NULL);

	tk_table_add_record(t, o);
	tk_table_set_value(t, "DEFAULT", level(row, TK_AB_BASE), "ns");
	if (row->winner)
		tk_table_set_value(t, "WINNER", level(row, TK_AB_HEAD), "ns");
	if (!row->count)
		return;
	if (row->failed)
		tk_table_set_cell(t, "TRIED", "%zu, %zu failed", row->count, row->failed);
	else
		tk_table_set_cell(t, "TRIED", "%zu", row->count);
	tk_table_set_cell(t, "RUNS", "%zu of %zu", row->evaluations, row->exhaustive_evaluations);
}

/* Failures of candidates do not fit into a row. */
static void print_failures(const struct tk_tune_row *row, FILE *out)
{
	for (size_t i = 0; i < row->count; i++) {
		const struct tk_tune_candidate *k = &row->candidates[i];

		if (tk_outcome_has_timing(k->outcome) || k->outcome == TK_OUTCOME_SKIPPED ||
		        k->outcome == TK_OUTCOME_UNSUPPORTED)
			continue;
		fprintf(out, "%s, %s: %s: ", row->ab.title, k->config, tk_outcome_name(k->outcome));
		tk_text_write_sanitized(out, k->message, "");
		fputc('\n', out);
	}
}

static void print_summary(const struct tk_tune_report *r, FILE *out)
{
	char took[32];
	const char *separator = "";

	for (int v = 0; v < TK_TUNE_VERDICT_COUNT; v++)
		if (r->by_verdict[v]) {
			fprintf(out, "%s%zu %s", separator, r->by_verdict[v],
			        tk_tune_verdict_name((enum tk_tune_verdict)v));
			separator = ", ";
		}
	fprintf(out, "; %zu run%s, %zu A/B pair%s in %s%s\n", r->evaluations,
	        r->evaluations == 1 ? "" : "s", r->ab.pairs, r->ab.pairs == 1 ? "" : "s",
	        tk_duration_format(r->ab.wall_s, took, sizeof took),
	        r->ab.budget_spent ? "; the budget was spent" : "");
}

static int write_text(
        const struct tk_globals *g, const struct tk_tune_report *r, FILE *out, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, columns);
	int status;

	for (size_t i = 0; i < r->count; i++)
		add_row(t, &r->rows[i]);
	status = tk_table_finish(t, out, err);
	for (size_t i = 0; i < r->count; i++)
		print_failures(&r->rows[i], out);
	print_summary(r, out);
	return status;
}

/* In the order of the table `tuning`. */
static const char list_sql[] =
        "SELECT p.text AS problem, p.title, m.name AS machine, d.slug AS device,"
        "  d.name AS device_name, e.attributes AS \"environment:json\", t.verdict, t.uid,"
        "  t.started_s AS \"started:time\", t.upstream AS \"upstream:text\","
        "  t.revision AS \"revision:text\", t.artifact_key, t.backend,"
        "  t.options AS \"options:text\", t.mode, t.config AS \"config:text\","
        "  t.winner AS \"winner:text\", t.default_ns, t.winner_ns, t.change AS \"change.value\","
        "  t.change_lo AS \"change.lo\", t.change_hi AS \"change.hi\", t.pair_count AS pairs,"
        "  t.evaluation_count AS evaluations, t.candidates AS \"candidates:json\""
        " FROM tuning t JOIN problem p ON p.id = t.problem_id JOIN device d ON d.id = t.device_id"
        "  JOIN machine m ON m.id = d.machine_id JOIN environment e ON e.id = t.environment_id"
        " ORDER BY t.started_s DESC, t.id DESC";

static const struct tk_column list_columns[] = {
        {"PROBLEM", TK_COLUMN_CUT, "title", 0, NULL},
        {"BACKEND", TK_COLUMN_CUT, "backend", 0, NULL},
        {"DEVICE", TK_COLUMN_CUT, "device", 0, NULL},
        {"REVISION", TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1), "revision", TK_SHOW_SHORT, NULL},
        {"WHEN", TK_COLUMN_DROP(2), "started", TK_SHOW_DAY, NULL},
        {"CHANGE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL, "change", TK_SHOW_ESTIMATE, NULL},
        {"VERDICT", TK_COLUMN_LEFT, "verdict", 0, NULL},
        {"STALE", TK_COLUMN_OPTIONAL, NULL, 0, NULL},
        {"CONFIGURATION", TK_COLUMN_LEFT | TK_COLUMN_OPTIONAL, "config", 0, NULL},
        {0},
};

struct list {
	struct tk_id_table problems;
	struct tk_rows tunings;
	json_t *all, *chosen; /* as they are printed; `all` in the order of `tunings` */
};

static const char *device_name(const struct list *l, const struct tk_tuning_row *row)
{
	size_t index = (size_t)(row - (const struct tk_tuning_row *)l->tunings.rows);
	return tk_record_text(json_array_get(l->all, index), "device");
}

/* ---- rules ----------------------------------------------------------------------------------- */

#define TEXT_SIZE 400

/* ---- JSON ---- */

static json_t *steps_array(const struct tk_tune_rule *rule)
{
	json_t *steps = json_array();

	for (size_t i = 0; i < rule->count; i++) {
		const struct tk_tune_step *s = &rule->steps[i];

		json_array_append_new(
		        steps, json_pack("{s:o, s:I, s:I}", "use", tk_json_text(s->choice), "from",
		                       (json_int_t)s->from, "to", (json_int_t)s->to));
	}
	return steps;
}

static json_t *rule_object(const struct list *l, const struct tk_tuning_row *of, bool by_backend,
        const struct tk_tune_rule *rule)
{
	char text[TEXT_SIZE];

	return json_pack("{s:s, s:o, s:o, s:s, s:s, s:o, s:s, s:o, s:o, s:o}", "chooses",
	        by_backend ? "backend" : "config", "backend",
	        by_backend ? json_null() : tk_json_text(of->backend), "upstream",
	        by_backend ? json_null() : tk_json_text(of->upstream), "device", device_name(l, of),
	        "mode", of->mode, "options", by_backend ? json_null() : tk_json_text(of->options),
	        "size", rule->key, "sweep", tk_json_text(rule->sweep), "rule",
	        tk_json_text(tk_tune_rule_format(rule, text, sizeof text)), "steps",
	        steps_array(rule));
}

/* ---- text ---- */

static void print_rule(const struct list *l, const struct tk_tuning_row *of, bool by_backend,
        const struct tk_tune_rule *rule)
{
	char text[TEXT_SIZE];

	printf("%s on %s, %s, ", by_backend ? "fastest tuned backend" : of->backend,
	        device_name(l, of), of->mode);
	tk_text_write_sanitized(stdout, rule->sweep, "");
	printf(": ");
	tk_text_write_sanitized(stdout, tk_tune_rule_format(rule, text, sizeof text), "");
	putchar('\n');
}

/* ---- all groups ---- */

/* list: NULL for text. */
static void put_rules(const struct list *l, const struct tk_tuning_row *of, bool by_backend,
        const struct tk_tune_rules *rules, json_t *list)
{
	for (size_t i = 0; i < rules->count; i++)
		if (list)
			json_array_append_new(list, rule_object(l, of, by_backend, &rules->at[i]));
		else
			print_rule(l, of, by_backend, &rules->at[i]);
}

static bool is_chosen(const struct tk_tuning_row *row, const char *of)
{
	return !of || !strcmp(row->backend, of) || !strcmp(row->upstream, of);
}

static int put_group(const struct list *l, const struct tk_tuning_groups *groups, size_t index,
        const char *of, json_t *list, struct tk_error *err)
{
	const struct tk_tuning_group *group = &groups->at[index];
	struct tk_tune_rules rules = {0};
	int status = TK_OK;

	if (is_chosen(group->rows[0], of)) {
		status = tk_tuning_find_rules(NULL, group, &l->problems.by_id, &rules, err);
		put_rules(l, group->rows[0], false, &rules, list);
		tk_tune_rules_free(&rules);
	}
	if (status || of || !tk_tuning_groups_is_first_at_place(groups, index))
		return status;
	status = tk_tuning_find_rules(groups, group, &l->problems.by_id, &rules, err);
	put_rules(l, group->rows[0], true, &rules, list);
	tk_tune_rules_free(&rules);
	return status;
}

static int put_all(const struct list *l, const char *of, json_t *list, struct tk_error *err)
{
	AUTO(tk_tuning_groups) groups = {0};
	tk_tuning_groups_make(&l->tunings, &groups);
	for (size_t i = 0; i < groups.count; i++)
		TRY(put_group(l, &groups, i, of, list, err));
	return TK_OK;
}

/* ---- list ------------------------------------------------------------------------------------ */

/* Keeps the rows of `of`, each with the state of its tuning, which is the one at the same place. */
static int add_states(
        struct tk_store *s, const struct list *l, const char *of, struct tk_error *err)
{
	for (size_t i = 0; i < l->tunings.count; i++) {
		const struct tk_tuning_row *row = TK_ROWS_AT(&l->tunings, struct tk_tuning_row, i);
		json_t *record = json_array_get(l->all, i);
		enum tk_tune_state state;

		if (!is_chosen(row, of))
			continue;
		TRY(tk_tuning_state(s, row, &state, err));
		json_object_set_new(record, "state", json_string(tk_tune_state_name(state)));
		json_object_set_new(record, "stale", json_boolean(tk_tune_state_is_stale(state)));
		json_array_append(l->chosen, record);
	}
	return TK_OK;
}

static int print_tunings(const struct tk_globals *g, const json_t *rows, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, list_columns);
	const json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		tk_table_add_record(t, row);
		if (json_is_true(json_object_get(row, "stale")))
			tk_table_set_cell(t, "STALE", "%s", tk_record_text(row, "state"));
	}
	if (!json_array_size(rows))
		puts("nothing is stored; `tracker tune BACKEND PROBLEM` tunes a kernel");
	return tk_table_finish(t, stdout, err);
}

static void list_free(struct list *l)
{
	tk_id_table_free(&l->problems);
	tk_rows_free(&l->tunings);
	json_decref(l->all);
	json_decref(l->chosen);
}

static int list_tunings(const struct tk_globals *g, struct tk_store *s, const char *of, bool json,
        struct tk_error *err)
{
	__attribute__((cleanup(list_free))) struct list l = {.chosen = json_array()};

	TRY(tk_id_table_load(&l.problems, s, TK_TABLE_problem, err));
	TRY(tk_store_list(s, TK_TABLE_tuning, NULL, TK_NO_ARGS, &l.tunings, err));
	TRY(tk_records_select(s, list_sql, TK_NO_ARGS, &l.all, err));
	TRY(add_states(s, &l, of, err));
	if (!json) {
		TRY(print_tunings(g, l.chosen, err));
		return put_all(&l, of, NULL, err);
	}
	json_auto_t *rules = json_array();
	TRY(put_all(&l, of, rules, err));
	return tk_command_print_json(json_pack("{s:s, s:O, s:O}", "schema", "tracker-tunings/1",
	                                     "rows", l.chosen, "rules", rules),
	        err);
}

static struct tune_options {
	struct tk_tune_request request;
	struct tk_option_list devices, problems;
	bool json, list, no_store;
} opt = {.request.ab = TK_AB_OPTIONS_NONE};

static const struct tk_option options[] = {
        {TK_OPT_HEADING("What")},
        {TK_OPT_TEXT("suite", 0, "NAME|FILE", &opt.request.ab.suite,
                "Tune every problem of a suite, after the ones on the command line (default: "
                "the configured suites)")},
        {TK_OPT_HEADING("How")},
        {TK_OPT_NUMBER("budget", 0, "TIME", TK_QUANTITY_DURATION, 0, 1e6, &opt.request.ab.budget_s,
                "Measure for at most TIME, half of it in races; 0: no limit (default: 5m)")},
        {TK_AB_OPT_DEVICES(&opt.devices)},
        {TK_OPT_FLAG("exhaustive", 0, &opt.request.is_exhaustive,
                "Measure every configuration in all rounds, without dropping any")},
        {TK_AB_OPT_MODE(&opt.request.ab.mode)},
        {TK_OPT_FLAG("no-ab", 0, &opt.request.no_ab,
                "Do not compare the winner with the default in A/B runs; races get the whole "
                "budget")},
        {TK_OPT_NUMBER("threshold", 0, "PERCENT", TK_QUANTITY_FRACTION, 0, 10,
                &opt.request.ab.min_effect,
                "Ignore differences below PERCENT (default: thresholds.min_effect)")},
        {TK_OPT_HEADING("Output")},
        {TK_OPT_JSON(&opt.json, "Print a table (default) or JSON")},
        {TK_OPT_FLAG("list", 0, &opt.list,
                "List the stored results, newest first: of BACKEND or UPSTREAM, of all without "
                "one")},
        {TK_OPT_FLAG("no-store", 0, &opt.no_store, "Do not store the result in the history")},
        {TK_OPT_ARGUMENT(&opt.request.target, NULL)},
        {TK_OPT_ARGUMENTS(&opt.problems, NULL)},
        {0},
};

static int check_options(struct tk_error *err)
{
	struct tk_tune_request *q = &opt.request;

	q->ab.problems = opt.problems.items;
	q->ab.problem_count = opt.problems.count;
	if (!opt.list && (!q->target || !*q->target))
		return tk_fail(err, TK_EUSAGE, "missing BACKEND or UPSTREAM");
	if (opt.list && q->ab.problem_count)
		return tk_fail(err, TK_EUSAGE, "--list: expected at most one BACKEND or UPSTREAM");
	return tk_ab_options_check(&q->ab, err);
}

static int exit_code(const struct tk_tune_report *r)
{
	if (r->failed_candidates)
		return TK_EXIT_FOUND;
	if (r->by_verdict[TK_TUNE_VERDICT_INCONCLUSIVE] || r->by_verdict[TK_TUNE_VERDICT_FAILING] ||
	        r->by_verdict[TK_TUNE_VERDICT_UNSUPPORTED] == r->count)
		return TK_EXIT_INCOMPLETE;
	return TK_EXIT_OK;
}

static int show(
        const struct tk_globals *g, const struct tk_tune_report *report, struct tk_error *err)
{
	TRY(opt.json ? write_json(report, stdout, err) : write_text(g, report, stdout, err));
	return fflush(stdout) ? tk_fail_errno(err, "cannot write to stdout") : TK_OK;
}

static int run_tune(struct tk_globals *g, struct tk_error *err)
{
	AUTO(tk_tune_report) report = {0};

	if (opt.list) {
		TRY(tk_command_open(g, TK_OPENS_READ, err));
		return list_tunings(g, g->store, opt.request.target, opt.json, err);
	}
	TRY(tk_command_open(g, opt.no_store ? TK_OPENS_CONFIG : TK_OPENS_CREATE, err));
	opt.request.store = g->store;
	tk_cancel_install_handlers();
	opt.request.ab.db_path = g->db_path ? g->db_path : g->config->db;
	struct tk_progress *progress = tk_progress_new(g);
	struct tk_night_options night = {.program = g->program,
	        .observer = tk_progress_observer(progress),
	        .devices = opt.devices.items};
	int status = tk_tune(g->config, &night, &opt.request, &report, err);
	tk_progress_free(progress);
	if (report.is_complete) {
		struct tk_error why = {0};
		int shown = show(g, &report, &why);
		if (!status && shown)
			status = tk_fail(err, shown, "%s", why.message);
	}
	return status ? status : exit_code(&report);
}

const struct tk_command tk_command_tune = {.name = "tune",
        .summary = "find the fastest configuration of a backend for each problem",
        .usage = {.options = options,
                .arguments = "BACKEND|UPSTREAM [PROBLEM...]\n--list [BACKEND|UPSTREAM]",
                .check = check_options,
                .help = "Find the fastest configuration of a backend for each problem. Every "
                        "configuration is verified and measured in rounds; those that can no "
                        "longer win are dropped. The winner is compared with the backend's "
                        "default in A/B runs. The result is stored in the history.\v"
                        "With an UPSTREAM that is built (self, or a git upstream of "
                        "tracker.yml), the newest revision of all its backends is tuned. BACKEND "
                        "is one of this tracker or a shared object (FILE.so); KEY=VALUE,... "
                        "after a colon sets its options, threads=N its threads.\n\n"
                        "Exit code: 0 every problem is decided, 1 a configuration fails or "
                        "computes wrong results, 2 usage or configuration, 3 inconclusive, "
                        "failing or unsupported, 4 could not finish: the upstream does not "
                        "build, or the result could not be stored.\n\n"
                        "Examples:\n"
                        "  tracker tune cpu gemm:m=512,n=512,k=512\n"
                        "  tracker tune cublaslt --suite=gemm-core --budget=10m\n"
                        "  tracker tune cpu:threads=1 --suite=smoke --format=json\n"
                        "  tracker tune --list cublaslt"},
        .run = run_tune};
