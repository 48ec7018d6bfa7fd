/* Other costs of a run than time, from the attributes of the answer of the worker. */
#ifndef TK_SITE_FACTS_H
#define TK_SITE_FACTS_H
#include <stddef.h>

#include "core/measurement_fields.h"

/* values[i]: the number of fields[i], a field of the measurement or of its plan; NAN: unknown.
 * attributes: a JSON object; anything else has no facts. It is scanned, not parsed: ten times
 * faster, because every series of a site needs it. */
void tk_run_facts_parse(const char *attributes, const enum tk_measurement_field *fields,
        size_t count, double *values);

#endif
