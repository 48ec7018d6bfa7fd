/* See timeline.h. */
#include "trace/timeline.h"

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "trace/summary.h"

#include <math.h>
#include <stdlib.h>

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

/* false: out of memory. */
static bool find_middle(const struct tk_trace_launch *l, size_t groups_max, struct range *out)
{
	struct range *ranges = tk_calloc(l->multiprocessors + 1, sizeof *ranges), *last = ranges;
	size_t count = 0;
	if (!ranges)
		return false;
	for (size_t i = 0; i < l->group_count && count <= l->multiprocessors; i++) {
		const struct tk_trace_group *g = &l->groups[i];
		if (!i || l->groups[i - 1].multiprocessor != g->multiprocessor) {
			last = &ranges[count++];
			last->first = i;
		}
		last->end = i + 1;
		last->end_ns = fmax(last->end_ns, g->end_ns);
	}
	qsort(ranges, count, sizeof *ranges, compare_ends);
	*out = ranges[count ? (count - 1) / 2 : 0];
	free(ranges);
	out->kept_end = out->end - out->first > groups_max ? out->first + groups_max : out->end;
	return true;
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
	json_t *list = spans ? json_array() : NULL;
	size_t count = 0, all = 0;
	for (size_t i = 0; list && i < l->span_count; i++)
		if (l->spans[i].ring >= r->first && l->spans[i].ring < r->end) {
			all++;
			if (l->spans[i].ring < r->kept_end)
				spans[count++] = &l->spans[i];
		}
	if (list)
		qsort(spans, count, sizeof *spans, compare_begins);
	for (size_t i = 0; list && i < count && i < spans_max; i++)
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
	json_t *regions = json_array(), *names = json_array(), *spans = NULL;
	size_t left_out = 0;
	if (find_middle(l, spans_max / SPANS_OF_A_GROUP, &r))
		spans = encode_spans(l, &r, spans_max, &left_out);
	for (uint32_t i = 0; i < kernel->regions; i++)
		json_array_append_new(regions,
		        json_pack("{s:o,s:s}", "name", tk_json_text(kernel->region[i]), "kind",
		                tk_trace_activity_names[tk_trace_kind_activity(kernel->kind[i])]));
	for (uint32_t i = 0; i < kernel->groups; i++)
		json_array_append_new(names, tk_json_text(kernel->group[i]));
	/* json_pack() releases what it was given where it fails */
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
