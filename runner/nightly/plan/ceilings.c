/* The jobs that measure the machine, not a kernel: the control between the others, and the
 * ceilings. */
#include "base/base.h"
#include "core/limits.h"
#include "core/problem.h"
#include "nightly/plan/plan_internal.h"

/* ---- control ---- */

/* The configured backend if it runs on this kind of device, else its variant for the kind
 * ("control_cuda"). */
static const struct tk_artifact_backend *find_control(struct tk_plan *p,
        const struct tk_night_upstream *u, const char *name, const struct tk_night_device *d)
{
	char variant[128];
	const struct tk_artifact_backend *b = tk_plan_find_backend(u, name);
	if (b && tk_plan_backend_runs_on(p, d, b->path))
		return b;
	snprintf(variant, sizeof variant, "%s_%s", name, d->layer->name);
	b = tk_plan_find_backend(u, variant);
	return b && tk_plan_backend_runs_on(p, d, b->path) ? b : NULL;
}

static int add_control(struct tk_plan *p, size_t device, const char *upstream, int64_t problem_id,
        struct tk_error *err)
{
	const struct tk_night_device *d = &p->n->devices[device];
	const char *name = p->n->config->control.backend;
	const struct tk_night_upstream *u = tk_plan_find_upstream(p->n, upstream);
	const struct tk_artifact_backend *b = find_control(p, u, name, d);
	if (!b) {
		tk_log(TK_LOG_WARN, "control", NULL,
		        "upstream %s has no control backend %s for %s; drift of that device will "
		        "not "
		        "be detected",
		        upstream, name, d->slug);
		return TK_OK;
	}
	struct tk_planned_job job = {u, b->name, b->path, problem_id, TK_ROLE_CONTROL};
	return tk_plan_add_jobs(p, &p->devices[device].controls, device, &job, err);
}

int tk_plan_controls(struct tk_plan *p, struct tk_error *err)
{
	const struct tk_control_config *c = &p->n->config->control;
	const char *upstream = c->upstream ? c->upstream : "builtin";
	int64_t problem_id;
	if (!c->every || !c->backend || !c->problem)
		return TK_OK;
	TRY(tk_plan_put_problem(p->n, c->problem, "control", "control", &problem_id, err));
	for (size_t d = 0; d < p->n->device_count; d++)
		TRY(add_control(p, d, upstream, problem_id, err));
	return TK_OK;
}

/* ---- ceilings ---- */

/* Stores the data sheet's ceilings of a device for this night; none for an unknown device. */
static int put_datasheet(struct tk_night *n, const struct tk_night_device *d, struct tk_error *err)
{
	const struct tk_datasheet *s =
	        tk_datasheet_find(json_string_value(json_object_get(d->info, "name")));
	if (!s)
		return TK_OK;
	const struct {
		const char *name, *unit;
		double value;
	} rows[] = {
	        {"memory", "gb_per_s", s->memory},
	        {"bf16", "gflop_per_s", s->bf16},
	        {"f16", "gflop_per_s", s->bf16},
	        {"e4m3", "gflop_per_s", s->fp8},
	        {"e5m2", "gflop_per_s", s->fp8},
	        {"tf32", "gflop_per_s", s->tf32},
	        {"f32", "gflop_per_s", s->f32},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tk_ceiling_row row = {.night_id = n->night_id,
		        .device_id = d->device_id,
		        .name = rows[i].name,
		        .source = TK_CEILING_DATASHEET,
		        .unit = rows[i].unit,
		        .value = rows[i].value * 1e3};
		if (row.value > 0)
			TRY(tk_store_put(n->store, TK_TABLE_ceiling, &row, NULL, err));
	}
	return TK_OK;
}

/* The problems that measure the ceilings of a device. A kind of device without a row has only the
 * ceilings of its data sheet. */
struct ceiling_job {
	const char *device_kind, *backend, *problem;
	bool is_hot; /* whatever else is measured */
};
static const struct ceiling_job ceiling_jobs[] = {
        {"cpu", "ceiling", TK_LIMITS_LAUNCH_PROBLEM, true},
        {"cpu", "ceiling", "copy:bytes=268435456,dtype=f32"},
        {"cpu", "ceiling", "read:bytes=268435456,dtype=f32"},
        {"cpu", "ceiling", "fma:count=400000000,dtype=f32"},
        {"cuda", "ceiling_cuda", TK_LIMITS_LAUNCH_PROBLEM, true},
        {"cuda", "ceiling_cuda", "copy:bytes=536870912,dtype=f32"},
        {"cuda", "ceiling_cuda", "read:bytes=536870912,dtype=f32"},
        /* The rate of tensor cores depends on the values: large products of random numbers. */
        {"cuda", "cublaslt", "gemm:m=8192,n=8192,k=8192,a=bf16,tb=t"},
        {"cuda", "cublaslt", "gemm:m=8192,n=8192,k=8192,a=f16,tb=t"},
        {"cuda", "cublaslt", "gemm:m=8192,n=8192,k=8192,a=tf32,tb=t"},
        {"cuda", "cublaslt", "gemm:m=8192,n=8192,k=8192,a=f32,tb=t"},
        {"cuda", "cublaslt", "gemm:m=8192,n=8192,k=8192,a=e4m3,c=bf16,tb=t"},
        {"hip", "ceiling_hip", TK_LIMITS_LAUNCH_PROBLEM, true},
        {"hip", "ceiling_hip", "copy:bytes=536870912,dtype=f32"},
        {"hip", "ceiling_hip", "read:bytes=536870912,dtype=f32"},
        /* In registers, in case hipBLASLt is missing: the last rate of a type counts. */
        {"hip", "ceiling_hip", "fma:count=400000000000,dtype=bf16"},
        {"hip", "ceiling_hip", "fma:count=400000000000,dtype=f16"},
        {"hip", "ceiling_hip", "fma:count=40000000000,dtype=f32"},
        {"hip", "hipblaslt", "gemm:m=8192,n=8192,k=8192,a=bf16,tb=t"},
        {"hip", "hipblaslt", "gemm:m=8192,n=8192,k=8192,a=f16,tb=t"},
        {"hip", "hipblaslt", "gemm:m=8192,n=8192,k=8192,a=tf32,tb=t"},
        {"hip", "hipblaslt", "gemm:m=8192,n=8192,k=8192,a=f32,tb=t"},
        {"hip", "hipblaslt", "gemm:m=8192,n=8192,k=8192,a=e4m3,c=bf16,tb=t"},
};

/* The problems that measure its caches: inputs of the resident size that the device reports, read
 * repeatedly until a launch has moved `traffic_bytes` (on a CPU: each of its cores). */
struct cache_job {
	const char *device_kind, *backend;
	int64_t traffic_bytes;
	bool is_per_core;
};
static const struct cache_job cache_jobs[] = {
        {"cpu", "ceiling", INT64_C(1) << 26, true},
        {"cuda", "ceiling_cuda", INT64_C(1) << 31, false},
        {"hip", "ceiling_hip", INT64_C(1) << 31, false},
};

/* The backend of a row for this device; NULL: another kind of device, or not built. */
static const struct tk_artifact_backend *find_backend(
        const struct tk_plan *p, size_t device, const char *device_kind, const char *backend)
{
	if (strcmp(device_kind, p->n->devices[device].layer->name) != 0)
		return NULL;
	return tk_plan_find_backend(tk_plan_find_upstream(p->n, "builtin"), backend);
}

/* mode TK_MODE_COUNT: those of the kind of device. */
static int add_ceiling(struct tk_plan *p, size_t device, const struct tk_artifact_backend *b,
        const char *problem, enum tk_mode mode, struct tk_error *err)
{
	struct tk_job_list *list = &p->devices[device].ceilings;
	struct tk_planned_job job = {.upstream = tk_plan_find_upstream(p->n, "builtin"),
	        .backend = b->name,
	        .path = b->path,
	        .role = TK_ROLE_CEILING};
	TRY(tk_plan_put_problem(p->n, problem, "ceiling", "ceiling", &job.problem_id, err));
	return mode == TK_MODE_COUNT
	               ? tk_plan_add_jobs(p, list, device, &job, err)
	               : tk_plan_add_job(p, list, device, &job, tk_mode_name(mode), err);
}

/* Always hot: with different inputs each time, nothing would be in the cache. */
static int add_cache_ceilings(
        struct tk_plan *p, size_t device, const struct cache_job *c, struct tk_error *err)
{
	const json_t *info = p->n->devices[device].info;
	const struct tk_artifact_backend *b = find_backend(p, device, c->device_kind, c->backend);
	json_int_t cores = json_integer_value(json_object_get(info, "compute_units"));
	json_int_t traffic = c->traffic_bytes * (c->is_per_core ? cores : 1);
	const char *level;
	json_t *bytes;
	json_object_foreach (json_object_get(info, "resident_bytes"), level, bytes) {
		json_int_t size = json_integer_value(bytes);
		char problem[TK_PROBLEM_TEXT_MAX];
		if (!b || size <= 0 || size > traffic)
			continue;
		snprintf(problem, sizeof problem, "read:bytes=%lld,cache=%s,dtype=f32,passes=%lld",
		        (long long)size, level, (long long)(traffic / size + 1));
		TRY(add_ceiling(p, device, b, problem, TK_MODE_HOT, err));
	}
	return TK_OK;
}

static int add_ceilings(struct tk_plan *p, size_t device, struct tk_error *err)
{
	for (size_t i = 0; i < sizeof ceiling_jobs / sizeof *ceiling_jobs; i++) {
		const struct ceiling_job *c = &ceiling_jobs[i];
		const struct tk_artifact_backend *b =
		        find_backend(p, device, c->device_kind, c->backend);
		if (b)
			TRY(add_ceiling(p, device, b, c->problem,
			        c->is_hot ? TK_MODE_HOT : TK_MODE_COUNT, err));
	}
	for (size_t i = 0; i < sizeof cache_jobs / sizeof *cache_jobs; i++)
		TRY(add_cache_ceilings(p, device, &cache_jobs[i], err));
	return TK_OK;
}

/* ---- which of them ---- */

#define CEILING_AGE_S (20 * 3600) /* nights of consecutive days are less than a day apart */
#define SHARE 4                   /* suite jobs for each ceiling that is measured again */

/* When a ceiling was last measured in this environment. */
struct dated {
	struct tk_job_row job;
	size_t place;       /* in the table above */
	int64_t measured_s; /* 0: never */
	bool is_newer;      /* than this night, which is one of the past */
};

static int compare_age(const void *a, const void *b)
{
	const struct dated *x = a, *y = b;
	if (x->measured_s != y->measured_s)
		return x->measured_s < y->measured_s ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static int find_age(const struct tk_night *n, const struct tk_night_device *d, struct dated *out,
        struct tk_error *err)
{
	int64_t is_newer = 0;
	TRY(tk_store_select_int(n->store,
	        "SELECT max(started_s) FROM run WHERE series_id=?1 AND environment_id=?2"
	        " AND outcome IN ('ok', 'throttled', 'unstable')",
	        TK_ARGS(out->job.series_id, d->environment_id), 0, &out->measured_s, err));
	if (n->options->backfill_revision)
		TRY(tk_store_select_int(n->store,
		        "SELECT 1 FROM measurement WHERE series_id=?1 AND as_of_s > ?2 LIMIT 1",
		        TK_ARGS(out->job.series_id, n->as_of_s), 0, &is_newer, err));
	out->is_newer = is_newer;
	return TK_OK;
}

/* Keeps those that were never measured in this environment, and of those that a day has passed for
 * the oldest ones, one for so many suite jobs. A night of the past needs none that a newer one has.
 * */
static int choose(struct tk_plan *p, size_t device, struct tk_error *err)
{
	struct tk_job_list *list = &p->devices[device].ceilings;
	const int64_t now_s = tk_clock_now_s();
	const size_t most = (p->devices[device].suite.count + SHARE - 1) / SHARE;
	size_t kept = 0, again = 0;
	struct dated *dated = tk_calloc(list->count + 1, sizeof *dated);
	int status = TK_OK;
	for (size_t i = 0; !status && i < list->count; i++) {
		dated[i] = (struct dated){.job = list->rows[i], .place = i};
		status = find_age(p->n, &p->n->devices[device], &dated[i], err);
	}
	tk_sort(dated, list->count, sizeof *dated, compare_age);
	for (size_t i = 0; !status && i < list->count; i++) {
		const int64_t age_s = now_s - dated[i].measured_s;
		if (dated[i].is_newer ||
		        (dated[i].measured_s && (age_s < CEILING_AGE_S || again++ >= most)))
			continue;
		list->rows[kept++] = dated[i].job;
	}
	list->count = kept;
	free(dated);
	return status;
}

int tk_plan_ceilings(struct tk_plan *p, struct tk_error *err)
{
	for (size_t d = 0; d < p->n->device_count; d++) {
		TRY(put_datasheet(p->n, &p->n->devices[d], err));
		TRY(add_ceilings(p, d, err));
	}
	return TK_OK;
}

int tk_plan_choose_ceilings(struct tk_plan *p, struct tk_error *err)
{
	for (size_t d = 0; d < p->n->device_count; d++)
		TRY(choose(p, d, err));
	return TK_OK;
}
