/* The night as a whole: a table of stages, each recorded when it begins and when it ends; resuming
 * skips what is done.
 */
#include "nightly/night.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/rng.h"
#include "nightly/plan/night_request.h"
#include "worker/worker.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

struct stage {
	const char *name;
	int (*run)(struct tk_night *n, struct tk_error *err);
	bool again; /* also when an earlier part of this night has done it: it fills the state, or
	               can be redone at no loss */
	bool fatal; /* without it nothing that follows makes sense */
};

/* resolve and build are done again on resume only while there is no plan: the plan names the
 * builds. */
static const struct stage stages[] = {
        {"probe", tk_night_probe, true, true},
        {"resolve", tk_night_resolve, false, true},
        {"build", tk_night_build, false, true},
        {"plan", tk_night_plan, false, true},
        {"measure", tk_night_measure, true, true},
        {"confirm", tk_night_confirm, true, false},
        {"detect", tk_night_detect, true, false},
        {"bisect", tk_night_bisect, true, false},
        {"tidy", tk_night_tidy, true, false},
};

/* After the night has its status, because the pages show it. */
static const struct stage publish = {"publish", tk_night_publish, true, false};

void tk_night_announce_stage(const struct tk_night *n, const char *stage, const char *detail)
{
	const struct tk_night_observer *o = n->options->observer;
	if (o && o->stage)
		o->stage(o->arg, stage, detail ? detail : "");
}

static int mark(struct tk_night *n, const char *stage, enum tk_stage_status status,
        int64_t started_s, const char *detail, struct tk_error *err)
{
	struct tk_stage_row row = {.night_id = n->night_id,
	        .name = stage,
	        .status = status,
	        .started_s = started_s,
	        .finished_s = status == TK_STAGE_RUNNING ? 0 : tk_clock_now_s(),
	        .detail = detail};
	return tk_store_put_stage(n->store, &row, err);
}

static int run_stage(struct tk_night *n, const struct stage *s, struct tk_error *err)
{
	struct tk_error why = {0};
	int64_t started_s = tk_clock_now_s();
	tk_night_announce_stage(n, s->name, "");
	int status = mark(n, s->name, TK_STAGE_RUNNING, started_s, "", err);
	if (status != TK_OK)
		return status;
	status = s->run(n, &why);
	if (status == TK_OK)
		return mark(n, s->name, TK_STAGE_DONE, started_s, "", err);
	/* A stage that was stopped stays "running": that is what --resume looks for. */
	if (status == TK_ECANCELED || status == TK_ENOSPC)
		return tk_fail(err, status, "%s: %s", s->name, why.message);
	mark(n, s->name, TK_STAGE_FAILED, started_s, why.message, NULL);
	n->report->stages_failed++;
	if (!s->fatal) {
		tk_log(TK_LOG_ERROR, "stage_failed", NULL, "%s: %s", s->name, why.message);
		return TK_OK;
	}
	/* The command that ends with it says it on stderr. */
	tk_fail(err, status, "%s: %s", s->name, why.message);
	tk_log_record(TK_LOG_ERROR, "stage_failed", NULL, err->message);
	return status;
}

static enum tk_night_kind kind_of(const struct tk_night_options *o)
{
	return o->backfill_revision ? TK_NIGHT_BACKFILL : TK_NIGHT_NIGHTLY;
}

/* The newest unfinished night of this kind: a backfill that was stopped knows its revision no more,
 * it is run again. */
static int find_unfinished(struct tk_night *n, bool *found, struct tk_error *err)
{
	struct tk_rows nights = {0};
	int status = tk_store_list_nights(n->store, &nights, err);
	*found = false;
	for (size_t i = 0; status == TK_OK && i < nights.count && !*found; i++) {
		const struct tk_night_row *row = TK_ROWS_AT(&nights, struct tk_night_row, i);
		if (row->status != TK_NIGHT_RUNNING || row->machine_id != n->machine_id ||
		        row->kind != kind_of(n->options))
			continue;
		*found = true;
		n->night_id = row->id;
		n->as_of_s = row->as_of_s;
		n->started_s = row->started_s;
		n->seed = (uint64_t)row->seed;
		json_t *summary = json_loads(row->summary, 0, NULL);
		n->asked = json_incref(json_object_get(summary, "asked"));
		json_decref(summary);
	}
	tk_rows_free(&nights);
	return status;
}

/* It goes on with what it was begun with: other flags would be other jobs. */
static int resume_as_begun(struct tk_night *n, struct tk_night_options *o, struct tk_error *err)
{
	if (o->seed && (o->seed & INT64_MAX) != n->seed)
		return tk_fail(err, TK_EUSAGE,
		        "--seed=%llu: the night that is stopped has the seed %llu; leave it out to "
		        "go on",
		        (unsigned long long)o->seed, (unsigned long long)n->seed);
	return n->asked ? tk_night_request_restore(n->asked, o, &n->asked_devices, err) : TK_OK;
}

/* A night that was stopped and never resumed is closed before the next begins: what it stored
 * stays, what it planned is not run. */
static int close_abandoned(struct tk_night *n, struct tk_error *err)
{
	struct tk_rows nights = {0};
	int status = tk_store_list_nights(n->store, &nights, err);
	for (size_t i = 0; status == TK_OK && i < nights.count; i++) {
		const struct tk_night_row *row = TK_ROWS_AT(&nights, struct tk_night_row, i);
		if (row->status == TK_NIGHT_RUNNING && row->machine_id == n->machine_id)
			status = tk_store_finish_night(n->store, row->id, TK_NIGHT_INCOMPLETE,
			        "{\"abandoned\":true}", n->started_s, err);
	}
	tk_rows_free(&nights);
	return status;
}

static int begin_night(struct tk_night *n, struct tk_error *err)
{
	const struct tk_night_options *o = n->options;
	n->as_of_s = o->backfill_revision ? o->backfill_as_of_s : n->started_s;
	/* what is given is what is stored: a night's order is repeated with the seed that it shows
	 */
	n->seed = o->seed ? o->seed & INT64_MAX
	                  : tk_splitmix64(
	                            (uint64_t)n->started_s ^ (uint64_t)tk_clock_monotonic_ns()) >>
	                            1;
	int status = tk_night_request_encode(o, &n->asked, err);
	if (status != TK_OK)
		return status;
	json_t *summary = json_pack("{s:O}", "asked", n->asked);
	char *text = summary ? json_dumps(summary, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_decref(summary);
	if (!text)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	struct tk_night_row row = {.machine_id = n->machine_id,
	        .kind = kind_of(o),
	        .as_of_s = n->as_of_s,
	        .started_s = n->started_s,
	        .status = TK_NIGHT_RUNNING,
	        .seed = (int64_t)n->seed,
	        .config_hash = n->config->hash,
	        .tracker_version = TK_VERSION,
	        .summary = text};
	status = tk_store_begin_night(n->store, &row, &n->night_id, err);
	free(text);
	return status;
}

int tk_night_put_machine(struct tk_night *n, struct tk_error *err)
{
	struct utsname u;
	uname(&u);
	json_t *a = json_pack(
	        "{s:s,s:s,s:s}", "hostname", u.nodename, "system", u.sysname, "arch", u.machine);
	char *text = a ? json_dumps(a, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
	json_decref(a);
	struct tk_machine_row row = {.name = n->config->machine, .attributes = text ? text : "{}"};
	int status = tk_store_put_machine(n->store, &row, &n->machine_id, err);
	free(text);
	return status;
}

/* The stages that an earlier part of this night has done, as a bit for each row of the table. */
static unsigned stages_done(struct tk_night *n)
{
	struct tk_rows rows = {0};
	unsigned done = 0;
	if (tk_store_list_stages(n->store, n->night_id, &rows, NULL) != TK_OK)
		return 0;
	for (size_t i = 0; i < rows.count; i++) {
		const struct tk_stage_row *row = TK_ROWS_AT(&rows, struct tk_stage_row, i);
		for (size_t k = 0; k < sizeof stages / sizeof *stages; k++)
			if (strcmp(stages[k].name, row->name) == 0 && row->status == TK_STAGE_DONE)
				done |= 1u << k;
	}
	tk_rows_free(&rows);
	return done;
}

static bool planned(unsigned done)
{
	for (size_t k = 0; k < sizeof stages / sizeof *stages; k++)
		if (strcmp(stages[k].name, "plan") == 0)
			return done >> k & 1;
	return false;
}

static int run_stages(struct tk_night *n, unsigned done, struct tk_error *err)
{
	bool have_plan = planned(done);
	int status = TK_OK;
	for (size_t i = 0; status == TK_OK && i < sizeof stages / sizeof *stages; i++)
		if (stages[i].again || !have_plan)
			status = run_stage(n, &stages[i], err);
	return status;
}

static json_t *summary_of(const struct tk_night_report *r, json_t *asked)
{
	json_t *summary = json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:f}", "builds",
	        (json_int_t)r->builds, "builds_failed", (json_int_t)r->builds_failed, "unreachable",
	        (json_int_t)r->upstreams_unreachable, "jobs", (json_int_t)r->jobs, "measured",
	        (json_int_t)r->measured, "verified", (json_int_t)r->verified, "wrong",
	        (json_int_t)r->wrong, "failed", (json_int_t)r->failed, "unsupported",
	        (json_int_t)r->unsupported, "skipped", (json_int_t)r->skipped, "wall_s", r->wall_s);
	json_object_set_new(summary, "unstable", json_integer((json_int_t)r->unstable));
	json_object_set_new(summary, "suspects", json_integer((json_int_t)r->suspects));
	json_object_set_new(summary, "pairs", json_integer((json_int_t)r->pairs));
	if (asked)
		json_object_set(summary, "asked", asked);
	for (size_t i = 0; summary && i < TK_VERDICT_STATUS_COUNT; i++)
		json_object_set_new(summary, tk_verdict_status_name((enum tk_verdict_status)i),
		        json_integer((json_int_t)r->by_status[i]));
	return summary;
}

/* Writes how the night ended; a night that was stopped stays "running", to be resumed. */
static int close_night(struct tk_night *n, int status, struct tk_error *err)
{
	struct tk_night_report *r = n->report;
	r->wall_s = (double)(tk_clock_monotonic_ns() - n->started_mono_ns) / 1e9;
	r->complete = status == TK_OK && !r->failed && !r->wrong && !r->skipped &&
	              !r->builds_failed && !r->upstreams_unreachable && !r->stages_failed;
	if (status == TK_ECANCELED || status == TK_ENOSPC)
		return status;
	json_t *summary = summary_of(r, n->asked);
	char *text = summary ? json_dumps(summary, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_decref(summary);
	enum tk_night_status ended = status != TK_OK ? TK_NIGHT_FAILED
	                             : r->complete   ? TK_NIGHT_COMPLETE
	                                             : TK_NIGHT_INCOMPLETE;
	struct tk_error own = {0};
	int put = tk_store_finish_night(
	        n->store, n->night_id, ended, text ? text : "{}", tk_clock_now_s(), &own);
	free(text);
	if (status == TK_OK && put != TK_OK)
		return tk_fail(err, put, "%s", own.message);
	return status;
}

/* Closes the night, then publishes it: once more after a site that could not be written, which
 * makes the night incomplete. */
static int finish_night(struct tk_night *n, int status, struct tk_error *err)
{
	status = close_night(n, status, err);
	if (status != TK_OK)
		return status;
	size_t failed = n->report->stages_failed;
	status = run_stage(n, &publish, err);
	return status == TK_OK && n->report->stages_failed > failed ? close_night(n, status, err)
	                                                            : status;
}

void tk_night_free(struct tk_night *n)
{
	for (size_t i = 0; i < n->device_count;
	        i++) /* drivers take their time to end a process, too */
		tk_night_device_request_stop(&n->devices[i]);
	for (size_t i = 0; i < n->device_count; i++)
		tk_night_device_close(&n->devices[i]);
	for (size_t i = 0; i < n->product_count; i++)
		for (size_t k = 0; k < n->products[i].artifact_count; k++)
			tk_artifact_free(n->products[i].artifacts[k]);
	free(n->devices);
	free(n->products);
	tk_modules_free(n->modules);
	json_decref(n->asked);
	free(n->asked_devices);
}

static int name_night(struct tk_night *n, struct tk_error *err)
{
	struct tk_rows nights = {0};
	int status = tk_store_list_nights(n->store, &nights, err);
	for (size_t i = 0; status == TK_OK && i < nights.count; i++)
		if (TK_ROWS_AT(&nights, struct tk_night_row, i)->id == n->night_id)
			snprintf(n->report->uid, sizeof n->report->uid, "%s",
			        TK_ROWS_AT(&nights, struct tk_night_row, i)->uid);
	tk_rows_free(&nights);
	return status;
}

static int start_or_resume(
        struct tk_night *n, struct tk_night_options *own, unsigned *done, struct tk_error *err)
{
	bool found = false;
	int status = tk_night_put_machine(n, err);
	*done = 0;
	if (status != TK_OK)
		return status;
	if (n->options->resume) {
		if ((status = find_unfinished(n, &found, err)) != TK_OK)
			return status;
		if (!found)
			return tk_fail(err, TK_ENOTFOUND,
			        "there is no unfinished night of machine %s to resume",
			        n->config->machine);
		if ((status = resume_as_begun(n, own, err)) != TK_OK)
			return status;
		*done = stages_done(n);
	} else if ((status = close_abandoned(n, err)) != TK_OK ||
	           (status = begin_night(n, err)) != TK_OK) {
		return status;
	}
	n->report->night_id = n->night_id;
	return name_night(n, err);
}

int tk_night_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, struct tk_night_report *report,
        struct tk_error *err)
{
	struct tk_night_options own = *options;
	struct tk_night n = {.config = config,
	        .store = store,
	        .options = &own,
	        .report = report,
	        .started_s = tk_clock_now_s(),
	        .started_mono_ns = tk_clock_monotonic_ns()};
	struct tk_lock *lock = NULL;
	struct tk_buf lock_path = TK_BUF_INIT;
	unsigned done = 0;
	*report = (struct tk_night_report){0};
	tk_buf_add_printf(&lock_path, "%s.lock", tk_store_path(store));
	int status = tk_lock_acquire(tk_buf_cstr(&lock_path), &lock, err);
	if (status != TK_OK)
		status = tk_error_add_context(err, "another night is under way");
	if (status == TK_OK)
		status = tk_modules_load(options->program, &n.modules, err);
	if (status == TK_OK && (status = start_or_resume(&n, &own, &done, err)) == TK_OK) {
		status = run_stages(&n, done, err);
		status = finish_night(&n, status, err);
	}
	tk_night_free(&n);
	tk_lock_release(lock);
	tk_buf_free(&lock_path);
	return status;
}
