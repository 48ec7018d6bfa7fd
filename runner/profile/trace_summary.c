/* Where the time of a kernel goes: see summary.h. */
#include "profile/trace.h"

#include "base/base.h"

#include <math.h>

const char *const tk_trace_activity_names[TK_TRACE_ACTIVITIES] = {
        [TK_TRACE_DOES_TENSOR] = "matrix products",
        [TK_TRACE_DOES_COMPUTE] = "compute",
        [TK_TRACE_DOES_STORE] = "store",
        [TK_TRACE_DOES_LOAD] = "load",
        [TK_TRACE_DOES_WAIT] = "wait",
        [TK_TRACE_DOES_OTHER] = "outside of regions",
        [TK_TRACE_IS_IDLE] = "no block",
};

enum tk_trace_activity tk_trace_kind_activity(uint32_t kind)
{
	static const enum tk_trace_activity activities[] = {
	        [TK_TRACE_TENSOR] = TK_TRACE_DOES_TENSOR,
	        [TK_TRACE_COMPUTE] = TK_TRACE_DOES_COMPUTE,
	        [TK_TRACE_STORE] = TK_TRACE_DOES_STORE,
	        [TK_TRACE_LOAD] = TK_TRACE_DOES_LOAD,
	        [TK_TRACE_WAIT] = TK_TRACE_DOES_WAIT};
	return kind < sizeof activities / sizeof *activities ? activities[kind]
	                                                     : TK_TRACE_DOES_WAIT;
}

/* A begin or an end of a span, or of a group (`region` NO_REGION). */
struct edge {
	double ns;
	int16_t region;
	int8_t step;
};
#define NO_REGION (-1)

struct sweep {
	const struct tk_trace_file_kernel *kernel;
	const struct tk_trace_launch *launch;
	struct tk_trace_summary *out;
	struct edge *edges;
	size_t edge_count;
	int open[TK_TRACE_REGIONS_MAX], by_activity[TK_TRACE_ACTIVITIES], groups;
};

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return y->step - x->step; /* begins first */
}

static void add_edges(struct sweep *s, int16_t region, double begin_ns, double end_ns)
{
	s->edges[s->edge_count++] = (struct edge){begin_ns, region, 1};
	s->edges[s->edge_count++] = (struct edge){end_ns, region, -1};
}

static enum tk_trace_activity activity_now(const struct sweep *s)
{
	for (int a = 0; a < TK_TRACE_DOES_OTHER; a++)
		if (s->by_activity[a])
			return a;
	return s->groups ? TK_TRACE_DOES_OTHER : TK_TRACE_IS_IDLE;
}

/* The regions that are open now share it. */
static void expose(struct sweep *s, enum tk_trace_activity activity, double ns)
{
	for (uint32_t i = 0; activity < TK_TRACE_DOES_OTHER && i < s->kernel->regions; i++)
		if (s->open[i] && tk_trace_kind_activity(s->kernel->kind[i]) == activity)
			s->out->regions[i].exposed_ns += ns * s->open[i] / s->by_activity[activity];
}

static void sweep_edges(struct sweep *s)
{
	double now = 0;
	tk_sort(s->edges, s->edge_count, sizeof *s->edges, compare_edges);
	for (size_t i = 0; i < s->edge_count; i++) {
		const struct edge *e = &s->edges[i];
		enum tk_trace_activity activity = activity_now(s);
		double ns = fmax(0, e->ns - now);
		s->out->activity_ns[activity] += ns;
		expose(s, activity, ns);
		now = fmax(now, e->ns);
		if (e->region == NO_REGION) {
			s->groups += e->step;
			continue;
		}
		s->open[e->region] += e->step;
		s->by_activity[tk_trace_kind_activity(s->kernel->kind[e->region])] += e->step;
	}
	double rest_ns = fmax(0, s->launch->duration_ns - now);
	s->out->activity_ns[TK_TRACE_IS_IDLE] += rest_ns;
	s->out->tail_ns += rest_ns;
	s->edge_count = 0;
}

/* Groups and spans are in the order of their multiprocessors. */
static void sweep_multiprocessors(struct sweep *s)
{
	const struct tk_trace_launch *l = s->launch;
	size_t span = 0;
	for (size_t i = 0; i < l->group_count; i++) {
		const struct tk_trace_group *g = &l->groups[i];
		add_edges(s, NO_REGION, g->begin_ns, g->end_ns);
		for (; span < l->span_count && l->spans[span].ring == i; span++)
			add_edges(s, l->spans[span].region, l->spans[span].begin_ns,
			        l->spans[span].end_ns);
		if (i + 1 == l->group_count || l->groups[i + 1].multiprocessor != g->multiprocessor)
			sweep_edges(s);
	}
}

static void add_times(const struct tk_trace_file_kernel *kernel, const struct tk_trace_launch *l,
        struct tk_trace_summary *out)
{
	double entered_ns[TK_TRACE_REGIONS_MAX] = {0}; /* time of the groups that enter a region */
	size_t last[TK_TRACE_REGIONS_MAX];
	memset(last, -1, sizeof last);
	for (size_t i = 0; i < l->span_count; i++) {
		const struct tk_trace_span *s = &l->spans[i];
		const struct tk_trace_group *g = &l->groups[s->ring];
		out->regions[s->region].time_ns += s->own_ns;
		out->regions[s->region].calls += 1;
		if (last[s->region] != s->ring)
			entered_ns[s->region] += g->end_ns - g->begin_ns;
		last[s->region] = s->ring;
	}
	for (uint32_t i = 0; i < kernel->regions; i++)
		out->regions[i].share =
		        entered_ns[i] > 0 ? out->regions[i].time_ns / entered_ns[i] : 0;
}

static void divide(struct tk_trace_summary *s, double by)
{
	for (size_t i = 0; i < s->region_count; i++) {
		s->regions[i].time_ns /= by;
		s->regions[i].exposed_ns /= by;
		s->regions[i].calls /= by;
	}
	for (int a = 0; a < TK_TRACE_ACTIVITIES; a++)
		s->activity_ns[a] /= by;
	s->tail_ns /= by;
}

double tk_trace_summary_path_records(const struct tk_trace_summary *s)
{
	const struct tk_trace_path *p = &s->critical.block;
	return p->duration_ns > 0 ? p->records * s->duration_ns / p->duration_ns : 0;
}

/* The records on the path of a block make it longer, and the launch with it. */
void tk_trace_summary_correct(struct tk_trace_summary *s, double record_ns)
{
	double records = tk_trace_summary_path_records(s), cost_ns = records * record_ns;
	s->corrected_ns = isnan(cost_ns) ? NAN : fmax(0, s->duration_ns - cost_ns);
}

double tk_trace_path_correct(const struct tk_trace_path *p, size_t regions, double record_ns,
        double corrected_ns[TK_TRACE_REGIONS_MAX])
{
	double sum_ns = p->other_ns, rest_ns = fmax(0, p->duration_ns - p->records * record_ns);
	for (size_t i = 0; i < regions; i++) {
		double cost_ns = p->region_records[i] * record_ns;
		corrected_ns[i] = fmax(0, p->region_ns[i] - cost_ns);
		sum_ns += corrected_ns[i];
	}
	for (size_t i = 0; sum_ns > 0 && i < regions; i++)
		corrected_ns[i] *= rest_ns / sum_ns;
	return sum_ns > 0 ? p->other_ns * rest_ns / sum_ns : 0;
}

void tk_trace_summarize(const struct tk_trace_file_kernel *kernel, const struct tk_trace_launch *l,
        struct tk_trace_summary *out)
{
	struct sweep s = {.kernel = kernel, .launch = l, .out = out};
	*out = (struct tk_trace_summary){.region_count = kernel->regions,
	        .duration_ns = l->duration_ns,
	        .clock_mhz = l->clock_mhz,
	        .record_ns = l->record_ns,
	        .groups_with_loss = (double)l->groups_with_loss,
	        .groups = l->group_count,
	        .multiprocessors = l->multiprocessors};
	for (size_t i = 0; i < l->group_count; i++)
		out->recorded += (double)l->groups[i].recorded;
	s.edges = tk_calloc(2 * (l->group_count + l->span_count) + 1, sizeof *s.edges);
	sweep_multiprocessors(&s);
	free(s.edges);
	add_times(kernel, l, out);
	divide(out, (double)l->multiprocessors);
	tk_trace_find_critical_path(kernel, l, &out->critical);
	tk_trace_summary_correct(out, out->record_ns);
}

void tk_trace_summary_mean(
        const struct tk_trace_summary *summaries, size_t n, struct tk_trace_summary *out)
{
	const size_t first = offsetof(struct tk_trace_summary, regions) / sizeof(double);
	double *mean = (double *)out;
	*out = (struct tk_trace_summary){0};
	for (size_t i = 0; i < n; i++)
		for (size_t k = first; k < sizeof *out / sizeof(double); k++)
			mean[k] += ((const double *)&summaries[i])[k] / (double)n;
	out->region_count = summaries[n - 1].region_count;
	out->groups = summaries[n - 1].groups;
	out->multiprocessors = summaries[n - 1].multiprocessors;
}

int tk_trace_summarize_all(const struct tk_trace *t, uint32_t kernel, struct tk_trace_summary *out,
        struct tk_error *err)
{
	struct tk_trace_summary *all = tk_calloc(t->launch_count, sizeof *all);
	int status = TK_OK;
	for (uint32_t i = 0; !status && i < t->launch_count; i++) {
		struct tk_trace_launch l;
		status = tk_trace_launch_read(t, kernel, i, &l, err);
		if (!status)
			tk_trace_summarize(&t->kernels[kernel], &l, &all[i]);
		tk_trace_launch_free(&l);
	}
	if (!status)
		tk_trace_summary_mean(all, t->launch_count, out);
	free(all);
	return status;
}
