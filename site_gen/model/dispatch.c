/* Chooses a backend for each problem. */
#include "site_gen/model/dispatch.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "site_gen/model/model.h"

/* A backend, with configuration, over all problems. */
struct contender {
	const struct tk_site_series *any;
	size_t problems, firsts;
	double log_ratio; /* sum, to the fastest */
	bool is_used;
};
struct field {
	struct contender *at;
	size_t count;
};

static double time_of(const struct tk_site_series *s)
{
	return tk_series_last_point(s)->value;
}

static double fastest_time(const struct tk_standing *standing)
{
	return time_of(standing->at[0]);
}

static struct contender *find_contender(const struct field *f, const struct tk_site_series *s)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->at[i].any->variant, s->variant))
			return &f->at[i];
	return NULL;
}

static void add_standing(struct field *f, const struct tk_standing *standing)
{
	f->at = tk_realloc(f->at, (f->count + standing->count + 1) * sizeof *f->at);
	for (size_t i = 0; i < standing->count; i++) {
		struct contender *c = find_contender(f, standing->at[i]);
		if (!c) {
			c = &f->at[f->count++];
			*c = (struct contender){.any = standing->at[i]};
		}
		c->problems++;
		c->firsts += i < standing->first_count;
		c->log_ratio += log(time_of(standing->at[i]) / fastest_time(standing));
	}
}

static void choose(const struct field *f, struct tk_dispatch_row *row)
{
	struct contender *best = NULL;
	for (size_t i = 0; i < row->standing.first_count; i++) {
		struct contender *c = find_contender(f, row->standing.at[i]);
		if (!best || c->firsts > best->firsts) {
			best = c;
			row->chosen = row->standing.at[i];
		}
	}
	best->is_used = true;
}

static void choose_single(const struct field *f, struct tk_dispatch *out)
{
	const struct contender *best = NULL;
	for (size_t i = 0; i < f->count; i++) {
		const struct contender *c = &f->at[i];
		bool better = !best || c->problems > best->problems ||
		              (c->problems == best->problems && c->log_ratio < best->log_ratio);
		best = better ? c : best;
		out->used += c->is_used;
	}
	if (!best)
		return;
	out->single = best->any;
	out->single_count = best->problems;
	out->single_ratio = exp(best->log_ratio / (double)best->problems);
}

int tk_dispatch_load(const struct tk_model *m, const struct tk_site_device *device, const char *op,
        double tie, struct tk_dispatch *out, struct tk_error *err)
{
	struct field f = {0};
	size_t capacity = 0;
	int status = 0;
	*out = (struct tk_dispatch){.device = device};
	for (size_t i = 0, end; !status && i < m->series_count; i = end) {
		struct tk_standing standing;
		end = i + 1;
		if (strcmp(m->series[i].problem->op, op))
			continue;
		end = tk_standing_load(m, i, device, tie, &standing);
		if (!standing.count)
			continue;
		if (out->count == capacity) {
			capacity = 2 * capacity + 16;
			void *more = tk_realloc(out->at, capacity * sizeof *out->at);
			if (!more) {
				status = tk_fail(err, TK_ENOMEM, "out of memory");
				break;
			}
			out->at = more;
		}
		out->at[out->count++] = (struct tk_dispatch_row){.standing = standing};
		out->contested += standing.count > 1;
		add_standing(&f, &standing);
	}
	for (size_t i = 0; !status && i < out->count; i++)
		choose(&f, &out->at[i]);
	if (!status)
		choose_single(&f, out);
	free(f.at);
	return status;
}

void tk_dispatch_free(struct tk_dispatch *d)
{
	free(d->at);
	*d = (struct tk_dispatch){0};
}

const struct tk_site_series *tk_dispatch_next(const struct tk_dispatch_row *row)
{
	const struct tk_standing *s = &row->standing;
	return s->first_count < s->count ? s->at[s->first_count] : NULL;
}

double tk_dispatch_lead(const struct tk_dispatch_row *row)
{
	const struct tk_site_series *next = tk_dispatch_next(row);
	return next ? time_of(next) / time_of(row->chosen) : NAN;
}
