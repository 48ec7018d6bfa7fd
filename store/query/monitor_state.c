/* The events that the monitor reported, and its state after the newest night. The state is valid
 * for this history file only: the monitor replays the nights if it is missing or belongs to another
 * history. */
#include "base/archive.h"
#include "base/memory.h"
#include "store/db/internal.h"
#include <stdlib.h>
#include <string.h>

#define NUMBERS_MAX ((size_t)1 << 30) /* bytes */

int tk_store_put_monitor_event(
        struct tk_store *s, const struct tk_monitor_event_row *row, struct tk_error *err)
{
	return tk_row_put(s, TK_TABLE_monitor_event, row, NULL, NULL, err);
}

int tk_store_put_monitored_night(
        struct tk_store *s, const struct tk_monitored_night_row *row, struct tk_error *err)
{
	return tk_row_put(s, TK_TABLE_monitored_night, row, NULL, NULL, err);
}

int tk_store_list_monitor_events(struct tk_store *s, int64_t since_s, int64_t until_s,
        struct tk_rows *out, struct tk_error *err)
{
	const int64_t args[] = {since_s, until_s};

	return tk_rows_select(s, TK_TABLE_monitor_event,
	        "WHERE as_of_s>=?1 AND as_of_s<=?2 ORDER BY as_of_s, series_id", args, 2, out, err);
}

int tk_store_list_monitored_nights(struct tk_store *s, struct tk_rows *out, struct tk_error *err)
{
	return tk_rows_select(s, TK_TABLE_monitored_night, "ORDER BY night_id", NULL, 0, out, err);
}

int tk_store_put_monitor_state(
        struct tk_store *s, const struct tk_monitor_state_row *row, struct tk_error *err)
{
	const int64_t args[] = {row->device_id, row->as_of_s, row->nights};
	struct tk_buf packed = TK_BUF_INIT;
	sqlite3_stmt *q;
	int rc, status = tk_db_check_writable(s, err);

	_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	        "numbers are stored as little-endian float64");
	if (!status)
		status = tk_zstd_compress(
		        row->numbers, row->count * sizeof *row->numbers, &packed, err);
	if (!status)
		status = tk_db_prepare_cached(s, TK_TABLE_COUNT,
		        "INSERT OR REPLACE INTO monitor_state(device_id, as_of_s, night_count, "
		        "options, "
		        "state) VALUES "
		        "(?1,?2,?3,?4,?5)",
		        args, 3, &q, err);
	if (!status) {
		sqlite3_bind_text(q, 4, row->options, -1, SQLITE_STATIC);
		sqlite3_bind_blob64(q, 5, packed.data, packed.len, SQLITE_STATIC);
		rc = sqlite3_step(q);
		if (rc != SQLITE_DONE)
			status = tk_db_fail(s, rc, err, "cannot store the state of the monitor");
		sqlite3_reset(q);
		sqlite3_clear_bindings(q);
	}
	tk_buf_free(&packed);
	return status;
}

static int read_watch(sqlite3_stmt *q, struct tk_monitor_state_row *out, struct tk_error *err)
{
	struct tk_buf numbers = TK_BUF_INIT;
	const char *options = (const char *)sqlite3_column_text(q, 2);
	int status = tk_zstd_decompress(sqlite3_column_blob(q, 3),
	        (size_t)sqlite3_column_bytes(q, 3), NUMBERS_MAX, &numbers, err);

	out->as_of_s = sqlite3_column_int64(q, 0);
	out->nights = sqlite3_column_int64(q, 1);
	out->options = options ? tk_strdup(options) : NULL;
	out->count = numbers.len / sizeof *out->numbers;
	out->numbers = (double *)(void *)numbers.data;
	if (!status && out->options)
		return 0;
	free((void *)out->options);
	tk_buf_free(&numbers);
	return tk_fail(err, TK_ENOTFOUND, "the state of the monitor cannot be read");
}

int tk_store_read_monitor_state(struct tk_store *s, int64_t device_id,
        struct tk_monitor_state_row *out, struct tk_error *err)
{
	struct tk_monitor_state_row row = {.device_id = device_id};
	sqlite3_stmt *q;
	int rc, status = tk_db_prepare_cached(s, TK_TABLE_COUNT,
	                "SELECT as_of_s, night_count, options, state FROM monitor_state WHERE "
	                "device_id=?1",
	                &device_id, 1, &q, err);

	if (status)
		return status;
	rc = sqlite3_step(q);
	if (rc == SQLITE_ROW)
		status = read_watch(q, &row, err);
	else if (rc == SQLITE_DONE)
		status = tk_fail(err, TK_ENOTFOUND, "the monitor has no state for this device");
	else
		status = tk_db_fail(s, rc, err, "cannot read the state of the monitor");
	sqlite3_reset(q);
	if (!status)
		*out = row;
	return status;
}

int tk_store_reset_monitor(
        struct tk_store *s, int64_t device_id, int64_t since_s, struct tk_error *err)
{
	const int64_t args[] = {device_id, since_s};
	int status =
	        tk_db_run_cached(s, "DELETE FROM monitor_state WHERE device_id=?1", args, 1, err);

	if (!status)
		status = tk_db_run_cached(s,
		        "DELETE FROM monitor_event WHERE as_of_s>=?2 AND series_id IN (SELECT id "
		        "FROM "
		        "series WHERE "
		        "device_id=?1)",
		        args, 2, err);
	if (!status)
		status = tk_db_run_cached(s,
		        "DELETE FROM monitored_night WHERE night_id IN (SELECT id FROM night WHERE "
		        "as_of_s>=?2 AND "
		        "machine_id=(SELECT machine_id FROM device WHERE id=?1))",
		        args, 2, err);
	return status;
}
