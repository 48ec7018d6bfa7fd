/* Reads traces of Triton kernels by Proton's intra-kernel instrumentation. Nothing in the file is
 * trusted. */
#include "profile/trace.h"

#include "base/base.h"

#include <math.h>

#define EVENTS_MAX 20000000
#define TIME_MAX_US 1e9

/* One scope of one warp. Times in Proton's units: nanoseconds from block to block, cycles inside
 * of one. */
struct event {
	uint32_t core, block, warp, line;
	uint8_t region;
	double begin, length;
};

struct import {
	const char *path;
	struct tk_trace_file_kernel *kernel;
	struct event *events;
	size_t count;
	uint32_t warps[TK_TRACE_GROUPS_MAX];
};

static int refuse(const struct import *in, size_t at, const char *what, struct tk_error *err)
{
	return tk_fail(err, TK_EDATA, "%s: event %zu: %s", in->path, at, what);
}

/* "softmax [compute]" -> the length of the name; 0: no kind that is known. */
static size_t find_kind(const char *name, uint32_t *kind)
{
	static const struct {
		const char *suffix;
		uint32_t kind;
	} kinds[] = {{" [compute]", TK_TRACE_COMPUTE}, {" [load]", TK_TRACE_LOAD},
	        {" [store]", TK_TRACE_STORE}, {" [tensor]", TK_TRACE_TENSOR},
	        {" [wait]", TK_TRACE_WAIT}};
	size_t length = strlen(name);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t suffix = strlen(kinds[i].suffix);
		if (length > suffix && strcmp(name + length - suffix, kinds[i].suffix) == 0) {
			*kind = kinds[i].kind;
			return length - suffix;
		}
	}
	return 0;
}

static int find_region(
        struct import *in, size_t at, const char *scope, uint8_t *region, struct tk_error *err)
{
	struct tk_trace_file_kernel *k = in->kernel;
	char name[TK_TRACE_NAME_SIZE], clean[TK_TRACE_NAME_SIZE];
	uint32_t kind = TK_TRACE_COMPUTE;
	size_t length = find_kind(scope, &kind);
	snprintf(name, sizeof name, "%.*s", (int)(length ? length : strlen(scope)), scope);
	tk_text_copy_line(clean, sizeof clean, name);
	for (uint32_t i = 0; i < k->regions; i++)
		if (strcmp(k->region[i], clean) == 0 && k->kind[i] == kind) {
			*region = (uint8_t)i;
			return TK_OK;
		}
	if (k->regions == TK_TRACE_REGIONS_MAX)
		return refuse(in, at, "more scopes than can be shown", err);
	strcpy(k->region[k->regions], clean);
	k->kind[k->regions] = kind;
	*region = (uint8_t)k->regions++;
	return TK_OK;
}

static bool add_warp(struct import *in, uint32_t warp)
{
	for (uint32_t i = 0; i < in->kernel->groups; i++)
		if (in->warps[i] == warp)
			return true;
	if (in->kernel->groups == TK_TRACE_GROUPS_MAX)
		return false;
	in->warps[in->kernel->groups++] = warp;
	return true;
}

/* "KERNEL Core3 CTA17", of this kernel. */
static bool parse_process(const char *pid, const char *kernel, struct event *e)
{
	size_t length = strlen(kernel);
	int end = 0;
	return strncmp(pid, kernel, length) == 0 &&
	       sscanf(pid + length, " Core%9u CTA%9u%n", &e->core, &e->block, &end) == 2 &&
	       pid[length + (size_t)end] == 0;
}

static int add_event(struct import *in, size_t at, json_t *o, struct tk_error *err)
{
	const char *name, *kernel, *pid, *tid;
	struct event e = {0};
	if (json_unpack(o, "{s:s,s:s,s:s,s:s,s:F,s:F}", "name", &name, "cat", &kernel, "pid", &pid,
	            "tid", &tid, "ts", &e.begin, "dur", &e.length) != 0 ||
	        sscanf(tid, "warp %9u (line %9u)", &e.warp, &e.line) != 2)
		return refuse(in, at, "is no scope as Proton writes it", err);
	if (!in->count)
		tk_text_copy_line(in->kernel->name, sizeof in->kernel->name, kernel);
	if (!parse_process(pid, kernel, &e))
		return refuse(in, at, "expected \"pid\": \"KERNEL Core0 CTA0\"", err);
	char clean[TK_TRACE_NAME_SIZE];
	tk_text_copy_line(clean, sizeof clean, kernel);
	if (strcmp(clean, in->kernel->name) != 0)
		return refuse(in, at, "is of another kernel; expected a trace of one launch", err);
	if (!(fabs(e.begin) <= TIME_MAX_US) || !(e.length >= 0 && e.length <= TIME_MAX_US))
		return refuse(in, at, "\"ts\" or \"dur\" is out of range", err);
	if (!add_warp(in, e.warp))
		return refuse(in, at, "more warps than can be shown", err);
	e.begin *= 1e3;
	e.length *= 1e3;
	TRY(find_region(in, at, name, &e.region, err));
	in->events[in->count++] = e;
	return TK_OK;
}

static int read_events(struct import *in, struct tk_error *err)
{
	json_error_t why;
	json_t *root = json_load_file(in->path, 0, &why), *o;
	if (!root && why.line < 0)
		return tk_fail_errno(err, "%s", in->path);
	if (!root)
		return tk_fail(
		        err, TK_EDATA, "%s:%d:%d: %s", in->path, why.line, why.column, why.text);
	const json_t *list = json_object_get(root, "traceEvents");
	size_t count = json_array_size(list), i;
	int status = TK_OK;
	if (!count || count > EVENTS_MAX)
		status = tk_fail(err, TK_EDATA, "%s: expected the events of a launch in \"%s\"",
		        in->path, "traceEvents");
	in->events = tk_calloc(count + 1, sizeof *in->events);
	if (!status)
		json_array_foreach (list, i, o)
			if (!status)
				status = add_event(in, i, o, err);
	json_decref(root);
	return status;
}

#define ORDER_BY(member) \
	if (x->member != y->member) \
	return x->member < y->member ? -1 : 1

static int compare_blocks(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	ORDER_BY(core);
	ORDER_BY(block);
	ORDER_BY(begin);
	return 0;
}

/* Those of a group together, by their ends. */
static int compare_groups(const void *a, const void *b)
{
	const struct event *x = a, *y = b;
	const double x_end = x->begin + x->length, y_end = y->begin + y->length;
	ORDER_BY(core);
	ORDER_BY(block);
	ORDER_BY(warp);
	if (x_end != y_end)
		return x_end < y_end ? -1 : 1;
	ORDER_BY(line);
	return 0;
}

static int compare_warps(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* Cycles to nanoseconds, from the begin of each block on. */
static void convert_times(struct import *in, double clock_mhz)
{
	double first = INFINITY, base = 0;
	tk_sort(in->events, in->count, sizeof *in->events, compare_blocks);
	for (size_t i = 0; i < in->count; i++) {
		struct event *e = &in->events[i];
		if (!i || e[-1].core != e->core || e[-1].block != e->block)
			base = e->begin;
		e->begin = base + (e->begin - base) * 1e3 / clock_mhz;
		e->length *= 1e3 / clock_mhz;
		first = fmin(first, e->begin);
	}
	for (size_t i = 0; i < in->count; i++)
		in->events[i].begin -= first;
	tk_sort(in->events, in->count, sizeof *in->events, compare_groups);
}

static void name_groups(struct import *in)
{
	struct tk_trace_file_kernel *k = in->kernel;
	tk_sort(in->warps, k->groups, sizeof *in->warps, compare_warps);
	for (uint32_t i = 0; i < k->groups; i++)
		snprintf(k->group[i], sizeof k->group[i], "warp %u", in->warps[i]);
}

static uint32_t find_group(const struct import *in, uint32_t warp)
{
	uint32_t i = 0;
	while (i + 1 < in->kernel->groups && in->warps[i] != warp)
		i++;
	return i;
}

static void add_span(struct import *in, const struct event *e, struct tk_trace_launch *out)
{
	const struct event *last = e > in->events ? e - 1 : NULL;
	double end_ns = e->begin + e->length;
	bool is_new_block = !last || last->core != e->core || last->block != e->block;
	if (is_new_block || last->warp != e->warp)
		out->groups[out->group_count++] = (struct tk_trace_group){.block = e->block,
		        .group = find_group(in, e->warp),
		        .multiprocessor = e->core,
		        .begin_ns = e->begin,
		        .end_ns = end_ns};
	in->kernel->blocks += is_new_block;
	out->multiprocessors += !last || last->core != e->core;
	struct tk_trace_group *g = &out->groups[out->group_count - 1];
	g->begin_ns = fmin(g->begin_ns, e->begin);
	g->end_ns = fmax(g->end_ns, end_ns);
	g->recorded += 2;
	out->duration_ns = fmax(out->duration_ns, end_ns);
	out->spans[out->span_count++] =
	        (struct tk_trace_span){.ring = (uint32_t)(out->group_count - 1),
	                .region = e->region,
	                .is_async = e->line > 0,
	                .token = (uint8_t)e->line,
	                .begin_ns = e->begin,
	                .end_ns = end_ns,
	                .own_ns = e->length};
}

static void fill_launch(struct import *in, double clock_mhz, struct tk_trace_launch *out)
{
	*out = (struct tk_trace_launch){.clock_mhz = clock_mhz,
	        .record_ns = NAN,
	        .groups = tk_calloc(in->count, sizeof *out->groups),
	        .spans = tk_calloc(in->count, sizeof *out->spans)};
	for (size_t i = 0; i < in->count; i++)
		add_span(in, &in->events[i], out);
	in->kernel->launched = in->kernel->blocks;
}

int tk_trace_read_proton(const char *path, double clock_mhz, struct tk_trace_file_kernel *kernel,
        struct tk_trace_launch *out, struct tk_error *err)
{
	struct import in = {.path = path, .kernel = kernel};
	*kernel = (struct tk_trace_file_kernel){.slots = 1};
	int status = read_events(&in, err);
	if (!status) {
		convert_times(&in, clock_mhz);
		name_groups(&in);
		fill_launch(&in, clock_mhz, out);
	}
	free(in.events);
	return status;
}
