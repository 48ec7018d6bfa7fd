/* A small history in a real SQLite file, written through store.h: one machine, one device, nights a
 * day apart. */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H
#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "decide/decide.h"
#include "store/store.h"

#define WORLD_START INT64_C(1767225600) /* 2026-01-01 */
#define WORLD_DAY INT64_C(86400)

struct world {
	struct tk_store *store;
	char dir[64], path[96];
	const char *role; /* of series that are made from now on, and: */
	const char *config;
	const char *attributes; /* of runs from now on */
	const char *summary;    /* of nights that end from now on, and: */
	enum tk_night_status status;
	uint32_t missing_data_nights;
	const struct tk_ack_rule *acks;
	size_t ack_count;
	bool higher_is_better, open;
	int64_t samples;       /* of a point; one has no interval */
	int64_t rotate_nights; /* of series that are made from now on */
	int64_t machine, device, upstream, environment, build, night, as_of_s, seq;
	struct tk_error err;
};

/* Every function ends the process with a message where the store refuses. path NULL: a file in a
 * temporary folder. */
void world_open(struct world *w, const char *path);
void world_close(struct world *w); /* removes the temporary folder */
/* For tests of cmocka that have a world of their own, *state. */
int world_setup(void **state);
int world_teardown(void **state);
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)
void world_machine(struct world *w, const char *name, const char *device);
void world_upstream(struct world *w, const char *name);
void world_environment(struct world *w, const char *attributes);
/* The build that is measured from now on. hash NULL: machine code unknown. */
void world_build(struct world *w, const char *rev, int64_t position, const char *backend,
        const char *hash, const char *subject);
/* A GPU kernel of the build that is measured now; numbers that are unknown are -1. */
void world_gpu_kernel(struct world *w, const char *backend, const char *name, const char *hash,
        int64_t registers, int64_t spill_bytes, const char *instructions);
void world_night(
        struct world *w, int day, const char *kind); /* starts one; the one before is completed */
void world_end_night(struct world *w);
int64_t world_series(struct world *w, const char *backend, const char *problem);
int64_t world_point(struct world *w, const char *backend, const char *problem, double value);
int64_t world_fail(struct world *w, const char *backend, const char *problem, const char *outcome,
        const char *message);
/* A pair of two builds of a series of backend "b" in the current night; the fastest samples are the
 * medians. */
void world_pair(struct world *w, const char *problem, int64_t good_build, int64_t bad_build,
        int number, double good, double bad);
struct tk_detect_options world_options(const struct world
                *w); /* 2 %, 0 ns, 5 %, 20 nights, 14 days; now: a day after the newest night */
/* since: day of the first night of the range */
struct tk_diff_report world_diff(struct world *w, int since);
struct tk_diff_report world_detect_night(
        struct world *w); /* tk_detect_night of the current night */
/* Its reason as prose; valid until the next call. */
const char *world_reason(const struct tk_diff_row *row);
const struct tk_diff_row *world_row(
        const struct tk_diff_report *r, const char *backend, const char *problem);

#endif
