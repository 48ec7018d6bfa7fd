/* Shapes around a point, in relative steps. */
#include "site_gen/render/mark.h"

#include "base/buf.h"
#include "base/format.h"
#include "site_gen/model/model.h"

/* The eight shapes of series_style.js, in its order, around the current point. */
static const char *const shapes[] = {"m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z", "m0-5.5l5.5 10h-11z",
        "m-4.5-4.5h9v9h-9z", "m0-6l6 6l-6 6l-6-6z",
        "m-5 2v-4q0-3 3-3h4q3 0 3 3v4q0 3-3 3h-4q-3 0-3-3z", "m-4-4l8 8m-8 0l8-8",
        "m-4-4l8 8m-8 0l8-8m-4-1.5v11m-5.5-5.5h11", "m0-5.5v11m-5.5-5.5h11"};
#define SHAPE_COUNT (sizeof shapes / sizeof *shapes)

void tk_mark_begin(struct tk_buf *out, size_t look, bool faint)
{
	tk_buf_add_printf(out, "<path class=\"mark mark-%zu%s\" d=\"", look % TK_LOOKS,
	        faint ? " faint" : "");
}

void tk_mark_add(struct tk_buf *out, size_t look, int x, int y)
{
	tk_buf_add_char(out, 'M');
	tk_buf_add_int(out, x);
	tk_buf_add_char(out, ' ');
	tk_buf_add_int(out, y);
	/* shifted, so that looks of one shape have different colours */
	tk_buf_add_str(out, shapes[(look + look / SHAPE_COUNT * 3) % SHAPE_COUNT]);
}

void tk_mark_draw_key(struct tk_buf *out, size_t look)
{
	tk_buf_add_str(out, "<svg class=\"key\" viewBox=\"0 0 16 16\" width=\"16\" height=\"16\" "
	                    "aria-hidden=\"true\">");
	tk_mark_begin(out, look, false);
	tk_mark_add(out, look, 8, 8);
	tk_buf_add_str(out, "\"/></svg>");
}
