/* Which alerts are about the same commit of an upstream, on devices that are alike: those whose ranges of revisions,
 * last good to first bad, have one in common. A series that is measured at every fourth revision says of a step only
 * that it is one of four commits; that is the one which the others saw, if they saw one of the four. Private to
 * detect/. */
#ifndef TK_DETECT_GROUPS_H
#define TK_DETECT_GROUPS_H
#include <stdbool.h>
#include <stddef.h>

#include "detect/history/catalog.h"

struct tk_case;
struct tk_cases;
struct tk_error;
struct tk_group;

struct tk_groups {
	struct tk_group *at;
	size_t count;
	const struct tk_revision_row **revisions; /* by upstream and name; NULL: not needed yet */
	size_t revision_count;
};

int tk_groups_make(struct tk_cases *c, struct tk_error *err); /* those of the alerts that are known */
void tk_groups_free(struct tk_groups *g);
/* The group that an alert of this range belongs to, or the name of its own; "": out of memory. */
void tk_group_uid(const struct tk_cases *c, const struct tk_case *k, bool failure, const char *good_rev,
        const char *bad_rev, char uid[TK_ALERT_UID_SIZE]);
/* One more alert of a group: those that come after it may belong to it. */
int tk_groups_add(struct tk_cases *c, const struct tk_case *k, bool failure, const char *good_rev, const char *bad_rev,
        const char *group_uid, struct tk_error *err);

#endif
