/* Private to data/: how a shard is written. Each build rewrites some shards as a whole and
 * appends to the hot files of the others. */
#ifndef TK_SITE_SHARD_MEMBER_H
#define TK_SITE_SHARD_MEMBER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site_gen/model/model.h"

struct tk_error;
struct tk_series_state;
struct tk_site;

#define TK_CHART_DATA_YEARS 64
#define TK_DATA_PATH_SIZE 64

/* A series of the shard that is being written. */
struct tk_shard_member {
	struct tk_site_series *series;
	struct tk_series_state *state;
	size_t group;
	const struct tk_point *new_points; /* in no data file yet; oldest first */
	size_t new_point_count, new_points_done;
	bool has_new_appearance; /* its page changes in more than the points */
	bool needs_rebuild;      /* older points changed, or it is unknown which are new */
	struct tk_rows several;  /* holds new_points if there is more than one */
	/* while its shard is rewritten: */
	struct tk_rows window, read;
	const struct tk_point *older, *recent; /* before and after the cut */
	size_t older_count, recent_count, older_done;
};

/* Year i of the bit sets in struct tk_site_state is TK_CHART_DATA_FIRST_YEAR + i. */
int tk_chart_data_year_bit(int64_t t_s);
int64_t tk_chart_data_year_start(int bit); /* INT64_MIN for the first */
/* Points before the cut are in the files of years. */
int64_t tk_chart_data_cut(int64_t newest_s);
size_t tk_chart_data_shard(size_t group);
void tk_chart_data_year_path(char path[TK_DATA_PATH_SIZE], size_t group, int bit);
void tk_chart_data_recent_path(char path[TK_DATA_PATH_SIZE], size_t group);
void tk_chart_data_hot_path(char path[TK_DATA_PATH_SIZE], size_t shard);

bool tk_shard_member_has_change(const struct tk_site_series *s);
int tk_shard_member_find_new_points(
        struct tk_site *site, struct tk_shard_member *m, struct tk_error *err);
int tk_shard_member_find_years(
        struct tk_site *site, const struct tk_shard_member *m, int64_t cut_s, struct tk_error *err);
void tk_shard_member_store_state(struct tk_site *site, struct tk_shard_member *m);
int tk_shard_member_write_page(
        struct tk_site *site, struct tk_shard_member *m, struct tk_error *err);

int tk_shard_rewrite(struct tk_site *site, struct tk_shard_member *members, size_t count,
        size_t shard, bool has_older_changes, struct tk_error *err);
int tk_shard_append(struct tk_site *site, struct tk_shard_member *members, size_t count,
        size_t shard, bool *done, struct tk_error *err);
int tk_shard_put_hot_file(struct tk_site *site, size_t shard, struct tk_error *err);

#endif
