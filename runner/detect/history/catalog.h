/* The small tables of the history by id, and what detection asks about them. Read once for a diff.
 */
#ifndef TK_DETECT_CATALOG_H
#define TK_DETECT_CATALOG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct tk_error;

struct tk_id_table {
	struct tk_rows rows;
	const void **sorted;
}; /* every row starts with its id */

struct tk_build_kernels {
	int64_t build_id;
	struct tk_rows kernels;
};

struct tk_catalog {
	struct tk_store *store;
	struct tk_id_table machines, devices, environments, upstreams, revisions, builds, problems,
	        series, nights;
	struct tk_rows alerts, triage;
	struct tk_build_kernels *code; /* of the builds that were asked about */
	size_t code_count;
};

int tk_catalog_load(struct tk_store *s, struct tk_catalog *out, struct tk_error *err);
void tk_catalog_free(struct tk_catalog *c);
const void *tk_id_table_find(const struct tk_id_table *table, int64_t id); /* NULL: none */

/* NULL where the build or its revision is not known. */
const struct tk_revision_row *tk_catalog_find_revision(
        const struct tk_catalog *c, int64_t build_id);
/* Whether two builds have the same machine code for a backend: the same build, or equal hashes of
 * the backend as a whole. */
int tk_catalog_is_same_code(struct tk_catalog *c, int64_t build_a, int64_t build_b,
        const char *backend, bool *same, struct tk_error *err);

/* Both hashes are known, and differ. */
int tk_catalog_is_new_code(struct tk_catalog *c, int64_t build_a, int64_t build_b,
        const char *backend, bool *is_new, struct tk_error *err);

/* What differs between two environments, "driver 550 -> 555, governor ..."; "" where nothing does.
 * *hard: something differs that changes what is measured (card, driver, clock policy, measurement
 * method). */
void tk_catalog_diff_environments(
        const struct tk_catalog *c, int64_t from, int64_t to, char *out, size_t size, bool *hard);

/* The identity of a regression: the same step is the same alert, however often it is seen. "": out
 * of memory. */
#define TK_ALERT_UID_SIZE 65
void tk_alert_uid_make(const char *series_slug, const char *bad_rev, char uid[TK_ALERT_UID_SIZE]);
/* The same for other kinds of alerts and for groups of them: the hash of these words. */
void tk_alert_uid_hash(const char *const *words, size_t count, char uid[TK_ALERT_UID_SIZE]);

#endif
