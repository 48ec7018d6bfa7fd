/* The data of the charts: classic scripts that call tracker.data.add(id, {...}), because a page
 * that is opened from the disk may not read JSON. docs/reference/site.md describes the fields. */
#ifndef TK_SITE_DATA_H
#define TK_SITE_DATA_H
#include "base/base.h"

struct tk_chart_data;
struct tk_model;
struct tk_output;
struct tk_point;
struct tk_site_device;
struct tk_site_series;
struct tk_upstream_row;

/* Points as columns. Values are integers in steps of a power of ten, with four significant
 * digits, each the difference to the one before. `recent`: with five digits, and with quartiles,
 * minimum, number of samples and run. */
void tk_data_add_points(struct tk_buf *out, const struct tk_model *m,
        const struct tk_site_series *s, const struct tk_point *points, size_t count, bool recent);
/* Name, unit, time at the ceiling and change points of a series. */
void tk_data_add_about(
        struct tk_buf *out, const struct tk_model *m, const struct tk_site_series *s);
/* The samples of these points, sorted, at most 100 each; nothing where they were not kept. */
int tk_data_add_samples(struct tk_buf *out, const struct tk_model *m,
        const struct tk_site_series *s, const struct tk_point *points, size_t count,
        struct tk_error *err);
/* Every series with its page and its files, for other programs. */
void tk_data_add_manifest(struct tk_buf *out, const struct tk_chart_data *data);
/* Opens "tracker.data.add(id,{". */
void tk_data_begin(struct tk_buf *out, const char *id);
void tk_data_add_number(struct tk_buf *out, double v); /* a JSON number, or null */
void tk_data_add_text(struct tk_buf *out, const char *text, size_t max_bytes);

/* The files of points. A group is a few series. Its file data/GROUP.js holds what its pages load:
 * names, change points, samples, and the points of the newest months. data/GROUP.YEAR.js holds the
 * points before them, which are loaded on demand. */

struct tk_chart_data {
	struct tk_model *model; /* these three are set by the caller */
	struct tk_output *out;
	struct tk_totals *totals;
	struct tk_buf text; /* of the file that is written */
	size_t group_count;
	size_t *group_of; /* by the index of the series in the model */
	uint64_t *years;  /* by group: bit i is the year TK_CHART_DATA_FIRST_YEAR + i */
};
#define TK_CHART_DATA_FIRST_YEAR 1990
#define TK_DATA_PATH_SIZE 64

/* Reads all points, once: writes the files, and fills the sparklines of the model and the totals.
 */
int tk_chart_data_write(struct tk_chart_data *d, struct tk_error *err);
void tk_chart_data_free(struct tk_chart_data *d);

/* The file that the page of a series loads. */
void tk_chart_data_page_file(const struct tk_chart_data *d, const struct tk_site_series *s,
        char path[TK_DATA_PATH_SIZE]);
/* The files of its earlier years, oldest first, separated by blanks. */
void tk_chart_data_add_older_files(
        const struct tk_chart_data *d, struct tk_buf *out, const struct tk_site_series *s);

/* How the speed of all series of a device, kernel, type and backend together changed, night by
 * night: what the pages of trends draw.
 *
 * Chain-linked: a night holds the sum, over the series that have a time in it and an earlier one,
 * of the logarithms of their speed-ups since that earlier time. A new or missing series does not
 * move it. */

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
