/* index.html: how the last night went, what moved, where to go on. Never a list of everything. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "core/outcome.h"
#include "core/status.h"
#include "site_gen/model/ceilings.h"
#include "site_gen/model/links.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/format.h"

#define MOVED_MAX 12
#define STALE_S (36 * 3600)

/* ---- the last night of each machine ---- */

static void set_verdict_counts(
        struct tk_site *site, struct tk_value *card, const struct tk_site_machine *machine)
{
	struct {
		const char *word;
		int rank;
		size_t count;
	} counts[32];
	size_t used = 0;
	for (size_t i = 0; i < machine->verdicts.count; i++) {
		const char *word = TK_ROWS_AT(&machine->verdicts, struct tk_verdict_row, i)->status;
		size_t c = 0;
		while (c < used && strcmp(counts[c].word, word))
			c++;
		if (c == used && used < sizeof counts / sizeof *counts) {
			counts[used].word = word;
			counts[used].rank = tk_verdict_rank(word);
			counts[used++].count = 0;
		}
		if (c < used)
			counts[c].count++;
	}
	struct tk_value *list = tk_value_set_list(site->arena, card, "counts");
	for (int rank = 0; rank < 64; rank++)
		for (size_t c = 0; c < used; c++) {
			if (counts[c].rank != rank)
				continue;
			struct tk_value *o = tk_value_append_object(site->arena, list);
			tk_value_set_int(site->arena, o, "count", (int64_t)counts[c].count);
			enum tk_verdict_status status;
			const char *phrase = tk_verdict_status_parse(counts[c].word, &status)
			                             ? counts[c].word
			                             : tk_verdict_status_phrase(status);
			tk_page_set_clipped(site, o, "word", phrase, 40);
			tk_value_set(site->arena, o, "tone", tk_verdict_tone(counts[c].word));
		}
}

/* Also a run that failed is a run; a measurement has a timing, which may be no better than a guess. */
static int64_t count_timed(const struct tk_site_machine *machine, int64_t *unstable)
{
	int64_t timed = 0;
	*unstable = 0;
	for (size_t i = 0; i < machine->runs.count; i++) {
		enum tk_outcome o;
		if (tk_outcome_parse(
		            TK_ROWS_AT(&machine->runs, struct tk_run_row, i)->outcome, &o) != TK_OK)
			continue;
		timed += tk_outcome_has_timing(o);
		*unstable += o == TK_OUTCOME_UNSTABLE;
	}
	return timed;
}

/* skipped: those that there was no time for; others failed. */
static size_t count_failures(
        const struct tk_model *m, const struct tk_site_machine *machine, bool skipped)
{
	size_t failures = 0;
	for (size_t i = 0; i < m->series_count; i++)
		failures += m->series[i].failure && m->series[i].device->machine == machine &&
		            !tk_series_is_unsupported(&m->series[i]) &&
		            tk_series_is_skipped(&m->series[i]) == skipped;
	return failures;
}

static struct tk_value *add_machine_card(
        struct tk_site *site, struct tk_value *list, const struct tk_site_machine *machine)
{
	struct tk_arena *a = site->arena;
	const struct tk_night_row *night = machine->last_night;
	struct tk_value *card = tk_value_append_object(a, list);
	char text[64];
	tk_page_set_clipped(site, card, "machine", machine->row->name, 60);
	tk_value_set_fmt(a, card, "machine_href", "machines/%s.html", machine->file);
	bool stale = night && site->options->now_s - night->as_of_s > STALE_S;
	const char *state = !night ? "never" : stale ? "stale" : night->status;
	tk_value_set(a, card, "state", state);
	tk_value_set(a, card, "tone", tk_state_tone(state));
	tk_value_set_flag(a, card, "stale", stale);
	tk_value_set_flag(a, card, "has_night", night != NULL);
	set_verdict_counts(site, card, machine);
	if (!night)
		return card;
	const struct tk_site_night *page = tk_model_find_night(&site->model, night->id);
	tk_value_set_fmt(a, card, "night_href",
	        page && page->file ? "nights/%s.html" : "nights/index.html",
	        page ? page->file : "");
	tk_page_set_time(site, card, "night", night->as_of_s);
	tk_value_set(a, card, "took",
	        night->finished_s
	                ? tk_duration_format(
	                          (double)(night->finished_s - night->started_s), text, sizeof text)
	                : "not finished");
	size_t failures = count_failures(&site->model, machine, false),
	       skipped = count_failures(&site->model, machine, true);
	int64_t unstable, timed = count_timed(machine, &unstable);
	tk_value_set_int(a, card, "runs", timed);
	tk_value_set_int(a, card, "unstable", unstable);
	tk_value_set_flag(a, card, "mostly_unstable",
	        tk_outcome_is_night_unreliable((size_t)unstable, (size_t)timed));
	tk_value_set_fmt(a, card, "skipped", skipped ? "%zu" : "", skipped);
	tk_value_set_int(a, card, "failures", (int64_t)failures);
	tk_value_set_flag(a, card, "failed", failures > 0);
	return card;
}

/* ---- what moved ---- */

static int moved_order(const void *a, const void *b)
{
	const struct tk_site_series *x = *(const struct tk_site_series *const *)a,
	                            *y = *(const struct tk_site_series *const *)b;
	int rx = tk_verdict_rank(x->verdict->status), ry = tk_verdict_rank(y->verdict->status);
	if (rx != ry)
		return rx - ry;
	double cx = isfinite(x->verdict->change) ? fabs(x->verdict->change) : 0,
	       cy = isfinite(y->verdict->change) ? fabs(y->verdict->change) : 0;
	if (cx != cy)
		return cx < cy ? 1 : -1;
	int reason = strcmp(x->verdict->reason, y->verdict->reason);
	return reason ? reason : x < y ? -1 : x > y;
}

static bool has_numbers(const struct tk_verdict_row *v)
{
	return isfinite(v->before_value) && isfinite(v->after_value);
}

/* How many from here on are one line. */
static size_t bundle_length(const struct tk_site_series *const *moved, size_t count)
{
	size_t n = 1;
	while (n < count && tk_verdicts_are_alike(moved[0]->verdict, moved[n]->verdict))
		n++;
	return n < TK_VERDICT_GROUP_MIN ? 1 : n;
}

/* A night that was cut by its budget, a build that failed: hundreds of series, one thing to know. */
static void add_bundle(struct tk_site *site, struct tk_value *list,
        const struct tk_site_series *const *moved, size_t count)
{
	struct tk_arena *a = site->arena;
	struct tk_value *o = tk_value_append_object(a, list);
	const struct tk_site_series *first = moved[0];
	const struct tk_night_row *judged = first->device->machine->analysed_night;
	const struct tk_site_night *night =
	        judged ? tk_model_find_night(&site->model, judged->id) : NULL;
	char text[TK_FORMAT_SIZE];
	size_t devices = 1, reasons = 1;
	for (size_t i = 1; i < count; i++) {
		devices += moved[i]->device != moved[i - 1]->device;
		reasons += strcmp(moved[i]->verdict->reason, moved[i - 1]->verdict->reason) != 0;
	}
	tk_value_set_flag(a, o, "is_group", true);
	tk_value_set(a, o, "count", tk_format_count((int64_t)count, text));
	tk_value_set(a, o, "status", first->verdict->status);
	tk_value_set(a, o, "tone", tk_verdict_tone(first->verdict->status));
	tk_page_set_clipped(
	        site, o, "device", devices > 1 ? "several devices" : first->device->name, 60);
	tk_page_set_clipped(site, o, "reason", reasons > 1 ? "" : first->verdict->reason, 160);
	tk_value_set_fmt(a, o, "example_href", "series/%s.html", first->file);
	tk_page_set_clipped(site, o, "example", first->problem->title, 110);
	tk_page_set_clipped(site, o, "label", first->label, 60);
	if (tk_page_list_is_single(&site->model))
		tk_value_set_fmt(
		        a, o, "href", "lists/index.html#status=%s", first->verdict->status);
	else
		tk_value_set_fmt(a, o, "href",
		        night && night->file ? "nights/%s.html" : "lists/index.html",
		        night && night->file ? night->file : "");
}

/* Since when it is so, and what people made of it; "" where no alert is open. */
static void set_since(struct tk_site *site, struct tk_value *o, const struct tk_site_series *s)
{
	const struct tk_model *m = &site->model;
	const struct tk_alert_row *alert = NULL;
	char day[TK_TIME_ISO_SIZE];
	for (size_t i = 0; i < m->alert_rows.count; i++) {
		const struct tk_alert_row *row = TK_ROWS_AT(&m->alert_rows, struct tk_alert_row, i);
		if (row->series_id == s->row->id && !strcmp(row->status, "open") &&
		        (!alert || row->opened_s > alert->opened_s))
			alert = row;
	}
	const char *word = alert ? tk_alert_state_name(&m->triage_rows, alert) : "";
	bool fresh = alert && s->device->machine->analysed_night &&
	             alert->opened_s >= s->device->machine->analysed_night->as_of_s;
	tk_value_set_fmt(site->arena, o, "since",
	        !alert  ? ""
	        : fresh ? "new last night"
	                : "since %s",
	        alert ? tk_time_format_day(alert->opened_s, day) : "");
	tk_value_set(site->arena, o, "alert_state", strcmp(word, TK_TRIAGE_NEW) ? word : "");
	tk_page_set_clipped(site, o, "alert_uid", alert ? alert->uid : "", 80);
}

/* The commit that a bisection found for it; "" where none did. */
static void set_culprit(struct tk_site *site, struct tk_value *o, const struct tk_site_series *s,
        const struct tk_revision_row *good, const struct tk_revision_row *bad)
{
	const struct tk_rows *rows = &site->model.culprit_rows;
	char link[TK_LINK_SIZE];
	tk_value_set(site->arena, o, "first_bad", "");
	for (size_t i = 0; good && bad && i < rows->count; i++) {
		const struct tk_bisection_row *c = TK_ROWS_AT(rows, struct tk_bisection_row, i);
		if (c->series_id != s->row->id || strcmp(c->word, "found") ||
		        strcmp(c->good_rev, good->rev) || strcmp(c->bad_rev, bad->rev))
			continue;
		tk_value_set(site->arena, o, "first_bad", tk_rev_abbreviate(c->first_bad, link));
		tk_value_set(site->arena, o, "first_bad_href",
		        tk_link_commit(s->upstream->url, c->first_bad, link));
		tk_page_set_clipped(site, o, "first_bad_subject", c->subject, 80);
		tk_value_set_fmt(
		        site->arena, o, "first_bad_confidence", "%.1f", 100 * c->confidence);
	}
}

static void add_moved(struct tk_site *site, struct tk_value *list, const struct tk_site_series *s)
{
	struct tk_arena *a = site->arena;
	struct tk_value *o = tk_value_append_object(a, list);
	const struct tk_verdict_row *v = s->verdict;
	const struct tk_revision_row *good, *bad;
	char text[TK_FORMAT_SIZE];
	struct tk_site_ceilings roofs;
	tk_site_ceilings_find(&site->model, s->device, &roofs);
	double share = tk_site_ceilings_efficiency(&roofs, s, v->after_value);
	tk_page_set_series(site, o, s, "");
	tk_page_set_sparkline(site, o, s);
	tk_value_set_flag(a, o, "is_group", false);
	tk_value_set_flag(a, o, "numbers", has_numbers(v));
	tk_value_set(a, o, "efficiency", isfinite(share) ? tk_format_percent(share, text) : "");
	set_since(site, o, s);
	tk_value_set(a, o, "before", tk_format_value(v->before_value, s->row->unit, text));
	tk_value_set(a, o, "after", tk_format_value(v->after_value, s->row->unit, text));
	tk_page_set_clipped(site, o, "reason", v->reason, 160);
	tk_series_find_change_range(site, s, &good, &bad);
	tk_page_set_revision_range(site, o, good, bad);
	set_culprit(site, o, s, good, bad);
}

/* The series of one tone, most severe first; the list is cut, `key_more` says by how many series. */
static void set_moved(struct tk_site *site, struct tk_value *page, const char *tone,
        const char *key, const char *key_more, const struct tk_site_series **moved)
{
	size_t count = 0;
	for (size_t i = 0; i < site->model.series_count; i++) {
		const struct tk_site_series *s = &site->model.series[i];
		if (s->verdict && !strcmp(tk_verdict_tone(s->verdict->status), tone) &&
		        !tk_series_is_unsupported(s))
			moved[count++] = s;
	}
	qsort(moved, count, sizeof *moved, moved_order);
	struct tk_value *list = tk_value_set_list(site->arena, page, key);
	size_t left = 0;
	for (size_t i = 0, n, lines = 0; i < count; i += n) {
		n = bundle_length(&moved[i], count - i);
		if (n > 1)
			add_bundle(site, list, &moved[i], n); /* always: there are few reasons */
		else if (lines < MOVED_MAX)
			add_moved(site, list, moved[i]);
		else
			left++;
		lines += n == 1;
	}
	tk_value_set_int(site->arena, page, key_more, (int64_t)left);
	tk_value_set_flag(site->arena, page,
	        !strcmp(tone, "bad")    ? "worse_cut"
	        : !strcmp(tone, "good") ? "better_cut"
	                                : "attention_cut",
	        left > 0);
}

static int set_all_moved(struct tk_site *site, struct tk_value *page, struct tk_error *err)
{
	const struct tk_site_series **moved =
	        malloc((site->model.series_count + 1) * sizeof *moved);
	if (!moved)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	set_moved(site, page, "bad", "worse", "worse_more", moved);
	set_moved(site, page, "good", "better", "better_more", moved);
	set_moved(site, page, "note", "attention", "attention_more", moved);
	free(moved);
	return 0;
}

/* What is open since before last night as well: alerts, how many nobody has looked at, and the
 * oldest. */
static void set_open(struct tk_site *site, struct tk_value *page)
{
	const struct tk_model *m = &site->model;
	size_t open = 0, fresh = 0;
	int64_t oldest_s = INT64_MAX;
	char day[TK_TIME_ISO_SIZE];
	for (size_t i = 0; i < m->alert_rows.count; i++) {
		const struct tk_alert_row *alert =
		        TK_ROWS_AT(&m->alert_rows, struct tk_alert_row, i);
		const char *word = tk_alert_state_name(&m->triage_rows, alert);
		if (strcmp(alert->status, "open") ||
		        (strcmp(word, TK_TRIAGE_NEW) && strcmp(word, "acked")))
			continue;
		open++;
		fresh += !strcmp(word, TK_TRIAGE_NEW);
		oldest_s = alert->opened_s < oldest_s ? alert->opened_s : oldest_s;
	}
	tk_value_set_fmt(site->arena, page, "open_alerts", open ? "%zu open alert%s" : "", open,
	        open == 1 ? "" : "s");
	tk_value_set_fmt(
	        site->arena, page, "new_alerts", fresh < open ? "%zu of them new, " : "", fresh);
	tk_value_set(
	        site->arena, page, "oldest_alert", open ? tk_time_format_day(oldest_s, day) : "");
}

int tk_page_write_overview(struct tk_site *site, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_value *page = tk_page_begin(site, "index.html", "Overview", TK_SECTION_OVERVIEW);
	struct tk_arena *a = site->arena;
	char text[TK_FORMAT_SIZE];
	tk_page_set_time(site, page, "made", site->options->now_s);
	struct tk_value *cards = tk_value_set_list(a, page, "machines");
	bool judged = false, compared = false;
	for (size_t i = 0; i < m->series_count; i++)
		compared = compared ||
		           (m->series[i].verdict && isfinite(m->series[i].verdict->before_value));
	for (size_t i = 0; i < m->machine_count; i++)
		judged = judged || m->machines[i].analysed_night;
	for (size_t i = 0; i < m->machine_count; i++) {
		struct tk_value *card = add_machine_card(site, cards, &m->machines[i]);
		tk_value_set_flag(a, card, "unanalysed",
		        judged && m->machines[i].last_night && !m->machines[i].analysed_night);
	}
	tk_value_set_flag(a, page, "analysed", judged && compared);
	bool past = !judged && m->night_count > 1;
	tk_value_set_flag(a, page, "nothing_analysed", m->series_count && past);
	tk_value_set_flag(
	        a, page, "nothing_compared", m->series_count && !past && !(judged && compared));
	tk_value_set(a, page, "series_count", tk_format_count((int64_t)m->series_count, text));
	set_open(site, page);
	int status = set_all_moved(site, page, err);
	if (!status)
		status = tk_page_set_matrix(site, page, NULL, "", err);
	return status ? status : tk_page_finish(site, "overview", "index.html", err);
}
