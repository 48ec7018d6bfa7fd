/* What `build`, `doctor`, `profile` and `trace` print, from reports made by hand. */
#include "capture.h"

#include "../quoted_json.h"

#include <math.h>

#include "cli/host/build.h"
#include "cli/host/doctor.h"
#include "cli/host/profile.h"
#include "cli/host/trace.h"

static const struct tk_globals globals = {.no_color = true};

/* What is printed from here until shown(). */
static struct capture capture;
static FILE *terminal;

static void begin(void)
{
	terminal = stdout;
	stdout = capture_open(&capture);
}

static const char *shown(int status)
{
	stdout = terminal;
	assert_int_equal(status, TK_OK);
	return capture_text(&capture);
}

/* ---- build ---- */

static char adapter[] = "blas", message[] = "error: no such file", log_path[] = "/c/log",
            empty[] = "", path[] = "/c/b.so";

static struct tk_artifact artifact(struct tk_artifact_backend *backends, size_t count)
{
	return (struct tk_artifact){.key = "0123456789abcdef",
	        .status = TK_BUILD_OK,
	        .upstream = adapter,
	        .revision = adapter,
	        .message = empty,
	        .adapter = adapter,
	        .arch = empty,
	        .flags = empty,
	        .toolchain = empty,
	        .log_path = log_path,
	        .wall_s = 12.34,
	        .size_bytes = 2049,
	        .built_s = 86400,
	        .backends = backends,
	        .backend_count = count};
}

static void builds_are_a_table(void **state)
{
	const struct tk_upstream_config blas = {.name = adapter};
	struct tk_artifact_backend backends[] = {
	        {.name = "cpu", .path = path, .code_hash = "aaaaaaaaaaaaaaaaaaaa"},
	        {.name = "nsa", .path = path, .code_hash = "bbbbbbbbbbbbbbbbbbbb"}};
	struct tk_artifact built = artifact(backends, 2);
	const struct tk_build_result results[] = {
	        {.upstream = &blas,
	                .revision = {.id = "0123456789abcdef", .subject = "add", .dirty = true},
	                .artifact = &built},
	        {.upstream = &blas, .err = {.status = TK_EIO, .message = "no route"}},
	};
	const struct tk_build_options o = {0};
	struct tk_error err = {0};

	built.cached = true;
	begin();
	const char *text = shown(tk_build_print_results(&globals, &o, results, 2, &err));
	expect_contains(text, "0123456789ab (dirty)");
	expect_contains(text, "ok");
	expect_contains(text, "yes");
	expect_contains(text, "12.3   3 cpu,nsa"); /* 2,049 bytes take three KiB */
	expect_contains(text, "aaaaaaaaaaaa,bbbbbbbbbbbb\n");
	expect_contains(text, "error");
	capture_free(&capture);
}

static void builds_as_json(void **state)
{
	const struct tk_upstream_config blas = {.name = adapter};
	struct tk_artifact_backend backend = {
	        .name = "cpu", .path = path, .code_hash = "aaaa", .kernel_count = 3};
	struct tk_artifact built = artifact(&backend, 1);
	struct tk_build_result results[] = {
	        {.upstream = &blas,
	                .revision = {.id = "0123", .subject = "add", .position = 7},
	                .artifact = &built},
	        {.upstream = &blas, .err = {.status = TK_EIO, .message = "no route"}},
	};
	const struct tk_build_options o = {.json = true};
	struct tk_error err = {0};

	begin();
	json_t *list =
	        json_loads(shown(tk_build_print_results(&globals, &o, results, 2, &err)), 0, NULL);
	capture_free(&capture);
	const json_t *first = json_array_get(list, 0), *second = json_array_get(list, 1);
	assert_string_equal(json_string_value(json_object_get(first, "revision")), "0123");
	assert_string_equal(
	        json_string_value(json_object_get(first, "built")), "1970-01-02T00:00:00Z");
	assert_int_equal(json_integer_value(json_object_get(first, "position")), 7);
	const json_t *b = json_array_get(json_object_get(first, "backends"), 0);
	assert_int_equal(json_integer_value(json_object_get(b, "kernels")), 3);
	assert_string_equal(json_string_value(json_object_get(second, "status")), "error");
	assert_string_equal(json_string_value(json_object_get(second, "message")), "no route");
	assert_null(json_object_get(second, "revision"));
	json_decref(list);
	static char not_utf8[] = "\xff";
	built.flags = not_utf8;
	begin();
	assert_int_equal(tk_build_print_results(&globals, &o, results, 2, &err), TK_EDATA);
	expect_contains(err.message, "not valid UTF-8");
	shown(TK_OK);
	capture_free(&capture);
}

static void failures_name_their_log(void **state)
{
	const struct tk_upstream_config blas = {.name = adapter};
	struct tk_artifact built = artifact(NULL, 0), failed = artifact(NULL, 0);
	const struct tk_build_result results[] = {
	        {.upstream = &blas, .artifact = &built},
	        {.upstream = &blas, .revision = {.id = "0123456789abcdef"}, .artifact = &failed},
	        {.upstream = &blas, .err = {.status = TK_EIO, .message = "no route"}},
	};
	FILE *errors = stderr;

	failed.status = TK_BUILD_FAILED;
	failed.message = message;
	stderr = capture_open(&capture);
	assert_int_equal(tk_build_print_failures(results, 3), 2);
	stderr = errors;
	assert_string_equal(capture_text(&capture),
	        "tracker build: blas at 0123456789ab: error: no such file (log: /c/log)\n"
	        "tracker build: no route\n");
	capture_free(&capture);
}

/* ---- doctor ---- */

static const char machine_report[] =
        "{'system':{'os':'Debian','kernel':'6.1','arch':'x86_64','virtual':true,"
        "'container':'docker'},'cpu':{'model':'Some CPU','cores':8,'logical':16,'usable':4,"
        "'numa_nodes':2,'governor':'powersave','turbo':true,'smt':'notsupported','load_1m':0.5,"
        "'caches':[{'level':1,'type':'Data','bytes':32768},{'level':1,'type':'Instruction',"
        "'bytes':32768},{'level':3,'type':'Unified','bytes':33554432}]},"
        "'memory':{'total_bytes':17179869184,'available_bytes':8589934592},"
        "'limits':{'memory_bytes':1073741824,'cpus':1.5},"
        "'tools':[{'name':'git','version':'2.39','path':'/usr/bin/git'},{'name':'nvcc'},"
        "{'name':'uv'}],'libraries':[{'name':'a library with a long name'},"
        "{'name':'another library with a long name'},{'name':'third'}],"
        "'sandbox':{'method':'bubblewrap','mode':'required'},"
        "'control_groups':{'available':false,'reason':'read-only'},"
        "'devices':[{'layer':'cpu','index':0,'name':'Some CPU','arch':'v4','available':true},"
        "{'layer':'cuda','index':1,'available':false,'reason':'no driver'}],"
        "'backends':[{'module':'blas','available':true,'device_kind':'cpu',"
        "'description':'a library'},{'module':'cards','available':false,'reason':'no driver'}],"
        "'advice':['turbo is on'],'notes':[],'missing':[]}";

static void the_doctor_describes_the_machine(void **state)
{
	struct tk_doctor d = {.globals = &globals, .report = read_quoted(machine_report)};
	struct tk_error err = {0};

	begin();
	const char *text = shown(tk_doctor_print(&d, &err));
	expect_contains(
	        text, "System    Debian, Linux 6.1, x86_64, virtual machine, container: docker");
	expect_contains(text, "Some CPU, 8 cores, 16 threads, 4 usable, 2 NUMA nodes\n");
	expect_contains(text, "Caches    L1d 32 KiB, L1i 32 KiB, L3 32 MiB\n");
	expect_contains(text, "Clocks    governor powersave, turbo on, SMT off, load 0.50\n");
	expect_contains(text, "Memory    16.0 GiB, 8.0 GiB available, limited to 1.0 GiB\n");
	expect_contains(text, "Quota     1.5 CPUs\n");
	expect_contains(text, "git  2.39    /usr/bin/git\nnot found: nvcc, uv\n");
	expect_contains(text, "not found: a library with a long name,\n"
	                      "           another library with a long name, third\n");
	expect_contains(text, "Sandbox   bubblewrap (`sandbox: required`)");
	expect_contains(text, "no control groups: read-only\n");
	expect_contains(text, "cuda:1 no");
	expect_contains(text, "no driver\n");
	expect_contains(text, "a library\n");
	expect_contains(text, "Noise sources\n  turbo is on\n");
	expect_lacks(text, "Notes");
	expect_contains(text, "\nReady: a night can run here");
	capture_free(&capture);
	json_decref(d.report);
}

static void the_doctor_says_what_is_missing(void **state)
{
	struct tk_doctor d = {.globals = &globals,
	        .report = read_quoted("{'missing':['no compiler'],'cpu':{'turbo':null},"
	                              "'control_groups':{'available':true}}")};
	struct tk_error err = {0};

	begin();
	const char *text = shown(tk_doctor_print(&d, &err));
	expect_contains(text, "Missing for a full night with this configuration\n  no compiler\n");
	expect_lacks(text, "Ready");
	expect_contains(text, "governor unknown, turbo unknown, SMT unknown");
	expect_contains(text, "Limits    of each build and worker as a whole");
	expect_contains(text, "Sandbox   none (`sandbox: auto`)");
	capture_free(&capture);
	json_decref(d.report);
}

/* ---- profile ---- */

static struct tk_run_device card = {.name = "cuda:0", .model = "NVIDIA H200"};
static struct tk_run_options run_options = {.backend = "flash"};

static struct tk_profile_kernel kernel(const char *name)
{
	struct tk_profile_kernel k = {.time_ns = 1e5,
	        .bytes = {1e8, 2e8, NAN},
	        .tensor_share = 0.62,
	        .occupancy = 0.2,
	        .occupancy_limit = 0.25,
	        .l2_hit_share = NAN,
	        .registers = 168,
	        .shared_bytes = 65536,
	        .stall_count = 4};

	for (int i = 0; i < 4; i++) {
		snprintf(k.stalls[i].reason, sizeof k.stalls[i].reason, "reason%d", i);
		k.stalls[i].cycles = 4 - i;
	}
	snprintf(k.name, sizeof k.name, "%s", name);
	return k;
}

static void counters_of_kernels(void **state)
{
	struct tk_profile_kernel kernels[] = {
	        kernel("void flash<traits<2, (int)64>, true>(Params const &)"), kernel("copy")};
	const struct tk_profile counters = {.kernels = kernels, .count = 2};
	const struct tk_profiler profiler = {.name = "counter", .flushes_caches = true};
	struct tk_run_profile profile = {.profiler = &profiler};
	struct tk_run_session r = {.o = &run_options,
	        .devices_open = &card,
	        .device_count = 1,
	        .mode = TK_MODE_COLD,
	        .profile = &profile};
	const struct tk_job_result job = {.result = read_quoted("{'flops':4e10,'bytes':1e8}")};
	struct tk_problem_spec problem;
	struct tk_error err = {0};

	assert_int_equal(tk_problem_parse(&problem, "gemm:m=64,n=64,k=64", &err), TK_OK);
	kernels[1].tensor_share = kernels[1].occupancy = kernels[1].registers = NAN;
	kernels[1].stall_count = 0;
	begin();
	const char *text = shown(tk_profile_print(&r, &globals, &problem, &job, &counters, &err));
	expect_contains(text, " by flash on NVIDIA H200: 2 kernels, 200.0");
	expect_contains(text, "; caches flushed before each run\n");
	expect_contains(text, "flash<traits<2, (int)64>, true> 100.0 us"); /* no parameters */
	expect_contains(text, "20 of 25 %");
	expect_contains(text, "reason0 4.0, reason1 3.0, reason2 2.0\n"); /* the longest three */
	expect_lacks(text, "reason3");
	expect_contains(text, "200.0 MB");
	expect_contains(text, "2.00x");
	capture_free(&capture);
	json_t *o = tk_profile_encode(&r, &problem, &job, &counters);
	assert_true(json_is_true(json_object_get(o, "caches_flushed")));
	assert_true(json_is_null(json_object_get(o, "l1_bytes")));
	assert_float_equal(json_number_value(json_object_get(o, "dram_bytes")), 2e8, 1);
	const json_t *second = json_array_get(json_object_get(o, "kernels"), 1);
	assert_true(json_is_null(json_object_get(second, "tensor_share")));
	assert_int_equal(
	        json_object_size(json_object_get(second, "stall_cycles_per_instruction")), 0);
	json_decref(o);
	json_decref(job.result);
}

/* ---- trace ---- */

static struct tk_trace_report *trace_report(void)
{
	static const struct tk_trace_options options = {.run = {.backend = "flash"}};
	struct tk_trace_report *r = calloc(1, sizeof *r);
	struct tk_error err = {0};

	assert_non_null(r);
	r->o = &options;
	r->device = "cuda:0";
	r->device_model = "NVIDIA H200";
	assert_int_equal(tk_problem_parse(&r->problem, "gemm:m=64,n=64,k=64", &err), TK_OK);
	r->results.count = 1;
	r->results.runs = 8;
	r->results.untraced_ns = 1000;
	r->results.traced_ns = 1100;
	struct tk_trace_result *k = &r->results.at[0];
	k->kernel = (struct tk_trace_file_kernel){.name = "gemm",
	        .regions = 2,
	        .blocks = 4,
	        .launched = 8,
	        .region = {"load", "unused"},
	        .kind = {TK_TRACE_LOAD, TK_TRACE_WAIT}};
	k->head = (struct tk_trace_summary){.region_count = 2,
	        .regions = {{.time_ns = 600, .exposed_ns = 300, .share = 0.5, .calls = 3}},
	        .activity_ns = {[TK_TRACE_DOES_LOAD] = 250, [TK_TRACE_IS_IDLE] = 750},
	        .duration_ns = 1000,
	        .corrected_ns = 950,
	        .clock_mhz = 1980,
	        .record_ns = 5,
	        .recorded = 40,
	        .multiprocessors = 132,
	        .critical = {.block = {.region_ns = {400}, .duration_ns = 800}}};
	k->comparison.cause = -1;
	return r;
}

static void a_trace_is_where_the_time_goes(void **state)
{
	struct tk_trace_report *r = trace_report();
	struct tk_error err = {0};

	begin();
	const char *text = shown(tk_trace_print(r, &globals, &err));
	expect_contains(text, " by flash on NVIDIA H200: 1.000");
	expect_contains(text, " while it records (+10.0 %)\n");
	expect_contains(text, "on 132 multiprocessors at 1980 MHz; 40 records of 5.000");
	expect_contains(text, ", none lost; the first 4 of 8 blocks\n");
	expect_contains(text, "without them the kernel takes 950.0");
	expect_contains(text, "no block");
	expect_contains(text, "75 %");
	expect_contains(text, "load   load"); /* its region and kind */
	expect_contains(text, "50 %");
	expect_lacks(text, "unused"); /* never entered */
	expect_lacks(text, "compute");
	expect_lacks(text, "tiles");
	capture_free(&capture);
	struct tk_trace_summary *s = &r->results.at[0].head;
	s->record_ns = NAN;
	s->groups_with_loss = 3;
	s->critical.tiles = 12;
	s->critical.tile =
	        (struct tk_trace_path){.region_ns = {10}, .other_ns = 90, .duration_ns = 100};
	s->critical.shortest_tile_ns = 90;
	s->critical.longest_tile_ns = 120;
	r->results.at[0].kernel.launched = 0;
	begin();
	text = shown(tk_trace_print(r, &globals, &err));
	expect_contains(text, "40 records, some of 3 groups lost; the first 4 blocks\n");
	expect_lacks(text, "without the cost");
	expect_contains(text, "12 tiles of 100.0");
	expect_contains(text, "10 %"); /* of a tile's path */
	capture_free(&capture);
	free(r);
}

static void a_comparison_marks_what_changed(void **state)
{
	struct tk_trace_report *r = trace_report();
	struct tk_ab_revisions revisions = {
	        .side = {{.name = "base", .spec = "v1", .revision = {.id = "aaaa"}},
	                {.name = "head", .spec = "v2", .revision = {.id = "bbbb"}}}};
	struct tk_trace_comparison *c = &r->results.at[0].comparison;
	struct tk_error err = {0};

	strcpy(revisions.side[1].revision.subject, "add");
	r->revisions = &revisions;
	r->results.untraced_ns = NAN;
	c->duration = (struct tk_trace_change){1000, 1100, 100, 90, 110, true};
	c->regions[0] = (struct tk_trace_change){600, 590, -10, -30, 10, false};
	c->exposed[0] = (struct tk_trace_change){300, 390, 90, 80, 100, true};
	begin();
	const char *text = shown(tk_trace_print(r, &globals, &err));
	expect_contains(text, "\nbase: v1 (aaaa )\nhead: v2 (bbbb add)\n");
	expect_contains(text, "the kernel");
	expect_contains(text, "+100.0 ns *");
	expect_contains(text, "+90.00 ns to +110.0 ns");
	expect_contains(text, "-10.00 ns ");
	expect_lacks(text, "-10.00 ns *");
	expect_contains(text, "+90.00 ns *\n");
	capture_free(&capture);
	json_t *o = tk_trace_encode(r);
	assert_string_equal(json_string_value(json_object_get(o, "head")), "bbbb");
	assert_string_equal(json_string_value(json_object_get(o, "schema")), "tracker-trace/1");
	json_decref(o);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(builds_are_a_table),
	        cmocka_unit_test(builds_as_json),
	        cmocka_unit_test(failures_name_their_log),
	        cmocka_unit_test(the_doctor_describes_the_machine),
	        cmocka_unit_test(the_doctor_says_what_is_missing),
	        cmocka_unit_test(counters_of_kernels),
	        cmocka_unit_test(a_trace_is_where_the_time_goes),
	        cmocka_unit_test(a_comparison_marks_what_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
