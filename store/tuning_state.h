/* Whether stored results of `tracker tune` still hold for what nights measure. */
#ifndef TK_STORE_TUNING_STATE_H
#define TK_STORE_TUNING_STATE_H
#include "core/tune.h"
#include "store/catalog/row_index.h"
#include "store/tuning.h"

struct tk_tuning_history {
	struct tk_store *store;
	struct tk_id_table upstreams, revisions, builds, environments, series;
};

/* Free in any case. */
int tk_tuning_history_load(struct tk_store *s, struct tk_tuning_history *out, struct tk_error *err);
void tk_tuning_history_free(struct tk_tuning_history *h);

/* Whether a result is of the problem, the device and the backend of a series, with any options. One
 * of a backend without an upstream is of all upstreams that are not built. */
bool tk_tuning_matches(const struct tk_tuning_row *t, const struct tk_series_row *series,
        const struct tk_upstream_row *upstream);
/* By the newest run of the problem on the backend and device. */
int tk_tuning_state(const struct tk_tuning_history *h, const struct tk_tuning_row *tuning,
        enum tk_tune_state *out, struct tk_error *err);
static inline bool tk_tune_state_is_stale(enum tk_tune_state state)
{
	return state > TK_TUNE_STATE_CURRENT;
}

#endif
