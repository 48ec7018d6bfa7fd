/* Stage "plan": suite x backends x devices -> jobs, stored before the first is run, so that a
 * killed night knows what is left. */
#include "nightly/plan/plan.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "core/problem.h"
#include "nightly/night.h"
#include "nightly/plan/datasheet.h"
#include "suite/suite.h"
#include "worker/worker.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the roofs of a device are measured with. A device kind without a row here has only its
 * datasheet's roofs. */
struct ceiling_job {
	const char *device_kind, *backend, *problem;
};
static const struct ceiling_job ceiling_jobs[] = {
        {"cpu", "ceiling", "copy:bytes=268435456,dtype=f32"},
        {"cpu", "ceiling", "read:bytes=268435456,dtype=f32"},
        {"cpu", "ceiling", "fma:count=400000000,dtype=f32"},
        {"cuda", "ceiling_cuda", "copy:bytes=536870912,dtype=f32"},
        {"cuda", "ceiling_cuda", "read:bytes=536870912,dtype=f32"},
        /* What tensor cores reach depends on the values they multiply: large products of random
           numbers. */
        {"cuda", "cublaslt", "gemm:m=8192,n=8192,k=8192,a=bf16,tb=t"},
        {"cuda", "cublaslt", "gemm:m=8192,n=8192,k=8192,a=f16,tb=t"},
        {"cuda", "cublaslt", "gemm:m=8192,n=8192,k=8192,a=tf32,tb=t"},
        {"cuda", "cublaslt", "gemm:m=8192,n=8192,k=8192,a=f32,tb=t"},
        {"cuda", "cublaslt", "gemm:m=8192,n=8192,k=8192,a=e4m3,c=bf16,tb=t"},
        {"hip", "ceiling_hip", "copy:bytes=536870912,dtype=f32"},
        {"hip", "ceiling_hip", "read:bytes=536870912,dtype=f32"},
        /* In registers, where hipBLASLt is missing: of the rates of a type the last one counts. */
        {"hip", "ceiling_hip", "fma:count=400000000000,dtype=bf16"},
        {"hip", "ceiling_hip", "fma:count=400000000000,dtype=f16"},
        {"hip", "ceiling_hip", "fma:count=40000000000,dtype=f32"},
        {"hip", "hipblaslt", "gemm:m=8192,n=8192,k=8192,a=bf16,tb=t"},
        {"hip", "hipblaslt", "gemm:m=8192,n=8192,k=8192,a=f16,tb=t"},
        {"hip", "hipblaslt", "gemm:m=8192,n=8192,k=8192,a=tf32,tb=t"},
        {"hip", "hipblaslt", "gemm:m=8192,n=8192,k=8192,a=f32,tb=t"},
        {"hip", "hipblaslt", "gemm:m=8192,n=8192,k=8192,a=e4m3,c=bf16,tb=t"},
};

/* And its caches: inputs that stay in them, of the size that the device tells, read so often that a
 * launch has as much to move as `traffic` (for a CPU, each of its cores). */
struct cache_jobs {
	const char *device_kind, *backend;
	int64_t traffic;
	bool each;
};
static const struct cache_jobs cache_jobs[] = {
        {"cpu", "ceiling", INT64_C(1) << 26, true},
        {"cuda", "ceiling_cuda", INT64_C(1) << 31, false},
        {"hip", "ceiling_hip", INT64_C(1) << 31, false},
};

/* The jobs of each device: they are ordered by themselves, since devices work beside each other. */
struct device_jobs {
	struct tk_job_list suite, ceilings, controls;
};
struct plan_state {
	struct tk_night *n;
	struct device_jobs *of;
	json_t *kinds; /* the kind of device that each backend is for, by path; null: it cannot be
	                  loaded */
};

static int put_problem(struct tk_night *n, const char *text, const char *source, const char *family,
        int64_t *id, struct tk_error *err)
{
	struct tk_problem_spec p;
	char title[160];
	int status = tk_problem_parse(&p, text, err);
	if (status != TK_OK)
		return status;
	tk_problem_format_title(&p, title, sizeof title);
	struct tk_problem_row row = {.text = p.text,
	        .op = tk_problem_op_name(&p),
	        .dtype = tk_problem_dtype_name(&p),
	        .title = title,
	        .flops = tk_problem_flops(&p),
	        .bytes = tk_problem_bytes(&p),
	        .source = source,
	        .family = family};
	return tk_store_put_problem(n->store, &row, id, err);
}

static int put_series(struct tk_night *n, const struct tk_night_device *d,
        const struct tk_likelihood_product *p, const char *backend, int64_t problem_id,
        enum tk_series_role role, enum tk_mode mode, int64_t *id, struct tk_error *err)
{
	struct tk_series_row row = {.device_id = d->device_id,
	        .upstream_id = p->upstream_id,
	        .problem_id = problem_id,
	        .backend = backend,
	        .config = "",
	        .mode = tk_mode_name(mode),
	        .metric = "time",
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = role};
	return tk_store_put_series(n->store, &row, id, err);
}

static int add_job_in(struct plan_state *s, struct tk_job_list *list,
        const struct tk_night_device *d, const struct tk_likelihood_product *p, const char *backend,
        const char *path, int64_t problem_id, enum tk_series_role role, enum tk_mode mode,
        struct tk_error *err)
{
	int64_t series_id;
	int status = put_series(s->n, d, p, backend, problem_id, role, mode, &series_id, err);
	return status == TK_OK ? tk_job_list_add(list, series_id, p->build_id, path,
	                                 p->config->options, err)
	                       : status;
}

/* A problem on a backend of a product on a device: a job for each mode, of controls and ceilings
 * for the first. An empty path means that there is nothing to run: the build failed. */
static int add_job(struct plan_state *s, struct tk_job_list *list, const struct tk_night_device *d,
        const struct tk_likelihood_product *p, const char *backend, const char *path,
        int64_t problem_id, enum tk_series_role role, struct tk_error *err)
{
	enum tk_mode modes[TK_MODE_COUNT];
	size_t count = tk_config_list_modes(s->n->config, d->layer->name, modes);
	int status = TK_OK;
	for (size_t i = 0; status == TK_OK && i < (role == TK_ROLE_SUITE ? count : 1); i++)
		status = add_job_in(s, list, d, p, backend, path, problem_id, role, modes[i], err);
	return status;
}

static bool wanted_backend(const struct tk_likelihood_product *p, const char *name)
{
	char *const *want = p->config->backends;
	if (!want || !*want)
		return true;
	for (; *want; want++)
		if (strcmp(*want, name) == 0)
			return true;
	return false;
}

/* Which kind of device a backend is for: asked once, since each needs a process of its own. One
 * that cannot even be loaded is planned everywhere: its failure is a row of each job. */
static bool runs_on(const struct plan_state *s, const struct tk_night_device *d, const char *path)
{
	json_t *info = NULL, *kind = json_object_get(s->kinds, path);
	struct tk_error why = {0};
	if (!kind) {
		if (tk_worker_query_backend(d->worker, path, &info, &why) != TK_OK)
			tk_log(TK_LOG_WARN, "backend", NULL, "%s: %s", path, why.message);
		kind = info ? json_incref(json_object_get(info, "device_kind")) : json_null();
		json_object_set_new_nocheck(s->kinds, path, kind);
		json_decref(info);
	}
	return json_is_null(kind) ||
	       (json_is_string(kind) && strcmp(json_string_value(kind), d->layer->name) == 0);
}

struct problem_list {
	struct tk_plan_problem *rows;
	size_t count;
	bool *mine; /* whether a device measures a problem: [device * count + problem] */
};

static int plan_backend(struct plan_state *s, const struct tk_likelihood_product *p,
        const char *backend, const char *path, const struct problem_list *problems,
        struct tk_error *err)
{
	int status = TK_OK;
	for (size_t k = 0; status == TK_OK && k < s->n->device_count; k++) {
		const struct tk_night_device *d = &s->n->devices[k];
		if (*path && !runs_on(s, d, path))
			continue;
		for (size_t i = 0; status == TK_OK && i < problems->count; i++) {
			size_t before = s->of[k].suite.count;
			if (problems->mine[k * problems->count + i])
				status = add_job(s, &s->of[k].suite, d, p, backend, path,
				        problems->rows[i].id, TK_ROLE_SUITE, err);
			for (size_t j = before; j < s->of[k].suite.count; j++)
				s->of[k].suite.rows[j].seq = problems->rows[i].last;
		}
	}
	return status;
}

/* The backends that a failed build would have made: those that are configured, else those that it
 * made before. */
static int plan_failed(struct plan_state *s, const struct tk_likelihood_product *p,
        const struct problem_list *problems, struct tk_error *err)
{
	struct tk_rows all = {0};
	int status = TK_OK;
	for (char *const *name = p->config->backends; name && *name && status == TK_OK; name++)
		status = plan_backend(s, p, *name, "", problems, err);
	if (status != TK_OK || (p->config->backends && *p->config->backends))
		return status;
	if ((status = tk_store_list_series(s->n->store, &all, err)) != TK_OK)
		return status;
	for (size_t i = 0; status == TK_OK && i < all.count; i++) {
		const struct tk_series_row *r = TK_ROWS_AT(&all, struct tk_series_row, i);
		size_t d = 0;
		while (d < s->n->device_count && s->n->devices[d].device_id != r->device_id)
			d++;
		for (size_t k = 0; d < s->n->device_count && status == TK_OK && k < problems->count;
		        k++)
			if (r->upstream_id == p->upstream_id && r->role == TK_ROLE_SUITE &&
			        r->problem_id == problems->rows[k].id)
				status = tk_job_list_add(
				        &s->of[d].suite, r->id, p->build_id, "", "", err);
	}
	tk_rows_free(&all);
	return status;
}

static int plan_product(struct plan_state *s, const struct tk_likelihood_product *p,
        const struct problem_list *problems, struct tk_error *err)
{
	int status = TK_OK;
	if (!p->build_id || p->config->kind == TK_UPSTREAM_BUILTIN)
		return TK_OK;
	if (p->failed)
		return plan_failed(s, p, problems, err);
	for (size_t a = 0; status == TK_OK && a < p->artifact_count; a++)
		for (size_t i = 0; status == TK_OK && i < p->artifacts[a]->backend_count; i++) {
			const struct tk_artifact_backend *b = &p->artifacts[a]->backends[i];
			if (wanted_backend(p, b->name))
				status = plan_backend(s, p, b->name, b->path, problems, err);
		}
	return status;
}

static const struct tk_likelihood_product *product_named(const struct tk_night *n, const char *name)
{
	for (size_t i = 0; i < n->product_count; i++)
		if (strcmp(n->products[i].config->name, name) == 0)
			return &n->products[i];
	return NULL;
}

static const struct tk_artifact_backend *backend_named(
        const struct tk_likelihood_product *p, const char *name)
{
	for (size_t a = 0; p && a < p->artifact_count; a++)
		for (size_t i = 0; i < p->artifacts[a]->backend_count; i++)
			if (strcmp(p->artifacts[a]->backends[i].name, name) == 0)
				return &p->artifacts[a]->backends[i];
	return NULL;
}

/* The control of a kind of device: the backend that is named, where it runs there, else its
 * namesake for that kind
 * ("control_cuda"). */
static const struct tk_artifact_backend *control_for(const struct plan_state *s,
        const struct tk_likelihood_product *p, const char *name, const struct tk_night_device *d)
{
	char namesake[128];
	const struct tk_artifact_backend *b = backend_named(p, name);
	if (b && runs_on(s, d, b->path))
		return b;
	snprintf(namesake, sizeof namesake, "%s_%s", name, d->layer->name);
	b = backend_named(p, namesake);
	return b && runs_on(s, d, b->path) ? b : NULL;
}

static int plan_control(struct plan_state *s, struct tk_error *err)
{
	const struct tk_control_config *c = &s->n->config->control;
	if (!c->every || !c->backend || !c->problem)
		return TK_OK;
	const struct tk_likelihood_product *p =
	        product_named(s->n, c->upstream ? c->upstream : "builtin");
	int64_t problem_id;
	int status = put_problem(s->n, c->problem, "control", "control", &problem_id, err);
	for (size_t k = 0; status == TK_OK && k < s->n->device_count; k++) {
		const struct tk_night_device *d = &s->n->devices[k];
		const struct tk_artifact_backend *b = control_for(s, p, c->backend, d);
		if (b)
			status = add_job(s, &s->of[k].controls, d, p, b->name, b->path, problem_id,
			        TK_ROLE_CONTROL, err);
		else
			tk_log(TK_LOG_WARN, "control", NULL,
			        "upstream %s has no control backend %s for %s: drift of that "
			        "device will not be seen",
			        c->upstream ? c->upstream : "builtin", c->backend, d->slug);
	}
	return status;
}

/* Hot, whatever the configuration measures: with another input each time there would be nothing in
 * the cache. */
static int plan_caches(struct plan_state *s, const struct tk_likelihood_product *p, size_t k,
        const struct cache_jobs *c, struct tk_error *err)
{
	const struct tk_night_device *d = &s->n->devices[k];
	const struct tk_artifact_backend *b = backend_named(p, c->backend);
	const char *level;
	json_t *bytes;
	int status = TK_OK;
	if (!b || strcmp(c->device_kind, d->layer->name) != 0)
		return TK_OK;
	json_int_t units =
	        c->each ? json_integer_value(json_object_get(d->info, "compute_units")) : 1;
	json_object_foreach (json_object_get(d->info, "resident_bytes"), level, bytes) {
		json_int_t size = json_integer_value(bytes);
		char text[TK_PROBLEM_TEXT_MAX];
		int64_t problem_id;
		if (status != TK_OK || size <= 0 || size > c->traffic * units)
			continue;
		snprintf(text, sizeof text, "read:bytes=%lld,cache=%s,dtype=f32,passes=%lld",
		        (long long)size, level, (long long)(c->traffic * units / size + 1));
		status = put_problem(s->n, text, "ceiling", "ceiling", &problem_id, err);
		if (status == TK_OK)
			status = add_job_in(s, &s->of[k].ceilings, d, p, b->name, b->path,
			        problem_id, TK_ROLE_CEILING, TK_MODE_HOT, err);
	}
	return status;
}

static int plan_ceilings(struct plan_state *s, struct tk_error *err)
{
	int status = TK_OK;
	const struct tk_likelihood_product *p = product_named(s->n, "builtin");
	for (size_t k = 0; status == TK_OK && k < s->n->device_count; k++)
		status = tk_night_put_datasheet(s->n, &s->n->devices[k], err);
	for (size_t k = 0; status == TK_OK && k < s->n->device_count; k++)
		for (size_t i = 0;
		        status == TK_OK && i < sizeof ceiling_jobs / sizeof *ceiling_jobs; i++) {
			const struct ceiling_job *c = &ceiling_jobs[i];
			const struct tk_artifact_backend *b = backend_named(p, c->backend);
			int64_t problem_id;
			if (!b || strcmp(c->device_kind, s->n->devices[k].layer->name) != 0)
				continue;
			status = put_problem(
			        s->n, c->problem, "ceiling", "ceiling", &problem_id, err);
			if (status == TK_OK)
				status = add_job(s, &s->of[k].ceilings, &s->n->devices[k], p,
				        b->name, b->path, problem_id, TK_ROLE_CEILING, err);
		}
	for (size_t k = 0; status == TK_OK && k < s->n->device_count; k++)
		for (size_t i = 0; status == TK_OK && i < sizeof cache_jobs / sizeof *cache_jobs;
		        i++)
			status = plan_caches(s, p, k, &cache_jobs[i], err);
	return status;
}

/* Two suites may share a problem. */
static int add_problem(struct tk_night *n, const struct tk_suite_problem *p,
        struct problem_list *out, struct tk_error *err)
{
	int64_t id;
	struct tk_problem_spec spec;
	int status = put_problem(
	        n, p->text, p->source ? p->source : "", p->group ? p->group : "", &id, err);
	for (size_t k = 0; status == TK_OK && k < out->count; k++)
		if (out->rows[k].id == id)
			return TK_OK;
	if (status == TK_OK && (status = tk_problem_parse(&spec, p->text, err)) == TK_OK)
		out->rows[out->count++] = (struct tk_plan_problem){
		        .id = id, .seconds = tk_plan_estimate_seconds(&spec)};
	return status;
}

static int load_suite(
        struct tk_night *n, const char *name, struct problem_list *out, struct tk_error *err)
{
	struct tk_suite *suite = NULL;
	int status = tk_suite_load(n->config->root, name, &suite, err);
	if (status != TK_OK)
		return status;
	struct tk_plan_problem *grown =
	        realloc(out->rows, (out->count + suite->count + 1) * sizeof *grown);
	if (!grown)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	else
		out->rows = grown;
	for (size_t i = 0; status == TK_OK && i < suite->count; i++)
		status = add_problem(n, &suite->problems[i], out, err);
	tk_suite_free(suite);
	return status;
}

static int load_problems(struct tk_night *n, struct problem_list *out, struct tk_error *err)
{
	int status = TK_OK;
	for (char *const *name = n->config->suites; name && *name && status == TK_OK; name++)
		status = load_suite(n, *name, out, err);
	if (status == TK_OK &&
	        !(out->mine = calloc(n->device_count * out->count + 1, sizeof *out->mine)))
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	if (status == TK_OK && n->options->split)
		return tk_plan_share_problems(n, out->rows, out->count, out->mine, err);
	if (status == TK_OK)
		memset(out->mine, true, n->device_count * out->count * sizeof *out->mine);
	return status;
}

/* Where no device has anything of the suites to do, their roofs are not measured either. */
static int order_jobs(const struct plan_state *s, struct tk_job_list *jobs, struct tk_error *err)
{
	const struct tk_night *n = s->n;
	size_t all = 0;
	int status = TK_OK;
	for (size_t d = 0; d < n->device_count; d++)
		all += s->of[d].suite.count;
	for (size_t d = 0; all && status == TK_OK && d < n->device_count; d++)
		status = tk_plan_order_jobs(&s->of[d].suite, &s->of[d].ceilings, &s->of[d].controls,
		        n->config->control.every, n->seed + d, jobs, err);
	return status;
}

static void free_plan(struct plan_state *s)
{
	for (size_t d = 0; s->of && d < s->n->device_count; d++) {
		tk_job_list_free(&s->of[d].suite);
		tk_job_list_free(&s->of[d].ceilings);
		tk_job_list_free(&s->of[d].controls);
	}
	free(s->of);
	json_decref(s->kinds);
}

int tk_night_plan(struct tk_night *n, struct tk_error *err)
{
	struct plan_state s = {
	        .n = n, .of = calloc(n->device_count + 1, sizeof *s.of), .kinds = json_object()};
	struct problem_list problems = {0};
	struct tk_job_list jobs = {0};
	int status = s.of && s.kinds ? tk_store_begin(n->store, err)
	                             : tk_fail(err, TK_ENOMEM, "out of memory");
	if (status != TK_OK) {
		free_plan(&s);
		return status;
	}
	/* the suites come last: where they share a problem with the control, their source and group
	 * are the ones to keep */
	if ((status = plan_control(&s, err)) == TK_OK && (status = plan_ceilings(&s, err)) == TK_OK)
		status = load_problems(n, &problems, err);
	for (size_t i = 0; status == TK_OK && i < n->product_count; i++)
		status = plan_product(&s, &n->products[i], &problems, err);
	if (status == TK_OK)
		status = order_jobs(&s, &jobs, err);
	for (size_t i = 0; i < jobs.count; i++)
		jobs.rows[i].night_id = n->night_id;
	if (status == TK_OK)
		status = tk_store_put_jobs(n->store, jobs.rows, jobs.count, err);
	if (status == TK_OK)
		status = tk_store_commit(n->store, err);
	else
		tk_store_rollback(n->store);
	free(problems.rows);
	free(problems.mine);
	tk_job_list_free(&jobs);
	free_plan(&s);
	return status;
}
