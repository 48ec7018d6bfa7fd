/* Stage "tune": searches the winners again that a new revision or driver has made stale, and those
 * of problems without a decided result in the mode of their series, of upstreams with `config:
 * tuned`: the oldest first, for budgets.tune. The next night measures them. */
#include "base/base.h"
#include "nightly/night.h"
#include "nightly/tune/tune.h"
#include "store/tuning.h"
#include <math.h>

/* For a race and the A/B runs that a decision needs: less time would leave all undecided. */
#define SHARE_LEAST_S 60.0
/* A search that stayed inconclusive waits a day for the next one, and twice as long after each
 * further one. */
#define DAY_S 86400
#define WAIT_DOUBLINGS_MAX 4
/* Nights do not start at the same second. */
#define DAY_SLACK_S (DAY_S / 4)

/* A series that this night has measured. */
struct candidate {
	int64_t series_id, device_id, problem_id;
	const char *series, *backend, *mode, *upstream_name, *revision;
	const struct tk_upstream_config *upstream;
	int64_t tuned_s; /* 0: never */
};

/* ---- stored results ---- */

/* ?1: the series, ?2: the options */
#define MATCHES \
	" FROM tuning t JOIN series_v s ON s.device_id=t.device_id" \
	" AND s.problem_id=t.problem_id AND s.backend=t.backend" \
	" WHERE s.id=?1 AND t.options=?2 AND (t.upstream=s.upstream" \
	" OR (t.upstream='' AND s.upstream_kind IN ('system', 'builtin')))"

int tk_tuned_find(struct tk_store *s, int64_t series_id, const char *options, bool is_decided,
        struct tk_tuning_row *out, bool *found, struct tk_error *err)
{
	int64_t id;
	TRY(tk_store_select_int(s,
	        "SELECT t.id" MATCHES " AND (t.verdict<>'inconclusive' OR NOT ?3)"
	        " ORDER BY t.mode=s.mode DESC, t.started_s DESC, t.id DESC LIMIT 1",
	        TK_ARGS(series_id, options, (int64_t)is_decided), 0, &id, err));
	*found = id;
	return id ? tk_store_get(s, TK_TABLE_tuning, id, out, err) : 0;
}

/* Of its mode: how many of the newest in a row are inconclusive. */
static int count_inconclusive(struct tk_store *s, int64_t series_id, const char *options,
        int64_t *out, struct tk_error *err)
{
	return tk_store_select_int(s,
	        "WITH r AS (SELECT t.started_s, t.verdict" MATCHES " AND t.mode=s.mode)"
	        " SELECT count(*) FROM r WHERE started_s > ifnull((SELECT max(started_s) FROM r"
	        " WHERE verdict<>'inconclusive'), -1)",
	        TK_ARGS(series_id, options), 0, out, err);
}

/* ---- what is stale ---- */

static const char *read_options(const struct tk_upstream_config *u)
{
	return u->options ? u->options : "";
}

static bool is_wait_over(size_t inconclusive, int64_t tuned_s)
{
	size_t doublings =
	        inconclusive - 1 < WAIT_DOUBLINGS_MAX ? inconclusive - 1 : WAIT_DOUBLINGS_MAX;
	return tk_clock_now_s() - tuned_s >= ((int64_t)DAY_S << doublings) - DAY_SLACK_S;
}

/* No result in the mode of the series, or one of another revision or driver, or one that did not
 * decide some time ago. */
static int check_due(struct tk_night *n, struct candidate *c, bool *is_due, struct tk_error *err)
{
	enum tk_tune_state state;
	struct tk_tuning_row newest;
	int64_t inconclusive;
	bool found;
	const char *options = read_options(c->upstream);
	*is_due = true;
	TRY(tk_tuned_find(n->store, c->series_id, options, false, &newest, &found, err));
	c->tuned_s = found ? newest.started_s : 0;
	if (!found || strcmp(newest.mode, c->mode) != 0)
		return TK_OK;
	TRY(tk_tuning_state(n->store, &newest, &state, err));
	*is_due = tk_tune_state_is_stale(state);
	if (*is_due || newest.verdict != TK_TUNE_VERDICT_INCONCLUSIVE)
		return TK_OK;
	TRY(count_inconclusive(n->store, c->series_id, options, &inconclusive, err));
	*is_due = is_wait_over((size_t)inconclusive, newest.started_s);
	return TK_OK;
}

static int oldest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->tuned_s != y->tuned_s)
		return x->tuned_s < y->tuned_s ? -1 : 1;
	return strcmp(x->series, y->series);
}

/* Of what this night has measured: those that are due come first in *out, the oldest first. */
static int list_candidates(
        struct tk_night *n, struct tk_rows *out, size_t *count, struct tk_error *err)
{
#define COLUMN(member) TK_MEMBER(struct candidate, member)
	static const struct tk_db_column columns[] = {COLUMN(series_id), COLUMN(device_id),
	        COLUMN(problem_id), COLUMN(series), COLUMN(backend), COLUMN(mode),
	        COLUMN(upstream_name), COLUMN(revision)};
#undef COLUMN
	static const struct tk_row_type type = TK_ROW_TYPE(struct candidate, columns);
	TRY(tk_store_select(n->store,
	        "SELECT s.id AS series_id, s.device_id, s.problem_id, s.slug AS series, s.backend,"
	        " s.mode, s.upstream AS upstream_name, r.rev AS revision, min(r.seq)"
	        " FROM run_v r JOIN series_v s ON s.id=r.series_id WHERE r.night_id=?1"
	        " AND r.value IS NOT NULL AND s.config='" TK_TUNE_CONFIG "'"
	        " GROUP BY s.id ORDER BY min(r.seq)",
	        TK_ARGS(n->night_id), &type, out, err));
	struct candidate *all = out->rows;
	for (size_t i = 0; i < out->count; i++) {
		struct candidate *c = &all[i];
		bool is_due;
		c->upstream = tk_config_find_upstream(n->config, c->upstream_name);
		if (!c->upstream || !c->upstream->is_tuned ||
		        !tk_night_find_device(n, c->device_id))
			continue;
		TRY(check_due(n, c, &is_due, err));
		if (is_due)
			all[(*count)++] = *c;
	}
	tk_sort(all, *count, sizeof *all, oldest_first);
	return TK_OK;
}

/* ---- tuning ---- */

static void log_result(const struct candidate *c, const struct tk_tune_report *report)
{
	for (size_t i = 0; i < report->count; i++) {
		const struct tk_tune_row *row = &report->rows[i];
		if (strcmp(row->ab.backend, c->backend) == 0)
			tk_log(TK_LOG_INFO, "tune", NULL, "%s: %s%s%s", c->series,
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
	               : tk_sprintf("%s:%s", c->backend, read_options(c->upstream));
}

static int search(struct tk_night *n, const struct candidate *c, double budget_s,
        struct tk_tune_report *report, struct tk_error *err)
{
	struct tk_problem_row problem;
	TRY(tk_store_get(n->store, TK_TABLE_problem, c->problem_id, &problem, err));
	const struct tk_night_device *d = tk_night_find_device(n, c->device_id);
	AUTO_TEXT target = format_target(c);
	AUTO_TEXT text = tk_strdup(problem.text);
	char device[64], *devices[] = {device, NULL}, *problems[] = {text};
	struct tk_night_options options = {.program = n->options->program,
	        .observer = n->options->observer,
	        .devices = devices};
	struct tk_tune_request q = {.target = target,
	        .revision = c->revision,
	        .ab = {.backend = c->backend,
	                .problems = problems,
	                .problem_count = 1,
	                .mode = TK_MODE_COUNT,
	                .min_effect = NAN,
	                .budget_s = budget_s,
	                .db_path = ""}, /* the night has its lock */
	        .store = n->store};
	snprintf(device, sizeof device, "%s:%u", d->layer->name, d->index);
	tk_mode_parse(c->mode, &q.ab.mode);
	return tk_tune(n->config, &options, &q, report, err);
}

/* A search that fails costs the night nothing else. */
static int retune(
        struct tk_night *n, const struct candidate *c, double budget_s, struct tk_error *err)
{
	AUTO(tk_tune_report) report = {0};
	struct tk_error reason = {0};
	int status = search(n, c, budget_s, &report, &reason);
	if (tk_night_is_fatal(status))
		return tk_fail(err, status, "%s", reason.message);
	if (status) {
		tk_log(TK_LOG_WARN, "tune", NULL, "%s: %s", c->series, reason.message);
		return TK_OK;
	}
	log_result(c, &report);
	n->report->tuned++;
	return TK_OK;
}

int tk_night_tune(struct tk_night *n, struct tk_error *err)
{
	AUTO(tk_rows) candidates = {0};
	size_t count = 0;
	double left_s;
	if (n->config->budgets.tune_s <= 0 || n->options->backfill_revision ||
	        n->options->import_file)
		return TK_OK;
	TRY(list_candidates(n, &candidates, &count, err));
	n->report->stale_tunings = count;
	for (size_t i = 0; count && i < n->device_count; i++)
		tk_night_device_stop_workers(&n->devices[i]);
	double end_s = tk_night_elapsed_s(n) + tk_night_find_share_s(n, n->config->budgets.tune_s);
	for (size_t i = 0; i < count && (left_s = end_s - tk_night_elapsed_s(n)) > 0; i++) {
		double share_s = fmax(SHARE_LEAST_S, left_s / (double)(count - i));
		TRY(retune(n, TK_ROWS_AT(&candidates, struct candidate, i), fmin(share_s, left_s),
		        err));
	}
	return TK_OK;
}
