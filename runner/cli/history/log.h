/* What the parts of `tracker log` share: log.c lists the nights, log_night.c shows one in full. */
#ifndef TK_CLI_LOG_H
#define TK_CLI_LOG_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/table.h"
#include "store/store.h"

struct tk_log_options {
	const char *night;
	size_t limit;
	bool failed, json;
};

/* Jobs by outcome, series by verdict, upstreams with a new revision. */
struct tk_night_counts {
	int64_t ok, unstable, wrong, implausible, skipped, unsupported, failed, open, new_revisions,
	        regressed, improved, newly_failed;
	char revision[64]; /* upstream and revision that a backfill night measured; "": none */
};

int tk_night_count(
        struct tk_store *s, int64_t night_id, struct tk_night_counts *out, struct tk_error *err);
/* Sets `revision`. */
int tk_night_find_revision(struct tk_store *s, const struct tk_night_row *night,
        const struct tk_lookup *l, struct tk_night_counts *c, struct tk_error *err);
bool tk_night_can_resume(const struct tk_night_row *night);
extern const char tk_night_resume_hint[];

/* One row of a table with tk_night_columns; the same as JSON. */
extern const struct tk_column tk_night_columns[];
void tk_night_add_row(struct tk_table *t, const struct tk_night_row *night,
        const struct tk_night_counts *c, const struct tk_lookup *l);
json_t *tk_night_json(const struct tk_night_row *night, const struct tk_night_counts *c,
        const struct tk_lookup *l);

int tk_log_print_night(struct tk_store *s, const struct tk_globals *g,
        const struct tk_log_options *o, const struct tk_night_row *night, const struct tk_lookup *l,
        struct tk_error *err);

#endif
