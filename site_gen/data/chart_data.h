/* The data of the charts. A group is a few series. Its file data/GROUP.YEAR.js holds the points
 * of a past year; data/GROUP.recent.js those of the last months. A shard is a few groups. Each
 * night appends a line to its data/SHARD.hot.js. Each build also rewrites the recent files and
 * the pages of a few shards as a whole, in turn, and then their hot files start again. */
#ifndef TK_SITE_DATA_H
#define TK_SITE_DATA_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_buf;
struct tk_error;
struct tk_model;
struct tk_site;
struct tk_site_series;
struct tk_value;

struct tk_chart_data {
	size_t group_count, shard_count;
	size_t *group_of; /* by the index of the series in the model */
	size_t refreshed; /* shards that each build rewrites, if anything is new */
};
#define TK_CHART_DATA_FIRST_YEAR 1990

int tk_chart_data_plan(const struct tk_model *m, struct tk_chart_data *out, struct tk_error *err);
/* Writes the files, and the pages of series that are due. */
int tk_chart_data_write(struct tk_site *site, struct tk_error *err);
void tk_chart_data_free(struct tk_chart_data *d);
/* A build writes only some pages of series; all of them within this number of builds. */
bool tk_chart_data_is_incremental(const struct tk_chart_data *d);
int64_t tk_chart_data_refresh_builds(const struct tk_chart_data *d);

/* The files of a series, oldest first: those that its page loads in `list`; in `older`, separated
 * by blanks, those of earlier years. */
void tk_chart_data_list_page_files(struct tk_site *site, struct tk_value *list,
        struct tk_buf *older, const struct tk_site_series *s);
/* All files of a series, separated by blanks. */
void tk_chart_data_add_all_files(
        const struct tk_site *site, struct tk_buf *out, const struct tk_site_series *s);
/* The files of a group as a JSON array of [year, path]; the year is 0 for recent and hot files. */
void tk_chart_data_add_files_json(struct tk_buf *out, const struct tk_site *site, size_t group);
size_t tk_chart_data_group(const struct tk_site *site, const struct tk_site_series *s);

#endif
