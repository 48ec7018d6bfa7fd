/* Stage "plan": suites x backends x devices -> jobs. They are stored before the first one runs,
 * so that a night that is killed knows what is left. */
#include "base/base.h"
#include "config/suite.h"
#include "core/kernel_package.h"
#include "core/problem.h"
#include "core/vocabulary.h"
#include "nightly/plan/modules.h"
#include "nightly/plan/plan_internal.h"
#include "nightly/plan/suites.h"
#include "worker/worker.h"

/* ---- lists of jobs ---- */

/* An empty backend_path is a failed build: there is nothing to run. */
static void add_job(struct tk_job_list *list, int64_t series_id, int64_t build_id,
        const char *backend_path, const char *options)
{
	list->rows = tk_reallocarray(list->rows, list->count + 1, sizeof *list->rows);
	list->rows[list->count++] = (struct tk_job_row){.series_id = series_id,
	        .build_id = build_id,
	        .backend_path = backend_path,
	        .options = options ? options : ""};
}

static void append(struct tk_job_list *out, const struct tk_job_row *rows, size_t count)
{
	out->rows = tk_reallocarray(out->rows, out->count + count + 1, sizeof *out->rows);
	for (size_t i = 0; i < count; i++) {
		struct tk_job_row *row = &out->rows[out->count++];
		*row = rows[i];
		row->seq = (int64_t)out->count;
	}
}

struct shuffled_job {
	const struct tk_job_row *row;
	size_t position; /* in the random order */
};

static int compare_last_and_position(const void *a, const void *b)
{
	const struct shuffled_job *x = a, *y = b;
	if (x->row->seq != y->row->seq)
		return x->row->seq < y->row->seq ? -1 : 1;
	return (x->position > y->position) - (x->position < y->position);
}

/* Appends to *out: the ceilings, then the suite jobs in a random order, so that drift does not fall
 * on one backend; those with a `last` after all others and problem by problem. The controls run
 * before the first suite job, after every `every` of them, and at the end where many ran since, so
 * that drift shows. One seed gives one order. */
static void order_jobs(const struct tk_job_list *suite, const struct tk_job_list *ceilings,
        const struct tk_job_list *controls, uint32_t every, uint64_t seed, struct tk_job_list *out)
{
	struct tk_rng rng;
	struct shuffled_job *order = tk_calloc(suite->count + 1, sizeof *order);
	for (size_t i = 0; i < suite->count; i++)
		order[i].row = &suite->rows[i];
	tk_rng_seed(&rng, seed);
	tk_rng_shuffle(&rng, order, suite->count, sizeof *order);
	for (size_t i = 0; i < suite->count; i++)
		order[i].position = i;
	tk_sort(order, suite->count, sizeof *order, compare_last_and_position);
	append(out, ceilings->rows, ceilings->count);
	for (size_t i = 0; i < suite->count; i++) {
		if (every && i % every == 0)
			append(out, controls->rows, controls->count);
		append(out, order[i].row, 1);
	}
	if (every && suite->count && (suite->count - 1) % every >= every / 2)
		append(out, controls->rows, controls->count);
	free(order);
}

/* ---- one job ---- */

int tk_plan_put_problem(struct tk_night *n, const char *text, const char *source,
        const char *family, int64_t *id, struct tk_error *err)
{
	struct tk_problem_spec p;
	char title[160];
	TRY(tk_problem_parse(&p, text, err));
	tk_problem_format_title(&p, title, sizeof title);
	struct tk_problem_row row = {.text = p.text,
	        .op = tk_problem_op_name(&p),
	        .dtype = tk_problem_dtype_name(&p),
	        .title = title,
	        .flops = tk_problem_flops(&p),
	        .bytes = tk_problem_bytes(&p),
	        .source = source,
	        .family = family};
	return tk_store_put(n->store, TK_TABLE_problem, &row, id, err);
}

/* The configurations of the series, NULL-terminated; "": what the backend prefers. Neither is there
 * a choice within a sequence, nor for what measures the machine. */
static const char *const *list_configs(
        const struct tk_night_upstream *u, enum tk_series_role role, const char *mode)
{
	static const char *const own[] = {"", NULL}, *const tuned[] = {TK_TUNE_CONFIG, NULL};
	char sequence[TK_MODE_WORD_SIZE];
	if (role != TK_ROLE_SUITE || tk_mode_get_sequence(mode, sequence))
		return own;
	if (u->config->is_tuned)
		return tuned;
	return u->config->configs && *u->config->configs ? (const char *const *)u->config->configs
	                                                 : own;
}

/* As a series has it. */
static const char *config_name(const char *configured)
{
	return strcmp(configured, "default") ? configured : "";
}

/* Whether the newest run of the series ended as unsupported. */
static int was_unsupported(struct tk_store *s, int64_t series_id, bool *out, struct tk_error *err)
{
	int64_t found;
	TRY(tk_store_select_int(s,
	        "SELECT outcome='unsupported' FROM run WHERE series_id=?1"
	        " ORDER BY as_of_s DESC, id DESC LIMIT 1",
	        TK_ARGS(series_id), 0, &found, err));
	*out = found;
	return TK_OK;
}

/* A backend is asked again, without a job and a row, whether it does a problem that it did not do
 * when it was last measured. One that cannot be asked does not do it either. */
static int is_still_unsupported(struct tk_plan *p, size_t device, const struct tk_planned_job *job,
        const struct tk_series_row *series, int64_t series_id, bool *out, struct tk_error *err)
{
	struct tk_night *n = p->n;
	struct tk_worker *worker = NULL;
	struct tk_problem_row problem;
	json_auto_t *answer = NULL;
	struct tk_error why = {0};
	const char *options = job->upstream->config->options;
	bool is_known = false;
	size_t i;
	json_t *name;
	TRY(was_unsupported(n->store, series_id, out, err));
	if (!*out)
		return TK_OK;
	TRY(tk_store_get(n->store, TK_TABLE_problem, job->problem_id, &problem, err));
	const struct tk_job_request q =
	        tk_night_job_request(n, series, &problem, job->path, options ? options : "");
	int status = tk_night_get_worker(n, &n->devices[device], job->path, &worker, &why);
	if (!status)
		status = tk_worker_query_configs(worker, &q, &answer, &why);
	if (tk_night_is_fatal(status))
		return tk_fail(err, status, "%s", why.message);
	json_array_foreach (json_object_get(answer, "configs"), i, name)
		is_known |= !strcmp(json_string_value(name), series->config);
	*out = status || (*series->config && strcmp(series->config, TK_TUNE_CONFIG) && !is_known);
	return TK_OK;
}

static int add_series(struct tk_plan *p, struct tk_job_list *list, size_t device,
        const struct tk_planned_job *job, const char *mode, const char *config,
        struct tk_error *err)
{
	const struct tk_night_upstream *u = job->upstream;
	struct tk_series_row series = {.device_id = p->n->devices[device].device_id,
	        .upstream_id = u->upstream_id,
	        .problem_id = job->problem_id,
	        .backend = job->backend,
	        .config = config,
	        .mode = mode,
	        .metric = "time",
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = job->role,
	        .rotate_nights = job->rotate_nights};
	int64_t series_id;
	bool is_unsupported = false;
	TRY(tk_store_put(p->n->store, TK_TABLE_series, &series, &series_id, err));
	if (job->role == TK_ROLE_SUITE && *job->path)
		TRY(is_still_unsupported(p, device, job, &series, series_id, &is_unsupported, err));
	if (!is_unsupported)
		add_job(list, series_id, u->build_id, job->path, u->config->options);
	return TK_OK;
}

int tk_plan_add_job(struct tk_plan *p, struct tk_job_list *list, size_t device,
        const struct tk_planned_job *job, const char *mode, struct tk_error *err)
{
	const char *const *config = list_configs(job->upstream, job->role, mode);
	for (; *config; config++)
		TRY(add_series(p, list, device, job, mode, config_name(*config), err));
	return TK_OK;
}

int tk_plan_add_jobs(struct tk_plan *p, struct tk_job_list *list, size_t device,
        const struct tk_planned_job *job, struct tk_error *err)
{
	const char *kind = p->n->devices[device].layer->name, *modes[TK_CONFIG_MODES_MAX];
	size_t count = tk_config_list_modes(p->n->config, kind, modes);
	char mode[TK_MODE_WORD_SIZE];
	if (job->role != TK_ROLE_SUITE)
		count = 1;
	for (size_t i = 0; i < count; i++) {
		TRY(tk_night_name_mode(p->n, kind, modes[i], mode, err));
		TRY(tk_plan_add_job(p, list, device, job, mode, err));
	}
	return TK_OK;
}

/* ---- upstreams and backends ---- */

const struct tk_night_upstream *tk_plan_find_upstream(const struct tk_night *n, const char *name)
{
	for (size_t i = 0; i < n->upstream_count; i++)
		if (strcmp(n->upstreams[i].config->name, name) == 0)
			return &n->upstreams[i];
	return NULL;
}

const struct tk_artifact_backend *tk_plan_find_backend(
        const struct tk_night_upstream *u, const char *name)
{
	/* Without a build its jobs could not be stored. */
	for (size_t a = 0; u && u->build_id && a < u->artifact_count; a++)
		if (tk_artifact_find_backend(u->artifacts[a], name))
			return tk_artifact_find_backend(u->artifacts[a], name);
	return NULL;
}

/* ---- backends ---- */

/* Null: the backend cannot be loaded. Each backend is queried once, because the query starts a
 * process. */
static const json_t *query(struct tk_plan *p, const struct tk_night_device *d, const char *path)
{
	json_t *info = json_object_get(p->backends, path);
	struct tk_error reason = {0};
	if (info)
		return info;
	if (tk_worker_query_backend(d->worker, path, &info, &reason))
		tk_log(TK_LOG_WARN, "backend", NULL, "%s: %s", path, reason.message);
	info = info ? info : json_null();
	json_object_set_new_nocheck(p->backends, path, info);
	return info;
}

bool tk_plan_backend_runs_on(struct tk_plan *p, const struct tk_night_device *d, const char *path)
{
	const enum tk_device_kind package = tk_kernel_package_device_kind(path);
	if (package != TK_DEVICE_OTHER) /* without a launcher for other devices */
		return package == tk_device_kind_from_name(d->layer->name);
	const json_t *info = query(p, d, path);
	const char *kind = json_string_value(json_object_get(info, "device_kind"));
	return json_is_null(info) || (kind && strcmp(kind, d->layer->name) == 0);
}

/* enum tk_operation. All of a backend that declares none, or that cannot be loaded. */
static uint32_t list_operations(
        struct tk_plan *p, const struct tk_night_device *d, const char *path)
{
	const json_t *list = json_object_get(query(p, d, path), "operations"), *name;
	uint32_t operations = 0;
	size_t i;
	if (!list)
		return UINT32_MAX;
	json_array_foreach (list, i, name)
		operations |= tk_operation_parse(json_string_value(name));
	return operations;
}

/* ---- suites ---- */

struct problem_list {
	struct tk_plan_problem *rows;
	size_t count;
	bool *is_mine; /* [device * count + problem]: the device measures the problem */
};

static int plan_problem(struct tk_plan *p, size_t device, struct tk_planned_job *job,
        const struct tk_plan_problem *problem, struct tk_error *err)
{
	struct tk_job_list *list = &p->devices[device].suite;
	size_t first = list->count;
	job->problem_id = problem->id;
	job->rotate_nights = problem->rotate_nights;
	TRY(tk_plan_add_jobs(p, list, device, job, err));
	for (size_t i = first; i < list->count; i++)
		list->rows[i].seq = problem->last;
	return TK_OK;
}

/* A failed build has nothing to ask: the tracker's own module of that name declares the same. */
static uint32_t failed_operations(
        struct tk_plan *p, const struct tk_night_device *d, const char *backend)
{
	const struct tk_module *m = tk_modules_find_backend(p->n->modules, backend);
	return m ? list_operations(p, d, m->path) : UINT32_MAX;
}

static int plan_backend(struct tk_plan *p, const struct tk_night_upstream *u, const char *backend,
        const char *path, const struct problem_list *problems, struct tk_error *err)
{
	struct tk_planned_job job = {
	        .upstream = u, .backend = backend, .path = path, .role = TK_ROLE_SUITE};
	for (size_t d = 0; d < p->n->device_count; d++) {
		const struct tk_night_device *device = &p->n->devices[d];
		if (*path && !tk_plan_backend_runs_on(p, device, path))
			continue;
		uint32_t does = *path ? list_operations(p, device, path)
		                      : failed_operations(p, device, backend);
		for (size_t i = 0; i < problems->count; i++)
			if (problems->is_mine[d * problems->count + i] &&
			        (does & problems->rows[i].operation) &&
			        (problems->rows[i].kinds & tk_device_kind_bit(device->layer->name)))
				TRY(plan_problem(p, d, &job, &problems->rows[i], err));
	}
	return TK_OK;
}

static bool is_for_device(
        const struct problem_list *problems, int64_t id, const struct tk_night_device *d)
{
	for (size_t i = 0; i < problems->count; i++)
		if (problems->rows[i].id == id)
			return problems->rows[i].kinds & tk_device_kind_bit(d->layer->name);
	return false;
}

static bool is_planned_config(const struct tk_night_upstream *u, const struct tk_series_row *r)
{
	const char *const *config = list_configs(u, r->role, r->mode);
	while (*config && strcmp(r->config, config_name(*config)))
		config++;
	return *config;
}

/* A failed job for each series that the upstream had before, unless the backend did not support it
 * when it was last measured. */
static int plan_known_series(struct tk_plan *p, const struct tk_night_upstream *u,
        const struct problem_list *problems, struct tk_error *err)
{
	AUTO(tk_rows) all = {0};
	TRY(tk_store_list(p->n->store, TK_TABLE_series,
	        "upstream_id=?1 AND role='suite' AND 'unsupported' IS NOT (SELECT outcome FROM run"
	        " WHERE series_id=series.id ORDER BY as_of_s DESC, id DESC LIMIT 1)",
	        TK_ARGS(u->upstream_id), &all, err));
	for (size_t i = 0; i < all.count; i++) {
		const struct tk_series_row *r = TK_ROWS_AT(&all, struct tk_series_row, i);
		const size_t d = tk_night_find_device_index(p->n, r->device_id);
		if (d < p->n->device_count && is_planned_config(u, r) &&
		        is_for_device(problems, r->problem_id, &p->n->devices[d]))
			add_job(&p->devices[d].suite, r->id, u->build_id, "", "");
	}
	return TK_OK;
}

/* The backends of a failed build are those that are configured, else those that it had before. */
static int plan_failed_build(struct tk_plan *p, const struct tk_night_upstream *u,
        const struct problem_list *problems, struct tk_error *err)
{
	char *const *name = u->config->backends;
	if (!name || !*name)
		return plan_known_series(p, u, problems, err);
	for (; *name; name++)
		TRY(plan_backend(p, u, *name, "", problems, err));
	return TK_OK;
}

static int plan_upstream(struct tk_plan *p, const struct tk_night_upstream *u,
        const struct problem_list *problems, struct tk_error *err)
{
	if (!u->build_id || u->config->kind == TK_UPSTREAM_BUILTIN)
		return TK_OK;
	if (u->failed)
		return plan_failed_build(p, u, problems, err);
	for (size_t a = 0; a < u->artifact_count; a++)
		for (size_t i = 0; i < u->artifacts[a]->backend_count; i++) {
			const struct tk_artifact_backend *b = &u->artifacts[a]->backends[i];
			if (tk_config_measures_backend(u->config, b->name))
				TRY(plan_backend(p, u, b->name, b->path, problems, err));
		}
	return TK_OK;
}

static int add_problem(struct tk_night *n, const struct tk_listed_problem *p,
        struct tk_plan_problem *out, struct tk_error *err)
{
	struct tk_problem_spec spec;
	TRY(tk_problem_parse(&spec, p->text, err));
	*out = (struct tk_plan_problem){.operation = tk_problem_operation(&spec),
	        .kinds = p->kinds,
	        .rotate_nights = p->rotate_nights,
	        .rotation_key = tk_rotation_key(spec.text),
	        .seconds = tk_plan_estimate_seconds(&spec)};
	return tk_plan_put_problem(n, p->text, p->source, p->group, &out->id, err);
}

static void take_part(const struct tk_night_options *o, struct problem_list *list)
{
	size_t kept = 0;
	for (size_t i = 0; i < list->count; i++)
		if (tk_rotation_is_in_part(list->rows[i].rotation_key, o->part, o->parts))
			list->rows[kept++] = list->rows[i];
	list->count = kept;
}

static bool is_listed(const struct problem_list *problems, int64_t id)
{
	for (size_t i = 0; i < problems->count; i++)
		if (problems->rows[i].id == id)
			return true;
	return false;
}

/* Series of this night's upstreams and devices that it would not measure, whoever has a turn. They
 * return when they are measured again. */
static int retire_series(
        struct tk_night *n, const struct problem_list *problems, struct tk_error *err)
{
	AUTO(tk_rows) all = {0};
	if (n->options->backfill_revision)
		return TK_OK;
	TRY(tk_store_list(n->store, TK_TABLE_series, "role='suite' AND rotate_nights<>?1",
	        TK_ARGS((int64_t)TK_SERIES_RETIRED), &all, err));
	for (size_t i = 0; i < all.count; i++) {
		struct tk_series_row row = *TK_ROWS_AT(&all, struct tk_series_row, i);
		const struct tk_night_upstream *u = n->upstreams;
		const struct tk_night_upstream *end = u + n->upstream_count;
		while (u < end && u->upstream_id != row.upstream_id)
			u++;
		if (u == end || u->config->kind == TK_UPSTREAM_BUILTIN ||
		        tk_night_find_device_index(n, row.device_id) >= n->device_count ||
		        (is_listed(problems, row.problem_id) && is_planned_config(u, &row)))
			continue;
		row.rotate_nights = TK_SERIES_RETIRED;
		TRY(tk_store_put(n->store, TK_TABLE_series, &row, NULL, err));
	}
	return TK_OK;
}

static int load_problems(struct tk_night *n, struct problem_list *out, struct tk_error *err)
{
	AUTO(tk_problem_list) listed = {0};
	TRY(tk_problem_list_add_configured(&listed, n->config, err));
	out->rows = tk_calloc(listed.count + 1, sizeof *out->rows);
	for (; out->count < listed.count; out->count++)
		TRY(add_problem(n, &listed.rows[out->count], &out->rows[out->count], err));
	TRY(retire_series(n, out, err));
	take_part(n->options, out);
	TRY(tk_plan_rotate(n, out->rows, &out->count, err));
	out->is_mine = tk_calloc(n->device_count * out->count + 1, sizeof *out->is_mine);
	if (n->options->split)
		return tk_plan_share_problems(n, out->rows, out->count, out->is_mine, err);
	memset(out->is_mine, true, n->device_count * out->count * sizeof *out->is_mine);
	return TK_OK;
}

static int plan_suites(struct tk_plan *p, struct tk_error *err)
{
	struct problem_list problems = {0};
	int status = load_problems(p->n, &problems, err);
	for (size_t i = 0; !status && i < p->n->upstream_count; i++)
		status = plan_upstream(p, &p->n->upstreams[i], &problems, err);
	free(problems.rows);
	free(problems.is_mine);
	return status;
}

/* ---- the stage ---- */

static bool has_suite_jobs(const struct tk_plan *p)
{
	for (size_t d = 0; d < p->n->device_count; d++)
		if (p->devices[d].suite.count)
			return true;
	return false;
}

/* Of CPUs it is often meant: they are there on every machine. */
static void warn_about_idle_gpus(const struct tk_plan *p)
{
	for (size_t d = 0; d < p->n->device_count; d++)
		if (!p->devices[d].suite.count && !tk_night_device_is_cpu(&p->n->devices[d]) &&
		        tk_device_kind_from_name(p->n->devices[d].layer->name) != TK_DEVICE_NULL)
			tk_log(TK_LOG_WARN, "gpu", NULL,
			        "no upstream has a job for %s; `tracker init --force` writes a "
			        "tracker.yml that measures it",
			        p->n->devices[d].slug);
}

/* Without a suite job on any device, controls and ceilings are not measured either. */
static int put_jobs(const struct tk_plan *p, struct tk_error *err)
{
	const struct tk_night *n = p->n;
	struct tk_job_list jobs = {0};
	for (size_t d = 0; has_suite_jobs(p) && d < n->device_count; d++)
		order_jobs(&p->devices[d].suite, &p->devices[d].ceilings, &p->devices[d].controls,
		        n->config->control.every, n->seed + d, &jobs);
	for (size_t i = 0; i < jobs.count; i++)
		jobs.rows[i].night_id = n->night_id;
	int status = tk_store_put_jobs(n->store, jobs.rows, jobs.count, err);
	free(jobs.rows);
	return status;
}

/* The suites come last: of a problem that is also the control, they set the source and the
 * family. */
static int make_plan(struct tk_plan *p, struct tk_error *err)
{
	TRY(tk_plan_controls(p, err));
	TRY(tk_plan_ceilings(p, err));
	TRY(plan_suites(p, err));
	TRY(tk_plan_choose_ceilings(p, err));
	if (!p->n->options->only_upstream)
		warn_about_idle_gpus(p);
	return put_jobs(p, err);
}

int tk_night_plan(struct tk_night *n, struct tk_error *err)
{
	struct tk_plan p = {.n = n,
	        .devices = tk_calloc(n->device_count + 1, sizeof *p.devices),
	        .backends = json_object()};
	int status = tk_store_begin(n->store, err);
	if (!status && (status = make_plan(&p, err)))
		tk_store_rollback(n->store);
	else if (!status)
		status = tk_store_commit(n->store, err);
	for (size_t d = 0; d < n->device_count; d++) {
		free(p.devices[d].suite.rows);
		free(p.devices[d].ceilings.rows);
		free(p.devices[d].controls.rows);
	}
	free(p.devices);
	json_decref(p.backends);
	return status;
}
