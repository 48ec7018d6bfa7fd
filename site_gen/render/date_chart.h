/* A chart of lines over dates as SVG, with round ticks and marks of changes. */
#ifndef TK_SITE_DATE_CHART_H
#define TK_SITE_DATE_CHART_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_buf;

#define TK_DATE_TICKS_MAX 8

struct tk_date_point {
	int64_t at_s;
	double y;
};
struct tk_date_line {
	size_t look;
	const struct tk_date_point *points; /* oldest first */
	size_t count;
};
struct tk_date_mark {
	int64_t at_s;
	size_t number; /* as in the list under the chart */
	bool worse;
};

/* Draws nothing for lines that do not span any time. y_title is text, not markup. */
void tk_date_chart_draw(struct tk_buf *out, const struct tk_date_line *lines, size_t count,
        const struct tk_date_mark *marks, size_t mark_count, const char *y_title);
/* Times that begin a minute, an hour, a day, a week (Monday), a month or a year, at most `max`:
 * the finest of these that fit. *by_day: their days differ. max <= TK_DATE_TICKS_MAX. */
size_t tk_date_choose_ticks(
        int64_t from_s, int64_t to_s, size_t max, int64_t ticks[TK_DATE_TICKS_MAX], bool *by_day);

#endif
