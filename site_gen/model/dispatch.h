/* The dispatch table of a kernel on a device: which backend to use for which problem. */
#ifndef TK_SITE_DISPATCH_H
#define TK_SITE_DISPATCH_H
#include <stddef.h>

#include "site_gen/model/standings.h"

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

/* tie: as in tk_point_compare. Free with tk_dispatch_free(), also after a failure. */
int tk_dispatch_load(const struct tk_model *m, const struct tk_site_device *device, const char *op,
        double tie, struct tk_dispatch *out, struct tk_error *err);
void tk_dispatch_free(struct tk_dispatch *d);
/* The first contender after those that share the first place; NULL: none. */
const struct tk_site_series *tk_dispatch_next(const struct tk_dispatch_row *row);
/* The time of the next contender relative to the chosen one's; NAN: there is none. */
double tk_dispatch_lead(const struct tk_dispatch_row *row);

#endif
