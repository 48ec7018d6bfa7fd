/* How a series, its change and its revisions appear on every page. */
#include <math.h>

#include "core/vocabulary.h"
#include "site_gen/charts/charts.h"
#include "site_gen/model/model.h"
#include "site_gen/pages/page.h"

static const char *upstream_url(const struct tk_site *site, const struct tk_revision_row *r)
{
	const struct tk_upstream_row *u =
	        tk_row_index_find(&site->model.upstreams_by_id, r->upstream_id);
	return u ? u->url : "";
}

void tk_page_set_revision(struct tk_site *site, struct tk_value *o, const struct tk_revision_row *r)
{
	const struct tk_revision_view *v = tk_model_view_revision(&site->model, r);
	const char *file = v ? v->file : NULL;
	tk_value_set(o, "rev", v ? v->name : "");
	tk_value_set(o, "rev_href", v ? v->href : "");
	tk_value_set_clip(o, "subject", r ? r->subject : "", 120);
	tk_value_set_joined(
	        o, "rev_page", file ? "revisions/" : "", file ? file : "", file ? ".html" : "");
}

void tk_page_set_revision_range(struct tk_site *site, struct tk_value *o,
        const struct tk_revision_row *good, const struct tk_revision_row *bad)
{
	char a[TK_LINK_SIZE], b[TK_LINK_SIZE];
	bool differs = good && bad && good->id != bad->id;
	if (differs)
		tk_value_set_fmt(o, "range", "%s → %s", tk_rev_abbreviate(good->rev, a),
		        tk_rev_abbreviate(bad->rev, b));
	else
		tk_value_set_fmt(o, "range", "%s%s", bad ? tk_rev_abbreviate(bad->rev, a) : "",
		        good && bad ? " (unchanged)" : "");
	tk_value_set(o, "range_href",
	        differs ? tk_link_range(upstream_url(site, bad), good->rev, bad->rev, a) : "");
	tk_value_set_clip(o, "range_subject", differs ? bad->subject : "", 100);
	const char *file = differs ? tk_model_find_revision_file(&site->model, bad) : NULL;
	tk_value_set_fmt(o, "range_page", file ? "revisions/%s.html" : "", file);
}

void tk_page_set_change(struct tk_value *o, const struct tk_site_series *s, double change)
{
	bool is_time = s->metric == TK_METRIC_TIME,
	     none = !isfinite(change) || fabs(change) < 0.0005;
	bool worse = (change > 0) == (s->row->better == TK_BETTER_LOWER);
	tk_value_set_change(o, "change", change, "–");
	tk_value_set(o, "direction",
	        none || s->row->better == TK_BETTER_UNKNOWN ? ""
	        : is_time                                   ? (worse ? "slower" : "faster")
	        : worse                                     ? "worse"
	                                                    : "better");
	tk_value_set(o, "glyph", none ? "" : change > 0 ? "▲" : "▼");
}

/* The change was measured by A/B runs; before and after are nightly values still. */
static bool has_ab_result(const struct tk_verdict_row *v)
{
	return v && (v->ab_decision == TK_AB_HIGHER || v->ab_decision == TK_AB_LOWER);
}

static double newest_change(const struct tk_site_series *s)
{
	if (s->failure || (s->verdict && !s->last_run && !tk_series_has_change(s)))
		return NAN; /* its newest values are of earlier nights */
	if (s->verdict && isfinite(s->verdict->change))
		return s->verdict->change;
	const struct tk_point *last = tk_series_last_point(s);
	return s->newest_count > 1 && last[-1].value > 0 ? last->value / last[-1].value - 1 : NAN;
}

/* The state of an alert that people have decided on; "": they have not. */
static const char *decided_state(const struct tk_verdict_row *v)
{
	enum tk_triage_action action;
	enum tk_triage_state state = TK_TRIAGE_NEW;
	if (*v->ack_action && !tk_triage_action_parse(v->ack_action, &action))
		tk_triage_action_state(action, &state);
	return state == TK_TRIAGE_NEW ? "" : tk_triage_state_name(state);
}

void tk_page_set_verdict(struct tk_site *site, struct tk_value *o, const struct tk_site_series *s)
{
	const struct tk_row_index *revisions = &site->model.revisions_by_id;
	const struct tk_verdict_row *v = s->verdict;
	bool differs = v->good_revision_id != v->bad_revision_id;
	const struct tk_revision_row *bad =
	        differs ? tk_row_index_find(revisions, v->bad_revision_id) : NULL;
	char link[TK_LINK_SIZE];
	tk_value_set_quantity(o, "before", v->before_value, s->row->unit, "–");
	tk_value_set_quantity(o, "after", v->after_value, s->row->unit, "–");
	tk_value_set_flag(o, "ab_confirmed", has_ab_result(v));
	tk_page_set_revision_range(
	        site, o, differs ? tk_row_index_find(revisions, v->good_revision_id) : NULL, bad);
	tk_value_set_clip(o, "author", bad ? bad->author : "", 60);
	tk_value_set_clip(o, "alert_uid", v->alert_uid, 80);
	tk_value_set(o, "alert_state", decided_state(v));
	tk_value_set(
	        o, "first_bad", *v->first_bad_rev ? tk_rev_abbreviate(v->first_bad_rev, link) : "");
	tk_value_set(o, "first_bad_href", tk_link_commit(s->upstream->url, v->first_bad_rev, link));
	tk_value_set_clip(o, "first_bad_subject", v->first_bad_subject, 80);
	tk_value_set_clip(o, "first_bad_author", v->first_bad_author, 60);
	tk_value_set_fmt(o, "first_bad_confidence", "%.1f", 100 * v->first_bad_confidence);
}

void tk_page_set_series(
        struct tk_site *site, struct tk_value *o, const struct tk_site_series *s, const char *root)
{
	char text[TK_FORMAT_SIZE];
	const struct tk_point *last = tk_series_last_point(s);
	const char *rate_unit, *status = s->verdict || last ? tk_series_status_word(s) : "never";
	const char *outcome = s->failure ? tk_outcome_name(s->failure->outcome) : "";
	enum tk_tone tone = tk_series_tone(s);
	double value = last ? last->value : NAN, rate = tk_series_rate(s, value, &rate_unit);
	char folder[16];
	snprintf(folder, sizeof folder, "%.7sseries/", root);
	tk_value_set_joined(o, "href", folder, s->file, ".html");
	tk_value_set(o, "series_id", s->row->slug);
	tk_value_set_int(o, "style", s->style);
	tk_value_set_clip(o, "title", s->problem->title, 110);
	tk_value_set_clip(o, "label", s->label, 60);
	tk_value_set_clip(o, "device", s->device->name, 60);
	tk_value_set_clip(o, "upstream", s->upstream->name, 60);
	tk_value_set_quantity(o, "value", value, s->row->unit, "–");
	tk_value_set(o, "half", last ? tk_format_point_half_width(last, text) : "");
	tk_value_set_quantity(o, "rate", rate, rate_unit, "");
	tk_value_set(o, "status", status);
	tk_tone_set(o, "tone", tone);
	/* The verdict may have the same name. */
	tk_value_set(o, "outcome", strcmp(outcome, status) ? outcome : "");
	tk_tone_set(o, "outcome_tone",
	        s->failure ? tk_outcome_tone(s->failure->outcome) : TK_TONE_QUIET);
	tk_page_set_change(o, s, newest_change(s));
	tk_value_set_flag(o, "ab_confirmed", has_ab_result(s->verdict));
	if (tone == TK_TONE_QUIET) { /* noise has no direction */
		tk_value_set(o, "glyph", "");
		tk_value_set(o, "direction", "");
	}
}

void tk_page_set_sparkline(struct tk_site *site, struct tk_value *o, const struct tk_site_series *s)
{
	tk_sparkline_draw(&site->markup, s);
	tk_page_set_markup(site, o, "spark_markup");
}
