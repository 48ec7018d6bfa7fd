/* The ceilings of devices, and which of them limits a problem. */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "site_gen/model/model.h"

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
