/* Finds the key problems and their contenders. */
#include "site_gen/model/standings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
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

size_t tk_standing_load(const struct tk_model *m, size_t first, const struct tk_site_device *device,
        double tie, struct tk_standing *out)
{
	size_t end = first;
	*out = (struct tk_standing){0};
	for (; end < m->series_count && m->series[end].problem == m->series[first].problem; end++) {
		const struct tk_site_series *s = &m->series[end];
		if (s->device == device && tk_series_is_ranked(s) && tk_series_newest_value(s) > 0)
			add_contender(out, s);
	}
	for (size_t i = 0; i < out->count; i++)
		if (i == 0 || tk_point_compare(tk_series_last_point(out->at[0]),
		                      tk_series_last_point(out->at[i]), tie) == TK_POINTS_TIE)
			move_contender(out, i, out->first_count++);
	return end;
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

void tk_standings_load(
        const struct tk_model *m, double tie, struct tk_standings *out)
{
	*out = (struct tk_standings){.at = tk_calloc(m->series_count + 1, sizeof *out->at)};
	for (size_t d = 0; d < m->device_count; d++) {
		const struct tk_site_device *device = tk_model_ordered_device(m, d);
		size_t begin = out->count;
		for (size_t i = 0, end; i < m->series_count; i = end) {
			struct tk_standing one;
			end = tk_standing_load(m, i, device, tie, &one);
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
		for (end = i;
		        end < m->series_count && m->series[end].problem == m->series[i].problem;
		        end++) {
			const struct tk_site_series *s = &m->series[end];
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
