/* Whether stored results of `tracker tune` still hold for what nights measure. */
#ifndef TK_TUNED_STATE_H
#define TK_TUNED_STATE_H
#include "core/tune.h"
#include "store/catalog/row_index.h"
#include "store/tuning.h"

struct tk_tuned_history {
	struct tk_store *store;
	struct tk_id_table upstreams, revisions, builds, environments, series;
};

/* Free in any case. */
int tk_tuned_history_load(struct tk_store *s, struct tk_tuned_history *out, struct tk_error *err);
void tk_tuned_history_free(struct tk_tuned_history *h);

/* By the newest run of the problem on the backend and device. */
int tk_tuned_state(const struct tk_tuned_history *h, const struct tk_tuning_row *tuning,
        enum tk_tune_state *out, struct tk_error *err);
static inline bool tk_tune_state_is_stale(enum tk_tune_state state)
{
	return state > TK_TUNE_STATE_CURRENT;
}

#endif
