/* All change points by the revision or the environment at which they happened. */
#ifndef TK_SITE_CHANGES_H
#define TK_SITE_CHANGES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_change_point_row;
struct tk_environment_row;
struct tk_error;
struct tk_model;
struct tk_revision_row;
struct tk_rows;
struct tk_site_series;

#define TK_SITE_REVISION_PAGES \
	20 /* newest revisions of an upstream that have a page even without a change */

struct tk_site_change {
	const struct tk_site_series *series;
	const struct tk_change_point_row *change_point;
	const struct tk_revision_row *good, *bad; /* NULL: unknown */
	const struct tk_environment_row *environment_before, *environment;
	bool worse;
};

struct tk_site_revision {
	const struct tk_revision_row *row;
	char *file;          /* NULL: has no page */
	size_t first, count; /* changes that start at this revision */
	size_t worse;
};

struct tk_site_changes {
	struct tk_site_change *all; /* by bad revision, then environment, then series and time */
	size_t count;
	struct tk_site_revision *revisions; /* in the order of the model's revision_rows */
	size_t revision_count;
};

/* `steps`: of tk_store_list_change_point_builds. */
void tk_site_changes_join(const struct tk_model *m, const struct tk_rows *steps,
        struct tk_site_changes *out);
void tk_site_changes_free(struct tk_site_changes *changes);
/* NULL: `r` is NULL. */
const struct tk_site_revision *tk_site_changes_find_revision(const struct tk_model *m,
        const struct tk_site_changes *changes, const struct tk_revision_row *r);

#endif
