/* The data of the charts in files of some series each: data/GROUP.YEAR.js for what is long past, never rewritten but
 * for the year that is not over, and data/GROUP.recent.js. The series of one problem are in one group, whatever is
 * added to the history. */
#ifndef TK_SITE_DATA_H
#define TK_SITE_DATA_H
#include <stddef.h>
#include <stdint.h>

struct tk_buf;
struct tk_error;
struct tk_model;
struct tk_site;
struct tk_site_series;
struct tk_value;

struct tk_data {
	size_t group_count;
	size_t *group_of; /* by the index of the series in the model */
	uint64_t *years;  /* by group: bit i is the year TK_DATA_FIRST_YEAR + i */
};
#define TK_DATA_FIRST_YEAR 1990

int tk_data_plan(const struct tk_model *m, struct tk_data *out, struct tk_error *err);
int tk_data_write(struct tk_site *site, struct tk_error *err);
void tk_data_free(struct tk_data *d);

/* The files that hold a series, oldest first: as texts in the list those of this year and the last, in `older`, with
 * blanks between them, the others. */
void tk_data_set_files(
        struct tk_site *site, struct tk_value *list, struct tk_buf *older, const struct tk_site_series *s);
/* A JSON array of them, of one group: [year, path], the year 0 for the recent one. */
void tk_data_files_json(struct tk_buf *out, const struct tk_data *d, size_t group);
size_t tk_data_group(const struct tk_site *site, const struct tk_site_series *s);

#endif
