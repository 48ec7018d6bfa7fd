/* See ab_test.h. */
#include "nightly/compare/ab_test.h"
#include "base/base.h"
#include "base/device_token.h"
#include "core/problem.h"
#include "core/vocabulary.h"
#include "decide/rules/ab_result.h"
#include "nightly/night.h"
#include "nightly/stages/detect_policy.h"
#include "stats/compare.h"
#include "worker/worker.h"
#include <math.h>
#include <poll.h>
#include <unistd.h>

/* ---- one pair ---- */

/* Base and head run in processes of their own. Where possible both run at
 * the same time and alternate, so that a change of the machine within a second affects both; else
 * one runs after the other.
 *
 * Of a GPU, a process takes longer to start than to measure: the processes of the next pairs start,
 * fill their inputs and plan while a pair is measured, and end while the next one is. Their own
 * token holds them until it is their turn. */

/* Many short processes give more information than a few long ones, because differences between
 * processes (addresses, pages, cores) are part of the noise. */
#define PROCESS_MEASURE_S 0.25

/* On a CPU the processes alternate by pausing one of them, so that both get their share of a bad
 * moment. A time slice has many launches, because its end interrupts one of them. */
#define SLICE_LAUNCHES 20
#define SLICE_MIN_MS 10
#define SLICE_MAX_MS 40 /* longer kernels run one process after the other */

/* Work on a GPU cannot be paused: there the processes pass a token and alternate burst by burst. A
 * process that waits for this share of its job's time for a burst of the other continues without
 * the token. It waits longer only for the other's first burst. */
#define TOKEN_WAIT_SHARE 0.25
#define POLL_MS 50 /* deadlines and limits are checked at least this often */

/* Pairs that are started ahead end with the next interim analysis, after which there may be no
 * more. */
#define CORES_PER_PAIR 6
#define CONTEXT_BYTES 1e9      /* of device memory, with a library and its workspace */
#define CONTEXT_HOST_BYTES 3e8 /* the same, of the host's */
#define MEMORY_SHARE 0.8       /* of the device that all processes together may take */
#define HOST_MEMORY_SHARE 0.4
#define PAIR_LONG_S 5 /* next to the measurements of such a pair, the start of a process is short */

/* One side of one pair. */
struct tk_ab_run {
	struct tk_worker *worker; /* NULL: ended */
	bool done;
	enum tk_outcome outcome;
	double median, min; /* NAN without a timing */
	char message[512];
};

struct tk_ab_pair {
	enum tk_ab_side_id order[TK_AB_SIDES];
	struct tk_ab_run runs[TK_AB_SIDES]; /* by side */
	int gate;                           /* end of the token until the first turn; -1: given */
};

static struct tk_job_request make_pair_request(
        struct tk_night *n, const struct tk_ab_test *t, enum tk_ab_side_id side)
{
	struct tk_job_request q = tk_ab_test_make_request(n, t, side);
	q.measure_s = fmin(q.measure_s, PROCESS_MEASURE_S);
	return q;
}

/* A fresh process: heap, pages and threads of an earlier one would bias the timing. */
static int new_worker(struct tk_night *n, const struct tk_ab_test *t, enum tk_ab_side_id side,
        bool is_beside_other, int token_fd, struct tk_worker **out, struct tk_error *err)
{
	static const char *const names[TK_AB_SIDES] = {"base", "head"};
	struct tk_ab_worker_spec spec = {.name = is_beside_other ? names[side] : NULL,
	        .threads = t->side[side].threads,
	        .token_fd = token_fd};
	TRY(tk_night_load_limits(n, t->device, err));
	return tk_night_new_worker(n, t->device, &spec, out, err);
}

/* Blocks of two pairs, base-head-head-base or head-base-base-head at random, so that drift cancels
 * out. */
static void choose_order(const struct tk_night *n, const struct tk_ab_test *t, size_t index,
        enum tk_ab_side_id order[TK_AB_SIDES])
{
	uint64_t block = tk_splitmix64(n->seed ^ (uint64_t)t->series.id << 32 ^ index / 2);
	order[0] = (block & 1) ^ (index & 1) ? TK_AB_BASE : TK_AB_HEAD;
	order[1] = TK_AB_SIDES - 1 - order[0];
}

static void reset_runs(struct tk_ab_run runs[TK_AB_SIDES])
{
	for (int k = 0; k < TK_AB_SIDES; k++)
		runs[k] = (struct tk_ab_run){.median = NAN, .min = NAN};
}

static void take_result(struct tk_ab_run *run, struct tk_job_result *r)
{
	run->done = true;
	run->outcome = r->outcome;
	run->median = r->time.median;
	run->min = r->time.min;
	snprintf(run->message, sizeof run->message, "%.*s", (int)sizeof run->message - 1,
	        r->message);
	tk_job_result_free(r);
}

static void free_runs(struct tk_ab_run runs[TK_AB_SIDES])
{
	for (int k = 0; k < TK_AB_SIDES; k++) {
		/* what is not done would not end by itself */
		tk_worker_end_process(runs[k].worker, runs[k].done ? 0.5 : 0);
		tk_worker_free(runs[k].worker);
		runs[k].worker = NULL;
	}
}

/* Waits at most wait_ms for the result. */
static int poll_run(struct tk_ab_run *run, int wait_ms, struct tk_error *err)
{
	struct tk_job_result r = {0};
	struct pollfd fd = {.fd = tk_worker_fd(run->worker), .events = POLLIN};
	bool is_done = false;
	if (fd.fd >= 0)
		poll(&fd, 1, wait_ms);
	TRY(tk_worker_poll_measure(run->worker, &is_done, &r, err));
	if (is_done)
		take_result(run, &r);
	return TK_OK;
}

/* A process that is done ends at once, because it may hold what the other one waits for. */
static int wait_for_runs(struct tk_ab_run runs[TK_AB_SIDES], struct tk_error *err)
{
	struct tk_ab_run *a = &runs[TK_AB_BASE], *b = &runs[TK_AB_HEAD];
	while (!(a->done && b->done)) {
		struct tk_ab_run *unfinished = a->done ? b : a, *other = a->done ? a : b;
		TRY(poll_run(unfinished, POLL_MS, err));
		if (!other->done)
			TRY(poll_run(other, 0, err));
		for (int k = 0; k < TK_AB_SIDES; k++)
			if (runs[k].done)
				tk_worker_close_input(runs[k].worker);
	}
	return TK_OK;
}

/* ---- one after the other ---- */

static int measure_in_sequence(struct tk_night *n, const struct tk_ab_test *t,
        const enum tk_ab_side_id order[TK_AB_SIDES], struct tk_ab_run runs[TK_AB_SIDES],
        struct tk_error *err)
{
	for (int i = 0; i < TK_AB_SIDES; i++) {
		AUTO_PTR(tk_worker) worker = NULL;
		struct tk_job_result r = {0};
		struct tk_job_request q = make_pair_request(n, t, order[i]);
		TRY(new_worker(n, t, order[i], false, 0, &worker, err));
		TRY(tk_worker_measure(worker, &q, &r, err));
		take_result(&runs[order[i]], &r);
	}
	return TK_OK;
}

/* ---- alternating by pauses ---- */

/* Twice the time, because the clocks of the measurement and the deadline do not stop with the
 * process. */
static int start_sliced(struct tk_night *n, const struct tk_ab_test *t, enum tk_ab_side_id side,
        bool is_paused, struct tk_ab_run *run, struct tk_error *err)
{
	struct tk_job_request q = make_pair_request(n, t, side);
	q.measure_s *= 2;
	q.deadline_s *= 2;
	TRY(new_worker(n, t, side, true, 0, &run->worker, err));
	TRY(tk_worker_start_measure(run->worker, &q, err));
	if (is_paused)
		tk_worker_set_paused(run->worker, true);
	return TK_OK;
}

static int measure_in_slices(struct tk_night *n, const struct tk_ab_test *t,
        const enum tk_ab_side_id order[TK_AB_SIDES], struct tk_ab_run runs[TK_AB_SIDES],
        int slice_ms, struct tk_error *err)
{
	struct tk_ab_run *now = &runs[order[0]], *next = &runs[order[1]];
	TRY(start_sliced(n, t, order[1], true, next, err));
	TRY(start_sliced(n, t, order[0], false, now, err));
	while (!(now->done && next->done)) {
		TRY(poll_run(now, slice_ms, err));
		if (next->done)
			continue;
		tk_worker_set_paused(now->worker, true);
		tk_worker_set_paused(next->worker, false);
		struct tk_ab_run *swap = now;
		now = next;
		next = swap;
	}
	return TK_OK;
}

/* ---- alternating by a token ---- */

static void free_pair(struct tk_ab_pair *p)
{
	if (!p)
		return;
	free_runs(p->runs);
	if (p->gate >= 0)
		close(p->gate);
	free(p);
}

/* Waiting for the token counts for the deadline only, not for the measurement. */
static int start_with_token(struct tk_night *n, const struct tk_ab_test *t, enum tk_ab_side_id side,
        int token_fd, struct tk_ab_run *run, struct tk_error *err)
{
	struct tk_job_request q = make_pair_request(n, t, side);
	q.token_wait_s = TOKEN_WAIT_SHARE * q.deadline_s;
	q.deadline_s *= 2;
	TRY(new_worker(n, t, side, true, token_fd, &run->worker, err));
	return tk_worker_start_measure(run->worker, &q, err);
}

static int start_pair(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err)
{
	int ends[2];
	TRY(tk_device_token_new_pair(ends, err));
	struct tk_ab_pair *p = tk_calloc(1, sizeof *p);
	choose_order(n, t, t->count + t->started_count, p->order);
	reset_runs(p->runs);
	p->gate = ends[1];
	int status = TK_OK;
	for (int i = 0; !status && i < TK_AB_SIDES; i++)
		status = start_with_token(n, t, p->order[i], ends[i], &p->runs[p->order[i]], err);
	close(ends[0]);
	if (status)
		free_pair(p);
	else
		t->started[t->started_count++] = p;
	return status;
}

/* How many pairs have space on the device, with as many input sets as keep its caches cold, and on
 * the host. */
static double count_fitting(const struct tk_ab_test *t)
{
	struct tk_problem_spec p;
	double cache_bytes = json_number_value(json_object_get(t->device->info, "cache_bytes")),
	       device_bytes = json_number_value(json_object_get(t->device->info, "memory_bytes")),
	       host_bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	if (tk_problem_parse(&p, t->problem.text, NULL))
		return 1;
	double device_need = 2 * tk_problem_bytes(&p) + 4 * cache_bytes + CONTEXT_BYTES,
	       host_need = 2 * tk_problem_bytes(&p) + CONTEXT_HOST_BYTES;
	return fmin(MEMORY_SHARE * device_bytes / device_need,
	               HOST_MEMORY_SHARE * host_bytes / host_need) /
	       TK_AB_SIDES;
}

/* How many pairs may be started at a time, with the one that is measured. */
static size_t count_startable(const struct tk_ab_test *t)
{
	double cores = 1 + ceil((double)sysconf(_SC_NPROCESSORS_ONLN) / CORES_PER_PAIR),
	       left = (double)(tk_paired_next_analysis(t->timed) - t->timed);
	if (t->count && t->rows[t->count - 1].wall_s > PAIR_LONG_S)
		return 1;
	return (size_t)fmax(1, fmin(fmin(count_fitting(t), cores), fmin(left, TK_AB_STARTED_MAX)));
}

void tk_ab_pair_end_processes(struct tk_ab_test *t)
{
	while (t->started_count)
		free_pair(t->started[--t->started_count]);
	free_pair(t->ending);
	t->ending = NULL;
}

static int measure_with_token(struct tk_night *n, struct tk_ab_test *t,
        struct tk_ab_run runs[TK_AB_SIDES], struct tk_error *err)
{
	const size_t startable = count_startable(t);
	if (!t->started_count)
		TRY(start_pair(n, t, err));
	struct tk_ab_pair *p = t->started[0];
	tk_device_token_begin(p->gate);
	close(p->gate);
	p->gate = -1;
	/* one that fails is started again when it is needed */
	while (t->started_count < startable && !start_pair(n, t, NULL))
		;
	int status = wait_for_runs(p->runs, err);
	for (int k = 0; k < TK_AB_SIDES; k++) {
		runs[k] = p->runs[k];
		runs[k].worker = NULL;
	}
	memmove(t->started, t->started + 1, --t->started_count * sizeof(struct tk_ab_pair *));
	free_pair(t->ending);
	t->ending = p;
	return status;
}

/* ---- which way ---- */

/* Pausing the process pauses its work only if the process does the work itself. */
static bool can_pause_work(const struct tk_night_device *d)
{
	return tk_night_device_is_cpu(d) ||
	       tk_device_kind_from_name(d->layer->name) == TK_DEVICE_NULL;
}

/* Whether bursts of the other process in between leave the timing of a burst unchanged. Not in
 * sustained mode, where the governor sets one clock for the power of both; nor in hot mode,
 * where the caches hold the data of the burst before. */
static bool has_independent_bursts(const struct tk_night_device *d, const char *word)
{
	enum tk_mode mode;
	return !tk_night_device_is_cpu(d) && !tk_mode_parse(word, &mode) &&
	       (mode == TK_MODE_PACED || mode == TK_MODE_CONTENDED);
}

/* Not after a pair that failed: it failed in sequence as well. */
static bool alternates_by_token(const struct tk_ab_test *t)
{
	return !t->is_sequential && has_independent_bursts(t->device, t->series.mode) &&
	       (!t->count || tk_ab_pair_is_timed(&t->rows[t->count - 1]));
}

/* Length of a time slice, from the timings of the pair before; 0: no slices. */
static int slice_length_ms(const struct tk_ab_test *t)
{
	const struct tk_ab_pair_row *last = t->count ? &t->rows[t->count - 1] : NULL;
	double ms = last ? (last->base_median + last->head_median) / 2 * SLICE_LAUNCHES / 1e6
	                 : NAN; /* NAN after a failure */
	if (t->is_sequential || !can_pause_work(t->device) || !(ms <= SLICE_MAX_MS))
		return 0;
	return ms < SLICE_MIN_MS ? SLICE_MIN_MS : (int)ms;
}

static bool are_timed(const struct tk_ab_run runs[TK_AB_SIDES])
{
	return isfinite(runs[TK_AB_BASE].median) && isfinite(runs[TK_AB_HEAD].median);
}

/* Runs both sides in processes of their own. *first: the side that began. A run may end in any
 * outcome; an error is about the worker itself, or a request to stop. */
static int measure_pair(struct tk_night *n, struct tk_ab_test *t, enum tk_ab_side_id *first,
        struct tk_ab_run runs[TK_AB_SIDES], struct tk_error *err)
{
	const int slice_ms = slice_length_ms(t);
	enum tk_ab_side_id order[TK_AB_SIDES];
	choose_order(n, t, t->count, order);
	*first = order[0];
	reset_runs(runs);
	if (alternates_by_token(t)) {
		TRY(measure_with_token(n, t, runs, err));
		if (are_timed(runs))
			return TK_OK;
		/* It may have failed only because processes ran at once (memory, a lock, a port).
		 * Then this and all later pairs are measured in sequence. */
		tk_ab_pair_end_processes(t);
		reset_runs(runs);
		TRY(measure_in_sequence(n, t, order, runs, err));
		t->is_sequential = are_timed(runs);
		return TK_OK;
	}
	int status = slice_ms ? measure_in_slices(n, t, order, runs, slice_ms, err)
	                      : measure_in_sequence(n, t, order, runs, err);
	free_runs(runs);
	return status;
}

/* ---- series and device ---- */

static int find_series(struct tk_night *n, int64_t id, struct tk_ab_test *t, struct tk_error *err)
{
	TRY(tk_store_get(n->store, TK_TABLE_series, id, &t->series, err));
	TRY(tk_store_get(n->store, TK_TABLE_problem, t->series.problem_id, &t->problem, err));
	if (tk_metric_from_name(t->series.metric) != TK_METRIC_TIME)
		return tk_fail(err, TK_ENOTFOUND, "A/B runs measure times, which %s is not",
		        t->series.slug);
	t->device = tk_night_find_device(n, t->series.device_id);
	if (t->device && !t->device->lost)
		return TK_OK;
	return tk_fail(err, TK_ENOTFOUND, "the device of %s is not present", t->series.slug);
}

/* ---- sides ---- */

/* The cache may have lost it, or keep a damaged one; an imported build never was there. */
static int load_build(struct tk_night *n, int64_t build_id, const char *backend,
        struct tk_ab_side *side, struct tk_error *err)
{
	AUTO_PTR(tk_artifact) a = NULL;
	struct tk_error why = {0};
	struct tk_build_row build;
	side->build_id = build_id;
	TRY(tk_store_get(n->store, TK_TABLE_build, build_id, &build, err));
	int status = tk_artifact_load(n->config->cache_dir, build.artifact_key, &a, &why);
	if (status)
		return tk_fail(
		        err, tk_night_is_fatal(status) ? status : TK_ENOTFOUND, "%s", why.message);
	const struct tk_artifact_backend *b = tk_artifact_find_backend(a, backend);
	if (!b)
		return tk_fail(err, TK_ENOTFOUND, "build %.12s has no backend %s", a->key, backend);
	side->path = tk_strdup(b->path);
	snprintf(side->artifact_key, sizeof side->artifact_key, "%s", a->key);
	return TK_OK;
}

/* As the run was measured. Without a run, or without a job of it because it was imported, there are
 * no options. */
static int load_setup(
        struct tk_night *n, int64_t run_id, struct tk_ab_side *side, struct tk_error *err)
{
	struct setup {
		const char *options, *config;
	};
	static const struct tk_db_column columns[] = {
	        TK_MEMBER(struct setup, options), TK_MEMBER(struct setup, config)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct setup, columns);
	AUTO(tk_rows) rows = {0};
	TRY(tk_store_select(n->store,
	        "SELECT j.options, CASE WHEN json_valid(r.attributes)"
	        " THEN r.attributes ->> '$." TK_RUN_CONFIG "' END AS config"
	        " FROM run r LEFT JOIN job j ON j.run_id=r.id WHERE r.id=?1",
	        TK_ARGS(run_id), &type, &rows, err));
	const struct setup *s = rows.count ? TK_ROWS_AT(&rows, struct setup, 0) : NULL;
	side->options = tk_strdup(s ? s->options : "");
	side->config = s && *s->config ? tk_strdup(s->config) : NULL;
	return TK_OK;
}

/* ---- pairs ---- */

static void append_pair(struct tk_ab_test *t, const struct tk_ab_pair_row *row)
{
	t->rows = tk_reallocarray(t->rows, t->count + 1, sizeof *t->rows);
	struct tk_ab_pair_row *copy = &t->rows[t->count++];
	bool timed = tk_ab_pair_is_timed(row);
	t->timed += timed;
	t->failed_in_a_row = timed ? 0 : t->failed_in_a_row + 1;
	t->wall_s += row->night_id == t->night_id ? row->wall_s : 0;
	*copy = *row;
	copy->uid = copy->first = copy->message = copy->base_outcome = copy->head_outcome = NULL;
}

static int read_stored_pairs(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err)
{
	AUTO(tk_rows) rows = {0};
	TRY(tk_store_list_ab_pairs(n->store, t->series.id, INT64_MIN, &rows, err));
	for (size_t i = 0; i < rows.count; i++) {
		const struct tk_ab_pair_row *r = TK_ROWS_AT(&rows, struct tk_ab_pair_row, i);
		if (r->base_build_id == t->side[TK_AB_BASE].build_id &&
		        r->head_build_id == t->side[TK_AB_HEAD].build_id)
			append_pair(t, r);
	}
	t->failed_in_a_row = 0;
	return TK_OK;
}

int tk_ab_test_open(struct tk_night *n, int64_t night_id, int64_t series_id,
        const struct tk_ab_build builds[TK_AB_SIDES], struct tk_ab_test *t, struct tk_error *err)
{
	*t = (struct tk_ab_test){.night_id = night_id};
	TRY(find_series(n, series_id, t, err));
	for (int k = 0; k < TK_AB_SIDES; k++) {
		TRY(load_setup(n, builds[k].run_id, &t->side[k], err));
		TRY(load_build(n, builds[k].build_id, t->series.backend, &t->side[k], err));
	}
	t->thresholds = tk_detect_policy_thresholds(n->config);
	TRY(tk_detect_use_stored_sensitivity(n->store, n->config->machine, t->device->slug,
	        t->series.mode, &t->thresholds, err));
	return read_stored_pairs(n, t, err);
}

void tk_ab_test_close(struct tk_ab_test *t)
{
	tk_ab_pair_end_processes(t);
	for (int k = 0; k < TK_AB_SIDES; k++) {
		free(t->side[k].path);
		free(t->side[k].options);
		free(t->side[k].config);
	}
	free(t->rows);
	*t = (struct tk_ab_test){0};
}

struct tk_job_request tk_ab_test_make_request(
        struct tk_night *n, const struct tk_ab_test *t, enum tk_ab_side_id side)
{
	const struct tk_ab_side *s = &t->side[side];
	struct tk_job_request q =
	        tk_night_job_request(n, &t->series, &t->problem, s->path, s->options);
	if (s->config)
		q.config = s->config;
	q.verify = false;
	q.limits = &t->device->limits;
	return q;
}

int tk_ab_test_run_pair(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err)
{
	enum tk_ab_side_id first;
	int64_t id, started_s = tk_clock_now_s(), started_ns = tk_clock_monotonic_ns();
	struct tk_ab_run runs[TK_AB_SIDES] = {0};
	const struct tk_ab_run *base = &runs[TK_AB_BASE], *head = &runs[TK_AB_HEAD];
	TRY(measure_pair(n, t, &first, runs, err));
	struct tk_ab_pair_row row = {.night_id = t->night_id,
	        .series_id = t->series.id,
	        .base_build_id = t->side[TK_AB_BASE].build_id,
	        .head_build_id = t->side[TK_AB_HEAD].build_id,
	        .pair = (int64_t)t->count,
	        .started_s = started_s,
	        .wall_s = (double)(tk_clock_monotonic_ns() - started_ns) / 1e9,
	        .first = first == TK_AB_BASE ? "base" : "head",
	        .base_outcome = tk_outcome_name(base->outcome),
	        .head_outcome = tk_outcome_name(head->outcome),
	        .message = *base->message ? base->message : head->message,
	        .base_median = base->median,
	        .head_median = head->median,
	        .base_min = base->min,
	        .head_min = head->min};
	if (n->store)
		TRY(tk_store_put(n->store, TK_TABLE_ab_pair, &row, &id, err));
	append_pair(t, &row);
	return TK_OK;
}

static struct tk_ab_result evaluate(const struct tk_ab_test *t, const struct tk_ab_goal *goal)
{
	return goal->level ? tk_ab_result_compare_level(t->rows, t->count, *goal->level)
	                   : tk_ab_result_evaluate(t->rows, t->count, &t->thresholds);
}

static bool is_finished(const struct tk_ab_test *t, const struct tk_ab_goal *goal,
        const struct tk_ab_result *result)
{
	return result->decision > TK_AB_INCONCLUSIVE || t->timed >= goal->pairs_max ||
	       t->failed_in_a_row >= TK_AB_FAILURES_MAX ||
	       (goal->deadline_ns && tk_clock_monotonic_ns() >= goal->deadline_ns);
}

int tk_ab_test_run(struct tk_night *n, struct tk_ab_test *t, const struct tk_ab_goal *goal,
        struct tk_ab_result *out, struct tk_error *err)
{
	int status = TK_OK;
	for (*out = evaluate(t, goal); !status && !is_finished(t, goal, out);
	        *out = evaluate(t, goal))
		status = tk_ab_test_run_pair(n, t, err);
	tk_ab_pair_end_processes(t);
	return status;
}
