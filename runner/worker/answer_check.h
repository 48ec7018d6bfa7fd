/* Checks of what a worker answers, field by field, before anybody believes it. Private to worker/
 * and its tests. */
#ifndef TK_WORKER_ANSWER_H
#define TK_WORKER_ANSWER_H
#include "worker/worker.h"
#include <jansson.h>
#include <stdint.h>

/* {"id":N,"ok":...}: TK_EDATA where it is no answer to request `id`. ok: *result is a new reference
 * to its result. Otherwise *outcome and `message` (size bytes) say what the worker said, and
 * *result is NULL. */
int tk_answer_unwrap(const json_t *answer, int64_t id, json_t **result, enum tk_outcome *outcome,
        char *message, size_t size, struct tk_error *err);

/* The result of a measure answer: outcome and message, and a new object in *clean that has the
 * fields of docs/reference/worker-protocol.md and no others. TK_EDATA: "median is missing", "samples[3] is no
 * finite number", ... */
int tk_answer_check_measurement(const json_t *result, enum tk_outcome *outcome, char *message,
        size_t size, json_t **clean, struct tk_error *err);
int tk_answer_check_device(const json_t *result, json_t **clean, struct tk_error *err);
int tk_answer_check_backend(const json_t *result, json_t **clean, struct tk_error *err);

#endif
