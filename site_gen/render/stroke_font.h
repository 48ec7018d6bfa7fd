/* A font of strokes, for pictures. */
#ifndef TK_SITE_STROKE_FONT_H
#define TK_SITE_STROKE_FONT_H

#define TK_STROKE_FONT_ORIGIN 'R'
#define TK_STROKE_FONT_BASELINE 9 /* below the origin */
#define TK_STROKE_FONT_CAPITAL 21 /* height of a capital */

/* Pairs of characters, each a distance from TK_STROKE_FONT_ORIGIN: the left and right edge, then
 * the points (x, y downwards) of the strokes; " R" begins another one. Letters outside ASCII have
 * the question mark. */
const char *tk_stroke_font_find(unsigned letter);

#endif
