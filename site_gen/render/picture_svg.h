/* Draws the charts of the pages into a picture: the part of SVG that render/ writes, with the
 * colours that the style sheets give its classes. */
#ifndef TK_SITE_PICTURE_SVG_H
#define TK_SITE_PICTURE_SVG_H
#include <stddef.h>

struct tk_picture;

struct tk_picture_box {
	double x, y, width, height;
};

/* Draws the first element <svg> of a text. What is unknown is left out. A class "trend" is
 * stretched to the box, others keep their proportions; percentages are of the box. Returns the
 * length of the element, 0: there is none. */
size_t tk_picture_draw_svg(struct tk_picture *p, const char *svg, const struct tk_picture_box *box);

#endif
