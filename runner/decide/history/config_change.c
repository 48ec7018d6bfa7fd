/* See config_change.h. */
#include "decide/history/config_change.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "core/tune.h"
#include "decide/history/catalog.h"

/* *found: the run exists and has attributes. */
static int read_config(struct tk_catalog *c, int64_t run_id, char *out, size_t size, bool *found,
        struct tk_error *err)
{
	struct tk_rows runs = {0};
	char id[32];

	*found = false;
	snprintf(id, sizeof id, "%" PRId64, run_id);
	int status = tk_store_find_runs(c->store, id, &runs, err);
	for (size_t i = 0; !status && i < runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&runs, struct tk_run_row, i);
		json_t *a = run->id == run_id ? json_loads(run->attributes, 0, NULL) : NULL;
		const char *config = json_string_value(json_object_get(a, TK_RUN_CONFIG));

		if (a) {
			snprintf(out, size, "%s", config ? config : "default");
			*found = true;
		}
		json_decref(a);
	}
	tk_rows_free(&runs);
	return status;
}

int tk_config_change_describe(struct tk_catalog *c, const struct tk_series_row *series,
        const struct tk_verdict *v, char out[TK_CONFIG_CHANGE_SIZE], struct tk_error *err)
{
	char before[128], after[128];
	bool is_known = false, is_new_known = false;

	out[0] = '\0';
	if (strcmp(series->config, TK_TUNE_CONFIG) || !v->last_good_run_id || !v->first_bad_run_id)
		return TK_OK;
	int status = read_config(c, v->last_good_run_id, before, sizeof before, &is_known, err);
	if (!status)
		status = read_config(
		        c, v->first_bad_run_id, after, sizeof after, &is_new_known, err);
	if (!status && is_known && is_new_known && strcmp(before, after))
		snprintf(out, TK_CONFIG_CHANGE_SIZE, "%s -> %s", before, after);
	return status;
}
