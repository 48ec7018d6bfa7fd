/* The race of one problem. Private to nightly/tune/. */
#ifndef TK_TUNE_RACE_H
#define TK_TUNE_RACE_H
#include "nightly/compare/ab_session.h"
#include "nightly/tune/tune.h"

struct tk_worker;

struct tk_tune_race_spec {
	int64_t deadline_ns; /* of the monotonic clock; 0: none */
	bool is_exhaustive;
};

/* One worker for consecutive races of a backend on a device: on a GPU a process takes about as long
 * to start as a dozen runs. Starts as zeros. */
struct tk_tune_race_worker {
	struct tk_worker *worker;
	const struct tk_night_device *device;
	const char *path; /* of the backend */
	uint32_t threads;
};

/* Lists the configurations of a trial's problem and races them. Failures of the backend are
 * outcomes in the row; an error is about the worker itself, or a request to stop. */
int tk_tune_race(struct tk_ab_session *c, const struct tk_ab_problem *t,
        const struct tk_tune_race_spec *spec, struct tk_tune_race_worker *worker,
        struct tk_tune_row *row, struct tk_error *err);
void tk_tune_race_worker_stop(struct tk_tune_race_worker *w);

#endif
