/* A small real history for the tests of store/: a folder of its own, and one of each row. */
#ifndef TEST_HISTORY_H
#define TEST_HISTORY_H
#include "base/base.h"
#include "store/store.h"
#include "store/tuning.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

/* Like OK for a call that is written out; `err` is in scope. */
#define MUST(call) \
	do { \
		struct tk_error err = {0}; \
		if (call) \
			fail_msg("%s: %s", #call, err.message); \
	} while (0)
#define MUST_FAIL(expected, text, call) \
	do { \
		struct tk_error err = {0}; \
		int got = (call); \
		if (got != (expected)) \
			fail_msg("%s: %s instead of %s: %s", #call, tk_status_name(got), \
			        tk_status_name(expected), err.message); \
		if (!strstr(err.message, text)) \
			fail_msg("%s: `%s` is not in `%s`", #call, text, err.message); \
	} while (0)

struct history {
	char dir[64], path[96];
	struct tk_store *store;
	int64_t machine, device, environment, upstream, revision, build, problem, series, night;
};

void history_new(struct history *h);  /* a folder with an open, empty store */
void history_fill(struct history *h); /* one of everything up to the night */
void history_free(struct history *h);
/* For cmocka: *state is a filled history. */
int history_set_up(void **state);
int history_tear_down(void **state);
void history_reopen(struct history *h, enum tk_store_mode mode);

/* Another series of the device, the upstream and the problem. */
int64_t history_put_series(
        struct history *h, const char *backend, const char *mode, const char *metric);
/* Another revision, and a good build of it. revision_id may be NULL. */
int64_t history_put_build_of(const struct history *h, int64_t upstream_id, const char *rev,
        const char *key, int64_t *revision_id);
/* Of the upstream, with its revision as its key. */
int64_t history_put_build(const struct history *h, const char *rev, int64_t *revision_id);
/* A result in the night with `samples` samples. */
int history_put_run(struct history *h, int64_t seq, double value, size_t samples, int64_t *id,
        struct tk_error *err);
/* What `tracker tune` found at a time. */
int history_put_kernel_report(
        struct history *h, int64_t started_s, int64_t *id, struct tk_error *err);
struct tk_tuning_row history_tuning_row(const struct history *h, int64_t started_s);
int history_put_tuning(struct history *h, int64_t started_s, int64_t *id, struct tk_error *err);
/* Runs SQL past the tracker, as another program would. */
void history_run_sql(struct history *h, const char *sql);
size_t history_count(struct history *h, const char *table); /* through another connection */
/* All rows, and the records of all nights, as text; free(). */
char *history_export(struct tk_store *s);
char *history_export_records(struct tk_store *s, enum tk_record_format format);
/* All of a file that was written to; closes it; free(). */
char *history_read_file(FILE *f);
/* Takes both texts and fails with the first line that differs. */
void history_expect_same(const char *what, char *ours, char *theirs);

#endif
