/* Stage "tune": searches the winners again that a new revision or driver has made stale, and those
 * of problems without a decided result in the mode of their series, of upstreams with `config:
 * tuned`: the oldest first, for budgets.tune. The next night measures them. */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/try.h"
#include "nightly/night.h"
#include "nightly/tune/tune.h"
#include "nightly/tune/tuned.h"
#include "store/tuning.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For a race and the A/B runs that a decision needs: less time would leave all undecided. */
#define SHARE_LEAST_S 60.0
/* A search that stayed inconclusive waits a day for the next one, and twice as long after each
 * further one. */
#define DAY_S 86400
#define WAIT_DOUBLINGS_MAX 4
/* Nights do not start at the same second. */
#define DAY_SLACK_S (DAY_S / 4)

struct candidate {
	struct tk_series_row series;
	const struct tk_upstream_config *upstream;
	const char *revision; /* that this night has measured */
	int64_t tuned_s;      /* 0: never */
};

struct retuning {
	struct tk_night *n;
	struct tk_rows runs;
	struct candidate *candidates;
	size_t count;
};

/* ---- what is stale ---- */

static const char *read_options(const struct tk_upstream_config *u)
{
	return u->options ? u->options : "";
}

static bool is_listed(const struct retuning *r, const struct tk_series_row *series)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct tk_series_row *s = &r->candidates[i].series;
		if (s->device_id == series->device_id && s->problem_id == series->problem_id &&
		        s->upstream_id == series->upstream_id &&
		        strcmp(s->backend, series->backend) == 0 &&
		        strcmp(s->mode, series->mode) == 0)
			return true;
	}
	return false;
}

/* *out NULL: its winners are not used, or not known to this night. */
static int find_upstream(const struct retuning *r, const struct tk_series_row *series,
        const struct tk_upstream_config **out, struct tk_error *err)
{
	struct tk_upstream_row row;
	TRY(tk_store_get(r->n->store, TK_TABLE_upstream, series->upstream_id, &row, err));
	const struct tk_upstream_config *u = tk_config_find_upstream(r->n->config, row.name);
	*out = u && u->is_tuned ? u : NULL;
	return TK_OK;
}

static bool is_wait_over(size_t inconclusive, int64_t tuned_s)
{
	size_t doublings =
	        inconclusive - 1 < WAIT_DOUBLINGS_MAX ? inconclusive - 1 : WAIT_DOUBLINGS_MAX;
	return tk_clock_now_s() - tuned_s >= ((int64_t)DAY_S << doublings) - DAY_SLACK_S;
}

/* No result in the mode of the series, or one of another revision or driver, or one that did not
 * decide some time ago. */
static int check_due(const struct retuning *r, const struct tk_series_row *series,
        const char *options, const struct tk_tuning_row *newest, bool *out, struct tk_error *err)
{
	enum tk_tune_state state;
	int64_t inconclusive;
	TRY(tk_tuning_state(r->n->store, newest, &state, err));
	*out = tk_tune_state_is_stale(state);
	if (*out || newest->verdict != TK_TUNE_VERDICT_INCONCLUSIVE)
		return TK_OK;
	TRY(tk_tuned_count_inconclusive(r->n->store, series, options, &inconclusive, err));
	*out = is_wait_over((size_t)inconclusive, newest->started_s);
	return TK_OK;
}

static int add_if_due(struct retuning *r, const struct tk_series_row *series, int64_t build_id,
        struct tk_error *err)
{
	const struct tk_upstream_config *u;
	struct tk_build_row build;
	struct tk_revision_row revision;
	struct tk_tuning_row newest;
	bool found, is_due = true;
	TRY(find_upstream(r, series, &u, err));
	if (!u || !tk_night_find_device(r->n, series->device_id) || is_listed(r, series))
		return TK_OK;
	TRY(tk_tuned_find(r->n->store, series, read_options(u), false, &newest, &found, err));
	if (found && strcmp(newest.mode, series->mode) == 0)
		TRY(check_due(r, series, read_options(u), &newest, &is_due, err));
	if (!is_due)
		return TK_OK;
	TRY(tk_store_get(r->n->store, TK_TABLE_build, build_id, &build, err));
	TRY(tk_store_get(r->n->store, TK_TABLE_revision, build.revision_id, &revision, err));
	r->candidates[r->count++] = (struct candidate){.series = *series,
	        .upstream = u,
	        .revision = revision.rev,
	        .tuned_s = found ? newest.started_s : 0};
	return TK_OK;
}

static int oldest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->tuned_s != y->tuned_s)
		return x->tuned_s < y->tuned_s ? -1 : 1;
	return strcmp(x->series.slug, y->series.slug);
}

/* Of what this night has measured. */
static int list_candidates(struct retuning *r, struct tk_error *err)
{
	r->candidates = tk_calloc(r->runs.count + 1, sizeof *r->candidates);
	for (size_t i = 0; i < r->runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&r->runs, struct tk_run_row, i);
		struct tk_series_row series;
		if (!run->series_id || !tk_outcome_has_timing(run->outcome))
			continue;
		TRY(tk_store_get(r->n->store, TK_TABLE_series, run->series_id, &series, err));
		if (strcmp(series.config, TK_TUNE_CONFIG) == 0)
			TRY(add_if_due(r, &series, run->build_id, err));
	}
	if (r->count)
		qsort(r->candidates, r->count, sizeof *r->candidates, oldest_first);
	return TK_OK;
}

/* ---- tuning ---- */

static void log_result(const struct candidate *c, const struct tk_tune_report *report)
{
	for (size_t i = 0; i < report->count; i++) {
		const struct tk_tune_row *row = &report->rows[i];
		if (strcmp(row->ab.backend, c->series.backend) == 0)
			tk_log(TK_LOG_INFO, "tune", NULL, "%s: %s%s%s", c->series.slug,
			        tk_tune_verdict_name(row->verdict),
			        row->chosen < row->count ? ": " : "",
			        row->chosen < row->count ? row->candidates[row->chosen].config
			                                 : "");
	}
}

/* As `tracker tune` has it. */
static char *format_target(const struct candidate *c)
{
	return tk_upstream_kind_is_built(c->upstream->kind)
	               ? tk_strdup(c->upstream->name)
	               : tk_sprintf("%s:%s", c->series.backend, read_options(c->upstream));
}

static int search(const struct retuning *r, const struct candidate *c, double budget_s,
        struct tk_tune_report *report, struct tk_error *err)
{
	struct tk_problem_row row, *problem = &row;
	TRY(tk_store_get(r->n->store, TK_TABLE_problem, c->series.problem_id, problem, err));
	const struct tk_night_device *d = tk_night_find_device(r->n, c->series.device_id);
	AUTO_TEXT target = format_target(c);
	AUTO_TEXT text = tk_strdup(problem->text);
	char device[64], *devices[] = {device, NULL}, *problems[] = {text};
	struct tk_night_options options = {.program = r->n->options->program,
	        .observer = r->n->options->observer,
	        .devices = devices};
	struct tk_tune_request q = {.target = target,
	        .revision = c->revision,
	        .ab = {.backend = c->series.backend,
	                .problems = problems,
	                .problem_count = 1,
	                .mode = TK_MODE_COUNT,
	                .min_effect = NAN,
	                .budget_s = budget_s,
	                .db_path = ""}, /* the night has its lock */
	        .store = r->n->store};
	snprintf(device, sizeof device, "%s:%u", d->layer->name, d->index);
	tk_mode_parse(c->series.mode, &q.ab.mode);
	return tk_tune(r->n->config, &options, &q, report, err);
}

/* A search that fails costs the night nothing else. */
static int retune(
        struct retuning *r, const struct candidate *c, double budget_s, struct tk_error *err)
{
	struct tk_tune_report report = {0};
	struct tk_error reason = {0};
	int status = search(r, c, budget_s, &report, &reason);
	if (!status) {
		log_result(c, &report);
		r->n->report->tuned++;
	}
	tk_tune_report_free(&report);
	if (tk_night_is_fatal(status))
		return tk_fail(err, status, "%s", reason.message);
	if (status)
		tk_log(TK_LOG_WARN, "tune", NULL, "%s: %s", c->series.slug, reason.message);
	return TK_OK;
}

static int tune_all(struct retuning *r, struct tk_error *err)
{
	struct tk_night *n = r->n;
	double end_s, left_s;
	int status = TK_OK;
	n->report->stale_tunings = r->count;
	for (size_t i = 0; r->count && i < n->device_count; i++)
		tk_night_device_stop_workers(&n->devices[i]);
	end_s = tk_night_elapsed_s(n) + tk_night_find_share_s(n, n->config->budgets.tune_s);
	for (size_t i = 0; !status && i < r->count && (left_s = end_s - tk_night_elapsed_s(n)) > 0;
	        i++) {
		double share_s = fmax(SHARE_LEAST_S, left_s / (double)(r->count - i));
		status = retune(r, &r->candidates[i], fmin(share_s, left_s), err);
	}
	return status;
}

static int tune(struct retuning *r, struct tk_error *err)
{
	struct tk_night *n = r->n;
	TRY(tk_store_list(n->store, TK_TABLE_run, "night_id=?1 ORDER BY seq", TK_ARGS(n->night_id),
	        &r->runs, err));
	TRY(list_candidates(r, err));
	return tune_all(r, err);
}

int tk_night_tune(struct tk_night *n, struct tk_error *err)
{
	struct retuning r = {.n = n};
	if (n->config->budgets.tune_s <= 0 || n->options->backfill_revision ||
	        n->options->import_file)
		return TK_OK;
	int status = tune(&r, err);
	free(r.candidates);
	tk_rows_free(&r.runs);
	return status;
}
