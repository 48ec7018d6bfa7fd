/* See tunings.h. */
#include "site_gen/model/records.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "site_gen/model/model_internal.h"
#include "store/tuning.h"
#include "store/tuning_groups.h"
#include "store/tuning_state.h"

static void name_file(struct tk_model *m, struct tk_site_tuning *t)
{
	const struct tk_tuning_row *r = t->row;
	const char *upstream = strcmp(r->upstream, r->backend) ? r->upstream : "";
	AUTO_TEXT name =
	        tk_sprintf("%s.%s%s%s.%s.%s%s%s", t->device->file, upstream, *upstream ? "." : "",
	                r->backend, t->problem->title, r->mode, *r->options ? "." : "", r->options);
	t->file = tk_model_keep(m, tk_path_make_slug(name));
}

static int add_tuning(
        struct tk_model *m, const struct tk_tuning_group *group, size_t index, struct tk_error *err)
{
	const struct tk_tuning_row *row = group->rows[index];
	struct tk_site_tuning t = {.device = tk_model_find_device(m, row->device_id),
	        .problem = tk_row_index_find(&m->problems_by_id, row->problem_id),
	        .row = row,
	        .group = group};
	if (!t.device || !t.problem)
		return tk_fail(err, TK_EDATA, "tuning %s: missing device or problem", row->uid);
	TRY(tk_tuning_state(m->store, row, &t.state, err));
	name_file(m, &t);
	m->tunings[m->tuning_count++] = t;
	return TK_OK;
}

/* The result of the mode of a series, else of any. */
static void join_series(const struct tk_model *m, struct tk_site_series *s)
{
	for (size_t i = 0; i < m->tuning_count; i++) {
		const struct tk_site_tuning *t = &m->tunings[i];
		if (!tk_tuning_matches(t->row, s->row, s->upstream))
			continue;
		bool is_same_mode = !strcmp(t->row->mode, s->row->mode);
		if (is_same_mode || !s->tuning)
			s->tuning = t;
		if (is_same_mode)
			return;
	}
}

int tk_model_join_tunings(struct tk_model *m, struct tk_error *err)
{
	int status =
	        tk_store_list(m->store, TK_TABLE_tuning, NULL, TK_NO_ARGS, &m->tuning_rows, err);
	if (status || !m->tuning_rows.count)
		return status;
	m->tunings = tk_calloc(m->tuning_rows.count, sizeof *m->tunings);
	m->tuning_groups = tk_calloc(1, sizeof *m->tuning_groups);
	tk_tuning_groups_make(&m->tuning_rows, m->tuning_groups);
	for (size_t g = 0; !status && g < m->tuning_groups->count; g++)
		for (size_t i = 0; !status && i < m->tuning_groups->at[g].count; i++)
			status = add_tuning(m, &m->tuning_groups->at[g], i, err);
	for (size_t i = 0; !status && i < m->series_count; i++)
		join_series(m, &m->series[i]);
	return status;
}

/* ---- tuning space ---- */

#define CANDIDATES_MAX 20000

/* ---- candidates ---- */

static double read_number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);
	return json_is_number(v) ? json_number_value(v) : NAN;
}

static bool read_candidate(const json_t *o, struct tk_tuning_candidate *c)
{
	const char *config = json_string_value(json_object_get(o, "config")),
	           *outcome = json_string_value(json_object_get(o, "outcome")),
	           *message = json_string_value(json_object_get(o, "message"));
	*c = (struct tk_tuning_candidate){.evaluations = read_number(o, "evaluations"),
	        .median_ns = read_number(o, "median_ns"),
	        .slower = read_number(o, "slower"),
	        .lo = read_number(o, "lo"),
	        .hi = read_number(o, "hi"),
	        .is_dropped = json_is_true(json_object_get(o, "dropped"))};
	if (!config || !*config || !outcome || tk_outcome_parse(outcome, &c->outcome))
		return false;
	if (!(c->median_ns > 0))
		c->median_ns = NAN;
	snprintf(c->config, sizeof c->config, "%s", config);
	snprintf(c->message, sizeof c->message, "%.190s", message ? message : "");
	return true;
}

void tk_tuning_space_read(const struct tk_tuning_row *row, struct tk_tuning_space *out)
{
	json_auto_t *list = json_loads(row->candidates, 0, NULL);
	size_t count = json_array_size(list);
	count = count < CANDIDATES_MAX ? count : CANDIDATES_MAX;
	*out = (struct tk_tuning_space){
	        .best_ns = NAN, .candidates = tk_malloc((count + 1) * sizeof *out->candidates)};
	for (size_t i = 0; out->candidates && i < count; i++) {
		struct tk_tuning_candidate *c = &out->candidates[out->count];
		if (!read_candidate(json_array_get(list, i), c))
			continue;
		out->best_ns = fmin(out->best_ns, c->median_ns);
		out->count++;
	}
}

void tk_tuning_space_free(struct tk_tuning_space *s)
{
	free(s->candidates);
	*s = (struct tk_tuning_space){0};
}

/* ---- parameters ---- */

struct names {
	char at[TK_TUNE_PARAMETERS_MAX][TK_TUNE_PARAMETER_SIZE];
	size_t count;
};

/* TK_TUNE_PARAMETERS_MAX: there are too many. */
static size_t find_name(struct names *names, const char *name)
{
	size_t i = 0;
	while (i < names->count && strcmp(names->at[i], name) != 0)
		i++;
	if (i == names->count && i < TK_TUNE_PARAMETERS_MAX)
		snprintf(names->at[names->count++], TK_TUNE_PARAMETER_SIZE, "%.*s",
		        TK_TUNE_PARAMETER_SIZE - 1, name);
	return i;
}

static void read_parameters(struct tk_tuning_candidate *c, struct names *names)
{
	struct tk_tune_parameter parameters[TK_TUNE_PARAMETERS_MAX];
	size_t count = tk_tune_config_parse(c->config, parameters);
	for (size_t i = 0; i < TK_TUNE_PARAMETERS_MAX; i++)
		c->values[i] = NAN;
	for (size_t i = 0; i < count; i++) {
		size_t place = find_name(names, parameters[i].name);
		if (place < TK_TUNE_PARAMETERS_MAX)
			c->values[place] = (double)parameters[i].value;
	}
}

static bool is_value(double value, double wanted)
{
	return value == wanted || (isnan(value) && isnan(wanted));
}

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	if (isnan(x) || isnan(y))
		return !!isnan(x) - !!isnan(y);
	return (x > y) - (x < y);
}

/* false: it has fewer than two values, or too many. */
static bool list_values(const struct tk_tuning_space *s, struct tk_tuning_parameter *p)
{
	for (size_t i = 0; i < s->count; i++) {
		double value = s->candidates[i].values[p->place];
		size_t k = 0;
		while (k < p->count && !is_value(p->values[k], value))
			k++;
		if (k < p->count)
			continue;
		if (p->count == TK_TUNING_VALUES_MAX)
			return false;
		p->values[p->count++] = value;
	}
	if (p->count > 1)
		qsort(p->values, p->count, sizeof *p->values, compare_values);
	return p->count > 1;
}

/* Variance between the values of the mean logarithm of the time. */
static double measure_effect(const struct tk_tuning_space *s, const struct tk_tuning_parameter *p)
{
	double sum = 0, squares = 0, weight = 0;
	for (size_t k = 0; k < p->count; k++) {
		double mean = 0, count = 0;
		for (size_t i = 0; i < s->count; i++) {
			const struct tk_tuning_candidate *c = &s->candidates[i];
			if (isnan(c->median_ns) || !is_value(c->values[p->place], p->values[k]))
				continue;
			mean += log(c->median_ns);
			count++;
		}
		if (!(count > 0))
			continue;
		mean /= count;
		sum += count * mean;
		squares += count * mean * mean;
		weight += count;
	}
	return weight > 0 ? fmax(0, squares / weight - sum / weight * (sum / weight)) : 0;
}

static int most_effect_first(const void *a, const void *b)
{
	const struct tk_tuning_parameter *x = a, *y = b;
	if (x->effect != y->effect)
		return x->effect > y->effect ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

void tk_tuning_space_find_parameters(struct tk_tuning_space *s)
{
	struct names names = {.count = 0};
	for (size_t i = 0; i < s->count; i++)
		read_parameters(&s->candidates[i], &names);
	for (size_t i = 0; i < names.count; i++) {
		struct tk_tuning_parameter p = {.place = i};
		memcpy(p.name, names.at[i], sizeof p.name);
		if (!list_values(s, &p))
			continue;
		p.effect = measure_effect(s, &p);
		s->parameters[s->parameter_count++] = p;
	}
	if (s->parameter_count)
		qsort(s->parameters, s->parameter_count, sizeof *s->parameters, most_effect_first);
}

const struct tk_tuning_candidate *tk_tuning_space_find_best(const struct tk_tuning_space *s,
        const struct tk_tuning_parameter *a, double a_value, const struct tk_tuning_parameter *b,
        double b_value)
{
	const struct tk_tuning_candidate *best = NULL;
	for (size_t i = 0; i < s->count; i++) {
		const struct tk_tuning_candidate *c = &s->candidates[i];
		bool is_wanted = !isnan(c->median_ns) && is_value(c->values[a->place], a_value) &&
		                 (!b || is_value(c->values[b->place], b_value));
		if (is_wanted && (!best || c->median_ns < best->median_ns))
			best = c;
	}
	return best;
}
