/* Results of GPU kernels: NVBench, lists of kernels, and CSV of GEMM suites. */
#include "import_groups.h"
#include "import_rig.h"

#include "../quoted_json.h"
#include <stdlib.h>

/* ---- NVBench --------------------------------------------------------------------------------- */

#define NVBENCH(header, states) \
	"{" header "'benchmarks': [{'name': 'copy', 'states': [" states "]}]}"
#define SUMMARY(tag, value) "{'tag': '" tag "', 'data': [{'value': " value "}]}"
#define STATE(summaries) "{'summaries': [" summaries "]}"

/* One state with these summaries: the first of the known ones counts for each metric. */
static void nvbench_summaries(void **state)
{
	static const struct {
		const char *summaries, *series;
	} cases[] = {
	        {SUMMARY("nv/cold/time/gpu/mean", "'2e-6'"),
	                "copy time ns lower: 2000@1700000000\n"},
	        {SUMMARY("nv/cold/time/gpu/mean", "2e-6") "," SUMMARY(
	                 "nv/cold/time/gpu/median", "1e-6"),
	                "copy time ns lower: 1000@1700000000\n"},
	        {SUMMARY("nv/cold/time/gpu/mean", "2e-6") "," SUMMARY("nv/cold/time/gpu/min",
	                 "'1e-6'") "," SUMMARY("nv/cold/sample_size", "'50'"),
	                "copy time ns lower: 2000@1700000000[n=50 min=1000]\n"},
	        {SUMMARY("nv/cold/time/cpu/mean", "2e-6") "," SUMMARY(
	                 "nv/cpu_only/time/cpu/mean", "3e-6"),
	                "copy cpu_time ns lower: 2000@1700000000\n"},
	        {SUMMARY("nv/cold/time/cpu/mean", "2e-6") "," SUMMARY(
	                 "nv/cold/time/cpu/median", "1e-6") "," SUMMARY("nv/cold/sample_size", "0"),
	                "copy cpu_time ns lower: 1000@1700000000\n"},
	        {SUMMARY("nv/batch/time/gpu/mean", "4e-6") "," SUMMARY(
	                 "nv/cpu_only/time/cpu/mean", "3e-6"),
	                "copy batch_time ns lower: 4000@1700000000\n"
	                "copy cpu_time ns lower: 3000@1700000000\n"},
	        {SUMMARY("nv/cold/bw/global/bytes_per_second", "'2e9'") "," SUMMARY(
	                 "nv/cold/bw/item_rate", "'7'"),
	                "copy bandwidth gb_per_s higher: 2@1700000000\n"
	                "copy items items/s higher: 7@1700000000\n"},
	        /* No value is not a wrong one. */
	        {SUMMARY("nv/cold/time/gpu/median", "'nan'") "," SUMMARY(
	                 "nv/cold/time/gpu/mean", "2e-6") "," SUMMARY("nv/cold/sample_size", "''"),
	                "copy time ns lower: 2000@1700000000\n"},
	        {SUMMARY("nv/cold/time/gpu/median", "null") "," SUMMARY("nv/cold/time/gpu/mean",
	                 "2e-6") "," SUMMARY("nv/cold/sample_size", "1e12"),
	                "copy time ns lower: 2000@1700000000\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[1024];

		snprintf(text, sizeof text, NVBENCH("", STATE("%s")), cases[i].summaries);
		EXPECT_TEXT(import_series(IMPORT("nvbench"), quoted(text)), cases[i].series);
	}
}

static void nvbench_axes_are_part_of_the_name(void **state)
{
	(void)state;
	EXPECT_TEXT(
	        import_series(IMPORT("nvbench"),
	                quoted(NVBENCH("",
	                        "{'axis_values': [{'name': 'N', 'value': '1024'}, {'name': 'T', "
	                        "'value': 3}, {'value': 'no name'}, {'name': 'no value'}],"
	                        "'summaries': [" SUMMARY("nv/cold/time/gpu/mean", "1e-6") "]}"))),
	        "copy N=1024 T=3 time ns lower: 1000@1700000000\n");
}

static void nvbench_devices(void **state)
{
	static const char text[] =
	        NVBENCH("'meta': {'argv': ['bin/bench.copy', '--json']}, "
	                "'devices': [{'id': 0, 'name': 'GPU 0', 'sm_version': 900},"
	                "{'id': 1, 'name': 'GPU 1', 'sm_version': 1e6}], ",
	                "{'device': 0, 'summaries': [" SUMMARY("nv/cold/time/gpu/mean",
	                        "1e-6") "]},"
	                                "{'device': '1', 'summaries': [" SUMMARY(
	                                        "nv/cold/time/gpu/mean", "2e-6") "]}");

	(void)state;
	EXPECT_TEXT(import_places(IMPORT("nvbench"), quoted(text)),
	        "machine box {}\ndevice GPU 0 of sm_90\ndevice GPU 1\ndevice unknown\n"
	        "upstream bench.copy\n");
	EXPECT_TEXT(import_series(IMPORT("nvbench"), quoted(text)),
	        "copy time ns lower: 1000@1700000000\ncopy time ns lower: 2000@1700000000\n");
}

static void nvbench_skipped_states_and_attributes(void **state)
{
	struct import_rig rig;

	(void)state;
	import_rig_new(&rig);
	MUST(import_rig_read(&rig, IMPORT("nvbench", .rev = "r"),
	        quoted("{'meta': {'argv': ['b']}, 'benchmarks': [{'name': 'copy', 'states': ["
	               "{'is_skipped': true, 'summaries': null}, {'summaries': ["
	               "{'tag': 'nv/cold/time/gpu/mean', 'data': [{'value': 1e-6}]}, "
	               "{'tag': 'nv/other', 'data': [{'value': '0.5'}]}, "
	               "{'tag': 'empty', 'data': []}, {'data': [{'value': 1}]}]}]}]}"),
	        &err));
	assert_int_equal(rig.counts.without_value, 1);
	assert_non_null(strstr(rig.counts.first_without_value, ": copy"));
	EXPECT_TEXT(import_rig_runs(&rig),
	        quoted("1700000000 r :  "
	               "{'meta':{'argv':['b']},'states':{'copy':{'nv/other':'0.5'}}}\n"));
	import_rig_free(&rig);
}

static void nvbench_wrong_types(void **state)
{
	(void)state;
	import_must_fail(IMPORT("nvbench"), quoted("{'benchmarks': [{'states': []}]}"),
	        "benchmarks[0].name: is missing");
	import_must_fail(IMPORT("nvbench"), quoted("{'benchmarks': [{'name': '', 'states': []}]}"),
	        "benchmarks[0].name: is missing");
	import_must_fail(IMPORT("nvbench"), quoted("{'benchmarks': [{'name': 'a', 'states': {}}]}"),
	        "benchmarks[0].states: expected a list, found an empty object");
	import_must_fail(IMPORT("nvbench"), quoted(NVBENCH("", STATE("") ", 5")),
	        "benchmarks[0].states[1]: expected an object, found 5");
	import_must_fail(IMPORT("nvbench"),
	        quoted(NVBENCH("", STATE(SUMMARY("nv/cold/time/gpu/median", "'2x'")))),
	        "file:1: benchmarks[0].states[0]: nv/cold/time/gpu/median: expected a number, "
	        "found \"2x\"");
	import_must_fail(IMPORT("nvbench"),
	        quoted(NVBENCH("", STATE("") ", " STATE(SUMMARY("nv/cold/bw/item_rate", "[]")))),
	        "benchmarks[0].states[1]: nv/cold/bw/item_rate: expected a number, found an empty");
	import_must_fail(IMPORT("nvbench"),
	        quoted(NVBENCH("", STATE(SUMMARY("nv/cold/bw/item_rate", "''")))),
	        "nv/cold/bw/item_rate: expected a number, found \"\"");
	import_must_fail(IMPORT("nvbench"), quoted(NVBENCH("", "{'summaries': {'a': 1}}")),
	        "benchmarks[0].states[0].summaries: expected a list, found an object");
}

/* A state that was not skipped and has no value is counted. */
static void nvbench_states_without_values(void **state)
{
	struct import_rig rig;

	(void)state;
	import_rig_new(&rig);
	MUST(import_rig_read(&rig, IMPORT("nvbench"),
	        quoted(NVBENCH("", STATE("") ", {}, {'summaries': null}, " STATE(
	                                   SUMMARY("nv/cold/time/gpu/mean", "1e-6")))),
	        &err));
	assert_int_equal(rig.counts.without_value, 3);
	assert_int_equal(rig.counts.points, 1);
	import_rig_free(&rig);
}

/* ---- lists of kernels ------------------------------------------------------------------------ */

static void kernels_columns(void **state)
{
	static const struct {
		const char *members, *series;
	} cases[] = {
	        {"'latency_ms': 2", "k time ns lower: 2e+06@1700000000\n"},
	        {"'latency_us': 2", "k time ns lower: 2000@1700000000\n"},
	        {"'latency_ns': 2", "k time ns lower: 2@1700000000\n"},
	        {"'latency': 2", "k time ns lower: 2e+09@1700000000\n"},
	        {"'time_ms': 2", "k time ns lower: 2e+06@1700000000\n"},
	        {"'time_us': 2", "k time ns lower: 2000@1700000000\n"},
	        {"'tflops': 2", "k flops gflop_per_s higher: 2000@1700000000\n"},
	        {"'gflops': 2", "k flops gflop_per_s higher: 2@1700000000\n"},
	        {"'bandwidth_gbps': 2", "k bandwidth gb_per_s higher: 2@1700000000\n"},
	        {"'gb_per_s': 2", "k bandwidth gb_per_s higher: 2@1700000000\n"},
	        {"'compilation_time': 2", "k compile_time ns lower: 2e+09@1700000000\n"},
	        {"'compile_time_s': 2", "k compile_time ns lower: 2e+09@1700000000\n"},
	        {"'latency_ms': 2, 'tflops': null", "k time ns lower: 2e+06@1700000000\n"},
	        {"'latency_ms': 2, 'backend': 'triton'",
	                "k time ns lower backend=triton: 2e+06@1700000000\n"},
	        {"'latency_ms': 2, 'problem_size': {'n': 4, 'dtype': 'bf16', 'm': 8}",
	                "k dtype=bf16 m=8 n=4 time ns lower dtype=bf16: 2e+06@1700000000\n"},
	        {"'latency_ms': 2, 'problem_size': '64x64'",
	                "k 64x64 time ns lower: 2e+06@1700000000\n"},
	        {"'latency_ms': 2, 'problem_size': [64, 32]",
	                "k [64,32] time ns lower: 2e+06@1700000000\n"},
	        {"'latency_ms': 2, 'problem_size': null", "k time ns lower: 2e+06@1700000000\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[256];

		snprintf(text, sizeof text, "[{'kernel': 'k', %s}]", cases[i].members);
		EXPECT_TEXT(import_series(IMPORT("kernels"), quoted(text)), cases[i].series);
	}
}

/* A list, an object with a list, and a line for each. */
static void kernels_layouts(void **state)
{
	static const char *const texts[] = {
	        " [{'kernel': 'a', 'latency_ns': 1}, {'kernel': 'b', 'latency_ns': 2}]",
	        "{'results': [{'kernel': 'a', 'latency_ns': 1}, {'kernel': 'b', 'latency_ns': 2}]}",
	        "{'kernel': 'a', 'latency_ns': 1}\n\n{'kernel': 'b', 'latency_ns': 2}\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		EXPECT_TEXT(import_series(IMPORT("kernels"), quoted(texts[i])),
		        "a time ns lower: 1@1700000000\nb time ns lower: 2@1700000000\n");
}

static void kernels_places(void **state)
{
	static const struct {
		const char *members, *device;
	} cases[] = {
	        {"'gpu_model': 'H200', 'arch': 'hopper'", "device H200 of hopper"},
	        {"'gpu_model': 'H200', 'compute_capability': '9.0'", "device H200 of cc 9.0"},
	        {"'gpu_model': 'H200', 'compute_capability': 8.6", "device H200 of cc 8.6"},
	        {"'gpu_model': 'H200', 'arch': 'hopper', 'compute_capability': 9",
	                "device H200 of hopper"},
	        {"'compute_capability': []", "device unknown"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[256], expected[128];

		snprintf(text, sizeof text,
		        "[{'kernel': 'k', 'latency_ns': 1, 'machine': 'm', 'suite': 's', %s}]",
		        cases[i].members);
		snprintf(expected, sizeof expected, "machine m {}\n%s\nupstream s\n",
		        cases[i].device);
		EXPECT_TEXT(import_places(IMPORT_AS("kernels", .at_s = IMPORT_AT_S), quoted(text)),
		        expected);
	}
}

/* The first row with a time and the first with a revision decide. */
static void kernels_commit(void **state)
{
	static const struct {
		const char *first, *second, *run;
		int64_t at_s;
		const char *rev;
	} cases[] = {
	        {"'timestamp': '2020-09-13T12:26:40Z', 'commit': 'a'", "'commit': 'b'",
	                "1600000000 a ", 0, NULL},
	        {"'x': 1", "'date': '2020-09-13T12:26:40Z', 'version': 'v1'", "1600000000 v1 ", 0,
	                NULL},
	        {"'time': 'soon', 'revision': 5", "'time': '2020-09-13T12:26:40Z', 'revision': 'r'",
	                "1600000000 r ", 0, NULL},
	        {"'timestamp': '2020-09-13T12:26:40Z', 'git_commit': 'g'",
	                "'timestamp': '2021-09-13T12:26:40Z'", "55 g ", 55, NULL},
	        {"'timestamp': '2020-09-13T12:26:40Z', 'commit_hash': 'g'", "'x': 1",
	                "1600000000 mine ", 0, "mine"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[512];

		snprintf(text, sizeof text,
		        "[{'kernel': 'k', 'latency_ns': 1, %s}, {'kernel': 'l', 'latency_ns': 1, "
		        "%s}]",
		        cases[i].first, cases[i].second);
		char *got = import_runs(IMPORT_AS("kernels", .machine = "box",
		                                .at_s = cases[i].at_s, .rev = cases[i].rev),
		        quoted(text));

		if (strncmp(got, cases[i].run, strlen(cases[i].run)))
			fail_msg("%s: %s", text, got);
		free(got);
	}
}

static void kernels_attributes(void **state)
{
	(void)state;
	EXPECT_TEXT(import_runs(IMPORT("kernels", .rev = "r"),
	                    quoted("[{'kernel': 'k', 'problem_size': {'n': 1}, 'latency_ms': 1, "
	                           "'tflops': 2, 'gpu_model': 'G', 'arch': 'a', 'machine': 'm', "
	                           "'warps': 8, 'none': null}, {'kernel': 'l', 'latency_ms': 1}]")),
	        quoted("1700000000 r :  {'kernels':{'k n=1':{'warps':8}}}\n"));
}

static void kernels_wrong_types(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
	        {"[{'latency_ms': 1}]", "[0].kernel: is missing"},
	        {"[{'kernel': '', 'latency_ms': 1}]", "[0].kernel: is missing"},
	        {"[{'kernel': 'k', 'backend': 1}]", "[0].backend: expected a string, found 1"},
	        {"[{'kernel': 'k', 'arch': 1}]", "[0].arch: expected a string, found 1"},
	        {"[{'kernel': 'k', 'machine': 1}]", "[0].machine: expected a string, found 1"},
	        {"[{'kernel': 'k', 'gflops': 'x'}]", "[0].gflops: expected a number, found \"x\""},
	        {"[{'kernel': 'k', 'gflops': 1}, 'x']", "[1]: expected an object, found \"x\""},
	        {"{'results': []}", "there is no kernel in it"},
	        {"{'results': [7]}", "there is no kernel in it"},
	        {"{'kernel': 'k', 'latency_ms': 1}\n[]\n",
	                ": expected an object, found an empty list"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		import_must_fail(IMPORT("kernels"), quoted(cases[i].text), cases[i].words);
}

/* ---- CSV of GEMM suites ---------------------------------------------------------------------- */

static void gemm_headings(void **state)
{
	static const struct {
		const char *heading, *metric;
	} cases[] = {
	        {"us", "time ns lower: 2000"},
	        {"USEC", "time ns lower: 2000"},
	        {"Time (usec)", "time ns lower: 2000"},
	        {"time_us", "time ns lower: 2000"},
	        {"latency_us", "time ns lower: 2000"},
	        {"latency_ms", "time ns lower: 2e+06"},
	        {"time_ms", "time ns lower: 2e+06"},
	        {"ms", "time ns lower: 2e+06"},
	        {"time (ms)", "time ns lower: 2e+06"},
	        {"Runtime", "time ns lower: 2e+06"},
	        {"latency", "time ns lower: 2e+06"},
	        {"time_ns", "time ns lower: 2"},
	        {"time_s", "time ns lower: 2e+09"},
	        {"hipblaslt-GB/s", "bandwidth gb_per_s higher: 2"},
	        {"x gbps", "bandwidth gb_per_s higher: 2"},
	        {"rocblas-tflops", "flops gflop_per_s higher: 2000"},
	        {"TFLOP/s", "flops gflop_per_s higher: 2000"},
	        {"rocblas-Gflops", "flops gflop_per_s higher: 2"},
	        {"GFLOP/s", "flops gflop_per_s higher: 2"},
	        {"compilation_time", "compile_time ns lower: 2e+09"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[128], expected[128];

		snprintf(text, sizeof text, "M,%s\n64,2\n", cases[i].heading);
		snprintf(expected, sizeof expected, "M=64 %s@1700000000\n", cases[i].metric);
		EXPECT_TEXT(import_series(IMPORT("gemm-csv"), text), expected);
	}
	/* An ending counts for rates alone: this is a name. */
	EXPECT_TEXT(import_series(IMPORT("gemm-csv"), "M,some_us,us\n64,1,2\n"),
	        "M=64 some_us=1 time ns lower: 2000@1700000000\n");
}

static void gemm_roles_of_columns(void **state)
{
	(void)state;
	EXPECT_TEXT(import_series(IMPORT("gemm-csv"),
	                    "Problem,Bytes,Flops,Flops/Byte,,M,kernel,us\n1,2,3,4,5,64,,7\n"
	                    "1,2,3,4,5,32,k,8\n1,2,3,4,5,16,k,\n"),
	        "M=32 kernel=k time ns lower: 8000@1700000000\n"
	        "M=64 time ns lower: 7000@1700000000\n");
	EXPECT_TEXT(import_series(IMPORT("gemm-csv"), "us\n5\n"),
	        "gemm time ns lower: 5000@1700000000\n");
	EXPECT_TEXT(import_places(IMPORT("gemm-csv"), "M,gpu_model,us\n64,H200,7\n64,MI300,8\n"),
	        "machine box {}\ndevice H200\ndevice MI300\ndevice unknown\nupstream imported\n");
	EXPECT_TEXT(import_runs(IMPORT("gemm-csv", .rev = "r"), "GPU,M,us\nH200,64,7\n"),
	        "1700000000 r :  {}\n");
}

static void gemm_failed_rows(void **state)
{
	static const struct {
		const char *status;
		bool counts;
	} cases[] = {{"success", true}, {"Success", true}, {"passed", true}, {"not_verified", true},
	        {"not_run", true}, {"ok", true}, {"OK", true}, {"incorrect", false}, {"", false},
	        {"not ok", false}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct import_rig rig;
		char text[128];

		import_rig_new(&rig);
		snprintf(text, sizeof text, "M,Status,Disposition,us\n64,%s,passed,5\n1,ok,ok,6\n",
		        cases[i].status);
		MUST(import_rig_read(&rig, IMPORT("gemm-csv"), text, &err));
		assert_int_equal(rig.counts.points, cases[i].counts ? 2 : 1);
		assert_int_equal(rig.counts.without_value, !cases[i].counts);
		if (!cases[i].counts)
			assert_non_null(strstr(rig.counts.first_without_value, "/file: M=64"));
		import_rig_free(&rig);
	}
}

static void gemm_malformed(void **state)
{
	(void)state;
	import_must_fail(
	        IMPORT("gemm-csv"), "M,us\n64,5\n32,5x\n", "file:3: us: \"5x\" is not a number");
	import_must_fail(IMPORT("gemm-csv"), "M,us\n64,x\n", "file:2: us: \"x\" is not a number");
	import_must_fail(IMPORT("gemm-csv"), "M,us\n64\n", "file:2: 1 columns, the heading has 2");
	import_must_fail(IMPORT("gemm-csv"), "M,us\n", "file: no results of the format gemm-csv");
}

int import_gpu_tests(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(nvbench_summaries),
	        cmocka_unit_test(nvbench_axes_are_part_of_the_name),
	        cmocka_unit_test(nvbench_devices),
	        cmocka_unit_test(nvbench_skipped_states_and_attributes),
	        cmocka_unit_test(nvbench_wrong_types),
	        cmocka_unit_test(nvbench_states_without_values),
	        cmocka_unit_test(kernels_columns),
	        cmocka_unit_test(kernels_layouts),
	        cmocka_unit_test(kernels_places),
	        cmocka_unit_test(kernels_commit),
	        cmocka_unit_test(kernels_attributes),
	        cmocka_unit_test(kernels_wrong_types),
	        cmocka_unit_test(gemm_headings),
	        cmocka_unit_test(gemm_roles_of_columns),
	        cmocka_unit_test(gemm_failed_rows),
	        cmocka_unit_test(gemm_malformed),
	};

	return cmocka_run_group_tests_name("gpu", tests, NULL, NULL);
}
