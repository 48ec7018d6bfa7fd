/* Charts come as the markup of the page; their keys as lines "look label". */
#include "site_gen/pages/page_picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/picture.h"
#include "site_gen/render/picture_svg.h"

#define MARGIN 48
#define INNER (TK_PICTURE_WIDTH - 2 * MARGIN)
#define TITLE_SIZE 38
#define TEXT_SIZE 25
#define LINE_HEIGHT 36
#define LINES_MAX 3          /* of the description */
#define OVERVIEW_LINES_MAX 7 /* its description is the headline */
#define OVERVIEW_SIZE 32
#define INDEX_HEIGHT 190
#define KEY_SIZE 20
#define KEY_HEIGHT 30
#define KEY_LINES_MAX 2
#define SMALL_SIZE 20
#define LABELS_WIDTH 110
#define DATES_HEIGHT 34

/* Whether a markup begins with a drawing of one of these classes. */
static bool is_drawing(const struct tk_buf *markup, const char *const *classes, size_t count)
{
	static const char begin[] = "<svg class=\"";
	const size_t len = sizeof begin - 1;
	if (markup->len < len || strncmp(markup->data, begin, len) != 0)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!strncmp(markup->data + len, classes[i], strlen(classes[i])))
			return true;
	return false;
}

static const char *const charts[] = {"trend\"", "roofline", "timeline\"", "spark index-line"},
                         *const labels[] = {"y-labels\"", "x-labels\""};

void tk_page_picture_begin(struct tk_site *site)
{
	site->has_picture = site->picture != NULL;
	site->has_keys = false;
	tk_buf_clear(&site->chart);
	tk_buf_clear(&site->keys);
}

void tk_page_picture_add_drawing(struct tk_site *site)
{
	bool is_first = !site->chart.len;
	if (!site->has_picture || !(is_first ? is_drawing(&site->markup, charts, 4)
	                                     : is_drawing(&site->markup, labels, 2)))
		return;
	tk_buf_add(&site->chart, site->markup.data, site->markup.len);
	site->has_keys = is_first && site->keys.len;
}

void tk_page_picture_add_key(struct tk_site *site, size_t look, const char *label)
{
	if (site->has_picture && !site->has_keys)
		tk_buf_add_printf(
		        &site->keys, "%zu %.*s\n", look, (int)tk_utf8_clip_len(label, 60), label);
}

/* ---- texts ---- */

/* The length of the part of a text that fits a line; breaks between words. */
static size_t fit_line(const char *text, size_t len, double size)
{
	size_t fits = 0;
	for (size_t i = 0; i <= len; i++) {
		if (i < len && text[i] != ' ')
			continue;
		if (tk_picture_text_width(text, i, size) > INNER)
			break;
		fits = i;
	}
	if (!fits) /* one long word */
		for (fits = len; fits && tk_picture_text_width(text, fits, size) > INNER;)
			fits = tk_utf8_clip_len(text, fits - 1);
	return fits;
}

/* Returns the y below the text. */
static double draw_text(
        struct tk_picture *p, const char *text, double y, double size, double strength, int lines)
{
	size_t left = strlen(text);
	for (; left && lines; lines--) {
		struct tk_picture_text t = {MARGIN, y, size, 0, TK_TEXT_START, TK_INK_TEXT,
		        strength, text, fit_line(text, left, size)};
		if (!t.len)
			break;
		tk_picture_draw_text(p, &t);
		text += t.len + (text[t.len] == ' ');
		left = strlen(text);
		y += LINE_HEIGHT * size / TEXT_SIZE;
	}
	return y;
}

/* ---- the picture ---- */

/* Lines of marks with their labels; returns the y above them. */
static double draw_keys(struct tk_picture *p, const char *keys)
{
	double x = MARGIN, y = TK_PICTURE_HEIGHT - 26, lines = 1;
	for (int pass = 0; pass < 2; pass++) { /* the first one counts the lines */
		double at = y - (lines - 1) * KEY_HEIGHT;
		x = MARGIN;
		for (const char *key = keys; *key; key = strchr(key, '\n') + 1) {
			char *label;
			int look = (int)strtol(key, &label, 10) % (TK_INK_TEXT + 1);
			size_t len = strcspn(++label, "\n");
			double width = 60 + tk_picture_text_width(label, len, KEY_SIZE);
			if (x > MARGIN && x + width > MARGIN + INNER) {
				x = MARGIN;
				at += KEY_HEIGHT;
				lines += !pass;
				if (pass && at > y)
					return y - lines * KEY_HEIGHT;
			}
			if (pass) {
				const struct tk_picture_point line[] = {
				        {x, at - 7}, {x + 26, at - 7}};
				const struct tk_pen pen = {look, 1, 5, 0, 0};
				const struct tk_picture_text text = {x + 34, at, KEY_SIZE, 0,
				        TK_TEXT_START, TK_INK_TEXT, 0.85, label, len};
				tk_picture_draw_line(p, line, 2, &pen);
				tk_picture_draw_text(p, &text);
			}
			x += width;
		}
		lines = fmin(lines, KEY_LINES_MAX);
	}
	return y - lines * KEY_HEIGHT;
}

static const char *text_of(const struct tk_site *site, const char *key)
{
	uint32_t len = (uint32_t)strlen(key);
	const struct tk_value *v =
	        tk_value_find_member(site->frame, key, len, tk_value_hash_key(key, len));
	return v && v->text ? v->text : "";
}

/* The trend of a series: labels beside and below it, its unit in the corner. */
static void draw_trend(const struct tk_site *site, double top, double bottom)
{
	const struct tk_picture_box trend = {MARGIN + LABELS_WIDTH, top, INNER - LABELS_WIDTH,
	                                    bottom - top - DATES_HEIGHT},
	                            values = {MARGIN, top, LABELS_WIDTH - 12, trend.height},
	                            dates = {trend.x, bottom - DATES_HEIGHT + 8, trend.width,
	                                    DATES_HEIGHT};
	const char *svg = site->chart.data, *unit = text_of(site, "unit");
	const struct tk_picture_text t = {MARGIN + LABELS_WIDTH - 12, dates.y + 14, SMALL_SIZE, 0,
	        TK_TEXT_END, TK_INK_TEXT, 0.8, unit, strlen(unit)};
	svg += tk_picture_draw_svg(site->picture, svg, &trend);
	svg += tk_picture_draw_svg(site->picture, svg, &values);
	tk_picture_draw_svg(site->picture, svg, &dates);
	tk_picture_draw_text(site->picture, &t);
}

static void draw_index(const struct tk_site *site)
{
	const char *note = text_of(site, "index_note");
	const double bottom = TK_PICTURE_HEIGHT - 30;
	const struct tk_picture_box box = {MARGIN, bottom - INDEX_HEIGHT, INNER, INDEX_HEIGHT};
	const struct tk_picture_text t = {MARGIN, box.y - 14, SMALL_SIZE, 0, TK_TEXT_START,
	        TK_INK_TEXT, 0.75, note, strlen(note)};
	tk_picture_draw_svg(site->picture, site->chart.data, &box);
	tk_picture_draw_text(site->picture, &t);
}

static void draw_page(const struct tk_site *site)
{
	struct tk_picture *p = site->picture;
	const bool is_overview = !site->chart.len || is_drawing(&site->chart, charts + 3, 1);
	tk_picture_clear(p);
	double y = draw_text(p, text_of(site, "title"), MARGIN + 26, TITLE_SIZE, 1, 1);
	if (is_overview) {
		draw_text(
		        p, text_of(site, "description"), y, OVERVIEW_SIZE, 0.9, OVERVIEW_LINES_MAX);
		if (site->chart.len)
			draw_index(site);
		return;
	}
	y = draw_text(p, text_of(site, "description"), y - 8, TEXT_SIZE, 0.75, LINES_MAX);
	double bottom =
	        site->keys.len ? draw_keys(p, tk_buf_cstr(&site->keys)) : TK_PICTURE_HEIGHT - 30;
	const struct tk_picture_box whole = {MARGIN, y, INNER, bottom - y};
	if (is_drawing(&site->chart, charts, 1))
		draw_trend(site, y, bottom);
	else
		tk_picture_draw_svg(p, site->chart.data, &whole);
}

static int put_own(struct tk_site *site, const char *file, struct tk_error *err)
{
	struct tk_buf png = TK_BUF_INIT;
	draw_page(site);
	int status = tk_picture_encode(site->picture, &png, err);
	if (!status)
		status = tk_output_put(site->out, file, &png, err);
	tk_buf_free(&png);
	return status;
}

int tk_page_picture_put(struct tk_site *site, const char *path, struct tk_error *err)
{
	static const char overview[] = "index.html", suffix[] = ".html";
	char file[TK_PAGE_PATH_SIZE * 2];
	const size_t len = strlen(path), cut = sizeof suffix - 1;
	struct tk_buf address = TK_BUF_INIT;
	if (!site->picture || len <= cut || len >= sizeof file ||
	        strcmp(path + len - cut, suffix) != 0)
		return 0;
	const bool is_own = site->chart.len || !strcmp(path, overview);
	snprintf(file, sizeof file, "%.*s.png", (int)(len - cut), path);
	int status = is_own ? put_own(site, file, err) : tk_output_drop(site->out, file, err);
	if (!status && tk_page_add_address(&address, site, is_own ? file : "index.png"))
		tk_value_set(site->arena, site->frame, "picture", tk_buf_cstr(&address));
	tk_buf_free(&address);
	return status;
}
