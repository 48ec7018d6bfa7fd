/* The data files of a site over several builds: what is written when, where a point stands, and
 * which older files stay as they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "site_lab.h"

#include "base/error.h"
#include "base/file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SLUG "box.cpu.self.b.p1.cold"
#define MANY 160 /* ten shards: a build rewrites nine of them */

/* The name of problem i of many, and of its series. */
static const char *problem_name(int i)
{
	static char name[8];

	snprintf(name, sizeof name, "p%03d", i);
	return name;
}

static ino_t inode_of(struct site_lab *lab, const char *path)
{
	struct stat st;
	char *full = tk_path_join(lab->out, path);
	ino_t number = stat(full, &st) ? 0 : st.st_ino;

	free(full);
	return number;
}

/* ---- one series ---- */

/* Points of 2025-11-02, 2026-01-01 and 2026-01-02. The cut is the start of the month 30 days before
 * the newest: 2025-12-01. */
static void measure_three_nights(struct site_lab *lab)
{
	static const int days[] = {-60, 0, 1};
	static const double values[] = {500, 1000, 1020};

	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	for (int i = 0; i < 3; i++) {
		world_night(&lab->w, days[i], "nightly");
		world_point(&lab->w, "b", "p1", values[i]);
	}
}

static void points_before_the_cut_are_in_the_file_of_their_year(void **state)
{
	struct site_lab *lab = *state;

	measure_three_nights(lab);
	lab_build(lab);
	assert_string_equal(lab_read(lab, "data/000.2025.js"),
	        "tracker.data.add(\"" SLUG "\",{\"exp\":-1,\"value\":[5000],\"lo\":[5],\"hi\":[5],"
	        "\"p95\":[50],\"night\":[1],\"revision\":[[0,1]],\"environment\":[[0,1]],"
	        "\"flags\":[]});\n");
	assert_false(lab_has(lab, "data/000.2026.js"));
}

static void each_year_has_a_file_of_its_own(void **state)
{
	static const int days[] = {-400, -60, 0}; /* 2024-11-27, 2025-11-02 */
	struct site_lab *lab = *state;

	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	for (int i = 0; i < 3; i++) {
		world_night(&lab->w, days[i], "nightly");
		world_point(&lab->w, "b", "p1", 500 + 100 * i);
	}
	lab_build(lab);
	for (int i = 0; i < 2; i++) {
		const char *text = lab_read(lab, i ? "data/000.2025.js" : "data/000.2024.js");
		assert_non_null(strstr(text, i ? "\"value\":[6000]" : "\"value\":[5000]"));
		assert_int_equal(strlen(strchr(text, '\n')), 1); /* nothing else */
	}
}

static void points_since_the_cut_are_in_the_recent_file(void **state)
{
	struct site_lab *lab = *state;

	measure_three_nights(lab);
	lab_build(lab);
	assert_string_equal(lab_read(lab, "data/000.recent.js"),
	        "tracker.data.add(\"" SLUG "\",{\"title\":\"p1\",\"label\":\"b\",\"unit\":\"ns\","
	        "\"ceiling\":null,\"peak\":null,\"work\":[1e+09,\"gflop_per_s\"],"
	        "\"lower_is_better\":true,\"changes\":[]});\n"
	        "tracker.data.add(\"" SLUG "\",{\"exp\":-1,\"value\":[10000,200],\"lo\":[10,10],"
	        "\"hi\":[10,10],\"p95\":[100,102],\"min\":[100,102],\"q25\":[50,51],"
	        "\"q75\":[50,51],\"night\":[2,1],\"run\":[2,1],\"n\":[30,0],\"revision\":[[0,1]],"
	        "\"environment\":[[0,1]],\"flags\":[]});\n");
	assert_string_equal(lab_read(lab, "data/000.hot.js"),
	        "tracker.data.add(\"hot\",{\"shard\":0,\"ids\":[\n\"" SLUG "\"]});\n");
}

static void shared_files_list_nights_revisions_and_groups(void **state)
{
	struct site_lab *lab = *state;

	measure_three_nights(lab);
	lab_build(lab);
	lab_assert_has(lab, "data/nights.js",
	        "tracker.data.add(\"nights\",{\"id\":[1,1,1],\"time\":[1762041600,5184000,86400],"
	        "\"page\":{\n\"3\":\"nights/2026-01-02-box-");
	lab_assert_has(lab, "data/nights.js", ",\n\"1\":\"nights/2025-11-02-box-");
	lab_assert_has(lab, "data/revisions-1.js", "\"1\":[\"r1\",\"first\",\"\"");
	lab_assert_has(lab, "data/environments.js", "\"1\":\"\"");
	assert_string_equal(lab_read(lab, "data/manifest.js"),
	        "tracker.data.add(\"manifest\",{\"format\":4,\"groups\":[\n"
	        "[[2025,\"data/000.2025.js\"],[0,\"data/000.recent.js\"],"
	        "[0,\"data/000.hot.js\"]]],\"series\":[\n"
	        "{\"id\":\"" SLUG "\",\"page\":\"series/" SLUG ".html\",\"group\":0}]});\n");
	assert_true(lab_has(lab, ".nojekyll"));
	assert_false(lab_has(lab, "sitemap.txt")); /* the site's address is unknown */
}

static void a_site_with_an_address_has_a_site_map(void **state)
{
	struct site_lab *lab = *state;

	measure_three_nights(lab);
	lab->options.base_url = "https://example.org/perf";
	lab_build(lab);
	lab_assert_has(lab, "sitemap.txt", "https://example.org/perf/series/" SLUG ".html\n");
	lab_assert_has(lab, "sitemap.txt", "https://example.org/perf/index.html\n");
	lab_assert_lacks(lab, "sitemap.txt", ".js");
}

/* Where months end, the points of the month before move into the file of the year. */
static void a_new_month_moves_points_into_the_year(void **state)
{
	struct site_lab *lab = *state;

	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	world_night(&lab->w, 0, "nightly"); /* 2026-01-01 */
	world_point(&lab->w, "b", "p1", 1000);
	lab_build(lab);
	assert_false(lab_has(lab, "data/000.2026.js"));
	lab_assert_has(lab, "data/000.recent.js", "\"value\":[10000]");
	world_night(&lab->w, 70, "nightly"); /* 2026-03-12: the cut is 2026-02-01 */
	world_point(&lab->w, "b", "p1", 1100);
	lab_build(lab);
	lab_assert_has(lab, "data/000.2026.js", "\"value\":[1000]");
	lab_assert_has(lab, "data/000.recent.js", "\"value\":[11000]");
	lab_assert_has(lab, "data/manifest.js", "[2026,\"data/000.2026.js\"]");
}

/* Points of a year that is over stay in its file, which later builds do not read or write. */
static void a_finished_year_is_not_written_again(void **state)
{
	struct site_lab *lab = *state;

	measure_three_nights(lab);
	lab_build(lab);
	lab_overwrite(lab, "data/000.2025.js", "as it was");
	world_night(&lab->w, 90, "nightly"); /* 2026-04-01: the cut is 2026-03-01 */
	world_point(&lab->w, "b", "p1", 1100);
	lab_build(lab);
	lab_assert_has(lab, "data/000.2026.js", "\"value\":[1000,20]");
	lab_assert_has(lab, "data/000.2026.js", "\"night\":[2,1]");
	assert_string_equal(lab_read(lab, "data/000.2025.js"),
	        "tracker.data.add(\"" SLUG
	        "\",{\"exp\":-1,\"value\":[5000],\"lo\":[5],\"hi\":[5],\"p95\":[50],"
	        "\"night\":[1],\"revision\":[[0,1]],\"environment\":[[0,1]],\"flags\":[]});\n");
}

/* More points than the page shows since the cut: they are read by themselves. */
static void more_recent_points_than_a_page_shows_are_all_written(void **state)
{
	struct site_lab *lab = *state;
	int nights = 0;

	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	for (int day = 0; day < 40; day++) {
		world_night(&lab->w, day, "nightly");
		for (int i = 0; i < 2; i++, nights++)
			world_point(&lab->w, "b", "p1", 1000);
	}
	lab_build(lab); /* newest 2026-02-09: the cut is 2026-01-01 */
	const char *text = strstr(lab_read(lab, "data/000.recent.js"), "\"run\":[1");
	assert_non_null(text);
	for (text += strlen("\"run\":[1"); *text == ','; text += 2, nights--)
		assert_int_equal(text[1], '1');
	assert_int_equal(*text, ']');
	assert_int_equal(nights, 1);
	assert_false(lab_has(lab, "data/000.2026.js"));
}

/* A window of 64 points that reaches beyond the cut, and years of before it. */
static void older_points_than_the_window_are_read_for_their_years(void **state)
{
	struct site_lab *lab = *state;

	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	for (int day = -60; day < 20; day++) { /* 2025-11-02 to 2026-01-20 */
		world_night(&lab->w, day, "nightly");
		world_point(&lab->w, "b", "p1", day == -60 ? 700 : 1000);
	}
	lab_build(lab); /* the cut is 2025-12-01: 29 points are older, 51 recent */
	lab_assert_has(lab, "data/000.2025.js",
	        "\"value\":[7000,3000,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]");
	lab_assert_has(lab, "data/000.recent.js", "\"night\":[30,1,");
}

static void nothing_is_written_where_nothing_is_new(void **state)
{
	struct site_lab *lab = *state;

	measure_three_nights(lab);
	lab_build(lab);
	assert_int_equal(lab->report.files_written, lab->report.files);
	const ino_t recent = inode_of(lab, "data/000.recent.js");
	const size_t files = lab->report.files;
	const int64_t bytes = lab->report.bytes;
	lab_build(lab);
	assert_int_equal(lab->report.files_written, 0);
	assert_int_equal(lab->report.files, files);
	assert_int_equal(lab->report.bytes, bytes);
	assert_int_equal(inode_of(lab, "data/000.recent.js"), recent);
	lab_assert_has(lab, "site-state.json", "\"build\":1,");
}

static void a_full_build_writes_all(void **state)
{
	struct site_lab *lab = *state;

	measure_three_nights(lab);
	lab_build(lab);
	lab_overwrite(lab, "data/000.2025.js", "broken");
	lab_build(lab);
	lab->options.full = true;
	lab_build(lab);
	lab_assert_has(lab, "data/000.2025.js", "\"value\":[5000]");
}

/* ---- samples ---- */

static void put_samples(struct site_lab *lab, size_t count, double first, double step)
{
	struct world *w = &lab->w;
	double samples[256];
	const double *const lists[] = {samples};
	const size_t counts[] = {count};
	int64_t id;
	const struct tk_point p = {.series_id = world_series(w, "b", "p1"),
	        .value = first,
	        .lo = NAN,
	        .hi = NAN,
	        .min = NAN,
	        .q25 = NAN,
	        .q75 = NAN,
	        .p95 = NAN,
	        .n = (int64_t)count};
	const struct tk_run_row run = {.night_id = w->night,
	        .seq = w->seq++,
	        .series_id = p.series_id,
	        .build_id = w->build,
	        .environment_id = w->environment,
	        .as_of_s = w->as_of_s,
	        .started_s = w->as_of_s,
	        .outcome = TK_OUTCOME_OK,
	        .message = "",
	        .attributes = "{}"};

	for (size_t i = 0; i < count; i++) /* the largest first */
		samples[i] = first + step * (double)(count - 1 - i);
	assert_int_equal(tk_store_put_run(w->store, &run, &p, lists, counts, 1, &id, &w->err), 0);
}

/* Sorted, as differences, in steps that leave the smallest five digits. */
static void samples_are_sorted_steps(void **state)
{
	struct site_lab *lab = *state;

	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	world_night(&lab->w, 0, "nightly");
	put_samples(lab, 3, 1000, 1.5);
	lab_build(lab);
	lab_assert_has(lab, "data/000.recent.js",
	        "tracker.data.add(\"" SLUG "\",{\"samples\":{\"1\":[-1,10000,15,15]}});\n");
}

static void one_sample_is_no_distribution(void **state)
{
	struct site_lab *lab = *state;

	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	world_night(&lab->w, 0, "nightly");
	put_samples(lab, 1, 1000, 0);
	lab_build(lab);
	lab_assert_lacks(lab, "data/000.recent.js", "samples");
}

/* 199 samples 1000, 1001, ...: every second one, with the first and the last. */
static void a_hundred_samples_are_shown_with_both_ends(void **state)
{
	struct site_lab *lab = *state;
	int count = 1;

	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	world_night(&lab->w, 0, "nightly");
	put_samples(lab, 199, 1000, 1);
	lab_build(lab);
	const char *text = strstr(lab_read(lab, "data/000.recent.js"), "{\"1\":[-1,10000");
	assert_non_null(text);
	for (text += strlen("{\"1\":[-1,10000"); !strncmp(text, ",20", 3); text += 3)
		count++;
	assert_int_equal(count, 100);
	assert_memory_equal(text, "]}});", 5);
}

/* Of the eight newest nights. */
static void samples_of_older_nights_are_left_out(void **state)
{
	struct site_lab *lab = *state;

	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	for (int day = 0; day < 9; day++) {
		world_night(&lab->w, day, "nightly");
		put_samples(lab, 2, 1000, 1);
	}
	lab_build(lab);
	lab_assert_has(lab, "data/000.recent.js", "\"samples\":{\"2\":[-1,10000,10],\"3\":");
	lab_assert_has(lab, "data/000.recent.js", ",\"9\":[-1,10000,10]}});\n");
	lab_assert_lacks(lab, "data/000.recent.js", "\"1\":[");
}

/* ---- many series: a build rewrites nine of ten shards ---- */

static void measure_all(struct site_lab *lab, int day, double value)
{
	world_night(&lab->w, day, "nightly");
	for (int i = 0; i < MANY; i++)
		world_point(&lab->w, "b", problem_name(i), value);
}

/* Series 150 and 155 are numbers 6 and 11 of shard 9, which the second build does not rewrite. */
static void measure_two_of_shard_nine(struct site_lab *lab, int day, double value)
{
	world_night(&lab->w, day, "nightly");
	world_point(&lab->w, "b", problem_name(150), value);
	world_point(&lab->w, "b", problem_name(155), 2 * value);
}

static void build_many(struct site_lab *lab)
{
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	measure_all(lab, 0, 1000);
	lab_build(lab);
}

static const char *const HOT_IDS = "\n\"box.cpu.self.b.p159.cold\"]});\n";

static void a_shard_that_is_not_due_gets_a_line(void **state)
{
	struct site_lab *lab = *state;

	build_many(lab);
	assert_true(lab_has(lab, "data/009.hot.js"));
	assert_false(lab_has(lab, "data/00a.hot.js"));
	measure_two_of_shard_nine(lab, 1, 1020);
	const ino_t recent = inode_of(lab, "data/012.recent.js");
	lab_build(lab);
	const char *line = strstr(lab_read(lab, "data/009.hot.js"), HOT_IDS);
	assert_non_null(line);
	assert_string_equal(line + strlen(HOT_IDS),
	        "tracker.data.add(\"hot\",{\"shard\":9,\"night\":2,\"places\":[6,5],"
	        "\"exp\":[-1,-1],\"value\":[10200,20400],\"lo\":[10,20],\"hi\":[10,20],"
	        "\"p95\":[102,204],\"min\":[102,204],\"q25\":[51,102],\"q75\":[51,102],"
	        "\"run\":[161,1],\"n\":[30,0],\"revision\":[1,1],\"environment\":[1,0],"
	        "\"flags\":[0,0]});\n");
	assert_int_equal(inode_of(lab, "data/012.recent.js"), recent);
	lab_assert_lacks(lab, "data/012.recent.js", "\"value\":[10000,");
	lab_assert_has(lab, "site-state.json", "\"build\":2,");
}

/* Two nights since the last build: a line each, oldest first. */
static void several_new_nights_are_lines(void **state)
{
	struct site_lab *lab = *state;

	build_many(lab);
	measure_two_of_shard_nine(lab, 1, 1020);
	world_night(&lab->w, 2, "nightly");
	world_point(&lab->w, "b", problem_name(155), 2060);
	lab_build(lab);
	const char *line = strstr(lab_read(lab, "data/009.hot.js"), HOT_IDS);
	assert_non_null(line);
	line += strlen(HOT_IDS);
	assert_non_null(strstr(line, "\"night\":2,\"places\":[6,5],\"exp\":[-1,-1],"
	                             "\"value\":[10200,20400]"));
	line = strchr(line, '\n') + 1;
	assert_non_null(strstr(line, "\"night\":3,\"places\":[11],\"exp\":[-1],"
	                             "\"value\":[20600]"));
	line = strchr(line, '\n') + 1;
	assert_string_equal(line, "");
}

/* The shard that waited longest is first in the next build, and its hot file starts again; a build
 * without news in between writes nothing. */
static void the_oldest_shard_is_rewritten_first(void **state)
{
	struct site_lab *lab = *state;

	build_many(lab);
	measure_two_of_shard_nine(lab, 1, 1020);
	lab_build(lab);
	lab_build(lab);
	assert_int_equal(lab->report.files_written, 0);
	lab_assert_has(lab, "site-state.json", "\"build\":2,");
	lab_assert_has(lab, "data/009.hot.js", "\"night\":2,");
	world_night(&lab->w, 2, "nightly");
	world_point(&lab->w, "b", problem_name(140), 1060); /* 12 of shard 8 */
	lab_build(lab);
	const char *line = strstr(lab_read(lab, "data/009.hot.js"), HOT_IDS);
	assert_string_equal(line, HOT_IDS);
	lab_assert_has(lab, "data/012.recent.js", "\"value\":[10000,200]");
	lab_assert_has(lab, "data/008.hot.js", "\"shard\":8,\"night\":3,\"places\":[12],");
	lab_assert_has(lab, "site-state.json", "\"build\":3,");
}

/* A file that is not the one of the last build is not continued. */
static void a_foreign_hot_file_is_replaced(void **state)
{
	struct site_lab *lab = *state;

	build_many(lab);
	lab_overwrite(lab, "data/009.hot.js", "shorter");
	measure_two_of_shard_nine(lab, 1, 1020);
	lab_build(lab);
	assert_string_equal(strstr(lab_read(lab, "data/009.hot.js"), HOT_IDS), HOT_IDS);
	lab_assert_has(lab, "data/012.recent.js", "\"value\":[10000,200]");
}

/* A backfill brings a point older than those that are known: the shard is rewritten, years and
 * all. */
static void a_backfilled_point_rewrites_its_shard(void **state)
{
	struct site_lab *lab = *state;

	build_many(lab);
	world_night(&lab->w, -60, "backfill");
	world_point(&lab->w, "b", problem_name(150), 500);
	lab->w.as_of_s = WORLD_START;
	lab_build(lab);
	lab_assert_has(lab, "data/012.2025.js",
	        "tracker.data.add(\"box.cpu.self.b.p150.cold\",{\"exp\":-1,\"value\":[5000]");
	assert_false(lab_has(lab, "data/011.2025.js"));
	lab_assert_has(lab, "data/012.recent.js", "\"value\":[10000]");
	assert_string_equal(strstr(lab_read(lab, "data/009.hot.js"), HOT_IDS), HOT_IDS);
	lab_assert_has(lab, "data/manifest.js",
	        "[[2025,\"data/012.2025.js\"],[0,\"data/012.recent.js\"],[0,\"data/009.hot.js\"]]");
}

/* The page of a series is written by each build that finds it failing anew, also where its shard is
 * not due. */
static void a_new_failure_writes_the_page(void **state)
{
	struct site_lab *lab = *state;
	const char *const page = "series/box.cpu.self.b.p150.cold.html";

	lab_set_template(lab, "series",
	        "{{#failed}}{{failure_word}}: "
	        "{{failure_message}}{{/failed}}{{^failed}}ok{{/failed}}");
	build_many(lab);
	assert_string_equal(lab_read(lab, page), "ok");
	world_night(&lab->w, 1, "nightly");
	world_fail(&lab->w, "b", problem_name(150), "crashed", "signal 11");
	world_point(&lab->w, "b", problem_name(155), 1000);
	lab_build(lab);
	assert_string_equal(lab_read(lab, page), "crashed: signal 11");
	const ino_t written = inode_of(lab, page);
	/* the same failure again looks the same; shard 9 is due now, so the text is compared */
	world_night(&lab->w, 2, "nightly");
	world_fail(&lab->w, "b", problem_name(150), "crashed", "signal 11");
	lab_build(lab);
	assert_int_equal(inode_of(lab, page), written);
}

/* The recent file has the name and change points of a series; a hot file gets them where they
 * changed. */
static void a_new_change_point_is_appended_with_its_series(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	build_many(lab);
	measure_two_of_shard_nine(lab, 1, 1020);
	const int64_t series = world_series(w, "b", problem_name(150));
	lab_put_change_point(lab, series, 161, 151, 1000, 1020, TK_CAUSE_CODE);
	lab_build(lab);
	lab_assert_has(lab, "data/009.hot.js",
	        "tracker.data.add(\"box.cpu.self.b.p150.cold\",{\"title\":\"p150\",\"label\":\"b\","
	        "\"unit\":\"ns\",\"ceiling\":null,\"peak\":null,\"work\":[1e+09,\"gflop_per_s\"],"
	        "\"lower_is_better\":true,\"changes\":[{\"time\":1767312000,\"before\":1000,"
	        "\"after\":1020,\"cause\":\"code\"}]});\n");
	lab_assert_lacks(lab, "data/009.hot.js", "p155.cold\",{\"title\"");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, lab_setup, lab_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(points_before_the_cut_are_in_the_file_of_their_year),
	        TEST(each_year_has_a_file_of_its_own),
	        TEST(points_since_the_cut_are_in_the_recent_file),
	        TEST(shared_files_list_nights_revisions_and_groups),
	        TEST(a_site_with_an_address_has_a_site_map),
	        TEST(a_new_month_moves_points_into_the_year),
	        TEST(a_finished_year_is_not_written_again),
	        TEST(more_recent_points_than_a_page_shows_are_all_written),
	        TEST(older_points_than_the_window_are_read_for_their_years),
	        TEST(nothing_is_written_where_nothing_is_new),
	        TEST(a_full_build_writes_all),
	        TEST(samples_are_sorted_steps),
	        TEST(one_sample_is_no_distribution),
	        TEST(a_hundred_samples_are_shown_with_both_ends),
	        TEST(samples_of_older_nights_are_left_out),
	        TEST(a_shard_that_is_not_due_gets_a_line),
	        TEST(several_new_nights_are_lines),
	        TEST(the_oldest_shard_is_rewritten_first),
	        TEST(a_foreign_hot_file_is_replaced),
	        TEST(a_backfilled_point_rewrites_its_shard),
	        TEST(a_new_failure_writes_the_page),
	        TEST(a_new_change_point_is_appended_with_its_series),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
