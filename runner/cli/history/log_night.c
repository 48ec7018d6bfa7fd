/* One night in full: stages, upstreams, failures. */
#include "cli/history/log.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/rate.h"
#include "core/outcome.h"
#include "detect/detect.h"
#include "stats/summary/summary.h"

static const struct tk_column stage_columns[] = {{"STAGE", 0}, {"STATUS", 0},
        {"TOOK", TK_COLUMN_RIGHT}, {"DETAIL", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL}, {0}};
static const struct tk_column upstream_columns[] = {{"UPSTREAM", 0}, {"STATUS", 0},
        {"REVISION", TK_COLUMN_OPTIONAL}, {"SUBJECT", TK_COLUMN_CUT | TK_COLUMN_OPTIONAL},
        {"BUILD", TK_COLUMN_OPTIONAL}, {"MESSAGE", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL}, {0}};
static const struct tk_column failure_columns[] = {{"RUN", TK_COLUMN_RIGHT}, {"OUTCOME", 0},
        {"SERIES", 0}, {"MESSAGE", TK_COLUMN_WRAP | TK_COLUMN_OPTIONAL}, {0}};

/* How near the timings of a night are to the peaks of their devices. */
struct peak_summary {
	size_t count; /* of timings with a known peak */
	double median, best;
	const char *best_series;
};

struct night_detail {
	struct tk_rows stages, resolutions, runs;
	struct peak_summary peak;
};

static void detail_free(struct night_detail *d)
{
	tk_rows_free(&d->stages);
	tk_rows_free(&d->resolutions);
	tk_rows_free(&d->runs);
}

/* NAN: the run has no timing, or its device no known peak. */
static int read_peak_share(struct tk_store *s, const struct tk_lookup *l,
        const struct tk_run_row *run, double *share, struct tk_error *err)
{
	struct tk_rows points = {0};
	int status = 0;

	*share = NAN;
	if (tk_outcome_has_timing(run->outcome))
		status = tk_store_list_run_points(s, run, &points, err);
	if (!status && points.count)
		*share = tk_rate_from_point(l, TK_ROWS_AT(&points, struct tk_point, 0)).peak_share;
	tk_rows_free(&points);
	return status;
}

static int summarize_peak(
        struct tk_store *s, const struct tk_lookup *l, struct night_detail *d, struct tk_error *err)
{
	double *shares = tk_calloc(d->runs.count + 1, sizeof *shares);
	struct peak_summary *p = &d->peak;
	int status = shares ? 0 : tk_fail(err, TK_ENOMEM, "out of memory");

	for (size_t i = 0; !status && i < d->runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&d->runs, struct tk_run_row, i);
		const struct tk_series_row *series = tk_lookup_series(l, run->series_id);
		double share;

		if (!series || series->role != TK_ROLE_SUITE)
			continue;
		status = read_peak_share(s, l, run, &share, err);
		if (status || isnan(share))
			continue;
		if (share > p->best) {
			p->best = share;
			p->best_series = series->slug;
		}
		shares[p->count++] = share;
	}
	if (!status && p->count)
		p->median = tk_median(shares, p->count);
	free(shares);
	return status;
}

static void print_peak(const struct peak_summary *p)
{
	char median[TK_FORMAT_SIZE], best[TK_FORMAT_SIZE];

	if (!p->count)
		return;
	printf("\nof the data sheet's peak: median %s of %zu timings, best %s (",
	        tk_format_percent(p->median, median), p->count, tk_format_percent(p->best, best));
	tk_text_write_sanitized(stdout, p->best_series, "");
	puts(")");
}

static json_t *peak_json(const struct peak_summary *p)
{
	return p->count ? json_pack("{s:I,s:f,s:f,s:s}", "count", (json_int_t)p->count, "median",
	                          p->median, "best", p->best, "best_series", p->best_series)
	                : json_null();
}

static bool is_failure(const struct tk_run_row *run)
{
	return !tk_outcome_has_timing(run->outcome) && run->outcome != TK_OUTCOME_UNSUPPORTED;
}

/* The history stores whole seconds. */
static const char *stage_took(const struct tk_stage_row *stage, char *text, size_t size)
{
	const int64_t took_s = stage->finished_s - stage->started_s;

	return !stage->finished_s ? "-"
	       : took_s < 1       ? "< 1 s"
	                          : tk_duration_format((double)took_s, text, size);
}

/* With an empty line above, where it has rows. Frees the table. */
static int finish_table(struct tk_table *t, struct tk_error *err)
{
	int status;

	if (tk_table_row_count(t))
		puts("");
	status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

static int print_stages(
        const struct tk_globals *g, const struct night_detail *d, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, stage_columns);
	int status;

	for (size_t i = 0; i < d->stages.count; i++) {
		const struct tk_stage_row *stage = TK_ROWS_AT(&d->stages, struct tk_stage_row, i);
		char text[64];

		tk_table_add_row(t);
		tk_table_set_cell(t, "STAGE", "%s", stage->name);
		tk_table_set_cell(t, "STATUS", "%s", tk_stage_status_name(stage->status));
		if (stage->status == TK_STAGE_FAILED)
			tk_table_set_color(t, "STATUS", "red");
		tk_table_set_cell(t, "TOOK", "%s", stage_took(stage, text, sizeof text));
		tk_table_set_cell(
		        t, "DETAIL", "%s", strcmp(stage->detail, "{}") ? stage->detail : "");
	}
	status = tk_table_print(t, stdout, err);
	tk_table_free(t);
	return status;
}

static int print_upstreams(const struct tk_globals *g, const struct night_detail *d,
        const struct tk_lookup *l, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, upstream_columns);

	for (size_t i = 0; i < d->resolutions.count; i++) {
		const struct tk_resolution_row *r =
		        TK_ROWS_AT(&d->resolutions, struct tk_resolution_row, i);
		const struct tk_upstream_row *upstream = tk_lookup_upstream(l, r->upstream_id);
		const struct tk_revision_row *revision = tk_lookup_revision(l, r->revision_id);
		const struct tk_build_row *build = tk_lookup_build(l, r->build_id);

		tk_table_add_row(t);
		tk_table_set_cell(t, "UPSTREAM", "%s", upstream ? upstream->name : "?");
		tk_table_set_cell(t, "STATUS", "%s", tk_resolution_status_name(r->status));
		if (r->status == TK_RESOLUTION_UNREACHABLE || r->status == TK_RESOLUTION_FAILED)
			tk_table_set_color(t, "STATUS", "red");
		tk_table_set_cell(t, "REVISION", "%.12s", revision ? revision->rev : "");
		tk_table_set_cell(t, "SUBJECT", "%s", revision ? revision->subject : "");
		tk_table_set_cell(
		        t, "BUILD", "%s", build ? tk_build_status_name(build->status) : "");
		tk_table_set_cell(
		        t, "MESSAGE", "%s", *r->message || !build ? r->message : build->message);
	}
	return finish_table(t, err);
}

static int print_failures(const struct tk_globals *g, const struct night_detail *d,
        const struct tk_lookup *l, struct tk_error *err)
{
	struct tk_table *t = tk_table_new(g, failure_columns);

	for (size_t i = 0; i < d->runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&d->runs, struct tk_run_row, i);
		const struct tk_series_row *series = tk_lookup_series(l, run->series_id);

		if (!is_failure(run))
			continue;
		tk_table_add_row(t);
		tk_table_set_cell(t, "RUN", "%" PRId64, run->id);
		tk_table_set_cell(t, "OUTCOME", "%s", tk_outcome_name(run->outcome));
		tk_table_set_color(t, "OUTCOME", "red");
		tk_table_set_cell(t, "SERIES", "%s", series ? series->slug : "?");
		tk_table_set_cell(t, "MESSAGE", "%s", run->message);
	}
	return finish_table(t, err);
}

static json_t *detail_json(json_t *night, const struct night_detail *d, const struct tk_lookup *l)
{
	json_t *stages = json_array(), *upstreams = json_array(), *failures = json_array();

	for (size_t i = 0; i < d->stages.count; i++) {
		const struct tk_stage_row *stage = TK_ROWS_AT(&d->stages, struct tk_stage_row, i);

		json_array_append_new(
		        stages, json_pack("{s:s,s:s,s:I,s:I,s:s}", "name", stage->name, "status",
		                        tk_stage_status_name(stage->status), "started_s",
		                        (json_int_t)stage->started_s, "finished_s",
		                        (json_int_t)stage->finished_s, "detail", stage->detail));
	}
	for (size_t i = 0; i < d->resolutions.count; i++) {
		const struct tk_resolution_row *r =
		        TK_ROWS_AT(&d->resolutions, struct tk_resolution_row, i);
		const struct tk_upstream_row *upstream = tk_lookup_upstream(l, r->upstream_id);
		const struct tk_revision_row *revision = tk_lookup_revision(l, r->revision_id);
		const struct tk_build_row *build = tk_lookup_build(l, r->build_id);

		json_array_append_new(
		        upstreams, json_pack("{s:s,s:s,s:s?,s:s?,s:s?,s:s}", "upstream",
		                           upstream ? upstream->name : "?", "status",
		                           tk_resolution_status_name(r->status), "revision",
		                           revision ? revision->rev : NULL, "subject",
		                           revision ? revision->subject : NULL, "build",
		                           build ? tk_build_status_name(build->status) : NULL,
		                           "message", r->message));
	}
	for (size_t i = 0; i < d->runs.count; i++) {
		const struct tk_run_row *run = TK_ROWS_AT(&d->runs, struct tk_run_row, i);
		const struct tk_series_row *series = tk_lookup_series(l, run->series_id);

		if (is_failure(run))
			json_array_append_new(failures,
			        json_pack("{s:I,s:s,s:s,s:s}", "run", (json_int_t)run->id,
			                "outcome", tk_outcome_name(run->outcome), "series",
			                series ? series->slug : "?", "message", run->message));
	}
	json_object_set_new(night, "stages", stages);
	json_object_set_new(night, "upstreams", upstreams);
	json_object_set_new(night, "failures", failures);
	json_object_set_new(night, "peak_share", peak_json(&d->peak));
	return night;
}

int tk_log_print_night(struct tk_store *s, const struct tk_globals *g,
        const struct tk_log_options *o, const struct tk_night_row *night, const struct tk_lookup *l,
        struct tk_error *err)
{
	struct night_detail d = {0};
	struct tk_night_counts c;
	struct tk_table *t = NULL;
	int status = tk_night_count(s, night->id, &c, err);

	if (!status)
		status = tk_night_find_revision(s, night, l, &c, err);
	if (!status)
		status = tk_store_list(
		        s, TK_TABLE_stage, "night_id=?1", TK_ARGS(night->id), &d.stages, err);
	if (!status)
		status = tk_store_list(s, TK_TABLE_resolution, "night_id=?1", TK_ARGS(night->id),
		        &d.resolutions, err);
	if (!status)
		status = tk_store_list(s, TK_TABLE_run, "night_id=?1 ORDER BY seq",
		        TK_ARGS(night->id), &d.runs, err);
	if (!status)
		status = summarize_peak(s, l, &d, err);
	if (!status && o->json) {
		status =
		        tk_command_print_json(detail_json(tk_night_json(night, &c, l), &d, l), err);
	} else if (!status) {
		t = tk_table_new(g, tk_night_columns);
		tk_night_add_row(t, night, &c, l);
		status = tk_table_print(t, stdout, err);
		if (!status && tk_night_can_resume(night))
			printf("\n%s\n", tk_night_resume_hint);
		if (d.stages.count)
			puts("");
		if (!status)
			status = print_stages(g, &d, err);
		if (!status)
			status = print_upstreams(g, &d, l, err);
		if (!status)
			print_peak(&d.peak);
		if (!status)
			status = print_failures(g, &d, l, err);
	}
	tk_table_free(t);
	detail_free(&d);
	return status;
}
