/* Alerts about the same commit of an upstream, on devices of the same model, form a group: their
 * ranges of revisions, last good to first bad, overlap. A series that is measured at every fourth
 * revision narrows a step to four commits; other series of the group narrow it further. Private to
 * detect/. */
#ifndef TK_DECIDE_COMMIT_GROUPS_H
#define TK_DECIDE_COMMIT_GROUPS_H
#include <stdbool.h>
#include <stddef.h>

#include "decide/history/catalog.h"

struct tk_diff_row;
struct tk_series_case;
struct tk_analysis;
struct tk_error;
struct tk_commit_group;

struct tk_commit_groups {
	struct tk_commit_group *at;
	size_t count;
};

/* The groups of the stored alerts. */
int tk_commit_groups_load(struct tk_analysis *c, struct tk_error *err);
void tk_commit_groups_free(struct tk_commit_groups *g);
/* The group that the alert about a row belongs to, or the uid of a new one; "": out of
 * memory. */
void tk_commit_groups_find_uid(const struct tk_analysis *c, const struct tk_series_case *k,
        bool failure, const struct tk_diff_row *row, char uid[TK_ALERT_UID_SIZE]);
/* Adds a new alert, so that later ones find its group. */
int tk_commit_groups_add(struct tk_analysis *c, const struct tk_series_case *k, bool failure,
        const struct tk_diff_row *row, const char *group_uid, struct tk_error *err);

#endif
