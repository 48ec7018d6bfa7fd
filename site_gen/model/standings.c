/* The backends at the problems of a device, and the ceilings of devices. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "site_gen/model/model.h"
#include "site_gen/render/format_point.h"

bool tk_series_is_vendor(const struct tk_site_series *s)
{
	static const char *const names[] = {"cublas", "cudnn", "cutensor", "mkl", "onednn",
	        "rocblas", "hipblas", "miopen", "aocl", "accelerate"};
	/* "cublas_native" are kernels of the tracker on cuBLAS */
	if (strstr(s->row->backend, "native"))
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(s->row->backend, names[i], strlen(names[i])))
			return true;
	return false;
}

bool tk_device_is_gpu(const struct tk_site_device *device)
{
	return tk_device_kind_from_name(device->row->kind) != TK_DEVICE_CPU;
}

const struct tk_site_device *tk_model_ordered_device(const struct tk_model *m, size_t i)
{
	for (int cpu = 0; cpu < 2; cpu++)
		for (size_t d = 0; d < m->device_count; d++)
			if (tk_device_is_gpu(&m->devices[d]) != cpu && !i--)
				return &m->devices[d];
	return NULL;
}

/* Keeps `at` sorted; the slowest is left out where there is no room. */
static void add_contender(struct tk_standing *out, const struct tk_site_series *s)
{
	size_t i = out->count;
	if (out->count < TK_STANDING_BACKENDS)
		out->count++;
	else if (tk_series_newest_value(s) >= tk_series_newest_value(out->at[--i]))
		return;
	for (; i && tk_series_newest_value(out->at[i - 1]) > tk_series_newest_value(s); i--)
		out->at[i] = out->at[i - 1];
	out->at[i] = s;
}

static void move_contender(struct tk_standing *out, size_t from, size_t to)
{
	const struct tk_site_series *s = out->at[from];
	memmove(&out->at[to + 1], &out->at[to], (from - to) * sizeof(out->at[0]));
	out->at[to] = s;
}

/* The contenders of one problem, that of the series [first, end). tie: as in tk_point_compare. */
static struct tk_standing load_standing(const struct tk_model *m, size_t first, size_t end,
        const struct tk_site_device *device, double tie)
{
	struct tk_standing standing = {0}, *out = &standing;
	for (size_t i = first; i < end; i++) {
		const struct tk_site_series *s = &m->series[i];
		if (s->device == device && tk_series_is_ranked(s) && tk_series_newest_value(s) > 0)
			add_contender(out, s);
	}
	for (size_t i = 0; i < out->count; i++)
		if (i == 0 || tk_point_compare(tk_series_last_point(out->at[0]),
		                      tk_series_last_point(out->at[i]), tie) == TK_POINTS_TIE)
			move_contender(out, i, out->first_count++);
	return standing;
}

static bool is_same_key(const struct tk_site_series *a, const struct tk_site_series *b)
{
	return !strcmp(a->problem->op, b->problem->op) &&
	       !strcmp(a->problem->dtype, b->problem->dtype);
}

static bool is_better_key(const struct tk_standing *a, const struct tk_standing *b)
{
	return a->count != b->count ? a->count > b->count
	                            : a->at[0]->problem->flops > b->at[0]->problem->flops;
}

void tk_standings_load(const struct tk_model *m, double tie, struct tk_standings *out)
{
	*out = (struct tk_standings){.at = tk_calloc(m->series_count + 1, sizeof *out->at)};
	for (size_t d = 0; d < m->device_count; d++) {
		const struct tk_site_device *device = tk_model_ordered_device(m, d);
		size_t begin = out->count;
		for (size_t i = 0, end; i < m->series_count; i = end) {
			end = tk_model_problem_end(m, i);
			const struct tk_standing one = load_standing(m, i, end, device, tie);
			if (!one.count)
				continue;
			/* series are sorted by kernel, then type */
			bool same = out->count > begin &&
			            is_same_key(out->at[out->count - 1].at[0], one.at[0]);
			if (!same)
				out->at[out->count++] = one;
			else if (is_better_key(&one, &out->at[out->count - 1]))
				out->at[out->count - 1] = one;
		}
	}
}

double tk_standing_against_vendor(const struct tk_model *m, const struct tk_site_device *device,
        const char *op, size_t *problems)
{
	double sum = 0;
	*problems = 0;
	for (size_t i = 0, end; i < m->series_count; i = end) {
		double vendor = INFINITY, other = INFINITY;
		end = tk_model_problem_end(m, i);
		for (const struct tk_site_series *s = &m->series[i]; s < &m->series[end]; s++) {
			double *best = tk_series_is_vendor(s) ? &vendor : &other;
			if (s->device == device && tk_series_is_ranked(s) &&
			        !strcmp(s->problem->op, op))
				*best = fmin(*best, tk_series_newest_value(s));
		}
		if (isfinite(vendor) && isfinite(other)) {
			sum += log(vendor / other);
			++*problems;
		}
	}
	return *problems ? exp(sum / (double)*problems) : NAN;
}

void tk_ceiling_set_load(
        const struct tk_model *m, const struct tk_site_device *device, struct tk_ceiling_set *out)
{
	*out = (struct tk_ceiling_set){0};
	for (size_t i = 0; i < m->ceilings.count && out->count < TK_CEILING_SET_MAX; i++) {
		const struct tk_ceiling_row *c = TK_ROWS_AT(&m->ceilings, struct tk_ceiling_row, i);
		if (c->device_id == device->row->id)
			out->rows[out->count++] = c;
	}
}

void tk_ceiling_set_drop_times(struct tk_ceiling_set *ceilings)
{
	size_t kept = 0;
	for (size_t i = 0; i < ceilings->count; i++)
		if (tk_unit_from_name(ceilings->rows[i]->unit) != TK_UNIT_NS)
			ceilings->rows[kept++] = ceilings->rows[i];
	ceilings->count = kept;
}

bool tk_ceiling_is_cache(const struct tk_ceiling_row *c)
{
	static const char *const levels[] = {"l1", "l2", "l3", "llc", "shared", "lds"};
	if (tk_unit_from_name(c->unit) != TK_UNIT_GB_PER_S)
		return false;
	size_t len = strcspn(c->name, " _-");
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (strlen(levels[i]) == len && !strncasecmp(levels[i], c->name, len))
			return true;
	return false;
}

/* The highest value of a unit and source; name NULL: any. NAN: none. */
static double highest(const struct tk_ceiling_set *ceilings, const char *unit,
        enum tk_ceiling_source source, const char *name)
{
	double best = NAN;
	for (size_t i = 0; i < ceilings->count; i++) {
		const struct tk_ceiling_row *c = ceilings->rows[i];
		if (!strcmp(c->unit, unit) && c->source == source &&
		        (!name || !strcmp(c->name, name)) && !tk_ceiling_is_cache(c))
			best = fmax(best, c->value);
	}
	return best;
}

static double find_first(double a, double b)
{
	return isfinite(a) ? a : b;
}

static double find_rate(const struct tk_ceiling_set *ceilings, const char *dtype)
{
	return find_first(highest(ceilings, "gflop_per_s", TK_CEILING_MEASURED, dtype),
	        highest(ceilings, "gflop_per_s", TK_CEILING_DATASHEET, dtype));
}

static double find_bandwidth(const struct tk_ceiling_set *ceilings)
{
	return find_first(highest(ceilings, "gb_per_s", TK_CEILING_MEASURED, NULL),
	        highest(ceilings, "gb_per_s", TK_CEILING_DATASHEET, NULL));
}

double tk_ceiling_set_attainable(
        const struct tk_ceiling_set *ceilings, const char *dtype, double intensity)
{
	double rate = find_first(find_rate(ceilings, dtype), find_rate(ceilings, NULL));
	return fmin(rate, find_bandwidth(ceilings) * intensity); /* fmin() ignores NAN */
}

double tk_ceiling_set_peak(const struct tk_ceiling_set *ceilings, const char *dtype)
{
	return highest(ceilings, "gflop_per_s", TK_CEILING_DATASHEET, dtype);
}

const char *tk_ceiling_set_limiting(
        const struct tk_ceiling_set *ceilings, const char *dtype, double intensity)
{
	double limit = tk_ceiling_set_attainable(ceilings, dtype, intensity);
	if (!isfinite(limit))
		return "none";
	if (limit == find_bandwidth(ceilings) * intensity)
		return "memory";
	return isfinite(find_rate(ceilings, dtype)) ? dtype : "fastest type";
}

double tk_ceiling_set_efficiency_by_source(const struct tk_ceiling_set *ceilings,
        enum tk_ceiling_source source, const struct tk_site_series *s, double time_ns)
{
	bool known = s->problem->flops > 0 && time_ns > 0 && s->metric == TK_METRIC_TIME &&
	             s->unit == TK_UNIT_NS;
	double rate = known ? highest(ceilings, "gflop_per_s", source, s->problem->dtype) : NAN;
	double bandwidth = highest(ceilings, "gb_per_s", source, NULL);
	double intensity = s->problem->bytes > 0 ? s->problem->flops / s->problem->bytes : NAN;
	return isfinite(rate) ? s->problem->flops / time_ns / fmin(rate, bandwidth * intensity)
	                      : NAN;
}

double tk_ceiling_set_efficiency(
        const struct tk_ceiling_set *ceilings, const struct tk_site_series *s, double time_ns)
{
	bool known = s->problem->flops > 0 && s->problem->bytes > 0 && time_ns > 0 &&
	             s->metric == TK_METRIC_TIME && s->unit == TK_UNIT_NS;
	double limit = known ? tk_ceiling_set_attainable(ceilings, s->problem->dtype,
	                               s->problem->flops / s->problem->bytes)
	                     : NAN;
	return s->problem->flops / time_ns / limit;
}
