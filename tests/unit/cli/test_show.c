/* What `tracker show` prints of a run, of one series and of several. */
#include "../store/history.h"
#include "capture.h"

#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "cli/history/show.h"
#include "cli/history/show_point.h"

static const struct tk_globals globals = {.no_color = true};

/* A copy, to be freed, with a blank for each no-break space, which stands before units. */
static char *copy_plain(const char *text)
{
	static const char space[] = "\u00a0";
	char *copy = strdup(text), *to = copy;

	assert_non_null(copy);
	for (const char *from = text; *from; to++) {
		bool is_space = !strncmp(from, space, sizeof space - 1);
		*to = is_space ? ' ' : *from;
		from += is_space ? sizeof space - 1 : 1;
	}
	*to = '\0';
	return copy;
}

/* The newest run of the history, to be freed. */
static char *show_run(struct history *h, struct tk_show_options o)
{
	struct tk_lookup l = {0};
	struct tk_rows runs;
	struct capture c;
	FILE *terminal = stdout;

	MUST(tk_lookup_load(h->store, &l, &err));
	MUST(tk_store_list_night_runs(h->store, h->night, &runs, &err));
	struct tk_error err = {0};
	stdout = capture_open(&c);
	int status = tk_show_run(
	        h->store, &o, &l, TK_ROWS_AT(&runs, struct tk_run_row, runs.count - 1), &err);
	stdout = terminal;
	char *text = copy_plain(capture_text(&c));
	capture_free(&c);
	tk_rows_free(&runs);
	tk_lookup_free(&l);
	assert_int_equal(status, 0);
	return text;
}

static void put_run(struct history *h, enum tk_outcome outcome, const char *message,
        const char *attributes, const struct tk_point *point, const double *samples, size_t count)
{
	const struct tk_run_row run = {.night_id = h->night,
	        .seq = 5,
	        .series_id = h->series,
	        .build_id = h->build,
	        .environment_id = h->environment,
	        .as_of_s = 1005,
	        .started_s = 1105,
	        .wall_s = 0.25,
	        .outcome = outcome,
	        .message = message,
	        .attributes = attributes};
	int64_t id;

	MUST(tk_store_put_run(h->store, &run, point, &samples, &count, point ? 1 : 0, &id, &err));
}

static void a_run_has_its_value_and_its_place(void **state)
{
	struct history *h = *state;
	int64_t id;

	MUST(history_put_run(h, 3, 2000, 20, &id, &err));
	char *text = show_run(h, (struct tk_show_options){0});
	expect_contains(text, "night         1, job 3\n");
	expect_contains(text, "started       1970-01-01T00:18:23Z\n");
	expect_contains(text, "took          250 ms\n");
	expect_contains(text, "outcome       ok\n");
	expect_contains(text, "median        2.000 µs (95 % CI 1.999 µs to 2.001 µs), 20 samples, "
	                      "minimum 1.998 µs, middle half 2.000 µs to 2.001 µs, 95th percentile "
	                      "2.003 µs\n");
	expect_contains(text, "rate          134.2 TFLOP/s\n");
	expect_contains(text, "revision      0123abcd\n              gemm: unroll\n");
	expect_contains(text, "toolchain     gcc 12\nflags         -O2\n");
	expect_contains(text, "\nmeasurement\n  stop                       tight\n");
	expect_contains(text, "\nenvironment\n  governor                   performance\n");
	expect_contains(text, "\n20 samples\n");
	expect_lacks(text, "message");
	expect_lacks(text, "no raw samples");
	free(text);
}

/* Numbers have the unit that their key names; what the lines above have is not repeated. */
static void attributes_have_units(void **state)
{
	struct history *h = *state;
	const struct tk_point point = {.series_id = h->series,
	        .value = 100,
	        .lo = NAN,
	        .hi = NAN,
	        .min = 99,
	        .q25 = NAN,
	        .q75 = NAN,
	        .p95 = 101,
	        .n = 1};

	put_run(h, TK_OUTCOME_OK, "",
	        "{\"workspace_bytes\":2048,\"launch_ns\":2500,\"energy_j\":0.5,\"budget_s\":90,"
	        "\"clock_mhz\":1980.5,\"seed\":12345678901,\"ratio\":0.123456789,\"none\":null,"
	        "\"empty\":\"\",\"median_ns\":100,\"n\":1,\"deep\":{\"er\":{\"list\":[1,2]}},"
	        "\"on\":true,\"bad\\u001b[2J\":\"x\\u001b[2J\"}",
	        &point, &point.value, 1);
	char *text = show_run(h, (struct tk_show_options){0});
	expect_contains(text, "  launch_ns                  2.500 µs\n");
	expect_contains(text, "  energy_j                   500.0 mJ\n");
	expect_contains(text, "  budget_s                   1 min 30 s\n");
	expect_contains(text, "  clock_mhz                  1980.5 MHz\n");
	expect_contains(text, "  seed                       12345678901\n");
	expect_contains(text, "  ratio                      0.123457\n");
	expect_contains(text, "  deep.er.list               [1,2]\n");
	expect_contains(text, "  on                         true\n");
	expect_lacks(text, "none");
	expect_lacks(text, "empty");
	expect_lacks(text, "  n   ");
	expect_lacks(text, "\033");
	expect_contains(text, "\n1 sample\n");
	/* one sample has no interval and no middle half */
	expect_contains(text, "median        100.0 ns, 1 sample, minimum 99.00 ns, 95th percentile "
	                      "101.0 ns\n");
	free(text);
}

static void a_failed_run_has_no_value(void **state)
{
	struct history *h = *state;

	put_run(h, TK_OUTCOME_CRASHED, "signal 11\033[2J", "{\"n\":3}", NULL, NULL, 0);
	char *text = show_run(h, (struct tk_show_options){.samples = true});
	expect_contains(text, "outcome       crashed\nmessage       signal 11");
	expect_lacks(text, "\033");
	expect_lacks(text, "median ");
	expect_lacks(text, "rate ");
	expect_contains(text, "  n                          3\n"); /* nothing above has it */
	expect_contains(text, "\nno raw samples; `retention.samples` drops them after a while\n");
	free(text);

	text = show_run(h, (struct tk_show_options){.json = true, .samples = true});
	json_t *o = json_loads(text, 0, NULL);
	assert_null(json_object_get(o, "value"));
	assert_int_equal(json_array_size(json_object_get(o, "samples")), 0);
	assert_string_equal(json_string_value(json_object_get(o, "outcome")), "crashed");
	json_decref(o);
	free(text);
}

/* The last bin has all above the 95 % quantile. */
static void samples_are_drawn_and_listed(void **state)
{
	struct history *h = *state;
	double samples[40];
	const struct tk_point point = {.series_id = h->series,
	        .value = 100,
	        .lo = 99,
	        .hi = 101,
	        .min = 100,
	        .q25 = 100,
	        .q75 = 101,
	        .p95 = 111,
	        .n = 40};

	for (size_t i = 0; i < 40; i++)
		samples[i] = i < 20 ? 100 : i < 39 ? 111 : 100000;
	put_run(h, TK_OUTCOME_OK, "", "{}", &point, samples, 40);
	char *text = show_run(h, (struct tk_show_options){.samples = true});
	expect_contains(text, "\n40 samples\n       100.0 ns     20 ████");
	expect_contains(text, "  >= ");
	expect_contains(text, "  >=   111.0 ns     20 ");
	expect_contains(text, "\n100 100 100 ");
	expect_contains(text, " 111 111 100000\n");
	free(text);

	text = show_run(h, (struct tk_show_options){.json = true, .samples = true});
	json_t *o = json_loads(text, 0, NULL), *list = json_object_get(o, "samples");
	assert_int_equal(json_array_size(list), 40);
	assert_float_equal(json_real_value(json_array_get(list, 39)), 100000, 0);
	json_t *value = json_object_get(o, "value"), *build = json_object_get(o, "build");
	assert_float_equal(json_number_value(json_object_get(value, "p95")), 111, 0);
	assert_int_equal(json_integer_value(json_object_get(value, "n")), 40);
	assert_string_equal(json_string_value(json_object_get(build, "revision")), "0123abcd");
	assert_string_equal(json_string_value(json_object_get(build, "status")), "ok");
	json_decref(o);
	free(text);
	text = show_run(h, (struct tk_show_options){.json = true});
	expect_lacks(text, "\"samples\"");
	free(text);
}

/* "ns" and "µs" in one column */
static void bins_are_aligned(void **state)
{
	struct history *h = *state;
	const double samples[] = {700, 700, 1250, 1250};
	const struct tk_point point = {.series_id = h->series,
	        .value = 975,
	        .lo = NAN,
	        .hi = NAN,
	        .min = 700,
	        .q25 = NAN,
	        .q75 = NAN,
	        .p95 = 1250,
	        .n = 4};

	put_run(h, TK_OUTCOME_OK, "", "{}", &point, samples, 4);
	char *text = show_run(h, (struct tk_show_options){0});
	expect_contains(text, "\n       700.0 ns      2 █");
	expect_contains(text, "\n       950.0 ns      0 ");
	expect_contains(text, "\n       1.000 µs      0 ");
	expect_contains(text, "\n  >=   1.250 µs      2 █");
	free(text);
}

/* ---- series ---- */

static char *show_series(struct history *h, struct tk_show_options o, bool as_list)
{
	struct tk_lookup l = {0};
	struct capture c;
	FILE *terminal = stdout;

	MUST(tk_lookup_load(h->store, &l, &err));
	const struct tk_series_row *series = tk_lookup_series(&l, h->series);
	struct tk_error err = {0};
	stdout = capture_open(&c);
	int status = as_list ? tk_show_series_list(h->store, &globals, &o, &l, &series, 1, &err)
	                     : tk_show_series(h->store, &globals, &o, &l, series, &err);
	stdout = terminal;
	char *text = copy_plain(capture_text(&c));
	capture_free(&c);
	tk_lookup_free(&l);
	assert_int_equal(status, 0);
	return text;
}

static void a_series_says_what_it_is(void **state)
{
	struct history *h = *state;
	char *text = show_series(h, (struct tk_show_options){.limit = 10}, false);

	expect_contains(text, "problem     gemm f32 512x512x512 nn\n"
	                      "            gemm:a=f32,k=512,m=512,n=512\n"
	                      "source      smoke\n"
	                      "upstream    blas\n"
	                      "            https://example.org/blas.git\n"
	                      "backend     blas\n"
	                      "device      Some CPU\n"
	                      "machine     box\n"
	                      "measures    time, cold, suite, lower is better\n");
	expect_contains(text, "\nNo values yet.\n");
	expect_lacks(text, "trend");
	expect_lacks(text, "config ");
	free(text);
	text = show_series(h, (struct tk_show_options){0}, true);
	expect_contains(text, " - ");
	free(text);
}

static void points_are_listed_newest_first(void **state)
{
	struct history *h = *state;
	int64_t id;

	for (int i = 1; i <= 3; i++)
		MUST(history_put_run(h, i, 1000 * i, 20, &id, &err));
	char *text = show_series(h, (struct tk_show_options){.limit = 2}, false);
	expect_contains(text, "trend       ▁▅█\n");
	const char *newest = strstr(text, "3.000 µs"), *before = strstr(text, "2.000 µs");
	if (!newest || !before || newest > before)
		fail_msg("3 µs do not precede 2 µs in:\n%s", text);
	expect_lacks(text, "1.000 µs"); /* beyond the limit, but in the trend */
	expect_contains(text, "unstable");
	expect_lacks(text, "throttled");
	assert_int_equal(count_of(text, "gemm: unroll"), 2);
	free(text);
	text = show_series(h, (struct tk_show_options){0}, false);
	expect_contains(text, "1.000 µs");
	free(text);

	text = show_series(h, (struct tk_show_options){.limit = 2, .json = true}, false);
	json_t *o = json_loads(text, 0, NULL), *points = json_object_get(o, "points");
	assert_int_equal(json_array_size(points), 2);
	json_t *first = json_array_get(points, 0);
	assert_float_equal(json_number_value(json_object_get(first, "value")), 3000, 0);
	assert_true(json_is_true(json_object_get(first, "unstable")));
	assert_true(json_is_false(json_object_get(first, "throttled")));
	json_decref(o);
	free(text);

	text = show_series(h, (struct tk_show_options){.json = true}, true);
	o = json_loads(text, 0, NULL);
	json_t *point = json_object_get(json_array_get(o, 0), "newest");
	assert_float_equal(json_number_value(json_object_get(point, "value")), 3000, 0);
	assert_string_equal(json_string_value(json_object_get(point, "revision")), "0123abcd");
	json_decref(o);
	free(text);
	text = show_series(h, (struct tk_show_options){0}, true);
	expect_contains(text, "3.000 µs");
	expect_contains(text, "▁▅█");
	free(text);
}

static void a_trend_has_the_newest_points(void **state)
{
	struct tk_point points[TK_SPARKLINE_POINTS + 2];
	const struct tk_rows rows = {.rows = points, .count = TK_SPARKLINE_POINTS + 2};
	struct tk_buf b = TK_BUF_INIT;

	for (size_t i = 0; i < rows.count; i++)
		points[i] = (struct tk_point){.value = i < 2 ? 1e9 : 5}; /* too old to count */
	tk_show_add_sparkline(&b, &rows);
	assert_int_equal(count_of(tk_buf_cstr(&b), "▄"), TK_SPARKLINE_POINTS);
	assert_int_equal(strlen(tk_buf_cstr(&b)), TK_SPARKLINE_POINTS * strlen("▄"));
	tk_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)
	        TEST(a_run_has_its_value_and_its_place),
	        TEST(attributes_have_units),
	        TEST(a_failed_run_has_no_value),
	        TEST(samples_are_drawn_and_listed),
	        TEST(bins_are_aligned),
	        TEST(a_series_says_what_it_is),
	        TEST(points_are_listed_newest_first),
	        cmocka_unit_test(a_trend_has_the_newest_points),
	};
	setlocale(LC_CTYPE, "C.UTF-8"); /* as the program does */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
