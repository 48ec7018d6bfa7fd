/* The files of points. A group is a few series. Its file data/GROUP.js holds what its pages load:
 * names, change points, samples, and the points of the newest months. data/GROUP.YEAR.js holds the
 * points before them, which are loaded on demand. */
#ifndef TK_SITE_CHART_DATA_H
#define TK_SITE_CHART_DATA_H
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct tk_error;
struct tk_model;
struct tk_output;
struct tk_site_series;
struct tk_totals;

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
/* The files of a group as a JSON array of [year, path]; the year is 0 for the newest months. */
void tk_chart_data_add_files_json(const struct tk_chart_data *d, struct tk_buf *out, size_t group);

#endif
