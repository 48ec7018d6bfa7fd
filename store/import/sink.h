/* The state of the sink, which sink.c fills and points.c writes. */
#ifndef TK_STORE_IMPORT_SINK_H
#define TK_STORE_IMPORT_SINK_H
#include "store/import/import.h"

struct series_entry {
	char *key; /* device, upstream and what the file says of the series */
	int64_t id;
	char *unit;                /* that is stored */
	char *written;             /* the unit of the last point, where it is another one */
	double ratio;              /* from that */
	struct series_entry *next; /* that of the point that followed last time */
	size_t run;                /* + 1, of the newest point */
	char *column;              /* that the values of this run are from; NULL: unknown */
};

struct import_place {
	int64_t machine_id, device_id, upstream_id, environment_id;
};

struct import_run {
	char *key; /* place, revision, time */
	struct import_place place;
	int64_t night_id, build_id, run_id;
	int64_t time_s, as_of_s; /* as the file says; the place on the axis of time */
	bool is_placed;          /* as_of_s is */
	int64_t position;        /* in the repository; 0: unknown */
	char *revision, *author, *subject;
	json_t *own, *attributes; /* of the run; of its results, by their names */
	size_t number;
};

enum statistic { SAMPLE, MEDIAN, MEAN, MIN, LO, HI, Q25, Q75, P95, COUNT };

struct import_point {
	struct tk_point point; /* run_id: the number of the run + 1 */
	enum statistic statistic;
};

/* The series of a unit whose direction nobody knows. */
struct unknown_unit {
	char *unit, *file, *series;
	size_t count;
};

struct import_failure {
	struct import_place place;
	size_t run; /* its number */
	enum tk_outcome outcome;
	const char *series, *backend, *config, *metric, *message;
	char *texts; /* of these */
};

struct tk_import_state {
	struct tk_import_row file; /* what its results have in common: copies */
	json_t *file_attributes;
	struct import_place place; /* of place_key */
	struct tk_buf place_key;
	void *series;              /* tsearch: struct series_entry */
	struct series_entry *last; /* of the point before */
	void *runs_by_key;         /* tsearch: struct import_run, of this file */
	struct import_run **runs, *last_run;
	size_t run_count, run_cap, first_run; /* first_run: of this file */
	struct import_point *points;
	size_t point_count, point_cap, pending; /* pending: of this file */
	int64_t file_time_s;                    /* 0: not asked yet */
	struct import_order *orders;            /* order.c: of the runs of this file */
	size_t order_count, order_cap;
	struct unknown_unit *unknown;
	size_t unknown_count;
	struct import_failure *failures;
	size_t failure_count, failure_cap;
	char *unit_text; /* of `unit`, that of the last result */
	struct tk_import_unit unit;
	struct tk_buf key;
};

/* series.c: the series of a point, made where it is new; *factor: from the point to its unit. */
int tk_import_find_series(struct tk_import_sink *s, const struct tk_import_row *p,
        const char *metric, const struct tk_import_unit *u, struct series_entry **out,
        double *factor, struct tk_error *err);
/* Keeps a failure of the last run. */
void tk_import_add_failure(
        struct tk_import_sink *s, const struct tk_import_row *p, enum tk_outcome outcome);
void tk_import_series_free(struct tk_import_state *st);

/* order.c: the last run has a place in the order of a series; INT64_MIN: none. */
void tk_import_note_order(struct tk_import_state *st, int64_t series, int64_t order);
/* Sets the times of the runs of the file to be in order. */
void tk_import_order_runs(struct tk_import_sink *s);
/* NULL: none, or not in the repository. */
const struct tk_import_commit *tk_import_find_commit(
        const struct tk_import_request *r, const char *rev);

/* points.c: keeps a point of the file that is read, and writes those of the files before where
 * there are many. */
int tk_import_add_point(
        struct tk_import_sink *s, const struct import_point *p, struct tk_error *err);

#endif
