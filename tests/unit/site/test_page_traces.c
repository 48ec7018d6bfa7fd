/* traces/: where the time goes inside kernels, by `tracker trace`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "page_groups.h"
#include "site_lab.h"

#include "store/kernel_report.h"
#include <stdio.h>
#include <string.h>

#include "../quoted_json.h"

#define INDEX "traces/index.html"

static void put_trace(
        struct site_lab *lab, const char *base, const char *result, const char *timeline)
{
	struct world *w = &lab->w;
	struct tk_kernel_report_row row = {.device_id = w->device,
	        .environment_id = w->environment,
	        .kind = TK_KERNEL_REPORT_TRACE,
	        .upstream = "self",
	        .revision = "0123456789abcdef",
	        .artifact_key = "fedcba9876543210",
	        .backend = "b",
	        .options = "o=1",
	        .config = "",
	        .mode = "cold",
	        .base = base,
	        .started_s = w->as_of_s + (*base ? 60 : 0),
	        .timeline = timeline};
	char text[8192];
	int64_t id, series = world_series(w, "b", "p1");
	struct tk_rows rows = {0};

	snprintf(text, sizeof text, "%s", quoted(result));
	row.result = text;
	assert_int_equal(tk_store_list_series(w->store, &rows, &w->err), 0);
	for (size_t i = 0; i < rows.count; i++)
		if (TK_ROWS_AT(&rows, struct tk_series_row, i)->id == series)
			row.problem_id = TK_ROWS_AT(&rows, struct tk_series_row, i)->problem_id;
	tk_rows_free(&rows);
	if (tk_store_put_kernel_report(w->store, &row, &id, &w->err))
		fail_msg("%s", w->err.message);
}

static void begin(struct site_lab *lab, const char *template)
{
	lab_set_template(lab, "kernel_trace", template);
	lab_set_template(lab, "kernel_traces", "{{#traces}}{{href}}|{{/traces}}");
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	world_night(&lab->w, 0, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
}

static const char *page_of(struct site_lab *lab)
{
	static char path[200];

	lab_build(lab);
	const char *text = lab_read(lab, INDEX);

	snprintf(path, sizeof path, "traces/%.*s", (int)strcspn(text, "|"), text);
	return path;
}

/* Half of the time products, a fifth waiting, a tenth idle. */
#define KERNEL \
	"{'name': 'gemm_kernel', 'duration_ns': 1000, 'block_ns': 800, 'records': 1234, " \
	"'record_ns': 12.5, 'groups_with_loss': 0, 'blocks': 132, 'blocks_launched': 132, " \
	"'multiprocessors': 132, 'clock_mhz': 1755, 'tail_ns': 40, " \
	"'multiprocessor_ns': {'matrix products': 500, 'wait': 200, 'no block': 100, 'load': " \
	"150}, " \
	"'regions': [{'name': 'mma', 'kind': 'matrix products', 'entered': 64, 'time_ns': 600, " \
	"'share_of_groups': 0.75, 'exposed_ns': 500, 'critical_ns': 400}, " \
	"{'name': 'never', 'entered': 0}, " \
	"{'name': 'load A', 'kind': 'load', 'entered': 1, 'time_ns': 0.01, 'exposed_ns': 0}]%s}"
#define TRACE(more) "{'untraced_ns': 1000, 'traced_ns': 1100, 'runs': 5, 'kernels': [" more "]}"

static const char *with_members(const char *members)
{
	static char kernel[2048], text[4096];

	snprintf(kernel, sizeof kernel, KERNEL, members);
	snprintf(text, sizeof text, TRACE("%s"), kernel);
	return text;
}

static void a_trace_is_summarized(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{title}}\n{{problem}} {{backend}} {{device}} {{when}} {{mode}} {{options}} "
	           "{{revision}} {{build}} {{series_href}}\n{{time}} {{recording}} {{runs}} "
	           "{{tensor_share}} {{wait_share}} {{idle_share}}");
	put_trace(lab, "", with_members(""), "");
	assert_string_equal(lab_read(lab, page_of(lab)),
	        "Inside b · p1\np1 b box/cpu 2026-01-01 00:00 cold o=1 0123456789ab… fedcba987654… "
	        "../series/box.cpu.self.b.p1.cold.html\n"
	        "1.000 µs +10.0 % 5 50 % 20 % 10 %");
	lab_assert_has(lab, INDEX, ".html|");
}

/* Numbers of another program: what is no time and no share is left out. */
static void a_trace_of_strange_numbers(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{time}}|{{recording}}|{{runs}}|{{tensor_share}}|{{wait_share}}|{{#kernels}}"
	           "{{name}} {{duration}} {{records}}, {{blocks}}, {{multiprocessors}}, {{tail}}"
	           "{{#activities}}{{name}}{{/activities}}{{#regions}}{{name}}{{/regions}};"
	           "{{/kernels}}");
	put_trace(lab, "",
	        "{'traced_ns': 2000, 'runs': 'x', 'kernels': [{'name': 7, 'blocks': 12}, "
	        "{'duration_ns': 10, 'multiprocessor_ns': {'wait': 20, 'no block': -1}, "
	        "'blocks': 5, 'blocks_launched': 1000, 'records': 3, "
	        "'groups_with_loss': 1}]}",
	        "");
	assert_string_equal(lab_read(lab, page_of(lab)),
	        "2.000 µs||–|0.0 %|–| – –, the first 12, –, –;"
	        " 10.00 ns 3, some lost, the first 5 of 1,000, –, –;");
}

static void activities_and_regions(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#kernels}}{{name}} {{duration}} {{blocks}}; {{records}}, {{record_cost}}; "
	           "{{multiprocessors}}; "
	           "{{tail}}\n{{#activities}}{{name}} {{does}} {{time}} {{share}}\n"
	           "{{/activities}}{{#regions}}{{name}} {{kind}} {{entered}} {{time}} {{share}} "
	           "{{exposed}} {{exposed_share}} {{critical}}\n{{/regions}}{{/kernels}}");
	put_trace(lab, "", with_members(""), "");
	assert_string_equal(lab_read(lab, page_of(lab)),
	        "gemm_kernel 1.000 µs 132; 1,234, none lost, 12.50 ns in a row; 132 at 1755 MHz; "
	        "40.00 ns\n"
	        "matrix products tensor 500.0 ns 50 %\n"
	        "load load 150.0 ns 15 %\n"
	        "wait wait 200.0 ns 20 %\n"
	        "no block idle 100.0 ns 10 %\n"
	        "mma matrix products 64 600.0 ns 75 % 500.0 ns 50 % 50 %\n"
	        "load A load 1 0.000 ns – 0.000 ns 0.0 % –\n");
}

/* Of a persistent kernel the critical path is that of a tile. */
static void tiles_of_a_persistent_kernel(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#kernels}}{{tiles}}{{#regions}} {{critical}}{{/regions}}{{/kernels}}");
	put_trace(lab, "",
	        "{'kernels': [{'name': 'k', 'duration_ns': 1000, 'block_ns': 900, 'tiles': "
	        "{'count': "
	        "1024, 'mean_ns': 200, 'shortest_ns': 150, 'longest_ns': 300}, 'regions': "
	        "[{'name': "
	        "'mma', 'kind': 'matrix products', 'entered': 1, 'critical_ns': 900, "
	        "'tile_critical_ns': 50}]}]}",
	        "");
	assert_string_equal(lab_read(lab, page_of(lab)),
	        "1,024 of 200.0 ns in the mean, 150.0 ns to 300.0 ns 25 %");
}

static void comparisons_are_listed(void **state)
{
	static const char change[] =
	        "{'kernels': [{'name': 'k', 'change': {'base_ns': 1000, 'head_ns': 900, "
	        "'change_ns': "
	        "%s, 'changed': %s}, 'cause': 'mma', 'regions': [{'name': 'mma', 'change': "
	        "{'change_ns': -80}, 'exposed_change': {'change_ns': -20}}]}]}";
	static const struct {
		const char *ns, *changed, *words;
	} cases[] = {
	        {"-100", "true", "10 % faster good mma -80.00 ns, of which -20.00 ns are exposed"},
	        {"50", "true", "5.0 % slower bad mma -80.00 ns, of which -20.00 ns are exposed"},
	        {"50", "false", "no change of its time"}};
	struct site_lab *lab = *state;

	begin(lab, "{{base}}|{{#comparisons}}{{when}} {{base}} {{head}} {{kernel}}: "
	           "{{change}}{{#tone}} "
	           "{{tone}}{{/tone}}{{#cause}} {{cause}}{{/cause}}\n{{/comparisons}}");
	put_trace(lab, "", with_members(""), "");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char result[1024], expected[512];

		snprintf(result, sizeof result, change, cases[i].ns, cases[i].changed);
		world_end_night(&lab->w);
		lab_run_sql(lab, "DELETE FROM kernel_report WHERE base<>''");
		put_trace(lab, "r0", result, "");
		snprintf(expected, sizeof expected, "|2026-01-01 00:01 r0 0123456789ab… k: %s\n",
		        cases[i].words);
		assert_string_equal(lab_read(lab, page_of(lab)), expected);
	}
}

/* The bars of the timeline are in a file of their own, which the script reads. */
static void a_timeline_has_its_data(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{data}} {{#timelines}}{{name}} {{#timeline}}{{index}} {{multiprocessor}} "
	           "{{drawn_end}}{{left_out}}{{/timeline}};{{/timelines}}");
	char timeline[8192];

	snprintf(timeline, sizeof timeline, "%s",
	        quoted("[{'kernel': 'k', 'multiprocessor': 3, 'duration_ns': 1000, 'lanes': ['a'], "
	               "'groups': [[0, 0]], 'regions': [{'name': 'mma', 'kind': 'matrix "
	               "products'}], "
	               "'spans': [[0, 0, 0, 400]]}, {'kernel': 'empty'}]"));
	put_trace(lab, "", with_members(""), timeline);
	const char *text = lab_read(lab, page_of(lab));

	assert_non_null(strstr(text, "data/trace-"));
	char data[200];

	snprintf(data, sizeof data, "%.*s", (int)strcspn(text, " "), text);
	assert_true(lab_has(lab, data));
}

static void a_site_without_traces_has_no_page(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	lab_build(lab);
	assert_false(lab_has(lab, INDEX));
}

int page_trace_tests(void)
{
	const struct CMUnitTest tests[] = {
	        LAB_TEST(a_trace_is_summarized),
	        LAB_TEST(a_trace_of_strange_numbers),
	        LAB_TEST(activities_and_regions),
	        LAB_TEST(tiles_of_a_persistent_kernel),
	        LAB_TEST(comparisons_are_listed),
	        LAB_TEST(a_timeline_has_its_data),
	        LAB_TEST(a_site_without_traces_has_no_page),
	};

	return cmocka_run_group_tests_name("traces", tests, NULL, NULL);
}
