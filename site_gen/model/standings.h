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

/* The key problem of a kernel and type is the one that most backends have; of several the one with
 * the most work. free() at. */
void tk_standings_load(const struct tk_model *m, double tie, struct tk_standings *out);

/* The geometric mean of the speed of the best other backend relative to the best of the vendor,
 * over the problems that both have; NAN: none. */
double tk_standing_against_vendor(const struct tk_model *m, const struct tk_site_device *device,
        const char *op, size_t *problems);
bool tk_series_is_vendor(const struct tk_site_series *s);
bool tk_device_is_gpu(const struct tk_site_device *device);
/* Devices in the order of pages: GPUs first. Returns the i-th. */
const struct tk_site_device *tk_model_ordered_device(const struct tk_model *m, size_t i);

/* The dispatch table of a kernel on a device: which backend to use for which problem. */

/* The chosen contender shares the first place. Of several it is the one that shares the first place
 * of the most problems, so that the table uses few backends and noise does not change it. */
struct tk_dispatch_row {
	struct tk_standing standing;
	const struct tk_site_series *chosen;
};
struct tk_dispatch {
	const struct tk_site_device *device;
	struct tk_dispatch_row *at; /* in the order of the model */
	size_t count;
	size_t contested; /* problems with several contenders */
	size_t used;      /* backends that the table uses */
	/* The backend to use if there can be only one: has the most problems, then the least time.
	 * NULL: the table is empty. */
	const struct tk_site_series *single;
	size_t single_count; /* problems that it has */
	double single_ratio; /* its time relative to the fastest, geometric mean of these */
};

/* tie: as in tk_point_compare. Free with tk_dispatch_free(). */
void tk_dispatch_load(const struct tk_model *m, const struct tk_site_device *device, const char *op,
        double tie, struct tk_dispatch *out);
void tk_dispatch_free(struct tk_dispatch *d);
/* The first contender after those that share the first place; NULL: none. */
const struct tk_site_series *tk_dispatch_next(const struct tk_dispatch_row *row);
/* The time of the next contender relative to the chosen one's; NAN: there is none. */
double tk_dispatch_lead(const struct tk_dispatch_row *row);

#endif
