/* A chart of lines as SVG, over sizes, times or versions, and the marks of backends. */
#ifndef TK_SITE_CHART_H
#define TK_SITE_CHART_H
#include <stdbool.h>
#include <stddef.h>

struct tk_buf;

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
	const char *unit; /* of y, as in base/present.h: then y begins at 0; NULL: a number */
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

#endif
