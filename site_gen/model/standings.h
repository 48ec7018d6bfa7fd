/* Standings: the backends at the key problems of each device, and against the vendor's. */
#ifndef TK_SITE_STANDINGS_H
#define TK_SITE_STANDINGS_H
#include <stdbool.h>
#include <stddef.h>

struct tk_error;
struct tk_model;
struct tk_site_device;
struct tk_site_series;

#define TK_STANDING_BACKENDS 32

/* One problem on one device: its contenders, the fastest first, but those that share the first
 * place before all others. More than fit are left out, the slowest first. */
struct tk_standing {
	const struct tk_site_series *at[TK_STANDING_BACKENDS];
	size_t count;
	size_t first_count; /* how many share the first place */
};
struct tk_standings {
	struct tk_standing *at; /* GPUs first; by device, kernel and type */
	size_t count;
};

/* The contenders of one problem, which is that of series[first]. Returns the end of its series.
 * tie: as in tk_point_compare. */
size_t tk_standing_load(const struct tk_model *m, size_t first, const struct tk_site_device *device,
        double tie, struct tk_standing *out);
/* The key problem of a kernel and type is the one that most backends have; of several the one with
 * the most work. free() at. */
void tk_standings_load(
        const struct tk_model *m, double tie, struct tk_standings *out);

/* The geometric mean of the speed of the best other backend relative to the best of the vendor,
 * over the problems that both have; NAN: none. */
double tk_standing_against_vendor(const struct tk_model *m, const struct tk_site_device *device,
        const char *op, size_t *problems);
bool tk_series_is_vendor(const struct tk_site_series *s);
bool tk_device_is_gpu(const struct tk_site_device *device);
/* Devices in the order of pages: GPUs first. Returns the i-th. */
const struct tk_site_device *tk_model_ordered_device(const struct tk_model *m, size_t i);

#endif
