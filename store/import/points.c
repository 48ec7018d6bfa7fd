/* Points are collected, sorted by series and time, and written in the order of their table:
 * millions of them in a bounded memory. */
#include "store/import/sink.h"
#include <math.h>

#define SPOOL_POINTS ((size_t)1 << 20)

static int point_order(const void *a, const void *b)
{
	const struct tk_point *x = &((const struct import_point *)a)->point,
	                      *y = &((const struct import_point *)b)->point;

	if (x->series_id != y->series_id)
		return x->series_id < y->series_id ? -1 : 1;
	if (x->as_of_s != y->as_of_s)
		return x->as_of_s < y->as_of_s ? -1 : 1;
	return x->run_id < y->run_id ? -1 : x->run_id > y->run_id;
}

/* A stored value is kept; different values are counted. */
static int compare_point(struct tk_import_sink *s, const struct tk_point *p, struct tk_error *err)
{
	sqlite3_stmt *stmt;

	TRY(tk_db_prepare_args(s->store,
	        "SELECT value, (SELECT slug FROM series WHERE id=series_id),"
	        " (SELECT rev FROM build JOIN revision ON revision.id=revision_id"
	        "  WHERE build.id=build_id) FROM measurement"
	        " WHERE series_id=?1 AND as_of_s=?2 AND run_id=?3 AND value<>?4",
	        TK_ARGS(p->series_id, p->as_of_s, p->run_id, p->value), &stmt, err));
	int code = sqlite3_step(stmt);

	if (code == SQLITE_ROW && !s->counts.differing++)
		snprintf(s->counts.first_differing, sizeof(s->counts.first_differing),
		        "%s at %.12s: %g is stored, %g was read",
		        (const char *)sqlite3_column_text(stmt, 1),
		        (const char *)sqlite3_column_text(stmt, 2), sqlite3_column_double(stmt, 0),
		        p->value);
	sqlite3_reset(stmt);
	return code == SQLITE_ROW || code == SQLITE_DONE
	               ? 0
	               : tk_db_fail(s->store, code, err, "cannot look at a point");
}

static int insert_point(struct tk_import_sink *s, const struct tk_point *p, struct tk_error *err)
{
	TRY(tk_row_put(s->store, TK_TABLE_measurement, p, NULL, NULL, err));
	const int added = sqlite3_changes(s->store->db);

	s->counts.points += added;
	return added ? 0 : compare_point(s, p, err);
}

/* Samples first, in ascending order. */
static int statistic_order(const void *a, const void *b)
{
	const struct import_point *x = a, *y = b;

	if (x->statistic != y->statistic)
		return x->statistic < y->statistic ? -1 : 1;
	return x->point.value < y->point.value ? -1 : x->point.value > y->point.value;
}

static double quantile(const struct import_point *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	return i + 1 < n ? sorted[i].point.value + (at - (double)i) * (sorted[i + 1].point.value -
	                                                                      sorted[i].point.value)
	                 : sorted[n - 1].point.value;
}

static struct tk_point fold_samples(const struct import_point *p, size_t n)
{
	struct tk_point one = p->point;

	one.value = quantile(p, n, 0.5);
	one.min = p->point.value;
	one.q25 = quantile(p, n, 0.25);
	one.q75 = quantile(p, n, 0.75);
	one.p95 = quantile(p, n, 0.95);
	one.lo = one.hi = NAN;
	one.n = (int64_t)n;
	return one;
}

/* A statistic of its own belongs to the value: the median of the samples, else the median that the
 * file states, else its mean, else what there is. */
static struct tk_point fold_one(struct import_point *p, size_t n)
{
	size_t samples = 0;

	tk_sort(p, n, sizeof(*p), statistic_order);
	while (samples < n && p[samples].statistic == p->statistic)
		samples++;
	struct tk_point one = samples > 1 ? fold_samples(p, samples) : p->point;

	for (size_t i = samples; i < n; i++) {
		double *const fields[] = {[MIN] = &one.min,
		        [LO] = &one.lo,
		        [HI] = &one.hi,
		        [Q25] = &one.q25,
		        [Q75] = &one.q75,
		        [P95] = &one.p95};

		if (p[i].statistic == COUNT)
			one.n = (int64_t)p[i].point.value;
		else if (p[i].statistic >= MIN)
			*fields[p[i].statistic] = p[i].point.value;
	}
	return one;
}

/* Several values of one series in one run are repetitions: one point. Returns how many points are
 * left. */
static size_t fold(struct import_point *p, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0, n; i < count; i += n) {
		for (n = 1; i + n < count && !point_order(&p[i], &p[i + n]); n++)
			;
		p[kept].point = n > 1 ? fold_one(&p[i], n) : p[i].point;
		kept++;
	}
	return kept;
}

/* Writes the points whose run is known and keeps the others. */
int tk_import_flush(struct tk_import_sink *s, struct tk_error *err)
{
	struct tk_import_state *st = s->state;
	size_t ready = st->point_count - st->pending;

	if (!ready)
		return 0;
	for (size_t i = 0; i < ready; i++) {
		struct tk_point *p = &st->points[i].point;
		const struct import_run *run = st->runs[p->run_id - 1];

		p->run_id = run->run_id;
		p->as_of_s = run->as_of_s;
		p->night_id = run->night_id;
		p->build_id = run->build_id;
		p->environment_id = run->place.environment_id;
	}
	tk_sort(st->points, ready, sizeof(*st->points), point_order);
	int status = 0;

	s->store->known_uids = tk_calloc(TK_TABLE_COUNT, sizeof(*s->store->known_uids));
	for (size_t i = 0, left = fold(st->points, ready); i < left && !status; i++)
		status = insert_point(s, &st->points[i].point, err);
	free(s->store->known_uids);
	s->store->known_uids = NULL;
	TRY(status);
	memmove(st->points, st->points + ready, st->pending * sizeof(*st->points));
	st->point_count = st->pending;
	return 0;
}

int tk_import_add_point(
        struct tk_import_sink *s, const struct import_point *p, struct tk_error *err)
{
	struct tk_import_state *st = s->state;

	if (st->point_count >= SPOOL_POINTS && st->point_count > st->pending)
		TRY(tk_import_flush(s, err));
	if (st->point_count == st->point_cap) {
		st->point_cap = st->point_cap ? st->point_cap * 2 : 4096;
		st->points = tk_reallocarray(st->points, st->point_cap, sizeof(*st->points));
	}
	st->points[st->point_count++] = *p;
	st->pending++;
	return 0;
}
