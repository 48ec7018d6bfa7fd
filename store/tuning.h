/* The part of store.h about the results of `tracker tune`: whether they still hold for what nights
 * measure, those that belong together, and the rules that they give. */
#ifndef TK_STORE_TUNING_H
#define TK_STORE_TUNING_H
#include "core/tune_rule.h"
#include "core/vocabulary.h"
#include "store/catalog/row_index.h"

/* What `tracker tune` found for one problem on one backend and device. NAN: no A/B pairs. */
struct tk_tuning_row {
	int64_t id, device_id, environment_id, problem_id;
	const char *uid;
	const char *upstream, *revision; /* "": an installed backend */
	const char *artifact_key;        /* of the build */
	const char *backend, *options, *mode;
	int64_t started_s;
	enum tk_tune_verdict verdict;
	const char *config, *winner; /* to use, of the race; "": none */
	double default_ns, winner_ns, change, change_lo, change_hi; /* winner / default - 1 */
	int64_t pair_count, evaluation_count;
	const char *candidates; /* JSON: docs/reference/tune.md */
};

/* By the newest run of the problem on the backend and device. */
int tk_tuning_state(struct tk_store *s, const struct tk_tuning_row *tuning, enum tk_tune_state *out,
        struct tk_error *err);
static inline bool tk_tune_state_is_stale(enum tk_tune_state state)
{
	return state > TK_TUNE_STATE_CURRENT;
}

/* Of one backend with its options, in one mode on one device. */
struct tk_tuning_group {
	/* Of each problem the newest result that decided; where none did, the newest. In the order
	 * of the problems' ids. The rows are those that the groups were made of. */
	const struct tk_tuning_row **rows;
	size_t count;
};

struct tk_tuning_groups {
	struct tk_tuning_group *at; /* by device, backend, upstream, mode, options */
	size_t count;
	const struct tk_tuning_row **memory;
};

/* tunings: newest first, as tk_store_list() has them. */
void tk_tuning_groups_make(const struct tk_rows *tunings, struct tk_tuning_groups *out);
void tk_tuning_groups_free(struct tk_tuning_groups *groups);

/* Which configuration of the group is the one to use up to which size. With all groups: which tuned
 * backend is the fastest, on the device and in the mode of the group, of problems that several
 * backends were tuned for. The rules point into the rows. */
int tk_tuning_find_rules(const struct tk_tuning_groups *groups, const struct tk_tuning_group *group,
        const struct tk_row_index *problems, struct tk_tune_rules *out, struct tk_error *err);
/* No group before it is of its device and mode. */
bool tk_tuning_groups_is_first_at_place(const struct tk_tuning_groups *groups, size_t index);

#endif
