/* Which alerts are about the same commit of an upstream, on devices that are alike: those whose
 * ranges of revisions, last good to first bad, have one in common. A series that is measured at
 * every fourth revision says of a step only that it is one of four commits; that is the one which
 * the others saw, if they saw one of the four. Private to detect/. */
#ifndef TK_DETECT_GROUPS_H
#define TK_DETECT_GROUPS_H
#include <stdbool.h>
#include <stddef.h>

#include "detect/history/catalog.h"

struct tk_series_case;
struct tk_case_set;
struct tk_error;
struct tk_commit_group;

struct tk_commit_groups {
	struct tk_commit_group *at;
	size_t count;
	const struct tk_revision_row **revisions; /* by upstream and name; NULL: not needed yet */
	size_t revision_count;
};

int tk_commit_groups_load(
        struct tk_case_set *c, struct tk_error *err); /* those of the alerts that are known */
void tk_commit_groups_free(struct tk_commit_groups *g);
/* The group that an alert of this range belongs to, or the name of its own; "": out of memory. */
void tk_commit_groups_find_uid(const struct tk_case_set *c, const struct tk_series_case *k,
        bool failure, const char *good_rev, const char *bad_rev, char uid[TK_ALERT_UID_SIZE]);
/* One more alert of a group: those that come after it may belong to it. */
int tk_commit_groups_add(struct tk_case_set *c, const struct tk_series_case *k, bool failure,
        const char *good_rev, const char *bad_rev, const char *group_uid, struct tk_error *err);

#endif
