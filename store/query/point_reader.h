/* The points of all series around ranges that move forward in time: each is read once instead of
 * once for each range. Private to store/query. */
#ifndef TK_STORE_POINT_READER_H
#define TK_STORE_POINT_READER_H
#include "store/db/handle.h"
#include "store/point_logs.h"
#include "store/readers.h"

#define TK_SELECT_POINTS \
	"SELECT as_of_s, run_id, night_id, build_id, environment_id, value, lo, hi, n, flags " \
	"FROM measurement "
#define TK_POINTS_NEWEST_FIRST \
	TK_SELECT_POINTS \
	"WHERE series_id=?1 AND as_of_s<=?2 ORDER BY as_of_s DESC, run_id DESC"
/* A row of these columns; min and quantiles NAN. */
void tk_point_read(sqlite3_stmt *q, int64_t series_id, struct tk_point *p);
void tk_points_reverse(struct tk_point *p, size_t n);
/* Of a series without a point in the range the newest one is enough: there is nothing to
 * compare. */
static inline size_t tk_window_before_max(const struct tk_window_query *w, size_t within)
{
	return within || !w->before ? w->before : 1;
}

/* at[0 .. before) are before the range, at[before .. before + within) in it. They are valid until
 * the next call for this series. */
struct tk_point_span {
	const struct tk_point *at;
	const struct tk_point_logs *logs; /* one for each point */
	size_t before, within;
	bool is_known;     /* else the range begins before what is kept */
	bool all_positive; /* every value has a logarithm */
};
/* From then on threads can find points of this series while others find those of others. */
int tk_point_reader_add(struct tk_point_reader *p, int64_t series_id, struct tk_error *err);
/* Whether tk_point_reader_find() uses no store. */
bool tk_point_reader_has(const struct tk_window_query *w, int64_t series_id);
/* For such threads; NULL: out of memory. */
struct tk_store_readers *tk_point_reader_connections(
        struct tk_point_reader *p, const struct tk_store *s);
int tk_point_reader_find(struct tk_store *s, const struct tk_window_query *w, int64_t series_id,
        struct tk_point_span *out, struct tk_error *err);

#endif
