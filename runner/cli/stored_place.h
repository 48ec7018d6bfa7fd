/* Where a stored result was measured, for JSON. */
#ifndef TK_CLI_STORED_PLACE_H
#define TK_CLI_STORED_PLACE_H
#include <jansson.h>

#include "cli/lookup.h"

/* What the history keeps as JSON text; null for what is none. */
json_t *tk_stored_json(const char *text);
/* problem, title, machine, device, device_name, environment. */
json_t *tk_stored_place_json(
        const struct tk_lookup *l, int64_t device_id, int64_t environment_id, int64_t problem_id);

#endif
