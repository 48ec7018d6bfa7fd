/* The part of store.h about the results of `tracker tune`. */
#ifndef TK_STORE_TUNING_H
#define TK_STORE_TUNING_H
#include "core/tune.h"
#include "store/store.h"

/* What `tracker tune` found for one problem on one backend and device. NAN: no A/B pairs. */
struct tk_tuning_row {
	int64_t id, device_id, environment_id, problem_id;
	const char *uid;
	const char *upstream, *revision; /* "": an installed backend */
	const char *artifact_key;        /* of the build */
	const char *backend, *options, *mode;
	int64_t started_s;
	enum tk_tune_verdict verdict;
	const char *config, *winner; /* to use, of the race; "": none */
	double default_ns, winner_ns, change, change_lo, change_hi; /* winner / default - 1 */
	int64_t pair_count, evaluation_count;
	const char *candidates; /* JSON: docs/reference/tune.md */
};

#endif
