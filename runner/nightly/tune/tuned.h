/* `config: tuned` of an upstream: the stored results of `tracker tune` as nights use them. */
#ifndef TK_TUNED_H
#define TK_TUNED_H
#include "store/tuning.h"
#include <stdbool.h>

/* The newest result of the backend, problem and device of a series with these options, of its mode
 * if there is one. A result of a backend without an upstream counts for upstreams that are not
 * built. is_decided: of those that decided; a newer one that did not leaves it in use. *found:
 * false where there is none. */
int tk_tuned_find(struct tk_store *s, const struct tk_series_row *series, const char *options,
        bool is_decided, struct tk_tuning_row *out, bool *found, struct tk_error *err);
/* Of its mode: how many of the newest in a row are inconclusive. */
int tk_tuned_count_inconclusive(struct tk_store *s, const struct tk_series_row *series,
        const char *options, int64_t *out, struct tk_error *err);

#endif
