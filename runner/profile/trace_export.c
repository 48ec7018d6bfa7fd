/* One launch as a drawing: for a page, and in the Trace Event Format (Google, "Trace Event Format",
 * 2016), in microseconds: complete events for what nests in its group, nestable asynchronous ones
 * for the rest. */
#include "profile/trace.h"

#include "base/base.h"

#include <math.h>

/* ---- for the history and a page ---- */

#define SPANS_OF_A_GROUP 4 /* at least: a fourth as many groups as spans are kept */

/* Groups and spans are in the order of their multiprocessors. */
struct range {
	size_t first, end, kept_end; /* groups */
	double end_ns;
};

static int compare_ends(const void *a, const void *b)
{
	const struct range *x = a, *y = b;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static void find_middle(const struct tk_trace_launch *l, size_t groups_max, struct range *out)
{
	struct range *ranges = tk_calloc(l->multiprocessors + 1, sizeof *ranges), *last = ranges;
	size_t count = 0;
	for (size_t i = 0; i < l->group_count && count <= l->multiprocessors; i++) {
		const struct tk_trace_group *g = &l->groups[i];
		if (!i || l->groups[i - 1].multiprocessor != g->multiprocessor) {
			last = &ranges[count++];
			last->first = i;
		}
		last->end = i + 1;
		last->end_ns = fmax(last->end_ns, g->end_ns);
	}
	tk_sort(ranges, count, sizeof *ranges, compare_ends);
	*out = ranges[count ? (count - 1) / 2 : 0];
	free(ranges);
	out->kept_end = out->end - out->first > groups_max ? out->first + groups_max : out->end;
}

static int compare_begins(const void *a, const void *b)
{
	const struct tk_trace_span *x = *(const struct tk_trace_span *const *)a,
	                           *y = *(const struct tk_trace_span *const *)b;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x > y) - (x < y);
}

static json_int_t ns(double value)
{
	return (json_int_t)llround(fmin(fmax(value, 0), 1e15));
}

static json_t *encode_span(const struct tk_trace_span *s, size_t first_group)
{
	json_t *o = json_pack("[I,i,I,I]", (json_int_t)(s->ring - first_group), (int)s->region,
	        ns(s->begin_ns), ns(s->end_ns));
	if (s->is_async)
		json_array_append_new(o, json_integer(1));
	return o;
}

static json_t *encode_spans(
        const struct tk_trace_launch *l, const struct range *r, size_t spans_max, size_t *left_out)
{
	const struct tk_trace_span **spans = tk_calloc(l->span_count + 1, sizeof *spans);
	json_t *list = json_array();
	size_t count = 0, all = 0;
	for (size_t i = 0; i < l->span_count; i++)
		if (l->spans[i].ring >= r->first && l->spans[i].ring < r->end) {
			all++;
			if (l->spans[i].ring < r->kept_end)
				spans[count++] = &l->spans[i];
		}
	tk_sort(spans, count, sizeof *spans, compare_begins);
	for (size_t i = 0; i < count && i < spans_max; i++)
		json_array_append_new(list, encode_span(spans[i], r->first));
	*left_out = all - (count < spans_max ? count : spans_max);
	free(spans);
	return list;
}

static json_t *encode_groups(const struct tk_trace_launch *l, const struct range *r)
{
	json_t *list = json_array();
	for (size_t i = r->first; i < r->kept_end; i++) {
		const struct tk_trace_group *g = &l->groups[i];
		json_array_append_new(
		        list, json_pack("[I,I,I,I]", (json_int_t)g->block, (json_int_t)g->group,
		                      ns(g->begin_ns), ns(g->end_ns)));
	}
	return list;
}

json_t *tk_trace_timeline_json(const struct tk_trace_file_kernel *kernel,
        const struct tk_trace_launch *l, size_t spans_max)
{
	struct range r = {0};
	json_t *regions = json_array(), *names = json_array();
	size_t left_out = 0;
	find_middle(l, spans_max / SPANS_OF_A_GROUP, &r);
	json_t *spans = encode_spans(l, &r, spans_max, &left_out);
	for (uint32_t i = 0; i < kernel->regions; i++)
		json_array_append_new(regions,
		        json_pack("{s:o,s:s}", "name", tk_json_text(kernel->region[i]), "kind",
		                tk_trace_activity_names[tk_trace_kind_activity(kernel->kind[i])]));
	for (uint32_t i = 0; i < kernel->groups; i++)
		json_array_append_new(names, tk_json_text(kernel->group[i]));
	return json_pack("{s:o,s:I,s:I,s:I,s:o,s:o,s:o,s:o}", "kernel", tk_json_text(kernel->name),
	        "multiprocessor",
	        (json_int_t)(l->group_count ? l->groups[r.first].multiprocessor : 0), "duration_ns",
	        ns(l->duration_ns), "left_out", (json_int_t)left_out, "regions", regions,
	        "group_names", names, "groups", encode_groups(l, &r), "spans", spans);
}

int tk_trace_timeline_list(
        const struct tk_trace *t, size_t spans_max, json_t **out, struct tk_error *err)
{
	json_t *list = json_array();
	int status = TK_OK;
	for (uint32_t i = 0; !status && i < t->kernel_count; i++) {
		struct tk_trace_launch l;
		status = tk_trace_launch_read(t, i, t->launch_count - 1, &l, err);
		if (status)
			break;
		json_t *o = tk_trace_timeline_json(&t->kernels[i], &l, spans_max / t->kernel_count);
		json_array_append_new(list, o);
		tk_trace_launch_free(&l);
	}
	if (status)
		json_decref(list);
	else
		*out = list;
	return status;
}

/* ---- for ui.perfetto.dev ---- */

struct writer {
	const struct tk_trace_file_kernel *kernel;
	const struct tk_trace_launch *launch;
	FILE *out;
	bool has_event;
};

/* Takes the event. */
static void put(struct writer *w, json_t *event)
{
	fputs(w->has_event ? ",\n" : "", w->out);
	json_dumpf(event, w->out, JSON_COMPACT | JSON_REAL_PRECISION(12));
	json_decref(event);
	w->has_event = true;
}

/* Perfetto takes a thread for the main one if its number is that of its process. */
#define THREAD_ID_FIRST 4096

static int thread_id(const struct writer *w, const struct tk_trace_group *g)
{
	return (int)(THREAD_ID_FIRST + g->block * w->kernel->groups + g->group);
}

static void name_process(struct writer *w, const struct tk_trace_group *g)
{
	char name[32];
	snprintf(name, sizeof name, "multiprocessor %u", g->multiprocessor);
	put(w, json_pack("{s:s,s:s,s:i,s:{s:s}}", "name", "process_name", "ph", "M", "pid",
	               (int)g->multiprocessor, "args", "name", name));
}

static void name_thread(struct writer *w, const struct tk_trace_group *g)
{
	char name[TK_TRACE_NAME_SIZE + 32];
	snprintf(name, sizeof name, "block %u, %s", g->block, w->kernel->group[g->group]);
	json_t *text = json_stringn_nocheck(name, strlen(name));
	put(w, json_pack("{s:s,s:s,s:i,s:i,s:{s:o}}", "name", "thread_name", "ph", "M", "pid",
	               (int)g->multiprocessor, "tid", thread_id(w, g), "args", "name", text));
}

/* Whole nanoseconds: Perfetto rounds to them, and drops a span that then begins before the end of
 * the one before. */
static double round_us(double ns)
{
	return round(ns) / 1e3;
}

static json_t *new_event(
        const struct writer *w, const struct tk_trace_span *s, const char *phase, double ns)
{
	const struct tk_trace_group *g = &w->launch->groups[s->ring];
	return json_pack("{s:s,s:s,s:f,s:i,s:i}", "name", w->kernel->region[s->region], "ph", phase,
	        "ts", round_us(ns), "pid", (int)g->multiprocessor, "tid", thread_id(w, g));
}

static void put_span(struct writer *w, size_t index)
{
	const struct tk_trace_span *s = &w->launch->spans[index];
	char id[24];
	if (!s->is_async) {
		json_t *event = new_event(w, s, "X", s->begin_ns);
		json_object_set_new(
		        event, "dur", json_real(round_us(round(s->end_ns) - round(s->begin_ns))));
		put(w, event);
		return;
	}
	snprintf(id, sizeof id, "%zu", index);
	for (int end = 0; end < 2; end++) {
		json_t *event = new_event(w, s, end ? "e" : "b", end ? s->end_ns : s->begin_ns);
		json_object_set_new(event, "cat", json_string("asynchronous"));
		/* local: Perfetto shows it in its multiprocessor, else beside all of them */
		json_object_set_new(event, "id2", json_pack("{s:s}", "local", id));
		put(w, event);
	}
}

/* Number `ordinal` of `all` is one of `wanted` that are spread evenly. */
static bool is_wanted(size_t ordinal, size_t wanted, size_t all)
{
	return !wanted || wanted >= all || ordinal * wanted / all != (ordinal + 1) * wanted / all;
}

int tk_trace_write_chrome(const struct tk_trace_file_kernel *kernel,
        const struct tk_trace_launch *l, size_t multiprocessors, FILE *out, struct tk_error *err)
{
	struct writer w = {.kernel = kernel, .launch = l, .out = out};
	size_t span = 0, ordinal = 0;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
	for (size_t i = 0; i < l->group_count; i++) {
		const struct tk_trace_group *g = &l->groups[i];
		bool is_first = i == 0 || l->groups[i - 1].multiprocessor != g->multiprocessor;
		ordinal += is_first && i > 0;
		bool wanted = is_wanted(ordinal, multiprocessors, l->multiprocessors);
		if (wanted && is_first)
			name_process(&w, g);
		if (wanted)
			name_thread(&w, g);
		for (; span < l->span_count && l->spans[span].ring == i; span++)
			if (wanted)
				put_span(&w, span);
	}
	fputs("\n]}\n", out);
	return fflush(out) == 0 && !ferror(out) ? TK_OK : tk_fail_errno(err, "writing the trace");
}
