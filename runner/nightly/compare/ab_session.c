/* See ab_compare.h and ab_session.h. Both sides of each problem are verified once, then measured
 * in A/B pairs until it is decided. Problems share the time equally: the next pairs are of the
 * undecided one that has used the least. */
#include "nightly/compare/ab_session.h"
#include "base/base.h"
#include "core/problem.h"
#include "core/vocabulary.h"
#include "decide/rules/ab_result.h"
#include "nightly/plan/suites.h"
#include "nightly/stages/detect_policy.h"
#include "stats/compare.h"
#include "worker/worker.h"
#include <math.h>

#define CHECK_MEASURE_S 0.02 /* only the result is of interest */

static double elapsed_s(const struct tk_ab_session *c)
{
	return (double)(tk_clock_monotonic_ns() - c->started_ns) / 1e9;
}

static bool is_budget_spent(const struct tk_ab_session *c)
{
	return c->request->budget_s > 0 && elapsed_s(c) >= c->request->budget_s;
}

/* ---- progress ---- */

/* Until the next interim analysis, at which it can be decided. */
static size_t expected_pairs(const struct tk_ab_problem *p)
{
	if (p->is_decided)
		return p->test.count;
	return tk_paired_next_analysis(p->test.timed) + p->test.count - p->test.timed;
}

/* Not more pairs than the rest of the budget has room for. */
static void show_progress(const struct tk_ab_session *c, const struct tk_ab_problem *current)
{
	const struct tk_night_observer *o = c->n->options->observer;
	size_t done = 0, total = 0;
	for (size_t i = 0; i < c->count; i++) {
		done += c->problems[i].test.count;
		total += expected_pairs(&c->problems[i]);
	}
	if (c->request->budget_s > 0 && done) {
		double room = (double)done * c->request->budget_s / elapsed_s(c);
		total = (double)total > room ? (size_t)room : total;
	}
	if (o && o->progress)
		o->progress(o->arg, done, total > done ? total : done + 1, current->row.title);
}

/* ---- verification ---- */

/* A referee judges the timing as well, so nothing else may run. */
static int check_side(struct tk_ab_session *c, struct tk_ab_problem *p, enum tk_ab_side_id side,
        struct tk_error *err)
{
	struct tk_ab_worker_spec spec = {.threads = p->test.side[side].threads};
	struct tk_job_request q = tk_ab_test_make_request(c->n, &p->test, side);
	AUTO_PTR(tk_worker) worker = NULL;
	AUTO(tk_job_result) r = {0};
	q.verify = !c->request->no_verify;
	q.measure_s = fmin(q.measure_s, CHECK_MEASURE_S);
	q.referee_below_ns = q.verify && tk_night_device_is_cpu(p->test.device) ? INFINITY : 0;
	TRY(tk_night_new_worker(c->n, p->test.device, &spec, &worker, err));
	TRY(tk_worker_measure(worker, &q, &r, err));
	p->row.outcome[side] = r.outcome;
	if (!tk_outcome_has_timing(r.outcome))
		snprintf(p->row.message, sizeof p->row.message, "%s: %s: %.400s",
		        c->source[side].report->name, tk_outcome_name(r.outcome), r.message);
	return TK_OK;
}

static int check_sides(struct tk_ab_session *c, struct tk_ab_problem *p, struct tk_error *err)
{
	TRY(tk_night_load_limits(c->n, p->test.device, err));
	for (int k = 0; k < TK_AB_SIDES; k++)
		TRY(check_side(c, p, k, err));
	return TK_OK;
}

/* A verdict from how the two sides ended; INCONCLUSIVE: both have a timing. */
static enum tk_ab_verdict compare_outcomes(const struct tk_ab_row *row)
{
	enum tk_outcome base = row->outcome[TK_AB_BASE], head = row->outcome[TK_AB_HEAD];
	if (base == TK_OUTCOME_UNSUPPORTED && head == TK_OUTCOME_UNSUPPORTED)
		return TK_AB_VERDICT_UNSUPPORTED;
	if (tk_outcome_has_timing(base))
		return tk_outcome_has_timing(head) ? TK_AB_VERDICT_INCONCLUSIVE
		                                   : TK_AB_VERDICT_NEWLY_FAILED;
	return tk_outcome_has_timing(head) ? TK_AB_VERDICT_FIXED : TK_AB_VERDICT_FAILING;
}

/* ---- pairs ---- */

static enum tk_ab_verdict find_verdict(const struct tk_ab_result *r)
{
	return r->decision == TK_AB_HIGHER  ? TK_AB_VERDICT_SLOWER
	       : r->decision == TK_AB_LOWER ? TK_AB_VERDICT_FASTER
	       : r->decision == TK_AB_SAME  ? TK_AB_VERDICT_SAME
	                                    : TK_AB_VERDICT_INCONCLUSIVE;
}

/* Each of the last pairs failed: the side without timings is to blame. */
static void blame_failures(struct tk_ab_problem *p)
{
	const struct tk_ab_pair_row *last = &p->test.rows[p->test.count - 1];
	bool base_failed = !isfinite(last->base_median), head_failed = !isfinite(last->head_median);
	p->row.verdict = base_failed && head_failed ? TK_AB_VERDICT_FAILING
	                 : head_failed              ? TK_AB_VERDICT_NEWLY_FAILED
	                                            : TK_AB_VERDICT_FIXED;
	snprintf(p->row.message, sizeof p->row.message, "%s: %d A/B runs in a row failed",
	        base_failed && head_failed ? "both"
	        : head_failed              ? "head"
	                                   : "base",
	        TK_AB_FAILURES_MAX);
	p->is_decided = true;
}

static int run_pair(struct tk_ab_session *c, struct tk_ab_problem *p, struct tk_error *err)
{
	TRY(tk_ab_test_run_pair(c->n, &p->test, err));
	p->row.result = tk_ab_result_evaluate(p->test.rows, p->test.count, &p->test.thresholds);
	tk_ab_result_levels(p->test.rows, p->test.count, &p->row.result, p->row.level_ns);
	c->report->pairs++;
	p->row.verdict = find_verdict(&p->row.result);
	p->is_decided =
	        p->row.verdict != TK_AB_VERDICT_INCONCLUSIVE || p->test.timed >= TK_AB_PAIRS_MAX;
	if (p->test.failed_in_a_row >= TK_AB_FAILURES_MAX)
		blame_failures(p);
	return TK_OK;
}

/* NULL: all are decided. */
static struct tk_ab_problem *choose_next(struct tk_ab_session *c)
{
	struct tk_ab_problem *next = NULL;
	for (size_t i = 0; i < c->count; i++) {
		struct tk_ab_problem *p = &c->problems[i];
		if (p->is_decided)
			continue;
		if (!p->is_checked || p->test.count < c->request->first_pairs)
			return p;
		if (!next || p->test.wall_s < next->test.wall_s)
			next = p;
	}
	return next;
}

int tk_ab_session_check_files(struct tk_ab_session *c, struct tk_error *err)
{
	for (size_t i = 0; i < TK_AB_SIDES; i++)
		TRY(tk_ab_source_check_file(&c->source[i], err));
	return TK_OK;
}

/* What the pairs show that the budget had room for. */
static void decide_rest(struct tk_ab_session *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct tk_ab_problem *p = &c->problems[i];
		if (p->row.verdict != TK_AB_VERDICT_INCONCLUSIVE || !p->test.timed)
			continue;
		p->row.result = tk_ab_result_evaluate_last(
		        p->test.rows, p->test.count, &p->test.thresholds);
		p->row.verdict = find_verdict(&p->row.result);
	}
}

/* Verifies a problem, or measures its pairs until the next interim analysis: before it they decide
 * nothing. */
static int advance(struct tk_ab_session *c, struct tk_ab_problem *p, struct tk_error *err)
{
	const size_t until = tk_paired_next_analysis(p->test.timed);
	if (!p->is_checked) {
		show_progress(c, p);
		TRY(check_sides(c, p, err));
		p->is_checked = true;
		p->row.verdict = compare_outcomes(&p->row);
		p->is_decided = p->row.verdict != TK_AB_VERDICT_INCONCLUSIVE;
		if (p->is_decided)
			tk_ab_pair_end_processes(&p->test);
		return tk_ab_session_check_files(c, err);
	}
	while (!p->is_decided && p->test.timed < until && !is_budget_spent(c)) {
		show_progress(c, p);
		TRY(run_pair(c, p, err));
		TRY(tk_ab_session_check_files(c, err));
	}
	tk_ab_pair_end_processes(&p->test);
	return TK_OK;
}

int tk_ab_session_measure(struct tk_ab_session *c, struct tk_error *err)
{
	struct tk_ab_problem *p;
	c->started_ns = tk_clock_monotonic_ns();
	tk_night_announce_stage(c->n, "compare", NULL);
	for (size_t i = 0; i < c->n->device_count; i++)
		tk_night_device_stop_workers(&c->n->devices[i]);
	while (!is_budget_spent(c) && (p = choose_next(c))) {
		int64_t started_ns = tk_clock_monotonic_ns();
		TRY(advance(c, p, err));
		p->row.wall_s += (double)(tk_clock_monotonic_ns() - started_ns) / 1e9;
	}
	c->report->budget_spent = choose_next(c) != NULL;
	if (c->request->first_pairs)
		decide_rest(c);
	c->report->wall_s = elapsed_s(c);
	return TK_OK;
}

/* ---- which problems, on which backends and devices ---- */

/* What is wrong with them is wrong with the command. */
static int list_problems(
        const struct tk_ab_session *c, struct tk_problem_list *list, struct tk_error *err)
{
	const struct tk_ab_request *q = c->request;
	int status = TK_OK;
	for (size_t i = 0; i < q->problem_count; i++)
		if (tk_problem_list_add(list, q->problems[i], err))
			return err->status = TK_EUSAGE;
	if (q->suite)
		status = tk_problem_list_add_suite(list, c->n->config, q->suite, err);
	else if (!q->problem_count)
		status = tk_problem_list_add_configured(list, c->n->config, err);
	return status == TK_ENOTFOUND ? err->status = TK_EUSAGE : status;
}

/* ---- backends and devices ---- */

struct pair {
	const struct tk_artifact_backend *backend[TK_AB_SIDES];
	const char *kind; /* of device */
	bool same_code;
};

static bool is_same_configuration(const struct tk_ab_source *a, const struct tk_ab_source *b)
{
	return strcmp(a->options, b->options) == 0 && a->threads == b->threads &&
	       strcmp(a->config ? a->config : "", b->config ? b->config : "") == 0;
}

/* Of an upstream: the backend of the same name. Else each side has one backend. */
static const struct tk_artifact_backend *find_peer(
        const struct tk_ab_session *c, const struct tk_artifact_backend *base, size_t *index)
{
	const struct tk_artifact *head = c->source[TK_AB_HEAD].artifact;
	for (size_t i = 0; i < head->backend_count; i++) {
		*index = i;
		if (!c->request->upstream || strcmp(head->backends[i].name, base->name) == 0)
			return &head->backends[i];
	}
	return NULL;
}

static struct tk_ab_row make_row(const struct tk_ab_session *c, const struct pair *pair,
        const struct tk_night_device *device, const struct tk_problem_spec *p)
{
	const char *modes[TK_CONFIG_MODES_MAX] = {tk_mode_name(c->request->mode)};
	struct tk_ab_row row = {
	        .verdict = pair->same_code ? TK_AB_VERDICT_SAME_CODE : TK_AB_VERDICT_INCONCLUSIVE,
	        .result = {.change = NAN, .lo = NAN, .hi = NAN},
	        .level_ns = {NAN, NAN},
	        .outcome = {TK_OUTCOME_SKIPPED, TK_OUTCOME_SKIPPED}};
	if (c->request->mode == TK_MODE_COUNT)
		tk_config_list_modes(c->n->config, pair->kind, modes);
	tk_problem_format_title(p, row.title, sizeof row.title);
	snprintf(row.problem, sizeof row.problem, "%s", p->text);
	snprintf(row.backend, sizeof row.backend, "%s", pair->backend[TK_AB_BASE]->name);
	snprintf(row.device, sizeof row.device, "%s", device->slug);
	snprintf(row.mode, sizeof row.mode, "%s", modes[0]);
	return row;
}

static int add_problem_of_pair(struct tk_ab_session *c, const struct pair *pair,
        struct tk_night_device *device, const char *problem, struct tk_error *err)
{
	struct tk_problem_spec p;
	TRY(tk_problem_parse(&p, problem, err));
	c->problems = tk_reallocarray(c->problems, c->count + 1, sizeof *c->problems);
	struct tk_ab_problem *t = &c->problems[c->count++];
	*t = (struct tk_ab_problem){.row = make_row(c, pair, device, &p),
	        .test = {.device = device},
	        .is_decided = pair->same_code};
	for (int k = 0; k < TK_AB_SIDES; k++) {
		const struct tk_ab_source *source = &c->source[k];
		t->test.side[k] = (struct tk_ab_side){.path = tk_strdup(pair->backend[k]->path),
		        .options = tk_strdup(source->options),
		        .config = source->config ? tk_strdup(source->config) : NULL,
		        .threads = source->threads};
	}
	return TK_OK;
}

/* Called once all problems are added: a test points at the strings of its row, and rows move while
 * the array grows. */
static void name_series(struct tk_ab_session *c)
{
	for (size_t i = 0; i < c->count; i++) {
		struct tk_ab_problem *t = &c->problems[i];
		t->test.series = (struct tk_series_row){.id = (int64_t)i + 1,
		        .slug = t->row.title,
		        .backend = t->row.backend,
		        .config = "",
		        .mode = t->row.mode,
		        .metric = "time",
		        .unit = "ns",
		        .better = TK_BETTER_LOWER,
		        .role = TK_ROLE_SUITE};
		t->test.problem =
		        (struct tk_problem_row){.text = t->row.problem, .title = t->row.title};
	}
}

/* As requested, as configured, or what the history knows of each device and mode. The report has
 * the largest. */
static int set_thresholds(struct tk_ab_session *c, struct tk_error *err)
{
	const struct tk_ab_request *q = c->request;
	AUTO_PTR(tk_store) history = NULL;
	if (tk_file_exists(q->db_path))
		TRY(tk_store_open(q->db_path, TK_STORE_READ, &history, err));
	for (size_t i = 0; i < c->count; i++) {
		struct tk_ab_test *t = &c->problems[i].test;
		t->thresholds = tk_detect_policy_thresholds(c->n->config);
		if (!isnan(q->min_effect))
			t->thresholds.min_effect = q->min_effect;
		if (history)
			TRY(tk_detect_use_stored_sensitivity(history, c->n->config->machine,
			        t->device->slug, t->series.mode, &t->thresholds, err));
		t->thresholds.min_effect = tk_detect_usual_effect(t->thresholds.min_effect);
		c->report->min_effect = fmax(c->report->min_effect, t->thresholds.min_effect);
	}
	return TK_OK;
}

static int add_pair(struct tk_ab_session *c, const struct pair *pair,
        const struct tk_problem_list *problems, size_t *devices, struct tk_error *err)
{
	for (size_t d = 0; d < c->n->device_count; d++) {
		struct tk_night_device *device = &c->n->devices[d];
		if (strcmp(device->layer->name, pair->kind) != 0)
			continue;
		++*devices;
		for (size_t i = 0; i < problems->count; i++)
			if (problems->rows[i].kinds & tk_device_kind_bit(pair->kind))
				TRY(add_problem_of_pair(
				        c, pair, device, problems->rows[i].text, err));
		if (!c->n->options->devices)
			break;
	}
	return TK_OK;
}

static int add_backend(struct tk_ab_session *c, size_t index,
        const struct tk_problem_list *problems, struct tk_error *err)
{
	const struct tk_ab_source *base = &c->source[TK_AB_BASE], *head = &c->source[TK_AB_HEAD];
	const struct tk_artifact_backend *b = &base->artifact->backends[index];
	size_t peer = 0, devices = 0;
	struct pair pair = {.backend = {b, find_peer(c, b, &peer)}, .kind = base->kinds[index]};
	if (!pair.backend[TK_AB_HEAD]) {
		tk_log(TK_LOG_WARN, "ab", NULL, "head has no backend %s; it is left out", b->name);
		return TK_OK;
	}
	if (strcmp(pair.kind, head->kinds[peer]) != 0)
		return tk_fail(err, TK_EUSAGE,
		        "base needs a device of kind %s and head one of kind %s: expected the same",
		        pair.kind, head->kinds[peer]);
	pair.same_code = !c->request->all && is_same_configuration(base, head) &&
	                 strcmp(b->code_hash, pair.backend[TK_AB_HEAD]->code_hash) == 0;
	size_t before = c->count;
	TRY(add_pair(c, &pair, problems, &devices, err));
	if (!devices)
		tk_log(TK_LOG_WARN, "ab", NULL,
		        "backend %s needs a device of kind %s, which is not selected or does not "
		        "exist",
		        b->name, pair.kind);
	else if (c->count == before)
		tk_log(TK_LOG_WARN, "ab", NULL,
		        "no configured suite has a problem for devices of kind %s", pair.kind);
	return TK_OK;
}

static bool is_selected(const struct tk_ab_session *c, const char *backend)
{
	const struct tk_ab_request *q = c->request;
	const struct tk_upstream_config *u =
	        q->upstream ? tk_config_find_upstream(c->n->config, q->upstream) : NULL;
	return (!q->backend || strcmp(q->backend, backend) == 0) &&
	       (!u || tk_config_measures_backend(u, backend));
}

/* Each problem on each pair of backends. TK_EUSAGE: there is none. */
static int plan_session(struct tk_ab_session *c, struct tk_error *err)
{
	AUTO(tk_problem_list) problems = {0};
	const struct tk_artifact *base = c->source[TK_AB_BASE].artifact;
	TRY(list_problems(c, &problems, err));
	for (size_t i = 0; i < base->backend_count; i++)
		if (is_selected(c, base->backends[i].name))
			TRY(add_backend(c, i, &problems, err));
	if (!c->count)
		return tk_fail(err, TK_EUSAGE,
		        "nothing to compare: base and head have no backend in common that a "
		        "selected device can run");
	name_series(c);
	return set_thresholds(c, err);
}

/* ---- life ---- */

int tk_ab_session_open(const struct tk_config *config, const struct tk_night_options *options,
        const struct tk_ab_request *q, struct tk_ab_report *out, struct tk_ab_session *c,
        struct tk_error *err)
{
	*out = (struct tk_ab_report){.budget_s = q->budget_s};
	snprintf(out->upstream, sizeof out->upstream, "%s", q->upstream ? q->upstream : "");
	snprintf(out->machine, sizeof out->machine, "%s", config->machine);
	*c = (struct tk_ab_session){.n = &c->session.night, .request = q, .report = out};
	for (int k = 0; k < TK_AB_SIDES; k++)
		tk_ab_source_init(&c->source[k], k, &out->side[k]);
	return tk_session_open_unstored(config, q->db_path, options, &c->session, err);
}

int tk_ab_session_prepare(struct tk_ab_session *c, struct tk_error *err)
{
	const struct tk_ab_request *q = c->request;
	const struct tk_upstream_config *u = NULL;
	if (q->upstream) {
		TRY(tk_ab_find_upstream(c->n->config, q->upstream, &u, err));
		TRY(tk_ab_sources_build(c->n, u, q->side, c->source, err));
	}
	for (int k = 0; !u && k < TK_AB_SIDES; k++)
		TRY(tk_ab_source_load(c->n, q->side[k], &c->source[k], err));
	return plan_session(c, err);
}

void tk_ab_session_close(struct tk_ab_session *c)
{
	for (size_t i = 0; i < c->count; i++)
		tk_ab_test_close(&c->problems[i].test);
	free(c->problems);
	for (int k = 0; k < TK_AB_SIDES; k++)
		tk_ab_source_close(&c->source[k]);
	tk_session_close(&c->session);
}

/* ---- tracker ab ---- */

/* By verdict, then the largest change first, then as planned. */
static int compare_rows(const void *a, const void *b)
{
	const struct tk_ab_problem *x = a, *y = b;
	double dx = tk_ab_result_is_changed(&x->row.result) ? x->row.result.change : 0,
	       dy = tk_ab_result_is_changed(&y->row.result) ? y->row.result.change : 0;
	if (x->row.verdict != y->row.verdict)
		return x->row.verdict < y->row.verdict ? -1 : 1;
	if (dx != dy)
		return (dx > 0 ? dx > dy : dx < dy) ? -1 : 1;
	return x->test.series.id < y->test.series.id ? -1 : 1;
}

static void write_report(struct tk_ab_session *c)
{
	struct tk_ab_report *r = c->report;
	r->rows = tk_calloc(c->count + 1, sizeof *r->rows);
	tk_sort(c->problems, c->count, sizeof *c->problems, compare_rows);
	for (size_t i = 0; i < c->count; i++) {
		r->rows[r->count++] = c->problems[i].row;
		r->by_verdict[c->problems[i].row.verdict]++;
	}
}

int tk_ab_compare(const struct tk_config *config, const struct tk_night_options *options,
        const struct tk_ab_request *q, struct tk_ab_report *out, struct tk_error *err)
{
	struct tk_ab_session c;
	int status = tk_ab_session_open(config, options, q, out, &c, err);
	if (!status)
		status = tk_ab_session_prepare(&c, err);
	if (!status)
		status = tk_ab_session_measure(&c, err);
	if (!status)
		write_report(&c);
	tk_ab_session_close(&c);
	return status;
}

void tk_ab_report_free(struct tk_ab_report *r)
{
	free(r->rows);
	*r = (struct tk_ab_report){0};
}

/* ---- tracker trace --base --head ---- */

int tk_ab_revisions_build(const struct tk_config *config, const char *db_path,
        const struct tk_night_options *options, const char *upstream, const char *backend,
        const char *const specs[TK_AB_SIDES], struct tk_ab_revisions *out, struct tk_error *err)
{
	const struct tk_upstream_config *u = NULL;
	struct tk_ab_source sources[TK_AB_SIDES];
	struct tk_session s;
	*out = (struct tk_ab_revisions){0};
	TRY(tk_ab_find_upstream(config, upstream, &u, err));
	out->options = u->options;
	for (int k = 0; k < TK_AB_SIDES; k++)
		tk_ab_source_init(&sources[k], k, &out->side[k]);
	int status = tk_session_open_unstored(config, db_path, options, &s, err);
	if (!status)
		status = tk_ab_sources_build(&s.night, u, specs, sources, err);
	for (int k = 0; k < TK_AB_SIDES; k++) {
		const struct tk_artifact_backend *b =
		        status ? NULL : tk_artifact_find_backend(sources[k].artifact, backend);
		if (b)
			out->path[k] = tk_strdup(b->path);
		else if (!status)
			status = tk_fail(err, TK_EUSAGE, "%s%s: the build has no backend \"%s\"",
			        out->side[k].option, out->side[k].spec, backend);
		tk_ab_source_close(&sources[k]);
	}
	tk_session_close(&s);
	return status;
}

void tk_ab_revisions_free(struct tk_ab_revisions *r)
{
	for (int k = 0; k < TK_AB_SIDES; k++)
		free(r->path[k]);
	*r = (struct tk_ab_revisions){0};
}
