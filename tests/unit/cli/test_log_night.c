/* One night in full, as `tracker log NIGHT` prints it: stages, upstreams, failures, peaks. */
#include "../store/history.h"
#include "capture.h"

#include <jansson.h>
#include <stdlib.h>

#include "cli/history/log.h"

static void put_stage(struct history *h, const char *name, enum tk_stage_status status,
        int64_t started_s, int64_t finished_s, const char *detail)
{
	const struct tk_stage_row row = {.night_id = h->night,
	        .name = name,
	        .status = status,
	        .started_s = started_s,
	        .finished_s = finished_s,
	        .detail = detail};

	MUST(tk_store_put_stage(h->store, &row, &err));
}

static void put_failure(
        struct history *h, int64_t seq, enum tk_outcome outcome, const char *message)
{
	const struct tk_run_row run = {.night_id = h->night,
	        .seq = seq,
	        .series_id = h->series,
	        .build_id = h->build,
	        .environment_id = h->environment,
	        .as_of_s = 1000 + seq,
	        .started_s = 1100 + seq,
	        .outcome = outcome,
	        .message = message,
	        .attributes = "{}"};
	int64_t id;

	MUST(tk_store_put_run(h->store, &run, NULL, NULL, NULL, 0, &id, &err));
}

static void put_resolution(struct history *h, int64_t upstream_id, int64_t revision_id,
        int64_t build_id, enum tk_resolution_status status, const char *message)
{
	const struct tk_resolution_row row = {.night_id = h->night,
	        .upstream_id = upstream_id,
	        .revision_id = revision_id,
	        .build_id = build_id,
	        .status = status,
	        .message = message};

	MUST(tk_store_put_resolution(h->store, &row, &err));
}

/* What the command prints of the only night, to be freed. */
static char *print_night(struct history *h, bool as_json, enum tk_night_status status)
{
	const struct tk_globals g = {.no_color = true};
	const struct tk_log_options o = {.json = as_json};
	struct tk_rows nights;
	struct tk_lookup l = {0};
	struct capture c;
	FILE *terminal = stdout;

	MUST(tk_lookup_load(h->store, &l, &err));
	MUST(tk_store_list_nights(h->store, &nights, &err));
	struct tk_night_row night = *TK_ROWS_AT(&nights, struct tk_night_row, 0);
	night.status = status;
	stdout = capture_open(&c);
	struct tk_error err = {0};
	int code = tk_log_print_night(h->store, &g, &o, &night, &l, &err);
	stdout = terminal;
	char *text = strdup(capture_text(&c));
	capture_free(&c);
	tk_rows_free(&nights);
	tk_lookup_free(&l);
	assert_int_equal(code, 0);
	return text;
}

static void expect_line(const char *text, const char *const *cells)
{
	char *copy = strdup(text), *rest = copy, *line;
	bool found = false;

	while (!found && (line = strsep(&rest, "\n"))) {
		const char *at = line;
		for (size_t i = 0; at && cells[i]; i++)
			at = (at = strstr(at, cells[i])) ? at + strlen(cells[i]) : NULL;
		found = at && strncmp(line, cells[0], strlen(cells[0])) == 0;
	}
	free(copy);
	if (!found)
		fail_msg("no line of \"%s\", \"%s\" ... in:\n%s", cells[0], cells[1], text);
}
#define EXPECT_LINE(text, ...) expect_line(text, (const char *const[]){__VA_ARGS__, NULL})

static void stages_have_their_durations(void **state)
{
	struct history *h = *state;

	put_stage(h, "probe", TK_STAGE_DONE, 1000, 1000, "{}");
	put_stage(h, "resolve", TK_STAGE_FAILED, 1000, 1001, "no network");
	put_stage(h, "build", TK_STAGE_DONE, 5000, 1000, "{}"); /* the clock was set back */
	put_stage(h, "measure", TK_STAGE_RUNNING, 1000, 0, "{}");
	char *text = print_night(h, false, TK_NIGHT_STOPPED);
	EXPECT_LINE(text, "probe ", "done", "< 1 s");
	EXPECT_LINE(text, "resolve ", "failed", "1.0 s", "no network");
	EXPECT_LINE(text, "build ", "done", "< 1 s");
	EXPECT_LINE(text, "measure ", "running", "-");
	expect_lacks(text, "{}");
	expect_contains(text, "\n\n`tracker nightly --resume` continues");
	expect_contains(text, "\n\nSTAGE ");
	/* no such rows, no tables of them */
	expect_lacks(text, "UPSTREAM");
	expect_lacks(text, "OUTCOME");
	expect_lacks(text, "peak");
	free(text);
	text = print_night(h, false, TK_NIGHT_COMPLETE);
	expect_lacks(text, "--resume");
	free(text);
}

static void upstreams_say_what_became_of_them(void **state)
{
	struct history *h = *state;
	const struct tk_upstream_row other = {.name = "far", .kind = "git", .url = "u"};
	const struct tk_build_row failed = {.revision_id = h->revision,
	        .artifact_key = "other",
	        .adapter = "blas",
	        .toolchain = "gcc 12",
	        .flags = "",
	        .arch = "native",
	        .status = TK_BUILD_FAILED,
	        .message = "gemm.c:3: no such file",
	        .log = "",
	        .built_s = 300};
	int64_t far, build;

	MUST(tk_store_put_upstream(h->store, &other, &far, &err));
	MUST(tk_store_put_build(h->store, &failed, &build, &err));
	put_resolution(h, h->upstream, h->revision, build, TK_RESOLUTION_NEW, "");
	put_resolution(h, far, 0, 0, TK_RESOLUTION_UNREACHABLE, "no route to host");
	char *text = print_night(h, false, TK_NIGHT_COMPLETE);
	EXPECT_LINE(text, "blas ", "new", "0123abcd", "gemm: unroll", "failed", "no such file");
	EXPECT_LINE(text, "far ", "unreachable", "no route to host");
	free(text);

	text = print_night(h, true, TK_NIGHT_COMPLETE);
	json_t *o = json_loads(text, 0, NULL), *list = json_object_get(o, "upstreams");
	assert_int_equal(json_array_size(list), 2);
	for (size_t i = 0; i < 2; i++) {
		json_t *u = json_array_get(list, i);
		bool is_far = !strcmp(json_string_value(json_object_get(u, "upstream")), "far");
		assert_int_equal(json_is_null(json_object_get(u, "revision")), is_far);
		assert_int_equal(json_is_null(json_object_get(u, "build")), is_far);
		assert_string_equal(json_string_value(json_object_get(u, "message")),
		        is_far ? "no route to host" : "");
	}
	json_decref(o);
	free(text);
}

static void only_failures_are_listed(void **state)
{
	struct history *h = *state;
	int64_t id;

	put_stage(h, "measure", TK_STAGE_DONE, 1000, 1090, "{}");
	MUST(history_put_run(h, 1, 100, 3, &id, &err));
	put_failure(h, 2, TK_OUTCOME_CRASHED, "signal 11");
	put_failure(h, 3, TK_OUTCOME_UNSUPPORTED, "only f32");
	put_failure(h, 4, TK_OUTCOME_WRONG, "row 1");
	char *text = print_night(h, false, TK_NIGHT_COMPLETE);
	expect_contains(text, "signal 11");
	expect_contains(text, "row 1");
	expect_contains(text, "\n\nRUN ");
	expect_lacks(text, "only f32");
	assert_int_equal(count_of(text, "box.cpu.blas"), 2);
	free(text);

	text = print_night(h, true, TK_NIGHT_COMPLETE);
	json_t *o = json_loads(text, 0, NULL), *list = json_object_get(o, "failures"),
	       *stage = json_array_get(json_object_get(o, "stages"), 0);
	assert_int_equal(json_array_size(list), 2);
	json_t *first = json_array_get(list, 0);
	assert_int_equal(json_integer_value(json_object_get(first, "run")), id + 1);
	assert_string_equal(json_string_value(json_object_get(first, "outcome")), "crashed");
	assert_string_equal(json_string_value(json_object_get(first, "message")), "signal 11");
	assert_string_equal(json_string_value(json_object_get(stage, "name")), "measure");
	assert_string_equal(json_string_value(json_object_get(stage, "status")), "done");
	assert_int_equal(json_integer_value(json_object_get(stage, "finished_s")), 1090);
	assert_true(json_is_null(json_object_get(o, "peak_share")));
	json_decref(o);
	free(text);
}

/* The fixture's series on an H200, whose peaks are known: 1e11 operations in 200 µs are 500
 * TFLOP/s, of 989. */
static void use_h200(struct history *h)
{
	const struct tk_device_row device = {.machine_id = h->machine,
	        .kind = "cuda",
	        .name = "NVIDIA H200",
	        .arch = "sm_90",
	        .slug = "cuda"};
	const struct tk_problem_row problem = {.text = "gemm:a=bf16,k=3684,m=3684,n=3684",
	        .op = "gemm",
	        .dtype = "bf16",
	        .title = "gemm bf16",
	        .flops = 1e11,
	        .bytes = 1,
	        .source = "made",
	        .family = "square"};
	struct tk_environment_row environment = {.attributes = "{}"};

	MUST(tk_store_put_device(h->store, &device, &h->device, &err));
	environment.device_id = h->device;
	MUST(tk_store_put_environment(h->store, &environment, &h->environment, &err));
	MUST(tk_store_put_problem(h->store, &problem, &h->problem, &err));
	h->series = history_put_series(h, "blas", "cold", "time");
}

static void timings_are_compared_with_the_peak(void **state)
{
	struct history *h = *state;
	int64_t id;

	MUST(history_put_run(h, 1, 100, 3, &id, &err)); /* of a device without a known peak */
	use_h200(h);
	MUST(history_put_run(h, 2, 400e3, 3, &id, &err));
	h->series = history_put_series(h, "best", "cold", "time");
	MUST(history_put_run(h, 3, 200e3, 3, &id, &err));
	put_failure(h, 4, TK_OUTCOME_CRASHED, "");
	h->series = history_put_series(h, "middle", "cold", "time");
	MUST(history_put_run(h, 5, 250e3, 3, &id, &err));
	/* a control is no kernel of interest */
	h->series = history_put_series(h, "control", "cold", "time");
	history_run_sql(h, "UPDATE series SET role='control' WHERE backend='control'");
	MUST(history_put_run(h, 6, 110e3, 3, &id, &err));
	char *text = print_night(h, false, TK_NIGHT_COMPLETE);
	expect_contains(text, "of the data sheet's peak: median 40");
	expect_contains(text, " of 3 timings, best 51");
	expect_contains(text, "(box.cuda.blas.best.");
	free(text);

	text = print_night(h, true, TK_NIGHT_COMPLETE);
	json_t *o = json_loads(text, 0, NULL), *peak = json_object_get(o, "peak_share");
	assert_int_equal(json_integer_value(json_object_get(peak, "count")), 3);
	assert_float_equal(json_real_value(json_object_get(peak, "median")), 400 / 989.5, 1e-3);
	assert_float_equal(json_real_value(json_object_get(peak, "best")), 500 / 989.5, 1e-3);
	json_decref(o);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)
	        TEST(stages_have_their_durations),
	        TEST(upstreams_say_what_became_of_them),
	        TEST(only_failures_are_listed),
	        TEST(timings_are_compared_with_the_peak),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
