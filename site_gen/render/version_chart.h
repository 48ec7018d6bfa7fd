/* A chart over versions as SVG: one step for each version, all of one width. */
#ifndef TK_SITE_VERSION_CHART_H
#define TK_SITE_VERSION_CHART_H
#include <stdbool.h>
#include <stddef.h>

struct tk_buf;

struct tk_version_line {
	size_t look;
	const double *y; /* of each version; NAN: not measured */
};
struct tk_version_axes {
	const char *const *versions; /* text, not markup */
	size_t count;
	const char *y_title; /* text, not markup */
	const char *unit;    /* of y, as in base/format.h: then y begins at 0; NULL: a number */
	double reference;    /* a dashed line, within the axis; NAN: none */
};
/* Draws nothing for fewer than two versions, or without values. */
void tk_version_chart_draw(struct tk_buf *out, const struct tk_version_line *lines, size_t count,
        const struct tk_version_axes *axes);

#endif
