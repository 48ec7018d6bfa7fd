/* Reads elements one by one: a path, a text or a rectangle each. */
#include "site_gen/render/picture_svg.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "site_gen/render/picture.h"

#define POINTS_MAX 1024 /* of one line; longer ones are drawn in pieces */
#define TEXT_MAX 200
#define FONT_SIZE 12 /* of the texts in charts, by the style sheets */
#define FONT_MIN 15  /* in a picture that is shown small */
#define ARC_STEPS 8
#define RADIANS (3.14159265358979323846 / 180)

struct drawing {
	struct tk_picture *picture;
	struct tk_picture_box box;
	double scale_x, scale_y;
};

/* An element "<name ...>": its attributes, and where its content begins. */
struct element {
	const char *name, *attributes, *end;
};

struct style {
	struct tk_pen pen;
	bool filled;
};

/* ---- attributes ---- */

static bool is_named(const struct element *e, const char *name)
{
	size_t len = strlen(name);
	return !strncmp(e->name, name, len) && !isalnum((unsigned char)e->name[len]);
}

/* The value of an attribute, which ends with a quotation mark; NULL: none. */
static const char *find_attribute(const struct element *e, const char *name)
{
	size_t len = strlen(name);
	for (const char *at = e->attributes; at < e->end; at++)
		if (at[-1] == ' ' && !strncmp(at, name, len) && !strncmp(at + len, "=\"", 2))
			return at + len + 2;
	return NULL;
}

static double read_number(const struct element *e, const char *name)
{
	const char *value = find_attribute(e, name);
	return value ? strtod(value, NULL) : 0;
}

/* A coordinate in the picture; percentages are of the box. */
static double read_place(
        const struct element *e, const char *name, double start, double length, double scale)
{
	const char *value = find_attribute(e, name);
	char *end;
	double number = value ? strtod(value, &end) : 0;
	return value && *end == '%' ? start + length * number / 100 : start + number * scale;
}

/* Whether one of the words of a class begins with a word. */
static const char *find_class(const struct element *e, const char *word)
{
	const char *class = find_attribute(e, "class");
	size_t len = strlen(word);
	for (const char *at = class; at && *at != '"'; at++)
		if ((at == class || at[-1] == ' ') && !strncmp(at, word, len))
			return at + len;
	return NULL;
}

/* ---- styles ---- */

static const struct {
	const char *class; /* how it begins */
	struct style style;
} styles[] = {
        {"grid", {{TK_INK_TEXT, 0.14, 1.2, 0, 0}, false}},
        {"middle", {{TK_INK_TEXT, 0.3, 1.2, 0, 0}, false}},
        {"band", {{0, 0.2, 0, 0, 0}, true}},
        {"line", {{0, 1, 3.4, 0, 0}, false}},
        {"step-bad", {{TK_INK_BAD, 1, 2.4, 8, 6}, false}},
        {"step-good", {{TK_INK_GOOD, 1, 2.4, 8, 6}, false}},
        {"night-mark text-bad", {{TK_INK_BAD, 1, 2, 0, 0}, false}},
        {"night-mark", {{TK_INK_TEXT, 0.7, 2, 0, 0}, false}},
        {"peak", {{TK_INK_TEXT, 0.7, 2, 9, 7}, false}},
        {"ceiling ceiling-datasheet", {{TK_INK_TEXT, 0.7, 2, 9, 7}, false}},
        {"ceiling ceiling-cache", {{TK_INK_TEXT, 0.6, 1.6, 2, 4}, false}},
        {"ceiling", {{TK_INK_TEXT, 1, 2.4, 0, 0}, false}},
        {"measured", {{TK_INK_TEXT, 0.7, 1.5, 0, 0}, false}},
        {"does-tensor", {{2, 1, 0, 0, 0}, true}},
        {"does-compute", {{1, 1, 0, 0, 0}, true}},
        {"does-store", {{3, 1, 0, 0, 0}, true}},
        {"does-load", {{0, 1, 0, 0, 0}, true}},
        {"does-wait", {{TK_INK_TEXT, 0.3, 0, 0, 0}, true}},
        {"does-other", {{9, 1, 0, 0, 0}, true}},
        {"does-idle", {{TK_INK_TEXT, 0.07, 0, 0, 0}, true}},
};

static bool find_style(const struct element *e, struct style *style)
{
	const char *look = find_class(e, "mark-");
	if (look) {
		double strength = find_class(e, "faint") ? 0.5 : 1;
		double width = find_class(e, "sized-line") ? 3 : 2.4;
		*style = (struct style){
		        {(int)(strtoul(look, NULL, 10) % (TK_INK_TEXT + 1)), strength, width, 0, 0},
		        false};
		return true;
	}
	for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
		if (find_class(e, styles[i].class)) {
			*style = styles[i].style;
			return true;
		}
	return false;
}

/* ---- paths ---- */

struct path {
	const struct drawing *d;
	const struct style *style;
	struct tk_picture_point points[POINTS_MAX], at, start; /* at, start: of the drawing */
	size_t count;
};

static void flush(struct path *path)
{
	if (path->style->filled)
		tk_picture_fill(path->d->picture, path->points, path->count, path->style->pen.ink,
		        path->style->pen.strength);
	else
		tk_picture_draw_line(
		        path->d->picture, path->points, path->count, &path->style->pen);
	path->count = 0;
}

static void add_point(struct path *path, double x, double y)
{
	const struct drawing *d = path->d;
	struct tk_picture_point p = {d->box.x + x * d->scale_x, d->box.y + y * d->scale_y};
	if (path->count == POINTS_MAX) {
		struct tk_picture_point last = path->points[POINTS_MAX - 1];
		flush(path);
		path->points[path->count++] = last;
	}
	path->points[path->count++] = p;
	path->at = (struct tk_picture_point){x, y};
}

/* Half a circle to the left of the way, as the marks have it. */
static void add_half_circle(struct path *path, double x, double y)
{
	struct tk_picture_point from = path->at;
	double cx = (from.x + x) / 2, cy = (from.y + y) / 2, dx = from.x - cx, dy = from.y - cy;
	for (int i = 1; i <= ARC_STEPS; i++) {
		double a = -180.0 * i / ARC_STEPS * RADIANS;
		add_point(path, cx + dx * cos(a) - dy * sin(a), cy + dx * sin(a) + dy * cos(a));
	}
}

/* Up to `count` numbers, which spaces, commas or their signs separate. Returns how many there
 * are. */
static size_t read_numbers(const char **at, double *numbers, size_t count)
{
	size_t n = 0;
	for (; n < count; n++) {
		const char *s = *at;
		while (*s == ' ' || *s == ',')
			s++;
		if (!isdigit((unsigned char)*s) && *s != '-' && *s != '.')
			break;
		char *end;
		numbers[n] = strtod(s, &end);
		if (end == s)
			break;
		*at = end;
	}
	return n;
}

static void draw_step(struct path *path, char command, const double *v)
{
	bool relative = islower((unsigned char)command);
	double x = relative ? path->at.x : 0, y = relative ? path->at.y : 0;
	switch (toupper((unsigned char)command)) {
	case 'M':
		flush(path);
		add_point(path, x + v[0], y + v[1]);
		path->start = path->at;
		break;
	case 'L':
		add_point(path, x + v[0], y + v[1]);
		break;
	case 'H':
		add_point(path, x + v[0], path->at.y);
		break;
	case 'V':
		add_point(path, path->at.x, y + v[0]);
		break;
	case 'Q': /* a corner: straight to its end */
		add_point(path, x + v[2], y + v[3]);
		break;
	case 'A':
		add_half_circle(path, x + v[5], y + v[6]);
		break;
	}
}

static void draw_path(const struct drawing *d, const struct element *e, const struct style *style)
{
	static const char commands[] = "MLHVQA";
	static const size_t needs[] = {2, 2, 1, 1, 4, 7};
	struct path path = {.d = d, .style = style};
	const char *at = find_attribute(e, "d");
	while (at && *at && *at != '"') {
		char command = *at++;
		const char *known = strchr(commands, toupper((unsigned char)command));
		double v[7];
		if (command == 'z' || command == 'Z') {
			add_point(&path, path.start.x, path.start.y);
			continue;
		}
		if (!known)
			continue;
		size_t need = needs[known - commands];
		while (read_numbers(&at, v, need) == need) {
			draw_step(&path, command, v);
			command = command == 'M' ? 'L' : command == 'm' ? 'l' : command;
		}
	}
	flush(&path);
}

static void draw_rectangle(
        const struct drawing *d, const struct element *e, const struct style *style)
{
	double x = d->box.x + read_number(e, "x") * d->scale_x,
	       y = d->box.y + read_number(e, "y") * d->scale_y,
	       width = fmax(1, read_number(e, "width") * d->scale_x),
	       height = read_number(e, "height") * d->scale_y;
	const struct tk_picture_point corners[] = {
	        {x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}};
	tk_picture_fill(d->picture, corners, 4, style->pen.ink, style->pen.strength);
}

/* ---- texts ---- */

static size_t decode(const char *from, const char *end, char text[TEXT_MAX])
{
	static const struct {
		const char *name;
		char letter;
	} entities[] = {
	        {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}};
	size_t len = 0;
	while (from < end && len < TEXT_MAX) {
		size_t skip = 1;
		text[len] = *from;
		for (size_t i = 0; *from == '&' && i < sizeof entities / sizeof *entities; i++)
			if (!strncmp(from, entities[i].name, strlen(entities[i].name))) {
				text[len] = entities[i].letter;
				skip = strlen(entities[i].name);
			}
		len++;
		from += skip;
	}
	return len;
}

static void draw_text(const struct drawing *d, const struct element *e)
{
	const char *transform = find_attribute(e, "transform"), *close = strchr(e->end, '<'),
	           *anchor = find_attribute(e, "text-anchor"), *rotate;
	double x = 0, y = 0;
	char text[TEXT_MAX];
	struct tk_picture_text t = {.size = fmax(FONT_MIN, FONT_SIZE * d->scale_y),
	        .ink = TK_INK_TEXT,
	        .strength = 0.8,
	        .text = text};
	if (!close)
		return;
	t.len = decode(e->end + 1, close, text);
	t.x = read_place(e, "x", d->box.x, d->box.width, d->scale_x);
	t.y = read_place(e, "y", d->box.y, d->box.height, d->scale_y) +
	      read_number(e, "dy") * d->scale_y;
	t.anchor = !anchor          ? TK_TEXT_START
	           : *anchor == 'm' ? TK_TEXT_MIDDLE
	           : *anchor == 'e' ? TK_TEXT_END
	                            : TK_TEXT_START;
	if (find_class(e, "text-bad") || find_class(e, "text-good")) {
		t.ink = find_class(e, "text-bad") ? TK_INK_BAD : TK_INK_GOOD;
		t.strength = 1;
	}
	if (transform && !strncmp(transform, "translate(", 10)) {
		char *end;
		x = strtod(transform + 10, &end);
		y = strtod(end, &end);
		rotate = strstr(end, "rotate(");
		t.angle = rotate && rotate < e->end ? strtod(rotate + 7, NULL) * RADIANS : 0;
		double along = read_number(e, "x") * d->scale_x,
		       across = read_number(e, "y") * d->scale_y;
		t.x = d->box.x + x * d->scale_x + along * cos(t.angle) - across * sin(t.angle);
		t.y = d->box.y + y * d->scale_y + along * sin(t.angle) + across * cos(t.angle);
	}
	tk_picture_draw_text(d->picture, &t);
}

/* ---- elements ---- */

static bool next_element(const char *at, struct element *e)
{
	while ((at = strchr(at, '<')) && !isalpha((unsigned char)at[1]))
		if (!strncmp(at++, "</svg>", 6))
			return false;
	if (!at)
		return false;
	e->name = at + 1;
	e->attributes = e->name + strcspn(e->name, " />");
	e->attributes += *e->attributes == ' ';
	e->end = strchr(e->attributes, '>');
	return e->end != NULL;
}

static void fit(struct drawing *d, const struct element *svg)
{
	const char *view = find_attribute(svg, "viewBox");
	double v[4];
	d->scale_x = d->scale_y = 1;
	if (!view || read_numbers(&view, v, 4) != 4 || !(v[2] > 0) || !(v[3] > 0))
		return;
	d->scale_x = d->box.width / v[2];
	d->scale_y = d->box.height / v[3];
	if (find_class(svg, "trend"))
		return;
	d->scale_x = d->scale_y = fmin(d->scale_x, d->scale_y);
	d->box.x += (d->box.width - v[2] * d->scale_x) / 2;
}

size_t tk_picture_draw_svg(struct tk_picture *p, const char *svg, const struct tk_picture_box *box)
{
	struct drawing d = {p, *box, 1, 1};
	struct element e;
	struct style style;
	const char *end = strstr(svg, "</svg>");
	if (!end || !next_element(svg, &e) || !is_named(&e, "svg"))
		return 0;
	fit(&d, &e);
	for (const char *at = e.end; next_element(at, &e) && e.name < end; at = e.end) {
		if (is_named(&e, "text"))
			draw_text(&d, &e);
		else if (!find_style(&e, &style))
			continue;
		else if (is_named(&e, "path"))
			draw_path(&d, &e, &style);
		else if (is_named(&e, "rect"))
			draw_rectangle(&d, &e, &style);
	}
	return (size_t)(end - svg) + strlen("</svg>");
}
