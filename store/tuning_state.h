/* Whether stored results of `tracker tune` still hold for what nights measure. */
#ifndef TK_STORE_TUNING_STATE_H
#define TK_STORE_TUNING_STATE_H
#include "core/tune.h"
#include "store/tuning.h"

/* Whether a result is of the problem, the device and the backend of a series, with any options. One
 * of a backend without an upstream is of all upstreams that are not built. */
bool tk_tuning_matches(const struct tk_tuning_row *t, const struct tk_series_row *series,
        const struct tk_upstream_row *upstream);
/* By the newest run of the problem on the backend and device. */
int tk_tuning_state(struct tk_store *s, const struct tk_tuning_row *tuning, enum tk_tune_state *out,
        struct tk_error *err);
static inline bool tk_tune_state_is_stale(enum tk_tune_state state)
{
	return state > TK_TUNE_STATE_CURRENT;
}

#endif
