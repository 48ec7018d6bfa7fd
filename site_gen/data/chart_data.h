/* The data of the charts in files of some series each. A group of series has data/GROUP.YEAR.js for what is long past,
 * never rewritten but for the year that is not over, and data/GROUP.recent.js for the last months. A shard, some
 * groups, has data/SHARD.hot.js, to which every night adds a line, until the recent files of the shard and the pages of
 * its series are written anew: a few shards a night are. */
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
	size_t refreshed; /* shards that every build writes anew, where anything is new */
};
#define TK_CHART_DATA_FIRST_YEAR 1990

int tk_chart_data_plan(const struct tk_model *m, struct tk_chart_data *out, struct tk_error *err);
/* The files, and the pages of the series that are due. */
int tk_chart_data_write(struct tk_site *site, struct tk_error *err);
void tk_chart_data_free(struct tk_chart_data *d);
bool tk_chart_data_is_incremental(
        const struct tk_chart_data *d); /* not every page of a series is written in every build */
int64_t tk_chart_data_refresh_builds(const struct tk_chart_data *d); /* but in so many */

/* The files that hold a series, oldest first: as texts in the list those that the page shows at once, in `older`, with
 * blanks between them, those of years before. */
void tk_chart_data_list_page_files(struct tk_site *site, struct tk_value *list,
        struct tk_buf *older, const struct tk_site_series *s);
/* All of them, with blanks between them. */
void tk_chart_data_add_all_files(
        const struct tk_site *site, struct tk_buf *out, const struct tk_site_series *s);
/* A JSON array of them, of one group: [year, path], the year 0 for the last months. */
void tk_chart_data_add_files_json(struct tk_buf *out, const struct tk_site *site, size_t group);
size_t tk_chart_data_group(const struct tk_site *site, const struct tk_site_series *s);

#endif
