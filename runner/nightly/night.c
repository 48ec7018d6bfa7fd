/* The night as a whole: runs its stages in order, and stores when each starts and how it ends. */
#include "core/night.h"
#include "base/base.h"
#include "nightly/night.h"
#include "notify/notify.h"
#include "store/store.h"

#define LOCK_WAIT_LEAST_S 120 /* also at the end of a night */

static int evict_artifacts(struct tk_night *n, struct tk_error *err)
{
	struct kept {
		const char *key;
	};
	static const struct tk_db_column columns[] = {TK_MEMBER(struct kept, key)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct kept, columns);
	AUTO(tk_rows) rows = {0};
	TRY(tk_store_select(n->store,
	        "SELECT artifact_key AS key FROM (SELECT artifact_key, row_number() OVER"
	        " (PARTITION BY upstream_id ORDER BY built_s DESC, id DESC) AS age"
	        " FROM build_v WHERE status IN ('ok', 'partial')) WHERE age=1",
	        TK_NO_ARGS, &type, &rows, err));
	/* the only member of each row */
	return tk_artifact_evict(
	        n->config->cache_dir, n->config->budgets.cache_bytes, rows.rows, rows.count, err);
}

static int tidy(struct tk_night *n, struct tk_error *err)
{
	int64_t keep_s = (int64_t)n->config->keep_samples_days * 86400;
	if (n->config->budgets.cache_bytes)
		TRY(evict_artifacts(n, err));
	return keep_s ? tk_store_drop_samples(n->store, tk_clock_now_s() - keep_s, err) : TK_OK;
}

static int publish_site(struct tk_night *n, struct tk_error *err)
{
	const struct tk_night_publisher *p = n->options->publisher;
	struct tk_notify_options notify = {.webhook_url = n->config->webhook_url,
	        .site_url = n->config->site_url,
	        .night_id = n->night_id};
	struct tk_error reason = {0};
	int status = p ? p->publish(p->arg, n->store, n->report->site_index, err) : TK_OK;
	if (tk_notify_send_alerts(n->store, &notify, &reason))
		tk_log(TK_LOG_WARN, "notify", NULL, "could not deliver all notifications: %s",
		        reason.message);
	return status;
}

struct stage {
	enum tk_stage id;
	int (*run)(struct tk_night *n, struct tk_error *err);
	/* also where a plan exists: it fills the state, or costs nothing to repeat */
	bool runs_on_resume;
	bool is_fatal; /* the stages after it depend on it */
};

/* A resumed night has its builds from the plan; without a plan it resolves and builds again. */
static const struct stage stages[] = {
        {TK_STAGE_PROBE, tk_night_probe, true, true},
        {TK_STAGE_RESOLVE, tk_night_resolve, false, true},
        {TK_STAGE_BUILD, tk_night_build, false, true},
        {TK_STAGE_PLAN, tk_night_plan, false, true},
        {TK_STAGE_MEASURE, tk_night_measure, true, true},
        {TK_STAGE_CONFIRM, tk_night_confirm, true, false},
        {TK_STAGE_DETECT, tk_night_detect, true, false},
        {TK_STAGE_BISECT, tk_night_bisect, true, false},
        {TK_STAGE_TRACE, tk_night_trace, true, false},
        {TK_STAGE_TUNE, tk_night_tune, true, false},
        {TK_STAGE_TIDY, tidy, true, false},
};

/* Runs after the night has its final status, because the pages show it. */
static const struct stage publish = {TK_STAGE_PUBLISH, publish_site, true, false};

double tk_night_elapsed_s(const struct tk_night *n)
{
	return (double)(tk_clock_monotonic_ns() - n->started_mono_ns) / 1e9;
}

double tk_night_find_share_s(const struct tk_night *n, double budget_s)
{
	double night_s = n->config->budgets.night_s, left_s = night_s - tk_night_elapsed_s(n);
	return night_s > 0 && left_s < budget_s ? left_s : budget_s;
}

bool tk_night_is_fatal(int status)
{
	return status == TK_ECANCELED || status == TK_ENOMEM || status == TK_ENOSPC;
}

void tk_night_announce_stage(const struct tk_night *n, const char *stage, const char *detail)
{
	const struct tk_night_observer *o = n->options->observer;
	if (o && o->stage)
		o->stage(o->arg, stage, detail ? detail : "");
}

/* ---- stages ---- */

static int put_stage(struct tk_night *n, const struct stage *s, enum tk_stage_status stage_status,
        int64_t started_s, const char *detail, struct tk_error *err)
{
	struct tk_stage_row row = {.night_id = n->night_id,
	        .name = tk_stage_name(s->id),
	        .status = stage_status,
	        .started_s = started_s,
	        .finished_s = stage_status == TK_STAGE_RUNNING ? 0 : tk_clock_now_s(),
	        .detail = detail};
	return tk_store_put(n->store, TK_TABLE_stage, &row, NULL, err);
}

/* A failed stage that the others do not need is logged. A fatal one ends the command, which prints
 * the message on stderr. */
static int fail_stage(struct tk_night *n, const struct stage *s, int status, int64_t started_s,
        const struct tk_error *reason, struct tk_error *err)
{
	const char *name = tk_stage_name(s->id);
	put_stage(n, s, TK_STAGE_FAILED, started_s, reason->message, NULL);
	n->report->stages_failed++;
	if (!s->is_fatal) {
		tk_log(TK_LOG_ERROR, "stage_failed", NULL, "%s: %s", name, reason->message);
		return TK_OK;
	}
	tk_fail(err, status, "%s: %s", name, reason->message);
	tk_log_record(TK_LOG_ERROR, "stage_failed", NULL, err->message);
	return status;
}

/* A night that was stopped keeps its status "running", and so does its stage: --resume looks for
 * it. */
static bool is_stopped(int status)
{
	return status == TK_ECANCELED || status == TK_ENOSPC || status == TK_EBUSY;
}

static int run_stage(struct tk_night *n, const struct stage *s, struct tk_error *err)
{
	struct tk_error reason = {0};
	int64_t started_s = tk_clock_now_s();
	tk_night_announce_stage(n, tk_stage_name(s->id), "");
	TRY(put_stage(n, s, TK_STAGE_RUNNING, started_s, "", err));
	int status = s->run(n, &reason);
	if (!status)
		return put_stage(n, s, TK_STAGE_DONE, started_s, "", err);
	if (is_stopped(status))
		return tk_fail(err, status, "%s: %s", tk_stage_name(s->id), reason.message);
	return fail_stage(n, s, status, started_s, &reason, err);
}

/* By an earlier part of this night. */
static bool has_plan(struct tk_night *n)
{
	int64_t found = 0;
	tk_store_select_int(n->store,
	        "SELECT 1 FROM stage WHERE night_id=?1 AND name=?2 AND status='done'",
	        TK_ARGS(n->night_id, tk_stage_name(TK_STAGE_PLAN)), 0, &found, NULL);
	return found;
}

static int run_stages(struct tk_night *n, struct tk_error *err)
{
	bool resumes_plan = has_plan(n);
	for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
		if (stages[i].runs_on_resume || !resumes_plan)
			TRY(run_stage(n, &stages[i], err));
	return TK_OK;
}

/* ---- the end ---- */

static char *encode_summary(const struct tk_night_report *r, json_t *request)
{
	const struct {
		const char *key;
		size_t count;
	} counts[] = {{"builds", r->builds}, {"builds_failed", r->builds_failed},
	        {"builds_partial", r->builds_partial}, {"unreachable", r->upstreams_unreachable},
	        {"jobs", r->jobs}, {"measured", r->measured}, {"verified", r->verified},
	        {"wrong", r->wrong}, {"implausible", r->implausible}, {"failed", r->failed},
	        {"unsupported", r->unsupported}, {"skipped", r->skipped}, {"unstable", r->unstable},
	        {"suspects", r->suspects}, {"pairs", r->pairs}};
	json_auto_t *summary = json_object();
	for (size_t i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		json_object_set_new(summary, tk_verdict_status_name((enum tk_verdict_status)i),
		        json_integer((json_int_t)r->by_status[i]));
	/* after the series: of what is "unsupported", the jobs count */
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		json_object_set_new(
		        summary, counts[i].key, json_integer((json_int_t)counts[i].count));
	json_object_set_new(summary, "wall_s", json_real(r->wall_s));
	if (request)
		json_object_set(summary, "request", request);
	return tk_check_memory(json_dumps(summary, JSON_COMPACT | JSON_SORT_KEYS));
}

static bool is_complete(const struct tk_night_report *r, int status)
{
	return !status && !r->failed && !r->wrong && !r->implausible && !r->skipped &&
	       !r->builds_failed && !r->builds_partial && !r->upstreams_unreachable &&
	       !r->stages_failed;
}

static int close_night(struct tk_night *n, int status, struct tk_error *err)
{
	struct tk_night_report *r = n->report;
	struct tk_error reason = {0};
	r->wall_s = tk_night_elapsed_s(n);
	r->complete = is_complete(r, status);
	if (is_stopped(status))
		return status;
	enum tk_night_status outcome = status        ? TK_NIGHT_FAILED
	                               : r->complete ? TK_NIGHT_COMPLETE
	                                             : TK_NIGHT_INCOMPLETE;
	AUTO_TEXT summary = encode_summary(r, n->request);
	int put = tk_store_finish_night(
	        n->store, n->night_id, outcome, summary, tk_clock_now_s(), &reason);
	r->is_stored = !put;
	return status || !put ? status : tk_fail(err, put, "%s", reason.message);
}

/* A site that could not be written makes the night incomplete: it is closed a second time. */
static int finish_night(struct tk_night *n, int status, struct tk_error *err)
{
	TRY(close_night(n, status, err));
	size_t failed = n->report->stages_failed;
	status = run_stage(n, &publish, err);
	return !status && n->report->stages_failed > failed ? close_night(n, status, err) : status;
}

/* Before anything is stored: a mistyped name makes no failed night. Configured devices that are
 * gone make one. */
static int check_devices(struct tk_night *n, struct tk_error *err)
{
	char *const *given = n->options->devices;
	TRY(tk_device_check_names(given ? given : n->config->devices, err));
	if (!given)
		return TK_OK;
	TRY(tk_night_put_machine(n, err));
	return tk_night_probe(n, err);
}

int tk_night_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, struct tk_night_report *report,
        struct tk_error *err)
{
	struct tk_night_options copy = *options; /* a resumed night restores its own */
	struct tk_night n = {.config = config,
	        .store = store,
	        .options = &copy,
	        .report = report,
	        .started_s = tk_clock_now_s(),
	        .started_mono_ns = tk_clock_monotonic_ns()};
	struct tk_lock *lock = NULL;
	*report = (struct tk_night_report){0};
	int status = tk_store_lock(tk_store_path(store), &lock, err);
	/* Another process that writes for long (an import) delays the night. It does not end it
	 * before the night's own deadline, and then --resume continues. */
	tk_store_set_lock_wait(store, n.started_mono_ns + (int64_t)(config->budgets.night_s * 1e9),
	        LOCK_WAIT_LEAST_S);
	if (!status)
		status = tk_modules_load(options->program, &n.modules, err);
	if (!status && !copy.resume)
		status = check_devices(&n, err);
	if (!status)
		status = tk_night_start(&n, &copy, err);
	if (!status) {
		status = run_stages(&n, err);
		status = finish_night(&n, status, err);
	}
	tk_night_free(&n);
	tk_lock_release(lock);
	return status;
}

/* The builds that changes are compared with stay in the cache: the newest good one of each
 * upstream. */
