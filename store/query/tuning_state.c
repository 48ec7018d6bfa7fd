/* See tuning_state.h. */
#include "store/tuning_state.h"
#include "base/error.h"
#include "core/metric.h"
#include "core/upstream_kind.h"
#include <jansson.h>
#include <string.h>

static bool is_built(const struct tk_upstream_row *u)
{
	enum tk_upstream_kind kind;
	return tk_upstream_kind_parse(u->kind, &kind) || tk_upstream_kind_is_built(kind);
}

bool tk_tuning_matches(const struct tk_tuning_row *t, const struct tk_series_row *series,
        const struct tk_upstream_row *upstream)
{
	return t->device_id == series->device_id && t->problem_id == series->problem_id &&
	       strcmp(t->backend, series->backend) == 0 &&
	       (*t->upstream ? strcmp(t->upstream, upstream->name) == 0 : !is_built(upstream));
}

int tk_tuning_history_load(struct tk_store *s, struct tk_tuning_history *out, struct tk_error *err)
{
	const struct {
		enum tk_table_id id;
		struct tk_id_table *table;
	} tables[] = {
	        {TK_TABLE_upstream, &out->upstreams},
	        {TK_TABLE_revision, &out->revisions},
	        {TK_TABLE_build, &out->builds},
	        {TK_TABLE_environment, &out->environments},
	        {TK_TABLE_series, &out->series},
	};
	int status = TK_OK;
	*out = (struct tk_tuning_history){.store = s};
	for (size_t i = 0; !status && i < sizeof tables / sizeof *tables; i++)
		status = tk_id_table_load(tables[i].table, s, tables[i].id, err);
	return status;
}

void tk_tuning_history_free(struct tk_tuning_history *h)
{
	tk_id_table_free(&h->upstreams);
	tk_id_table_free(&h->revisions);
	tk_id_table_free(&h->builds);
	tk_id_table_free(&h->environments);
	tk_id_table_free(&h->series);
}

/* "": not known. The caller frees *attributes, which owns the text. */
static const char *read_driver(
        const struct tk_tuning_history *h, int64_t environment_id, json_t **attributes)
{
	const struct tk_environment_row *e = tk_id_table_find(&h->environments, environment_id);
	*attributes = e ? json_loads(e->attributes, 0, NULL) : NULL;
	const char *driver = json_string_value(json_object_get(*attributes, "driver"));
	return driver ? driver : "";
}

static bool is_same_driver(const struct tk_tuning_history *h, int64_t a, int64_t b)
{
	json_t *of_a, *of_b;
	const char *x = read_driver(h, a, &of_a), *y = read_driver(h, b, &of_b);
	bool is_same = !*x || !*y || strcmp(x, y) == 0;
	json_decref(of_a);
	json_decref(of_b);
	return is_same;
}

/* The builds of two points of the problem, 0: none. */
struct runs {
	struct tk_point newest;
	struct tk_point before; /* the newest one that is older than the tuning */
};

static const char *find_revision(
        const struct tk_tuning_history *h, const struct tk_build_row *build)
{
	const struct tk_revision_row *r =
	        build ? tk_id_table_find(&h->revisions, build->revision_id) : NULL;
	return r ? r->rev : "";
}

/* A result of a backend without an upstream has the hash of its file instead of a revision. Where
 * that only loads an installed library, the revision of the night before tells which. */
static bool is_same_revision(
        const struct tk_tuning_history *h, const struct tk_tuning_row *t, const struct runs *runs)
{
	const struct tk_build_row *newest = tk_id_table_find(&h->builds, runs->newest.build_id),
	                          *before = tk_id_table_find(&h->builds, runs->before.build_id);
	if (!newest)
		return true;
	if (*t->upstream)
		return strcmp(find_revision(h, newest), t->revision) == 0;
	return strcmp(newest->artifact_key, t->artifact_key) == 0 &&
	       (!before || strcmp(find_revision(h, newest), find_revision(h, before)) == 0);
}

static void keep_newer(const struct tk_point *p, struct tk_point *out)
{
	if (!out->series_id || p->as_of_s > out->as_of_s)
		*out = *p;
}

static int read_runs(const struct tk_tuning_history *h, const struct tk_tuning_row *t,
        int64_t series_id, struct runs *out, struct tk_error *err)
{
	struct tk_rows points = {0};
	size_t last = *t->upstream ? 1 : 0; /* `before` is not needed then */
	int status = tk_store_list_points(h->store, series_id, INT64_MIN, last, &points, err);
	for (size_t i = 0; !status && i < points.count; i++) {
		const struct tk_point *p = TK_ROWS_AT(&points, struct tk_point, i);
		keep_newer(p, &out->newest);
		if (p->as_of_s <= t->started_s)
			keep_newer(p, &out->before);
	}
	tk_rows_free(&points);
	return status;
}

int tk_tuning_state(const struct tk_tuning_history *h, const struct tk_tuning_row *tuning,
        enum tk_tune_state *out, struct tk_error *err)
{
	struct runs runs = {0};
	int status = TK_OK;
	for (size_t i = 0; !status && i < h->series.rows.count; i++) {
		const struct tk_series_row *s =
		        TK_ROWS_AT(&h->series.rows, struct tk_series_row, i);
		if (s->device_id != tuning->device_id || s->problem_id != tuning->problem_id)
			continue;
		const struct tk_upstream_row *u = tk_id_table_find(&h->upstreams, s->upstream_id);
		if (u && tk_metric_from_name(s->metric) == TK_METRIC_TIME &&
		        tk_tuning_matches(tuning, s, u))
			status = read_runs(h, tuning, s->id, &runs, err);
	}
	if (status)
		return status;
	if (!runs.newest.series_id)
		*out = TK_TUNE_STATE_UNKNOWN;
	else if (!is_same_revision(h, tuning, &runs))
		*out = TK_TUNE_STATE_NEW_REVISION;
	else if (!is_same_driver(h, tuning->environment_id, runs.newest.environment_id))
		*out = TK_TUNE_STATE_NEW_DRIVER;
	else
		*out = TK_TUNE_STATE_CURRENT;
	return TK_OK;
}
