/* The frame of the pages and the parts that several of them show. */
#include "site_gen/pages/page.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "detect/detect.h"
#include "site_gen/model/links.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/format.h"
#include "site_gen/render/svg.h"

/* ---- words ---- */

static const char *const verdict_words[] = {
#define WORD(id, word, mark, meaning) word,
        TK_VERDICT_STATUSES(WORD)
#undef WORD
};

int tk_verdict_rank(const char *word)
{
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		if (*verdict_words[i] == *word &&
		        !strcmp(verdict_words[i], word)) /* asked of every series, often */
			return i;
	return TK_VERDICT_STATUS_COUNT;
}

bool tk_verdicts_are_alike(const struct tk_verdict_row *a, const struct tk_verdict_row *b)
{
	int rank = tk_verdict_rank(a->status);
	bool absent = rank == TK_VERDICT_MISSING || rank == TK_VERDICT_STALE;
	return !(isfinite(a->before_value) && isfinite(a->after_value)) &&
	       !(isfinite(b->before_value) && isfinite(b->after_value)) &&
	       !strcmp(a->status, b->status) && (absent || !strcmp(a->reason, b->reason));
}

const char *tk_verdict_tone(const char *word)
{
	switch (tk_verdict_rank(word)) {
	case TK_VERDICT_REGRESSED:
	case TK_VERDICT_NEWLY_FAILED:
	case TK_VERDICT_MISSING:
		return "bad";
	case TK_VERDICT_IMPROVED:
	case TK_VERDICT_RECOVERED:
	case TK_VERDICT_FIXED:
		return "good";
	case TK_VERDICT_UNSUPPORTED:
	case TK_VERDICT_NEW:
	case TK_VERDICT_SAME:
	case TK_VERDICT_STATUS_COUNT:
		return "quiet";
	default:
		return "note";
	}
}

const char *tk_state_tone(const char *word)
{
	static const struct {
		const char *word, *tone;
	} tones[] = {
	        {"complete", "good"},
	        {"ok", "good"},
	        {"done", "good"},
	        {"closed", "good"},
	        {"new", "good"},
	        {"failed", "bad"},
	        {"timeout", "bad"},
	        {"wrong", "bad"},
	        {"crashed", "bad"},
	        {"unreachable", "bad"},
	        {"open", "bad"},
	        {"build_failed", "bad"},
	        {"protocol", "bad"},
	        {"out_of_memory", "bad"},
	        {"no_device", "bad"},
	        {"stale", "bad"},
	        {"incomplete", "note"},
	        {"running", "note"},
	        {"stopped", "bad"},
	        {"throttled", "note"},
	        {"unstable", "note"},
	        {"skipped", "note"},
	};
	for (size_t i = 0; i < sizeof tones / sizeof *tones; i++)
		if (!strcmp(tones[i].word, word))
			return tones[i].tone;
	return "quiet";
}

/* ---- the frame ---- */

static void section_path(struct tk_buf *out, const struct tk_model *m, enum tk_section section)
{
	static const char *const plain[] = {"index.html", "", "lists/index.html", "compare.html",
	        "", "nights/index.html", "upstreams/index.html", "machines/index.html",
	        "alerts.html", "method.html"};
	tk_buf_add_str(out, plain[section]);
	if (section == TK_SECTION_ROOFLINE && m->device_count)
		tk_buf_add_printf(out, "roofline/%s.html", m->devices[0].file);
	for (size_t i = 0; section == TK_SECTION_KERNELS && i < m->series_count && !out->len; i++)
		if (tk_series_is_suite_time(&m->series[i]) && tk_series_has_result(&m->series[i]))
			tk_buf_add_printf(out, "kernels/%s.html", m->series[i].op_file);
}

struct tk_value *tk_page_begin(
        struct tk_site *site, const char *path, const char *title, enum tk_section section)
{
	static const char *const titles[] = {
#define TITLE(id, name) name,
	        TK_SECTIONS(TITLE)
#undef TITLE
	};
	tk_arena_reset(site->arena);
	struct tk_arena *a = site->arena;
	struct tk_value *page = tk_value_object(a);
	const char *root = strchr(path, '/') ? "../" : "";
	tk_value_set(a, page, "root", root);
	tk_page_set_clipped(site, page, "title", title, 200);
	tk_page_set_clipped(site, page, "site",
	        site->options->title && *site->options->title ? site->options->title : "tracker",
	        80);
	tk_value_set(a, page, "version", site->version);
	tk_value_set_flag(a, page, "charts", site->charts);
	tk_value_set_flag(a, page, "feed", site->options->base_url && *site->options->base_url);
	struct tk_value *nav = tk_value_set_list(a, page, "nav");
	for (int i = 0; i < TK_SECTION_COUNT; i++) {
		struct tk_buf target = TK_BUF_INIT;
		section_path(&target, &site->model, (enum tk_section)i);
		if (target.len) {
			struct tk_value *item = tk_value_append_object(a, nav);
			tk_value_set_fmt(a, item, "href", "%s%s", root, target.data);
			tk_value_set(a, item, "name", titles[i]);
			tk_value_set_flag(a, item, "current", i == (int)section);
		}
		tk_buf_free(&target);
	}
	return page;
}

void tk_page_register(struct tk_site *site, const char *path)
{
	const char *base = site->options->base_url, *suffix = strrchr(path, '.');
	site->pages++;
	if (!base || !*base || !suffix || strcmp(suffix, ".html"))
		return;
	tk_buf_add_str(&site->sitemap, base);
	tk_buf_add_str(&site->sitemap, base[strlen(base) - 1] == '/' ? "" : "/");
	tk_buf_add_str(&site->sitemap, path);
	tk_buf_add_char(&site->sitemap, '\n');
}

int tk_page_render(
        struct tk_site *site, const char *template_name, const char *path, struct tk_error *err)
{
	tk_buf_clear(&site->page);
	/* the page's object is the first thing in the arena: tk_page_begin made it */
	int status = tk_templates_render(site->templates, template_name,
	        tk_arena_first_value(site->arena), site->arena, &site->page, err);
	if (!status)
		status = tk_output_put(site->out, path, &site->page, err);
	return status ? tk_error_add_context(err, "page %s", path) : 0;
}

int tk_page_finish(
        struct tk_site *site, const char *template_name, const char *path, struct tk_error *err)
{
	tk_page_register(site, path);
	return tk_page_render(site, template_name, path, err);
}

void tk_page_set_clipped(
        struct tk_site *site, struct tk_value *o, const char *key, const char *text, size_t max)
{
	size_t len = tk_utf8_clip_len(text, max);
	if (text[len])
		tk_value_set_fmt(site->arena, o, key, "%.*s…", (int)len, text);
	else
		tk_value_set_len(site->arena, o, key, text, len);
}

void tk_page_set_time(struct tk_site *site, struct tk_value *o, const char *key, int64_t t_s)
{
	char text[TK_FORMAT_SIZE];
	tk_value_set(site->arena, o, key, t_s ? tk_format_minute(t_s, text) : "–");
}

void tk_page_set_markup(struct tk_site *site, struct tk_value *o, const char *key)
{
	tk_value_set_markup(site->arena, o, key, &site->markup);
	tk_buf_clear(&site->markup);
}

/* ---- revisions ---- */

static const char *upstream_url(const struct tk_site *site, const struct tk_revision_row *r)
{
	const struct tk_upstream_row *u =
	        tk_index_find(&site->model.upstreams_by_id, r->upstream_id);
	return u ? u->url : "";
}

void tk_page_set_revision(struct tk_site *site, struct tk_value *o, const struct tk_revision_row *r)
{
	char link[TK_LINK_SIZE];
	tk_value_set(site->arena, o, "rev", r ? tk_rev_abbreviate(r->rev, link) : "");
	tk_value_set(site->arena, o, "rev_href",
	        r ? tk_link_commit(upstream_url(site, r), r->rev, link) : "");
	tk_page_set_clipped(site, o, "subject", r ? r->subject : "", 120);
	const struct tk_site_revision *page =
	        tk_site_changes_find_revision(&site->model, &site->model.revision_changes, r);
	tk_value_set_fmt(site->arena, o, "rev_page", page && page->file ? "revisions/%s.html" : "",
	        page && page->file ? page->file : "");
}

void tk_page_set_revision_range(struct tk_site *site, struct tk_value *o,
        const struct tk_revision_row *good, const struct tk_revision_row *bad)
{
	char a[TK_LINK_SIZE], b[TK_LINK_SIZE];
	bool moved = good && bad && good->id != bad->id;
	if (moved)
		tk_value_set_fmt(site->arena, o, "range", "%s → %s",
		        tk_rev_abbreviate(good->rev, a), tk_rev_abbreviate(bad->rev, b));
	else
		tk_value_set_fmt(site->arena, o, "range", "%s%s",
		        bad ? tk_rev_abbreviate(bad->rev, a) : "",
		        good && bad ? " (unchanged)" : "");
	tk_value_set(site->arena, o, "range_href",
	        moved ? tk_link_range(upstream_url(site, bad), good->rev, bad->rev, a) : "");
	tk_page_set_clipped(site, o, "range_subject", moved ? bad->subject : "", 100);
	const struct tk_site_revision *page = moved ? tk_site_changes_find_revision(&site->model,
	                                                      &site->model.revision_changes, bad)
	                                            : NULL;
	tk_value_set_fmt(site->arena, o, "range_page",
	        page && page->file ? "revisions/%s.html" : "",
	        page && page->file ? page->file : "");
}

/* What the judge wrote into the verdict; false where it names no revisions. */
static bool moved_by_verdict(const struct tk_site *site, const struct tk_site_series *s,
        const struct tk_revision_row **good, const struct tk_revision_row **bad)
{
	json_t *detail = s->verdict ? json_loads(s->verdict->detail, 0, NULL) : NULL;
	const char *good_rev = json_string_value(json_object_get(detail, "good_rev"));
	const char *bad_rev = json_string_value(json_object_get(detail, "bad_rev"));
	*good = good_rev ? tk_model_find_revision(&site->model, s->upstream->id, good_rev) : NULL;
	*bad = bad_rev ? tk_model_find_revision(&site->model, s->upstream->id, bad_rev) : NULL;
	json_decref(detail);
	return *good && *bad;
}

void tk_series_find_change_range(const struct tk_site *site, const struct tk_site_series *s,
        const struct tk_revision_row **good, const struct tk_revision_row **bad)
{
	const struct tk_point *last = tk_series_last_point(s);
	if (moved_by_verdict(site, s, good, bad))
		return;
	*bad = last ? tk_model_find_build_revision(&site->model, last->build_id) : NULL;
	*good = s->newest_count > 1 ? tk_model_find_build_revision(&site->model, last[-1].build_id)
	                            : NULL;
}

/* ---- the row of a series ---- */

void tk_page_set_change(
        struct tk_site *site, struct tk_value *o, const struct tk_site_series *s, double change)
{
	char text[TK_FORMAT_SIZE];
	bool is_time = !strcmp(s->row->metric, "time"),
	     none = !isfinite(change) || fabs(change) < 0.0005;
	bool worse = (change > 0) == !strcmp(s->row->better, "lower");
	tk_value_set(site->arena, o, "change", tk_format_change(change, text));
	tk_value_set(site->arena, o, "direction",
	        none      ? ""
	        : is_time ? (worse ? "slower" : "faster")
	        : worse   ? "worse"
	                  : "better");
	tk_value_set(site->arena, o, "glyph", none ? "" : change > 0 ? "▲" : "▼");
}

bool tk_verdict_has_ab_result(const struct tk_verdict_row *v)
{
	json_t *detail =
	        v && strstr(v->detail, "\"pairs\"") ? json_loads(v->detail, 0, NULL) : NULL;
	const char *word =
	        json_string_value(json_object_get(json_object_get(detail, "pairs"), "word"));
	const bool decided = word && (!strcmp(word, "up") || !strcmp(word, "down"));
	json_decref(detail);
	return decided;
}

static double change_of(const struct tk_site_series *s)
{
	if (s->verdict && isfinite(s->verdict->change))
		return s->verdict->change;
	const struct tk_point *last = tk_series_last_point(s);
	return s->newest_count > 1 && last[-1].value > 0 ? last->value / last[-1].value - 1 : NAN;
}

void tk_page_set_series(
        struct tk_site *site, struct tk_value *o, const struct tk_site_series *s, const char *root)
{
	struct tk_arena *a = site->arena;
	char text[TK_FORMAT_SIZE];
	const struct tk_point *last = tk_series_last_point(s);
	const char *rate_unit, *status = s->verdict ? s->verdict->status : last ? "" : "never";
	double value = last ? last->value : NAN, rate = tk_series_rate(s, value, &rate_unit);
	tk_value_set_fmt(a, o, "href", "%sseries/%s.html", root, s->file);
	tk_value_set(a, o, "series_id", s->row->slug);
	tk_page_set_clipped(site, o, "title", s->problem->title, 110);
	tk_page_set_clipped(site, o, "label", s->label, 60);
	tk_page_set_clipped(site, o, "device", s->device->name, 60);
	tk_page_set_clipped(site, o, "upstream", s->upstream->name, 60);
	tk_value_set(a, o, "value", tk_format_value(value, s->row->unit, text));
	tk_value_set(a, o, "half", last ? tk_format_point_half_width(last, text) : "");
	tk_value_set(a, o, "rate", isfinite(rate) ? tk_format_value(rate, rate_unit, text) : "");
	tk_value_set(a, o, "status", status);
	tk_value_set(a, o, "tone", tk_verdict_tone(status));
	bool told = s->failure &&
	            strcmp(s->failure->outcome, status); /* the verdict may be the same word */
	tk_value_set(a, o, "outcome", told ? s->failure->outcome : "");
	tk_value_set(
	        a, o, "outcome_tone", s->failure ? tk_state_tone(s->failure->outcome) : "quiet");
	tk_page_set_change(site, o, s, change_of(s));
	tk_value_set_flag(a, o, "ab_confirmed", tk_verdict_has_ab_result(s->verdict));
	if (!strcmp(tk_verdict_tone(status), "quiet")) { /* noise has no direction */
		tk_value_set(a, o, "glyph", "");
		tk_value_set(a, o, "direction", "");
	}
}

void tk_page_set_sparkline(struct tk_site *site, struct tk_value *o, const struct tk_site_series *s)
{
	tk_svg_draw_sparkline(&site->markup, s);
	tk_page_set_markup(site, o, "spark_markup");
}
