/* Axes, and charts of lines. */
#include <math.h>
#include <time.h>

#include "base/base.h"
#include "site_gen/charts/charts.h"
#include "site_gen/model/model.h"
#include "site_gen/render/escape.h"

#define DAY_S 86400
#define MONDAY_S (4 * DAY_S) /* 1970-01-05 */

/* Nothing if there is no room for it. */
static void add_tick(struct tk_axis *a, double at, const char *label)
{
	if (a->count == TK_TICKS_MAX)
		return;
	struct tk_tick *tick = &a->ticks[a->count++];
	tick->at = at;
	snprintf(tick->label, sizeof tick->label, "%s", label);
}

/* The range around values: at least `floor` to either side of the middle, so that noise is
 * small. */
static void widen(double *lo, double *hi, double floor)
{
	double middle = (*lo + *hi) / 2, half = fmax((*hi - *lo) * 0.54, floor);
	*lo = middle - half;
	*hi = middle + half;
}

/* ---- values ---- */

static double choose_step(double range, size_t max)
{
	static const double steps[] = {1, 2, 2.5, 5, 10};
	double power = pow(10, floor(log10(range / (double)max)));
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (range / (power * steps[i]) <= (double)max)
			return power * steps[i];
	return power * 10;
}

void tk_axis_set_values(
        struct tk_axis *a, double lo, double hi, size_t max, struct tk_format_scale scale)
{
	double first = lo / scale.divisor, last = hi / scale.divisor,
	       step = choose_step(last - first, max);
	char text[TK_FORMAT_SIZE];
	*a = (struct tk_axis){.lo = lo, .hi = hi};
	for (double i = ceil(first / step); i * step <= last && a->count < TK_TICKS_MAX; i++)
		/* -0.0 + 0.0 is 0.0: a label is never "-0" */
		add_tick(a, i * step * scale.divisor, tk_format_digits(i * step + 0.0, 6, text));
}

void tk_axis_set_decades(struct tk_axis *a, double lo, double hi, double divisor)
{
	char text[TK_FORMAT_SIZE];
	*a = (struct tk_axis){.lo = lo, .hi = hi, .is_log = true};
	for (int i = (int)ceil(lo); i <= (int)floor(hi); i++)
		add_tick(a, pow(10, i), tk_format_digits(pow(10, i) / divisor, 9, text));
}

/* ---- times ---- */

/* A step of `months`, or of `seconds` from an anchor. */
struct step {
	int months;
	int64_t seconds, anchor_s;
};

static int64_t month_start(int64_t month)
{
	struct tm date = {.tm_year = (int)(month / 12 - 1900), .tm_mon = (int)(month % 12)};
	date.tm_mday = 1;
	return (int64_t)timegm(&date);
}

static int64_t month_of(int64_t at_s)
{
	time_t t = (time_t)at_s;
	struct tm date;
	gmtime_r(&t, &date);
	return (int64_t)(date.tm_year + 1900) * 12 + date.tm_mon;
}

/* The first tick at or after a time. */
static int64_t first_tick(const struct step *step, int64_t from_s)
{
	if (!step->months) {
		int64_t past = (from_s - step->anchor_s) % step->seconds;
		return past ? from_s - past + step->seconds : from_s;
	}
	int64_t month = month_of(from_s) / step->months * step->months;
	return month_start(month) < from_s ? month_start(month + step->months) : month_start(month);
}

static int64_t next_tick(const struct step *step, int64_t tick_s)
{
	return step->months ? month_start(month_of(tick_s) + step->months) : tick_s + step->seconds;
}

void tk_axis_set_times(struct tk_axis *a, int64_t from_s, int64_t to_s, size_t max)
{
	static const struct step steps[] = {{0, 60, 0}, {0, 120, 0}, {0, 300, 0}, {0, 600, 0},
	        {0, 1800, 0}, {0, 3600, 0}, {0, 7200, 0}, {0, 21600, 0}, {0, 43200, 0},
	        {0, DAY_S, 0}, {0, 2 * DAY_S, 0}, {0, 7 * DAY_S, MONDAY_S},
	        {0, 14 * DAY_S, MONDAY_S}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {6, 0, 0}, {12, 0, 0},
	        {24, 0, 0}, {60, 0, 0}, {120, 0, 0}, {600, 0, 0}};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		bool by_day = steps[i].months || steps[i].seconds >= DAY_S;
		char day[TK_TIME_ISO_SIZE], minute[TK_FORMAT_SIZE];
		int64_t tick = first_tick(&steps[i], from_s);
		*a = (struct tk_axis){.lo = (double)from_s, .hi = (double)to_s};
		if (!steps[i].months && (to_s - tick) / steps[i].seconds >= (int64_t)max)
			continue;
		for (; tick <= to_s && a->count < max; tick = next_tick(&steps[i], tick))
			add_tick(a, (double)tick,
			        by_day ? tk_time_format_day(tick, day)
			               : tk_format_minute(tick, minute) + strlen("2026-"));
		if (tick > to_s)
			return;
	}
	a->count = 0;
}

/* ---- the plot ---- */

static double part_of(const struct tk_axis *a, double value)
{
	double v = a->is_log ? log10(value) : value, span = a->hi - a->lo;
	return span > 0 ? (v - a->lo) / span : 0;
}

double tk_plot_x(const struct tk_plot *p, double value)
{
	return p->left + part_of(&p->x, value) * (p->width - p->left - p->right);
}

double tk_plot_y(const struct tk_plot *p, double value)
{
	return p->top + (1 - part_of(&p->y, value)) * (p->height - p->top - p->bottom);
}

void tk_plot_begin(struct tk_buf *out, const struct tk_plot *p, const char *class)
{
	tk_buf_add_printf(out, "<svg class=\"%s\" viewBox=\"0 0 %d %d\" aria-hidden=\"true\">",
	        class, p->width, p->height);
}

void tk_plot_draw_x_grid(struct tk_buf *out, const struct tk_plot *p)
{
	for (size_t i = 0; i < p->x.count; i++)
		tk_buf_add_printf(out, "<path class=\"grid\" d=\"M%.0f %dV%d\"/>",
		        tk_plot_x(p, p->x.ticks[i].at), p->top, p->height - p->bottom);
}

void tk_plot_draw_y_grid(struct tk_buf *out, const struct tk_plot *p)
{
	for (size_t i = 0; i < p->y.count; i++)
		tk_buf_add_printf(out, "<path class=\"grid\" d=\"M%d %.0fH%d\"/>", p->left,
		        tk_plot_y(p, p->y.ticks[i].at), p->width - p->right);
}

static void draw_label(
        struct tk_buf *out, double x, double y, const char *anchor, const char *label)
{
	tk_buf_add_printf(out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">", x, y, anchor);
	tk_escape_html(out, label, strlen(label));
	tk_buf_add_str(out, "</text>");
}

void tk_plot_draw_axes(
        struct tk_buf *out, const struct tk_plot *p, const char *x_title, const char *y_title)
{
	int floor = p->height - p->bottom;
	tk_plot_draw_y_grid(out, p);
	for (size_t i = 0; i < p->y.count; i++)
		draw_label(out, p->left - 6, tk_plot_y(p, p->y.ticks[i].at) + 4, "end",
		        p->y.ticks[i].label);
	for (size_t i = 0; i < p->x.count; i++)
		draw_label(out, tk_plot_x(p, p->x.ticks[i].at), floor + 17, "middle",
		        p->x.ticks[i].label);
	if (x_title)
		draw_label(out, p->left + (p->width - p->left - p->right) / 2.0, p->height - 8,
		        "middle", x_title);
	tk_buf_add_printf(out,
	        "<text transform=\"translate(13 %d) rotate(-90)\" text-anchor=\"middle\">",
	        p->top + (floor - p->top) / 2);
	tk_escape_html(out, y_title, strlen(y_title));
	tk_buf_add_str(out, "</text>");
}

#define Y_FLOOR 2      /* of a number to either side of the middle */
#define LABEL_BYTES 10 /* of a version */
#define LABEL_WIDTH 48 /* between the middles of two versions with a label */
#define SIZE_LABELS_MAX 7

/* ---- marks ---- */

/* The eight shapes of series_style.js, in its order, around the current point. */
static const char *const shapes[] = {"m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z", "m0-5.5l5.5 10h-11z",
        "m-4.5-4.5h9v9h-9z", "m0-6l6 6l-6 6l-6-6z",
        "m-5 2v-4q0-3 3-3h4q3 0 3 3v4q0 3-3 3h-4q-3 0-3-3z", "m-4-4l8 8m-8 0l8-8",
        "m-4-4l8 8m-8 0l8-8m-4-1.5v11m-5.5-5.5h11", "m0-5.5v11m-5.5-5.5h11"};
#define SHAPE_COUNT (sizeof shapes / sizeof *shapes)

void tk_mark_begin(struct tk_buf *out, size_t style, bool faint)
{
	tk_buf_add_printf(out, "<path class=\"mark mark-%zu%s\" d=\"", style % TK_STYLES,
	        faint ? " faint" : "");
}

void tk_mark_add(struct tk_buf *out, size_t style, int x, int y)
{
	tk_buf_add_char(out, 'M');
	tk_buf_add_int(out, x);
	tk_buf_add_char(out, ' ');
	tk_buf_add_int(out, y);
	/* shifted, so that styles of one shape have different colours */
	tk_buf_add_str(out, shapes[(style + style / SHAPE_COUNT * 3) % SHAPE_COUNT]);
}

void tk_mark_draw_key(struct tk_buf *out, size_t style)
{
	tk_buf_add_str(out, "<svg class=\"key\" viewBox=\"0 0 16 16\" width=\"16\" height=\"16\" "
	                    "aria-hidden=\"true\">");
	tk_mark_begin(out, style, false);
	tk_mark_add(out, style, 8, 8);
	tk_buf_add_str(out, "\"/></svg>");
}

/* ---- axes ---- */

struct range {
	double x0, x1, y0, y1;
};

static struct range find_range(const struct tk_chart *c)
{
	struct range r = {INFINITY, -INFINITY, INFINITY, fmax(c->top, -INFINITY)};
	for (size_t i = 0; i < c->count; i++)
		for (size_t k = 0; k < c->lines[i].count; k++) {
			const struct tk_chart_point *p = &c->lines[i].points[k];
			r.x0 = fmin(r.x0, p->x);
			r.x1 = fmax(r.x1, p->x);
			r.y0 = fmin(r.y0, p->y); /* passes over NAN */
			r.y1 = fmax(r.y1, p->y);
		}
	return r;
}

/* The sizes of the longest line, as far as they have room. */
static void set_sizes(struct tk_axis *x, const struct tk_chart *c, const struct range *r)
{
	const struct tk_chart_line *longest = c->lines;
	char text[TK_FORMAT_SIZE];
	double before = -INFINITY;
	*x = (struct tk_axis){.lo = log10(r->x0) - 0.06, .hi = log10(r->x1) + 0.06, .is_log = true};
	for (size_t i = 1; i < c->count; i++)
		longest = c->lines[i].count > longest->count ? &c->lines[i] : longest;
	for (size_t k = 0; k < longest->count; k++) {
		double size = longest->points[k].x;
		if (log10(size) - before < (x->hi - x->lo) / SIZE_LABELS_MAX)
			continue;
		before = log10(size);
		add_tick(x, size, tk_format_digits(size, 9, text));
	}
}

/* The newest version has a label, and of the others as many as have room. */
static void set_versions(struct tk_axis *x, const struct tk_chart *c, int width)
{
	size_t stride = (size_t)ceil(LABEL_WIDTH * (double)c->version_count / width);
	*x = (struct tk_axis){.lo = 0, .hi = (double)c->version_count};
	for (size_t i = 0; i < c->version_count; i++) {
		const char *name = c->versions[i];
		char label[LABEL_BYTES + sizeof "…"];
		snprintf(label, sizeof label, "%.*s%s", (int)tk_utf8_clip_len(name, LABEL_BYTES),
		        name, strlen(name) > LABEL_BYTES ? "…" : "");
		if (!((c->version_count - 1 - i) % stride))
			add_tick(x, (double)i + 0.5, label);
	}
}

static void set_y(struct tk_axis *y, const struct tk_chart *c, const struct range *r,
        struct tk_format_scale scale)
{
	double lo = r->y0, hi = r->y1;
	if (c->unit) {
		lo = 0;
		hi *= 1.05;
	} else {
		lo = fmin(lo, c->reference);
		hi = fmax(hi, c->reference);
		widen(&lo, &hi, Y_FLOOR);
	}
	tk_axis_set_values(y, lo, hi, c->kind == TK_CHART_TIMES ? 7 : 5, scale);
}

/* ---- drawing ---- */

static void draw_versions_grid(struct tk_buf *out, const struct tk_plot *p, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		tk_buf_add_printf(out, "<path class=\"grid\" d=\"M%.0f %dV%d\"/>",
		        tk_plot_x(p, (double)i), p->top, p->height - p->bottom);
	}
}

static void draw_mark(struct tk_buf *out, const struct tk_plot *p, const struct tk_chart_mark *mark)
{
	const char *class = mark->worse ? "bad" : "good";
	int x = (int)lround(tk_plot_x(p, mark->at));
	if (mark->at >= p->x.lo && mark->at <= p->x.hi)
		tk_buf_add_printf(out,
		        "<path class=\"step-%s\" d=\"M%d %dV%d\"/><text x=\"%d\" y=\"%d\" "
		        "text-anchor=\"middle\" class=\"text-%s\">%zu</text>",
		        class, x, p->top, p->height - p->bottom, x, p->top - 6, class,
		        mark->number);
}

static void draw_path(struct tk_buf *out, const struct tk_plot *p, const struct tk_chart_line *line,
        enum tk_chart_kind kind)
{
	int before = -1;
	bool joined = false;
	tk_buf_add_printf(out, "<path class=\"sized-line mark-%zu\" d=\"", line->style % TK_STYLES);
	for (size_t k = 0; k < line->count; k++) {
		const struct tk_chart_point *point = &line->points[k];
		int x = (int)lround(tk_plot_x(p, point->x)),
		    y = (int)lround(tk_plot_y(p, point->y));
		bool known = isfinite(point->y);
		if (kind == TK_CHART_TIMES && x == before && k + 1 < line->count)
			continue; /* no more than one point for each pixel */
		if (known && joined && kind == TK_CHART_VERSIONS)
			tk_buf_add_printf(out, "V%d", y);
		else if (known)
			tk_buf_add_printf(out, "%c%d %d", joined ? 'L' : 'M', x, y);
		if (known && kind == TK_CHART_VERSIONS)
			tk_buf_add_printf(out, "H%d", (int)lround(tk_plot_x(p, point->x + 1)));
		joined = known;
		before = x;
	}
	tk_buf_add_str(out, "\"/>");
}

static void draw_line(struct tk_buf *out, const struct tk_plot *p, const struct tk_chart_line *line,
        enum tk_chart_kind kind)
{
	double middle = kind == TK_CHART_VERSIONS ? 0.5 : 0;
	draw_path(out, p, line, kind);
	if (kind == TK_CHART_TIMES)
		return;
	tk_mark_begin(out, line->style, false);
	for (size_t k = 0; k < line->count; k++)
		if (isfinite(line->points[k].y))
			tk_mark_add(out, line->style,
			        (int)lround(tk_plot_x(p, line->points[k].x + middle)),
			        (int)lround(tk_plot_y(p, line->points[k].y)));
	tk_buf_add_str(out, "\"/>");
}

void tk_chart_draw(struct tk_buf *out, const struct tk_chart *c)
{
	static const struct {
		int width, height;
		const char *class;
	} sizes[] = {{420, 260, "roofline"}, {760, 240, "roofline dates"}, {560, 260, "roofline"}};
	struct range r = find_range(c);
	struct tk_plot p = {.width = sizes[c->kind].width,
	        .height = sizes[c->kind].height,
	        .left = 58,
	        .right = 14,
	        .top = c->kind == TK_CHART_TIMES ? 22 : 12,
	        .bottom = c->x_title ? 42 : 26};
	struct tk_format_scale scale = {1, ""};
	char y_title[120];
	if (!c->count || !(r.y1 >= r.y0) || (c->unit && !(r.y1 > 0)) ||
	        (c->kind == TK_CHART_TIMES && !(r.x1 > r.x0)) ||
	        (c->kind == TK_CHART_VERSIONS && c->version_count < 2))
		return;
	if (c->unit)
		scale = tk_format_choose_scale(r.y1, c->unit);
	if (c->kind == TK_CHART_SIZES)
		set_sizes(&p.x, c, &r);
	else if (c->kind == TK_CHART_TIMES)
		tk_axis_set_times(&p.x, (int64_t)r.x0, (int64_t)r.x1, 7);
	else
		set_versions(&p.x, c, p.width - p.left - p.right);
	set_y(&p.y, c, &r, scale);
	snprintf(y_title, sizeof y_title, "%s%s%s", c->y_title ? c->y_title : "",
	        c->y_title && c->unit ? ", " : "", scale.unit);
	tk_plot_begin(out, &p, sizes[c->kind].class);
	if (c->kind == TK_CHART_VERSIONS)
		draw_versions_grid(out, &p, c->version_count);
	else
		tk_plot_draw_x_grid(out, &p);
	tk_plot_draw_axes(out, &p, c->x_title, y_title);
	if (c->reference <= p.y.hi)
		tk_buf_add_printf(out, "<path class=\"peak\" d=\"M%d %.0fH%d\"/>", p.left,
		        tk_plot_y(&p, c->reference), p.width - p.right);
	for (size_t i = 0; i < c->mark_count; i++)
		draw_mark(out, &p, &c->marks[i]);
	for (size_t i = 0; i < c->count; i++)
		draw_line(out, &p, &c->lines[i], c->kind);
	tk_buf_add_str(out, "</svg>");
}
