/* The points of a series, and what is asked of all series at once. The primary key is the way to
 * the points, so they come in order. */
#include "base/base.h"
#include "store/db/internal.h"

void tk_points_reverse(struct tk_rows *points)
{
	struct tk_point *p = points->rows;

	for (size_t i = 0, n = points->count; i + 1 < n - i; i++) {
		struct tk_point keep = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = keep;
	}
}

int tk_store_list_points(struct tk_store *s, int64_t series_id, int64_t from_s, size_t last,
        struct tk_rows *out, struct tk_error *err)
{
	if (!last)
		return tk_store_list(s, TK_TABLE_measurement, "series_id=?1 AND as_of_s>=?2",
		        TK_ARGS(series_id, from_s), out, err);
	TRY(tk_store_list(s, TK_TABLE_measurement,
	        "series_id=?1 AND as_of_s>=?2 ORDER BY as_of_s DESC, run_id DESC LIMIT ?3",
	        TK_ARGS(series_id, from_s, last), out, err));
	tk_points_reverse(out);
	return 0;
}

#define WITH_LOGARITHM "AND value>0 AND value<9e999 " /* the last is infinity */
int tk_store_list_values(struct tk_store *s, int64_t series_id, int64_t before_s,
        struct tk_rows *out, struct tk_error *err)
{
	static const struct tk_db_column columns[] = {
	        TK_MEMBER(struct tk_timed_value, as_of_s), TK_MEMBER(struct tk_timed_value, value)};
	static const struct tk_row_type type = TK_ROW_TYPE(struct tk_timed_value, columns);

	return tk_store_select(s,
	        "SELECT as_of_s, value FROM measurement WHERE series_id=?1 AND "
	        "as_of_s<?2 " WITH_LOGARITHM "ORDER BY as_of_s, run_id",
	        TK_ARGS(series_id, before_s), &type, out, err);
}

int tk_store_list_first_points(struct tk_store *s, int64_t series_id, int64_t before_s, size_t most,
        struct tk_rows *out, struct tk_error *err)
{
	return tk_store_list(s, TK_TABLE_measurement,
	        "series_id=?1 AND as_of_s<?2 " WITH_LOGARITHM "ORDER BY as_of_s, run_id LIMIT ?3",
	        TK_ARGS(series_id, before_s, most), out, err);
}

int tk_store_list_last_points(struct tk_store *s, int64_t series_id, int64_t until_s, size_t skip,
        size_t most, struct tk_rows *out, struct tk_error *err)
{
	TRY(tk_store_list(s, TK_TABLE_measurement,
	        "series_id=?1 AND as_of_s<=?2 " WITH_LOGARITHM
	        "ORDER BY as_of_s DESC, run_id DESC LIMIT ?3 OFFSET ?4",
	        TK_ARGS(series_id, until_s, most, skip), out, err));
	tk_points_reverse(out);
	return 0;
}

int tk_store_has_executed_run(
        struct tk_store *s, int64_t series_id, int64_t since_s, bool *out, struct tk_error *err)
{
	int64_t found;

	TRY(tk_store_select_int(s,
	        "SELECT 1 FROM run WHERE series_id=?1 AND as_of_s>=?2"
	        " AND outcome NOT IN ('skipped', 'no_device') LIMIT 1",
	        TK_ARGS(series_id, since_s), 0, &found, err));
	*out = found;
	return 0;
}

int tk_store_find_revision_night(
        struct tk_store *s, int64_t revision_id, int64_t *night_id, struct tk_error *err)
{
	return tk_store_select_int(s,
	        "SELECT id FROM (SELECT n.id, n.as_of_s FROM resolution r"
	        " JOIN night n ON n.id = r.night_id WHERE r.revision_id=?1"
	        " UNION ALL SELECT night_id, as_of_s FROM run"
	        " WHERE build_id IN (SELECT id FROM build WHERE revision_id=?1))"
	        " ORDER BY as_of_s, id LIMIT 1",
	        TK_ARGS(revision_id), 0, night_id, err);
}
