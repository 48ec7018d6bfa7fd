/* Traces that Proton wrote: scopes of warps become regions of groups, cycles become nanoseconds; a
 * file that is none is refused with its event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../quoted_json.h"
#include "base/error.h"
#include "trace/proton.h"
#include "trace/summary.h"

struct reading {
	char path[40];
	struct tk_trace_file_kernel kernel;
	struct tk_trace_launch launch;
};

static int set_up(void **state)
{
	struct reading *r = calloc(1, sizeof *r);

	assert_non_null(r);
	strcpy(r->path, "/tmp/tracker-proton-XXXXXX");
	close(mkstemp(r->path));
	*state = r;
	return 0;
}

static int tear_down(void **state)
{
	struct reading *r = *state;

	unlink(r->path);
	tk_trace_launch_free(&r->launch);
	free(r);
	return 0;
}

static int read_text(struct reading *r, const char *text, double clock_mhz, struct tk_error *err)
{
	FILE *f = fopen(r->path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	tk_trace_launch_free(&r->launch);
	r->launch = (struct tk_trace_launch){0};
	return tk_trace_read_proton(r->path, clock_mhz, &r->kernel, &r->launch, err);
}

/* One event of a kernel "k". Times are in Proton's units of a microsecond. */
static const char *event(
        const char *name, int core, int block, int warp, int line, double ts, double duration)
{
	static char text[8][300];
	static int next;
	char *out = text[next++ % 8];

	snprintf(out, sizeof text[0],
	        "{\"name\":\"%s\",\"cat\":\"k\",\"pid\":\"k Core%d CTA%d\",\"tid\":\"warp %d (line "
	        "%d)\",\"ts\":%g,\"dur\":%g}",
	        name, core, block, warp, line, ts, duration);
	return out;
}

static void read_events(struct reading *r, double clock_mhz, const char *const *events)
{
	struct tk_error err = {0};
	char text[4000] = "{\"traceEvents\":[";

	for (size_t i = 0; events[i]; i++) {
		strcat(text, i ? "," : "");
		strcat(text, events[i]);
	}
	strcat(text, "]}");
	if (read_text(r, text, clock_mhz, &err))
		fail_msg("%s", err.message);
}

/* ---- what is read ---- */

static void scopes_become_regions_of_their_kind(void **state)
{
	static const struct {
		const char *scope, *region;
		uint32_t kind;
	} cases[] = {
	        {"softmax [compute]", "softmax", TK_TRACE_COMPUTE},
	        {"tile [load]", "tile", TK_TRACE_LOAD}, {"out [store]", "out", TK_TRACE_STORE},
	        {"mma [tensor]", "mma", TK_TRACE_TENSOR},
	        {"barrier [wait]", "barrier", TK_TRACE_WAIT}, {"plain", "plain", TK_TRACE_COMPUTE},
	        {"odd [kind]", "odd [kind]", TK_TRACE_COMPUTE},
	        {" [load]", "[load]", 0}, /* only a kind: checked below */
	};
	struct reading *r = *state;

	for (size_t i = 0; i + 1 < sizeof cases / sizeof *cases; i++) {
		const char *const events[] = {event(cases[i].scope, 0, 0, 0, 0, 1, 1), NULL};
		read_events(r, 1000, events);
		assert_int_equal(r->kernel.regions, 1);
		assert_string_equal(r->kernel.region[0], cases[i].region);
		assert_int_equal(r->kernel.kind[0], cases[i].kind);
	}
	const char *const events[] = {event(" [load]", 0, 0, 0, 0, 1, 1), NULL};
	read_events(r, 1000, events);
	assert_int_equal(r->kernel.kind[0], TK_TRACE_COMPUTE); /* a name is needed */
}

/* Equal scopes are one region; the same name of another kind is another one. */
static void regions_are_listed_once(void **state)
{
	struct reading *r = *state;
	const char *const events[] = {event("a [load]", 0, 0, 0, 0, 0, 1),
	        event("b", 0, 0, 0, 0, 1, 1), event("a [load]", 0, 0, 0, 0, 2, 1),
	        event("a [store]", 0, 0, 0, 0, 3, 1), NULL};

	read_events(r, 1000, events);
	assert_int_equal(r->kernel.regions, 3);
	assert_int_equal(r->launch.span_count, 4);
	assert_int_equal(r->launch.spans[0].region, r->launch.spans[2].region);
	assert_int_not_equal(r->launch.spans[0].region, r->launch.spans[3].region);
}

/* Cycles within a block at 2,000 MHz take half a nanosecond; blocks start when they say. */
static void cycles_become_nanoseconds(void **state)
{
	struct reading *r = *state;
	const char *const events[] = {event("a", 0, 0, 0, 0, 5, 1), event("b", 0, 0, 0, 0, 6, 2),
	        event("a", 0, 1, 0, 0, 9, 1), NULL};

	read_events(r, 2000, events);
	assert_int_equal(r->launch.span_count, 3);
	const struct tk_trace_span *s = r->launch.spans;
	assert_float_equal(s[0].begin_ns, 0, 1e-6);
	assert_float_equal(s[0].end_ns, 500, 1e-6);
	assert_float_equal(s[1].begin_ns, 500, 1e-6);
	assert_float_equal(s[1].end_ns, 1500, 1e-6);
	assert_float_equal(s[2].begin_ns, 4000, 1e-6); /* 9 - 5 us: not scaled */
	assert_float_equal(s[2].own_ns, 500, 1e-6);
	assert_float_equal(r->launch.duration_ns, 4500, 1e-6);
	assert_float_equal(r->launch.clock_mhz, 2000, 0);
	assert_true(isnan(r->launch.record_ns));
}

static void warps_become_groups(void **state)
{
	struct reading *r = *state;
	const char *const events[] = {event("a", 1, 7, 12, 0, 3, 1), event("a", 1, 7, 4, 0, 1, 5),
	        event("a", 0, 2, 12, 0, 2, 1), event("a", 1, 8, 4, 0, 9, 1), NULL};

	read_events(r, 1000, events);
	assert_int_equal(r->kernel.groups, 2);
	assert_string_equal(r->kernel.group[0], "warp 4");
	assert_string_equal(r->kernel.group[1], "warp 12");
	assert_int_equal(r->kernel.blocks, 3);
	assert_int_equal(r->kernel.launched, 3);
	assert_int_equal(r->launch.multiprocessors, 2);
	assert_int_equal(r->launch.group_count, 4); /* by multiprocessor, block, warp */
	static const struct {
		uint32_t multiprocessor, block, group;
	} expected[] = {{0, 2, 1}, {1, 7, 0}, {1, 7, 1}, {1, 8, 0}};
	for (size_t i = 0; i < 4; i++) {
		const struct tk_trace_group *g = &r->launch.groups[i];
		assert_int_equal(g->multiprocessor, expected[i].multiprocessor);
		assert_int_equal(g->block, expected[i].block);
		assert_int_equal(g->group, expected[i].group);
		assert_int_equal(g->recorded, 2);
		assert_int_equal(r->launch.spans[i].ring, i);
	}
	assert_float_equal(r->launch.groups[1].end_ns - r->launch.groups[1].begin_ns, 5000, 1e-3);
}

/* A scope that overlaps an earlier one goes on beside it: Proton puts it into another line. */
static void further_lines_are_asynchronous(void **state)
{
	struct reading *r = *state;
	const char *const events[] = {
	        event("a", 0, 0, 0, 0, 0, 4), event("b", 0, 0, 0, 2, 1, 2), NULL};

	read_events(r, 1000, events);
	assert_int_equal(r->launch.spans[0].token, 2); /* by their ends */
	assert_true(r->launch.spans[0].is_async);
	assert_false(r->launch.spans[1].is_async);
	assert_int_equal(r->launch.groups[0].recorded, 4);
}

/* The regions and the rest of a block add up to its time. */
static void a_trace_of_proton_has_a_critical_path(void **state)
{
	struct reading *r = *state;
	const char *const events[] = {event("a", 0, 0, 0, 0, 0, 2), event("b", 0, 0, 0, 0, 2, 3),
	        event("a", 0, 0, 4, 0, 0, 1), NULL};
	struct tk_trace_summary s;
	struct tk_error err = {0};

	read_events(r, 1000, events);
	assert_int_equal(tk_trace_summarize(&r->kernel, &r->launch, &s, &err), TK_OK);
	const struct tk_trace_path *p = &s.critical.block;
	assert_float_equal(p->duration_ns, 5000, 1e-3);
	assert_float_equal(p->region_ns[0] + p->region_ns[1] + p->other_ns, 5000, 1e-3);
	assert_float_equal(p->region_ns[1], 3000, 1e-3);
	assert_float_equal(s.critical.tiles, 0, 0);
}

/* ---- what is refused ---- */

#define SCOPE "'name':'a','cat':'k','pid':'k Core0 CTA0','tid':'warp 0 (line 0)','ts':1,'dur':1"

static void other_files_are_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
	        {"", ":1:0: "},
	        {"{", ":1:1: "},
	        {"{}", "expected the events of a launch in \"traceEvents\""},
	        {"[]", "expected the events of a launch"},
	        {"{'traceEvents':[]}", "expected the events of a launch"},
	        {"{'traceEvents':{}}", "expected the events of a launch"},
	        {"{'traceEvents':[17]}", "event 0: is no scope as Proton writes it"},
	        {"{'traceEvents':[{'name':'a'}]}", "event 0: is no scope"},
	        {"{'traceEvents':[{'name':'a','cat':'k','pid':'k Core0 CTA0','tid':'thread "
	         "1','ts':1,'dur':1}]}",
	                "event 0: is no scope"},
	        {"{'traceEvents':[{'name':'a','cat':'k','pid':'other Core0 CTA0','tid':'warp 0 "
	         "(line "
	         "0)','ts':1,'dur':1}]}",
	                "event 0: expected \"pid\": \"KERNEL Core0 CTA0\""},
	        {"{'traceEvents':[{'name':'a','cat':'k','pid':'k Core0 CTA0x','tid':'warp 0 (line "
	         "0)','ts':1,'dur':1}]}",
	                "expected \"pid\""},
	        {"{'traceEvents':[{" SCOPE
	         "},{'name':'a','cat':'l','pid':'l Core0 CTA0','tid':'warp "
	         "0 (line 0)','ts':1,'dur':1}]}",
	                "event 1: is of another kernel"},
	        {"{'traceEvents':[{'name':'a','cat':'k','pid':'k Core0 CTA0','tid':'warp 0 (line "
	         "0)','ts':1,'dur':-1}]}",
	                "\"ts\" or \"dur\" is out of range"},
	        {"{'traceEvents':[{'name':'a','cat':'k','pid':'k Core0 CTA0','tid':'warp 0 (line "
	         "0)','ts':2e9,'dur':1}]}",
	                "out of range"},
	        {"{'traceEvents':[{'name':'a','cat':'k','pid':'k Core0 CTA0','tid':'warp 0 (line "
	         "0)','ts':1,'dur':'1'}]}",
	                "is no scope"},
	};
	struct reading *r = *state;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_error err = {0};
		if (read_text(r, quoted(cases[i].text), 1000, &err) != TK_EDATA)
			fail_msg("%s is read", cases[i].text);
		if (!strstr(err.message, cases[i].message) || !strstr(err.message, r->path))
			fail_msg("%s: %s", cases[i].text, err.message);
	}
}

static void a_file_that_is_not_there(void **state)
{
	struct reading *r = *state;
	struct tk_error err = {0};

	assert_int_not_equal(
	        tk_trace_read_proton("/nonexistent/trace", 1000, &r->kernel, &r->launch, &err), 0);
	assert_int_not_equal(err.status, TK_EDATA);
	assert_non_null(strstr(err.message, "/nonexistent/trace"));
}

/* More regions or warps than a trace holds. */
static void expect_too_many(struct reading *r, bool warps, int count, const char *message)
{
	struct tk_error err = {0};
	char *text = calloc((size_t)count + 1, 300), name[16];

	assert_non_null(text);
	char *at = stpcpy(text, "{\"traceEvents\":[");
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof name, "s%d", warps ? 0 : i);
		at = stpcpy(at, i ? "," : "");
		at = stpcpy(at, event(name, 0, 0, warps ? i : 0, 0, i, 1));
	}
	strcpy(at, "]}");
	assert_int_equal(read_text(r, text, 1000, &err), message ? TK_EDATA : TK_OK);
	if (message)
		assert_non_null(strstr(err.message, message));
	free(text);
}

static void a_trace_has_room_for_so_many(void **state)
{
	struct reading *r = *state;

	expect_too_many(r, false, TK_TRACE_REGIONS_MAX, NULL);
	expect_too_many(r, false, TK_TRACE_REGIONS_MAX + 1, "more scopes than can be shown");
	expect_too_many(r, true, TK_TRACE_GROUPS_MAX, NULL);
	expect_too_many(r, true, TK_TRACE_GROUPS_MAX + 1, "more warps than can be shown");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(scopes_become_regions_of_their_kind),
	        TEST(regions_are_listed_once),
	        TEST(cycles_become_nanoseconds),
	        TEST(warps_become_groups),
	        TEST(further_lines_are_asynchronous),
	        TEST(a_trace_of_proton_has_a_critical_path),
	        TEST(other_files_are_refused),
	        TEST(a_file_that_is_not_there),
	        TEST(a_trace_has_room_for_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
