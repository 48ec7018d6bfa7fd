/* How the data of the charts is divided into files, and what the next build knows of this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_model.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "site_gen/data/chart_data.h"
#include "site_gen/data/shard_member.h"
#include "site_gen/data/state.h"
#include "site_gen/data/totals.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/output.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S 86400

static int64_t parse(const char *day)
{
	struct tk_error err;
	int64_t at_s = 0;

	assert_int_equal(tk_time_parse(day, &at_s, &err), 0);
	return at_s;
}

/* ---- years, months and paths ---- */

static void years_are_bits(void **state)
{
	static const struct {
		const char *day;
		int bit;
	} cases[] = {{"1989-12-31", 0}, {"1990-06-01", 0}, {"1991-01-01", 1}, {"2026-12-31", 36},
	        {"2027-01-01", 37}, {"2053-12-31", 63}, {"2060-01-01", 63}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(tk_chart_data_year_bit(parse(cases[i].day)), cases[i].bit);
	assert_true(tk_chart_data_year_start(0) == INT64_MIN);
	assert_int_equal(tk_chart_data_year_start(1), parse("1991-01-01"));
	assert_int_equal(tk_chart_data_year_start(36), parse("2026-01-01"));
}

/* Thirty to sixty-one nights are recent: from the start of a month on. */
static void recent_points_begin_with_a_month(void **state)
{
	(void)state;
	assert_int_equal(tk_chart_data_cut(parse("2026-11-26")), parse("2026-10-01"));
	assert_int_equal(tk_chart_data_cut(parse("2026-10-31")), parse("2026-10-01"));
	assert_int_equal(tk_chart_data_cut(parse("2026-10-30")), parse("2026-09-01"));
	assert_int_equal(tk_chart_data_cut(parse("2026-01-20")), parse("2025-12-01"));
	assert_int_equal(tk_chart_data_cut(0), 0);
}

static void paths_name_group_and_year(void **state)
{
	char path[TK_DATA_PATH_SIZE];

	(void)state;
	tk_chart_data_year_path(path, 10, 36);
	assert_string_equal(path, "data/00a.2026.js");
	tk_chart_data_recent_path(path, 4096);
	assert_string_equal(path, "data/1000.recent.js");
	tk_chart_data_hot_path(path, 3);
	assert_string_equal(path, "data/003.hot.js");
	assert_int_equal(tk_chart_data_shard(5), 2);
}

/* ---- groups ---- */

static struct tk_chart_data plan(size_t series_count)
{
	struct tk_model m = {.series_count = series_count};
	struct tk_chart_data out;
	struct tk_error err;

	m.series = calloc(series_count + 1, sizeof *m.series);
	m.series_by_id.entries = calloc(series_count + 1, sizeof *m.series_by_id.entries);
	assert_true(m.series && m.series_by_id.entries);
	for (size_t i = 0; i < series_count; i++) /* by id in the opposite order of the model */
		m.series_by_id.entries[i].row = &m.series[series_count - 1 - i];
	assert_int_equal(tk_chart_data_plan(&m, &out, &err), 0);
	free(m.series);
	free(m.series_by_id.entries);
	return out;
}

static void groups_have_eight_series_and_shards_two_groups(void **state)
{
	static const struct {
		size_t series, groups, shards, refreshed;
		int64_t builds;
		bool incremental;
	} cases[] = {{0, 1, 1, 1, 1, false}, {1, 1, 1, 1, 1, false}, {8, 1, 1, 1, 1, false},
	        {9, 2, 1, 1, 1, false}, {16, 2, 1, 1, 1, false}, {17, 3, 2, 2, 1, false},
	        {144, 18, 9, 9, 1, false}, {320, 40, 20, 9, 3, true},
	        {16000, 2000, 1000, 32, 32, true}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_chart_data d = plan(cases[i].series);
		assert_int_equal(d.group_count, cases[i].groups);
		assert_int_equal(d.shard_count, cases[i].shards);
		assert_int_equal(d.refreshed, cases[i].refreshed);
		assert_int_equal(tk_chart_data_refresh_builds(&d), cases[i].builds);
		assert_int_equal(tk_chart_data_is_incremental(&d), cases[i].incremental);
		tk_chart_data_free(&d);
	}
}

static void groups_follow_the_ids(void **state)
{
	struct tk_chart_data d = plan(20);

	(void)state;
	assert_int_equal(d.group_of[19], 0);
	assert_int_equal(d.group_of[12], 0);
	assert_int_equal(d.group_of[11], 1);
	assert_int_equal(d.group_of[3], 2);
	assert_int_equal(d.group_of[0], 2);
	tk_chart_data_free(&d);
}

static void a_group_lists_its_files(void **state)
{
	struct tk_site site = {0};
	struct tk_buf out = TK_BUF_INIT;
	struct made_model made;
	size_t group_of[] = {1};
	uint64_t years[] = {0, UINT64_C(1) << 35 | UINT64_C(1) << 36};

	(void)state;
	made_init(&made);
	const struct tk_problem_row *p = made_add_problem(&made, "gemm", "f16", 1, 1);
	made_add_series(&made, made_add_device(&made, "gpu", "a", "sm_90"),
	        made_add_upstream(&made, "lib", "git"), p, "s");
	site.model = made.model;
	site.data.group_of = group_of;
	site.state.years = years;
	tk_chart_data_add_files_json(&out, &site, 1);
	assert_string_equal(tk_buf_cstr(&out),
	        "[[2025,\"data/001.2025.js\"],[2026,\"data/001.2026.js\"],"
	        "[0,\"data/001.recent.js\"],[0,\"data/000.hot.js\"]]");
	tk_buf_clear(&out);
	tk_chart_data_add_files_json(&out, &site, 0);
	assert_string_equal(
	        tk_buf_cstr(&out), "[[0,\"data/000.recent.js\"],[0,\"data/000.hot.js\"]]");
	tk_buf_clear(&out);
	tk_chart_data_add_all_files(&site, &out, made.series);
	assert_string_equal(tk_buf_cstr(&out),
	        "data/001.2025.js data/001.2026.js data/001.recent.js data/000.hot.js");
	tk_buf_free(&out);
}

/* ---- state ---- */

static int setup_folder(void **state)
{
	char *root;
	struct tk_error err;

	assert_int_equal(tk_dir_create_temp("/tmp", "tk-site-", &root, &err), 0);
	*state = root;
	return 0;
}

static int teardown_folder(void **state)
{
	tk_dir_remove(*state, NULL);
	free(*state);
	return 0;
}

static void commit_site(struct tk_output *o)
{
	struct tk_error err = {0};
	struct tk_buf marker = TK_BUF_INIT;

	tk_buf_add_str(&marker, "{}");
	assert_int_equal(tk_output_put(o, TK_SITE_MARKER, &marker, &err), 0);
	if (tk_output_commit(o, &err))
		fail_msg("%s", err.message);
	tk_buf_free(&marker);
	tk_output_free(o);
}

static struct tk_output *open_site(const char *root)
{
	char *site = tk_path_join(root, "site");
	struct tk_output *o = NULL;
	struct tk_error err = {0};

	if (tk_output_open(site, &o, &err))
		fail_msg("%s", err.message);
	free(site);
	return o;
}

static void a_state_is_read_as_it_was_written(void **state)
{
	struct tk_site_state s, read;
	struct tk_error err;
	struct tk_output *o = open_site(*state);

	assert_int_equal(tk_state_new(&s, 3, 2, 2, &err), 0);
	assert_true(s.is_changed && s.build == 0);
	assert_true(isnan(s.series[2].badge_value));
	assert_int_equal(s.series[2].last_run_id, 0);
	s.build = 7;
	s.series[2].last_run_id = 41;
	s.series[0].trace.count = TK_SITE_WINDOW_POINTS + 1; /* as from a broken file */
	s.series[1].trace.count = TK_SITE_WINDOW_POINTS;
	s.shards[1] = (struct tk_shard_state){.build = 5, .cut_s = 6, .hot_bytes = 8};
	s.years[1] = 9;
	assert_int_equal(tk_state_write(&s, o, &err), 0);
	commit_site(o);
	o = open_site(*state);
	assert_int_equal(tk_state_new(&read, 3, 2, 2, &err), 0);
	assert_true(tk_state_read(&read, o, 7));
	assert_int_equal(read.build, 7);
	assert_false(read.is_changed);
	assert_int_equal(read.series[2].last_run_id, 41);
	assert_int_equal(read.series[0].trace.count, 0);
	assert_int_equal(read.series[1].trace.count, TK_SITE_WINDOW_POINTS);
	assert_int_equal(read.shards[1].hot_bytes, 8);
	assert_int_equal(read.shards[0].hot_bytes, 0);
	assert_int_equal(read.years[1], 9);
	tk_state_clear(&read);
	assert_true(read.is_changed);
	assert_int_equal(read.years[1] + (uint64_t)read.series[2].last_run_id, 0);
	assert_int_equal(read.shards[1].build, 0);
	tk_state_free(&read);
	tk_state_free(&s);
	tk_output_free(o);
}

static void a_state_of_another_build_or_size_is_not_read(void **state)
{
	static const size_t sizes[][3] = {{3, 2, 2}, {4, 2, 2}, {3, 3, 2}, {3, 2, 3}, {2, 2, 2}};
	struct tk_site_state s;
	struct tk_error err;
	struct tk_output *o = open_site(*state);

	assert_int_equal(tk_state_new(&s, 3, 2, 2, &err), 0);
	assert_false(tk_state_read(&s, o, 0)); /* no file yet */
	tk_state_clear(&s);
	s.build = 7;
	assert_int_equal(tk_state_write(&s, o, &err), 0);
	commit_site(o);
	tk_state_free(&s);
	o = open_site(*state);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		assert_int_equal(tk_state_new(&s, sizes[i][0], sizes[i][1], sizes[i][2], &err), 0);
		assert_int_equal(tk_state_read(&s, o, 7), i == 0);
		tk_state_free(&s);
		tk_state_new(&s, sizes[i][0], sizes[i][1], sizes[i][2], &err);
		assert_false(tk_state_read(&s, o, 8));
		tk_state_free(&s);
	}
	tk_output_free(o);
}

static struct tk_totals make_totals(size_t count)
{
	struct tk_totals t = {
	        .at = calloc(count, sizeof *t.at), .count = count, .total_of = calloc(1, 8)};

	assert_true(t.at && t.total_of);
	for (size_t i = 0; i < count; i++) {
		t.at[i].nights = calloc(2, sizeof *t.at[i].nights);
		assert_non_null(t.at[i].nights);
	}
	return t;
}

static void totals_are_read_as_they_were_written(void **state)
{
	struct tk_totals t = make_totals(3), read = make_totals(3), fewer = make_totals(2);
	struct tk_error err;
	struct tk_output *o = open_site(*state);

	assert_false(tk_totals_read(&read, o, 4));
	t.at[0].count = 2;
	t.at[0].nights[1] = (struct tk_total_night){.as_of_s = 5, .log_sum = 0.5, .count = 6};
	t.at[2].count = 1;
	t.at[2].nights[0] = (struct tk_total_night){.as_of_s = 7, .log_sum = 0.25, .count = 8};
	assert_int_equal(tk_totals_write(&t, o, 4, &err), 0);
	commit_site(o);
	o = open_site(*state);
	read.at[1].count = 1;
	assert_true(tk_totals_read(&read, o, 4));
	assert_int_equal(read.at[0].count, 2);
	assert_int_equal(read.at[0].last, 1);
	assert_memory_equal(&read.at[0].nights[1], &t.at[0].nights[1], sizeof *t.at[0].nights);
	assert_int_equal(read.at[1].count, 0);
	assert_int_equal(read.at[1].last, 0);
	assert_int_equal(read.at[2].count, 1);
	assert_memory_equal(&read.at[2].nights[0], &t.at[2].nights[0], sizeof *t.at[2].nights);
	assert_false(tk_totals_read(&read, o, 5)); /* of another build */
	assert_int_equal(read.at[0].count, 0);
	assert_false(tk_totals_read(&fewer, o, 4));
	tk_totals_free(&t);
	tk_totals_free(&read);
	tk_totals_free(&fewer);
	tk_output_free(o);
}

/* ---- traces and hashes ---- */

static void a_trace_keeps_the_newest_points(void **state)
{
	struct tk_trace t = {0};

	(void)state;
	for (int i = 0; i < TK_SITE_WINDOW_POINTS + 2; i++)
		tk_trace_add_point(&t,
		        &(struct tk_point){
		                .as_of_s = i + 1, .value = 10 * i, .lo = NAN, .hi = NAN, .n = 20});
	assert_int_equal(t.count, TK_SITE_WINDOW_POINTS);
	assert_int_equal(t.at[0].as_of_s, 3);
	assert_float_equal(t.at[0].value, 20, 0);
	assert_int_equal(t.at[t.count - 1].as_of_s, TK_SITE_WINDOW_POINTS + 2);
	assert_true(isnan(t.at[0].lo) && isnan(t.at[0].hi));
}

static void a_trace_holds_times_of_32_bits_and_intervals(void **state)
{
	struct tk_trace t = {0};

	(void)state;
	tk_trace_add_point(
	        &t, &(struct tk_point){.as_of_s = -5, .value = 2, .lo = 1, .hi = 3, .n = 20});
	tk_trace_add_point(
	        &t, &(struct tk_point){
	                    .as_of_s = INT64_C(1) << 40, .value = 2, .lo = 1, .hi = 3, .n = 1});
	assert_int_equal(t.at[0].as_of_s, 0);
	assert_float_equal(t.at[0].lo, 1, 0);
	assert_float_equal(t.at[0].hi, 3, 0);
	assert_int_equal(t.at[1].as_of_s, UINT32_MAX);
}

static void a_hash_includes_the_ends_of_texts(void **state)
{
	const uint64_t init = TK_FNV1A_INIT;

	(void)state;
	/* the first byte of FNV-1a, by hand: a text of nothing is its end */
	assert_true(tk_fnv1a_add(init, "") == init * UINT64_C(0x100000001b3));
	assert_true(tk_fnv1a_add(tk_fnv1a_add(init, "ab"), "c") !=
	            tk_fnv1a_add(tk_fnv1a_add(init, "a"), "bc"));
	assert_true(tk_fnv1a_add(init, "a") != tk_fnv1a_add(init, "b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(years_are_bits),
	        cmocka_unit_test(recent_points_begin_with_a_month),
	        cmocka_unit_test(paths_name_group_and_year),
	        cmocka_unit_test(groups_have_eight_series_and_shards_two_groups),
	        cmocka_unit_test(groups_follow_the_ids),
	        cmocka_unit_test(a_group_lists_its_files),
	        cmocka_unit_test_setup_teardown(
	                a_state_is_read_as_it_was_written, setup_folder, teardown_folder),
	        cmocka_unit_test_setup_teardown(a_state_of_another_build_or_size_is_not_read,
	                setup_folder, teardown_folder),
	        cmocka_unit_test_setup_teardown(
	                totals_are_read_as_they_were_written, setup_folder, teardown_folder),
	        cmocka_unit_test(a_trace_keeps_the_newest_points),
	        cmocka_unit_test(a_trace_holds_times_of_32_bits_and_intervals),
	        cmocka_unit_test(a_hash_includes_the_ends_of_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
