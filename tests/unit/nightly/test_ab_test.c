/* An A/B test of two builds: what it needs, what it stores, and how it goes on after a stop. The
 * history and the cache are real; the processes of a pair are not. */
#include "cached_build.h"
#include "nightly/confirm/ab_pair.h"
#include "nightly/confirm/ab_test.h"
#include "nightly/night.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>

/* ---- in place of the processes of a pair ---- */

static struct {
	double good_ns, bad_ns; /* NAN: that side fails */
	enum tk_outcome good_outcome, bad_outcome;
	const char *good_message, *bad_message;
	int status;
	char order[600]; /* of each pair, the side that is first: 'g' or 'b' */
	size_t count;
} world;

int __wrap_tk_ab_pair_measure(struct tk_night *n, struct tk_ab_test *t, struct tk_ab_run *first,
        struct tk_ab_run *second, struct tk_error *err);

static void run_side(struct tk_ab_run *s, double ns, enum tk_outcome outcome, const char *message)
{
	s->outcome = outcome;
	s->median = ns;
	s->min = ns - 1;
	snprintf(s->message, sizeof s->message, "%s", message);
}

int __wrap_tk_ab_pair_measure(struct tk_night *n, struct tk_ab_test *t, struct tk_ab_run *first,
        struct tk_ab_run *second, struct tk_error *err)
{
	const bool good_first = first->variant == &t->good;
	struct tk_ab_run *good = good_first ? first : second, *bad = good_first ? second : first;

	assert_string_equal(good->name, "good");
	assert_string_equal(bad->name, "bad");
	assert_ptr_equal(bad->variant, &t->bad);
	if (world.status)
		return tk_fail(err, world.status, "no worker");
	assert_true(world.count + 1 < sizeof world.order);
	world.order[world.count++] = good_first ? 'g' : 'b';
	run_side(good, world.good_ns, world.good_outcome, world.good_message);
	run_side(bad, world.bad_ns, world.bad_outcome, world.bad_message);
	return 0;
}

/* ---- a night with two builds in its cache ---- */

struct rig {
	struct history h;
	char cache[80];
	struct tk_config config;
	struct tk_night_options options;
	struct tk_night night;
	struct tk_night_device device;
	struct tk_ab_test_spec spec;
	struct tk_ab_test test;
};

static void begin_world(void)
{
	memset(&world, 0, sizeof world);
	world.good_ns = 100;
	world.bad_ns = 110;
	world.good_message = world.bad_message = "";
}

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof *r);

	assert_non_null(r);
	begin_world();
	history_new(&r->h);
	history_fill(&r->h);
	snprintf(r->cache, sizeof r->cache, "%s/cache", r->h.dir);
	r->config.cache_dir = r->cache;
	r->device.device_id = r->h.device;
	r->night = (struct tk_night){.config = &r->config,
	        .store = r->h.store,
	        .options = &r->options,
	        .night_id = r->h.night,
	        .devices = &r->device,
	        .device_count = 1};
	r->spec = (struct tk_ab_test_spec){.night_id = r->h.night,
	        .series_id = r->h.series,
	        .good_build_id = put_cached_build(&r->h, 'a', "blas"),
	        .bad_build_id = put_cached_build(&r->h, 'b', "blas")};
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	tk_ab_test_close(&r->test);
	history_free(&r->h);
	free(r);
	return 0;
}

static void open_test(struct rig *r)
{
	tk_ab_test_close(&r->test);
	MUST(tk_ab_test_open(&r->night, &r->spec, &r->test, &err));
}

static void run_pairs(struct rig *r, size_t count)
{
	for (size_t i = 0; i < count; i++)
		MUST(tk_ab_test_run_pair(&r->night, &r->test, &err));
}

#define COUNT(r) history_count(&(r)->h, "ab_pair")

/* ---- what a test is of ---- */

static void a_test_knows_both_builds(void **state)
{
	static char options[] = "threads=4", config[] = "tile=8";
	struct rig *r = *state;
	char key[TK_HASH_HEX_SIZE], path[400];

	r->spec.bad.options = options;
	r->spec.bad.config = config;
	open_test(r);
	assert_int_equal(r->test.series.id, r->h.series);
	assert_string_equal(r->test.series.backend, "blas");
	assert_string_equal(r->test.problem.text, "gemm:a=f32,k=512,m=512,n=512");
	assert_ptr_equal(r->test.device, &r->device);
	assert_int_equal(r->test.good.build_id, r->spec.good_build_id);
	assert_string_equal(r->test.good.options, "");
	assert_null(r->test.good.config);
	assert_string_equal(r->test.bad.options, "threads=4");
	assert_string_equal(r->test.bad.config, "tile=8");
	make_key('b', key);
	assert_string_equal(r->test.bad.artifact_key, key);
	snprintf(path, sizeof path, "%s/artifacts/%s/lib/tk_backend_blas.so", r->cache, key);
	assert_string_equal(r->test.bad.path, path);
	assert_int_equal(r->test.count, 0);
}

static void expect_missing(struct rig *r, int status, const char *message)
{
	tk_ab_test_close(&r->test);
	MUST_FAIL(status, message, tk_ab_test_open(&r->night, &r->spec, &r->test, &err));
	tk_ab_test_close(&r->test); /* in any case */
}

static void a_build_that_vanished_from_the_cache_is_named(void **state)
{
	struct rig *r = *state;
	char key[TK_HASH_HEX_SIZE];

	remove_cached_artifact(&r->h, 'a');
	make_key('a', key);
	expect_missing(r, TK_ENOTFOUND, key);
	put_cached_artifact(&r->h, 'a', "blas");
	remove_cached_artifact(&r->h, 'b');
	make_key('b', key);
	expect_missing(r, TK_ENOTFOUND, key);
	put_cached_artifact(&r->h, 'b', "other");
	expect_missing(r, TK_ENOTFOUND, "has no backend blas");
	put_cached_artifact(&r->h, 'b', "blas");
	open_test(r);
}

/* It costs this series, not the stage. */
static void a_damaged_build_is_missing(void **state)
{
	struct rig *r = *state;
	char dir[300], path[400];

	format_artifact_dir(&r->h, 'b', dir, sizeof dir);
	snprintf(path, sizeof path, "%s/lib/tk_backend_blas.so", dir);
	assert_int_equal(unlink(path), 0);
	expect_missing(r, TK_ENOTFOUND, "tk_backend_blas.so is not there");
	snprintf(path, sizeof path, "%s/manifest.json", dir);
	MUST(tk_file_write(path, "{", 1, &err));
	expect_missing(r, TK_ENOTFOUND, "manifest.json");
	MUST(tk_file_write(path, "{\"format\":99}", 13, &err));
	expect_missing(r, TK_ENOTFOUND, "newer tracker");
}

/* An import knows what was measured, and has no build of it. */
static void an_imported_build_is_missing(void **state)
{
	struct rig *r = *state;

	r->spec.good_build_id = history_put_build_of(&r->h, r->h.upstream, "0.9", "imported", NULL);
	expect_missing(r, TK_ENOTFOUND, "\"imported\" is not an artifact's key");
}

static void a_device_that_is_absent_or_lost_is_named(void **state)
{
	struct rig *r = *state;

	r->device.lost = true;
	expect_missing(r, TK_ENOTFOUND, "is not present");
	r->device.lost = false;
	r->device.device_id++;
	expect_missing(r, TK_ENOTFOUND, "is not present");
	r->device.device_id--;
	r->night.device_count = 0;
	expect_missing(r, TK_ENOTFOUND, "is not present");
}

static void other_metrics_have_no_pairs(void **state)
{
	struct rig *r = *state;

	r->spec.series_id = history_put_series(&r->h, "blas", "cold", "energy");
	expect_missing(r, TK_ENOTFOUND, "A/B runs measure times");
}

static void ids_of_nothing_are_named(void **state)
{
	struct rig *r = *state;

	r->spec.bad_build_id = 4711;
	expect_missing(r, TK_ENOTFOUND, "no build has the id 4711");
	r->spec.series_id = 4712;
	expect_missing(r, TK_EDATA, "no series has the id 4712");
}

/* ---- pairs ---- */

static const struct tk_ab_pair_row *stored_pair(struct rig *r, struct tk_rows *rows, size_t i)
{
	tk_rows_free(rows);
	MUST(tk_store_list_ab_pairs(r->h.store, r->h.series, INT64_MIN, rows, &err));
	assert_true(i < rows->count);
	return TK_ROWS_AT(rows, struct tk_ab_pair_row, i);
}

static void a_pair_is_stored_at_once(void **state)
{
	struct rig *r = *state;
	struct tk_rows rows = {0};

	open_test(r);
	run_pairs(r, 1);
	const struct tk_ab_pair_row *p = stored_pair(r, &rows, 0);
	assert_int_equal(p->night_id, r->h.night);
	assert_int_equal(p->good_build_id, r->spec.good_build_id);
	assert_int_equal(p->bad_build_id, r->spec.bad_build_id);
	assert_int_equal(p->pair, 0);
	assert_true(p->started_s > 1700000000);
	assert_true(p->wall_s >= 0);
	assert_string_equal(p->first, world.order[0] == 'g' ? "good" : "bad");
	assert_string_equal(p->good_outcome, "ok");
	assert_string_equal(p->message, "");
	assert_float_equal(p->good_median, 100, 1e-9);
	assert_float_equal(p->good_min, 99, 1e-9);
	assert_float_equal(p->bad_median, 110, 1e-9);
	assert_float_equal(p->bad_min, 109, 1e-9);
	assert_int_equal(r->test.count, 1);
	assert_int_equal(r->test.timed, 1);
	assert_float_equal(r->test.rows[0].bad_median, 110, 1e-9);
	assert_null(r->test.rows[0].message); /* the rows of a test have no texts */
	run_pairs(r, 1);
	assert_int_equal(stored_pair(r, &rows, 1)->pair, 1);
	tk_rows_free(&rows);
}

/* The message of the good build first: what fails on both sides began there. */
static void a_failed_pair_is_a_row_with_its_reason(void **state)
{
	struct rig *r = *state;
	struct tk_rows rows = {0};

	open_test(r);
	world.bad_ns = NAN;
	world.bad_outcome = TK_OUTCOME_CRASHED;
	world.bad_message = "signal 11";
	run_pairs(r, 1);
	const struct tk_ab_pair_row *p = stored_pair(r, &rows, 0);
	assert_string_equal(p->bad_outcome, "crashed");
	assert_string_equal(p->message, "signal 11");
	assert_true(isnan(p->bad_median) && isnan(p->bad_min));
	assert_float_equal(p->good_median, 100, 1e-9);
	world.good_ns = NAN;
	world.good_outcome = TK_OUTCOME_TIMEOUT;
	world.good_message = "60 s";
	run_pairs(r, 1);
	p = stored_pair(r, &rows, 1);
	assert_string_equal(p->good_outcome, "timeout");
	assert_string_equal(p->message, "60 s");
	tk_rows_free(&rows);
}

static void failures_are_counted_in_a_row(void **state)
{
	static const struct {
		double good_ns, bad_ns;
		size_t timed, failed_in_a_row;
	} pairs[] = {{100, 110, 1, 0}, {NAN, 110, 1, 1}, {100, NAN, 1, 2}, {NAN, NAN, 1, 3},
	        {100, 110, 2, 0}, {100, INFINITY, 2, 1}, {100, 110, 3, 0}};
	struct rig *r = *state;

	open_test(r);
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		world.good_ns = pairs[i].good_ns;
		world.bad_ns = pairs[i].bad_ns;
		run_pairs(r, 1);
		assert_int_equal(r->test.count, i + 1);
		assert_int_equal(r->test.timed, pairs[i].timed);
		assert_int_equal(r->test.failed_in_a_row, pairs[i].failed_in_a_row);
	}
}

static void many_pairs_are_kept_in_order(void **state)
{
	struct rig *r = *state;

	open_test(r);
	for (int i = 0; i < 70; i++) {
		world.good_ns = 100 + i;
		run_pairs(r, 1);
	}
	for (int i = 0; i < 70; i++)
		assert_float_equal(r->test.rows[i].good_median, 100 + i, 1e-9);
	assert_int_equal(COUNT(r), 70);
}

/* Nothing is stored of a pair whose processes could not run, and the next one has its number. */
static void an_error_is_no_pair(void **state)
{
	struct rig *r = *state;
	struct tk_rows rows = {0};

	open_test(r);
	world.status = TK_ECANCELED;
	MUST_FAIL(TK_ECANCELED, "no worker", tk_ab_test_run_pair(&r->night, &r->test, &err));
	assert_int_equal(r->test.count, 0);
	assert_int_equal(COUNT(r), 0);
	world.status = 0;
	run_pairs(r, 1);
	assert_int_equal(stored_pair(r, &rows, 0)->pair, 0);
	tk_rows_free(&rows);
}

/* Returns the limit before. */
static rlim_t set_file_limit(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	const rlim_t before = limit.rlim_cur;
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	return before;
}

/* The pair is not counted: what a test says is what the history has. */
static void a_full_disk_loses_the_pair_alone(void **state)
{
	struct rig *r = *state;
	struct tk_error failure = {0};

	open_test(r);
	run_pairs(r, 3);
	signal(SIGXFSZ, SIG_IGN);
	const rlim_t before = set_file_limit(1);
	const int status = tk_ab_test_run_pair(&r->night, &r->test, &failure);
	set_file_limit(before);
	assert_int_equal(status, TK_ENOSPC);
	assert_int_equal(r->test.count, 3);
	assert_int_equal(r->test.timed, 3);
	assert_int_equal(COUNT(r), 3);
	run_pairs(r, 2);
	assert_int_equal(COUNT(r), 5);
	open_test(r);
	assert_int_equal(r->test.count, 5);
}

/* `tracker ab` has no history. */
static void without_a_history_nothing_is_stored(void **state)
{
	struct rig *r = *state;

	open_test(r);
	r->night.store = NULL;
	run_pairs(r, 2);
	assert_int_equal(r->test.count, 2);
	assert_int_equal(COUNT(r), 0);
}

/* ---- order ---- */

/* Of two pairs in a row, one begins with each build, so that drift cancels out. */
static void each_build_is_first_in_one_of_two_pairs(void **state)
{
	struct rig *r = *state;
	size_t good_first_blocks = 0;

	open_test(r);
	run_pairs(r, 128);
	for (size_t i = 0; i < 128; i += 2) {
		assert_int_not_equal(world.order[i], world.order[i + 1]);
		good_first_blocks += world.order[i] == 'g';
	}
	/* at random: a fair coin does not fall outside of this in 10^9 tries */
	assert_in_range(good_first_blocks, 8, 56);
}

static void order_of(struct rig *r, uint64_t seed, char order[65])
{
	history_run_sql(&r->h, "DELETE FROM ab_pair");
	begin_world();
	r->night.seed = seed;
	open_test(r);
	run_pairs(r, 64);
	memcpy(order, world.order, 64);
	order[64] = 0;
}

static void the_seed_decides_the_order(void **state)
{
	struct rig *r = *state;
	char first[65], again[65], other[65];

	order_of(r, 7, first);
	order_of(r, 7, again);
	order_of(r, 8, other);
	assert_string_equal(first, again);
	assert_string_not_equal(first, other);
	r->spec.series_id = history_put_series(&r->h, "blas", "hot", "time");
	order_of(r, 7, other);
	assert_string_not_equal(first, other); /* not the same for all series */
}

/* ---- going on ---- */

static void a_test_goes_on_where_it_was_stopped(void **state)
{
	struct rig *r = *state;
	struct tk_rows rows = {0};
	char whole[65], parts[65];

	order_of(r, 7, whole);
	history_run_sql(&r->h, "DELETE FROM ab_pair");
	begin_world();
	open_test(r);
	for (int i = 0; i < 64; i++) {
		run_pairs(r, 1);
		if (i % 5 == 4)
			open_test(r);
	}
	memcpy(parts, world.order, 64);
	parts[64] = 0;
	assert_string_equal(parts, whole);
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(stored_pair(r, &rows, i)->pair, i);
	tk_rows_free(&rows);
}

/* Failures of an earlier part do not end this one; they stay pairs. */
static void failures_before_a_stop_are_tried_again(void **state)
{
	struct rig *r = *state;

	open_test(r);
	run_pairs(r, 2);
	world.bad_ns = NAN;
	run_pairs(r, 3);
	assert_int_equal(r->test.failed_in_a_row, 3);
	open_test(r);
	assert_int_equal(r->test.count, 5);
	assert_int_equal(r->test.timed, 2);
	assert_int_equal(r->test.failed_in_a_row, 0);
	run_pairs(r, 1);
	assert_int_equal(r->test.failed_in_a_row, 1);
}

static void put_pair(struct rig *r, int64_t night, int64_t good, int64_t bad, int number, double s)
{
	const struct tk_ab_pair_row row = {.night_id = night,
	        .series_id = r->h.series,
	        .good_build_id = good,
	        .bad_build_id = bad,
	        .pair = number,
	        .started_s = 1,
	        .wall_s = s,
	        .first = "good",
	        .good_outcome = "ok",
	        .bad_outcome = "ok",
	        .message = "",
	        .good_median = 1,
	        .bad_median = 2,
	        .good_min = 1,
	        .bad_min = 2};
	int64_t id;

	MUST(tk_store_put_ab_pair(r->h.store, &row, &id, &err));
}

/* Pairs of all nights decide; the time of this night alone counts for its budget. */
static void pairs_of_other_nights_count_without_their_time(void **state)
{
	struct rig *r = *state;
	struct tk_night_row night = {.machine_id = r->h.machine,
	        .kind = TK_NIGHT_NIGHTLY,
	        .as_of_s = 90000,
	        .started_s = 90000,
	        .config_hash = "",
	        .tracker_version = "",
	        .summary = "{}"};
	const int64_t good = r->spec.good_build_id, bad = r->spec.bad_build_id,
	              third = put_cached_build(&r->h, 'c', "blas");
	int64_t later;

	MUST(tk_store_begin_night(r->h.store, &night, &later, &err));
	put_pair(r, r->h.night, good, bad, 0, 5);
	put_pair(r, later, good, bad, 1, 7);
	put_pair(r, later, good, bad, 2, 8);
	put_pair(r, later, good, third, 0, 100);
	put_pair(r, later, third, bad, 0, 100);
	put_pair(r, later, bad, good, 0, 100); /* the same two, the other way around */
	open_test(r);
	assert_int_equal(r->test.count, 3);
	assert_float_equal(r->test.wall_s, 5, 1e-9);
	r->spec.night_id = later;
	open_test(r);
	assert_int_equal(r->test.count, 3);
	assert_float_equal(r->test.wall_s, 15, 1e-9);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_test_knows_both_builds),
	        TEST(a_build_that_vanished_from_the_cache_is_named),
	        TEST(a_damaged_build_is_missing),
	        TEST(an_imported_build_is_missing),
	        TEST(a_device_that_is_absent_or_lost_is_named),
	        TEST(other_metrics_have_no_pairs),
	        TEST(ids_of_nothing_are_named),
	        TEST(a_pair_is_stored_at_once),
	        TEST(a_failed_pair_is_a_row_with_its_reason),
	        TEST(failures_are_counted_in_a_row),
	        TEST(many_pairs_are_kept_in_order),
	        TEST(an_error_is_no_pair),
	        TEST(a_full_disk_loses_the_pair_alone),
	        TEST(without_a_history_nothing_is_stored),
	        TEST(each_build_is_first_in_one_of_two_pairs),
	        TEST(the_seed_decides_the_order),
	        TEST(a_test_goes_on_where_it_was_stopped),
	        TEST(failures_before_a_stop_are_tried_again),
	        TEST(pairs_of_other_nights_count_without_their_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
