/* See runs.h. */
#include "trace/runs.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "stats/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_equal_regions(
        const struct tk_trace_file_kernel *a, const struct tk_trace_file_kernel *b)
{
	bool equal = a->regions == b->regions;
	for (uint32_t i = 0; equal && i < a->regions; i++)
		equal = strcmp(a->region[i], b->region[i]) == 0 && a->kind[i] == b->kind[i];
	return equal;
}

static bool has_equal_kernels(const struct tk_trace_runs *r, const struct tk_trace *t)
{
	bool equal = t->kernel_count == r->kernel_count;
	for (uint32_t i = 0; equal && i < t->kernel_count; i++)
		equal = strcmp(t->kernels[i].name, r->kernels[i].name) == 0 &&
		        has_equal_regions(&t->kernels[i], &r->kernels[i]);
	return equal;
}

static int keep_kernels(struct tk_trace_runs *r, const struct tk_trace *t, struct tk_error *err)
{
	size_t bytes = t->kernel_count * sizeof *r->kernels;
	r->kernels = tk_malloc(bytes);
	r->summaries = tk_calloc(t->kernel_count, sizeof *r->summaries);
	memcpy(r->kernels, t->kernels, bytes);
	r->kernel_count = t->kernel_count;
	return TK_OK;
}

int tk_trace_runs_add(
        struct tk_trace_runs *r, size_t run, const struct tk_trace *t, struct tk_error *err)
{
	TRY(r->kernels ? TK_OK : keep_kernels(r, t, err));
	if (!has_equal_kernels(r, t))
		return tk_fail(err, TK_EDATA, "the traces of both runs are of different kernels");
	for (uint32_t i = 0; i < t->kernel_count; i++)
		TRY(tk_trace_summarize_all(t, i, &r->summaries[i][run], err));
	return TK_OK;
}

void tk_trace_runs_free(struct tk_trace_runs *r)
{
	free(r->kernels);
	free(r->summaries);
	*r = (struct tk_trace_runs){0};
}

static int compare_kernel(const struct tk_trace_runs *base, const struct tk_trace_runs *head,
        size_t i, size_t runs, struct tk_trace_result *out, struct tk_error *err)
{
	if (i >= base->kernel_count || !has_equal_regions(&base->kernels[i], &head->kernels[i]))
		return tk_fail(err, TK_EDATA,
		        "%s: base and head record different regions, and cannot be compared",
		        head->kernels[i].name);
	tk_trace_summary_mean(base->summaries[i], runs, &out->base);
	return tk_trace_compare(&head->kernels[i], base->summaries[i], head->summaries[i], runs,
	        &out->comparison, err);
}

static double median(const double *x, size_t n)
{
	double sorted[TK_TRACE_RUNS_MAX];
	memcpy(sorted, x, n * sizeof *x);
	return tk_median(sorted, n);
}

double tk_trace_result_record_ns(const struct tk_trace_result *r)
{
	double ns = isfinite(r->record_in_place_ns) ? r->record_in_place_ns : r->head.record_ns;
	return isfinite(ns) ? ns : 0;
}

/* The calibration at the begin of a kernel knows what a record costs in a row of others, and not
 * what the compiler could not move across it. Both builds run by turns: what one takes longer is
 * shared by the records on its critical path. */
static void measure_record_cost(struct tk_trace_results *out)
{
	double records = 0;
	for (size_t i = 0; i < out->count; i++)
		records += tk_trace_summary_path_records(&out->at[i].head);
	for (size_t i = 0; i < out->count; i++) {
		struct tk_trace_result *r = &out->at[i];
		r->record_in_place_ns = (out->traced_ns - out->untraced_ns) / records;
		if (isfinite(r->record_in_place_ns))
			tk_trace_summary_correct(&r->head, r->record_in_place_ns);
	}
}

int tk_trace_results_fill(const struct tk_trace_runs *base, const struct tk_trace_runs *head,
        size_t runs, struct tk_trace_results *out, struct tk_error *err)
{
	bool compares = base->kernel_count > 0;
	out->runs = runs;
	out->count = 0;
	out->traced_ns = median(head->median_ns, runs);
	out->untraced_ns = compares ? NAN : median(base->median_ns, runs);
	for (size_t i = 0; i < head->kernel_count; i++) {
		struct tk_trace_result *r = &out->at[out->count++];
		r->kernel = head->kernels[i];
		r->record_in_place_ns = NAN;
		tk_trace_summary_mean(head->summaries[i], runs, &r->head);
		if (compares)
			TRY(compare_kernel(base, head, i, runs, r, err));
	}
	if (!compares)
		measure_record_cost(out);
	return TK_OK;
}

int tk_trace_results_import(const struct tk_trace_runs *untraced, size_t runs,
        const struct tk_trace_file_kernel *kernel, const struct tk_trace_launch *l,
        struct tk_trace_results *out, struct tk_error *err)
{
	struct tk_trace_result *r = &out->at[0];
	TRY(tk_trace_summarize(kernel, l, &r->head, err));
	r->kernel = *kernel;
	r->record_in_place_ns = NAN;
	out->count = 1;
	out->runs = runs;
	out->traced_ns = l->duration_ns;
	out->untraced_ns = median(untraced->median_ns, runs);
	return TK_OK;
}
