/* Style sheets and scripts: those of templates/assets, and from the build Chart.js with its plugins
 * and the font. */
#ifndef TK_SITE_ASSETS_H
#define TK_SITE_ASSETS_H
#include "base/base.h"

struct tk_asset_file;
struct tk_output;

struct tk_assets {
	struct tk_asset_file *files;
	size_t count;
	bool has_charts;             /* Chart.js was there */
	char hash[TK_HASH_HEX_SIZE]; /* of all files */
};

/* Reads both folders. Files that pages load together become one. `third_party` NULL:
 * $TRACKER_ASSETS (empty: none), else assets/ beside the program, else ../share/tracker/assets; "":
 * none. Free with tk_assets_free() in any case. */
int tk_assets_read(const char *templates_dir, const char *third_party, struct tk_assets *assets,
        struct tk_error *err);
/* Writes them into assets/ as they were read. */
int tk_assets_put(const struct tk_assets *assets, struct tk_output *out, struct tk_error *err);
void tk_assets_free(struct tk_assets *assets);

#endif
