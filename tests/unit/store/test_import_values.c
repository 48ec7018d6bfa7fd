/* What an imported file becomes: series with metric, unit and direction, and the value of each
 * point. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

#include "base/buf.h"
#include "base/file.h"

/* "PROBLEM METRIC UNIT BETTER: VALUE@TIME ...", a line for each series, sorted. */
static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *describe_series(
        struct history *h, const struct tk_series_row *s, const struct tk_rows *problems)
{
	struct tk_rows points = {0};
	struct tk_buf line = TK_BUF_INIT;

	for (size_t i = 0; i < problems->count; i++) {
		const struct tk_problem_row *p = TK_ROWS_AT(problems, struct tk_problem_row, i);
		if (p->id == s->problem_id)
			tk_buf_add_printf(&line, "%s %s %s %s:", p->title, s->metric, s->unit,
			        s->better == TK_BETTER_LOWER ? "lower" : "higher");
	}
	MUST(tk_store_list_points(h->store, s->id, INT64_MIN, 0, &points, &err));
	for (size_t i = 0; i < points.count; i++) {
		const struct tk_point *p = TK_ROWS_AT(&points, struct tk_point, i);
		tk_buf_add_printf(&line, " %.6g@%lld", p->value, (long long)p->as_of_s);
		if (p->n > 1)
			tk_buf_add_printf(&line, "(%lld, from %.6g)", (long long)p->n, p->min);
	}
	tk_rows_free(&points);
	return tk_buf_detach(&line, NULL);
}

static void check(const char *format, const char *text, const char *const *expected)
{
	struct tk_import_counts counts = {0};
	struct history h;
	struct tk_rows all = {0}, problems = {0};
	char path[160], *lines[32];
	const char *file = path;
	const struct tk_import_request request = {.format = format,
	        .paths = &file,
	        .path_count = 1,
	        .machine = "box",
	        .at_s = 1700000000};

	history_new(&h);
	snprintf(path, sizeof(path), "%s/file", h.dir);
	MUST(tk_file_write(path, text, strlen(text), &err));
	MUST(tk_store_import(h.store, &request, &counts, &err));
	MUST(tk_store_list_series(h.store, &all, &err));
	MUST(tk_store_list_problems(h.store, &problems, &err));
	assert_true(all.count < 32);
	for (size_t i = 0; i < all.count; i++)
		lines[i] =
		        describe_series(&h, TK_ROWS_AT(&all, struct tk_series_row, i), &problems);
	qsort(lines, all.count, sizeof *lines, compare_lines);
	for (size_t i = 0; i < all.count; i++) {
		if (!expected[i] || strcmp(lines[i], expected[i]) != 0)
			fail_msg("line %zu of %s:\n%s\nexpected:\n%s", i, format, lines[i],
			        expected[i] ? expected[i] : "no more");
		free(lines[i]);
	}
	assert_null(expected[all.count]);
	tk_rows_free(&all);
	tk_rows_free(&problems);
	history_free(&h);
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Several values of one series at one time are repetitions: their median counts. */
static void repetitions_are_one_point(void **state)
{
	(void)state;
	check("csv",
	        "series_id,time,commit,value\n"
	        "odd,1600000000,c,5\nodd,1600000000,c,1\nodd,1600000000,c,3\n"
	        "even,1600000000,c,8\neven,1600000000,c,2\neven,1600000000,c,4\n"
	        "even,1600000000,c,16\n"
	        "one,1600000000,c,7\n",
	        LINES("even value  lower: 6@1600000000(4, from 2)",
	                "odd value  lower: 3@1600000000(3, from 1)",
	                "one value  lower: 7@1600000000"));
}

static void a_long_csv_has_units_and_directions(void **state)
{
	(void)state;
	check("csv",
	        "name,date,sha,measurement,unit,better\n"
	        "a,2020-09-13T12:26:40Z,c1,5,ms,\n"
	        "b,2020-09-13T12:26:40Z,c1,5,apples,higher\n"
	        "b,2020-09-14T12:26:40Z,c2,6,apples,higher\n"
	        "c,2020-09-13T12:26:40Z,c1,,ms,\n",
	        LINES("a time ns lower: 5e+06@1600000000",
	                "b value apples higher: 5@1600000000 6@1600086400"));
}

static void a_wide_csv_has_a_series_a_column(void **state)
{
	(void)state;
	check("csv",
	        "time,commit,gemm_ms,throughput,branch\n"
	        "2020-09-13T12:26:40Z,aaa,1.5,1000,main\n"
	        "2020-09-14T12:26:40Z,bbb,1.6,,main\n",
	        LINES("gemm_ms value  lower: 1.5@1600000000 1.6@1600086400",
	                "throughput value  lower: 1000@1600000000"));
}

static void days_are_counted_from_2000(void **state)
{
	(void)state;
	check("csv", "series_id,day,commit,value\na,0,c,5\na,1,d,6\n",
	        LINES("a value  lower: 5@946684800 6@946771200"));
}

static void a_gemm_csv_has_a_series_for_each_measurement(void **state)
{
	(void)state;
	check("gemm-csv",
	        "transA,transB,M,N,K,rocblas-Gflops,us\nN,T,64,64,64,119000.5,1154.9\n"
	        "N,N,32,32,32,,17.9\n",
	        LINES("transA=N transB=N M=32 N=32 K=32 time ns lower: 17900@1700000000",
	                "transA=N transB=T M=64 N=64 K=64 flops gflop_per_s higher: "
	                "119000@1700000000",
	                "transA=N transB=T M=64 N=64 K=64 time ns lower: 1.1549e+06@1700000000"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(repetitions_are_one_point),
	        cmocka_unit_test(a_long_csv_has_units_and_directions),
	        cmocka_unit_test(a_wide_csv_has_a_series_a_column),
	        cmocka_unit_test(days_are_counted_from_2000),
	        cmocka_unit_test(a_gemm_csv_has_a_series_for_each_measurement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
