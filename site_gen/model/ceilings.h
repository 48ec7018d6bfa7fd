/* Ceilings of a device, and roofline efficiency (Williams, Waterman and Patterson 2009). */
#ifndef TK_SITE_ROOFS_H
#define TK_SITE_ROOFS_H
#include <stdbool.h>
#include <stddef.h>

#include "core/series.h"

struct tk_ceiling_row;
struct tk_model;
struct tk_site_device;
struct tk_site_series;

#define TK_CEILING_SET_MAX 32
struct tk_ceiling_set {
	const struct tk_ceiling_row *rows[TK_CEILING_SET_MAX];
	size_t count;
};

/* The newest ceiling of each name and source. */
void tk_ceiling_set_load(
        const struct tk_model *m, const struct tk_site_device *device, struct tk_ceiling_set *out);
/* Leaves the rates and bandwidths, which a roofline shows; a time is none. */
void tk_ceiling_set_drop_times(struct tk_ceiling_set *ceilings);
/* GFLOP/s that the device allows at `intensity` FLOP per byte for a type: the lower of its matrix
 * rate and bandwidth x intensity, measured where there is a measurement, else from the datasheet. A
 * type without a rate of its own gets the highest rate there is. NAN: no ceiling known. */
double tk_ceiling_set_attainable(
        const struct tk_ceiling_set *ceilings, const char *dtype, double intensity);
/* Roofline efficiency of a time of a series: 0.62 for 62 %; NAN: unknown. */
double tk_ceiling_set_efficiency(
        const struct tk_ceiling_set *ceilings, const struct tk_site_series *s, double time_ns);
/* The same from one source alone: of the datasheet it is the share of the peak. NAN: unknown. */
double tk_ceiling_set_efficiency_by_source(const struct tk_ceiling_set *ceilings,
        enum tk_ceiling_source source, const struct tk_site_series *s, double time_ns);
/* The highest GFLOP/s of a type that the datasheet names; NAN: unknown. */
double tk_ceiling_set_peak(const struct tk_ceiling_set *ceilings, const char *dtype);
/* What that limit is: "memory", the type, "none", or "fastest type" where the type has no rate of
 * its own. */
const char *tk_ceiling_set_limiting(
        const struct tk_ceiling_set *ceilings, const char *dtype, double intensity);
/* A ceiling of a cache or of memory on the chip ("l2 read"): drawn, but no limit of compulsory
 * traffic. */
bool tk_ceiling_is_cache(const struct tk_ceiling_row *c);

#endif
