/* Small drawings without labels: bars, intervals, squares of nights, pairs, and the timeline of a
 * kernel. */
#include "site_gen/charts/bars.h"

#include <math.h>

#include "base/buf.h"
#include "base/clock.h"
#include "site_gen/model/ab_plot.h"
#include "site_gen/model/model.h"
#include "site_gen/model/timeline.h"
#include "site_gen/render/escape.h"

#define STEP_FULL 1.25 /* the change that fills half of its bar */
#define DAY_S 86400

void tk_svg_draw_bar(struct tk_buf *out, double ratio, const char *class_suffix)
{
	double width = isfinite(ratio) ? fmin(fmax(ratio, 0), 1) * 100 : 0;
	tk_buf_add_printf(out,
	        "<svg class=\"bar\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" "
	        "aria-hidden=\"true\">"
	        "<rect class=\"bar-%s\" width=\"%.1f\" height=\"4\"/></svg>",
	        class_suffix, width);
}

void tk_svg_draw_change(struct tk_buf *out, double ratio, bool worse)
{
	double part =
	        isfinite(ratio) && ratio > 0 ? fmin(fmax(log(ratio) / log(STEP_FULL), -1), 1) : 0;
	tk_buf_add_printf(out,
	        "<svg class=\"step\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" "
	        "aria-hidden=\"true\">"
	        "<path class=\"middle\" d=\"M50 0V8\"/><path class=\"%s\" d=\"M50 "
	        "2H%.1fV6H50z\"/></svg>",
	        worse ? "bad" : "good", 50 + part * 50);
}

/* ---- intervals ---- */

#define BAR_WIDTH 160
#define BAR_HEIGHT 14

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

#define SQUARE 9
#define SQUARE_STEP 11

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

/* ---- A/B pairs ---- */

#define PAIRS_WIDTH 160
#define PAIRS_HEIGHT 24
#define PAIRS_MARGIN 4

static double pair_x(double d, double lo, double hi)
{
	return PAIRS_MARGIN + (d - lo) / (hi - lo) * (PAIRS_WIDTH - 2 * PAIRS_MARGIN);
}

void tk_svg_draw_pairs(struct tk_buf *out, const struct tk_ab_plot *p)
{
	double lo = 0, hi = 0;
	for (size_t i = 0; i < p->count; i++) {
		lo = fmin(lo, p->differences[i]);
		hi = fmax(hi, p->differences[i]);
	}
	if (!(hi > lo))
		return;
	tk_buf_add_printf(out,
	        "<svg class=\"ab-pairs\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
	        "aria-hidden=\"true\">"
	        "<path class=\"zero\" d=\"M%.1f 0V%d\"/><path class=\"interval\" d=\"M%.1f "
	        "%dH%.1f\"/>",
	        PAIRS_WIDTH, PAIRS_HEIGHT, PAIRS_WIDTH, PAIRS_HEIGHT, pair_x(0, lo, hi),
	        PAIRS_HEIGHT, pair_x(log1p(p->median.lo), lo, hi), PAIRS_HEIGHT - 4,
	        pair_x(log1p(p->median.hi), lo, hi));
	for (size_t i = 0; i < p->count; i++)
		tk_buf_add_printf(out, "<circle cx=\"%.1f\" cy=\"%d\" r=\"2\"/>",
		        pair_x(p->differences[i], lo, hi), 4 + (int)(i % 4) * 4);
	tk_buf_add_str(out, "</svg>");
}

/* ---- the timeline of a kernel ---- */

#define SPANS_MAX 300
#define TIMELINE_WIDTH 960
#define LANE_LABEL_WIDTH 120
#define LANE_HEIGHT 30
#define SPAN_HEIGHT 13 /* of what a group does, and below it of what goes on beside */

static double span_x(int64_t ns, int64_t end_ns)
{
	return LANE_LABEL_WIDTH + (double)(ns < end_ns ? ns : end_ns) / (double)end_ns *
	                                  (TIMELINE_WIDTH - LANE_LABEL_WIDTH);
}

static void draw_span(struct tk_buf *out, const struct tk_timeline *t,
        const struct tk_timeline_span *s, int64_t end_ns)
{
	static const char *const classes[] = {
	        "tensor", "compute", "store", "load", "wait", "other", "idle"};
	double x = span_x(s->begin_ns, end_ns), width = span_x(s->end_ns, end_ns) - x;
	size_t y = t->groups[s->group].lane * LANE_HEIGHT + (s->is_async ? SPAN_HEIGHT + 1 : 0);
	tk_buf_add_printf(out,
	        "<rect class=\"does-%s\" x=\"%.1f\" y=\"%zu\" width=\"%.1f\" height=\"%d\"/>",
	        classes[t->does[s->region]], x, y + 1, width > 0.4 ? width : 0.4, SPAN_HEIGHT);
}

int64_t tk_svg_draw_timeline(struct tk_buf *out, const struct tk_timeline *t)
{
	size_t count = t->span_count < SPANS_MAX ? t->span_count : SPANS_MAX;
	int64_t end_ns = count < t->span_count ? t->spans[count].begin_ns : t->duration_ns;
	if (!count || end_ns <= 0)
		return 0;
	tk_buf_add_printf(out,
	        "<svg class=\"timeline\" viewBox=\"0 0 %d %zu\" aria-hidden=\"true\">",
	        TIMELINE_WIDTH, t->lane_count * LANE_HEIGHT);
	for (size_t i = 0; i < t->lane_count; i++) {
		tk_buf_add_printf(out, "<text x=\"0\" y=\"%zu\">", i * LANE_HEIGHT + 18);
		tk_escape_html(out, t->lanes[i], tk_utf8_clip_len(t->lanes[i], 18));
		tk_buf_add_str(out, "</text>");
	}
	for (size_t i = 0; i < count; i++)
		draw_span(out, t, &t->spans[i], end_ns);
	tk_buf_add_str(out, "</svg>");
	return end_ns;
}
