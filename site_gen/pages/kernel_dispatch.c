/* The dispatch table on the page of a kernel. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/present.h"
#include "site_gen/charts/chart.h"
#include "site_gen/model/ceilings.h"
#include "site_gen/model/standings.h"
#include "site_gen/pages/dispatch_files.h"
#include "site_gen/pages/kernel_table.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define TIED_SHOWN 3

static void set_tied(struct tk_value *o, const struct tk_dispatch_row *row)
{
	struct tk_buf tied = TK_BUF_INIT;
	size_t count = 0;
	for (size_t i = 0; i < row->standing.first_count; i++) {
		const struct tk_site_series *s = row->standing.at[i];
		if (s == row->chosen || ++count > TIED_SHOWN)
			continue;
		tk_buf_add_printf(&tied, "%s%.*s", count > 1 ? ", " : "",
		        (int)tk_utf8_clip_len(s->variant, 40), s->variant);
	}
	if (count > TIED_SHOWN)
		tk_buf_add_printf(&tied, " and %zu more", count - TIED_SHOWN);
	tk_value_set(o, "tied", tk_buf_cstr(&tied));
	tk_buf_free(&tied);
}

/* "5 % slower", "58× slower"; "" for NAN */
static void set_slower(struct tk_value *o, const char *key, double change)
{
	tk_value_set_fmt(o, key,
	        isnan(change)  ? ""
	        : change < 0.1 ? "%.1f %% slower"
	        : change < 1   ? "%.0f %% slower"
	                       : "%.2g× slower",
	        change < 1 ? 100 * change : change + 1);
}

static void add_row(struct tk_site *site, struct tk_value *rows, const struct tk_dispatch_row *row,
        const struct tk_ceiling_set *ceilings)
{
	struct tk_value *o = tk_value_append(rows);
	const struct tk_site_series *s = row->chosen, *next = tk_dispatch_next(row);
	const char *unit;
	double value = tk_series_last_point(s)->value, rate = tk_series_rate(s, value, &unit),
	       lead = tk_dispatch_lead(row),
	       share = tk_ceiling_set_efficiency_by_source(
	               ceilings, TK_CEILING_DATASHEET, s, value);
	tk_value_set_clip(o, "problem", s->problem->title, 110);
	tk_value_set_clip(o, "backend", s->variant, 60);
	tk_value_set_fmt(o, "href", "../series/%s.html", s->file);
	tk_mark_draw_key(&site->markup, s->style);
	tk_page_set_markup(site, o, "mark_markup");
	tk_value_set_quantity(o, "value", value, s->row->unit, "–");
	tk_value_set_quantity(o, "rate", rate, unit, "–");
	tk_value_set_percent(o, "share", share, "–");
	set_tied(o, row);
	tk_value_set_clip(o, "next", next ? next->variant : "", 40);
	set_slower(o, "lead", next ? lead - 1 : NAN);
	tk_value_set_flag(o, "alone", row->standing.count == 1);
}

static void set_summary(struct tk_value *o, const struct tk_dispatch *d)
{
	tk_value_set_int(o, "dispatch_problems", d->count);
	tk_value_set_flag(o, "dispatch_several", d->used > 1);
	tk_value_set_clip(o, "single", d->single->variant, 60);
	tk_value_set_int(o, "single_count", d->single_count);
	tk_value_set_fmt(o, "single_cost", "%.1f %%", 100 * (d->single_ratio - 1));
	tk_value_set_flag(o, "dispatch_only", d->count == 1);
}

int tk_kernel_set_dispatch(struct tk_site *site, struct tk_value *o,
        const struct tk_site_device *device, const struct tk_kernel_page *kernel, bool has_rows,
        struct tk_error *err)
{
	struct tk_dispatch d;
	int status =
	        tk_dispatch_load(&site->model, device, kernel->op, site->options->tie, &d, err);
	tk_value_set_flag(o, "dispatch", !status && d.contested > 0);
	if (!status && d.contested) {
		struct tk_ceiling_set ceilings;
		char path[TK_DISPATCH_PATH_SIZE];
		struct tk_value *rows = tk_value_add_list(o, "dispatch_rows");
		tk_ceiling_set_load(&site->model, device, &ceilings);
		tk_dispatch_path(&d, kernel->file, path);
		tk_value_set_fmt(o, "dispatch_href", "../%s", path);
		set_summary(o, &d);
		for (size_t i = 0; has_rows && i < d.count; i++)
			add_row(site, rows, &d.at[i], &ceilings);
		if (!kernel->whole)
			status = tk_dispatch_write_files(site, &d, kernel->file, err);
	}
	tk_dispatch_free(&d);
	return status;
}
