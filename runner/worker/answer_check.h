/* Checks of a worker's answers, member by member: a backend runs in that process and may have
 * written anything. Private to worker/ and its tests. */
#ifndef TK_WORKER_ANSWER_CHECK_H
#define TK_WORKER_ANSWER_CHECK_H
#include "worker/worker.h"
#include <jansson.h>
#include <stdint.h>

/* {"id":N,"ok":...}: TK_EDATA if it is no answer to request `id`. If ok, *result is a new reference
 * to its result; otherwise *outcome and `message` (size bytes) are the worker's, and *result is
 * NULL. */
int tk_answer_unwrap(const json_t *answer, int64_t id, json_t **result, enum tk_outcome *outcome,
        char *message, size_t size, struct tk_error *err);

/* *clean is a new object with the members of docs/reference/worker-protocol.md and no others.
 * TK_EDATA names the member: "median is missing", "samples[3] is not a finite number of
 * nanoseconds". */
int tk_answer_check_measurement(const json_t *result, enum tk_outcome *outcome, char *message,
        size_t size, json_t **clean, struct tk_error *err);
int tk_answer_check_device(const json_t *result, json_t **clean, struct tk_error *err);
int tk_answer_check_backend(const json_t *result, json_t **clean, struct tk_error *err);
int tk_answer_check_configs(const json_t *result, json_t **clean, struct tk_error *err);

#endif
