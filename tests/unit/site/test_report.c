/* The report's document formats, and the performance index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "site_gen/model/model.h"
#include "site_gen/model/perf_index.h"
#include "site_gen/render/line_chart.h"
#include "site_gen/report/document.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *write_document(enum tk_document_format format)
{
	static const char *const heads[] = {"Name", "Count"};
	struct tk_buf out = TK_BUF_INIT;
	struct tk_document d;
	tk_document_begin(&d, &out, format, "A <b> title");
	tk_document_add_paragraph(&d, "1 < 2 | 3\n4");
	tk_document_begin_table(&d, heads, 2, 2);
	tk_document_add_cell(&d, "%s", "µ|x");
	tk_document_add_cell(&d, "%d", 12345);
	tk_document_end_table(&d);
	tk_document_begin_table(&d, heads, 2, 2); /* without rows */
	tk_document_end_table(&d);
	tk_document_end(&d);
	return tk_buf_detach(&out, NULL);
}

static void documents_escape_their_text(void **state)
{
	char *text = write_document(TK_DOCUMENT_TEXT), *md = write_document(TK_DOCUMENT_MARKDOWN),
	     *html = write_document(TK_DOCUMENT_HTML);
	assert_string_equal(
	        text, "A <b> title\n===========\n\n1 < 2 | 3 4\n\nName  Count\nµ|x   12345\n\n");
	assert_string_equal(md,
	        "# A \\<b\\> title\n\n1 \\< 2 \\| 3 4\n\n| Name | Count |\n| --- | ---: |\n| "
	        "µ\\|x | 12345 |\n\n");
	assert_non_null(strstr(html, "<h1>A &lt;b&gt; title</h1>"));
	assert_non_null(strstr(html, "<td class=\"n\">12345</td>"));
	assert_null(strstr(html, "<b>"));
	free(text);
	free(md);
	free(html);
	assert_int_equal(tk_document_format_parse("md"), TK_DOCUMENT_MARKDOWN);
	assert_int_equal(tk_document_format_parse("pdf"), TK_DOCUMENT_FORMAT_COUNT);
}

/* Three series: one twice as fast in the second night, one steady, one that begins in the third. */
static void a_new_series_does_not_move_the_index(void **state)
{
	struct tk_device_row device_row = {.kind = "cpu"};
	struct tk_site_device device = {.row = &device_row, .mode = "cold"};
	struct tk_problem_row problem = {.op = "gemm"};
	struct tk_series_row row = {.mode = "cold", .role = TK_ROLE_SUITE};
	static struct tk_trace traces[3];
	struct tk_site_series series[3];
	static const float values[3][3] = {{200, 100, 100}, {50, 50, 50}, {0, 0, 7}};
	for (int i = 0; i < 3; i++) {
		traces[i] = (struct tk_trace){0};
		for (uint32_t night = 0; night < 3; night++)
			if (values[i][night] > 0)
				traces[i].at[traces[i].count++] = (struct tk_trace_point){
				        86400 * (night + 1), values[i][night], NAN, NAN};
		series[i] = (struct tk_site_series){.row = &row,
		        .device = &device,
		        .problem = &problem,
		        .metric = TK_METRIC_TIME,
		        .unit = TK_UNIT_NS,
		        .trace = &traces[i]};
	}
	struct tk_model m = {.series = series, .series_count = 3};
	struct tk_perf_index index;
	assert_int_equal(tk_perf_index_load(&m, &device, "gemm", &index, NULL), 0);
	assert_int_equal(index.count, 3);
	assert_int_equal(index.series, 2);
	assert_true(fabs(index.at[1].value - sqrt(2)) < 1e-6);
	assert_true(fabs(index.at[2].value - sqrt(2)) < 1e-6);
	assert_true(index.lo < sqrt(2) && index.hi > sqrt(2));
	assert_true(fabs(tk_perf_index_change(&index, 1)) < 1e-6);
	assert_true(fabs(tk_perf_index_change(&index, 2) - (sqrt(2) - 1)) < 1e-6);
	assert_true(isnan(tk_perf_index_change(&index, 30)));
}

static void ticks_are_round(void **state)
{
	assert_true(tk_chart_choose_step(480, 5) == 100);
	assert_true(tk_chart_choose_step(0.9, 5) == 0.2);
	assert_true(tk_chart_choose_step(1700, 5) == 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(documents_escape_their_text),
	        cmocka_unit_test(a_new_series_does_not_move_the_index),
	        cmocka_unit_test(ticks_are_round)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
