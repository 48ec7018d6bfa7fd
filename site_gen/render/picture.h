/* A picture of a page for those who link to it: lines, areas and text on white, as PNG. Needs
 * libpng; without it there are no pictures. */
#ifndef TK_SITE_PICTURE_H
#define TK_SITE_PICTURE_H
#include <stdbool.h>
#include <stddef.h>

struct tk_buf;
struct tk_error;
struct tk_picture;

#define TK_PICTURE_WIDTH 1200
#define TK_PICTURE_HEIGHT 630

/* Inks: the looks of series (TK_LOOKS), of which the last one is the colour of texts, and these. */
enum { TK_INK_TEXT = 11, TK_INK_BAD, TK_INK_GOOD, TK_INK_COUNT };

struct tk_pen {
	int ink;
	double strength; /* 0..1: how much of the ink covers the paper */
	double width;
	double dash, gap; /* lengths; dash 0: solid */
};
struct tk_picture_point {
	double x, y;
};
enum tk_text_anchor { TK_TEXT_START, TK_TEXT_MIDDLE, TK_TEXT_END };
struct tk_picture_text {
	double x, y; /* of the baseline */
	double size, angle;
	enum tk_text_anchor anchor;
	int ink;
	double strength;
	const char *text; /* UTF-8 */
	size_t len;
};

bool tk_picture_is_supported(void);
/* White; NULL: out of memory. */
struct tk_picture *tk_picture_new(void);
void tk_picture_clear(struct tk_picture *p);
void tk_picture_free(struct tk_picture *p);
bool tk_picture_equals(const struct tk_picture *a, const struct tk_picture *b);
void tk_picture_draw_line(struct tk_picture *p, const struct tk_picture_point *points, size_t count,
        const struct tk_pen *pen);
/* The inside of a closed line. */
void tk_picture_fill(struct tk_picture *p, const struct tk_picture_point *points, size_t count,
        int ink, double strength);
void tk_picture_draw_text(struct tk_picture *p, const struct tk_picture_text *text);
double tk_picture_text_width(const char *text, size_t len, double size);
/* TK_EUNSUPPORTED where tracker was built without libpng. */
int tk_picture_encode(const struct tk_picture *p, struct tk_buf *out, struct tk_error *err);

#endif
