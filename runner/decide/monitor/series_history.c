/* Replays histories night by night, machine by machine. */
#include "base/base.h"
#include "decide/decide.h"
#include "decide/monitor/monitor.h"

struct series_cursor {
	const struct tk_series_history *history;
	struct tk_alarms *out;
	size_t now; /* points known so far */
};

/* The series of one machine. */
struct machine {
	struct series_cursor *at;
	size_t count;
	struct tk_monitor *monitor;
	struct tk_monitor_point *points; /* of a night */
	struct tk_monitor_events events;
};

static int by_machine(const void *a, const void *b)
{
	const struct series_cursor *x = a, *y = b;
	int order = strcmp(x->history->machine, y->history->machine);

	return order ? order : (x->history > y->history) - (x->history < y->history);
}

/* A name as a number: FNV-1a, cut to what a double holds exactly. */
static int64_t hash_name(const char *name)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * UINT64_C(1099511628211);
	return (int64_t)(h >> 12);
}

static bool next_day(const struct machine *m, int64_t *day)
{
	bool more = false;

	for (size_t i = 0; i < m->count; i++) {
		const struct series_cursor *p = &m->at[i];

		if (p->now == p->history->n)
			continue;
		*day = !more || p->history->day[p->now] < *day ? p->history->day[p->now] : *day;
		more = true;
	}
	return more;
}

static void add_alarm(struct series_cursor *p, const struct tk_monitor_event *e)
{
	struct tk_alarms *out = p->out;

	if (e->kind == TK_MONITOR_RETRACTED)
		out->at[out->count - 1].retracted = p->now - 1;
	if (e->kind != TK_MONITOR_STEP)
		return;
	out->at = tk_realloc(out->at, (out->count + 1) * sizeof *out->at);
	out->at[out->count++] =
	        (struct tk_alarm){p->now - 1, (size_t)e->first, 0, e->before, e->after};
}

static int replay_day(struct machine *m, int64_t day, struct tk_error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < m->count; i++) {
		struct series_cursor *p = &m->at[i];
		const struct tk_series_history *h = p->history;

		for (; p->now < h->n && h->day[p->now] == day; p->now++)
			m->points[count++] = (struct tk_monitor_point){(int64_t)i, h->value[p->now],
			        (int64_t)p->now, day,
			        h->environment ? hash_name(h->environment[p->now]) : 0};
	}
	m->events.count = 0;
	TRY(tk_monitor_add_night(m->monitor, m->points, count, &m->events, err));
	for (size_t i = 0; i < m->events.count; i++)
		add_alarm(&m->at[m->events.at[i].series], &m->events.at[i]);
	return TK_OK;
}

static int replay_machine(
        struct machine *m, const struct tk_detect_options *options, struct tk_error *err)
{
	const struct tk_monitor_options o = {
	        .min_effect = tk_detect_least_effect(options), .fdr = options->fdr};
	size_t points = 0;
	int64_t day = 0;
	int status = TK_OK;

	for (size_t i = 0; i < m->count; i++)
		points += m->at[i].history->n;
	m->points = tk_malloc((points + 1) * sizeof *m->points);
	m->monitor = tk_monitor_new(&o);
	while (!status && next_day(m, &day))
		status = replay_day(m, day, err);
	tk_monitor_free(m->monitor);
	tk_monitor_events_free(&m->events);
	free(m->points);
	return status;
}

int tk_series_history_replay(const struct tk_series_history *series, size_t count,
        const struct tk_detect_options *options, struct tk_alarms *out, struct tk_error *err)
{
	struct series_cursor *p = tk_calloc(count + 1, sizeof *p);
	int status = TK_OK;

	memset(out, 0, count * sizeof *out);
	for (size_t i = 0; i < count; i++)
		p[i] = (struct series_cursor){&series[i], &out[i], 0};
	tk_sort(p, count, sizeof *p, by_machine);
	for (size_t i = 0, next; !status && i < count; i = next) {
		struct machine m = {.at = p + i};

		for (next = i; next < count &&
		               strcmp(p[next].history->machine, p[i].history->machine) == 0;
		        next++)
			;
		m.count = next - i;
		status = replay_machine(&m, options, err);
	}
	free(p);
	return status;
}

void tk_alarms_free(struct tk_alarms *alarms, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(alarms[i].at);
}
