/* The small tables of the history, read once, for commands that print names where rows hold ids. */
#ifndef TK_LOOKUP_H
#define TK_LOOKUP_H
#include "store/catalog/row_index.h"
#include "store/store.h"

struct tk_lookup {
	struct tk_id_table machines, devices, environments, upstreams, revisions, builds, problems,
	        series;
};

int tk_lookup_load(struct tk_store *s, struct tk_lookup *out, struct tk_error *err);
void tk_lookup_free(struct tk_lookup *l);

/* All of these return NULL for an unknown id. */
const struct tk_machine_row *tk_lookup_machine(const struct tk_lookup *l, int64_t id);
const struct tk_device_row *tk_lookup_device(const struct tk_lookup *l, int64_t id);
const struct tk_environment_row *tk_lookup_environment(const struct tk_lookup *l, int64_t id);
const struct tk_upstream_row *tk_lookup_upstream(const struct tk_lookup *l, int64_t id);
const struct tk_revision_row *tk_lookup_revision(const struct tk_lookup *l, int64_t id);
const struct tk_build_row *tk_lookup_build(const struct tk_lookup *l, int64_t id);
const struct tk_problem_row *tk_lookup_problem(const struct tk_lookup *l, int64_t id);
const struct tk_series_row *tk_lookup_series(const struct tk_lookup *l, int64_t id);
const struct tk_revision_row *tk_lookup_build_revision(const struct tk_lookup *l, int64_t build_id);

/* Finds a night in a list (newest first) by its number, by the start of its uid, or the newest as
 * "last". TK_EUSAGE: none or several. */
int tk_lookup_find_night(const struct tk_rows *nights, const char *text,
        const struct tk_night_row **out, struct tk_error *err);

#endif
