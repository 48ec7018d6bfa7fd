/* What changed inside a kernel: each region's time in runs of two builds, by ranks. */
#include "trace/summary.h"

#include "base/error.h"
#include "stats/compare.h"
#include "stats/summary.h"

#include <math.h>

#define CONFIDENCE 0.95
#define CHANGE_MIN 0.01 /* of the kernel's time */
#define CAUSE_MIN 0.25  /* of the largest change */

struct values {
	double base[TK_TRACE_RUNS_MAX], head[TK_TRACE_RUNS_MAX];
	size_t runs;
};

static double median(const double *x, size_t n)
{
	struct tk_summary s;
	return tk_summary_compute(x, n, &s) ? NAN : s.median;
}

/* `tests`: how many are made, so that all of them together are wrong in 5 % of the cases. */
static int compare_values(const struct values *v, double least_ns, size_t tests,
        struct tk_trace_change *out, struct tk_error *err)
{
	struct tk_shift shift;
	int status = tk_shift_estimate(v->base, v->runs, v->head, v->runs, CONFIDENCE, &shift);
	if (status)
		return tk_fail(err, status, "trace: times that cannot be compared");
	*out = (struct tk_trace_change){.base_ns = median(v->base, v->runs),
	        .head_ns = median(v->head, v->runs),
	        .change_ns = shift.shift,
	        .lo_ns = shift.lo,
	        .hi_ns = shift.hi,
	        .is_changed =
	                shift.p * (double)tests <= 1 - CONFIDENCE && fabs(shift.shift) >= least_ns};
	return TK_OK;
}

/* What waits, waits for what has changed; matrix products that nobody awaits last as long as what
 * is done meanwhile. */
static int find_cause(const struct tk_trace_file_kernel *kernel,
        const struct tk_trace_comparison *c, bool (*may_be)(uint32_t kind))
{
	double sign = c->duration.change_ns < 0 ? -1 : 1, largest = 0, best = 0;
	int cause = -1;
	for (uint32_t i = 0; i < kernel->regions; i++)
		if (c->regions[i].is_changed)
			largest = fmax(largest, sign * c->regions[i].change_ns);
	for (uint32_t i = 0; i < kernel->regions; i++) {
		double change = c->regions[i].is_changed ? sign * c->regions[i].change_ns : 0;
		if (may_be(kernel->kind[i]) && change > best && change >= CAUSE_MIN * largest) {
			best = change;
			cause = (int)i;
		}
	}
	return cause;
}

static bool is_work(uint32_t kind)
{
	return kind != TK_TRACE_WAIT && kind != TK_TRACE_TENSOR;
}

static bool is_tensor(uint32_t kind)
{
	return kind == TK_TRACE_TENSOR;
}

static bool is_any(uint32_t kind)
{
	return true;
}

static int compare_region(size_t region, const struct tk_trace_summary *base,
        const struct tk_trace_summary *head, size_t runs, double least_ns, size_t tests,
        struct tk_trace_comparison *out, struct tk_error *err)
{
	struct values time = {.runs = runs}, exposed = {.runs = runs};
	for (size_t i = 0; i < runs; i++) {
		time.base[i] = base[i].regions[region].time_ns;
		time.head[i] = head[i].regions[region].time_ns;
		exposed.base[i] = base[i].regions[region].exposed_ns;
		exposed.head[i] = head[i].regions[region].exposed_ns;
	}
	int status = compare_values(&time, least_ns, tests, &out->regions[region], err);
	return status ? status
	              : compare_values(&exposed, least_ns, tests, &out->exposed[region], err);
}

int tk_trace_compare(const struct tk_trace_file_kernel *kernel, const struct tk_trace_summary *base,
        const struct tk_trace_summary *head, size_t runs, struct tk_trace_comparison *out,
        struct tk_error *err)
{
	struct values duration = {.runs = runs};
	*out = (struct tk_trace_comparison){.cause = -1};
	if (runs < TK_TRACE_RUNS_MIN || runs > TK_TRACE_RUNS_MAX)
		return tk_fail(err, TK_EUSAGE, "a comparison needs %d to %d runs of each side",
		        TK_TRACE_RUNS_MIN, TK_TRACE_RUNS_MAX);
	for (size_t i = 0; i < runs; i++) {
		duration.base[i] = base[i].duration_ns;
		duration.head[i] = head[i].duration_ns;
	}
	double least_ns = CHANGE_MIN * median(duration.base, runs);
	int status = compare_values(&duration, least_ns, 1, &out->duration, err);
	for (size_t r = 0; !status && r < kernel->regions; r++)
		status = compare_region(r, base, head, runs, least_ns, kernel->regions, out, err);
	if (status || !out->duration.is_changed)
		return status;
	out->cause = find_cause(kernel, out, is_work);
	if (out->cause < 0)
		out->cause = find_cause(kernel, out, is_tensor);
	if (out->cause < 0)
		out->cause = find_cause(kernel, out, is_any);
	return TK_OK;
}
