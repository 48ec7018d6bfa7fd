/* The index of totals: levels, changes, noise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "site_gen/data/totals.h"

#define DAY_S 86400
#define NOISE_STEPS_MIN 5
#define MAD_TO_SIGMA 1.4826 /* of a normal distribution */

static int compare_nights(const void *a, const void *b)
{
	const struct tk_total_night *x = a, *y = b;
	return (x->as_of_s > y->as_of_s) - (x->as_of_s < y->as_of_s);
}

int tk_totals_merge(
        const struct tk_total *parts, size_t count, struct tk_total *out, struct tk_error *err)
{
	size_t all = 0, used = 0;
	*out = (struct tk_total){.example = count ? parts[0].example : NULL};
	for (size_t i = 0; i < count; i++)
		all += parts[i].count;
	struct tk_total_night *nights = malloc((all + 1) * sizeof *nights);
	if (!nights)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		out->series_count += parts[i].series_count;
		if (parts[i].count)
			memcpy(nights + used, parts[i].nights, parts[i].count * sizeof *nights);
		used += parts[i].count;
	}
	if (used)
		qsort(nights, used, sizeof *nights, compare_nights);
	for (size_t i = 0; i < used; i++) {
		struct tk_total_night *last = out->count ? &nights[out->count - 1] : NULL;
		if (last && last->as_of_s == nights[i].as_of_s) {
			last->log_sum += nights[i].log_sum;
			last->count += nights[i].count;
		} else
			nights[out->count++] = nights[i];
	}
	out->nights = nights;
	out->room = all + 1;
	return 0;
}

void tk_total_levels(const struct tk_total *t, double *levels)
{
	double level = 0;
	for (size_t i = 0; i < t->count; i++) {
		const struct tk_total_night *n = &t->nights[i];
		level += n->count ? n->log_sum / (double)n->count : 0;
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

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int tk_total_noise(const struct tk_total *t, double *noise, struct tk_error *err)
{
	double *steps = malloc((t->count + 1) * sizeof *steps);
	size_t count = 0;
	if (!steps)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < t->count; i++)
		if (t->nights[i].count)
			steps[count++] = fabs(t->nights[i].log_sum / (double)t->nights[i].count);
	if (count)
		qsort(steps, count, sizeof *steps, compare_doubles);
	*noise = count < NOISE_STEPS_MIN ? NAN : MAD_TO_SIGMA * steps[count / 2];
	free(steps);
	return 0;
}
