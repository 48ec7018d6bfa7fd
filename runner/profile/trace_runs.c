/* The runs of one or two builds: what changed inside a kernel, by ranks, and all of it as JSON. */
#include "profile/trace.h"

#include "base/base.h"
#include "stats/compare.h"
#include "stats/summary.h"

#include <math.h>

/* ---- two builds: each region's time, by ranks ---- */

#define CONFIDENCE 0.95
#define CHANGE_MIN 0.01 /* of the kernel's time */
#define CAUSE_MIN 0.25  /* of the largest change */

struct values {
	double base[TK_TRACE_RUNS_MAX], head[TK_TRACE_RUNS_MAX];
	size_t runs;
};

static double median(const double *x, size_t n)
{
	double sorted[TK_TRACE_RUNS_MAX];
	memcpy(sorted, x, n * sizeof *x);
	return tk_median(sorted, n);
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
 * is done meanwhile: a region is the cause where none of a lower rank may be. */
static int rank(uint32_t kind)
{
	return kind == TK_TRACE_WAIT ? 2 : kind == TK_TRACE_TENSOR ? 1 : 0;
}

static int find_cause(
        const struct tk_trace_file_kernel *kernel, const struct tk_trace_comparison *c)
{
	double sign = c->duration.change_ns < 0 ? -1 : 1, largest = 0, best = 0;
	int cause = -1;
	for (uint32_t i = 0; i < kernel->regions; i++)
		if (c->regions[i].is_changed)
			largest = fmax(largest, sign * c->regions[i].change_ns);
	for (int worst = 0; worst <= 2 && cause < 0; worst++)
		for (uint32_t i = 0; i < kernel->regions; i++) {
			double change =
			        c->regions[i].is_changed ? sign * c->regions[i].change_ns : 0;
			if (rank(kernel->kind[i]) <= worst && change > best &&
			        change >= CAUSE_MIN * largest) {
				best = change;
				cause = (int)i;
			}
		}
	return cause;
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

/* `runs` summaries of each side, each from a process of its own, of equal regions. A change counts
 * from 1 % of the kernel's time on. */
static int compare_builds(const struct tk_trace_file_kernel *kernel,
        const struct tk_trace_summary *base, const struct tk_trace_summary *head, size_t runs,
        struct tk_trace_comparison *out, struct tk_error *err)
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
	out->cause = find_cause(kernel, out);
	return TK_OK;
}

/* ---- runs ---- */

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

int tk_trace_runs_add(
        struct tk_trace_runs *r, size_t run, const struct tk_trace *t, struct tk_error *err)
{
	if (!r->kernels) {
		r->kernels = tk_calloc(t->kernel_count, sizeof *r->kernels);
		r->summaries = tk_calloc(t->kernel_count, sizeof *r->summaries);
		memcpy(r->kernels, t->kernels, t->kernel_count * sizeof *r->kernels);
		r->kernel_count = t->kernel_count;
	}
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
	return compare_builds(&head->kernels[i], base->summaries[i], head->summaries[i], runs,
	        &out->comparison, err);
}

/* What a record on the critical path costs, as well as it is known; 0: it is not. */
static double record_cost_ns(const struct tk_trace_result *r)
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

void tk_trace_results_import(const struct tk_trace_runs *untraced, size_t runs,
        const struct tk_trace_file_kernel *kernel, const struct tk_trace_launch *l,
        struct tk_trace_results *out)
{
	struct tk_trace_result *r = &out->at[0];
	tk_trace_summarize(kernel, l, &r->head);
	r->kernel = *kernel;
	r->record_in_place_ns = NAN;
	out->count = 1;
	out->runs = runs;
	out->traced_ns = l->duration_ns;
	out->untraced_ns = median(untraced->median_ns, runs);
}

/* ---- as JSON: docs/reference/kernel-reports.md ---- */

static const char *kind_name(uint32_t kind)
{
	return tk_trace_activity_names[tk_trace_kind_activity(kind)];
}

/* What the regions that are exposed add up to, against the time without records. */
static double regions_ns(const struct tk_trace_summary *s)
{
	double sum = 0;
	for (int a = 0; a < TK_TRACE_DOES_OTHER; a++)
		sum += s->activity_ns[a];
	return sum;
}

static json_t *encode_change(const struct tk_trace_change *c)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:b}", "base_ns", tk_json_number(c->base_ns),
	        "head_ns", tk_json_number(c->head_ns), "change_ns", tk_json_number(c->change_ns),
	        "lo_ns", tk_json_number(c->lo_ns), "hi_ns", tk_json_number(c->hi_ns), "changed",
	        c->is_changed);
}

/* Times of the regions on the critical path, without the cost of records. */
struct corrected {
	double block_ns[TK_TRACE_REGIONS_MAX], tile_ns[TK_TRACE_REGIONS_MAX];
	double block_other_ns, tile_other_ns;
};

static void correct_paths(const struct tk_trace_result *r, struct corrected *out)
{
	const struct tk_trace_critical_path *c = &r->head.critical;
	double record_ns = record_cost_ns(r);
	out->block_other_ns =
	        tk_trace_path_correct(&c->block, r->kernel.regions, record_ns, out->block_ns);
	out->tile_other_ns =
	        tk_trace_path_correct(&c->tile, r->kernel.regions, record_ns, out->tile_ns);
}

static json_t *encode_tiles(
        const struct tk_trace_critical_path *c, const struct corrected *corrected)
{
	return c->tiles > 0
	               ? json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "count", tk_json_number(c->tiles),
	                         "mean_ns", tk_json_number(c->tile.duration_ns), "shortest_ns",
	                         tk_json_number(c->shortest_tile_ns), "longest_ns",
	                         tk_json_number(c->longest_tile_ns), "critical_other_ns",
	                         tk_json_number(c->tile.other_ns), "critical_other_corrected_ns",
	                         tk_json_number(corrected->tile_other_ns))
	               : json_null();
}

static json_t *encode_regions(
        const struct tk_trace_result *r, const struct corrected *corrected, bool compares)
{
	const struct tk_trace_critical_path *c = &r->head.critical;
	json_t *list = json_array();
	for (uint32_t i = 0; i < r->kernel.regions; i++) {
		const struct tk_trace_region_time *m = &r->head.regions[i];
		json_t *o = json_pack("{s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "name",
		        tk_json_text(r->kernel.region[i]), "kind", kind_name(r->kernel.kind[i]),
		        "entered", tk_json_number(m->calls), "time_ns", tk_json_number(m->time_ns),
		        "share_of_groups", tk_json_number(m->share), "exposed_ns",
		        tk_json_number(m->exposed_ns), "critical_ns",
		        tk_json_number(c->block.region_ns[i]), "critical_corrected_ns",
		        tk_json_number(corrected->block_ns[i]));
		if (c->tiles > 0) {
			json_object_set_new(
			        o, "tile_critical_ns", tk_json_number(c->tile.region_ns[i]));
			json_object_set_new(o, "tile_critical_corrected_ns",
			        tk_json_number(corrected->tile_ns[i]));
		}
		if (compares) {
			json_object_set_new(o, "change", encode_change(&r->comparison.regions[i]));
			json_object_set_new(
			        o, "exposed_change", encode_change(&r->comparison.exposed[i]));
		}
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *encode_result(const struct tk_trace_result *r, bool compares)
{
	const struct tk_trace_summary *s = &r->head;
	const struct tk_trace_path *block = &s->critical.block;
	json_t *o = json_object(), *activities = json_object();
	struct corrected corrected;
	correct_paths(r, &corrected);
	const struct {
		const char *name;
		double value;
	} numbers[] = {{"duration_ns", s->duration_ns}, {"corrected_ns", s->corrected_ns},
	        {"regions_ns", regions_ns(s)}, {"tail_ns", s->tail_ns}, {"clock_mhz", s->clock_mhz},
	        {"records", s->recorded}, {"groups_with_loss", s->groups_with_loss},
	        {"record_ns", s->record_ns}, {"record_in_place_ns", r->record_in_place_ns},
	        {"block_ns", block->duration_ns}, {"critical_other_ns", block->other_ns},
	        {"critical_other_corrected_ns", corrected.block_other_ns},
	        {"critical_records", block->records}};
	json_object_set_new(o, "name", tk_json_text(r->kernel.name));
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		json_object_set_new(o, numbers[i].name, tk_json_number(numbers[i].value));
	json_object_set_new(o, "multiprocessors", json_integer((json_int_t)s->multiprocessors));
	json_object_set_new(o, "groups", json_integer((json_int_t)s->groups));
	json_object_set_new(o, "blocks", json_integer(r->kernel.blocks));
	json_object_set_new(o, "blocks_launched",
	        r->kernel.launched ? json_integer(r->kernel.launched) : json_null());
	for (int a = 0; a < TK_TRACE_ACTIVITIES; a++)
		json_object_set_new(
		        activities, tk_trace_activity_names[a], tk_json_number(s->activity_ns[a]));
	json_object_set_new(o, "tiles", encode_tiles(&s->critical, &corrected));
	json_object_set_new(o, "multiprocessor_ns", activities);
	json_object_set_new(o, "regions", encode_regions(r, &corrected, compares));
	if (compares) {
		int cause = r->comparison.cause;
		json_object_set_new(o, "change", encode_change(&r->comparison.duration));
		json_object_set_new(o, "cause",
		        cause < 0 ? json_null() : tk_json_text(r->kernel.region[cause]));
	}
	return o;
}

void tk_trace_results_encode(const struct tk_trace_results *r, json_t *object)
{
	json_t *kernels = json_array();
	json_object_set_new(object, "runs", json_integer((json_int_t)r->runs));
	json_object_set_new(object, "untraced_ns", tk_json_number(r->untraced_ns));
	json_object_set_new(object, "traced_ns", tk_json_number(r->traced_ns));
	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(
		        kernels, encode_result(&r->at[i], tk_trace_results_compare(r)));
	json_object_set_new(object, "kernels", kernels);
}
