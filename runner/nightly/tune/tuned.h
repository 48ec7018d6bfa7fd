/* `config: tuned` of an upstream: the stored results of `tracker tune` as nights use them. */
#ifndef TK_TUNED_H
#define TK_TUNED_H
#include "store/catalog/row_index.h"
#include "store/tuning.h"
#include <stdbool.h>

struct tk_tuned_results {
	struct tk_rows tunings;
	struct tk_id_table upstreams;
};

/* Free in any case. */
int tk_tuned_load(struct tk_store *s, struct tk_tuned_results *out, struct tk_error *err);
void tk_tuned_free(struct tk_tuned_results *r);

/* What a series with the configuration TK_TUNE_CONFIG uses: the newest decided result of its
 * backend, problem and device with these options, of its mode if there is one. A result of a
 * backend without an upstream counts for upstreams that are not built. NULL: none, or it has no
 * configuration that works; the default is used. */
const struct tk_tuning_row *tk_tuned_find(
        const struct tk_tuned_results *r, const struct tk_series_row *series, const char *options);
/* The same, decided or not, and with or without a configuration that works. */
const struct tk_tuning_row *tk_tuned_find_newest(
        const struct tk_tuned_results *r, const struct tk_series_row *series, const char *options);
/* Of its mode: how many of the newest in a row are inconclusive. */
size_t tk_tuned_count_inconclusive(
        const struct tk_tuned_results *r, const struct tk_series_row *series, const char *options);

#endif
