/* See tune_store.h. */
#include "nightly/tune/tune_store.h"
#include "base/error.h"
#include "base/json.h"
#include "nightly/plan/plan_internal.h"
#include "store/tuning.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- candidates ---- */

static json_t *candidate_object(const struct tk_tune_candidate *k)
{
	return json_pack("{s:o, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:b}", "config",
	        tk_json_text(k->config), "outcome", tk_outcome_name(k->outcome), "message",
	        tk_json_text(k->message), "evaluations", (json_int_t)k->evaluations, "median_ns",
	        tk_json_number(k->median_ns), "slower", tk_json_number(k->slower), "lo",
	        tk_json_number(k->lo), "hi", tk_json_number(k->hi), "dropped", k->is_dropped);
}

json_t *tk_tune_candidates_json(const struct tk_tune_row *row)
{
	json_t *list = json_array();
	for (size_t i = 0; i < row->count; i++)
		json_array_append_new(list, candidate_object(&row->candidates[i]));
	return list;
}

/* ---- rows ---- */

static const char *config_of(const struct tk_tune_row *row, size_t index)
{
	return index < row->count ? row->candidates[index].config : "";
}

/* As after the colon of BACKEND:KEY=VALUE,... */
static int format_options(const struct tk_ab_side *side, char **out, struct tk_error *err)
{
	const char *options = side->options ? side->options : "";
	int length = side->threads ? asprintf(out, "threads=%u%s%s", side->threads,
	                                     *options ? "," : "", options)
	                           : asprintf(out, "%s", options);
	return length < 0 ? tk_fail(err, TK_ENOMEM, "out of memory") : TK_OK;
}

static int put_row(struct tk_comparison *c, const struct tk_ab_trial *t,
        const struct tk_tune_row *row, struct tk_tuning_row *out, struct tk_error *err)
{
	const struct tk_ab_result *r = &row->ab.result;
	int64_t id;
	json_t *candidates = tk_tune_candidates_json(row);
	char *text = candidates ? json_dumps(candidates, JSON_COMPACT) : NULL;
	json_decref(candidates);
	int status =
	        text ? tk_plan_put_problem(c->n, row->ab.problem, "", "", &out->problem_id, err)
	             : tk_fail(err, TK_ENOMEM, "out of memory");
	out->device_id = t->test.device->device_id;
	out->environment_id = t->test.device->environment_id;
	out->backend = row->ab.backend;
	out->mode = row->ab.mode;
	out->verdict = row->verdict;
	out->config = config_of(row, row->chosen);
	out->winner = config_of(row, row->winner);
	out->default_ns = row->ab.level_ns[TK_AB_BASE];
	out->winner_ns = row->ab.level_ns[TK_AB_HEAD];
	out->change = r->change;
	out->change_lo = r->lo;
	out->change_hi = r->hi;
	out->pair_count = r->count;
	out->evaluation_count = (int64_t)row->evaluations;
	out->candidates = text;
	if (!status)
		status = tk_store_put_tuning(c->n->store, out, &id, err);
	free(text);
	return status;
}

static int put_devices(struct tk_night *n, struct tk_error *err)
{
	int status = tk_night_put_machine(n, err);
	for (size_t i = 0; !status && i < n->device_count; i++)
		status = tk_night_put_device(n, &n->devices[i], err);
	return status;
}

static int put_rows(struct tk_comparison *c, int64_t started_s, const struct tk_tune_report *report,
        struct tk_error *err)
{
	const struct tk_ab_side *side = &c->side[TK_AB_BASE];
	char *options = NULL;
	int status = format_options(side, &options, err);
	if (!status)
		status = put_devices(c->n, err);
	for (size_t i = 0; !status && i < report->count; i++) {
		struct tk_tuning_row row = {.upstream = report->ab.upstream,
		        .revision = report->ab.side[TK_AB_BASE].revision.id,
		        .artifact_key = side->artifact->key,
		        .options = options,
		        .started_s = started_s};
		if (report->rows[i].count)
			status = put_row(c, &c->trials[i], &report->rows[i], &row, err);
	}
	free(options);
	return status;
}

int tk_tune_store(struct tk_comparison *c, struct tk_store *store, int64_t started_s,
        const struct tk_tune_report *report, struct tk_error *err)
{
	int status = tk_store_begin(store, err);
	if (status)
		return status;
	c->n->store = store; /* the session has none: its A/B pairs are of no night */
	status = put_rows(c, started_s, report, err);
	c->n->store = NULL;
	if (!status)
		return tk_store_commit(store, err);
	tk_store_rollback(store);
	return status;
}
