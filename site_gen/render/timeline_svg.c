/* See timeline_svg.h. */
#include "site_gen/render/timeline_svg.h"

#include <string.h>

#include "base/buf.h"
#include "site_gen/model/timeline.h"
#include "site_gen/render/escape.h"

#define SPANS_MAX 300
#define WIDTH 960
#define LABEL_WIDTH 120
#define LANE_HEIGHT 30
#define BAR_HEIGHT 13 /* of what a group does, and below it of what goes on beside */

static double plot_x(int64_t ns, int64_t end_ns)
{
	return LABEL_WIDTH +
	       (double)(ns < end_ns ? ns : end_ns) / (double)end_ns * (WIDTH - LABEL_WIDTH);
}

static void draw_span(struct tk_buf *out, const struct tk_timeline *t,
        const struct tk_timeline_span *s, int64_t end_ns)
{
	static const char *const classes[] = {
	        "tensor", "compute", "store", "load", "wait", "other", "idle"};
	double x = plot_x(s->begin_ns, end_ns), width = plot_x(s->end_ns, end_ns) - x;
	size_t y = t->groups[s->group].lane * LANE_HEIGHT + (s->is_async ? BAR_HEIGHT + 1 : 0);
	tk_buf_add_printf(out,
	        "<rect class=\"does-%s\" x=\"%.1f\" y=\"%zu\" width=\"%.1f\" height=\"%d\"/>",
	        classes[t->does[s->region]], x, y + 1, width > 0.4 ? width : 0.4, BAR_HEIGHT);
}

int64_t tk_timeline_draw(struct tk_buf *out, const struct tk_timeline *t)
{
	size_t count = t->span_count < SPANS_MAX ? t->span_count : SPANS_MAX;
	int64_t end_ns = count < t->span_count ? t->spans[count].begin_ns : t->duration_ns;
	if (!count || end_ns <= 0)
		return 0;
	tk_buf_add_printf(out,
	        "<svg class=\"timeline\" viewBox=\"0 0 %d %zu\" aria-hidden=\"true\">", WIDTH,
	        t->lane_count * LANE_HEIGHT);
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
