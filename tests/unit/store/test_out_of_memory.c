/* Every allocation that fails while a history is read or written, SQLite's included: the call says
 * so, and the history has all of its change or nothing. */
#include "alloc_sweep.h"
#include "base/buf.h"
#include "base/file.h"
#include "history.h"
#include "store/kernel_report.h"
#include "store/tuning.h"
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const changing[] = {"machine", "device", "environment", "upstream", "revision",
        "build", "problem", "series", "night", "run", "measurement", "sample", "tuning",
        "kernel_report"};
#define TABLES (sizeof changing / sizeof *changing)

/* A history, and a copy of its file that each call begins with. */
struct rig {
	struct history h, other;
	struct tk_buf file; /* of h */
	size_t counts[TABLES], counts_after[TABLES];
	const char *path; /* of an import */
	const char *format;
	size_t written; /* calls that succeeded */
};

static int set_up(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));

	history_new(&r->h);
	history_fill(&r->h);
	for (int64_t seq = 1; seq <= 3; seq++)
		MUST(history_put_run(&r->h, seq, 100 + (double)seq, 5, NULL, &err));
	*state = r;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *r = *state;

	tk_buf_free(&r->file);
	history_free(&r->h);
	free(r);
	return 0;
}

static void count_rows(struct rig *r, size_t counts[TABLES])
{
	char sql[2000] = "";
	sqlite3_stmt *stmt;
	sqlite3 *db;

	for (size_t i = 0; i < TABLES; i++)
		snprintf(sql + strlen(sql), sizeof sql - strlen(sql), "%s(SELECT count(*) FROM %s)",
		        i ? "," : "SELECT ", changing[i]);
	assert_int_equal(sqlite3_open_v2(r->h.path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	for (size_t i = 0; i < TABLES; i++)
		counts[i] = (size_t)sqlite3_column_int64(stmt, (int)i);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

/* Keeps the file as it is now. */
static void keep(struct rig *r)
{
	count_rows(r, r->counts);
	r->written = 0;
	tk_store_close(r->h.store);
	r->h.store = NULL;
	MUST(tk_file_read(r->h.path, 0, &r->file, &err));
}

static void remove_file(struct rig *r, const char *ending)
{
	char path[128];

	snprintf(path, sizeof path, "%s%s", r->h.path, ending);
	unlink(path);
}

static void restore(void *arg)
{
	struct rig *r = arg;

	tk_store_close(r->h.store);
	r->h.store = NULL;
	remove_file(r, "-wal");
	remove_file(r, "-shm");
	MUST(tk_file_write_nosync(r->h.path, r->file.data, r->file.len, &err));
	MUST(tk_store_open(r->h.path, TK_STORE_WRITE, &r->h.store, &err));
}

/* After a call that writes: all of it or nothing, and the next call has its way. */
static void all_or_nothing(void *arg, int status)
{
	struct rig *r = arg;
	size_t now[TABLES];

	count_rows(r, now);
	if (status) {
		assert_memory_equal(now, r->counts, sizeof now);
	} else if (!r->written++) {
		memcpy(r->counts_after, now, sizeof now);
		assert_memory_not_equal(now, r->counts, sizeof now);
	} else {
		assert_memory_equal(now, r->counts_after, sizeof now);
	}
	if (status) /* the same handle can still be used */
		MUST(history_put_run(&r->h, 99, 1, 2, NULL, &err));
}

static int import(void *arg, struct tk_error *err)
{
	struct rig *r = arg;
	const struct tk_import_request request = {.format = r->format,
	        .paths = &r->path,
	        .path_count = 1,
	        .machine = "other",
	        .at_s = 1700000000};
	struct tk_import_counts counts = {0};

	return tk_store_import(r->h.store, &request, &counts, err);
}

static void sweep_write(struct rig *r, const char *name, int (*call)(void *, struct tk_error *))
{
	keep(r);
	/* Jansson calls a text malformed that it has no memory for. */
	alloc_sweep(&(struct alloc_sweep){.name = name,
	        .arg = r,
	        .call = call,
	        .before = restore,
	        .after = all_or_nothing,
	        .may_succeed = true,
	        .slow = r->other.store || call == import,
	        .other_status = call == import ? TK_EDATA : 0});
}

static int open_again(void *arg, struct tk_error *err)
{
	struct rig *r = arg;
	struct tk_store *s;
	int status = tk_store_open(r->h.path, TK_STORE_CREATE, &s, err);

	if (!status)
		tk_store_close(s);
	return status;
}

static void remove_history(void *arg)
{
	struct rig *r = arg;

	tk_store_close(r->h.store);
	r->h.store = NULL;
	remove_file(r, "");
	remove_file(r, "-wal");
	remove_file(r, "-shm");
}

static void opening(void **state)
{
	struct rig *r = *state;

	keep(r);
	alloc_sweep(&(struct alloc_sweep){
	        .name = "open", .arg = r, .call = open_again, .may_succeed = true});
	alloc_sweep(&(struct alloc_sweep){.name = "create",
	        .arg = r,
	        .call = open_again,
	        .before = remove_history,
	        .may_succeed = true});
}

static int put_run(void *arg, struct tk_error *err)
{
	struct rig *r = arg;

	return history_put_run(&r->h, 10, 500, 40, NULL, err);
}

static int put_tuning(void *arg, struct tk_error *err)
{
	struct rig *r = arg;
	int64_t id;
	int status = history_put_tuning(&r->h, 5000, &id, err);

	return status ? status : history_put_kernel_report(&r->h, 5000, &id, err);
}

static int put_series(void *arg, struct tk_error *err)
{
	struct rig *r = arg;
	const struct tk_series_row series = {.device_id = r->h.device,
	        .upstream_id = r->h.upstream,
	        .problem_id = r->h.problem,
	        .backend = "another",
	        .config = "",
	        .mode = "cold",
	        .metric = "time",
	        .unit = "ns",
	        .better = TK_BETTER_LOWER,
	        .role = TK_ROLE_SUITE};
	int64_t id;

	return tk_store_put_series(r->h.store, &series, &id, err);
}

static void writing_rows(void **state)
{
	struct rig *r = *state;

	sweep_write(r, "put_run", put_run);
	sweep_write(r, "put_series", put_series);
}

static void writing_results_of_tools(void **state)
{
	struct rig *r = *state;
	keep(r);
	/* Two transactions: one of them may be there. */
	alloc_sweep(&(struct alloc_sweep){.name = "put_tuning",
	        .arg = r,
	        .call = put_tuning,
	        .before = restore,
	        .may_succeed = true});
}

static int rename_machine(void *arg, struct tk_error *err)
{
	struct rig *r = arg;

	return tk_store_rename_machine(r->h.store, "box", "crate", err);
}

static void named_once(void *arg, int status)
{
	struct rig *r = arg;

	assert_int_equal(history_count(&r->h, "machine WHERE name='box'"), status ? 1 : 0);
	assert_int_equal(history_count(&r->h, "series WHERE slug LIKE 'crate.%'"), status ? 0 : 1);
}

static void renaming(void **state)
{
	struct rig *r = *state;

	keep(r);
	alloc_sweep(&(struct alloc_sweep){.name = "rename_machine",
	        .arg = r,
	        .call = rename_machine,
	        .slow = true,
	        .before = restore,
	        .after = named_once,
	        .may_succeed = true});
}

static int merge(void *arg, struct tk_error *err)
{
	struct rig *r = arg;

	return tk_store_merge(r->h.store, r->other.store, NULL, err);
}

static void merging(void **state)
{
	struct rig *r = *state;

	history_new(&r->other);
	history_fill(&r->other);
	for (int64_t seq = 20; seq <= 22; seq++)
		MUST(history_put_run(&r->other, seq, 7, 5, NULL, &err));
	sweep_write(r, "merge", merge);
	history_free(&r->other);
}

static void importing(void **state)
{
	static const struct {
		const char *format, *name, *text;
	} files[] = {
	        {"csv", "a.csv",
	                "series_id,time,commit,value\na,1600000000,c,5\nb,1600000000,c,6\n"},
	        {"kernels", "k.json",
	                "[{\"kernel\": \"k\", \"backend\": \"b\", \"latency_ms\": 1, \"x\": 1}]"},
	        {"google-benchmark", "g.json",
	                "{\"context\": {\"date\": \"2020-09-13T12:26:40+00:00\", \"host_name\": "
	                "\"h\"},"
	                " \"benchmarks\": [{\"name\": \"a\", \"real_time\": 5, \"time_unit\": "
	                "\"ns\"}]}"},
	        {"gemm-csv", "m.csv", "m,n,k,us\n64,64,64,10\n"},
	        {"hyperfine", "h.json",
	                "{\"results\": [{\"command\": \"ls\", \"mean\": 1, \"times\": [1, 2]}]}"},
	};
	struct rig *r = *state;
	char path[128];

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(path, sizeof path, "%s/%s", r->h.dir, files[i].name);
		MUST(tk_file_write(path, files[i].text, strlen(files[i].text), &err));
		r->path = path;
		r->format = files[i].format;
		sweep_write(r, files[i].name, import);
		restore(r);
	}
}

/* ---- reading --------------------------------------------------------------------------------- */

static int read_lists(void *arg, struct tk_error *err)
{
	struct rig *r = arg;
	struct tk_store *s = r->h.store;
	struct tk_rows rows;
	double *samples;
	size_t count;
	int status = tk_store_list_points(s, r->h.series, INT64_MIN, 0, &rows, err);

	if (status)
		return status;
	assert_int_equal(rows.count, 3);
	assert_true(TK_ROWS_AT(&rows, struct tk_point, 0)->value == 101);
	tk_rows_free(&rows);
	status = tk_store_list_series(s, &rows, err);
	if (status)
		return status;
	assert_int_equal(rows.count, 1);
	assert_string_equal(TK_ROWS_AT(&rows, struct tk_series_row, 0)->backend, "blas");
	tk_rows_free(&rows);
	status = tk_store_list_night_runs(s, r->h.night, &rows, err);
	if (status)
		return status;
	assert_int_equal(rows.count, 3);
	assert_string_equal(
	        TK_ROWS_AT(&rows, struct tk_run_row, 2)->attributes, "{\"stop\":\"tight\"}");
	count = (size_t)TK_ROWS_AT(&rows, struct tk_run_row, 2)->id;
	tk_rows_free(&rows);
	status = tk_store_read_samples(s, (int64_t)count, r->h.series, &samples, &count, err);
	if (status)
		return status;
	assert_int_equal(count, 5);
	assert_true(samples[0] == 103);
	free(samples);
	return TK_OK;
}

static int read_windows(void *arg, struct tk_error *err)
{
	struct rig *r = arg;
	struct tk_point_reader *reader = tk_point_reader_new();
	const struct tk_window_query query = {
	        .since_s = 1002, .until_s = 9999, .runs_s = 1002, .before = 10, .reader = reader};
	struct tk_rows windows, points;
	int status;

	if (!reader)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	status = tk_store_list_windows(r->h.store, &query, &windows, &points, err);
	if (!status) {
		const struct tk_history_window *w =
		        TK_ROWS_AT(&windows, struct tk_history_window, 0);

		assert_int_equal(windows.count, 1);
		assert_int_equal(points.count, 0); /* the window borrows those of the reader */
		assert_true(w->is_borrowed);
		assert_int_equal(w->before, 1);
		assert_int_equal(w->within, 2);
		tk_rows_free(&windows);
		tk_rows_free(&points);
	}
	tk_point_reader_free(reader);
	return status;
}

static int check(void *arg, struct tk_error *err)
{
	struct rig *r = arg;
	struct tk_rows problems;
	int status = tk_store_check(r->h.store, &problems, err);

	if (status)
		return status;
	if (problems.count)
		fail_msg("not damaged: %s", *TK_ROWS_AT(&problems, char *, 0));
	tk_rows_free(&problems);
	return TK_OK;
}

static void reading(void **state)
{
	static const struct {
		const char *name;
		int (*call)(void *arg, struct tk_error *err);
	} calls[] = {{"lists", read_lists}, {"windows", read_windows}, {"check", check}};
	struct rig *r = *state;

	keep(r);
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		alloc_sweep(&(struct alloc_sweep){.name = calls[i].name,
		        .arg = r,
		        .call = calls[i].call,
		        .before = restore,
		        .may_succeed = true});
}

/* ---- export ---------------------------------------------------------------------------------- */

static const char *exported_path(struct rig *r)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/exported", r->h.dir);
	return path;
}

static int export(struct rig *r, bool records, struct tk_error *err)
{
	int fd = open(exported_path(r), O_WRONLY | O_CREAT | O_TRUNC, 0600), status;

	assert_true(fd >= 0);
	status = records ? tk_store_export_records(
	                           r->h.store, INT64_MIN, 0, TK_RECORD_NDJSON, fd, err)
	                 : tk_store_export(r->h.store, fd, err);
	close(fd);
	return status;
}

static int export_records(void *arg, struct tk_error *err)
{
	return export(arg, true, err);
}

static int export_tables(void *arg, struct tk_error *err)
{
	return export(arg, false, err);
}

static struct tk_buf expected = TK_BUF_INIT;

/* What was exported without a failure is what is exported with one that was survived. */
static void same_export(void *arg, int status)
{
	struct tk_buf text = TK_BUF_INIT;

	if (status)
		return;
	MUST(tk_file_read(exported_path(arg), 0, &text, &err));
	assert_string_equal(tk_buf_cstr(&text), tk_buf_cstr(&expected));
	tk_buf_free(&text);
}

static void exporting(void **state)
{
	struct rig *r = *state;

	keep(r);
	for (int records = 0; records < 2; records++) {
		restore(r);
		MUST(export(r, records, &err));
		MUST(tk_file_read(exported_path(r), 0, &expected, &err));
		alloc_sweep(&(struct alloc_sweep){.name = records ? "export_records" : "export",
		        .arg = r,
		        .call = records ? export_records : export_tables,
		        .before = restore,
		        .after = same_export,
		        .may_succeed = true});
	}
	tk_buf_free(&expected);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(opening),
	        TEST(writing_rows),
	        TEST(writing_results_of_tools),
	        TEST(renaming),
	        TEST(merging),
	        TEST(importing),
	        TEST(reading),
	        TEST(exporting),
	};

	alloc_sweep_add_sqlite();
	alloc_sweep_add_jansson();
	return cmocka_run_group_tests_name("store out of memory", tests, NULL, NULL);
}
