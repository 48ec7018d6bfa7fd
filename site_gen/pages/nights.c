/* nights/: the list of nights, and a page for each: upstreams, builds, measurements, verdicts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "base/memory.h"
#include "core/outcome.h"
#include "site_gen/model/links.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"

#define LOG_BYTES 8000
#define FAILURES_MAX 200
#define VERDICTS_MAX 200
#define LIST_MAX 1000
#define DAY_S 86400

/* ---- one night ---- */

static int set_stages(
        struct tk_site *site, struct tk_value *page, int64_t night_id, struct tk_error *err)
{
	struct tk_rows stages = {0};
	char text[64];
	int status = tk_store_list_stages(site->model.store, night_id, &stages, err);
	struct tk_value *list = tk_value_set_list(site->arena, page, "stages");
	for (size_t i = 0; i < stages.count; i++) {
		const struct tk_stage_row *s = TK_ROWS_AT(&stages, struct tk_stage_row, i);
		struct tk_value *o = tk_value_append_object(site->arena, list);
		tk_page_set_clipped(site, o, "name", s->name, 40);
		tk_value_set(site->arena, o, "state", tk_stage_status_name(s->status));
		tk_page_set_tone(site, o, "tone", tk_stage_tone(s->status));
		tk_value_set(site->arena, o, "took",
		        s->finished_s ? tk_duration_format((double)(s->finished_s - s->started_s),
		                                text, sizeof text)
		                      : "–");
		tk_page_set_clipped(site, o, "detail", s->detail, 300);
	}
	tk_rows_free(&stages);
	return status;
}

static int set_build(struct tk_site *site, struct tk_value *o, const struct tk_build_row *build,
        struct tk_error *err)
{
	char *log = NULL;
	bool failed = build && build->status != TK_BUILD_OK;
	int status = failed ? tk_store_read_build_log(site->model.store, build->id, &log, err) : 0;
	size_t len = log ? strlen(log) : 0, skip = len > LOG_BYTES ? len - LOG_BYTES : 0;
	tk_page_set_build(site, o, build);
	tk_page_set_clipped(site, o, "build_message", build ? build->message : "", 400);
	tk_value_set(site->arena, o, "log", log ? log + skip : "");
	tk_value_set_flag(site->arena, o, "log_cut", skip > 0);
	free(log);
	return status;
}

static int set_resolutions(
        struct tk_site *site, struct tk_value *page, int64_t night_id, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_rows rows = {0};
	int status = tk_store_list_resolutions(m->store, night_id, &rows, err);
	struct tk_value *list = tk_value_set_list(site->arena, page, "upstreams");
	for (size_t i = 0; !status && i < rows.count; i++) {
		const struct tk_resolution_row *r = TK_ROWS_AT(&rows, struct tk_resolution_row, i);
		const struct tk_upstream_row *u =
		        tk_row_index_find(&m->upstreams_by_id, r->upstream_id);
		struct tk_value *o = tk_value_append_object(site->arena, list);
		char link[TK_LINK_SIZE];
		tk_page_set_clipped(site, o, "name", u ? u->name : "?", 60);
		tk_page_set_clipped(site, o, "url", u ? tk_link_strip_user(u->url, link) : "", 120);
		tk_value_set(site->arena, o, "state", tk_resolution_status_name(r->status));
		tk_page_set_tone(site, o, "tone", tk_resolution_tone(r->status));
		tk_page_set_clipped(site, o, "message", r->message, 300);
		tk_page_set_revision(
		        site, o, tk_row_index_find(&m->revisions_by_id, r->revision_id));
		status = set_build(site, o, tk_row_index_find(&m->builds_by_id, r->build_id), err);
	}
	tk_rows_free(&rows);
	return status;
}

static bool counts(const struct tk_run_row *run)
{
	return tk_outcome_has_timing(run->outcome);
}

static void add_outcome(struct tk_site *site, struct tk_value *list, const char *word,
        enum tk_tone tone, size_t count)
{
	struct tk_value *o = tk_value_append_object(site->arena, list);
	tk_page_set_clipped(site, o, "word", word, 30);
	tk_page_set_tone(site, o, "tone", tone);
	tk_value_set_int(site->arena, o, "count", (int64_t)count);
}

/* `runs`: those whose outcome is not ok. */
static void set_outcomes(
        struct tk_site *site, struct tk_value *page, const struct tk_rows *runs, size_t ok)
{
	struct tk_value *list = tk_value_set_list(site->arena, page, "outcomes");
	size_t known = 0;
	for (int w = 0; w < TK_OUTCOME_COUNT; w++) {
		size_t count = w == TK_OUTCOME_OK ? ok : 0;
		for (size_t i = 0; i < runs->count; i++)
			count += TK_ROWS_AT(runs, struct tk_run_row, i)->outcome ==
			         (enum tk_outcome)w;
		if (count)
			add_outcome(site, list, tk_outcome_name((enum tk_outcome)w),
			        tk_outcome_tone((enum tk_outcome)w), count);
		known += count;
	}
	if (known < ok + runs->count)
		add_outcome(site, list, "other", TK_TONE_QUIET, ok + runs->count - known);
}

static int failure_order(const void *a, const void *b)
{
	const struct tk_run_row *x = *(const struct tk_run_row *const *)a,
	                        *y = *(const struct tk_run_row *const *)b;
	int d = strcmp(tk_outcome_name(x->outcome), tk_outcome_name(y->outcome));
	if (!d)
		d = strcmp(x->message, y->message);
	return d ? d : x->series_id < y->series_id ? -1 : x->series_id > y->series_id;
}

/* Runs of one outcome and message as one row. */
static void add_failure(
        struct tk_site *site, struct tk_value *list, const struct tk_run_row *run, size_t count)
{
	const struct tk_site_series *s = tk_model_find_series(&site->model, run->series_id);
	struct tk_value *o = tk_value_append_object(site->arena, list);
	tk_value_set_fmt(site->arena, o, "href", "../series/%s.html", s->file);
	tk_page_set_clipped(site, o, "title", s->problem->title, 110);
	tk_page_set_clipped(site, o, "label", s->label, 60);
	tk_value_set_fmt(site->arena, o, "several", count > 1 ? "%zu" : "", count);
	tk_page_set_clipped(site, o, "outcome", tk_outcome_name(run->outcome), 30);
	tk_page_set_tone(site, o, "tone", tk_outcome_tone(run->outcome));
	tk_page_set_clipped(site, o, "message", run->message, 400);
}

static void set_failures(
        struct tk_site *site, struct tk_value *page, const struct tk_run_row **failed, size_t count)
{
	struct tk_value *list = tk_value_set_list(site->arena, page, "failures");
	size_t rows = 0;
	if (count)
		qsort(failed, count, sizeof *failed, failure_order);
	for (size_t i = 0, n; i < count; i += n, rows++) {
		for (n = 1; i + n < count && failed[i]->outcome == failed[i + n]->outcome &&
		            !strcmp(failed[i]->message, failed[i + n]->message);
		        n++)
			;
		n = n < TK_VERDICT_GROUP_MIN ? 1 : n;
		if (rows < FAILURES_MAX)
			add_failure(site, list, failed[i], n);
	}
	tk_value_set_int(site->arena, page, "failure_count", (int64_t)count);
	tk_value_set_flag(site->arena, page, "failures_cut", rows > FAILURES_MAX);
}

/* Reads only runs that are not ok: a site has many nights of thousands of runs. */
static int set_runs(
        struct tk_site *site, struct tk_value *page, int64_t night_id, struct tk_error *err)
{
	struct tk_rows runs = {0}, all = {0};
	size_t count = 0, jobs = 0;
	int status = tk_store_list_unsuccessful_runs(site->model.store, night_id, &runs, err);
	if (!status)
		status = tk_store_list_night_counts(
		        site->model.store, night_id, TK_COUNT_RUNS, &all, err);
	const struct tk_run_row **failed =
	        status ? NULL : tk_malloc((runs.count + 1) * sizeof *failed);
	if (!status && !failed)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status)
		jobs = (size_t)TK_ROWS_AT(&all, struct tk_group_count, 0)->count;
	size_t ok = status ? 0 : jobs - runs.count, measured = ok;
	set_outcomes(site, page, &runs, ok);
	for (size_t i = 0; failed && i < runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&runs, struct tk_run_row, i);
		measured += counts(run);
		if (!counts(run) && tk_model_find_series(&site->model, run->series_id))
			failed[count++] = run;
	}
	tk_value_set_int(site->arena, page, "jobs", (int64_t)jobs);
	tk_value_set_int(site->arena, page, "measured", (int64_t)measured);
	set_failures(site, page, failed, count);
	free(failed);
	tk_rows_free(&runs);
	tk_rows_free(&all);
	return status;
}

static int verdict_order(const void *a, const void *b)
{
	const struct tk_verdict_row *x = *(const struct tk_verdict_row *const *)a,
	                            *y = *(const struct tk_verdict_row *const *)b;
	int d = (int)x->status - (int)y->status;
	if (!d)
		d = !(isfinite(x->after_value) && isfinite(x->before_value)) -
		    !(isfinite(y->after_value) && isfinite(y->before_value));
	if (!d && !isfinite(x->after_value))
		d = strcmp(x->reason, y->reason);
	return d ? d : x->series_id < y->series_id ? -1 : x->series_id > y->series_id;
}

static void add_verdict(
        struct tk_site *site, struct tk_value *list, const struct tk_verdict_row *v, size_t count)
{
	const struct tk_site_series *s = tk_model_find_series(&site->model, v->series_id);
	char text[TK_FORMAT_SIZE];
	if (!s)
		return;
	struct tk_value *o = tk_value_append_object(site->arena, list);
	tk_value_set_fmt(site->arena, o, "href", "../series/%s.html", s->file);
	tk_page_set_clipped(site, o, "title", s->problem->title, 110);
	tk_page_set_clipped(site, o, "label", s->label, 60);
	tk_value_set(site->arena, o, "status", tk_verdict_status_name(v->status));
	tk_page_set_tone(site, o, "tone", tk_verdict_tone(v->status));
	tk_page_set_change(site, o, s, v->change);
	tk_value_set_flag(site->arena, o, "ab_confirmed", tk_verdict_has_ab_result(v));
	tk_value_set_fmt(site->arena, o, "several", count > 1 ? "%zu" : "", count);
	tk_value_set(site->arena, o, "before",
	        count > 1 ? "–" : tk_format_value(v->before_value, s->row->unit, text));
	tk_value_set(site->arena, o, "after", tk_format_value(v->after_value, s->row->unit, text));
	tk_page_set_reason(site, o, v->reason);
}

static int set_verdicts(
        struct tk_site *site, struct tk_value *page, int64_t night_id, struct tk_error *err)
{
	struct tk_rows rows = {0};
	size_t count = 0, quiet = 0;
	int status = tk_store_list_verdicts(site->model.store, night_id, &rows, err);
	const struct tk_verdict_row **listed =
	        status ? NULL : tk_malloc((rows.count + 1) * sizeof *listed);
	if (!status && !listed)
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; listed && i < rows.count; i++) {
		const struct tk_verdict_row *v = TK_ROWS_AT(&rows, struct tk_verdict_row, i);
		if (tk_verdict_tone(v->status) != TK_TONE_QUIET)
			listed[count++] = v;
		else
			quiet++;
	}
	if (count)
		qsort(listed, count, sizeof *listed, verdict_order);
	struct tk_value *list = tk_value_set_list(site->arena, page, "verdicts");
	for (size_t i = 0, n, lines = 0; i < count && lines < VERDICTS_MAX; i += n, lines++) {
		for (n = 1; i + n < count && tk_verdicts_are_alike(listed[i], listed[i + n]); n++)
			;
		n = n < TK_VERDICT_GROUP_MIN ? 1 : n;
		add_verdict(site, list, listed[i], n);
	}
	tk_value_set_int(site->arena, page, "quiet", (int64_t)quiet);
	tk_value_set_flag(site->arena, page, "analysed", rows.count > 0);
	free(listed);
	tk_rows_free(&rows);
	return status;
}

static void set_night(struct tk_site *site, struct tk_value *o, const struct tk_site_night *night)
{
	const struct tk_night_row *n = night->row;
	char text[64];
	bool past = llabs(n->started_s - n->as_of_s) >
	            DAY_S; /* it measured revisions of another day: a backfill or an import */
	tk_page_set_time(site, o, "when", n->as_of_s);
	tk_page_set_time(site, o, "started", n->started_s);
	tk_value_set(site->arena, o, "past", past ? tk_format_minute(n->as_of_s, text) : "");
	tk_page_set_clipped(site, o, "machine", night->machine->row->name, 60);
	tk_value_set_fmt(
	        site->arena, o, "machine_href", "../machines/%s.html", night->machine->file);
	tk_value_set(site->arena, o, "kind", tk_night_kind_name(n->kind));
	tk_value_set(site->arena, o, "state", tk_night_status_name(n->status));
	tk_page_set_tone(site, o, "tone", tk_night_tone(n->status));
	tk_value_set(site->arena, o, "took",
	        n->finished_s ? tk_duration_format(
	                                (double)(n->finished_s - n->started_s), text, sizeof text)
	                      : "not finished");
	tk_page_set_clipped(site, o, "version", n->tracker_version, 40);
	tk_value_set_flag(site->arena, o, "page", night->file != NULL);
	tk_value_set_fmt(site->arena, o, "href", "%s.html", night->file ? night->file : "");
}

static int write_night(struct tk_site *site, const struct tk_site_night *night, const char *path,
        struct tk_error *err)
{
	char title[200], when[TK_FORMAT_SIZE];
	snprintf(title, sizeof title, "Night of %s on %.*s",
	        tk_format_minute(night->row->as_of_s, when),
	        (int)tk_utf8_clip_len(night->machine->row->name, 80), night->machine->row->name);
	struct tk_value *page = tk_page_begin(site, path, title, TK_SECTION_NIGHTS);
	set_night(site, tk_value_set_object(site->arena, page, "night"), night);
	int status = set_stages(site, page, night->row->id, err);
	if (!status)
		status = set_resolutions(site, page, night->row->id, err);
	if (!status)
		status = set_runs(site, page, night->row->id, err);
	if (!status)
		status = set_verdicts(site, page, night->row->id, err);
	return status ? status : tk_page_finish(site, "night", path, err);
}

/* ---- the list ---- */

static int write_list(struct tk_site *site, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	struct tk_value *page =
	        tk_page_begin(site, "nights/index.html", "Nights", TK_SECTION_NIGHTS);
	struct tk_value *list = tk_value_set_list(site->arena, page, "nights");
	char text[TK_FORMAT_SIZE];
	for (size_t i = 0; i < m->night_count && i < LIST_MAX; i++)
		set_night(site, tk_value_append_object(site->arena, list), &m->nights[i]);
	tk_value_set(site->arena, page, "count", tk_format_count((int64_t)m->night_count, text));
	tk_value_set_flag(site->arena, page, "cut", m->night_count > LIST_MAX);
	return tk_page_finish(site, "nights", "nights/index.html", err);
}

int tk_page_write_nights(struct tk_site *site, struct tk_error *err)
{
	int status = write_list(site, err);
	for (size_t i = 0; !status && i < site->model.night_count; i++) {
		const struct tk_site_night *night = &site->model.nights[i];
		char path[128];
		if (!night->file)
			continue;
		snprintf(path, sizeof path, "nights/%s.html", night->file);
		status = write_night(site, night, path, err);
	}
	return status;
}
