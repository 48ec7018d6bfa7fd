/* The index of totals: levels, changes, noise. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "site_gen/data/totals.h"
#include "stats/summary/summary.h"

#define DAY_S 86400
#define NOISE_STEPS_MIN 5
#define MAD_TO_SIGMA 1.4826 /* of a normal distribution */

int tk_totals_merge(
        const struct tk_total *parts, size_t count, struct tk_total *out, struct tk_error *err)
{
	*out = (struct tk_total){.example = count ? parts[0].example : NULL};
	for (size_t i = 0; i < count; i++) {
		const struct tk_total *part = &parts[i];
		out->series_count += part->series_count;
		for (size_t k = 0; k < part->count; k++) {
			struct tk_total_night *night =
			        tk_total_find_night(out, part->nights[k].as_of_s);
			if (!night) {
				free(out->nights);
				out->nights = NULL;
				return tk_fail(err, TK_ENOMEM, "out of memory");
			}
			night->log_sum += part->nights[k].log_sum;
			night->count += part->nights[k].count;
		}
	}
	return 0;
}

void tk_total_levels(const struct tk_total *t, double *levels)
{
	double level = 0;
	for (size_t i = 0; i < t->count; i++) {
		const struct tk_total_night *n = &t->nights[i];
		/* two points of the first time, as of two backfills, are no change since it */
		level += i && n->count ? n->log_sum / (double)n->count : 0;
		levels[i] = level;
	}
}

double tk_total_change(const struct tk_total *t, const double *levels, int days)
{
	if (t->count < 2)
		return NAN;
	const double newest = levels[t->count - 1];
	int64_t since_s = t->nights[t->count - 1].as_of_s - (int64_t)days * DAY_S;
	if (!days)
		return expm1(newest - levels[0]);
	for (size_t i = t->count; i-- > 0;)
		if (t->nights[i].as_of_s <= since_s + DAY_S / 4)
			return expm1(newest - levels[i]);
	return NAN;
}

int tk_total_noise(const struct tk_total *t, double *noise, struct tk_error *err)
{
	double *steps = tk_malloc((t->count + 1) * sizeof *steps);
	size_t count = 0;
	if (!steps)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < t->count; i++)
		if (t->nights[i].count)
			steps[count++] = fabs(t->nights[i].log_sum / (double)t->nights[i].count);
	if (count)
		tk_sort_values(steps, count);
	*noise = count < NOISE_STEPS_MIN ? NAN : MAD_TO_SIGMA * steps[count / 2];
	free(steps);
	return 0;
}
