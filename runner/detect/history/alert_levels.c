/* See alert_levels.h. */
#include "detect/history/alert_levels.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/store.h"

/* The level of the newest alert of a series, and what else it depends on. */
struct tk_alert_level {
	int64_t series_id, night_id;
	char *bad_rev;
	double level; /* logarithm; NAN: unknown */
};

/* The first of these that is not before a series. */
static size_t lower_bound(const struct tk_alert_levels *levels, int64_t series_id)
{
	size_t from = 0, to = levels->count;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (levels->at[middle].series_id < series_id)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

bool tk_alert_levels_find(
        const struct tk_alert_levels *levels, const struct tk_alert_row *a, double *level)
{
	const size_t i = levels ? lower_bound(levels, a->series_id) : 0;

	if (!levels || i == levels->count || levels->at[i].series_id != a->series_id ||
	        levels->at[i].night_id != a->night_id ||
	        strcmp(levels->at[i].bad_rev, a->bad_rev) != 0)
		return false;
	*level = levels->at[i].level;
	return true;
}

static bool grow(struct tk_alert_levels *levels)
{
	const size_t capacity = levels->capacity ? 2 * levels->capacity : 64;
	struct tk_alert_level *grown;

	if (levels->count < levels->capacity)
		return true;
	grown = tk_realloc(levels->at, capacity * sizeof *grown);
	levels->at = grown;
	levels->capacity = capacity;
	return true;
}

int tk_alert_levels_put(struct tk_alert_levels *levels, const struct tk_alert_row *a, double level)
{
	const size_t i = lower_bound(levels, a->series_id);
	struct tk_alert_level l = {a->series_id, a->night_id, tk_strdup(a->bad_rev), level};

	if (!l.bad_rev || !grow(levels)) {
		free(l.bad_rev);
		return TK_ENOMEM;
	}
	if (i < levels->count && levels->at[i].series_id == a->series_id) {
		free(levels->at[i].bad_rev);
	} else {
		memmove(levels->at + i + 1, levels->at + i,
		        (levels->count - i) * sizeof *levels->at);
		levels->count++;
	}
	levels->at[i] = l;
	return TK_OK;
}

void tk_alert_levels_free(struct tk_alert_levels *levels)
{
	for (size_t i = 0; i < levels->count; i++)
		free(levels->at[i].bad_rev);
	free(levels->at);
	*levels = (struct tk_alert_levels){0};
}
