/* See ab.h. */
#include "base/error.h"
#include "base/memory.h"
#include "nightly/ab/ab.h"
#include "nightly/ab/comparison.h"
#include "nightly/session.h"
#include "nightly/stages/detect_policy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int open_sides(struct tk_comparison *c, struct tk_error *err)
{
	const struct tk_upstream_config *u = NULL;
	const struct tk_ab_request *q = c->request;
	int status = q->upstream ? tk_ab_find_upstream(c->n->config, q->upstream, &u, err) : TK_OK;
	/* Before the first of them is built, which takes minutes: a name may be wrong. */
	for (int k = 0; u && !status && k < TK_AB_SIDES; k++)
		status = tk_ab_side_resolve(c->n, u, q->side[k], &c->side[k], err);
	for (int k = 0; !status && k < TK_AB_SIDES; k++)
		status = u ? tk_ab_side_build(c->n, u, &c->side[k], err)
		           : tk_ab_side_load(c->n, q->side[k], &c->side[k], err);
	return status;
}

/* By verdict, then the largest change first, then as planned. */
static int compare_rows(const void *a, const void *b)
{
	const struct tk_ab_trial *x = a, *y = b;
	double dx = tk_ab_result_is_changed(&x->row.result) ? x->row.result.change : 0,
	       dy = tk_ab_result_is_changed(&y->row.result) ? y->row.result.change : 0;
	if (x->row.verdict != y->row.verdict)
		return x->row.verdict < y->row.verdict ? -1 : 1;
	if (dx != dy)
		return (dx > 0 ? dx > dy : dx < dy) ? -1 : 1;
	return x->test.series.id < y->test.series.id ? -1 : 1;
}

static int write_report(struct tk_comparison *c, struct tk_error *err)
{
	struct tk_ab_report *r = c->report;
	r->rows = tk_calloc(c->count + 1, sizeof *r->rows);
	if (c->count)
		qsort(c->trials, c->count, sizeof *c->trials, compare_rows);
	for (size_t i = 0; i < c->count; i++) {
		r->rows[r->count++] = c->trials[i].row;
		r->by_verdict[c->trials[i].row.verdict]++;
	}
	return TK_OK;
}

static struct tk_comparison begin(const struct tk_config *config, struct tk_night *n,
        const struct tk_ab_request *q, struct tk_ab_report *out)
{
	static const char *const names[TK_AB_SIDES] = {"base", "head"},
	                         *const options[TK_AB_SIDES] = {"--base=", "--head="};
	*out = (struct tk_ab_report){
	        .budget_s = q->budget_s, .min_effect = config->thresholds.min_effect};
	snprintf(out->upstream, sizeof out->upstream, "%s", q->upstream ? q->upstream : "");
	snprintf(out->machine, sizeof out->machine, "%s", config->machine);
	struct tk_comparison c = {.n = n,
	        .request = q,
	        .report = out,
	        .thresholds = tk_detect_policy_thresholds(config)};
	if (!isnan(q->min_effect))
		out->min_effect = c.thresholds.min_effect = q->min_effect;
	for (int k = 0; k < TK_AB_SIDES; k++) {
		out->side[k].name = names[k];
		out->side[k].option = options[k];
		c.side[k].report = &out->side[k];
	}
	return c;
}

int tk_comparison_open(const struct tk_config *config, const struct tk_night_options *options,
        const struct tk_ab_request *q, struct tk_ab_report *out, struct tk_session *s,
        struct tk_comparison *c, struct tk_error *err)
{
	*c = begin(config, &s->night, q, out);
	return tk_session_open_unstored(config, q->db_path, options, s, err);
}

int tk_comparison_prepare(struct tk_comparison *c, struct tk_error *err)
{
	int status = open_sides(c, err);
	return status ? status : tk_comparison_plan(c, err);
}

void tk_comparison_close(struct tk_comparison *c, struct tk_session *s)
{
	for (size_t i = 0; i < c->count; i++)
		tk_ab_test_close(&c->trials[i].test);
	free(c->trials);
	for (int k = 0; k < TK_AB_SIDES; k++)
		tk_ab_side_close(&c->side[k]);
	tk_session_close(s);
}

int tk_ab_compare(const struct tk_config *config, const struct tk_night_options *options,
        const struct tk_ab_request *q, struct tk_ab_report *out, struct tk_error *err)
{
	struct tk_session s;
	struct tk_comparison c;
	int status = tk_comparison_open(config, options, q, out, &s, &c, err);
	if (!status)
		status = tk_comparison_prepare(&c, err);
	if (!status)
		status = tk_comparison_measure(&c, err);
	if (!status)
		status = write_report(&c, err);
	tk_comparison_close(&c, &s);
	return status;
}

void tk_ab_report_free(struct tk_ab_report *r)
{
	free(r->rows);
	*r = (struct tk_ab_report){0};
}
