/* The state that the next build needs from this one, so that it reads and writes only new data: the
 * last months of each series and a hash of its page and badge, and what the files of each shard
 * hold.
 *
 * Entries are in the order of the model, so that a state is valid for the same series only. It
 * belongs to the machine that wrote it. A file that does not fit is ignored. */
#ifndef TK_SITE_STATE_H
#define TK_SITE_STATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site_gen/model/model.h"

struct tk_error;
struct tk_output;

#define TK_SITE_STATE "site-state.bin"

struct tk_series_state {
	int64_t last_run_id, last_s; /* the newest point that the data files have; 0: none */
	uint64_t look;               /* hash of what its page shows besides the points */
	double badge_value;          /* NAN: none is shown */
	uint64_t badge_look;         /* hash of what its badge shows besides the value */
	struct tk_trace trace;
};

struct tk_shard_state {
	int64_t build; /* the build that wrote its pages and recent files; 0: none */
	int64_t cut_s; /* points before it are in the files of years */
	uint64_t hot_bytes;
};

struct tk_site_state {
	int64_t build; /* number of builds that found anything new */
	bool is_changed;
	size_t series_count, shard_count, group_count;
	char *image; /* the file; the arrays below point into it */
	struct tk_series_state *series;
	struct tk_shard_state *shards;
	uint64_t *years; /* by group: bit i is the year TK_CHART_DATA_FIRST_YEAR + i */
};

int tk_state_new(
        struct tk_site_state *s, size_t series, size_t shards, size_t groups, struct tk_error *err);
void tk_state_clear(struct tk_site_state *s); /* as new */
/* Fills a new state. false: the file is not of `build` or has other counts; clear the state then.
  */
bool tk_state_read(struct tk_site_state *s, const struct tk_output *out, int64_t build);
int tk_state_write(const struct tk_site_state *s, struct tk_output *out, struct tk_error *err);
void tk_state_free(struct tk_site_state *s);

/* A fast hash (FNV-1a, including the end of each text) for texts that nobody chooses to collide. */
#define TK_FNV1A_INIT UINT64_C(0xcbf29ce484222325)
uint64_t tk_fnv1a_add(uint64_t h, const char *text);

void tk_trace_add_point(struct tk_trace *t, const struct tk_point *p);

#endif
