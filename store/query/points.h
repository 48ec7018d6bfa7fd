/* Points without min and quantiles, as detection reads them. Private to store/query. */
#ifndef TK_STORE_QUERY_POINTS_H
#define TK_STORE_QUERY_POINTS_H
#include "store/db/internal.h"

#define TK_SELECT_POINTS \
	"SELECT as_of_s, run_id, night_id, build_id, environment_id, value, lo, hi, n, flags " \
	"FROM measurement "
/* A row of these columns; min and quantiles NAN. */
void tk_point_read(sqlite3_stmt *q, int64_t series_id, struct tk_point *p);
void tk_points_reverse(struct tk_point *p, size_t n);

#endif
