/* roofline/DEVICE.html: the drawing, and the data of the chart. The tables are queries. */
#include <math.h>

#include "base/base.h"
#include "site_gen/charts/charts.h"
#include "site_gen/data/data.h"
#include "site_gen/pages/page.h"

#define TRAIL_MAX 8
#define TRAILS_MANY 500 /* of more points a trail is where it began: more could not be told apart */

struct reader {
	struct tk_site *site;
	struct tk_roofline_points points;
};

/* The trail: [[time, rate], ...] of earlier nights, oldest first, evenly chosen. */
static void add_trail(struct tk_buf *out, const struct tk_site_series *s, bool many)
{
	size_t past = s->sparkline.count ? s->sparkline.count - 1 : 0,
	       step = many               ? past
	              : past > TRAIL_MAX ? (past + TRAIL_MAX - 1) / TRAIL_MAX
	                                 : 1;
	for (size_t i = 0; i < past; i += step) {
		const struct tk_sparkline_point *p = &s->sparkline.at[i];
		tk_buf_add_str(out, i ? ",[" : ",\"trail\":[[");
		tk_buf_add_int(out, p->as_of_s);
		tk_buf_add_char(out, ',');
		tk_data_add_number(out, s->problem->flops / (double)p->value);
		tk_buf_add_char(out, ']');
	}
	tk_buf_add_str(out, past ? "]" : "");
}

static int add_ceilings(void *user, const struct tk_query_row *row, struct tk_error *err)
{
	(void)err;
	tk_buf_add_str(user, row->values[0].text);
	return 0;
}

/* As a member of the data, which its text is but for the trail, and as a mark of the drawing. */
static int add_point(void *user, const struct tk_query_row *row, struct tk_error *err)
{
	struct reader *r = user;
	struct tk_buf *out = &r->site->page;
	const struct tk_arg *v = row->values;
	const struct tk_site_series *s = tk_model_find_series(&r->site->model, v[0].i);
	(void)err;
	if (!r->points.count)
		r->points.at = tk_calloc((size_t)v[8].i, sizeof *r->points.at);
	r->points.at[r->points.count] = (struct tk_roofline_point){s, v[1].real, v[2].real,
	        v[3].i != 0, {v[4].real, v[5].real, v[6].real}, (size_t)v[7].i};
	tk_buf_add_str(out, r->points.count++ ? ",\n" : "\n");
	tk_buf_add_str(out, v[9].text);
	add_trail(out, s, v[8].i > TRAILS_MANY);
	tk_buf_add_char(out, '}');
	return 0;
}

int tk_page_add_roofline(
        struct tk_site *site, struct tk_value *page, int64_t device_id, struct tk_error *err)
{
	const struct tk_site_device *device = tk_model_find_device(&site->model, device_id);
	struct reader reader = {.site = site};
	struct tk_ceiling_set ceilings;
	struct tk_buf *out = &site->page;
	tk_buf_clear(out);
	tk_buf_add_str(out, "tracker.data.add(\"roofline\",{\"ceilings\":[");
	TRY(tk_store_query(site->model.store, tk_page_find_sql(site, "api", "roofline_ceilings"),
	        TK_ARGS(device_id), add_ceilings, out, err));
	tk_buf_add_str(out, "],\"points\":[");
	int status = tk_store_query(site->model.store, tk_page_find_sql(site, "api", "roofline"),
	        TK_ARGS(device_id), add_point, &reader, err);
	tk_buf_add_str(out, "]});\n");
	tk_ceiling_set_load(&site->model, device, &ceilings);
	tk_ceiling_set_drop_times(&ceilings);
	tk_roofline_draw(&site->markup, &reader.points, &ceilings);
	tk_page_set_markup(site, page, "roofline_markup");
	free(reader.points.at);
	return status ? status
	              : tk_output_put(site->out, tk_value_find_text(page, "data"), out, err);
}
