/* index.html: how the last night went, what moved, where to go on. Never a list of everything. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "problem/outcome.h"
#include "site_gen/format.h"
#include "site_gen/page.h"

#define MOVED_MAX 12
#define STALE_S (36 * 3600)

/* ---- the last night of each machine ------------------------------------------------------------------------------ */

static void set_verdict_counts(struct tk_site *site, struct tk_value *card, const struct tk_site_machine *machine)
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
			counts[used].rank = tk_rank_of_verdict(word);
			counts[used++].count = 0;
		}
		if (c < used)
			counts[c].count++;
	}
	struct tk_value *list = tk_set_list(site->arena, card, "counts");
	for (int rank = 0; rank < 64; rank++)
		for (size_t c = 0; c < used; c++) {
			if (counts[c].rank != rank)
				continue;
			struct tk_value *o = tk_add_object(site->arena, list);
			tk_set_int(site->arena, o, "count", (int64_t)counts[c].count);
			tk_set_clipped(site, o, "word", counts[c].word, 30);
			tk_set(site->arena, o, "tone", tk_tone_of_verdict(counts[c].word));
		}
}

/* Also a run that failed is a run; a measurement has a timing. */
static int64_t count_timed(const struct tk_site_machine *machine)
{
	int64_t timed = 0;
	for (size_t i = 0; i < machine->runs.count; i++) {
		enum tk_outcome o;
		timed += tk_outcome_parse(TK_ROWS_AT(&machine->runs, struct tk_run_row, i)->outcome, &o) == TK_OK &&
		         tk_outcome_counts(o);
	}
	return timed;
}

static size_t count_failures(const struct tk_model *m, const struct tk_site_machine *machine)
{
	size_t failures = 0;
	for (size_t i = 0; i < m->series_count; i++)
		failures += m->series[i].failure && m->series[i].device->machine == machine &&
		            !tk_series_is_unsupported(&m->series[i]);
	return failures;
}

static void add_machine_card(struct tk_site *site, struct tk_value *list, const struct tk_site_machine *machine)
{
	struct tk_arena *a = site->arena;
	const struct tk_night_row *night = machine->last_night;
	struct tk_value *card = tk_add_object(a, list);
	char text[64];
	tk_set_clipped(site, card, "machine", machine->row->name, 60);
	tk_set_fmt(a, card, "machine_href", "machines/%s.html", machine->file);
	bool stale = night && site->options->now_s - night->as_of_s > STALE_S;
	const char *state = !night ? "never" : stale ? "stale" : night->status;
	tk_set(a, card, "state", state);
	tk_set(a, card, "tone", tk_tone_of_state(state));
	tk_set_flag(a, card, "stale", stale);
	tk_set_flag(a, card, "has_night", night != NULL);
	set_verdict_counts(site, card, machine);
	if (!night)
		return;
	const struct tk_site_night *page = tk_model_night(&site->model, night->id);
	tk_set_fmt(a, card, "night_href", page && page->file ? "nights/%s.html" : "nights/index.html",
	        page ? page->file : "");
	tk_set_time(site, card, "night", night->as_of_s);
	tk_set(a, card, "took",
	        night->finished_s ? tk_duration_text((double)(night->finished_s - night->started_s), text, sizeof text)
	                          : "not finished");
	size_t failures = count_failures(&site->model, machine);
	tk_set_int(a, card, "runs", count_timed(machine));
	tk_set_int(a, card, "failures", (int64_t)failures);
	tk_set_flag(a, card, "failed", failures > 0);
}

/* ---- what moved ---------------------------------------------------------------------------------------------------
 */

static int moved_order(const void *a, const void *b)
{
	const struct tk_site_series *x = *(const struct tk_site_series *const *)a,
	                            *y = *(const struct tk_site_series *const *)b;
	int rx = tk_rank_of_verdict(x->verdict->status), ry = tk_rank_of_verdict(y->verdict->status);
	if (rx != ry)
		return rx - ry;
	double cx = isfinite(x->verdict->change) ? fabs(x->verdict->change) : 0,
	       cy = isfinite(y->verdict->change) ? fabs(y->verdict->change) : 0;
	if (cx != cy)
		return cx < cy ? 1 : -1;
	return x < y ? -1 : x > y;
}

static void add_moved(struct tk_site *site, struct tk_value *list, const struct tk_site_series *s)
{
	struct tk_arena *a = site->arena;
	struct tk_value *o = tk_add_object(a, list);
	const struct tk_verdict_row *v = s->verdict;
	const struct tk_revision_row *good, *bad;
	char text[TK_FORMAT_SIZE];
	bool numbers = isfinite(v->before_value) && isfinite(v->after_value);
	tk_set_series(site, o, s, "");
	tk_set_sparkline(site, o, s);
	tk_set_flag(a, o, "numbers", numbers);
	tk_set(a, o, "before", tk_format_value(v->before_value, s->row->unit, text));
	tk_set(a, o, "after", tk_format_value(v->after_value, s->row->unit, text));
	tk_set_clipped(site, o, "reason", v->reason, 160);
	tk_series_moved_between(site, s, &good, &bad);
	tk_set_range(site, o, good, bad);
}

/* The series of one tone, most severe first; the list is cut, `key`_more says by how much. */
static void set_moved(struct tk_site *site, struct tk_value *page, const char *tone, const char *key,
        const char *key_more, const struct tk_site_series **moved)
{
	size_t count = 0;
	for (size_t i = 0; i < site->model.series_count; i++) {
		const struct tk_site_series *s = &site->model.series[i];
		if (s->verdict && !strcmp(tk_tone_of_verdict(s->verdict->status), tone) && !tk_series_is_unsupported(s))
			moved[count++] = s;
	}
	qsort(moved, count, sizeof *moved, moved_order);
	struct tk_value *list = tk_set_list(site->arena, page, key);
	for (size_t i = 0; i < count && i < MOVED_MAX; i++)
		add_moved(site, list, moved[i]);
	tk_set_int(site->arena, page, key_more, count > MOVED_MAX ? (int64_t)(count - MOVED_MAX) : 0);
	tk_set_flag(site->arena, page,
	        !strcmp(tone, "bad")    ? "worse_cut"
	        : !strcmp(tone, "good") ? "better_cut"
	                                : "look_cut",
	        count > MOVED_MAX);
}

static int set_all_moved(struct tk_site *site, struct tk_value *page, struct tk_error *err)
{
	const struct tk_site_series **moved = malloc((site->model.series_count + 1) * sizeof *moved);
	if (!moved)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	set_moved(site, page, "bad", "worse", "worse_more", moved);
	set_moved(site, page, "good", "better", "better_more", moved);
	set_moved(site, page, "note", "look", "look_more", moved);
	free(moved);
	return 0;
}

int tk_page_overview(struct tk_site *site, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_value *page = tk_page_begin(site, "index.html", "Overview", TK_SECTION_OVERVIEW);
	struct tk_arena *a = site->arena;
	char text[TK_FORMAT_SIZE];
	tk_set_time(site, page, "made", site->options->now_s);
	struct tk_value *cards = tk_set_list(a, page, "machines");
	bool judged = false, compared = false;
	for (size_t i = 0; i < m->series_count; i++)
		compared = compared || (m->series[i].verdict && isfinite(m->series[i].verdict->before_value));
	for (size_t i = 0; i < m->machine_count; i++) {
		add_machine_card(site, cards, &m->machines[i]);
		judged = judged || m->machines[i].judged_night;
	}
	tk_set_flag(a, page, "judged", judged && compared);
	bool past = !judged && m->night_count > 1; /* what a night of the tracker measures itself is judged */
	tk_set_flag(a, page, "nothing_judged", m->series_count && past);
	tk_set_flag(a, page, "nothing_compared", m->series_count && !past && !(judged && compared));
	tk_set(a, page, "series_count", tk_format_count((int64_t)m->series_count, text));
	int status = set_all_moved(site, page, err);
	tk_set_matrix(site, page, "");
	return status ? status : tk_page_end(site, "overview", "index.html", err);
}
