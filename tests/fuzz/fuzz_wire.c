/* Any bytes from a worker: an error with a sentence, or objects that hold only what the protocol
 * knows and can be written again. */
#include "base/base.h"
#include "fuzz.h"
#include "worker/answer.h"
#include "worker/wire.h"
#include <stdlib.h>
#include <string.h>

static void need_sentence(int status, const struct tk_error *err)
{
	if (status && !err->message[0])
		abort();
}

static void check(const json_t *result, int (*answer)(const json_t *, json_t **, struct tk_error *))
{
	struct tk_error err = {0};
	json_t *clean = NULL;
	need_sentence(answer(result, &clean, &err), &err);
	char *text = clean ? json_dumps(clean, JSON_COMPACT) : NULL;
	if (clean && !text)
		abort();
	free(text);
	json_decref(clean);
}

static int measurement(const json_t *result, json_t **clean, struct tk_error *err)
{
	char message[64];
	enum tk_outcome outcome = TK_OUTCOME_COUNT;
	int status =
	        tk_answer_check_measurement(result, &outcome, message, sizeof message, clean, err);
	if (!status && (outcome >= TK_OUTCOME_COUNT || (tk_outcome_has_timing(outcome) &&
	                                                       !json_object_get(*clean, "median"))))
		abort();
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tk_error err = {0};
	json_t *answer = NULL, *result = NULL;
	enum tk_outcome outcome;
	char message[64];
	int status = tk_wire_parse((const char *)data, size, &answer, &err);
	need_sentence(status, &err);
	if (status)
		return 0;
	status = tk_answer_unwrap(answer, 1, &result, &outcome, message, sizeof message, &err);
	need_sentence(status, &err);
	if (result) {
		check(result, measurement);
		check(result, tk_answer_check_device);
		check(result, tk_answer_check_backend);
	}
	json_decref(result);
	json_decref(answer);
	return 0;
}
