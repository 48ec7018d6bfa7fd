/* Missing data of any age. Private to decide/. */
#ifndef TK_DECIDE_MISSING_DATA_SEARCH_H
#define TK_DECIDE_MISSING_DATA_SEARCH_H
#include <stdbool.h>

#include "decide/decide.h"
#include "decide/history/catalog.h"

int tk_missing_data_find_all(struct tk_store *s, const struct tk_detect_options *options,
        int64_t night_id, struct tk_missing_data_list *out, struct tk_error *err);
/* It has been missing for too long to open an alert. */
bool tk_missing_data_is_history(const struct tk_missing_data *m, int64_t now_s);

#endif
