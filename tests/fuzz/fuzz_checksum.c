/* Bytes as changes by hand of a history with two results: a row that differs from what was stored
 * is named by the check and refused by a merge, one that does not is taken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fuzz.h"
#include "sqlite_pool.h"
#include "store/db/internal.h"

#define MUST(call) \
	do { \
		if (call) { \
			fprintf(stderr, "%s: %s\n", #call, err.message); \
			abort(); \
		} \
	} while (0)

/* All that a checksum covers, with references as uids, and the checksums. */
#define COVERED \
	"SELECT (SELECT uid FROM series WHERE id=series_id), as_of_s," \
	" (SELECT uid FROM run WHERE id=run_id), value, lo, hi, n, min, q25, q75, p95," \
	" (SELECT uid FROM night WHERE id=night_id), (SELECT uid FROM build WHERE id=build_id)," \
	" CASE WHEN environment_id IS NOT NULL THEN" \
	" ifnull((SELECT uid FROM environment WHERE id=environment_id), 'no row') END, flags," \
	" checksum" \
	" FROM measurement WHERE run_id=?1"
#define COLUMNS 16
#define ROWS 2

static const char *const changes[] = {
        "UPDATE measurement SET as_of_s=?2 WHERE run_id=?1",
        "UPDATE measurement SET value=?2 WHERE run_id=?1",
        "UPDATE measurement SET lo=?2 WHERE run_id=?1",
        "UPDATE measurement SET hi=?2 WHERE run_id=?1",
        "UPDATE measurement SET n=?2 WHERE run_id=?1",
        "UPDATE measurement SET min=?2 WHERE run_id=?1",
        "UPDATE measurement SET q25=?2 WHERE run_id=?1",
        "UPDATE measurement SET q75=?2 WHERE run_id=?1",
        "UPDATE measurement SET p95=?2 WHERE run_id=?1",
        "UPDATE measurement SET night_id=?2 WHERE run_id=?1",
        "UPDATE measurement SET build_id=?2 WHERE run_id=?1",
        "UPDATE measurement SET environment_id=?2 WHERE run_id=?1",
        "UPDATE measurement SET flags=?2 WHERE run_id=?1",
        "UPDATE measurement SET checksum=?2 WHERE run_id=?1",
        "UPDATE measurement SET series_id=?2 WHERE run_id=?1",
        "UPDATE run SET uid=?2 WHERE id=?1",
        "UPDATE series SET uid=?2 WHERE id=?1",
        "UPDATE build SET uid=?2 WHERE id=?1",
        "UPDATE night SET uid=?2 WHERE id=?1",
        "UPDATE environment SET uid=?2 WHERE id=?1",
        "UPDATE run SET uid=uid||?2 WHERE id=?1",
        "UPDATE series SET uid=uid||?2 WHERE id=?1",
};
#define CHANGES (sizeof changes / sizeof changes[0])

static struct tk_store *store, *into;
static sqlite3_stmt *statements[CHANGES];
static sqlite3_value *original[ROWS][COLUMNS];

static void clean_up(void)
{
	for (size_t i = 0; i < CHANGES; i++)
		sqlite3_finalize(statements[i]);
	for (int i = 0; i < ROWS * COLUMNS; i++)
		sqlite3_value_free(original[i / COLUMNS][i % COLUMNS]);
	tk_store_close(into);
	tk_store_close(store);
}

/* ---- the history ----------------------------------------------------------------------------- */

static sqlite3_stmt *select_row(int row)
{
	const int64_t run_id = row + 1;
	struct tk_error err = {0};
	sqlite3_stmt *stmt;

	MUST(tk_db_prepare_args(store, COVERED, TK_ARGS(run_id), &stmt, &err));
	if (sqlite3_step(stmt) != SQLITE_ROW)
		abort();
	return stmt;
}

static void keep_original(void)
{
	for (int row = 0; row < ROWS; row++) {
		sqlite3_stmt *stmt = select_row(row);

		for (int i = 0; i < COLUMNS; i++)
			original[row][i] = sqlite3_value_dup(sqlite3_column_value(stmt, i));
		sqlite3_reset(stmt);
	}
}

static void put_run(int64_t seq, const struct tk_night_row *night, int64_t series_id,
        int64_t build_id, int64_t environment_id)
{
	struct tk_error err = {0};
	struct tk_run_row run = {.night_id = night->id,
	        .seq = seq,
	        .series_id = series_id,
	        .build_id = build_id,
	        .environment_id = environment_id,
	        .as_of_s = night->as_of_s,
	        .started_s = 1000 + seq,
	        .message = "",
	        .attributes = "{}"};
	struct tk_point point = {.series_id = series_id,
	        .value = 10.5,
	        .lo = 10,
	        .hi = 11,
	        .min = 0,
	        .q25 = 10.25,
	        .q75 = 10.75,
	        .p95 = 12,
	        .n = 7,
	        .flags = TK_POINT_UNSTABLE};

	MUST(tk_store_put_run(store, &run, &point, NULL, NULL, 1, NULL, &err));
}

static void fill(void)
{
	struct tk_error err = {0};
	struct tk_machine_row machine = {.name = "box", .attributes = "{}"};
	struct tk_device_row device = {
	        .kind = "cpu", .name = "CPU", .uuid = "u", .arch = "x", .slug = "cpu"};
	struct tk_environment_row environment = {.attributes = "{}"};
	struct tk_upstream_row upstream = {.name = "blas", .kind = "git", .url = ""};
	struct tk_revision_row revision = {.rev = "0123"};
	struct tk_build_row build = {.artifact_key = "k", .adapter = "a", .status = TK_BUILD_OK};
	struct tk_problem_row problem = {
	        .text = "gemm", .op = "gemm", .dtype = "f32", .title = "t"};
	struct tk_series_row series = {
	        .backend = "blas", .config = "", .mode = "cold", .metric = "time", .unit = "ns"};
	struct tk_night_row night = {.as_of_s = 1000, .started_s = 1000, .summary = "{}"};

	MUST(tk_store_put(store, TK_TABLE_machine, &machine, &machine.id, &err));
	device.machine_id = night.machine_id = machine.id;
	MUST(tk_store_put(store, TK_TABLE_device, &device, &device.id, &err));
	environment.device_id = series.device_id = device.id;
	MUST(tk_store_put(store, TK_TABLE_environment, &environment, &environment.id, &err));
	MUST(tk_store_put(store, TK_TABLE_upstream, &upstream, &upstream.id, &err));
	revision.upstream_id = series.upstream_id = upstream.id;
	MUST(tk_store_put(store, TK_TABLE_revision, &revision, &revision.id, &err));
	build.revision_id = revision.id;
	MUST(tk_store_put(store, TK_TABLE_build, &build, &build.id, &err));
	MUST(tk_store_put(store, TK_TABLE_problem, &problem, &problem.id, &err));
	series.problem_id = problem.id;
	MUST(tk_store_put(store, TK_TABLE_series, &series, &series.id, &err));
	MUST(tk_store_begin_night(store, &night, &night.id, &err));
	for (int64_t seq = 0; seq < ROWS; seq++)
		put_run(seq, &night, series.id, build.id, seq ? environment.id : 0);
}

static void set_up(void)
{
	struct tk_error err = {0};

	tk_fuzz_pool_sqlite();
	MUST(tk_db_open_temporary(&store, &err));
	MUST(tk_db_open_temporary(&into, &err));
	MUST(tk_store_merge(into, store, NULL, &err)); /* makes the temporary tables */
	store->is_trusted = false;                     /* a merge checks its rows */
	fill();
	for (size_t i = 0; i < CHANGES; i++)
		MUST(tk_db_prepare(store, changes[i], &statements[i], &err));
	keep_original();
	atexit(clean_up);
}

/* ---- changes from bytes ---------------------------------------------------------------------- */

struct input {
	const uint8_t *data;
	size_t size;
};

static unsigned take_byte(struct input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

static void take_value(struct input *in, sqlite3_stmt *stmt)
{
	enum { INTEGER, REAL, SMALL, NOTHING, TEXT, KINDS } kind = take_byte(in) % KINDS;
	size_t size = in->size < 8 ? in->size : 8;
	char bytes[8] = {0};
	int64_t integer;
	double real;

	memcpy(bytes, in->data, size);
	memcpy(&integer, bytes, sizeof integer);
	memcpy(&real, bytes, sizeof real);
	in->data += size;
	in->size -= size;
	if (kind == INTEGER)
		sqlite3_bind_int64(stmt, 2, integer);
	else if (kind == REAL)
		sqlite3_bind_double(stmt, 2, real);
	else if (kind == SMALL)
		sqlite3_bind_int64(stmt, 2, bytes[0]);
	else if (kind == TEXT)
		sqlite3_bind_text(stmt, 2, bytes, (int)size, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(stmt, 2);
}

/* What the schema does not allow changes nothing. */
static void change(struct input *in)
{
	sqlite3_stmt *stmt = statements[take_byte(in) % CHANGES];

	sqlite3_bind_int64(stmt, 1, 1 + take_byte(in) % ROWS);
	take_value(in, stmt);
	sqlite3_step(stmt);
	sqlite3_reset(stmt);
}

/* ---- what must hold -------------------------------------------------------------------------- */

static bool is_equal(sqlite3_value *a, sqlite3_value *b)
{
	int type = sqlite3_value_type(a);

	if (type != sqlite3_value_type(b))
		return false;
	if (type == SQLITE_INTEGER)
		return sqlite3_value_int64(a) == sqlite3_value_int64(b);
	if (type == SQLITE_FLOAT)
		return sqlite3_value_double(a) == sqlite3_value_double(b);
	return type == SQLITE_NULL || (sqlite3_value_bytes(a) == sqlite3_value_bytes(b) &&
	                                      !memcmp(sqlite3_value_text(a), sqlite3_value_text(b),
	                                              (size_t)sqlite3_value_bytes(a)));
}

static size_t count_changed_rows(void)
{
	size_t count = 0;

	for (int row = 0; row < ROWS; row++) {
		sqlite3_stmt *stmt = select_row(row);
		bool is_changed = false;

		for (int i = 0; i < COLUMNS; i++) {
			sqlite3_value *now = sqlite3_value_dup(sqlite3_column_value(stmt, i));

			is_changed |= !is_equal(original[row][i], now);
			sqlite3_value_free(now);
		}
		sqlite3_reset(stmt);
		count += is_changed;
	}
	return count;
}

static void check_merge(bool is_changed)
{
	struct tk_error err = {0};
	int64_t count = 0;

	MUST(tk_store_begin(into, &err));
	int status = tk_store_merge(into, store, NULL, &err);

	MUST(tk_store_select_int(
	        into, "SELECT count(*) FROM measurement", TK_NO_ARGS, 0, &count, &err));
	if (is_changed ? status != TK_EDATA || count : status || count != ROWS) {
		fprintf(stderr, "merge: %d, %d rows: %s\n", status, (int)count, err.message);
		abort();
	}
	tk_store_rollback(into);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct tk_rows rows = {0};
	struct tk_error err = {0};

	if (!store)
		set_up();
	MUST(tk_store_begin(store, &err));
	for (int i = 0; i < 4 && in.size; i++)
		change(&in);
	size_t changed = count_changed_rows(), listed = 0;

	MUST(tk_store_check(store, &rows, &err));
	for (size_t i = 0; i < rows.count; i++)
		listed += !strncmp(*TK_ROWS_AT(&rows, char *, i), "measurement of run", 18);
	if (listed != changed) {
		fprintf(stderr, "%zu rows changed, %zu listed\n", changed, listed);
		abort();
	}
	tk_rows_free(&rows);
	check_merge(changed > 0);
	tk_store_rollback(store);
	return 0;
}
