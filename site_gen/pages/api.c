/* The folders api and badges: the newest numbers for programs and for READMEs of others, under
 * addresses that stay. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "site_gen/data/shard.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/format.h"

/* ---- JSON ---- */

static void add_key(struct tk_buf *out, const char *key)
{
	tk_buf_add_str(out, ",\"");
	tk_buf_add_str(out, key);
	tk_buf_add_str(out, "\":");
}

static void add_text(struct tk_buf *out, const char *key, const char *text)
{
	add_key(out, key);
	tk_escape_json(out, text, tk_utf8_clip_len(text, 400));
}

static void add_number(struct tk_buf *out, const char *key, double v)
{
	add_key(out, key);
	tk_shard_add_number(out, v);
}

static void add_time(struct tk_buf *out, const char *key, int64_t t_s)
{
	char iso[TK_TIME_ISO_SIZE];
	if (t_s)
		add_text(out, key, tk_time_format_iso(t_s, iso));
	else
		tk_buf_add_printf(out, ",\"%s\":null", key);
}

static void add_newest(struct tk_buf *out, const struct tk_model *m, const struct tk_site_series *s)
{
	const struct tk_point *last = tk_series_last_point(s);
	const struct tk_revision_row *revision =
	        last ? tk_model_find_build_revision(m, last->build_id) : NULL;
	add_time(out, "night", last ? last->as_of_s : 0);
	add_number(out, "value", last ? last->value : NAN);
	add_number(out, "lo", last ? last->lo : NAN);
	add_number(out, "hi", last ? last->hi : NAN);
	tk_buf_add_printf(out, ",\"n\":%lld", (long long)(last ? last->n : 0));
	add_text(out, "revision", revision ? revision->rev : "");
	add_text(out, "status", s->verdict ? s->verdict->status : "");
	add_number(out, "change", s->verdict ? s->verdict->change : NAN);
	add_text(out, "change_by",
	        !s->verdict || isnan(s->verdict->change) ? ""
	        : tk_verdict_has_ab_result(s->verdict)   ? "pairs"
	                                                 : "nights");
	add_text(out, "outcome", s->failure ? s->failure->outcome : "");
}

static void add_series(struct tk_buf *out, const struct tk_model *m, const struct tk_site_series *s)
{
	tk_buf_add_str(out, "{\"id\":");
	tk_escape_json(out, s->row->slug, strlen(s->row->slug));
	add_text(out, "title", s->problem->title);
	add_text(out, "label", s->label);
	add_text(out, "op", s->problem->op);
	add_text(out, "dtype", s->problem->dtype);
	add_text(out, "problem", s->problem->text);
	add_text(out, "machine", s->device->machine->row->name);
	add_text(out, "device", s->device->row->slug);
	add_text(out, "upstream", s->upstream->name);
	add_text(out, "backend", s->row->backend);
	add_text(out, "config", s->row->config);
	add_text(out, "mode", s->row->mode);
	add_text(out, "metric", s->row->metric);
	add_text(out, "unit", s->row->unit);
	add_text(out, "better", s->row->better);
	add_text(out, "role", s->row->role);
	add_newest(out, m, s);
	tk_buf_add_printf(
	        out, ",\"page\":\"series/%s.html\",\"badge\":\"badges/%s.svg\"}", s->file, s->file);
}

static int write_series(struct tk_site *site, struct tk_error *err)
{
	struct tk_buf *out = &site->page;
	tk_buf_clear(out);
	tk_buf_add_str(out, "{\"format\":1,\"series\":[");
	for (size_t i = 0; i < site->model.series_count; i++) {
		tk_buf_add_str(out, i ? ",\n" : "\n");
		add_series(out, &site->model, &site->model.series[i]);
	}
	tk_buf_add_str(out, "]}\n");
	return tk_output_put(site->out, "api/series.json", out, err);
}

static int write_alerts(struct tk_site *site, struct tk_error *err)
{
	struct tk_buf *out = &site->page;
	bool first = true;
	tk_buf_clear(out);
	tk_buf_add_str(out, "{\"format\":1,\"alerts\":[");
	for (size_t i = 0; i < site->model.alert_rows.count; i++) {
		const struct tk_alert_row *alert =
		        TK_ROWS_AT(&site->model.alert_rows, struct tk_alert_row, i);
		const struct tk_site_series *s =
		        tk_model_find_series(&site->model, alert->series_id);
		if (!s)
			continue;
		tk_buf_add_str(out, first ? "\n{\"id\":" : ",\n{\"id\":");
		first = false;
		tk_escape_json(out, alert->uid, strlen(alert->uid));
		add_text(out, "status", alert->status);
		add_text(out, "state", tk_alert_state_name(&site->model.triage_rows, alert));
		add_text(out, "group", alert->group_uid);
		add_text(out, "series", s->row->slug);
		add_text(out, "title", alert->title);
		add_time(out, "opened", alert->opened_s);
		add_time(out, "closed", alert->closed_s);
		add_number(out, "change", alert->change);
		add_text(out, "cause", alert->cause);
		add_text(out, "good", alert->good_rev);
		add_text(out, "bad", alert->bad_rev);
		tk_buf_add_char(out, '}');
	}
	tk_buf_add_str(out, "]}\n");
	return tk_output_put(site->out, "api/alerts.json", out, err);
}

static int write_machines(struct tk_site *site, struct tk_error *err)
{
	struct tk_buf *out = &site->page;
	tk_buf_clear(out);
	tk_buf_add_str(out, "{\"format\":1");
	add_time(out, "made", site->options->now_s);
	tk_buf_add_str(out, ",\"machines\":[");
	for (size_t i = 0; i < site->model.machine_count; i++) {
		const struct tk_site_machine *machine = &site->model.machines[i];
		const struct tk_night_row *night = machine->last_night;
		tk_buf_add_str(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		tk_escape_json(out, machine->row->name, tk_utf8_clip_len(machine->row->name, 200));
		add_time(out, "night", night ? night->as_of_s : 0);
		add_time(out, "finished", night ? night->finished_s : 0);
		add_text(out, "status", night ? night->status : "");
		tk_buf_add_char(out, '}');
	}
	tk_buf_add_str(out, "]}\n");
	return tk_output_put(site->out, "api/machines.json", out, err);
}

/* ---- badges ---- */

#define BADGE_CHAR 7 /* of 11 px text; textLength makes any font fit */
#define BADGE_PAD 6

static int badge_width(const char *text)
{
	int characters = 0;
	for (; *text; text++)
		characters += (*text & 0xc0) != 0x80;
	return characters * BADGE_CHAR;
}

static void badge_text(struct tk_buf *out, int x, const char *text)
{
	tk_buf_add_printf(out,
	        "<text x=\"%d\" y=\"14\" textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\">", x,
	        badge_width(text));
	tk_escape_html(out, text, strlen(text));
	tk_buf_add_str(out, "</text>");
}

/* White on each of them is at least 4.5 to 1. */
static const char *badge_colour(const char *tone)
{
	return !strcmp(tone, "bad")    ? "#b3261e"
	       : !strcmp(tone, "good") ? "#1a7f4b"
	       : !strcmp(tone, "note") ? "#8a5a00"
	                               : "#57606a";
}

/* What a badge says: a value, NAN for none, and words. */
struct badge {
	double value;
	const char *says, *tone;
};

static int put_badge(struct tk_site *site, const char *path, const char *what, const char *says,
        const char *tone, struct tk_error *err)
{
	struct tk_buf *out = &site->page;
	char left[64];
	snprintf(left, sizeof left, "%.*s", (int)tk_utf8_clip_len(what, 40), what);
	int a = badge_width(left) + 2 * BADGE_PAD, b = badge_width(says) + 2 * BADGE_PAD;
	tk_buf_clear(out);
	tk_buf_add_printf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"20\" "
	        "role=\"img\"><title>",
	        a + b);
	tk_escape_html(out, left, strlen(left));
	tk_buf_add_str(out, ": ");
	tk_escape_html(out, says, strlen(says));
	tk_buf_add_printf(out,
	        "</title><rect width=\"%d\" height=\"20\" fill=\"#24292f\"/><rect x=\"%d\" "
	        "width=\"%d\" height=\"20\" "
	        "fill=\"%s\"/><g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" "
	        "font-size=\"11\">",
	        a, a, b, badge_colour(tone));
	badge_text(out, BADGE_PAD, left);
	badge_text(out, a + BADGE_PAD, says);
	tk_buf_add_str(out, "</g></svg>\n");
	return tk_output_put(site->out, path, out, err);
}

/* Three digits: the noise of a night is then mostly not a new file. */
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

/* A value that is within a hundredth of the one shown is the same to a reader of three digits, and
 * a night in which nothing moved writes few badges. Where its past is written anew, it is as well:
 * what was shown is not trusted. */
#define BADGE_SLACK 0.01

static bool badge_is_due(
        struct tk_site *site, const struct tk_site_series *s, const struct badge *badge)
{
	struct tk_series_state *state = &site->state.series[s - site->model.series];
	bool near = fabs(badge->value - state->badge_value) <= BADGE_SLACK * fabs(badge->value),
	     both = near || (isnan(badge->value) && isnan(state->badge_value));
	uint64_t look =
	        tk_fnv1a_add(tk_fnv1a_add(tk_fnv1a_add(TK_FNV1A_INIT, badge->says), badge->tone),
	                s->label) |
	        1;
	if (both && look == state->badge_look && site->reuse.usable)
		return false;
	if (look != state->badge_look ||
	        (badge->value != state->badge_value && !(isnan(badge->value) && both)))
		site->state.is_changed = true;
	state->badge_value = badge->value;
	state->badge_look = look;
	return true;
}

static int write_series_badge(
        struct tk_site *site, const struct tk_site_series *s, struct tk_error *err)
{
	const struct tk_point *last = tk_series_last_point(s);
	const char *status = s->verdict ? s->verdict->status : "", *tone = tk_verdict_tone(status);
	char path[160], value[TK_FORMAT_SIZE], says[TK_FORMAT_SIZE * 2];
	bool moved = !strcmp(tone, "bad") || !strcmp(tone, "good");
	struct badge badge = {NAN, moved ? status : "", tone};
	if (s->failure)
		badge = (struct badge){
		        NAN, s->failure->outcome, tk_state_tone(s->failure->outcome)};
	else if (last)
		badge.value = last->value;
	else
		badge.says = "not measured";
	if (!badge_is_due(site, s, &badge))
		return 0;
	snprintf(path, sizeof path, "badges/%s.svg", s->file);
	snprintf(says, sizeof says, "%s%s%.40s",
	        isnan(badge.value) ? "" : badge_value(badge.value, s->row->unit, value),
	        !isnan(badge.value) && *badge.says ? ", " : "", badge.says);
	return put_badge(site, path, s->label, says, badge.tone, err);
}

static int write_status_badge(struct tk_site *site, struct tk_error *err)
{
	size_t worse = 0, judged = 0;
	char says[64], count[TK_FORMAT_SIZE];
	const char *title =
	        site->options->title && *site->options->title ? site->options->title : "tracker";
	for (size_t i = 0; i < site->model.series_count; i++) {
		const struct tk_site_series *s = &site->model.series[i];
		judged += s->verdict != NULL;
		worse += s->verdict && !strcmp(tk_verdict_tone(s->verdict->status), "bad");
	}
	if (!judged)
		snprintf(says, sizeof says, "not compared");
	else if (worse)
		snprintf(says, sizeof says, "%s worse", tk_format_count((int64_t)worse, count));
	else
		snprintf(says, sizeof says, "no regressions");
	return put_badge(site, "badges/status.svg", title, says,
	        !judged ? "quiet"
	        : worse ? "bad"
	                : "good",
	        err);
}

int tk_page_write_api(struct tk_site *site, struct tk_error *err)
{
	int status = write_series(site, err);
	if (!status)
		status = write_alerts(site, err);
	if (!status)
		status = write_machines(site, err);
	if (!status)
		status = write_status_badge(site, err);
	for (size_t i = 0; !status && i < site->model.series_count; i++)
		if (strcmp(site->model.series[i].file, "status"))
			status = write_series_badge(site, &site->model.series[i], err);
	return status;
}
