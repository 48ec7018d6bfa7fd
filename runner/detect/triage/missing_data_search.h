/* Missing data of any age. Private to detect/. */
#ifndef TK_DETECT_MISSING_DATA_SEARCH_H
#define TK_DETECT_MISSING_DATA_SEARCH_H
#include <stdbool.h>

#include "detect/detect.h"
#include "detect/history/catalog.h"

int tk_missing_data_find_all(struct tk_store *s, const struct tk_detect_options *options,
        int64_t night_id, struct tk_missing_data_list *out, struct tk_error *err);
/* It has been missing for too long to open an alert. */
bool tk_missing_data_is_history(const struct tk_missing_data *m, int64_t now_s);

#endif
