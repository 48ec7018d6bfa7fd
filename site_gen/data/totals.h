/* How the speed of all series of a device, kernel, type and backend together changed, night by
 * night: what the pages of trends draw.
 *
 * Chain-linked: a night holds the sum, over the series that have a time in it and an earlier one,
 * of the logarithms of their speed-ups since that earlier time. A new or missing series does not
 * move it. */
#ifndef TK_SITE_TOTALS_H
#define TK_SITE_TOTALS_H
#include <stddef.h>
#include <stdint.h>

struct tk_error;
struct tk_model;
struct tk_point;
struct tk_site_device;
struct tk_site_series;

/* With more, backends are not told apart; with more still, types. */
#define TK_TOTALS_MAX 256
#define TK_TOTAL_NONE SIZE_MAX

struct tk_total_night {
	int64_t as_of_s;
	double log_sum; /* of the speed-ups */
	uint64_t count; /* of series; 0: all are measured for the first time */
};

struct tk_total {
	const struct tk_site_series *example; /* of its device, op, type and backend */
	const char *dtype, *variant;          /* NULL: of all */
	size_t series_count;
	struct tk_total_night *nights; /* oldest first */
	size_t count, room, last;      /* last: the night found last */
};

struct tk_totals {
	struct tk_total *at; /* by device, op, type, backend */
	size_t count;
	size_t *total_of; /* by series of the model; TK_TOTAL_NONE: not ranked */
};

void tk_totals_plan(const struct tk_model *m, struct tk_totals *out);
void tk_totals_free(struct tk_totals *t);
/* Adds all points of a series, oldest first. */
void tk_totals_add_points(
        struct tk_totals *t, size_t series, const struct tk_point *points, size_t count);

/* The totals of a kernel on a device, which are neighbours; returns their number, 0: none. */
size_t tk_totals_find(const struct tk_totals *t, const struct tk_site_device *device,
        const char *op, const struct tk_total **parts);

/* The index of some totals together. */
struct tk_trend {
	const struct tk_total *parts;
	size_t count;
	struct tk_total all; /* the sum of the parts */
	double *levels; /* the logarithm of the index after all.nights[i]; 0 in the first night */
	/* how far an unchanged index moves from night to night: 1.48 times the median absolute
	 * step; NAN: fewer than five steps */
	double noise;
};
void tk_trend_load(const struct tk_total *parts, size_t count, struct tk_trend *out);
void tk_trend_free(struct tk_trend *t);
/* The change within the newest `days`: 0.02 for 2 % faster; 0 days: since the first night. NAN: the
 * index is younger. */
double tk_trend_change(const struct tk_trend *t, int days);
/* The levels of one total, as above. */
void tk_total_levels(const struct tk_total *t, double *levels);

#endif
