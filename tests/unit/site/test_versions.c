/* The versions of a package: their order, the newest point of each, compile times, and the vendor's
 * library beside them. */
#include "made_model.h"

#include "../store/history.h"
#include "site_gen/model/versions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSIONS 45

/* The model is made in memory; the points of its series are in a real history, whose first series
 * and builds have the same ids. */
struct lab {
	struct history h;
	struct made_model made;
	const struct tk_upstream_row *package, *vendor;
	const struct tk_problem_row *problem;
	const struct tk_site_device *device;
	struct tk_versions versions;
	int64_t next_seq;
};

static void add_stored_build(struct lab *lab, const char *rev)
{
	struct tk_revision_row revision = {.upstream_id = lab->h.upstream,
	        .rev = rev,
	        .parent = "",
	        .author = "",
	        .subject = ""};
	struct tk_build_row build = {.artifact_key = rev,
	        .adapter = "a",
	        .toolchain = "",
	        .flags = "",
	        .arch = "",
	        .status = TK_BUILD_OK};
	int64_t id;

	MUST(tk_store_put_revision(lab->h.store, &revision, &build.revision_id, &err));
	MUST(tk_store_put_build(lab->h.store, &build, &id, &err));
	assert_int_equal(id, made_add_build(&lab->made, lab->package, rev));
}

/* In the history and in the model. */
static struct tk_site_series *add_series(struct lab *lab, const struct tk_upstream_row *upstream,
        const char *backend, const char *config, enum tk_metric metric)
{
	struct tk_series_row row = {.device_id = lab->h.device,
	        .upstream_id = lab->h.upstream,
	        .problem_id = lab->h.problem,
	        .backend = backend,
	        .config = config,
	        .mode = "paced",
	        .metric = tk_metric_name(metric),
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE};
	struct tk_site_series *s =
	        made_add_series(&lab->made, lab->device, upstream, lab->problem, backend);

	MUST(tk_store_put_series(lab->h.store, &row, &row.id, &err));
	lab->made.series_rows[lab->made.model.series_count - 1].id = row.id;
	lab->made.series_rows[lab->made.model.series_count - 1].config = config;
	s->metric = metric;
	return s;
}

static void add_point(struct lab *lab, const struct tk_site_series *s, int64_t build, double ns)
{
	struct tk_run_row run = {.night_id = lab->h.night,
	        .seq = ++lab->next_seq,
	        .series_id = s->row->id,
	        .build_id = build,
	        .environment_id = lab->h.environment,
	        .as_of_s = 1000 + lab->next_seq,
	        .started_s = 1000,
	        .message = "",
	        .attributes = "{}"};
	struct tk_point point = {
	        .series_id = s->row->id, .value = ns, .lo = ns * 0.99, .hi = ns * 1.01, .n = 20};
	const double *const samples[] = {NULL};
	const size_t counts[] = {0};
	int64_t id;

	MUST(tk_store_put_run(lab->h.store, &run, &point, samples, counts, 1, &id, &err));
}

static int setup(void **state)
{
	struct lab *lab = calloc(1, sizeof *lab);

	assert_non_null(lab);
	history_new(&lab->h);
	history_fill(&lab->h);
	made_init(&lab->made);
	lab->device = made_add_device(&lab->made, "gpu", "a", "sm_90");
	lab->package = made_add_upstream(&lab->made, "triton", "package");
	lab->vendor = made_add_upstream(&lab->made, "cublas", "system");
	lab->problem = made_add_problem(&lab->made, "gemm", "f16", 1e9, 1e6);
	made_add_build(&lab->made, lab->package, "1.10"); /* that of history_fill() */
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;

	tk_versions_free(&lab->versions);
	made_free(&lab->made);
	history_free(&lab->h);
	free(lab);
	return 0;
}

static const struct tk_versions *load(struct lab *lab)
{
	made_join(&lab->made);
	lab->made.model.store = lab->h.store;
	MUST(tk_versions_load(&lab->made.model, lab->package, &lab->versions, &err));
	return &lab->versions;
}

static void versions_are_in_their_order_with_their_newest_points(void **state)
{
	struct lab *lab = *state;

	add_stored_build(lab, "1.9");
	add_stored_build(lab, "2.0rc1");
	add_stored_build(lab, "2.0");
	const struct tk_site_series *s =
	        add_series(lab, lab->package, "triton", "", TK_METRIC_TIME);
	add_point(lab, s, 4, 80);
	add_point(lab, s, 1, 100);
	add_point(lab, s, 1, 110);
	add_point(lab, s, 2, 120);
	const struct tk_versions *v = load(lab);
	assert_int_equal(v->count, 3); /* 2.0rc1 was not measured */
	assert_false(v->is_cut);
	static const char *const revs[] = {"1.9", "1.10", "2.0"};
	static const double ns[] = {120, 110, 80};
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(v->at[i]->rev, revs[i]);
		assert_float_equal(v->series[0].at[i].value, ns[i], 0);
		assert_float_equal(tk_version_time_ns(&v->problems[0], i), ns[i], 0);
	}
	assert_int_equal(v->problem_count, 1);
	assert_int_equal(v->series_count, 1);
}

static void the_fastest_configuration_counts_for_a_problem(void **state)
{
	struct lab *lab = *state;
	const struct tk_site_series *s[2];

	add_stored_build(lab, "2.0");
	s[0] = add_series(lab, lab->package, "triton", "a", TK_METRIC_TIME);
	s[1] = add_series(lab, lab->package, "triton", "b", TK_METRIC_TIME);
	add_point(lab, s[0], 1, 100);
	add_point(lab, s[1], 1, 90);
	add_point(lab, s[0], 2, 70);
	const struct tk_versions *v = load(lab);
	assert_int_equal(v->problem_count, 1);
	const struct tk_version_problem *p = v->problems;
	assert_int_equal(p->count, 2);
	assert_ptr_equal(p->best[0]->series, s[1]);
	assert_ptr_equal(p->best[1]->series, s[0]);
	assert_true(isnan(v->series[1].at[1].value));
	assert_int_equal(tk_version_before(p, 1), 0);
	assert_true(tk_version_before(p, 0) == SIZE_MAX);
	assert_true(tk_version_is_step(p, 0, 1, 0.02));
	assert_false(tk_version_is_step(p, 0, 1, 0.3)); /* log(90 / 70) = log(1.286) */
	assert_false(tk_version_is_step(p, SIZE_MAX, 1, 0.02));
}

static void overlapping_intervals_are_no_step(void **state)
{
	struct lab *lab = *state;

	add_stored_build(lab, "2.0");
	const struct tk_site_series *s =
	        add_series(lab, lab->package, "triton", "", TK_METRIC_TIME);
	add_point(lab, s, 1, 100);
	add_point(lab, s, 2, 101.5); /* 100.5 to 102.5 against 99 to 101 */
	const struct tk_versions *v = load(lab);
	assert_false(tk_version_is_step(v->problems, 0, 1, 0.001));
	v->series[0].at[1].lo = 101.2;
	assert_true(tk_version_is_step(v->problems, 0, 1, 0.001));
	assert_false(tk_version_is_step(v->problems, 0, 1, 0.02));
}

static void compile_times_and_the_vendor_stand_beside_them(void **state)
{
	struct lab *lab = *state;
	struct tk_site_series *vendor[3];

	const struct tk_site_series *s =
	        add_series(lab, lab->package, "triton", "a", TK_METRIC_TIME);
	const struct tk_site_series *compile =
	        add_series(lab, lab->package, "triton", "a", TK_METRIC_COMPILE);
	const struct tk_site_series *of_other =
	        add_series(lab, lab->package, "triton", "b", TK_METRIC_COMPILE);
	for (int i = 0; i < 3; i++)
		vendor[i] = add_series(
		        lab, lab->vendor, i == 2 ? "mine" : "cublas", "", TK_METRIC_TIME);
	add_point(lab, s, 1, 100);
	add_point(lab, compile, 1, 5e9);
	add_point(lab, of_other, 1, 7e9);
	made_add_point(vendor[0], 1, 60, 0, 0, 0);
	made_add_point(vendor[1], 1, 50, 0, 0, 0);
	made_add_point(vendor[2], 1, 10, 0, 0, 0); /* not a vendor's library */
	const struct tk_versions *v = load(lab);
	assert_int_equal(v->series_count, 1);
	assert_float_equal(v->series[0].compile_ns[0], 5e9, 0);
	assert_ptr_equal(v->problems[0].vendor, vendor[1]);
	assert_float_equal(v->problems[0].vendor_ns, 50, 0);
}

static void without_a_vendor_or_compile_times_they_are_unknown(void **state)
{
	struct lab *lab = *state;
	const struct tk_site_series *s =
	        add_series(lab, lab->package, "triton", "", TK_METRIC_TIME);

	add_point(lab, s, 1, 100);
	const struct tk_versions *v = load(lab);
	assert_true(isnan(v->series[0].compile_ns[0]));
	assert_null(v->problems[0].vendor);
	assert_true(isnan(v->problems[0].vendor_ns));
}

static void the_newest_forty_are_shown(void **state)
{
	static char revs[VERSIONS][16];
	struct lab *lab = *state;
	const struct tk_site_series *s =
	        add_series(lab, lab->package, "triton", "", TK_METRIC_TIME);

	add_point(lab, s, 1, 100); /* 1.10, the oldest */
	for (int i = 1; i < VERSIONS; i++) {
		snprintf(revs[i], sizeof revs[i], "2.%d", i);
		add_stored_build(lab, revs[i]);
		add_point(lab, s, i + 1, 1000 + i);
	}
	const struct tk_versions *v = load(lab);
	assert_int_equal(v->count, TK_VERSIONS_SHOWN);
	assert_true(v->is_cut);
	assert_string_equal(v->at[0]->rev, "2.5");
	assert_float_equal(v->series[0].at[0].value, 1005, 0);
	assert_string_equal(v->at[TK_VERSIONS_SHOWN - 1]->rev, "2.44");
}

static void only_packages_that_are_measured_have_versions(void **state)
{
	struct lab *lab = *state;
	struct tk_model *m = &lab->made.model;

	assert_false(tk_upstream_has_versions(m, lab->package)); /* no series follows it */
	struct tk_site_series *s = add_series(lab, lab->package, "triton", "", TK_METRIC_TIME);
	assert_true(tk_upstream_has_versions(m, lab->package));
	s->metric = TK_METRIC_COMPILE;
	assert_false(tk_upstream_has_versions(m, lab->package));
	add_series(lab, lab->vendor, "cublas", "", TK_METRIC_TIME);
	assert_false(tk_upstream_has_versions(m, lab->vendor)); /* no package */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(versions_are_in_their_order_with_their_newest_points),
	        TEST(the_fastest_configuration_counts_for_a_problem),
	        TEST(overlapping_intervals_are_no_step),
	        TEST(compile_times_and_the_vendor_stand_beside_them),
	        TEST(without_a_vendor_or_compile_times_they_are_unknown),
	        TEST(the_newest_forty_are_shown),
	        TEST(only_packages_that_are_measured_have_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
