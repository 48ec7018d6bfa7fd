/* From foreign points to rows. Each file, or each commit of it, is a night of kind `import` with
 * one run that holds all its points. Points are collected, sorted by series and time, and written
 * in the order of their table: millions of them in a bounded memory. */
#include "core/vocabulary.h"
#include "store/import/import.h"
#include <math.h>
#include <search.h>

#define SPOOL_POINTS ((size_t)1 << 20)
#define NAME_MAX_BYTES 4096

struct series_entry {
	char *key; /* device, upstream and what the file says of the series */
	int64_t id;
	struct series_entry *next; /* that of the point that followed last time */
};

struct run_ids {
	int64_t night_id, build_id, environment_id, run_id, as_of_s;
};

struct tk_import_state {
	int64_t machine_id, device_id, upstream_id, environment_id;
	void *series;              /* tsearch: struct series_entry */
	struct series_entry *last; /* of the point before */
	struct run_ids *runs;
	size_t run_count, run_cap;
	struct tk_point *points; /* run_id: the number of the run + 1; 0: the run that is to come */
	size_t point_count, point_cap, pending;
	int64_t results_of_runs; /* results when the last run was made */
	struct tk_buf key;
};

void tk_import_sink_open(struct tk_import_sink *s)
{
	s->state = tk_calloc(1, sizeof(*s->state));
}

static void free_entry(void *entry)
{
	free(((struct series_entry *)entry)->key);
	free(entry);
}

void tk_import_sink_close(struct tk_import_sink *s)
{
	free(s->benchmarks_path);
	json_decref(s->benchmarks);
	if (!s->state)
		return;
	tdestroy(s->state->series, free_entry);
	free(s->state->runs);
	free(s->state->points);
	tk_buf_free(&s->state->key);
	free(s->state);
	s->state = NULL;
}

/* ---- where and what -------------------------------------------------------------------------- */

static const char *or_else(const char *text, const char *otherwise)
{
	return text && *text ? text : otherwise;
}

int tk_import_place(struct tk_import_sink *s, const struct tk_import_row *p, struct tk_error *err)
{
	struct tk_import_state *st = s->state;
	const char *device_name = or_else(p->device, "unknown");
	struct tk_machine_row machine = {
	        .name = or_else(s->request->machine, or_else(p->machine, "imported")),
	        .attributes = or_else(p->machine_attributes, "{}")};
	struct tk_device_row device = {.kind = "imported",
	        .name = device_name,
	        .arch = or_else(p->arch, ""),
	        .slug = device_name};
	struct tk_environment_row environment = {.attributes = "{}"};
	struct tk_upstream_row upstream = {
	        .name = or_else(s->request->upstream, or_else(p->upstream, "imported")),
	        .kind = "import",
	        .url = or_else(p->url, "")};

	TRY(tk_store_put(s->store, TK_TABLE_machine, &machine, &st->machine_id, err));
	device.machine_id = st->machine_id;
	TRY(tk_store_put(s->store, TK_TABLE_device, &device, &st->device_id, err));
	environment.device_id = st->device_id;
	TRY(tk_store_put(s->store, TK_TABLE_environment, &environment, &st->environment_id, err));
	return tk_store_put(s->store, TK_TABLE_upstream, &upstream, &st->upstream_id, err);
}

/* ---- series ---------------------------------------------------------------------------------- */

static int entry_order(const void *a, const void *b)
{
	return strcmp(((const struct series_entry *)a)->key, ((const struct series_entry *)b)->key);
}

static int put_series(struct tk_import_sink *s, const struct tk_import_row *p, const char *metric,
        const struct tk_import_unit *u, int64_t *id, struct tk_error *err)
{
	AUTO_TEXT text = tk_sprintf("foreign:name=%s", p->name);
	const struct tk_problem_row problem = {.text = text,
	        .op = "foreign",
	        .dtype = or_else(p->dtype, ""),
	        .title = p->name,
	        .source = s->format,
	        .family = or_else(p->family, "")};
	struct tk_series_row row = {.device_id = s->state->device_id,
	        .upstream_id = s->state->upstream_id,
	        .backend = or_else(p->backend, s->format),
	        .config = or_else(p->config, ""),
	        .mode = "imported",
	        .metric = metric,
	        .unit = u->unit,
	        .role = TK_ROLE_SUITE};
	int64_t before;

	row.better = u->better == TK_BETTER_UNKNOWN ? TK_BETTER_LOWER : u->better;
	if ((p->better && tk_better_parse(p->better, &row.better)) ||
	        (s->request->better && tk_better_parse(s->request->better, &row.better)))
		return tk_fail(err, TK_EDATA, "neither \"lower\" nor \"higher\" is better");
	TRY(tk_store_put(s->store, TK_TABLE_problem, &problem, &row.problem_id, err));
	TRY(tk_store_select_int(
	        s->store, "SELECT max(id) FROM series", TK_NO_ARGS, 0, &before, err));
	TRY(tk_store_put(s->store, TK_TABLE_series, &row, id, err));
	s->counts.series += *id > before;
	return 0;
}

/* The series of a point. */
static int find_series(struct tk_import_sink *s, const struct tk_import_row *p, const char *metric,
        const struct tk_import_unit *u, int64_t *id, struct tk_error *err)
{
	struct tk_import_state *st = s->state;
	const char *const parts[] = {
	        p->name, or_else(p->backend, ""), or_else(p->config, ""), metric};

	tk_buf_clear(&st->key);
	tk_buf_add_printf(
	        &st->key, "%lld %lld", (long long)st->device_id, (long long)st->upstream_id);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		tk_buf_add_char(&st->key, '\x1f');
		tk_buf_add_str(&st->key, parts[i]);
	}
	const struct series_entry wanted = {.key = st->key.data};
	struct series_entry **found, *entry = st->last ? st->last->next : NULL;

	/* Files list their series in the same order mostly. */
	if (entry && !strcmp(entry->key, st->key.data)) {
		;
	} else if ((found = tfind(&wanted, &st->series, entry_order))) {
		entry = *found;
	} else {
		TRY(put_series(s, p, metric, u, id, err));
		entry = tk_calloc(1, sizeof(*entry));
		entry->key = tk_strdup(st->key.data);
		entry->id = *id;
		tk_check_memory(tsearch(entry, &st->series, entry_order));
	}
	if (st->last)
		st->last->next = entry;
	st->last = entry;
	*id = entry->id;
	return 0;
}

/* ---- points ---------------------------------------------------------------------------------- */

static int point_order(const void *a, const void *b)
{
	const struct tk_point *x = a, *y = b;

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

static int value_order(const void *a, const void *b)
{
	double x = ((const struct tk_point *)a)->value, y = ((const struct tk_point *)b)->value;

	return x < y ? -1 : x > y;
}

static double quantile(const struct tk_point *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	return i + 1 < n ? sorted[i].value +
	                           (at - (double)i) * (sorted[i + 1].value - sorted[i].value)
	                 : sorted[n - 1].value;
}

/* Several values of one series in one run are repetitions: one point, their median. Returns how
 * many points are left. */
static size_t fold(struct tk_point *p, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0, n; i < count; i += n) {
		for (n = 1; i + n < count && !point_order(&p[i], &p[i + n]); n++)
			;
		struct tk_point one = p[i];

		if (n > 1) {
			tk_sort(&p[i], n, sizeof(*p), value_order);
			one.value = quantile(&p[i], n, 0.5);
			one.min = p[i].value;
			one.q25 = quantile(&p[i], n, 0.25);
			one.q75 = quantile(&p[i], n, 0.75);
			one.p95 = quantile(&p[i], n, 0.95);
			one.lo = one.hi = NAN;
			one.n = (int64_t)n;
		}
		p[kept++] = one;
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
		struct tk_point *p = &st->points[i];
		const struct run_ids *run = &st->runs[p->run_id - 1];

		p->run_id = run->run_id;
		p->as_of_s = run->as_of_s;
		p->night_id = run->night_id;
		p->build_id = run->build_id;
		p->environment_id = run->environment_id;
	}
	tk_sort(st->points, ready, sizeof(*st->points), point_order);
	int status = 0;

	s->store->known_uids = tk_calloc(TK_TABLE_COUNT, sizeof(*s->store->known_uids));
	for (size_t i = 0, left = fold(st->points, ready); i < left && !status; i++)
		status = insert_point(s, &st->points[i], err);
	free(s->store->known_uids);
	s->store->known_uids = NULL;
	TRY(status);
	memmove(st->points, st->points + ready, st->pending * sizeof(*st->points));
	st->point_count = st->pending;
	return 0;
}

static int add_point(struct tk_import_sink *s, const struct tk_point *p, struct tk_error *err)
{
	struct tk_import_state *st = s->state;

	if (st->point_count >= SPOOL_POINTS && st->point_count > st->pending)
		TRY(tk_import_flush(s, err));
	if (st->point_count == st->point_cap) {
		st->point_cap = st->point_cap ? st->point_cap * 2 : 4096;
		st->points = tk_reallocarray(st->points, st->point_cap, sizeof(*st->points));
	}
	st->points[st->point_count++] = *p;
	return 0;
}

static void count_missing(struct tk_import_sink *s, const char *name)
{
	char *first = s->counts.first_without_value;

	s->results++;
	if (!s->counts.without_value++)
		snprintf(
		        first, sizeof s->counts.first_without_value, "%s: %s", s->file->path, name);
}

int tk_import_point(struct tk_import_sink *s, const struct tk_import_row *p, struct tk_error *err)
{
	struct tk_import_state *st = s->state;
	struct tk_import_unit u = tk_import_unit(p->unit ? p->unit : "");
	const char *metric = or_else(p->metric, u.metric);
	double f = u.factor;
	struct tk_point row = {.value = p->value * f,
	        .lo = p->lo * f,
	        .hi = p->hi * f,
	        .min = p->min * f,
	        .q25 = p->q25 * f,
	        .q75 = p->q75 * f,
	        .p95 = p->p95 * f,
	        .n = p->n > 0 ? p->n : 1};

	/* A measured time is positive; 0 is what a harness writes for none. */
	bool is_impossible = tk_metric_from_name(metric) == TK_METRIC_TIME &&
	                     tk_metric_from_name(u.metric) == TK_METRIC_TIME && row.value <= 0;

	if (!isfinite(row.value) || is_impossible) {
		count_missing(s, p->name);
		return 0;
	}
	if (strlen(p->name) > NAME_MAX_BYTES)
		return tk_fail(err, TK_EDATA, "%s: the name of a series is longer than %d bytes",
		        s->file->path, NAME_MAX_BYTES);
	s->results++;
	TRY(find_series(s, p, metric, &u, &row.series_id, err));
	TRY(add_point(s, &row, err));
	st->pending++;
	return 0;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* A file without a commit is a revision of its own, named by its time. */
static int put_build(struct tk_import_sink *s, const struct tk_import_row *c, int64_t time_s,
        int64_t *id, struct tk_error *err)
{
	char time[TK_TIME_ISO_SIZE];
	struct tk_revision_row revision = {.upstream_id = s->state->upstream_id,
	        .rev = or_else(c->rev, tk_time_format_iso(time_s, time)),
	        .parent = "",
	        .author_time_s = time_s,
	        .commit_time_s = time_s,
	        .author = or_else(c->author, ""),
	        .subject = or_else(c->subject, "")};
	struct tk_build_row build = {.artifact_key = "imported",
	        .adapter = s->format,
	        .status = TK_BUILD_OK,
	        .built_s = time_s};

	TRY(tk_store_put(s->store, TK_TABLE_revision, &revision, &build.revision_id, err));
	return tk_store_put(s->store, TK_TABLE_build, &build, id, err);
}

static int put_rows(struct tk_import_sink *s, const struct tk_import_row *c, int64_t time_s,
        const char *attributes, struct run_ids *ids, struct tk_error *err)
{
	struct tk_night_row night = {.machine_id = s->state->machine_id,
	        .kind = TK_NIGHT_IMPORT,
	        .as_of_s = time_s,
	        .started_s = time_s,
	        .finished_s = time_s ? time_s : 1,
	        .status = TK_NIGHT_COMPLETE,
	        .config_hash = "",
	        .tracker_version = "",
	        .summary = "{}"};
	struct tk_run_row run = {.environment_id = s->state->environment_id,
	        .as_of_s = time_s,
	        .started_s = time_s,
	        .outcome = TK_OUTCOME_OK,
	        .message = "",
	        .attributes = attributes};
	bool fresh;

	TRY(put_build(s, c, time_s, &run.build_id, err));
	TRY(tk_row_put(s->store, TK_TABLE_night, &night, &run.night_id, &fresh, err));
	s->counts.nights += fresh;
	*ids = (struct run_ids){run.night_id, run.build_id, run.environment_id, 0, time_s};
	return tk_row_put(s->store, TK_TABLE_run, &run, &ids->run_id, NULL, err);
}

int tk_import_add_run(struct tk_import_sink *s, const struct tk_import_row *c,
        const json_t *attributes, struct tk_error *err)
{
	struct tk_import_state *st = s->state;
	char time[TK_TIME_ISO_SIZE];

	if (s->results == st->results_of_runs)
		return 0;
	const int64_t time_s = c->time_s == INT64_MIN ? tk_import_get_file_time(s) : c->time_s;

	if (time_s < TK_TIME_MIN_S || time_s >= TK_TIME_END_S)
		return tk_fail(err, TK_EDATA, "%s: the time %s is not between 1970 and 2200",
		        s->file->path, tk_time_format_iso(time_s, time));
	st->results_of_runs = s->results;

	AUTO_TEXT text = json_dumps(attributes, JSON_COMPACT | JSON_SORT_KEYS);
	struct run_ids ids;

	TRY(put_rows(s, c, time_s, tk_check_memory(text), &ids, err));
	if (st->run_count == st->run_cap) {
		st->run_cap = st->run_cap ? st->run_cap * 2 : 64;
		st->runs = tk_reallocarray(st->runs, st->run_cap, sizeof(*st->runs));
	}
	st->runs[st->run_count++] = ids;
	for (; st->pending; st->pending--)
		st->points[st->point_count - st->pending].run_id = (int64_t)st->run_count;
	return 0;
}
