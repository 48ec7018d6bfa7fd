/* Choosing the ceiling that a problem stands under. */
#include "site_gen/model/ceilings.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "site_gen/model/model.h"

static bool is_known(const struct tk_site_ceilings *roofs, const struct tk_ceiling_row *c)
{
	for (size_t i = 0; i < roofs->count; i++)
		if (!strcmp(roofs->rows[i]->name, c->name) && roofs->rows[i]->source == c->source)
			return true;
	return false;
}

void tk_site_ceilings_find(
        const struct tk_model *m, const struct tk_site_device *device, struct tk_site_ceilings *out)
{
	*out = (struct tk_site_ceilings){0};
	for (size_t list = 0; list < m->ceiling_list_count; list++)
		for (size_t i = 0;
		        i < m->ceiling_lists[list].count && out->count < TK_SITE_CEILINGS_MAX;
		        i++) {
			const struct tk_ceiling_row *c =
			        TK_ROWS_AT(&m->ceiling_lists[list], struct tk_ceiling_row, i);
			if (c->device_id == device->row->id && c->value > 0 && !is_known(out, c))
				out->rows[out->count++] = c;
		}
}

bool tk_ceiling_is_cache(const struct tk_ceiling_row *c)
{
	static const char *const levels[] = {"l1", "l2", "l3", "llc", "shared", "lds"};
	size_t len = strcspn(c->name, " _-");
	for (size_t i = 0; !strcmp(c->unit, "gb_per_s") && i < sizeof levels / sizeof *levels; i++)
		if (strlen(levels[i]) == len && !strncasecmp(levels[i], c->name, len))
			return true;
	return false;
}

/* The highest value of a unit and source; name NULL: any. NAN: none. */
static double highest(const struct tk_site_ceilings *roofs, const char *unit,
        enum tk_ceiling_source source, const char *name)
{
	double best = NAN;
	for (size_t i = 0; i < roofs->count; i++) {
		const struct tk_ceiling_row *c = roofs->rows[i];
		if (!strcmp(c->unit, unit) && c->source == source &&
		        (!name || !strcmp(c->name, name)) && !tk_ceiling_is_cache(c))
			best = fmax(best, c->value);
	}
	return best;
}

static double first_of(double a, double b)
{
	return isfinite(a) ? a : b;
}

static double rate_of(const struct tk_site_ceilings *roofs, const char *dtype)
{
	return first_of(highest(roofs, "gflop_per_s", TK_CEILING_MEASURED, dtype),
	        highest(roofs, "gflop_per_s", TK_CEILING_DATASHEET, dtype));
}

static double bandwidth_of(const struct tk_site_ceilings *roofs)
{
	return first_of(highest(roofs, "gb_per_s", TK_CEILING_MEASURED, NULL),
	        highest(roofs, "gb_per_s", TK_CEILING_DATASHEET, NULL));
}

double tk_site_ceilings_attainable(
        const struct tk_site_ceilings *roofs, const char *dtype, double intensity)
{
	double rate = first_of(rate_of(roofs, dtype), rate_of(roofs, NULL));
	return fmin(
	        rate, bandwidth_of(roofs) * intensity); /* fmin takes the other where one is NAN */
}

const char *tk_site_ceilings_limiting(
        const struct tk_site_ceilings *roofs, const char *dtype, double intensity)
{
	double limit = tk_site_ceilings_attainable(roofs, dtype, intensity);
	if (!isfinite(limit))
		return "none";
	if (limit == bandwidth_of(roofs) * intensity)
		return "memory";
	return isfinite(rate_of(roofs, dtype)) ? dtype : "fastest type";
}

double tk_site_ceilings_efficiency(
        const struct tk_site_ceilings *roofs, const struct tk_site_series *s, double time_ns)
{
	bool known = s->problem->flops > 0 && s->problem->bytes > 0 && time_ns > 0 &&
	             !strcmp(s->row->metric, "time") && !strcmp(s->row->unit, "ns");
	double limit = known ? tk_site_ceilings_attainable(roofs, s->problem->dtype,
	                               s->problem->flops / s->problem->bytes)
	                     : NAN;
	return s->problem->flops / time_ns / limit;
}
