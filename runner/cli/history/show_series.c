/* Prints a series: what it is, its newest points, its change points and alerts. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/format.h"
#include "base/text.h"
#include "base/try.h"
#include "cli/history/show.h"
#include "cli/history/show_point.h"
#include "cli/markup.h"
#include "cli/rate.h"
#include "cli/table.h"
#include "site_gen/render/format_point.h"
#include "store/store.h"

struct series_detail {
	struct tk_rows points, changes,
	        alerts; /* points: the newest TK_SPARKLINE_POINTS, or --limit if that is more */
};

static void detail_free(struct series_detail *d)
{
	tk_rows_free(&d->points);
	tk_rows_free(&d->changes);
	tk_rows_free(&d->alerts);
}

static int detail_load(struct tk_store *s, int64_t series_id, size_t limit, struct series_detail *d,
        struct tk_error *err)
{
	size_t wanted = !limit ? 0 : limit > TK_SPARKLINE_POINTS ? limit : TK_SPARKLINE_POINTS;
	TRY(tk_store_list_points(s, series_id, INT64_MIN, wanted, &d->points, err));
	TRY(tk_store_list(
	        s, TK_TABLE_change_point, "series_id=?1", TK_ARGS(series_id), &d->changes, err));
	return tk_store_list_alerts(s, &d->alerts, err);
}

static void print_pair(const char *name, const char *value)
{
	if (!value || !*value)
		return;
	printf("%-12s", name);
	tk_text_write_sanitized(stdout, value, "");
	putchar('\n');
}

static void print_identity(const struct tk_lookup *l, const struct tk_series_row *series)
{
	const struct tk_device_row *device = tk_lookup_device(l, series->device_id);
	const struct tk_machine_row *machine =
	        device ? tk_lookup_machine(l, device->machine_id) : NULL;
	const struct tk_upstream_row *upstream = tk_lookup_upstream(l, series->upstream_id);
	const struct tk_problem_row *problem = tk_lookup_problem(l, series->problem_id);

	print_pair("series", series->slug);
	print_pair("problem", problem ? problem->title : NULL);
	print_pair("", problem ? problem->text : NULL);
	print_pair("source", problem ? problem->source : NULL);
	print_pair("upstream", upstream ? upstream->name : NULL);
	print_pair("", upstream ? upstream->url : NULL);
	print_pair("backend", series->backend);
	print_pair("config", series->config);
	print_pair("device", device ? device->name : NULL);
	print_pair("machine", machine ? machine->name : NULL);
	printf("%-12s%s, %s, %s, %s is better\n", "measures", series->metric, series->mode,
	        tk_series_role_name(series->role), tk_better_name(series->better));
}

static const struct tk_column point_columns[] = {{"WHEN", 0}, {"VALUE", TK_COLUMN_RIGHT},
        {"INTERVAL", TK_COLUMN_RIGHT | TK_COLUMN_DROP(5)},
        {"RATE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(3)},
        {"PEAK", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"N", TK_COLUMN_RIGHT | TK_COLUMN_DROP(1)}, {"NOTE", TK_COLUMN_OPTIONAL}, {"REVISION", 0},
        {"SUBJECT", TK_COLUMN_SHORTEN | TK_COLUMN_DROP(4)}, {"RUN", TK_COLUMN_RIGHT}, {0}};

static void point_row(struct tk_table *t, const struct tk_lookup *l,
        const struct tk_series_row *series, const struct tk_point *p)
{
	const struct tk_revision_row *revision = tk_lookup_build_revision(l, p->build_id);
	char text[TK_FORMAT_SIZE];

	tk_table_add_row(t);
	tk_table_set_cell(t, "WHEN", "%s", tk_format_minute(p->as_of_s, text));
	tk_table_set_cell(t, "VALUE", "%s", tk_format_value(p->value, series->unit, text));
	tk_table_set_cell(t, "INTERVAL", "%s", tk_format_point_half_width(p, text));
	const struct tk_rate rate = tk_rate_from_point(l, p);
	tk_rate_set_cells(t, &rate);
	tk_table_set_cell(t, "N", "%" PRId64, p->n);
	tk_table_set_cell(t, "NOTE", "%s%s%s", p->flags & TK_POINT_THROTTLED ? "throttled" : "",
	        (p->flags & TK_POINT_THROTTLED) && (p->flags & TK_POINT_UNSTABLE) ? ", " : "",
	        p->flags & TK_POINT_UNSTABLE ? "unstable" : "");
	tk_table_set_cell(t, "REVISION", "%.12s", revision ? revision->rev : "?");
	tk_table_set_cell(t, "SUBJECT", "%s", revision ? revision->subject : "");
	tk_table_set_cell(t, "RUN", "%" PRId64, p->run_id);
}

static int print_points(const struct tk_globals *g, const struct tk_show_options *o,
        const struct tk_lookup *l, const struct tk_series_row *series, const struct tk_rows *points,
        struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, point_columns);
	size_t shown = o->limit && o->limit < points->count ? o->limit : points->count;
	int status;

	for (size_t i = 0; i < shown; i++)
		point_row(t, l, series, TK_ROWS_AT(points, struct tk_point, points->count - 1 - i));
	if (!shown)
		puts("\nNo values yet.");
	else
		puts("");
	status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

static const struct tk_column change_columns[] = {{"CHANGED", 0}, {"BEFORE", TK_COLUMN_RIGHT},
        {"AFTER", TK_COLUMN_RIGHT}, {"BY", TK_COLUMN_RIGHT}, {"CAUSE", TK_COLUMN_DROP(2)},
        {"CONFIDENCE", TK_COLUMN_RIGHT | TK_COLUMN_DROP(1)}, {"RUN", TK_COLUMN_RIGHT}, {0}};

static int print_changes(const struct tk_globals *g, const struct tk_series_row *series,
        const struct tk_rows *changes, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, change_columns);
	int status;

	for (size_t i = 0; i < changes->count; i++) {
		const struct tk_change_point_row *c =
		        TK_ROWS_AT(changes, struct tk_change_point_row, changes->count - 1 - i);
		char text[TK_FORMAT_SIZE];

		tk_table_add_row(t);
		tk_table_set_cell(t, "CHANGED", "%s", tk_format_minute(c->as_of_s, text));
		tk_table_set_cell(
		        t, "BEFORE", "%s", tk_format_value(c->before_value, series->unit, text));
		tk_table_set_cell(
		        t, "AFTER", "%s", tk_format_value(c->after_value, series->unit, text));
		tk_table_set_cell(t, "BY", "%s",
		        tk_format_change(c->after_value / c->before_value - 1, text));
		tk_table_set_cell(t, "CAUSE", "%s", tk_cause_name(c->cause));
		tk_table_set_cell(t, "CONFIDENCE", "%s", tk_format_percent(c->confidence, text));
		tk_table_set_cell(t, "RUN", "%" PRId64, c->run_id);
	}
	if (changes->count)
		puts("");
	status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

/* The first of these points that measured the revision, if an earlier point did not; NULL: there is
 * none. */
static const struct tk_point *first_of_revision(
        const struct tk_lookup *l, const struct tk_rows *points, const char *rev)
{
	for (size_t i = 0; i < points->count && *rev; i++) {
		const struct tk_point *p = TK_ROWS_AT(points, struct tk_point, i);
		const struct tk_revision_row *revision = tk_lookup_build_revision(l, p->build_id);

		if (revision && !strcmp(revision->rev, rev))
			return i ? p : NULL;
	}
	return NULL;
}

/* An alert keeps the date and size known on the night that opened it. The change points below have
 * later estimates, so both may differ. */
static void print_alerts(const struct tk_lookup *l, const struct tk_series_row *series,
        const struct tk_rows *points, const struct tk_rows *alerts)
{
	for (size_t i = 0; i < alerts->count; i++) {
		const struct tk_alert_row *a = TK_ROWS_AT(alerts, struct tk_alert_row, i);
		char when[TK_FORMAT_SIZE], change[TK_FORMAT_SIZE];

		if (a->series_id != series->id)
			continue;
		printf("\nalert %.8s, %s: %s, opened %s; first bad revision %.12s", a->uid,
		        tk_alert_status_name(a->status), tk_format_change(a->change, change),
		        tk_format_minute(a->opened_s, when), a->bad_rev);
		const struct tk_point *first = first_of_revision(l, points, a->bad_rev);
		if (first)
			printf(", first measured %s", tk_format_minute(first->as_of_s, when));
		putchar('\n');
	}
}

static json_t *series_json(const struct tk_show_options *o, const struct tk_lookup *l,
        const struct tk_series_row *series, const struct series_detail *d)
{
	json_t *json = tk_show_identity_json(l, series), *points = json_array(),
	       *changes = json_array(), *alerts = json_array();
	size_t shown = o->limit && o->limit < d->points.count ? o->limit : d->points.count;

	for (size_t i = 0; i < shown; i++)
		json_array_append_new(points,
		        tk_show_point_json(l,
		                TK_ROWS_AT(&d->points, struct tk_point, d->points.count - 1 - i)));
	for (size_t i = 0; i < d->changes.count; i++) {
		const struct tk_change_point_row *c =
		        TK_ROWS_AT(&d->changes, struct tk_change_point_row, i);
		json_t *change = json_pack("{s:I,s:I,s:I,s:s}", "as_of_s", (json_int_t)c->as_of_s,
		        "run", (json_int_t)c->run_id, "previous_run",
		        (json_int_t)c->previous_run_id, "cause", tk_cause_name(c->cause));

		json_object_set_new(change, "before", tk_json_number(c->before_value));
		json_object_set_new(change, "after", tk_json_number(c->after_value));
		json_object_set_new(change, "confidence", tk_json_number(c->confidence));
		json_array_append_new(changes, change);
	}
	for (size_t i = 0; i < d->alerts.count; i++) {
		const struct tk_alert_row *a = TK_ROWS_AT(&d->alerts, struct tk_alert_row, i);

		if (a->series_id == series->id)
			json_array_append_new(alerts,
			        json_pack("{s:s,s:s,s:I,s:s,s:s,s:s}", "uid", a->uid, "status",
			                tk_alert_status_name(a->status), "opened_s",
			                (json_int_t)a->opened_s, "good_rev", a->good_rev, "bad_rev",
			                a->bad_rev, "title", a->title));
	}
	json_object_set_new(json, "points", points);
	json_object_set_new(json, "change_points", changes);
	json_object_set_new(json, "alerts", alerts);
	return json;
}

int tk_show_series(struct tk_store *s, const struct tk_globals *g, const struct tk_show_options *o,
        const struct tk_lookup *l, const struct tk_series_row *series, struct tk_error *err)
{
	struct series_detail d = {0};
	struct tk_buf spark = TK_BUF_INIT;
	int status = detail_load(s, series->id, o->limit, &d, err);

	if (!status && o->json) {
		status = tk_command_print_json(series_json(o, l, series, &d), err);
	} else if (!status) {
		print_identity(l, series);
		tk_show_add_sparkline(&spark, &d.points);
		print_pair("trend", tk_buf_cstr(&spark));
		print_alerts(l, series, &d.points, &d.alerts);
		status = print_changes(g, series, &d.changes, err);
		if (!status)
			status = print_points(g, o, l, series, &d.points, err);
	}
	tk_buf_free(&spark);
	detail_free(&d);
	return status;
}
