#include "history.h"
#include "base/base.h"
#include "empty_store.h"
#include "store/store.h"
#include "store/tuning.h"
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void history_new(struct history *h)
{
	memset(h, 0, sizeof(*h));
	snprintf(h->dir, sizeof(h->dir), "%s/tracker-store-XXXXXX",
	        access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"); /* fsync takes no time */
	assert_non_null(mkdtemp(h->dir));
	snprintf(h->path, sizeof(h->path), "%s/tracker.db", h->dir);
	MUST(empty_store_open(h->path, &h->store, &err));
}

void history_reopen(struct history *h, enum tk_store_mode mode)
{
	tk_store_close(h->store);
	h->store = NULL;
	MUST(tk_store_open(h->path, mode, &h->store, &err));
}

void history_free(struct history *h)
{
	tk_store_close(h->store);
	MUST(tk_dir_remove(h->dir, &err));
}

void history_fill(struct history *h)
{
	struct tk_store *s = h->store;
	struct tk_machine_row machine = {.name = "box", .attributes = "{\"cores\":2}"};
	MUST(tk_store_put(s, TK_TABLE_machine, &machine, &h->machine, &err));
	struct tk_device_row device = {.machine_id = h->machine,
	        .kind = "cpu",
	        .name = "Some CPU",
	        .arch = "x86-64-v4",
	        .slug = "cpu"};
	MUST(tk_store_put(s, TK_TABLE_device, &device, &h->device, &err));
	struct tk_environment_row environment = {
	        .device_id = h->device, .attributes = "{\"governor\":\"performance\"}"};
	MUST(tk_store_put(s, TK_TABLE_environment, &environment, &h->environment, &err));
	struct tk_upstream_row upstream = {
	        .name = "blas", .kind = "git", .url = "https://example.org/blas.git"};
	MUST(tk_store_put(s, TK_TABLE_upstream, &upstream, &h->upstream, &err));
	struct tk_revision_row revision = {.upstream_id = h->upstream,
	        .rev = "0123abcd",
	        .parent = "0122abcd",
	        .position = 7,
	        .author_time_s = 100,
	        .commit_time_s = 200,
	        .author = "A. N. Other",
	        .subject = "gemm: unroll"};
	MUST(tk_store_put(s, TK_TABLE_revision, &revision, &h->revision, &err));
	struct tk_build_row build = {.revision_id = h->revision,
	        .artifact_key = "key",
	        .adapter = "blas",
	        .toolchain = "gcc 12",
	        .flags = "-O2",
	        .arch = "native",
	        .status = TK_BUILD_OK,
	        .log = "a long log",
	        .wall_s = 1.5,
	        .size_bytes = 4096,
	        .built_s = 300};
	MUST(tk_store_put(s, TK_TABLE_build, &build, &h->build, &err));
	struct tk_problem_row problem = {.text = "gemm:a=f32,k=512,m=512,n=512",
	        .op = "gemm",
	        .dtype = "f32",
	        .title = "gemm f32 512x512x512 nn",
	        .flops = 268435456.0,
	        .bytes = 3145728.0,
	        .source = "smoke",
	        .family = "square"};
	MUST(tk_store_put(s, TK_TABLE_problem, &problem, &h->problem, &err));
	h->series = history_put_series(h, "blas", "cold", "time");
	struct tk_night_row night = {.machine_id = h->machine,
	        .kind = TK_NIGHT_NIGHTLY,
	        .as_of_s = 1000,
	        .started_s = 1000,
	        .status = TK_NIGHT_RUNNING,
	        .seed = 42,
	        .config_hash = "c",
	        .tracker_version = "0.1.0",
	        .summary = "{}"};
	MUST(tk_store_begin_night(s, &night, &h->night, &err));
}

int64_t history_put_series(
        struct history *h, const char *backend, const char *mode, const char *metric)
{
	const struct tk_series_row row = {.device_id = h->device,
	        .upstream_id = h->upstream,
	        .problem_id = h->problem,
	        .backend = backend,
	        .config = "",
	        .mode = mode,
	        .metric = metric,
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE};
	int64_t id;

	MUST(tk_store_put(h->store, TK_TABLE_series, &row, &id, &err));
	return id;
}

int history_set_up(void **state)
{
	struct history *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	history_new(h);
	history_fill(h);
	*state = h;
	return 0;
}

int history_tear_down(void **state)
{
	history_free(*state);
	free(*state);
	return 0;
}

int history_put_run(struct history *h, int64_t seq, double value, size_t samples, int64_t *id,
        struct tk_error *err)
{
	double *data = calloc(samples + 1, sizeof(*data));
	const double *const lists[] = {data};
	const size_t counts[] = {samples};
	struct tk_run_row run = {.night_id = h->night,
	        .seq = seq,
	        .series_id = h->series,
	        .build_id = h->build,
	        .environment_id = h->environment,
	        .as_of_s = 1000 + seq,
	        .started_s = 1100 + seq,
	        .wall_s = 0.25,
	        .outcome = TK_OUTCOME_OK,
	        .message = "",
	        .attributes = "{\"stop\":\"tight\"}"};
	struct tk_point point = {.series_id = h->series,
	        .value = value,
	        .lo = value - 1,
	        .hi = value + 1,
	        .min = value - 2,
	        .q25 = value - 0.5,
	        .q75 = value + 0.5,
	        .p95 = value + 3,
	        .n = (int64_t)samples,
	        .flags = TK_POINT_UNSTABLE};
	int status;

	if (!data)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	for (size_t i = 0; i < samples; i++)
		data[i] = value + (double)((i * 7919) % 1000) / 1000.0;
	status = tk_store_put_run(h->store, &run, &point, lists, counts, 1, id, err);
	free(data);
	return status;
}

int64_t history_put_build_of(const struct history *h, int64_t upstream_id, const char *rev,
        const char *key, int64_t *revision_id)
{
	const struct tk_revision_row revision = {
	        .upstream_id = upstream_id, .rev = rev, .parent = "", .author = "", .subject = ""};
	struct tk_build_row build = {.artifact_key = key,
	        .adapter = "blas",
	        .toolchain = "",
	        .flags = "",
	        .arch = "",
	        .status = TK_BUILD_OK,
	        .message = "",
	        .log = ""};
	int64_t id;

	MUST(tk_store_put(h->store, TK_TABLE_revision, &revision, &build.revision_id, &err));
	MUST(tk_store_put(h->store, TK_TABLE_build, &build, &id, &err));
	if (revision_id)
		*revision_id = build.revision_id;
	return id;
}

int64_t history_put_build(const struct history *h, const char *rev, int64_t *revision_id)
{
	return history_put_build_of(h, h->upstream, rev, rev, revision_id);
}

struct tk_tuning_row history_tuning_row(const struct history *h, int64_t started_s)
{
	return (struct tk_tuning_row){.device_id = h->device,
	        .environment_id = h->environment,
	        .problem_id = h->problem,
	        .upstream = "blas",
	        .revision = "abc",
	        .artifact_key = "key",
	        .backend = "blas",
	        .options = "threads=1",
	        .mode = "cold",
	        .started_s = started_s,
	        .verdict = TK_TUNE_VERDICT_FASTER,
	        .config = "fast",
	        .winner = "fast",
	        .default_ns = 200,
	        .winner_ns = 100,
	        .change = -0.5,
	        .change_lo = -0.51,
	        .change_hi = NAN,
	        .pair_count = 12,
	        .evaluation_count = 6,
	        .candidates = "[]"};
}

int history_put_tuning(struct history *h, int64_t started_s, int64_t *id, struct tk_error *err)
{
	const struct tk_tuning_row row = history_tuning_row(h, started_s);

	return tk_store_put(h->store, TK_TABLE_tuning, &row, id, err);
}

int history_put_kernel_report(
        struct history *h, int64_t started_s, int64_t *id, struct tk_error *err)
{
	struct tk_kernel_report_row row = {.device_id = h->device,
	        .environment_id = h->environment,
	        .problem_id = h->problem,
	        .kind = TK_KERNEL_REPORT_TRACE,
	        .upstream = "blas",
	        .revision = "abc",
	        .artifact_key = "key",
	        .backend = "blas",
	        .options = "threads=1",
	        .config = "fast",
	        .mode = "cold",
	        .base = "",
	        .started_s = started_s,
	        .result = "{\"schema\":\"tracker-trace/1\"}",
	        .timeline = "[1]"};

	return tk_store_put(h->store, TK_TABLE_kernel_report, &row, id, err);
}

void history_run_sql(struct history *h, const char *sql)
{
	char *why = NULL;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(h->path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s: %s", sql, why);
	sqlite3_close(db);
}

size_t history_count(struct history *h, const char *table)
{
	sqlite3 *db;
	sqlite3_stmt *stmt;
	char sql[128];

	assert_int_equal(sqlite3_open_v2(h->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	size_t count = (size_t)sqlite3_column_int64(stmt, 0);

	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return count;
}

char *history_read_file(FILE *f)
{
	struct tk_buf text = TK_BUF_INIT;
	char block[4096];

	rewind(f);
	for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
		tk_buf_add(&text, block, n);
	fclose(f);
	return tk_buf_detach(&text, NULL);
}

char *history_export(struct tk_store *s)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	MUST(tk_store_export(s, fileno(f), &err));
	return history_read_file(f);
}

char *history_export_records(struct tk_store *s, enum tk_record_format format)
{
	FILE *f = tmpfile();

	assert_non_null(f);
	MUST(tk_store_export_records(s, INT64_MIN, 0, format, fileno(f), &err));
	return history_read_file(f);
}

void history_expect_same(const char *what, char *ours, char *theirs)
{
	char *rest = ours, *other_rest = theirs, *line, *other;

	while ((line = strsep(&rest, "\n"))) {
		other = strsep(&other_rest, "\n");
		if (!other || strcmp(line, other))
			fail_msg("%s:\n%s\n%s", what, line, other ? other : "(the end)");
	}
	assert_null(other_rest);
	free(ours);
	free(theirs);
}
