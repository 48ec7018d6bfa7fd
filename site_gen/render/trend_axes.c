/* Labels of the axes of a trend. */
#include "site_gen/render/trend_axes.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/format.h"
#include "site_gen/render/date_chart.h"

#define TICKS_MAX 6     /* of dates */
#define END_PERCENT 6.0 /* a label this near to an end does not reach over it */

void tk_trend_axes_draw_y(
        struct tk_buf *out, const struct tk_svg_range *range, struct tk_format_scale scale)
{
	double ticks[TK_CHART_TICKS_MAX];
	size_t count = tk_svg_choose_ticks(range, scale.divisor, ticks);
	char text[TK_FORMAT_SIZE];
	tk_buf_add_str(out, "<svg class=\"y-labels\" aria-hidden=\"true\">");
	for (size_t i = 0; i < count; i++)
		tk_buf_add_printf(out,
		        "<text x=\"100%%\" y=\"%.1f%%\" dy=\"4\" text-anchor=\"end\">%s</text>",
		        tk_svg_y_percent(range, ticks[i]),
		        tk_format_digits(ticks[i] / scale.divisor, 6, text));
	tk_buf_add_str(out, "</svg>");
}

void tk_trend_axes_draw_x(struct tk_buf *out, const struct tk_svg_range *range)
{
	int64_t ticks[TK_DATE_TICKS_MAX];
	bool by_day;
	char day[TK_TIME_ISO_SIZE], minute[TK_FORMAT_SIZE];
	size_t count = tk_date_choose_ticks(range->t0, range->t1, TICKS_MAX, ticks, &by_day);
	tk_buf_add_str(out, "<svg class=\"x-labels\" aria-hidden=\"true\">");
	for (size_t i = 0; i < count; i++) {
		double x = tk_svg_x_percent(range, ticks[i]);
		tk_buf_add_printf(out, "<text x=\"%.1f%%\" y=\"13\" text-anchor=\"%s\">%s</text>",
		        x,
		        x < END_PERCENT         ? "start"
		        : x > 100 - END_PERCENT ? "end"
		                                : "middle",
		        by_day ? tk_time_format_day(ticks[i], day)
		               : tk_format_minute(ticks[i], minute) + 5);
	}
	tk_buf_add_str(out, "</svg>");
}
