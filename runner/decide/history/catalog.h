/* The small tables of the history by id, with what detection needs of them. Read once for an
 * analysis. */
#ifndef TK_DECIDE_CATALOG_H
#define TK_DECIDE_CATALOG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decide/history/build_code.h"
#include "store/catalog/row_index.h"
#include "store/store.h"

struct tk_error;

struct tk_catalog {
	struct tk_store *store;
	struct tk_id_table machines, devices, environments, upstreams, revisions, builds, problems,
	        series, nights;
	struct tk_rows alerts, triage;
	struct tk_build_code *code; /* of the builds compared so far */
};

int tk_catalog_load(struct tk_store *s, struct tk_catalog *out, struct tk_error *err);
void tk_catalog_free(struct tk_catalog *c);
/* What a night changes in a catalog that is kept for the next one: alerts and triage. */
int tk_catalog_reload_alerts(struct tk_catalog *c, struct tk_error *err);

/* NULL: the build or its revision is not known. */
const struct tk_revision_row *tk_catalog_find_revision(
        const struct tk_catalog *c, int64_t build_id);
/* The kernels of a build, read once; several threads may ask while nothing else uses the store.
 * *out is valid until the alerts are read again. */
int tk_catalog_find_kernels(
        struct tk_catalog *c, int64_t build_id, const struct tk_rows **out, struct tk_error *err);
/* Two builds have the same machine code for a backend: they are the same build, or the hashes of
 * the whole backend are equal. */
int tk_catalog_is_same_code(struct tk_catalog *c, int64_t build_a, int64_t build_b,
        const char *backend, bool *same, struct tk_error *err);

/* Both hashes are known, and differ. Two builds may be neither the same nor new. */
int tk_catalog_is_new_code(struct tk_catalog *c, int64_t build_a, int64_t build_b,
        const char *backend, bool *is_new, struct tk_error *err);

/* The differences of two environments, "driver 550 -> 555, governor ..."; "": none. *hard: one of
 * them changes what is measured (card, driver, clock policy, method). */
void tk_catalog_diff_environments(
        const struct tk_catalog *c, int64_t from, int64_t to, char *out, size_t size, bool *hard);

/* The uid of an alert or a group: the hash of these parts, the same on every machine and every
 * night. "": out of memory. */
#define TK_ALERT_UID_SIZE 65
void tk_alert_uid_hash(const char *const *parts, size_t count, char uid[TK_ALERT_UID_SIZE]);

#endif
