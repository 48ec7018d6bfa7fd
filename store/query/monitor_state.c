/* The events that the monitor reported, and its state after the newest night. The state is valid
 * for this history file only: the monitor replays the nights if it is missing or belongs to another
 * history. */
#include "base/base.h"
#include "store/db/internal.h"

#define NUMBERS_MAX ((size_t)1 << 30) /* bytes */

int tk_store_put_monitor_state(
        struct tk_store *s, const struct tk_monitor_state_row *row, struct tk_error *err)
{
	AUTO(tk_buf) packed = {0};
	sqlite3_stmt *q;

	_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	        "numbers are stored as little-endian float64");
	TRY(tk_db_check_writable(s, err));
	TRY(tk_zstd_compress(row->numbers, row->count * sizeof *row->numbers, &packed, err));
	TRY(tk_db_prepare_args(s,
	        "INSERT OR REPLACE INTO monitor_state(device_id, as_of_s, night_count, options,"
	        " state) VALUES (?1,?2,?3,?4,?5)",
	        TK_ARGS(row->device_id, row->as_of_s, row->nights, row->options), &q, err));
	sqlite3_bind_blob64(q, 5, packed.data, packed.len, SQLITE_STATIC);
	int code = sqlite3_step(q);
	int status = code == SQLITE_DONE
	                     ? 0
	                     : tk_db_fail(s, code, err, "cannot store the state of the monitor");

	sqlite3_reset(q);
	sqlite3_clear_bindings(q);
	return status;
}

int tk_store_read_monitor_state(struct tk_store *s, int64_t device_id,
        struct tk_monitor_state_row *out, struct tk_error *err)
{
#define STATE(member) TK_MEMBER(struct stored_state, member)
	struct stored_state {
		int64_t as_of_s, night_count;
		const char *options;
		struct tk_bytes state;
	};
	static const struct tk_db_column columns[] = {STATE(as_of_s), STATE(night_count),
	        STATE(options),
	        {.name = "state",
	                .kind = TK_COL_BLOB,
	                .offset = offsetof(struct stored_state, state)}};
	static const struct tk_row_type type = TK_ROW_TYPE(struct stored_state, columns);
	AUTO(tk_rows) rows = {0};
	struct tk_buf numbers = TK_BUF_INIT;

	TRY(tk_store_select(s, "SELECT * FROM monitor_state WHERE device_id=?1", TK_ARGS(device_id),
	        &type, &rows, err));
	const struct stored_state *row = rows.rows;

	if (!row)
		return tk_fail(err, TK_ENOTFOUND, "the monitor has no state for this device");
	if (tk_zstd_decompress(row->state.data, row->state.size, NUMBERS_MAX, &numbers, NULL)) {
		tk_buf_free(&numbers);
		return tk_fail(err, TK_ENOTFOUND, "the state of the monitor cannot be read");
	}
	*out = (struct tk_monitor_state_row){device_id, row->as_of_s, row->night_count,
	        tk_strdup(row->options), (double *)(void *)numbers.data,
	        numbers.len / sizeof *out->numbers};
	return 0;
}

int tk_store_reset_monitor(
        struct tk_store *s, int64_t device_id, int64_t since_s, struct tk_error *err)
{
	TRY(tk_store_run(
	        s, "DELETE FROM monitor_state WHERE device_id=?1", TK_ARGS(device_id), err));
	TRY(tk_store_run(s,
	        "DELETE FROM monitor_event WHERE as_of_s>=?2"
	        " AND series_id IN (SELECT id FROM series WHERE device_id=?1)",
	        TK_ARGS(device_id, since_s), err));
	return tk_store_run(s,
	        "DELETE FROM monitored_night WHERE night_id IN (SELECT id FROM night"
	        " WHERE as_of_s>=?2 AND machine_id=(SELECT machine_id FROM device WHERE id=?1))",
	        TK_ARGS(device_id, since_s), err);
}
