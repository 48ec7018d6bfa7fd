/* badges/: one for each series and one for the whole site. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/present.h"
#include "base/text.h"
#include "base/try.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define BADGE_CHAR 7 /* of 11 px text; textLength makes any font fit */
#define BADGE_PAD 6

static int badge_width(const char *text)
{
	return (int)tk_utf8_count(text) * BADGE_CHAR;
}

static void draw_text(struct tk_buf *out, int x, const char *text)
{
	tk_buf_add_printf(out,
	        "<text x=\"%d\" y=\"14\" textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\">", x,
	        badge_width(text));
	tk_escape_html(out, text, strlen(text));
	tk_buf_add_str(out, "</text>");
}

/* White text has a contrast of at least 4.5:1 on each. */
static const char *badge_colour(enum tk_tone tone)
{
	static const char *const colours[] = {[TK_TONE_QUIET] = "#57606a",
	        [TK_TONE_NOTE] = "#8a5a00",
	        [TK_TONE_GOOD] = "#1a7f4b",
	        [TK_TONE_BAD] = "#b3261e"};
	return colours[tone];
}

/* value: NAN for none. */
struct badge {
	double value;
	const char *text;
	enum tk_tone tone;
};

static int put_badge(struct tk_site *site, const char *path, const char *what, const char *text,
        enum tk_tone tone, struct tk_error *err)
{
	struct tk_buf *out = &site->page;
	char left[64];
	snprintf(left, sizeof left, "%.*s", (int)tk_utf8_clip_len(what, 40), what);
	int a = badge_width(left) + 2 * BADGE_PAD, b = badge_width(text) + 2 * BADGE_PAD;
	tk_buf_clear(out);
	tk_buf_add_printf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"20\" "
	        "role=\"img\"><title>",
	        a + b);
	tk_escape_html(out, left, strlen(left));
	tk_buf_add_str(out, ": ");
	tk_escape_html(out, text, strlen(text));
	tk_buf_add_printf(out,
	        "</title><rect width=\"%d\" height=\"20\" fill=\"#24292f\"/><rect x=\"%d\" "
	        "width=\"%d\" height=\"20\" "
	        "fill=\"%s\"/><g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" "
	        "font-size=\"11\">",
	        a, a, b, badge_colour(tone));
	draw_text(out, BADGE_PAD, left);
	draw_text(out, a + BADGE_PAD, text);
	tk_buf_add_str(out, "</g></svg>\n");
	return tk_output_put(site->out, path, out, err);
}

/* Three digits, so that noise rarely changes a file. */
static const char *badge_value(double value, const char *unit, char out[TK_FORMAT_SIZE])
{
	struct tk_format_scale scale = tk_format_choose_scale(value, unit);
	double v = value / scale.divisor;
	snprintf(out, TK_FORMAT_SIZE, "%.*f %.20s",
	        v >= 99.95   ? 0
	        : v >= 9.995 ? 1
	                     : 2,
	        v, scale.unit);
	return out;
}

static int write_series_badge(
        struct tk_site *site, const struct tk_site_series *s, struct tk_error *err)
{
	const struct tk_point *last = tk_series_last_point(s);
	const char *status = tk_series_status_word(s);
	const enum tk_tone tone = tk_series_tone(s);
	char path[160], value[TK_FORMAT_SIZE], text[TK_FORMAT_SIZE * 2];
	bool has_change = tone == TK_TONE_BAD || tone == TK_TONE_GOOD;
	struct badge badge = {NAN, has_change ? status : "", tone};
	if (s->failure)
		badge = (struct badge){NAN, tk_outcome_name(s->failure->outcome),
		        tk_outcome_tone(s->failure->outcome)};
	else if (last)
		badge.value = last->value;
	else
		badge.text = "not measured";
	snprintf(path, sizeof path, "badges/%s.svg", s->file);
	snprintf(text, sizeof text, "%s%s%.40s",
	        isnan(badge.value) ? "" : badge_value(badge.value, s->row->unit, value),
	        !isnan(badge.value) && *badge.text ? ", " : "", badge.text);
	return put_badge(site, path, s->label, text, badge.tone, err);
}

static int write_status_badge(struct tk_site *site, struct tk_error *err)
{
	size_t worse = 0, analysed = 0;
	char text[64], count[TK_FORMAT_SIZE];
	const char *title =
	        site->options->title && *site->options->title ? site->options->title : "tracker";
	for (size_t i = 0; i < site->model.series_count; i++) {
		const struct tk_site_series *s = &site->model.series[i];
		analysed += s->verdict != NULL;
		worse += tk_series_tone(s) == TK_TONE_BAD;
	}
	if (!analysed)
		snprintf(text, sizeof text, "not compared");
	else if (worse)
		snprintf(text, sizeof text, "%s worse", tk_format_count((int64_t)worse, count));
	else
		snprintf(text, sizeof text, "no regressions");
	return put_badge(site, "badges/status.svg", title, text,
	        !analysed ? TK_TONE_QUIET
	        : worse   ? TK_TONE_BAD
	                  : TK_TONE_GOOD,
	        err);
}

int tk_page_write_badges(struct tk_site *site, struct tk_error *err)
{
	TRY(write_status_badge(site, err));
	for (size_t i = 0; i < site->model.series_count; i++)
		if (strcmp(site->model.series[i].file, "status"))
			TRY(write_series_badge(site, &site->model.series[i], err));
	return 0;
}
