/* What `tracker doctor` finds, as a JSON report: filled by doctor_probe.c (devices and backends),
 * doctor_night.c (what a night would miss), doctor_python.c (libraries that could be measured) and
 * doctor_noise.c (what disturbs measurements), printed by doctor_print.c. */
#ifndef TK_CLI_DOCTOR_H
#define TK_CLI_DOCTOR_H
#include <jansson.h>
#include <stdbool.h>

#include "cli/commands.h"
#include "nightly/plan/modules.h"

struct tk_doctor {
	const struct tk_globals *globals;
	const struct tk_config *config;
	struct tk_modules *modules; /* NULL: they could not be found */
	json_t *report;
};

/* Appends a sentence to a list of the report: "missing", "advice", "notes". */
void tk_doctor_add_line(struct tk_doctor *d, const char *list, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
json_t *tk_doctor_text(const char *s); /* a JSON string; invalid UTF-8 is replaced */

/* Queries every device and backend of the modules through workers. */
void tk_doctor_probe(struct tk_doctor *d);
const json_t *tk_doctor_find_device(const struct tk_doctor *d, const char *kind); /* NULL: none */
bool tk_doctor_is_available(const json_t *device_or_backend);
bool tk_doctor_has_tool(const struct tk_doctor *d, const char *name);

void tk_doctor_find_python(struct tk_doctor *d);   /* adds to "notes" */
void tk_doctor_check_night(struct tk_doctor *d);   /* fills "missing" */
void tk_doctor_check_sandbox(struct tk_doctor *d); /* fills "sandbox" */
void tk_doctor_check_noise(struct tk_doctor *d);   /* fills "advice" */

int tk_doctor_print(const struct tk_doctor *d, struct tk_error *err);

#endif
