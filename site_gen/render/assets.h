/* Style sheets and scripts: those of templates/assets, and from the build Chart.js with its plugins
 * and the font. */
#ifndef TK_SITE_ASSETS_H
#define TK_SITE_ASSETS_H
#include <stdbool.h>

#include "base/hash.h"

struct tk_error;
struct tk_output;

/* Copies both folders into assets/, or only looks at them where `out` is NULL. Files that pages
 * load together become one. `third_party` NULL: $TRACKER_ASSETS (empty: none), else assets/ beside
 * the program, else ../share/tracker/assets; "": none. has_charts: whether Chart.js was there.
 * hex: hash of all that was copied. */
int tk_assets_copy(struct tk_output *out, const char *templates_dir, const char *third_party,
        bool *has_charts, char hex[TK_HASH_HEX_SIZE], struct tk_error *err);

#endif
