/* The monitor of a machine, night by night: see monitor.h. */
#include "decide/monitor/monitor.h"

#include <math.h>

#include "base/base.h"
#include "decide/monitor/monitor_internal.h"
#include "stats/compare.h"
#include "stats/monitor_internal.h"

#define ENVIRONMENT_LOG_LR 5.0 /* a step is expected where the environment changed */
#define SERIES_PER_PART 16     /* at least: a thread is not worth it for fewer */
#define RETRACTION_NIGHTS 7    /* a series that is back by then has not changed */

struct tk_monitor *tk_monitor_new(const struct tk_monitor_options *options)
{
	struct tk_monitor *m = tk_calloc(1, sizeof *m);

	m->options = *options;
	return m;
}

void tk_monitor_free(struct tk_monitor *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++) {
		free(m->series[i].points);
		free(m->series[i].model);
	}
	free(m->series);
	free(m->index);
	free(m->work);
	free(m);
}

void tk_monitor_events_free(struct tk_monitor_events *e)
{
	free(e->at);
	*e = (struct tk_monitor_events){0};
}

/* ---- series ---- */

struct monitored_series *tk_monitor_find_series(const struct tk_monitor *m, int64_t id)
{
	const size_t i = id >= 0 && (size_t)id < m->index_size ? m->index[id] : 0;

	return i ? &m->series[i - 1] : NULL;
}

static void grow_index(struct tk_monitor *m, int64_t id)
{
	const size_t size = (size_t)id + (size_t)id / 2 + 64;

	if ((size_t)id < m->index_size)
		return;
	m->index = tk_realloc(m->index, size * sizeof *m->index);
	memset(m->index + m->index_size, 0, (size - m->index_size) * sizeof *m->index);
	m->index_size = size;
}

int tk_monitor_add_series(
        struct tk_monitor *m, int64_t id, struct monitored_series **out, struct tk_error *err)
{
	if (id < 0 || id > TK_MONITOR_SERIES_MAX)
		return tk_fail(err, TK_EDATA, "series id %lld is out of range, expected 0 to %lld",
		        (long long)id, (long long)TK_MONITOR_SERIES_MAX);
	if (m->count == m->capacity) {
		m->capacity = m->capacity ? 2 * m->capacity : 64;
		m->series = tk_realloc(m->series, m->capacity * sizeof *m->series);
		m->work = tk_realloc(m->work, 2 * m->capacity * sizeof *m->work);
	}
	grow_index(m, id);
	m->series[m->count] = (struct monitored_series){
	        .id = id, .model = tk_level_monitor_new(m->options.min_effect)};
	*out = &m->series[m->count++];
	m->index[id] = m->count;
	return TK_OK;
}

void tk_monitor_reserve(struct tk_monitor *m, struct monitored_series *s, size_t n)
{
	m->longest = n > m->longest ? n : m->longest;
	if (s->capacity >= n || s->capacity >= WINDOW)
		return;
	s->capacity = 2 * n + 16 < WINDOW ? 2 * n + 16 : WINDOW;
	s->points = tk_realloc(s->points, s->capacity * sizeof *s->points);
}

/* ---- a night ---- */

static bool is_environment_change(const struct tk_monitor *m, const struct monitored_series *s)
{
	const struct tk_monitor_options *o = &m->options;
	const size_t split = s->candidate.split, from = split > 1 ? split - 1 : 1;
	bool changed = false;

	for (size_t i = from; i < s->n && i <= split + 1; i++) {
		const int64_t a = point_at(s, i - 1)->environment, b = point_at(s, i)->environment;

		changed |= a != b && (!o->differ || o->differ(o->context, a, b));
	}
	return changed;
}

static void add_event(struct tk_monitor_events *events, const struct tk_monitor_event *event)
{
	if (events->count == events->capacity) {
		const size_t capacity = events->capacity ? 2 * events->capacity : 16;
		events->at = tk_realloc(events->at, capacity * sizeof *events->at);
		events->capacity = capacity;
	}
	events->at[events->count++] = *event;
}

static struct tk_monitor_event make_event(
        const struct monitored_series *s, enum tk_monitor_event_kind kind)
{
	const struct tk_changepoint_candidate *c = &s->candidate;
	const bool retracted = kind == TK_MONITOR_RETRACTED;

	return (struct tk_monitor_event){.series = s->id,
	        .kind = kind,
	        .first = retracted ? s->alarm_first : point_at(s, c->split)->at,
	        .last_good = retracted ? s->alarm_last_good : point_at(s, c->split - 1)->at,
	        .before = exp(c->before),
	        .after = exp(c->after),
	        .log_lr = c->log_lr,
	        .q = s->q};
}

static enum tk_monitor_event_kind classify(struct monitored_series *s, bool is_level, size_t nights)
{
	if (s->is_machines)
		return TK_MONITOR_MACHINE_STEP;
	if (!is_level && nights <= RETRACTION_NIGHTS && s->alarm_count)
		return TK_MONITOR_RETRACTED;
	s->alarm_count++;
	s->alarm_first = point_at(s, s->candidate.split)->at;
	s->alarm_last_good = point_at(s, s->candidate.split - 1)->at;
	return TK_MONITOR_STEP;
}

/* ---- drift ---- */

/* Adds an accepted step to the drift of its series. A step that is reported by itself, a return and
 * an excursion end it; a step of the machine moves its level too. */
static void add_to_drift(struct monitored_series *s, const struct tk_monitor_event *e, bool lasts)
{
	const struct tk_changepoint_candidate *c = &s->candidate;
	const double change = c->after - c->before;
	struct drift *d = &s->drift;

	if (e->kind == TK_MONITOR_MACHINE_STEP) {
		d->before += change;
	} else if (!lasts || fabs(change) > s->threshold) {
		*d = (struct drift){0};
	} else if (change * d->direction > 0) {
		d->log_lr += c->log_lr;
		d->q = fmax(d->q, s->q);
	} else {
		*d = (struct drift){e->first, e->last_good, c->before, change, c->log_lr, s->q};
	}
}

/* The drift up to this level (NAN: none), if it is to be reported; the next one begins there. */
static bool report_drift(struct monitored_series *s, double level, struct tk_monitor_event *out)
{
	struct drift *d = &s->drift;
	const double change = level - d->before;

	if (!(change * d->direction > 0 && fabs(change) > s->threshold))
		return false;
	*out = (struct tk_monitor_event){.series = s->id,
	        .kind = TK_MONITOR_DRIFT,
	        .first = d->first,
	        .last_good = d->last_good,
	        .before = exp(d->before),
	        .after = exp(level),
	        .log_lr = d->log_lr,
	        .q = d->q};
	*d = (struct drift){.first = point_at(s, s->n - 1)->at,
	        .last_good = point_at(s, s->n - 2)->at,
	        .before = level,
	        .direction = d->direction};
	return true;
}

/* Accepts the candidate step of a series. */
static void accept(struct monitored_series *s, struct tk_monitor_events *events)
{
	const struct tk_changepoint_candidate *c = &s->candidate;
	struct tk_monitor_event event;
	size_t nights;
	bool is_level;

	s->steps[s->step_count++ % REMEMBERED_STEPS] =
	        (struct step){point_at(s, c->split)->day, c->after - c->before};
	is_level = tk_level_monitor_accept(s->model, c, &nights);
	event = make_event(s, classify(s, is_level, nights));
	add_to_drift(s, &event, is_level);
	if (event.kind == TK_MONITOR_STEP)
		report_drift(s, c->after, &event);
	add_event(events, &event);
	s->candidate.newest = NAN; /* a step, if there was one, counts */
}

/* The environment changed where the series steps. */
static bool is_expected(const struct tk_monitor *m, const struct monitored_series *s)
{
	return s->candidate.log_lr > ENVIRONMENT_LOG_LR && is_environment_change(m, s);
}

static bool is_convincing(const struct tk_monitor *m, const struct monitored_series *s)
{
	return s->candidate.log_lr >= TK_MONITOR_LOG_LR_MIN && s->q <= m->options.fdr;
}

/* Accepts the candidates of the night that are convincing, or expected and the machine's. */
static void decide(struct tk_monitor *m, struct tk_monitor_events *events)
{
	struct monitored_series **asked = tk_malloc((m->count + 1) * sizeof(*asked));
	struct tk_monitor_event event;
	size_t count = 0;

	for (size_t i = 0; i < m->count; i++) {
		struct monitored_series *s = &m->series[i];

		s->is_machines = false;
		s->is_expected = s->tonight && is_expected(m, s);
		if (s->is_expected || (s->tonight && is_convincing(m, s)))
			asked[count++] = s;
	}
	if (count)
		tk_monitor_find_machine_steps(m, asked, count);
	for (size_t i = 0; i < count; i++)
		if (asked[i]->is_machines || is_convincing(m, asked[i]))
			accept(asked[i], events);
	free(asked);
	for (size_t i = 0; i < m->count; i++)
		if (m->series[i].tonight &&
		        report_drift(&m->series[i], m->series[i].candidate.newest, &event))
			add_event(events, &event);
}

static bool has_young_series(const struct tk_monitor *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->series[i].tonight && m->series[i].n < TK_YOUNG_NIGHTS_MAX)
			return true;
	return false;
}

static void find_log_variance(struct monitored_series *s)
{
	const size_t n = s->n < TK_NOISE_PRIOR_NIGHTS_MAX ? s->n : TK_NOISE_PRIOR_NIGHTS_MAX;
	double y[TK_NOISE_PRIOR_NIGHTS_MAX];

	if (s->noise_n == s->n)
		return;
	for (size_t i = 0; i < n; i++)
		y[i] = point_at(s, s->n - n + i)->adjusted;
	s->log_variance = tk_noise_log_variance(y, n, &s->noise_df);
	s->noise_n = s->n;
}

/* What the machine's series tell about the noise of a young one. */
static struct tk_noise_prior find_noise_prior(struct tk_monitor *m)
{
	double *log_variance = m->work, *df = m->work + m->count;
	size_t count = 0;

	if (!has_young_series(m))
		return (struct tk_noise_prior){0};
	for (size_t i = 0; i < m->count; i++)
		if (m->series[i].n >= TK_NOISE_PRIOR_NIGHTS_MIN) {
			find_log_variance(&m->series[i]);
			log_variance[count] = m->series[i].log_variance;
			df[count++] = m->series[i].noise_df;
		}
	return tk_noise_prior_estimate(log_variance, df, count);
}

/* The candidates of all series, found by several threads. */
struct search {
	struct tk_monitor *m;
	struct tk_noise_prior prior;
};

/* Memory of a thread: the points of one series as arrays; only what is kept of them is set. */
struct series_memory {
	struct tk_level_monitor_workspace *workspace;
	double *y;
	int64_t *day;
};

static void find_candidate(
        const struct search *f, struct monitored_series *s, const struct series_memory *w)
{
	const struct tk_level_monitor_night night = {.monitor = s->model,
	        .y = w->y,
	        .day = w->day,
	        .n = s->n,
	        .prior = &f->prior,
	        .may_drift = s->drift.direction != 0};

	for (size_t i = first_kept_point(s); i < s->n; i++) {
		w->y[i] = point_at(s, i)->adjusted;
		w->day[i] = point_at(s, i)->day;
	}
	tk_level_monitor_update(&night, w->workspace, &s->candidate);
}

static void find_part(void *arg, int64_t first, int64_t count)
{
	struct search *f = arg;
	const size_t longest = f->m->longest + 1;
	struct series_memory w = {tk_malloc(sizeof(struct tk_level_monitor_workspace)),
	        tk_malloc(longest * sizeof *w.y), tk_malloc(longest * sizeof *w.day)};

	for (int64_t i = first; i < first + count; i++) {
		struct monitored_series *s = &f->m->series[i];
		if (s->tonight)
			find_candidate(f, s, &w);
	}
	free(w.workspace);
	free(w.y);
	free(w.day);
}

/* Candidates of all series of the night, with q over them. */
static void find_candidates(struct tk_monitor *m)
{
	struct search f = {.m = m, .prior = find_noise_prior(m)};
	double *p = m->work, *q = m->work + m->count;

	tk_parallel_for((int64_t)m->count, SERIES_PER_PART, find_part, &f);
	for (size_t i = 0; i < m->count; i++)
		p[i] = m->series[i].tonight
		               ? tk_level_monitor_p_value(m->series[i].candidate.log_lr)
		               : NAN;
	tk_fdr_adjust(p, m->count, q);
	for (size_t i = 0; i < m->count; i++)
		m->series[i].q = q[i];
}

int tk_monitor_add_night(struct tk_monitor *m, const struct tk_monitor_point *points, size_t count,
        struct tk_monitor_events *events, struct tk_error *err)
{
	TRY(tk_monitor_take_points(m, points, count, err));
	find_candidates(m);
	decide(m, events);
	return TK_OK;
}

size_t tk_monitor_find_last_point(
        const struct tk_monitor *m, int64_t series, int64_t *at, double *value)
{
	const struct monitored_series *s = tk_monitor_find_series(m, series);

	if (!s || !s->n)
		return 0;
	*at = point_at(s, s->n - 1)->at;
	*value = exp(point_at(s, s->n - 1)->y);
	return s->n;
}

double tk_monitor_level(const struct tk_monitor *m, int64_t series)
{
	const struct monitored_series *s = tk_monitor_find_series(m, series);

	return s && s->n >= TK_MONITOR_NIGHTS_MIN ? exp(s->model->level) : NAN;
}

/* ---- its state, as numbers: written and read by the same code ---- */

#define NIGHTS_MAX ((size_t)1 << 24) /* more cannot be a state */

static int64_t *column_at(struct monitored_series *s, size_t i, size_t offset)
{
	return (int64_t *)(void *)((char *)point_at(s, i) + offset);
}

/* A column of the points, as runs of equal differences: most nights are a day after the one before,
 * in the same environment. */
static void serialize_column(struct monitored_series *s, size_t offset, struct tk_serializer *io)
{
	int64_t last = 0;

	for (size_t i = first_kept_point(s), count; i < s->n && !io->failed; i += count) {
		int64_t by = io->reading ? 0 : *column_at(s, i, offset) - last;

		for (count = 1; !io->reading && i + count < s->n; count++)
			if (*column_at(s, i + count, offset) -
			                *column_at(s, i + count - 1, offset) !=
			        by)
				break;
		tk_serialize_int(io, &by);
		tk_serialize_size(io, &count, s->n - i);
		io->failed |= !count;
		for (size_t k = 0; !io->failed && k < count; k++)
			*column_at(s, i + k, offset) = last += by;
	}
}

/* Only the adjusted values that differ from the values, each with its number. */
static void serialize_adjusted(struct monitored_series *s, struct tk_serializer *io)
{
	size_t left = 0;

	for (size_t i = first_kept_point(s); i < s->n; i++) {
		left += point_at(s, i)->adjusted != point_at(s, i)->y;
		if (io->reading)
			point_at(s, i)->adjusted = point_at(s, i)->y;
	}
	tk_serialize_size(io, &left, WINDOW);
	for (size_t i = first_kept_point(s); left && i < s->n && !io->failed; i++, left--) {
		while (!io->reading && i + 1 < s->n &&
		        point_at(s, i)->adjusted == point_at(s, i)->y)
			i++;
		tk_serialize_size(io, &i, s->n - 1);
		io->failed |= i < first_kept_point(s);
		if (!io->failed)
			tk_serialize_double(io, &point_at(s, i)->adjusted);
	}
}

static void serialize_points(struct monitored_series *s, struct tk_serializer *io)
{
	for (size_t i = first_kept_point(s); i < s->n; i++)
		tk_serialize_double(io, &point_at(s, i)->y);
	serialize_adjusted(s, io);
	serialize_column(s, offsetof(struct point, at), io);
	serialize_column(s, offsetof(struct point, day), io);
	serialize_column(s, offsetof(struct point, environment), io);
}

static void serialize_steps(struct monitored_series *s, struct tk_serializer *io)
{
	tk_serialize_size(io, &s->step_count, NIGHTS_MAX);
	for (size_t i = first_kept_step(s); i < s->step_count && !io->failed; i++) {
		tk_serialize_int(io, &s->steps[i % REMEMBERED_STEPS].day);
		tk_serialize_double(io, &s->steps[i % REMEMBERED_STEPS].change);
	}
	tk_serialize_size(io, &s->alarm_count, NIGHTS_MAX);
	tk_serialize_int(io, &s->alarm_first);
	tk_serialize_int(io, &s->alarm_last_good);
	tk_serialize_int(io, &s->drift.first);
	tk_serialize_int(io, &s->drift.last_good);
	tk_serialize_double(io, &s->drift.before);
	tk_serialize_double(io, &s->drift.direction);
	tk_serialize_double(io, &s->drift.log_lr);
	tk_serialize_double(io, &s->drift.q);
}

static int serialize_series(
        struct tk_monitor *m, struct monitored_series *s, struct tk_serializer *io)
{
	tk_serialize_size(io, &s->n, NIGHTS_MAX);
	if (io->failed)
		return TK_EDATA;
	if (io->reading)
		tk_monitor_reserve(m, s, s->n);
	if (io->reading && s->points)
		memset(s->points, 0, s->capacity * sizeof *s->points);
	serialize_points(s, io);
	serialize_steps(s, io);
	return io->failed ? TK_EDATA : tk_level_monitor_serialize(s->model, s->n, io);
}

/* Number i of the series: the next one of a state that is read. *out NULL: this is not a state. */
static int find_series(struct tk_monitor *m, size_t i, struct tk_serializer *io,
        struct monitored_series **out, struct tk_error *err)
{
	int64_t id = io->reading ? 0 : m->series[i].id;

	*out = NULL;
	tk_serialize_int(io, &id);
	if (io->failed)
		return TK_OK;
	if (!io->reading)
		*out = &m->series[i];
	else if (!tk_monitor_find_series(m, id))
		return tk_monitor_add_series(m, id, out, err);
	return TK_OK;
}

int tk_monitor_serialize(struct tk_monitor *m, struct tk_serializer *io, struct tk_error *err)
{
	size_t count = m->count;

	tk_serialize_size(io, &count, (size_t)TK_MONITOR_SERIES_MAX);
	for (size_t i = 0; !io->failed && i < count; i++) {
		struct monitored_series *s;

		TRY(find_series(m, i, io, &s, err));
		io->failed |= !s || serialize_series(m, s, io);
	}
	if (io->failed || (io->reading && count && io->next != io->count))
		return tk_fail(err, TK_EDATA, "the stored state of the monitor is damaged");
	return TK_OK;
}
