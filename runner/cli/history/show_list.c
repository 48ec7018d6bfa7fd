/* Several series in a table or as JSON, and the pieces that one series has as well. */
#include "cli/history/show_point.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/format.h"
#include "cli/history/show.h"
#include "cli/markup.h"
#include "cli/rate.h"
#include "cli/table.h"
#include "core/measurement_fields.h"
#include "site_gen/render/format_point.h"

void tk_show_add_sparkline(struct tk_buf *b, const struct tk_rows *points)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	size_t from = points->count > TK_SPARKLINE_POINTS ? points->count - TK_SPARKLINE_POINTS : 0;
	double lo = INFINITY, hi = -INFINITY;

	for (size_t i = from; i < points->count; i++) {
		lo = fmin(lo, TK_ROWS_AT(points, struct tk_point, i)->value);
		hi = fmax(hi, TK_ROWS_AT(points, struct tk_point, i)->value);
	}
	for (size_t i = from; i < points->count; i++) {
		double x = TK_ROWS_AT(points, struct tk_point, i)->value;

		tk_buf_add_str(b, bars[hi > lo ? (size_t)((x - lo) / (hi - lo) * 7.0 + 0.5) : 3]);
	}
}

void tk_show_set_distribution(json_t *object, const struct tk_point *p)
{
	const struct {
		enum tk_measurement_field field;
		double x;
	} values[] = {{TK_MEASUREMENT_LO, p->lo}, {TK_MEASUREMENT_HI, p->hi},
	        {TK_MEASUREMENT_MIN, p->min}, {TK_MEASUREMENT_Q25, p->q25},
	        {TK_MEASUREMENT_Q75, p->q75}, {TK_MEASUREMENT_P95, p->p95}};

	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		json_object_set_new(object, tk_measurement_field_key(values[i].field),
		        tk_json_number(values[i].x));
}

json_t *tk_show_point_json(const struct tk_lookup *l, const struct tk_point *p)
{
	const struct tk_revision_row *revision = tk_lookup_build_revision(l, p->build_id);
	json_t *json = json_pack("{s:I,s:I,s:I,s:s?,s:s?}", "as_of_s", (json_int_t)p->as_of_s,
	        "run", (json_int_t)p->run_id, "n", (json_int_t)p->n, "revision",
	        revision ? revision->rev : NULL, "subject", revision ? revision->subject : NULL);
	const struct tk_rate rate = tk_rate_from_point(l, p);

	json_object_set_new(json, "value", tk_json_number(p->value));
	tk_show_set_distribution(json, p);
	tk_rate_set_members(json, &rate);
	json_object_set_new(json, "throttled", json_boolean(p->flags & TK_POINT_THROTTLED));
	json_object_set_new(json, "unstable", json_boolean(p->flags & TK_POINT_UNSTABLE));
	return json;
}

json_t *tk_show_identity_json(const struct tk_lookup *l, const struct tk_series_row *series)
{
	const struct tk_device_row *device = tk_lookup_device(l, series->device_id);
	const struct tk_machine_row *machine =
	        device ? tk_lookup_machine(l, device->machine_id) : NULL;
	const struct tk_upstream_row *upstream = tk_lookup_upstream(l, series->upstream_id);
	const struct tk_problem_row *problem = tk_lookup_problem(l, series->problem_id);

	return json_pack("{s:s,s:s,s:s?,s:s?,s:s?,s:s?,s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "series",
	        series->slug, "uid", series->uid, "machine", machine ? machine->name : NULL,
	        "device", device ? device->name : NULL, "upstream",
	        upstream ? upstream->name : NULL, "problem", problem ? problem->text : NULL,
	        "backend", series->backend, "config", series->config, "mode", series->mode,
	        "metric", series->metric, "unit", series->unit, "better",
	        tk_better_name(series->better), "role", tk_series_role_name(series->role));
}

static const struct tk_column list_columns[] = {{"SERIES", 0}, {"NEWEST", TK_COLUMN_RIGHT},
        {"INTERVAL", TK_COLUMN_RIGHT | TK_COLUMN_DROP(3)},
        {"RATE", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(1)},
        {"PEAK", TK_COLUMN_RIGHT | TK_COLUMN_OPTIONAL | TK_COLUMN_DROP(2)},
        {"WHEN", TK_COLUMN_DROP(4)}, {"TREND", TK_COLUMN_DROP(5)}, {0}};

static void list_row(struct tk_table *t, const struct tk_lookup *l,
        const struct tk_series_row *series, const struct tk_rows *points)
{
	const struct tk_point *p =
	        points->count ? TK_ROWS_AT(points, struct tk_point, points->count - 1) : NULL;
	struct tk_buf spark = TK_BUF_INIT;
	char text[TK_FORMAT_SIZE];

	tk_show_add_sparkline(&spark, points);
	tk_table_add_row(t);
	tk_table_set_cell(t, "SERIES", "%s", series->slug);
	tk_table_set_cell(
	        t, "NEWEST", "%s", p ? tk_format_value(p->value, series->unit, text) : "-");
	tk_table_set_cell(t, "INTERVAL", "%s", p ? tk_format_point_half_width(p, text) : "-");
	if (p) {
		const struct tk_rate rate = tk_rate_from_point(l, p);

		tk_rate_set_cells(t, &rate);
	}
	tk_table_set_cell(t, "WHEN", "%s", p ? tk_format_minute(p->as_of_s, text) : "-");
	tk_table_set_cell(t, "TREND", "%s", tk_buf_cstr(&spark));
	tk_buf_free(&spark);
}

int tk_show_series_list(struct tk_store *s, const struct tk_globals *g,
        const struct tk_show_options *o, const struct tk_lookup *l,
        const struct tk_series_row *const *found, size_t count, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, list_columns);
	json_t *array = json_array();
	int status = 0;

	for (size_t i = 0; i < count && !status; i++) {
		struct tk_rows points;

		status = tk_store_list_points(s, found[i]->id, INT64_MIN, 16, &points, err);
		if (status)
			break;
		json_t *json = tk_show_identity_json(l, found[i]);

		if (points.count)
			json_object_set_new(json, "newest",
			        tk_show_point_json(
			                l, TK_ROWS_AT(&points, struct tk_point, points.count - 1)));
		json_array_append_new(array, json);
		list_row(t, l, found[i], &points);
		tk_rows_free(&points);
	}
	if (!status && o->json)
		status = tk_command_print_json(json_incref(array), err);
	else if (!status)
		status = tk_table_print(t, stdout, err);
	json_decref(array);
	tk_table_free(t);
	return status;
}
