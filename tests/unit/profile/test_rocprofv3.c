/* Reading what rocprofv3 writes. No AMD device was there: the files are written here by its
 * documentation, docs/data/counter_collection.csv and docs/data/kernel_trace.csv of
 * ROCprofiler-SDK, in the order of their columns. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/file.h"
#include "profile/profile.h"
#include "profile/rocprofv3.h"
#include "profiler_command.h"

/* Of ROCm 7. */
#define TRACE_HEAD \
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\"," \
	"\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"," \
	"\"Private_Segment_Size\",\"Group_Segment_Size\",\"Workgroup_Size_X\"," \
	"\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\"," \
	"\"Grid_Size_Z\"\n"
#define TRACE_ROW(dispatch, name, begin, end) \
	"\"KERNEL_DISPATCH\",\"Agent 4\",1,1,9," dispatch ",11,\"" name "\",1937," begin "," end \
	",0,65536,256,1,1,1024,1024,1\n"
/* ROCm 6.2: fewer columns. */
#define OLD_TRACE_HEAD \
	"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\"," \
	"\"Start_Timestamp\",\"End_Timestamp\"\n"
#define OLD_TRACE_ROW(name, begin, end) \
	"\"KERNEL_DISPATCH\",1,1,11,\"" name "\",1937," begin "," end "\n"
#define COUNTER_HEAD \
	"\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\"," \
	"\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\"," \
	"\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\"," \
	"\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\"," \
	"\"End_Timestamp\"\n"
#define COUNTER_ROW(dispatch, name, counter, value) \
	"1," dispatch ",\"Agent 4\",1,9,9,1048576,17,\"" name \
	"\",256,65536,0,128,96,48,\"" counter "\"," value ",3200098838431081,3200098838483232\n"

#define GEMM "void gemm<float, 4>(float*, float const*)"
#define TRACE \
	TRACE_HEAD TRACE_ROW("8", GEMM, "9414192765353337", "9414192765369494") \
	        TRACE_ROW("9", "sum", "9414192765424862", "9414192765425863")
#define COUNT(counter, first, second) \
	COUNTER_HEAD COUNTER_ROW("12", GEMM, counter, first) \
	        COUNTER_ROW("13", "sum", counter, second)

struct fixture {
	char *folder;
	struct tk_profile p;
	struct tk_error err;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	*state = f;
	return tk_dir_create_temp("/tmp", "tracker-test-rocprofv3-", &f->folder, &f->err);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	tk_profile_free(&f->p);
	tk_dir_remove(f->folder, NULL);
	free(f->folder);
	free(f);
	return 0;
}

/* As the tool names it: below the pass's folder, in one of the host. */
static void write_file(struct fixture *f, size_t pass, const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof path, "%s/pass_%zu", f->folder, pass);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/pass_%zu/node7", f->folder, pass);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/pass_%zu/node7/%s", f->folder, pass, name);
	assert_int_equal(tk_file_write_nosync(path, text, strlen(text), &f->err), TK_OK);
}

static void write_trace(struct fixture *f, const char *text)
{
	write_file(f, 0, "218_kernel_trace.csv", text);
}

static void write_counters(struct fixture *f, size_t pass, const char *text)
{
	write_file(f, pass, "218_counter_collection.csv", text);
}

static void write_all(struct fixture *f)
{
	write_trace(f, TRACE);
	write_counters(f, 1, COUNT("FETCH_SIZE", "2048.000000", "16.5"));
	write_counters(f, 2, COUNT("WRITE_SIZE", "1024.000000", "0.5"));
	/* by counter or by launch */
	write_counters(f, 3,
	        COUNTER_HEAD COUNTER_ROW("13", "sum", "TCC_REQ_sum", "10") COUNTER_ROW(
	                "12", GEMM, "TCC_MISS_sum", "25") COUNTER_ROW("12", GEMM, "TCC_REQ_sum",
	                "100000.000000") COUNTER_ROW("12", GEMM, "TCC_HIT_sum", "75")
	                COUNTER_ROW("13", "sum", "TCC_HIT_sum", "0")
	                        COUNTER_ROW("13", "sum", "TCC_MISS_sum", "0"));
	write_counters(f, 4, COUNT("TCP_TOTAL_CACHE_ACCESSES_sum", "300000", "20"));
	write_counters(f, 5, COUNT("MfmaUtil", "61.250000", "0.000000"));
	write_counters(f, 6, COUNT("OccupancyPercent", "24.5", "3"));
	write_counters(f, 7,
	        COUNTER_HEAD COUNTER_ROW("12", GEMM, "SQ_INSTS", "1000") COUNTER_ROW("12", GEMM,
	                "SQ_WAIT_ANY", "500") COUNTER_ROW("12", GEMM, "SQ_WAIT_INST_ANY", "750")
	                COUNTER_ROW("13", "sum", "SQ_INSTS", "0")
	                        COUNTER_ROW("13", "sum", "SQ_WAIT_ANY", "0")
	                                COUNTER_ROW("13", "sum", "SQ_WAIT_INST_ANY", "0"));
}

static int read_for(struct fixture *f, const char *arch)
{
	return tk_profiler_rocprofv3.read(f->folder, arch, &f->p, &f->err);
}

static void test_all(void **state)
{
	struct fixture *f = *state;
	write_all(f);
	write_file(f, 5, "218_agent_info.csv", "\"Node_Id\"\n0\n");
	assert_int_equal(read_for(f, "gfx942"), TK_OK);
	assert_int_equal(f->p.count, 2);
	const struct tk_profile_kernel *k = &f->p.kernels[0];
	assert_string_equal(k->name, GEMM);
	assert_true(k->time_ns == 16157); /* of timestamps that no double holds */
	assert_true(k->bytes[TK_PROFILE_DRAM] == 3072 * 1024);
	assert_true(k->bytes[TK_PROFILE_L2] == 100000 * 128);
	assert_true(k->bytes[TK_PROFILE_L1] == 300000 * 128);
	assert_true(k->l2_hit_share == 0.75);
	assert_true(k->tensor_share == 0.6125);
	assert_true(k->occupancy == 0.245);
	assert_true(isnan(k->occupancy_limit));
	assert_true(k->registers == 128 + 96);
	assert_true(k->shared_bytes == 65536);
	assert_int_equal(k->stall_count, 2);
	assert_string_equal(k->stalls[0].reason, "issue");
	assert_true(k->stalls[0].cycles == 3);
	assert_string_equal(k->stalls[1].reason, "memory or barrier");
	assert_true(k->stalls[1].cycles == 2);
	k = &f->p.kernels[1];
	assert_true(k->time_ns == 1001);
	assert_true(k->bytes[TK_PROFILE_DRAM] == 17 * 1024);
	assert_true(isnan(k->l2_hit_share));
	assert_int_equal(k->stall_count, 0);
	assert_string_equal(f->p.missing, "");
}

/* The lines of the caches differ from architecture to architecture. */
static void test_lines(void **state)
{
	struct fixture *f = *state;
	write_all(f);
	assert_int_equal(read_for(f, "gfx90a"), TK_OK);
	assert_true(f->p.kernels[0].bytes[TK_PROFILE_L2] == 100000 * 128);
	assert_true(f->p.kernels[0].bytes[TK_PROFILE_L1] == 300000 * 64);
	tk_profile_free(&f->p);
	assert_int_equal(read_for(f, "gfx1100"), TK_OK);
	assert_true(isnan(f->p.kernels[0].bytes[TK_PROFILE_L2]));
	assert_true(isnan(f->p.kernels[0].bytes[TK_PROFILE_L1]));
	assert_true(f->p.kernels[0].bytes[TK_PROFILE_DRAM] == 3072 * 1024);
}

/* A device without matrix units, or a set of counters that does not fit. */
static void test_missing_pass(void **state)
{
	struct fixture *f = *state;
	write_trace(f, TRACE);
	write_counters(f, 1, COUNT("FETCH_SIZE", "1", "1"));
	write_counters(f, 2, COUNTER_HEAD);
	write_counters(f, 6, COUNT("OccupancyPercent", "24.5", "n/a"));
	assert_int_equal(read_for(f, "gfx942"), TK_OK);
	assert_true(f->p.kernels[0].occupancy == 0.245);
	assert_true(isnan(f->p.kernels[1].occupancy));
	assert_true(isnan(f->p.kernels[0].bytes[TK_PROFILE_DRAM]));
	assert_true(isnan(f->p.kernels[0].tensor_share));
	assert_string_equal(f->p.missing,
	        "WRITE_SIZE, TCC_REQ_sum, TCC_HIT_sum, TCC_MISS_sum, "
	        "TCP_TOTAL_CACHE_ACCESSES_sum, MfmaUtil, SQ_INSTS, SQ_WAIT_ANY, SQ_WAIT_INST_ANY");
}

/* Another process of the program, files without a host's folder, and columns of ROCm 6.2. */
static void test_other_files(void **state)
{
	struct fixture *f = *state;
	char path[512];
	write_trace(f, OLD_TRACE_HEAD OLD_TRACE_ROW("sum", "5000", "5010")
	                       OLD_TRACE_ROW(GEMM, "2000", "2500"));
	write_file(f, 0, "219_kernel_trace.csv", OLD_TRACE_HEAD);
	write_file(f, 0, "219_marker_api_trace.csv", "\"Domain\"\n\"x\n");
	snprintf(path, sizeof path, "%s/pass_1", f->folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/pass_1/counter_collection.csv", f->folder);
	const char *text = COUNT("FETCH_SIZE", "1", "2") COUNTER_ROW("13", "sum", "SQ_WAVES", "3");
	assert_int_equal(tk_file_write_nosync(path, text, strlen(text), &f->err), TK_OK);
	assert_int_equal(read_for(f, "gfx942"), TK_OK);
	assert_int_equal(f->p.count, 2);
	assert_string_equal(f->p.kernels[0].name, GEMM);
	assert_true(f->p.kernels[0].time_ns == 500 && f->p.kernels[1].time_ns == 10);
}

static void assert_refused(struct fixture *f, const char *phrase)
{
	f->err = (struct tk_error){0};
	assert_true(read_for(f, "gfx942") < 0);
	if (!strstr(f->err.message, phrase))
		fail_msg("\"%s\" has no \"%s\"", f->err.message, phrase);
	assert_null(f->p.kernels);
}

static void test_bad_traces(void **state)
{
	static const struct {
		const char *text, *phrase;
	} traces[] = {
	        {"", "no header line"},
	        {"\"Kind\"\n", "Kernel_Name"},
	        {TRACE_HEAD, "no kernel"},
	        {"\"Kind\",\"Kernel_Name\"\n", "Start_Timestamp"},
	        {TRACE_HEAD "\"KERNEL_DISPATCH\",\"Agent 4\",1,1,9,8,11,\"gemm", "quote"},
	        {TRACE_HEAD "\"KERNEL_DISPATCH\",\"Agent 4\",1\n", "kernel_trace.csv:2"},
	        {TRACE_HEAD TRACE_ROW("8", "k", "", "5"), "kernel_trace.csv:2:10"},
	        {TRACE_HEAD TRACE_ROW("8", "k", "5", "-6"), "\"-6\" is not a number"},
	        {TRACE_HEAD TRACE_ROW("8", "k", "5", "99999999999999999999"), "not a number"},
	        {TRACE_HEAD TRACE_ROW("8", "k", "6", "5"), "ends before it begins"},
	};
	struct fixture *f = *state;
	assert_refused(f, "no kernel");
	write_all(f);
	for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
		write_trace(f, traces[i].text);
		assert_refused(f, traces[i].phrase);
	}
	write_trace(f, TRACE);
	assert_int_equal(read_for(f, "gfx942"), TK_OK);
}

static void test_bad_counters(void **state)
{
	static const struct {
		const char *text, *phrase;
	} files[] = {
	        {"\"Dispatch_Id\",\"Kernel_Name\",\"FETCH_SIZE\"\n", "Counter_Name"},
	        {COUNTER_HEAD "1,12,\"Agent 4\",1,9,9,1048576,17,\"gemm", "quote"},
	        {COUNTER_HEAD "1,12,\"Agent 4\"\n", "counter_collection.csv:2"},
	        {COUNTER_HEAD COUNTER_ROW("x", GEMM, "FETCH_SIZE", "1"), "\"x\" is not a number"},
	        {COUNTER_HEAD COUNTER_ROW("12", GEMM, "FETCH_SIZE", "1"), "fewer kernels"},
	        {COUNT("FETCH_SIZE", "1", "1") COUNTER_ROW("14", "sum", "FETCH_SIZE", "1"),
	                "more kernels in the pass of FETCH_SIZE"},
	        {COUNTER_HEAD COUNTER_ROW("12", "sum", "FETCH_SIZE", "1"), "other kernels"},
	        {COUNT("FETCH_SIZE", "1", "1") COUNTER_ROW("13", "sum", "FETCH_SIZE", "2"),
	                "FETCH_SIZE twice for launch 13"},
	};
	struct fixture *f = *state;
	write_all(f);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		write_counters(f, 1, files[i].text);
		assert_refused(f, files[i].phrase);
	}
}

static void test_no_counters(void **state)
{
	struct fixture *f = *state;
	write_trace(f, TRACE);
	assert_refused(f, "none of their counters: FETCH_SIZE, WRITE_SIZE");
}

/* What follows is the program: a counter's name would be taken for it without "--". */
static void test_command(void **state)
{
	struct tk_profiler_command c;
	size_t last = 0;
	tk_profiler_rocprofv3.make_command(&c, "/opt/rocm/bin/rocprofv3", "/tmp/x", 0, true);
	assert_string_equal(c.words[0], "/opt/rocm/bin/rocprofv3");
	assert_true(has_pair(&c, "--output-directory", "/tmp/x/pass_0"));
	assert_true(has_pair(&c, "--output-format", "csv"));
	assert_true(has_pair(&c, "--kernel-trace", "--"));
	assert_true(has_pair(&c, "--selected-regions", "--marker-trace"));
	tk_profiler_rocprofv3.make_command(&c, "rocprofv3", "/tmp/x", 3, true);
	assert_true(has_pair(&c, "--pmc", "TCC_REQ_sum"));
	assert_true(has_pair(&c, "TCC_MISS_sum", "--"));
	while (c.words[last + 1])
		last++;
	assert_string_equal(c.words[last], "--");
	for (size_t pass = 1; pass < tk_profiler_rocprofv3.passes; pass++) {
		char counters[256];
		tk_rocprofv3_format_counters(pass, counters, sizeof counters);
		assert_true(*counters);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_all), TEST(test_lines),
	        TEST(test_missing_pass), TEST(test_other_files), TEST(test_bad_traces),
	        TEST(test_bad_counters), TEST(test_no_counters), cmocka_unit_test(test_command)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
