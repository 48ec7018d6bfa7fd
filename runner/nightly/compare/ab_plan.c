/* Which problems are compared, on which backends and devices. */
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/try.h"
#include "core/problem.h"
#include "core/series.h"
#include "nightly/compare/ab_session.h"
#include "nightly/plan/problem_list.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- problems ---- */

/* What is wrong with them is wrong with the command. */
static int list_problems(
        const struct tk_ab_session *c, struct tk_problem_list *list, struct tk_error *err)
{
	const struct tk_ab_request *q = c->request;
	int status = TK_OK;
	for (size_t i = 0; !status && i < q->problem_count; i++)
		status = tk_problem_list_add(list, q->problems[i], err);
	if (status)
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

static void set_side(struct tk_ab_side *side, const struct tk_ab_source *source, const char *path)
{
	*side = (struct tk_ab_side){.path = tk_strdup(path),
	        .options = tk_strdup(source->options),
	        .config = source->config ? tk_strdup(source->config) : NULL,
	        .threads = source->threads};
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
	for (int k = 0; k < TK_AB_SIDES; k++)
		set_side(&t->test.side[k], &c->source[k], pair->backend[k]->path);
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

static int add_pair(struct tk_ab_session *c, const struct pair *pair,
        const struct tk_problem_list *problems, size_t *devices, struct tk_error *err)
{
	int status = TK_OK;
	for (size_t d = 0; !status && d < c->n->device_count; d++) {
		struct tk_night_device *device = &c->n->devices[d];
		if (strcmp(device->layer->name, pair->kind) != 0)
			continue;
		++*devices;
		for (size_t i = 0; !status && i < problems->count; i++)
			if (problems->rows[i].kinds & tk_device_kind_bit(pair->kind))
				status = add_problem_of_pair(
				        c, pair, device, problems->rows[i].text, err);
		if (!c->n->options->devices)
			break;
	}
	return status;
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
	int status = add_pair(c, &pair, problems, &devices, err);
	if (!status && !devices)
		tk_log(TK_LOG_WARN, "ab", NULL,
		        "backend %s needs a device of kind %s, which is not selected or does not "
		        "exist",
		        b->name, pair.kind);
	else if (!status && c->count == before)
		tk_log(TK_LOG_WARN, "ab", NULL,
		        "no configured suite has a problem for devices of kind %s", pair.kind);
	return status;
}

static bool is_selected(const struct tk_ab_session *c, const char *backend)
{
	const struct tk_ab_request *q = c->request;
	const struct tk_upstream_config *u =
	        q->upstream ? tk_config_find_upstream(c->n->config, q->upstream) : NULL;
	return (!q->backend || strcmp(q->backend, backend) == 0) &&
	       (!u || tk_config_measures_backend(u, backend));
}

int tk_ab_session_plan(struct tk_ab_session *c, struct tk_error *err)
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
	return TK_OK;
}
