/* A history with known runs and points, for the tests of store/query/. */
#ifndef TK_TEST_QUERY_RIG_H
#define TK_TEST_QUERY_RIG_H
#include "history.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A run of a series in a night of h with an outcome, and the point of an OK one. */
struct query_run {
	int64_t series_id, build_id, environment_id,
	        as_of_s; /* 0: those of h; as_of_s: 1000 + seq */
	enum tk_outcome outcome;
	double value;
};
static inline int64_t query_put_run(struct history *h, int64_t seq, struct query_run run)
{
	struct tk_run_row row = {.night_id = h->night,
	        .seq = seq,
	        .series_id = run.series_id ? run.series_id : h->series,
	        .build_id = run.build_id ? run.build_id : h->build,
	        .environment_id = run.environment_id ? run.environment_id : h->environment,
	        .as_of_s = run.as_of_s ? run.as_of_s : 1000 + seq,
	        .started_s = 2000 + seq,
	        .outcome = run.outcome,
	        .message = "why",
	        .attributes = "{}"};
	struct tk_point point = {.series_id = row.series_id,
	        .value = run.value,
	        .lo = NAN,
	        .hi = run.value + 1,
	        .min = run.value - 2,
	        .q25 = run.value - 1,
	        .q75 = NAN,
	        .p95 = run.value + 3,
	        .n = 7,
	        .flags = TK_POINT_THROTTLED};
	const double *const samples[] = {NULL};
	const size_t counts[] = {0};
	int64_t id;

	MUST(tk_store_put_run(
	        h->store, &row, &point, samples, counts, run.outcome == TK_OUTCOME_OK, &id, &err));
	return id;
}

/* Another night of h, which later runs are of. */
static inline void query_begin_night(struct history *h, int64_t as_of_s)
{
	struct tk_night_row night = {.machine_id = h->machine,
	        .kind = TK_NIGHT_NIGHTLY,
	        .as_of_s = as_of_s,
	        .started_s = as_of_s,
	        .status = TK_NIGHT_RUNNING,
	        .config_hash = "c",
	        .tracker_version = "0.1.0",
	        .summary = "{}"};

	MUST(tk_store_begin_night(h->store, &night, &h->night, &err));
}

int query_point_tests(void);
int query_run_tests(void);
int query_code_tests(void);
int check_tests(void);

#define QUERY_TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)

#endif
