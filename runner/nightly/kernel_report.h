/* Stores what `tracker trace` or `tracker profile` recorded, with where it was measured. */
#ifndef TK_NIGHTLY_KERNEL_REPORT_H
#define TK_NIGHTLY_KERNEL_REPORT_H
#include "store/store.h"
#include <jansson.h>

struct tk_config;
struct tk_modules;

struct tk_kernel_report_place {
	const struct tk_config *config;
	const struct tk_modules *modules;
	const char *device_kind;             /* of which `modules` has the layer */
	uint32_t device_index, device_count; /* devices of its kind */
	json_t *device_info;                 /* as the device layer describes it */
	const char *problem;                 /* canonical text */
	const char *backend, *backend_path;  /* its name; its file, which does not record */
};

/* Stores the machine, the device, its environment, the problem and the report. Of `report` the
 * caller sets what is not in *place: kind, options, config, mode, base, started_s, result,
 * timeline. */
int tk_kernel_report_store(struct tk_store *store, const struct tk_kernel_report_place *place,
        const struct tk_kernel_report_row *report, struct tk_error *err);

/* A result or a timeline as stored text, "" without one. The caller frees it. NULL: out of
 * memory. */
char *tk_kernel_report_dump(const json_t *o);

#endif
