/* Drawings as SVG. Colours and strokes come from the style sheets by class. */
#ifndef TK_SITE_CHARTS_H
#define TK_SITE_CHARTS_H
#include "base/base.h"
#include "site_gen/model/model.h"

struct json_t;
struct tk_trend;

/* The axes of a chart: their range, round ticks with labels, and where a value is in the picture.
 * Every drawing with axes is made from these. */
#define TK_TICKS_MAX 12

struct tk_tick {
	double at;
	char label[24];
};
struct tk_axis {
	double lo, hi; /* log10 of the values where is_log */
	bool is_log;
	struct tk_tick ticks[TK_TICKS_MAX];
	size_t count;
};

/* A linear axis with at most `max` ticks at 1, 2, 2.5 or 5 times a power of ten of the unit. */
void tk_axis_set_values(
        struct tk_axis *a, double lo, double hi, size_t max, struct tk_format_scale scale);
/* Seconds. The ticks begin a minute, an hour, a day, a week (Monday), a month or a year: the finest
 * of these of which at most `max` fit. */
void tk_axis_set_times(struct tk_axis *a, int64_t from_s, int64_t to_s, size_t max);
/* A logarithmic axis from 10^lo to 10^hi with a tick at each power of ten. */
void tk_axis_set_decades(struct tk_axis *a, double lo, double hi, double divisor);

/* The picture: its size, the margins around the plot, and both axes. */
struct tk_plot {
	int width, height, left, right, top, bottom;
	struct tk_axis x, y;
};
double tk_plot_x(const struct tk_plot *p, double value);
double tk_plot_y(const struct tk_plot *p, double value);
/* Opens the svg element. */
void tk_plot_begin(struct tk_buf *out, const struct tk_plot *p, const char *class);
void tk_plot_draw_x_grid(struct tk_buf *out, const struct tk_plot *p);
void tk_plot_draw_y_grid(struct tk_buf *out, const struct tk_plot *p);
/* Grid, labels and titles; a title is text, not markup; NULL: none. */
void tk_plot_draw_axes(
        struct tk_buf *out, const struct tk_plot *p, const char *x_title, const char *y_title);

/* A chart of lines as SVG, over sizes, times or versions, and the marks of backends. */

struct tk_chart_point {
	double x, y; /* x of a version: its number, from 0; y NAN: a gap */
};
struct tk_chart_line {
	size_t style;
	const struct tk_chart_point *points; /* by x */
	size_t count;
};
/* A change, at a time, with its number in the list under the chart. */
struct tk_chart_mark {
	double at;
	size_t number;
	bool worse;
};
enum tk_chart_kind {
	TK_CHART_SIZES,   /* logarithmic x, a mark at each point */
	TK_CHART_TIMES,   /* seconds */
	TK_CHART_VERSIONS /* one step for each version, all of one width */
};

struct tk_chart {
	enum tk_chart_kind kind;
	const struct tk_chart_line *lines;
	size_t count;
	const char *x_title, *y_title; /* text, not markup; NULL: none, or the unit */
	const char *unit; /* of y, as in base/base.h: then y begins at 0; NULL: a number */
	double top;       /* y reaches at least this, so that panels share an axis; 0: as needed */
	double reference; /* a dashed line; NAN: none, as one above the axis */
	const char *const *versions; /* names */
	size_t version_count;
	const struct tk_chart_mark *marks;
	size_t mark_count;
};
/* Draws nothing without values, for times that do not differ and for fewer than two versions. */
void tk_chart_draw(struct tk_buf *out, const struct tk_chart *chart);

/* The mark of a style: one of eight shapes in one of TK_STYLES colours. A path of marks is begun
 * once, closed by "\"/>". */
void tk_mark_begin(struct tk_buf *out, size_t style, bool faint);
void tk_mark_add(struct tk_buf *out, size_t style, int x, int y);
/* A line of a key: the mark alone. */
void tk_mark_draw_key(struct tk_buf *out, size_t style);

/* The trend of a series: its sparkline, and the drawing of its page. */

/* The 60 newest points, 120 x 28, with the last change points. Draws nothing without a trend. */
void tk_sparkline_draw(struct tk_buf *out, const struct tk_site_series *s);
/* The line of an index over the newest nights. */
void tk_index_draw(struct tk_buf *out, const struct tk_trend *t);
/* All loaded points with their intervals, stretched to the box, over a grid; *plot has its axes.
 * marks: of pages/series.c. false: there is nothing to draw. */
bool tk_trend_draw(struct tk_buf *out, struct tk_plot *plot, const struct tk_site_series *s,
        const struct json_t *marks, struct tk_format_scale scale);
/* The labels are boxes of their own, because the drawing is stretched. */
void tk_trend_draw_y_labels(struct tk_buf *out, const struct tk_plot *plot);
void tk_trend_draw_x_labels(struct tk_buf *out, const struct tk_plot *plot);

/* The roofline as SVG. */

struct tk_roofline_point {
	const struct tk_site_series *series;
	double intensity, rate;              /* FLOP per byte, GFLOP/s */
	bool old;                            /* of an earlier night than the last */
	double measured[TK_PROFILED_LEVELS]; /* FLOP per byte that was counted; NAN: not */
	size_t mark;                         /* equal for the points of one label, from 0 */
};
struct tk_roofline_points {
	struct tk_roofline_point *at;
	size_t count;
};

void tk_roofline_draw(struct tk_buf *out, const struct tk_roofline_points *points,
        const struct tk_ceiling_set *ceilings);

/* Small drawings without labels. */

/* A bar of width ratio (0..1). class_suffix: a literal. */
void tk_svg_draw_bar(struct tk_buf *out, double ratio, const char *class_suffix);
/* A bar from the middle, to the right if the value grew (after / before > 1); full at a factor of
 * 1.25. */
void tk_svg_draw_change(struct tk_buf *out, double ratio, bool worse);

/* A change with its interval; NAN: none. The axis, which all bars of a list share, is of
 * logarithms of ratios, with both sides of 0. */
void tk_svg_draw_interval(struct tk_buf *out, double axis_lo, double axis_hi, double change,
        double lo, double hi, const char *class);

/* A dot for each difference of an A/B pair, their interval below, a line at no change. Draws
 * nothing without pairs. */
void tk_svg_draw_pairs(struct tk_buf *out, const double *d, size_t count, double lo, double hi);

#endif
