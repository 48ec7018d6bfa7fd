#include "import_rig.h"
#include "base/base.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void import_rig_new(struct import_rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	history_new(&rig->history);
	snprintf(rig->path, sizeof(rig->path), "%s/file", rig->history.dir);
}

void import_rig_free(struct import_rig *rig)
{
	tk_import_counts_free(&rig->counts);
	history_free(&rig->history);
}

int import_rig_read(struct import_rig *rig, struct tk_import_request request, const char *text,
        struct tk_error *err)
{
	const char *path = rig->path;
	int status = tk_file_write(path, text, strlen(text), err);

	if (status)
		return status;
	request.paths = &path;
	request.path_count = 1;
	tk_import_counts_free(&rig->counts);
	return tk_store_import(rig->history.store, &request, &rig->counts, err);
}

/* ---- series ---------------------------------------------------------------------------------- */

static void add_point(struct tk_buf *out, const struct tk_point *p)
{
	const struct {
		const char *name;
		double value;
	} parts[] = {{"lo", p->lo}, {"hi", p->hi}, {"min", p->min}, {"q25", p->q25},
	        {"q75", p->q75}, {"p95", p->p95}};
	size_t count = 0;

	tk_buf_add_printf(out, " %.6g@%lld", p->value, (long long)p->as_of_s);
	if (p->n != 1)
		tk_buf_add_printf(out, "%sn=%lld", count++ ? " " : "[", (long long)p->n);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!isnan(parts[i].value))
			tk_buf_add_printf(out, "%s%s=%.6g", count++ ? " " : "[", parts[i].name,
			        parts[i].value);
	tk_buf_add_str(out, count ? "]" : "");
}

static char *describe_series(
        struct tk_store *s, const struct tk_series_row *row, const char *format)
{
	struct tk_rows points = {0}, problems = {0};
	struct tk_buf line = TK_BUF_INIT;

	MUST(tk_store_list(s, TK_TABLE_problem, NULL, TK_NO_ARGS, &problems, &err));
	MUST(tk_store_list_points(s, row->id, INT64_MIN, 0, &points, &err));
	for (size_t i = 0; i < problems.count; i++) {
		const struct tk_problem_row *p = TK_ROWS_AT(&problems, struct tk_problem_row, i);

		if (p->id != row->problem_id)
			continue;
		tk_buf_add_printf(&line, "%s %s %s %s", p->title, row->metric, row->unit,
		        row->better == TK_BETTER_LOWER ? "lower" : "higher");
		if (strcmp(row->backend, format))
			tk_buf_add_printf(&line, " backend=%s", row->backend);
		if (*row->config)
			tk_buf_add_printf(&line, " config=%s", row->config);
		if (*p->dtype)
			tk_buf_add_printf(&line, " dtype=%s", p->dtype);
		if (*p->family)
			tk_buf_add_printf(&line, " family=%s", p->family);
	}
	tk_buf_add_char(&line, ':');
	for (size_t i = 0; i < points.count; i++)
		add_point(&line, TK_ROWS_AT(&points, struct tk_point, i));
	tk_rows_free(&points);
	tk_rows_free(&problems);
	return tk_buf_detach(&line, NULL);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Takes the lines and sorts them. */
static char *join_lines(char **lines, size_t count)
{
	struct tk_buf out = TK_BUF_INIT;

	qsort(lines, count, sizeof *lines, by_text);
	tk_buf_add_str(&out, "");
	for (size_t i = 0; i < count; i++) {
		tk_buf_add_printf(&out, "%s\n", lines[i]);
		free(lines[i]);
	}
	return tk_buf_detach(&out, NULL);
}

char *import_rig_series(struct import_rig *rig, const char *format)
{
	struct tk_rows all = {0};
	char *lines[64];

	MUST(tk_store_list(rig->history.store, TK_TABLE_series, NULL, TK_NO_ARGS, &all, &err));
	assert_true(all.count <= 64);
	for (size_t i = 0; i < all.count; i++)
		lines[i] = describe_series(
		        rig->history.store, TK_ROWS_AT(&all, struct tk_series_row, i), format);
	char *text = join_lines(lines, all.count);

	tk_rows_free(&all);
	return text;
}

/* ---- places ---------------------------------------------------------------------------------- */

char *import_rig_places(struct import_rig *rig)
{
	struct tk_store *s = rig->history.store;
	struct tk_rows machines = {0}, devices = {0}, upstreams = {0};
	struct tk_buf out = TK_BUF_INIT;

	MUST(tk_store_list(s, TK_TABLE_machine, NULL, TK_NO_ARGS, &machines, &err));
	MUST(tk_store_list(s, TK_TABLE_device, NULL, TK_NO_ARGS, &devices, &err));
	MUST(tk_store_list(s, TK_TABLE_upstream, NULL, TK_NO_ARGS, &upstreams, &err));
	for (size_t i = 0; i < machines.count; i++) {
		const struct tk_machine_row *m = TK_ROWS_AT(&machines, struct tk_machine_row, i);

		tk_buf_add_printf(&out, "machine %s %s\n", m->name, m->attributes);
	}
	for (size_t i = 0; i < devices.count; i++) {
		const struct tk_device_row *d = TK_ROWS_AT(&devices, struct tk_device_row, i);

		tk_buf_add_printf(
		        &out, "device %s%s%s\n", d->name, *d->arch ? " of " : "", d->arch);
	}
	for (size_t i = 0; i < upstreams.count; i++) {
		const struct tk_upstream_row *u = TK_ROWS_AT(&upstreams, struct tk_upstream_row, i);

		tk_buf_add_printf(
		        &out, "upstream %s%s%s\n", u->name, *u->url ? " from " : "", u->url);
	}
	tk_rows_free(&machines);
	tk_rows_free(&devices);
	tk_rows_free(&upstreams);
	return tk_buf_detach(&out, NULL);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static const struct tk_revision_row *revision_of_build(
        const struct tk_rows *builds, const struct tk_rows *revisions, int64_t build_id)
{
	int64_t revision_id = 0;

	for (size_t i = 0; i < builds->count; i++)
		if (TK_ROWS_AT(builds, struct tk_build_row, i)->id == build_id)
			revision_id = TK_ROWS_AT(builds, struct tk_build_row, i)->revision_id;
	for (size_t i = 0; i < revisions->count; i++)
		if (TK_ROWS_AT(revisions, struct tk_revision_row, i)->id == revision_id)
			return TK_ROWS_AT(revisions, struct tk_revision_row, i);
	fail_msg("a run without a revision");
	return NULL;
}

char *import_rig_runs(struct import_rig *rig)
{
	struct tk_store *s = rig->history.store;
	struct tk_rows nights = {0}, builds = {0}, revisions = {0};
	struct tk_buf out = TK_BUF_INIT;

	MUST(tk_store_list(s, TK_TABLE_night, NULL, TK_NO_ARGS, &nights, &err));
	MUST(tk_store_list(s, TK_TABLE_build, NULL, TK_NO_ARGS, &builds, &err));
	MUST(tk_store_list(s, TK_TABLE_revision, NULL, TK_NO_ARGS, &revisions, &err));
	tk_buf_add_str(&out, "");
	for (size_t i = nights.count; i-- > 0;) {
		struct tk_rows runs = {0};

		MUST(tk_store_list(s, TK_TABLE_run, "night_id=?1 ORDER BY seq",
		        TK_ARGS(TK_ROWS_AT(&nights, struct tk_night_row, i)->id), &runs, &err));
		for (size_t k = 0; k < runs.count; k++) {
			const struct tk_run_row *run = TK_ROWS_AT(&runs, struct tk_run_row, k);
			const struct tk_revision_row *r =
			        revision_of_build(&builds, &revisions, run->build_id);

			tk_buf_add_printf(&out, "%lld %s %s: %s %s\n", (long long)run->as_of_s,
			        r->rev, r->author, r->subject, run->attributes);
		}
		tk_rows_free(&runs);
	}
	tk_rows_free(&nights);
	tk_rows_free(&builds);
	tk_rows_free(&revisions);
	return tk_buf_detach(&out, NULL);
}

/* ---- a history for each text ----------------------------------------------------------------- */

static void read_new(struct import_rig *rig, struct tk_import_request request, const char *text)
{
	import_rig_new(rig);
	MUST(import_rig_read(rig, request, text, &err));
}

char *import_series(struct tk_import_request request, const char *text)
{
	struct import_rig rig;
	char *out;

	read_new(&rig, request, text);
	out = import_rig_series(&rig, request.format);
	import_rig_free(&rig);
	return out;
}

char *import_places(struct tk_import_request request, const char *text)
{
	struct import_rig rig;
	char *out;

	read_new(&rig, request, text);
	out = import_rig_places(&rig);
	import_rig_free(&rig);
	return out;
}

char *import_runs(struct tk_import_request request, const char *text)
{
	struct import_rig rig;
	char *out;

	read_new(&rig, request, text);
	out = import_rig_runs(&rig);
	import_rig_free(&rig);
	return out;
}

/* Imports that fail leave nothing behind, so that one history does for all of them. */
static struct import_rig empty;

static void free_empty(void)
{
	import_rig_free(&empty);
}

static void expect_no_rows(struct tk_store *s)
{
	struct tk_rows machines = {0}, nights = {0};

	MUST(tk_store_list(s, TK_TABLE_machine, NULL, TK_NO_ARGS, &machines, &err));
	MUST(tk_store_list(s, TK_TABLE_night, NULL, TK_NO_ARGS, &nights, &err));
	assert_int_equal(machines.count, 0);
	assert_int_equal(nights.count, 0);
	tk_rows_free(&machines);
	tk_rows_free(&nights);
}

void import_must_fail(struct tk_import_request request, const char *text, const char *words)
{
	struct tk_error err = {0};

	if (!empty.history.store) {
		import_rig_new(&empty);
		atexit(free_empty);
	}
	int status = import_rig_read(&empty, request, text, &err);

	if (status != TK_EDATA || !strstr(err.message, words))
		fail_msg("%s: %s, \"%s\" instead of \"%s\"", text, tk_status_name(status),
		        err.message, words);
	expect_no_rows(empty.history.store);
}
