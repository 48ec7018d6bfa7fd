/* A night as one row: its counts, status and duration. */
#include "cli/history/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/format.h"
#include "core/outcome.h"
#include "detect/detect.h"

const char tk_night_resume_hint[] = "`tracker nightly --resume` continues the newest stopped night";

const struct tk_column tk_night_columns[] = {
        {"STARTED (UTC)", 0},
        {"MACHINE", TK_COLUMN_CUT | TK_COLUMN_DROP(3)},
        {"KIND", TK_COLUMN_DROP(6)},
        {"STATUS", 0},
        {"WALL", TK_COLUMN_RIGHT | TK_COLUMN_DROP(7)},
        {"NEW", TK_COLUMN_RIGHT | TK_COLUMN_DROP(2)},
        {"OK", TK_COLUMN_RIGHT},
        {"UNSTABLE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(4)},
        {"FAILED", TK_COLUMN_RIGHT},
        {"WRONG", TK_COLUMN_RIGHT | TK_COLUMN_DROP(8)},
        {"IMPLAUSIBLE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"SKIPPED", TK_COLUMN_RIGHT | TK_COLUMN_DROP(5)},
        {"OPEN", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL},
        {"CHANGES", TK_COLUMN_WRAP},
        {"REVISION", TK_COLUMN_OPTIONAL},
        {"NIGHT", TK_COLUMN_RIGHT},
        {"ID", TK_COLUMN_DROP(1)},
        {0},
};

static void count_outcome(struct tk_night_counts *c, const char *word, int64_t n)
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
	else if (o == TK_OUTCOME_IMPLAUSIBLE)
		c->implausible += n;
	else if (o == TK_OUTCOME_SKIPPED)
		c->skipped += n;
	else if (o == TK_OUTCOME_UNSUPPORTED)
		c->unsupported += n;
	else
		c->failed += n;
}

static void count_verdict(struct tk_night_counts *c, const char *word, int64_t n)
{
	if (!strcmp(word, tk_verdict_status_name(TK_VERDICT_REGRESSED)))
		c->regressed = n;
	else if (!strcmp(word, tk_verdict_status_name(TK_VERDICT_IMPROVED)))
		c->improved = n;
	else if (!strcmp(word, tk_verdict_status_name(TK_VERDICT_NEWLY_FAILED)))
		c->newly_failed = n;
}

static void count_resolution(struct tk_night_counts *c, const char *word, int64_t n)
{
	if (!strcmp(word, tk_resolution_status_name(TK_RESOLUTION_NEW)))
		c->new_revisions = n;
}

static void count_open(struct tk_night_counts *c, const char *word, int64_t n)
{
	c->open = n;
}

int tk_night_count(
        struct tk_store *s, int64_t night_id, struct tk_night_counts *out, struct tk_error *err)
{
	static void (*const add[])(struct tk_night_counts * c, const char *word, int64_t n) = {
	        [TK_COUNT_OUTCOMES] = count_outcome,
	        [TK_COUNT_VERDICTS] = count_verdict,
	        [TK_COUNT_RESOLUTIONS] = count_resolution,
	        [TK_COUNT_OPEN_JOBS] = count_open,
	};

	*out = (struct tk_night_counts){0};
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

/* The upstream that `backfill` or `bisect` was asked for, from the summary of its night. */
static json_t *requested_upstream(const struct tk_night_row *night)
{
	json_t *summary = json_loads(night->summary, 0, NULL);
	json_t *name =
	        json_incref(json_object_get(json_object_get(summary, "request"), "upstream"));

	json_decref(summary);
	return name;
}

/* A night of `backfill` or `bisect` measures past revisions: which ones is what tells them
 * apart. */
int tk_night_find_revision(struct tk_store *s, const struct tk_night_row *night,
        const struct tk_lookup *l, struct tk_night_counts *c, struct tk_error *err)
{
	struct tk_rows rows;
	json_t *requested;
	int status;

	c->revision[0] = '\0';
	if (night->kind == TK_NIGHT_NIGHTLY || !(requested = requested_upstream(night)))
		return 0;
	status = tk_store_list(
	        s, TK_TABLE_resolution, "night_id=?1", TK_ARGS(night->id), &rows, err);
	for (size_t i = 0; !status && i < rows.count; i++) {
		const struct tk_resolution_row *r = TK_ROWS_AT(&rows, struct tk_resolution_row, i);
		const struct tk_upstream_row *upstream = tk_lookup_upstream(l, r->upstream_id);
		const struct tk_revision_row *revision = tk_lookup_revision(l, r->revision_id);

		if (upstream && revision && json_is_string(requested) &&
		        strcmp(upstream->name, json_string_value(requested)) == 0)
			snprintf(c->revision, sizeof c->revision, "%.40s %.12s", upstream->name,
			        revision->rev);
	}
	if (!status)
		tk_rows_free(&rows);
	json_decref(requested);
	return status;
}

bool tk_night_can_resume(const struct tk_night_row *night)
{
	return night->status == TK_NIGHT_STOPPED && night->kind == TK_NIGHT_NIGHTLY;
}

static const char *machine_name(const struct tk_lookup *l, int64_t id)
{
	const struct tk_machine_row *machine = tk_lookup_machine(l, id);

	return machine ? machine->name : "?";
}

json_t *tk_night_json(const struct tk_night_row *night, const struct tk_night_counts *c,
        const struct tk_lookup *l)
{
	json_t *json = json_pack("{s:I,s:s,s:s,s:s,s:s,s:I,s:I,s:s,s:s,s:s}", "id",
	        (json_int_t)night->id, "uid", night->uid, "machine",
	        machine_name(l, night->machine_id), "kind", tk_night_kind_name(night->kind),
	        "status", tk_night_status_name(night->status), "as_of_s",
	        (json_int_t)night->as_of_s, "started_s", (json_int_t)night->started_s,
	        "tracker_version", night->tracker_version, "config_hash", night->config_hash,
	        "summary", night->summary);
	json_t *parsed = json_loads(night->summary, 0, NULL);

	if (parsed)
		json_object_set_new(json, "summary", parsed);
	json_object_set_new(json, "finished_s",
	        night->finished_s ? json_integer(night->finished_s) : json_null());
	if (tk_night_can_resume(night))
		json_object_set_new(json, "hint", json_string(tk_night_resume_hint));
	json_object_set_new(json, "jobs",
	        json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "ok", (json_int_t)c->ok, "unstable",
	                (json_int_t)c->unstable, "failed", (json_int_t)c->failed, "wrong",
	                (json_int_t)c->wrong, "implausible", (json_int_t)c->implausible, "skipped",
	                (json_int_t)c->skipped, "unsupported", (json_int_t)c->unsupported, "open",
	                (json_int_t)c->open));
	json_object_set_new(json, "moved",
	        json_pack("{s:I,s:I,s:I}", "regressed", (json_int_t)c->regressed, "improved",
	                (json_int_t)c->improved, "newly_failed", (json_int_t)c->newly_failed));
	json_object_set_new(
	        json, "revision", *c->revision ? json_string(c->revision) : json_null());
	json_object_set_new(json, "new_revisions", json_integer(c->new_revisions));
	return json;
}

static const char *status_color(enum tk_night_status status)
{
	return status == TK_NIGHT_COMPLETE ? "green" : status == TK_NIGHT_FAILED ? "red" : "yellow";
}

static void set_changes(struct tk_table *t, const struct tk_night_counts *c)
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
	tk_table_set_cell(t, "CHANGES", "%s", *text ? text : "-");
	if (c->regressed || c->newly_failed)
		tk_table_set_color(t, "CHANGES", "red");
}

static void set_number(struct tk_table *t, const char *column, int64_t n, const char *color)
{
	tk_table_set_cell(t, column, "%" PRId64, n);
	if (n)
		tk_table_set_color(t, column, color);
}

void tk_night_add_row(struct tk_table *t, const struct tk_night_row *night,
        const struct tk_night_counts *c, const struct tk_lookup *l)
{
	char text[TK_FORMAT_SIZE];

	tk_table_add_row(t);
	tk_table_set_cell(t, "STARTED (UTC)", "%s", tk_format_minute(night->started_s, text));
	tk_table_set_cell(t, "MACHINE", "%s", machine_name(l, night->machine_id));
	tk_table_set_cell(t, "KIND", "%s", tk_night_kind_name(night->kind));
	tk_table_set_cell(t, "STATUS", "%s", tk_night_status_name(night->status));
	tk_table_set_color(t, "STATUS", status_color(night->status));
	tk_table_set_cell(t, "WALL", "%s",
	        night->finished_s
	                ? tk_duration_format(
	                          (double)(night->finished_s - night->started_s), text, sizeof text)
	                : "-");
	tk_table_set_cell(t, "NEW", "%" PRId64, c->new_revisions);
	tk_table_set_cell(t, "OK", "%" PRId64, c->ok);
	if (c->unstable) {
		tk_table_set_cell(t, "UNSTABLE", "%" PRId64, c->unstable);
		tk_table_set_color(t, "UNSTABLE", "yellow");
	}
	set_number(t, "FAILED", c->failed, "red");
	set_number(t, "WRONG", c->wrong, "red");
	if (c->implausible)
		set_number(t, "IMPLAUSIBLE", c->implausible, "red");
	set_number(t, "SKIPPED", c->skipped, "yellow");
	if (c->open)
		tk_table_set_cell(t, "OPEN", "%" PRId64, c->open);
	set_changes(t, c);
	if (*c->revision)
		tk_table_set_cell(t, "REVISION", "%s", c->revision);
	tk_table_set_cell(t, "NIGHT", "%" PRId64, night->id);
	tk_table_set_cell(t, "ID", "%.8s", night->uid);
}
