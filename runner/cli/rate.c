/* See rate.h. */
#include "cli/rate.h"

#include <jansson.h>
#include <math.h>

#include "base/memory.h"
#include "base/present.h"
#include "cli/markup.h"
#include "cli/table.h"
#include "core/datasheet.h"
#include "core/metric.h"
#include "core/problem.h"
#include "store/select.h"

struct tk_rate tk_rate_compute(double flops, double peak_gflop_per_s, double median_ns)
{
	struct tk_rate r = {NAN, NAN};

	if (flops > 0 && median_ns > 0)
		r.gflop_per_s = flops / median_ns;
	if (peak_gflop_per_s > 0)
		r.peak_share = r.gflop_per_s / peak_gflop_per_s;
	return r;
}

struct tk_rate tk_rate_from_problem(
        const char *problem, double flops, const char *device_name, double value, const char *unit)
{
	struct tk_problem_spec spec;
	double peak = 0;

	if (tk_unit_from_name(unit) != TK_UNIT_NS)
		return (struct tk_rate){NAN, NAN};
	/* An imported history may have problems of other languages. */
	if (!tk_problem_parse(&spec, problem, NULL))
		peak = tk_datasheet_find_peak(device_name, &spec);
	return tk_rate_compute(flops, peak, value);
}

static char *compute_peak(const struct tk_arg *args)
{
	struct tk_problem_spec spec;
	double peak = tk_problem_parse(&spec, args[0].text, NULL)
	                      ? 0
	                      : tk_datasheet_find_peak(args[1].text, &spec);

	return peak > 0 ? tk_sprintf("%.17g", peak) : NULL;
}

int tk_rate_define_function(struct tk_store *s, struct tk_error *err)
{
	static const struct tk_sql_function f = {"peak_gflop_per_s", 2, compute_peak};

	return tk_store_add_function(s, &f, err);
}

void tk_rate_set_cells(struct tk_table *t, const struct tk_rate *r)
{
	tk_table_set_value(t, "RATE", r->gflop_per_s, "gflop_per_s");
	tk_table_set_value(t, "PEAK", r->peak_share, "%");
}

void tk_rate_set_members(json_t *object, const struct tk_rate *r)
{
	json_object_set_new(object, "gflop_per_s", tk_json_number(r->gflop_per_s));
	json_object_set_new(object, "peak_share", tk_json_number(r->peak_share));
}
