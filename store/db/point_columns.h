/* The columns of the table `measurement` but for its checksum, declared once: its descriptor, and
 * the statements that are written by hand because they handle millions of rows, are made of this
 * list. */
#ifndef TK_STORE_POINT_COLUMNS_H
#define TK_STORE_POINT_COLUMNS_H

/* member of struct tk_point and column, kind (REF, INT, U32, REAL), flags and parent as in
 * tables.c. `first` is applied to the first row, `next` to the others, for the commas of SQL. */
/* clang-format off */
#define TK_POINT_COLUMNS(first, next) \
	first(series_id, REF, KEY, series) \
	next(as_of_s, INT, KEY, ) \
	next(run_id, REF, KEY, run) \
	next(value, REAL, 0, ) \
	next(lo, REAL, NULLABLE, ) \
	next(hi, REAL, NULLABLE, ) \
	next(n, INT, 0, ) \
	next(min, REAL, NULLABLE, ) \
	next(q25, REAL, NULLABLE, ) \
	next(q75, REAL, NULLABLE, ) \
	next(p95, REAL, NULLABLE, ) \
	next(night_id, REF, 0, night) \
	next(build_id, REF, 0, build) \
	next(environment_id, REF, NULLABLE, environment) \
	next(flags, U32, 0, )
/* clang-format on */

/* "series_id, as_of_s, ..." and as many "?, ?, ..." */
#define TK_POINT_COLUMN_NAMES TK_POINT_COLUMNS(TK_POINT_NAME, TK_POINT_NEXT_NAME)
#define TK_POINT_PLACEHOLDERS TK_POINT_COLUMNS(TK_POINT_PLACE, TK_POINT_NEXT_PLACE)
#define TK_POINT_NAME(name, ...) #name
#define TK_POINT_NEXT_NAME(name, ...) ", " #name
#define TK_POINT_PLACE(...) "?"
#define TK_POINT_NEXT_PLACE(...) ", ?"

#endif
