/* Each pixel is an ink and how much of it covers the paper, which is the palette of the PNG. */
#include "site_gen/render/picture.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef TRACKER_HAVE_PNG
#include <png.h>
#include <zlib.h>
#endif

#include "base/buf.h"
#include "base/error.h"
#include "base/memory.h"
#include "site_gen/render/stroke_font.h"

#define WIDTH TK_PICTURE_WIDTH
#define HEIGHT TK_PICTURE_HEIGHT
#define LEVELS 16
#define CROSSINGS_MAX 64
#define FONT_CAPITAL 0.72 /* of the size of the text */
#define FONT_STROKE 0.085

struct tk_picture {
	uint8_t pixels[HEIGHT][WIDTH];
};

struct tk_picture *tk_picture_new(void)
{
	return tk_calloc(1, sizeof(struct tk_picture));
}

void tk_picture_clear(struct tk_picture *p)
{
	memset(p->pixels, 0, sizeof p->pixels);
}

void tk_picture_free(struct tk_picture *p)
{
	free(p);
}

bool tk_picture_equals(const struct tk_picture *a, const struct tk_picture *b)
{
	return !memcmp(a->pixels, b->pixels, sizeof a->pixels);
}

/* The stronger ink stays; of equal ones the later. */
static void cover(struct tk_picture *p, int x, int y, int ink, double strength)
{
	int level = (int)(strength * (LEVELS - 1) + 0.5);
	if (level > 0 && level >= p->pixels[y][x] % LEVELS)
		p->pixels[y][x] = (uint8_t)(ink * LEVELS + level);
}

static int clamp(double v, int max)
{
	return !(v > 0) ? 0 : v > max ? max : (int)v;
}

/* ---- lines ---- */

/* All pixels nearer than half the width, softened over one pixel at the edge. */
static void draw_segment(struct tk_picture *p, struct tk_picture_point a, struct tk_picture_point b,
        const struct tk_pen *pen)
{
	const double dx = b.x - a.x, dy = b.y - a.y, length = sqrt(dx * dx + dy * dy),
	             reach = pen->width / 2 + 0.5, ux = length > 0 ? dx / length : 1,
	             uy = length > 0 ? dy / length : 0;
	/* half of the way through the strip around the line, along a row */
	const double half = fabs(uy) > 1e-6 ? reach / fabs(uy) + 1 : INFINITY,
	             lo = (a.x < b.x ? a.x : b.x) - reach, hi = (a.x < b.x ? b.x : a.x) + reach;
	int y1 = clamp((a.y < b.y ? b.y : a.y) + reach, HEIGHT - 1);
	for (int y = clamp((a.y < b.y ? a.y : b.y) - reach, HEIGHT); y <= y1; y++) {
		double ry = y + 0.5 - a.y, from = lo, to = hi;
		if (half < 2 * WIDTH) {
			double middle = a.x + ry * ux / uy;
			from = middle - half > lo ? middle - half : lo;
			to = middle + half < hi ? middle + half : hi;
		}
		int x1 = clamp(to, WIDTH - 1);
		for (int x = clamp(from, WIDTH); x <= x1; x++) {
			double rx = x + 0.5 - a.x, along = rx * ux + ry * uy,
			       across = rx * uy - ry * ux,
			       over = along < 0        ? along
			              : along > length ? along - length
			                               : 0,
			       square = over * over + across * across;
			if (square >= reach * reach)
				continue;
			double depth = reach - sqrt(square);
			cover(p, x, y, pen->ink, pen->strength * (depth < 1 ? depth : 1));
		}
	}
}

static struct tk_picture_point between(
        struct tk_picture_point a, struct tk_picture_point b, double part)
{
	return (struct tk_picture_point){a.x + part * (b.x - a.x), a.y + part * (b.y - a.y)};
}

void tk_picture_draw_line(struct tk_picture *p, const struct tk_picture_point *points, size_t count,
        const struct tk_pen *pen)
{
	double at = 0; /* in the pattern of dashes */
	for (size_t i = 0; i + 1 < count; i++) {
		const struct tk_picture_point a = points[i], b = points[i + 1];
		double length = hypot(b.x - a.x, b.y - a.y), period = pen->dash + pen->gap;
		if (!(length < 4 * WIDTH))
			continue; /* not a number, or far outside */
		if (!(pen->dash > 0)) {
			draw_segment(p, a, b, pen);
			continue;
		}
		for (double done = 0; done < length;) {
			bool on = at < pen->dash;
			double piece = fmin((on ? pen->dash : period) - at, length - done);
			if (on)
				draw_segment(p, between(a, b, done / length),
				        between(a, b, (done + piece) / length), pen);
			done += piece + 1e-6;
			at += piece + 1e-6;
			at = at >= period ? 0 : at;
		}
	}
}

/* ---- areas ---- */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

void tk_picture_fill(struct tk_picture *p, const struct tk_picture_point *points, size_t count,
        int ink, double strength)
{
	double top = HEIGHT, bottom = 0;
	for (size_t i = 0; i < count; i++) {
		top = fmin(top, points[i].y);
		bottom = fmax(bottom, points[i].y);
	}
	int last = clamp(bottom, HEIGHT - 1);
	for (int y = clamp(top, HEIGHT); y <= last; y++) {
		double crossings[CROSSINGS_MAX], cy = y + 0.5;
		size_t n = 0;
		for (size_t i = 0; i < count && n < CROSSINGS_MAX; i++) {
			struct tk_picture_point a = points[i], b = points[(i + 1) % count];
			if ((a.y <= cy) != (b.y <= cy))
				crossings[n++] = a.x + (cy - a.y) / (b.y - a.y) * (b.x - a.x);
		}
		qsort(crossings, n, sizeof *crossings, compare_doubles);
		for (size_t i = 0; i + 1 < n; i += 2)
			for (int x = clamp(crossings[i] + 0.5, WIDTH);
			        x < clamp(crossings[i + 1] + 0.5, WIDTH); x++)
				cover(p, x, y, ink, strength);
	}
}

/* ---- text ---- */

/* The next letter of a text, as one that the font has. */
static unsigned next_letter(const char **at, const char *end)
{
	const unsigned char *s = (const unsigned char *)*at, lead = *s++;
	unsigned more = lead >= 0xF0   ? 3
	                : lead >= 0xE0 ? 2
	                : lead >= 0xC0 ? 1
	                               : 0,
	         code = more ? lead & (0x3FU >> more) : lead;
	for (; more && (const char *)s < end; more--)
		code = code << 6 | (*s++ & 0x3FU);
	*at = (const char *)s;
	switch (code) {
	case 0xA0: /* no-break space */
		return ' ';
	case 0xB2:
		return '2';
	case 0xB3:
		return '3';
	case 0xB5: /* micro */
		return 'u';
	case 0xB7: /* middle dot */
	case 0x2013:
	case 0x2014:
	case 0x2212: /* minus */
		return '-';
	case 0xD7: /* times */
		return 'x';
	case 0x2019:
		return '\'';
	case 0x2026: /* ellipsis */
		return '.';
	default:
		return code;
	}
}

static double scale_of(double size)
{
	return size * FONT_CAPITAL / TK_STROKE_FONT_CAPITAL;
}

double tk_picture_text_width(const char *text, size_t len, double size)
{
	double units = 0;
	for (const char *at = text, *end = text + len; at < end;) {
		const char *glyph = tk_stroke_font_find(next_letter(&at, end));
		units += glyph[1] - glyph[0];
	}
	return units * scale_of(size);
}

void tk_picture_draw_text(struct tk_picture *p, const struct tk_picture_text *t)
{
	const double scale = scale_of(t->size), sine = sin(t->angle), cosine = cos(t->angle),
	             width = tk_picture_text_width(t->text, t->len, t->size);
	const struct tk_pen pen = {
	        .ink = t->ink, .strength = t->strength, .width = fmax(1.3, t->size * FONT_STROKE)};
	double pos = t->anchor == TK_TEXT_END      ? -width
	             : t->anchor == TK_TEXT_MIDDLE ? -width / 2
	                                           : 0;
	for (const char *at = t->text, *end = t->text + t->len; at < end;) {
		const char *glyph = tk_stroke_font_find(next_letter(&at, end));
		struct tk_picture_point before = {NAN, NAN};
		for (const char *g = glyph + 2; *g && g[1]; g += 2) {
			double x = pos + (g[0] - glyph[0]) * scale,
			       y = (g[1] - TK_STROKE_FONT_ORIGIN - TK_STROKE_FONT_BASELINE) * scale;
			struct tk_picture_point now = {
			        t->x + x * cosine - y * sine, t->y + x * sine + y * cosine};
			bool lifted = g[0] == ' ' && g[1] == TK_STROKE_FONT_ORIGIN;
			if (!lifted && isfinite(before.x))
				draw_segment(p, before, now, &pen);
			before = lifted ? (struct tk_picture_point){NAN, NAN} : now;
		}
		pos += (glyph[1] - glyph[0]) * scale;
	}
}

/* ---- PNG ---- */

#ifdef TRACKER_HAVE_PNG
/* The light theme of templates/assets/base.css: c1 to c12, bad, good. */
static const uint8_t inks[TK_INK_COUNT][3] = {{0x00, 0x72, 0xb2}, {0xd5, 0x5e, 0x00},
        {0x00, 0x9e, 0x73}, {0xcc, 0x79, 0xa7}, {0x6f, 0x4b, 0xb8}, {0x8a, 0x6d, 0x00},
        {0xb3, 0x12, 0x3f}, {0x00, 0x83, 0x8f}, {0x5b, 0x6b, 0x00}, {0x7a, 0x4a, 0x2b},
        {0x3f, 0x51, 0xb5}, {0x1b, 0x21, 0x28}, {0xb0, 0x44, 0x00}, {0x00, 0x70, 0x4f}};

bool tk_picture_is_supported(void)
{
	return true;
}

static void add_bytes(png_structp png, png_bytep data, size_t len)
{
	tk_buf_add(png_get_io_ptr(png), data, len);
}

static void flush_nothing(png_structp png)
{
}

/* Most rows equal the row above: the difference to it is compressed as runs, three times as fast as
 * by the defaults of libpng. It jumps out of here after an error. */
static int write_png(const struct tk_picture *p, struct tk_buf *out, png_structp png,
        png_infop info, struct tk_error *err)
{
	png_color palette[TK_INK_COUNT * LEVELS];
	for (int i = 0; i < TK_INK_COUNT * LEVELS; i++) {
		png_byte c[3];
		for (int k = 0; k < 3; k++)
			c[k] = (png_byte)(255 - (255 - inks[i / LEVELS][k]) * (i % LEVELS) /
			                                (LEVELS - 1));
		palette[i] = (png_color){c[0], c[1], c[2]};
	}
	if (setjmp(png_jmpbuf(png)))
		return tk_fail(err, TK_EINTERNAL, "cannot encode a picture");
	png_set_write_fn(png, out, add_bytes, flush_nothing);
	png_set_IHDR(png, info, WIDTH, HEIGHT, 8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE,
	        PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_PLTE(png, info, palette, TK_INK_COUNT * LEVELS);
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
	png_set_compression_level(png, 1);
	png_set_compression_strategy(png, Z_RLE);
	png_write_info(png, info);
	for (int y = 0; y < HEIGHT; y++)
		png_write_row(png, p->pixels[y]);
	png_write_end(png, NULL);
	return tk_buf_status(out, err);
}

int tk_picture_encode(const struct tk_picture *p, struct tk_buf *out, struct tk_error *err)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	int status =
	        info ? write_png(p, out, png, info, err) : tk_fail(err, TK_ENOMEM, "out of memory");
	png_destroy_write_struct(&png, &info);
	return status;
}
#else
bool tk_picture_is_supported(void)
{
	return false;
}

int tk_picture_encode(const struct tk_picture *p, struct tk_buf *out, struct tk_error *err)
{
	return tk_fail(err, TK_EUNSUPPORTED, "tracker was built without libpng");
}
#endif
