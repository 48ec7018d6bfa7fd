/* Natural logarithms of points, which are computed once where points are kept. */
#ifndef TK_STORE_POINT_LOGS_H
#define TK_STORE_POINT_LOGS_H

struct tk_point;

struct tk_point_logs {
	double value;
	double interval; /* of hi / lo; 0: the point has no interval */
};
struct tk_point_logs tk_point_find_logs(const struct tk_point *p);

#endif
