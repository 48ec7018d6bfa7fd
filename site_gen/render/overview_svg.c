/* Bars of intervals, squares of nights and the line of an index. */
#include "site_gen/render/overview_svg.h"

#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "site_gen/model/model.h"
#include "site_gen/model/perf_index.h"

#define DAY_S 86400
#define BAR_WIDTH 160
#define BAR_HEIGHT 14
#define SQUARE 9
#define SQUARE_STEP 11
#define INDEX_WIDTH 180
#define INDEX_HEIGHT 36
#define INDEX_FLOOR 0.02 /* of the range to either side, so that noise looks like noise */

static double log_of(double change)
{
	return change > -1 ? log1p(change) : NAN;
}

void tk_interval_axis_add(struct tk_interval_axis *axis, double change, double lo, double hi)
{
	axis->lo = fmin(axis->lo, fmin(log_of(lo), log_of(change)));
	axis->hi = fmax(axis->hi, fmax(log_of(hi), log_of(change)));
}

void tk_svg_draw_interval(struct tk_buf *out, const struct tk_interval_axis *axis, double change,
        double lo, double hi, const char *class)
{
	double span = axis->hi - axis->lo, scale = span > 0 ? (BAR_WIDTH - 8) / span : 0,
	       zero = 4 - axis->lo * scale, at = zero + log_of(change) * scale;
	if (!isfinite(at))
		return;
	tk_buf_add_printf(out,
	        "<svg class=\"interval-bar\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
	        "aria-hidden=\"true\"><path class=\"middle\" d=\"M%.1f 0V%d\"/>",
	        BAR_WIDTH, BAR_HEIGHT, BAR_WIDTH, BAR_HEIGHT, zero, BAR_HEIGHT);
	tk_buf_add_printf(
	        out, "<path class=\"%s\" d=\"M%.1f 4H%.1fV10H%.1fz\"/>", class, zero, at, zero);
	if (isfinite(log_of(lo)) && isfinite(log_of(hi)))
		tk_buf_add_printf(out,
		        "<path class=\"ends\" d=\"M%.1f 7H%.1fM%.1f 3V11M%.1f 3V11\"/>",
		        zero + log_of(lo) * scale, zero + log_of(hi) * scale,
		        zero + log_of(lo) * scale, zero + log_of(hi) * scale);
	tk_buf_add_str(out, "</svg>");
}

/* ---- nights ---- */

static const char *square_class(const struct tk_night_row *night)
{
	if (!night)
		return "none";
	if (night->status == TK_NIGHT_COMPLETE)
		return "good";
	return night->status == TK_NIGHT_FAILED || night->status == TK_NIGHT_STOPPED ? "bad"
	                                                                             : "note";
}

/* The last nightly night of each day from `first` on; NULL where there was none. */
static void find_nights(const struct tk_model *m, const struct tk_site_machine *machine,
        int64_t first, const struct tk_night_row *nights[TK_SQUARES])
{
	for (int i = 0; i < TK_SQUARES; i++)
		nights[i] = NULL;
	for (size_t i = 0; i < m->night_count; i++) {
		const struct tk_night_row *night = m->nights[i].row;
		int64_t day = night->as_of_s / DAY_S - first;
		if (m->nights[i].machine == machine && night->kind == TK_NIGHT_NIGHTLY &&
		        day >= 0 && day < TK_SQUARES && !nights[day])
			nights[day] = night;
	}
}

void tk_svg_draw_nights(
        struct tk_buf *out, const struct tk_model *m, const struct tk_site_machine *machine)
{
	const struct tk_night_row *nights[TK_SQUARES];
	size_t complete = 0, none = 0;
	int64_t last = machine->last_night ? machine->last_night->as_of_s / DAY_S : 0;
	char day[TK_TIME_ISO_SIZE];
	find_nights(m, machine, last - TK_SQUARES + 1, nights);
	for (int i = 0; i < TK_SQUARES; i++) {
		none += !nights[i];
		complete += nights[i] && nights[i]->status == TK_NIGHT_COMPLETE;
	}
	tk_buf_add_printf(out,
	        "<svg class=\"squares\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
	        "role=\"img\" aria-label=\"%d days: %zu complete nights, %zu others, %zu without "
	        "one\">",
	        TK_SQUARES * SQUARE_STEP, SQUARE, TK_SQUARES * SQUARE_STEP, SQUARE, TK_SQUARES,
	        complete, TK_SQUARES - none - complete, none);
	for (int i = 0; i < TK_SQUARES; i++)
		tk_buf_add_printf(out,
		        "<rect class=\"sq-%s\" x=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\"><title>"
		        "%s: %s</title></rect>",
		        square_class(nights[i]), i * SQUARE_STEP, SQUARE, SQUARE,
		        tk_time_format_day((last - TK_SQUARES + 1 + i) * DAY_S, day),
		        nights[i] ? tk_night_status_name(nights[i]->status) : "no night");
	tk_buf_add_str(out, "</svg>");
}

/* ---- index ---- */

void tk_svg_draw_index(struct tk_buf *out, const struct tk_perf_index *index)
{
	double lo = 1 - INDEX_FLOOR, hi = 1 + INDEX_FLOOR;
	if (index->count < 2)
		return;
	for (size_t i = 0; i < index->count; i++) {
		lo = fmin(lo, index->at[i].value);
		hi = fmax(hi, index->at[i].value);
	}
	int64_t first = index->at[0].as_of_s,
	        span = index->at[index->count - 1].as_of_s - first + !first;
	tk_buf_add_printf(out,
	        "<svg class=\"spark index-line\" viewBox=\"0 0 %d %d\" "
	        "preserveAspectRatio=\"xMinYMid\" aria-hidden=\"true\"><path "
	        "class=\"middle\" d=\"M0 %.1fH%d\"/><path class=\"line\" d=\"",
	        INDEX_WIDTH, INDEX_HEIGHT, 2 + (hi - 1) / (hi - lo) * (INDEX_HEIGHT - 4),
	        INDEX_WIDTH);
	for (size_t i = 0; i < index->count; i++)
		tk_buf_add_printf(out, "%c%.0f %.1f", i ? 'L' : 'M',
		        2 + (double)(index->at[i].as_of_s - first) / (double)(span ? span : 1) *
		                        (INDEX_WIDTH - 4),
		        2 + (hi - index->at[i].value) / (hi - lo) * (INDEX_HEIGHT - 4));
	tk_buf_add_str(out, "\"/></svg>");
}
