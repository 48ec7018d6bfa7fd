/* `tracker log`: lists the nights, or shows one in full. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/options.h"
#include "cli/table.h"
#include "core/outcome.h"
#include "detect/detect.h"
#include "site_gen/render/format.h"
#include "store/store.h"

enum { OPT_FAILED = 256 };

struct log_options {
	const char *night;
	size_t limit;
	bool failed, json;
};

static const struct argp_option options[] = {
        {"failed", OPT_FAILED, NULL, 0, "List only nights that are not complete", 1},
        {"format", 'f', "text|json", 0, "Print text (default) or JSON", 1},
        {"limit", 'n', "N", 0, "List at most N nights (default: 20; 0: all)", 1},
        {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct log_options *o = state->input;

	switch (key) {
	case 'n':
		o->limit = tk_option_parse_count(arg, "limit", state);
		return 0;
	case OPT_FAILED:
		o->failed = true;
		return 0;
	case 'f':
		o->json = tk_option_parse_json(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		if (o->night)
			argp_error(state, "expected one night");
		o->night = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp tk_argp_log = {options, parse_option, "[NIGHT]",
        "List the nights, newest first, and how they ended; or show NIGHT in full: its stages, its "
        "upstreams and every failure.\v"
        "NIGHT is a number, the first digits of an id (the last column), or `last`. A night that "
        "was killed is `stopped`; `tracker nightly --resume` continues it.\n\n"
        "Examples:\n"
        "  tracker log --limit=5\n"
        "  tracker log --failed\n"
        "  tracker log --format=json | jq '.[0].jobs'\n"
        "  tracker log 3\n"
        "  tracker log last"};

struct night_counts {
	int64_t ok, unstable, wrong, skipped, unsupported, failed, open, fresh, regressed, improved,
	        newly_failed;
};

static void count_outcome(struct night_counts *c, const char *word, int64_t n)
{
	enum tk_outcome o;

	if (tk_outcome_parse(word, &o)) {
		c->failed += n;
		return;
	}
	c->unstable += o == TK_OUTCOME_UNSTABLE ? n : 0;
	if (tk_outcome_has_timing(o))
		c->ok += n;
	else if (o == TK_OUTCOME_WRONG)
		c->wrong += n;
	else if (o == TK_OUTCOME_SKIPPED)
		c->skipped += n;
	else if (o == TK_OUTCOME_UNSUPPORTED)
		c->unsupported += n;
	else
		c->failed += n;
}

static void count_verdict(struct night_counts *c, const char *word, int64_t n)
{
	if (!strcmp(word, tk_verdict_status_name(TK_VERDICT_REGRESSED)))
		c->regressed = n;
	else if (!strcmp(word, tk_verdict_status_name(TK_VERDICT_IMPROVED)))
		c->improved = n;
	else if (!strcmp(word, tk_verdict_status_name(TK_VERDICT_NEWLY_FAILED)))
		c->newly_failed = n;
}

static void count_resolution(struct night_counts *c, const char *word, int64_t n)
{
	if (!strcmp(word, "new"))
		c->fresh = n;
}

static void count_open(struct night_counts *c, const char *word, int64_t n)
{
	c->open = n;
}

static int count(
        struct tk_store *s, int64_t night_id, struct night_counts *out, struct tk_error *err)
{
	static void (*const add[])(struct night_counts * c, const char *word, int64_t n) = {
	        [TK_COUNT_OUTCOMES] = count_outcome,
	        [TK_COUNT_VERDICTS] = count_verdict,
	        [TK_COUNT_RESOLUTIONS] = count_resolution,
	        [TK_COUNT_OPEN_JOBS] = count_open,
	};

	*out = (struct night_counts){0};
	for (size_t i = 0; i < sizeof add / sizeof add[0]; i++) {
		struct tk_rows rows;
		int status =
		        tk_store_list_night_counts(s, night_id, (enum tk_night_count)i, &rows, err);

		if (status)
			return status;
		for (size_t k = 0; k < rows.count; k++) {
			const struct tk_group_count *row =
			        TK_ROWS_AT(&rows, struct tk_group_count, k);

			add[i](out, row->word, row->count);
		}
		tk_rows_free(&rows);
	}
	return 0;
}

static const char resume_hint[] = "`tracker nightly --resume` continues the newest stopped night";

static bool can_resume(const struct tk_night_row *night)
{
	return night->status == TK_NIGHT_STOPPED && night->kind == TK_NIGHT_NIGHTLY;
}

static const char *name_of_machine(const struct tk_lookup *l, int64_t id)
{
	const struct tk_machine_row *machine = tk_lookup_machine(l, id);

	return machine ? machine->name : "?";
}

static json_t *night_json(
        const struct tk_night_row *night, const struct night_counts *c, const struct tk_lookup *l)
{
	json_t *json = json_pack("{s:I,s:s,s:s,s:s,s:s,s:I,s:I,s:s,s:s,s:s}", "id",
	        (json_int_t)night->id, "uid", night->uid, "machine",
	        name_of_machine(l, night->machine_id), "kind", tk_night_kind_name(night->kind),
	        "status", tk_night_status_name(night->status), "as_of_s",
	        (json_int_t)night->as_of_s, "started_s", (json_int_t)night->started_s,
	        "tracker_version", night->tracker_version, "config_hash", night->config_hash,
	        "summary", night->summary);
	json_t *parsed = json_loads(night->summary, 0, NULL);

	if (parsed)
		json_object_set_new(json, "summary", parsed);
	json_object_set_new(json, "finished_s",
	        night->finished_s ? json_integer(night->finished_s) : json_null());
	if (can_resume(night))
		json_object_set_new(json, "hint", json_string(resume_hint));
	json_object_set_new(json, "jobs",
	        json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "ok", (json_int_t)c->ok, "unstable",
	                (json_int_t)c->unstable, "failed", (json_int_t)c->failed, "wrong",
	                (json_int_t)c->wrong, "skipped", (json_int_t)c->skipped, "unsupported",
	                (json_int_t)c->unsupported, "open", (json_int_t)c->open));
	json_object_set_new(json, "moved",
	        json_pack("{s:I,s:I,s:I}", "regressed", (json_int_t)c->regressed, "improved",
	                (json_int_t)c->improved, "newly_failed", (json_int_t)c->newly_failed));
	json_object_set_new(json, "new_revisions", json_integer(c->fresh));
	return json;
}

static const struct tk_column night_columns[] = {
        {"STARTED", 0},
        {"MACHINE", TK_COLUMN_CUT},
        {"KIND", 0},
        {"STATUS", 0},
        {"WALL", TK_COLUMN_RIGHT},
        {"NEW", TK_COLUMN_RIGHT},
        {"OK", TK_COLUMN_RIGHT},
        {"UNSTABLE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"FAILED", TK_COLUMN_RIGHT},
        {"WRONG", TK_COLUMN_RIGHT},
        {"SKIPPED", TK_COLUMN_RIGHT},
        {"OPEN", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"MOVED", 0},
        {"NIGHT", TK_COLUMN_RIGHT},
        {"ID", 0},
        {0},
};

static const char *color_of_status(enum tk_night_status status)
{
	return status == TK_NIGHT_COMPLETE ? "green" : status == TK_NIGHT_FAILED ? "red" : "yellow";
}

static void set_moved(struct tk_table *t, const struct night_counts *c)
{
	char text[128] = "";
	size_t len = 0;
	const struct {
		int64_t n;
		const char *word;
	} parts[] = {{c->regressed, "regressed"}, {c->newly_failed, "newly failed"},
	        {c->improved, "improved"}};

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (parts[i].n && len < sizeof text)
			len += (size_t)snprintf(text + len, sizeof text - len, "%s%" PRId64 " %s",
			        len ? ", " : "", parts[i].n, parts[i].word);
	tk_table_set_cell(t, "MOVED", "%s", *text ? text : "-");
	if (c->regressed || c->newly_failed)
		tk_table_set_color(t, "MOVED", "red");
}

static void set_number(struct tk_table *t, const char *column, int64_t n, const char *color)
{
	tk_table_set_cell(t, column, "%" PRId64, n);
	if (n)
		tk_table_set_color(t, column, color);
}

static void night_row(struct tk_table *t, const struct tk_night_row *night,
        const struct night_counts *c, const struct tk_lookup *l)
{
	char text[TK_FORMAT_SIZE];

	tk_table_add_row(t);
	tk_table_set_cell(t, "STARTED", "%s", tk_format_minute(night->started_s, text));
	tk_table_set_cell(t, "MACHINE", "%s", name_of_machine(l, night->machine_id));
	tk_table_set_cell(t, "KIND", "%s", tk_night_kind_name(night->kind));
	tk_table_set_cell(t, "STATUS", "%s", tk_night_status_name(night->status));
	tk_table_set_color(t, "STATUS", color_of_status(night->status));
	tk_table_set_cell(t, "WALL", "%s",
	        night->finished_s
	                ? tk_duration_format(
	                          (double)(night->finished_s - night->started_s), text, sizeof text)
	                : "-");
	tk_table_set_cell(t, "NEW", "%" PRId64, c->fresh);
	tk_table_set_cell(t, "OK", "%" PRId64, c->ok);
	if (c->unstable) {
		tk_table_set_cell(t, "UNSTABLE", "%" PRId64, c->unstable);
		tk_table_set_color(t, "UNSTABLE", "yellow");
	}
	set_number(t, "FAILED", c->failed, "red");
	set_number(t, "WRONG", c->wrong, "red");
	set_number(t, "SKIPPED", c->skipped, "yellow");
	if (c->open)
		tk_table_set_cell(t, "OPEN", "%" PRId64, c->open);
	set_moved(t, c);
	tk_table_set_cell(t, "NIGHT", "%" PRId64, night->id);
	tk_table_set_cell(t, "ID", "%.8s", night->uid);
}

static int list_nights(struct tk_store *s, const struct tk_globals *g, const struct log_options *o,
        const struct tk_rows *nights, const struct tk_lookup *l, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, night_columns);
	json_t *array = o->json ? json_array() : NULL;
	size_t shown = 0;
	bool hint = false;
	int status = 0;

	for (size_t i = 0; i < nights->count && !status && (!o->limit || shown < o->limit); i++) {
		const struct tk_night_row *night = TK_ROWS_AT(nights, struct tk_night_row, i);
		struct night_counts c;

		if (o->failed && night->status == TK_NIGHT_COMPLETE)
			continue;
		status = count(s, night->id, &c, err);
		if (status)
			break;
		shown++;
		hint = hint || can_resume(night);
		if (array)
			json_array_append_new(array, night_json(night, &c, l));
		else
			night_row(t, night, &c, l);
	}
	if (!status && o->json)
		status = tk_command_print_json(json_incref(array), err);
	else if (!status && !shown)
		puts(o->failed ? "No night failed." : "No nights yet.");
	else if (!status)
		status = tk_table_print(t, stdout, err);
	if (!status && hint && !o->json)
		printf("\n%s\n", resume_hint);
	json_decref(array);
	tk_table_free(t);
	return status;
}

static const struct tk_column stage_columns[] = {{"STAGE", 0}, {"STATUS", 0},
        {"TOOK", TK_COLUMN_RIGHT}, {"DETAIL", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL}, {0}};
static const struct tk_column answer_columns[] = {{"UPSTREAM", 0}, {"ANSWER", 0},
        {"REVISION", TK_COLUMN_OPTIONAL}, {"SUBJECT", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {"BUILD", TK_COLUMN_OPTIONAL}, {"MESSAGE", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL}, {0}};
static const struct tk_column failure_columns[] = {{"RUN", TK_COLUMN_RIGHT}, {"OUTCOME", 0},
        {"SERIES", 0}, {"MESSAGE", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL}, {0}};

struct night_detail {
	struct tk_rows stages, resolutions, runs;
};

static void detail_free(struct night_detail *d)
{
	tk_rows_free(&d->stages);
	tk_rows_free(&d->resolutions);
	tk_rows_free(&d->runs);
}

static bool is_failure(const struct tk_run_row *run)
{
	return !tk_outcome_has_timing(run->outcome) && run->outcome != TK_OUTCOME_UNSUPPORTED;
}

/* The history stores whole seconds. */
static const char *stage_took(const struct tk_stage_row *stage, char *text, size_t size)
{
	const int64_t took_s = stage->finished_s - stage->started_s;

	return !stage->finished_s ? "-"
	       : took_s < 1       ? "< 1 s"
	                          : tk_duration_format((double)took_s, text, size);
}

static int print_stages(
        const struct tk_globals *g, const struct night_detail *d, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, stage_columns);
	int status;

	for (size_t i = 0; i < d->stages.count; i++) {
		const struct tk_stage_row *stage = TK_ROWS_AT(&d->stages, struct tk_stage_row, i);
		char text[64];

		tk_table_add_row(t);
		tk_table_set_cell(t, "STAGE", "%s", stage->name);
		tk_table_set_cell(t, "STATUS", "%s", tk_stage_status_name(stage->status));
		if (stage->status == TK_STAGE_FAILED)
			tk_table_set_color(t, "STATUS", "red");
		tk_table_set_cell(t, "TOOK", "%s", stage_took(stage, text, sizeof text));
		tk_table_set_cell(
		        t, "DETAIL", "%s", strcmp(stage->detail, "{}") ? stage->detail : "");
	}
	status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

static int print_answers(const struct tk_globals *g, const struct night_detail *d,
        const struct tk_lookup *l, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, answer_columns);
	int status;

	for (size_t i = 0; i < d->resolutions.count; i++) {
		const struct tk_resolution_row *r =
		        TK_ROWS_AT(&d->resolutions, struct tk_resolution_row, i);
		const struct tk_upstream_row *upstream = tk_lookup_upstream(l, r->upstream_id);
		const struct tk_revision_row *revision = tk_lookup_revision(l, r->revision_id);
		const struct tk_build_row *build = tk_lookup_build(l, r->build_id);

		tk_table_add_row(t);
		tk_table_set_cell(t, "UPSTREAM", "%s", upstream ? upstream->name : "?");
		tk_table_set_cell(t, "ANSWER", "%s", tk_resolution_status_name(r->status));
		if (r->status == TK_RESOLUTION_UNREACHABLE || r->status == TK_RESOLUTION_FAILED)
			tk_table_set_color(t, "ANSWER", "red");
		tk_table_set_cell(t, "REVISION", "%.12s", revision ? revision->rev : "");
		tk_table_set_cell(t, "SUBJECT", "%s", revision ? revision->subject : "");
		tk_table_set_cell(
		        t, "BUILD", "%s", build ? tk_build_status_name(build->status) : "");
		tk_table_set_cell(
		        t, "MESSAGE", "%s", *r->message || !build ? r->message : build->message);
	}
	if (tk_table_row_count(t))
		puts("");
	status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

static int print_failures(const struct tk_globals *g, const struct night_detail *d,
        const struct tk_lookup *l, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, failure_columns);
	int status;

	for (size_t i = 0; i < d->runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&d->runs, struct tk_run_row, i);
		const struct tk_series_row *series = tk_lookup_series(l, run->series_id);

		if (!is_failure(run))
			continue;
		tk_table_add_row(t);
		tk_table_set_cell(t, "RUN", "%" PRId64, run->id);
		tk_table_set_cell(t, "OUTCOME", "%s", tk_outcome_name(run->outcome));
		tk_table_set_color(t, "OUTCOME", "red");
		tk_table_set_cell(t, "SERIES", "%s", series ? series->slug : "?");
		tk_table_set_cell(t, "MESSAGE", "%s", run->message);
	}
	if (tk_table_row_count(t))
		puts("");
	status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

static json_t *detail_json(json_t *night, const struct night_detail *d, const struct tk_lookup *l)
{
	json_t *stages = json_array(), *answers = json_array(), *failures = json_array();

	for (size_t i = 0; i < d->stages.count; i++) {
		const struct tk_stage_row *stage = TK_ROWS_AT(&d->stages, struct tk_stage_row, i);

		json_array_append_new(
		        stages, json_pack("{s:s,s:s,s:I,s:I,s:s}", "name", stage->name, "status",
		                        tk_stage_status_name(stage->status), "started_s",
		                        (json_int_t)stage->started_s, "finished_s",
		                        (json_int_t)stage->finished_s, "detail", stage->detail));
	}
	for (size_t i = 0; i < d->resolutions.count; i++) {
		const struct tk_resolution_row *r =
		        TK_ROWS_AT(&d->resolutions, struct tk_resolution_row, i);
		const struct tk_upstream_row *upstream = tk_lookup_upstream(l, r->upstream_id);
		const struct tk_revision_row *revision = tk_lookup_revision(l, r->revision_id);
		const struct tk_build_row *build = tk_lookup_build(l, r->build_id);

		json_array_append_new(
		        answers, json_pack("{s:s,s:s,s:s?,s:s?,s:s?,s:s}", "upstream",
		                         upstream ? upstream->name : "?", "status",
		                         tk_resolution_status_name(r->status), "revision",
		                         revision ? revision->rev : NULL, "subject",
		                         revision ? revision->subject : NULL, "build",
		                         build ? tk_build_status_name(build->status) : NULL,
		                         "message", r->message));
	}
	for (size_t i = 0; i < d->runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&d->runs, struct tk_run_row, i);
		const struct tk_series_row *series = tk_lookup_series(l, run->series_id);

		if (is_failure(run))
			json_array_append_new(failures,
			        json_pack("{s:I,s:s,s:s,s:s}", "run", (json_int_t)run->id,
			                "outcome", tk_outcome_name(run->outcome), "series",
			                series ? series->slug : "?", "message", run->message));
	}
	json_object_set_new(night, "stages", stages);
	json_object_set_new(night, "upstreams", answers);
	json_object_set_new(night, "failures", failures);
	return night;
}

static int print_night(struct tk_store *s, const struct tk_globals *g, const struct log_options *o,
        const struct tk_night_row *night, const struct tk_lookup *l, struct tk_error *err)
{
	struct night_detail d = {0};
	struct night_counts c;
	struct tk_table *t = NULL;
	int status = count(s, night->id, &c, err);

	if (!status)
		status = tk_store_list_stages(s, night->id, &d.stages, err);
	if (!status)
		status = tk_store_list_resolutions(s, night->id, &d.resolutions, err);
	if (!status)
		status = tk_store_list_night_runs(s, night->id, &d.runs, err);
	if (!status && o->json) {
		status = tk_command_print_json(detail_json(night_json(night, &c, l), &d, l), err);
	} else if (!status) {
		t = tk_table_new(g, night_columns);
		night_row(t, night, &c, l);
		status = tk_table_print(t, stdout, err);
		if (!status && can_resume(night))
			printf("\n%s\n", resume_hint);
		if (d.stages.count)
			puts("");
		if (!status)
			status = print_stages(g, &d, err);
		if (!status)
			status = print_answers(g, &d, l, err);
		if (!status)
			status = print_failures(g, &d, l, err);
	}
	tk_table_free(t);
	detail_free(&d);
	return status;
}

int tk_cmd_log(const struct tk_globals *g, int argc, char **argv)
{
	struct log_options o = {.limit = 20};
	struct tk_config *config = NULL;
	struct tk_store *store = NULL;
	struct tk_lookup lookup = {0};
	struct tk_rows nights = {0};
	struct tk_error err = {0};
	const struct tk_night_row *night = NULL;
	int status, code;

	tk_command_parse(&tk_argp_log, argc, argv, &o);
	code = tk_command_open(g, "log", TK_STORE_READ, &config, &store);
	if (code)
		return code;
	status = tk_lookup_load(store, &lookup, &err);
	if (!status)
		status = tk_store_list_nights(store, &nights, &err);
	if (!status)
		tk_store_mark_stopped(store, &nights);
	if (!status && o.night)
		status = tk_lookup_find_night(&nights, o.night, &night, &err);
	if (!status)
		status = night ? print_night(store, g, &o, night, &lookup, &err)
		               : list_nights(store, g, &o, &nights, &lookup, &err);
	if (status)
		code = tk_command_fail("log", &err);
	tk_rows_free(&nights);
	tk_lookup_free(&lookup);
	tk_command_close(config, store);
	return code;
}
