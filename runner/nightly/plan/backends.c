/* What a worker reports about the backends of a night: their device and their operations. */
#include "base/error.h"
#include "base/log.h"
#include "core/kernel_package.h"
#include "core/operation.h"
#include "nightly/plan/plan_internal.h"
#include "worker/worker.h"
#include <string.h>

/* Null: the backend cannot be loaded. Each backend is queried once, because the query starts a
 * process. */
static const json_t *query(struct tk_plan *p, const struct tk_night_device *d, const char *path)
{
	json_t *info = json_object_get(p->backends, path);
	struct tk_error reason = {0};
	if (info)
		return info;
	if (tk_worker_query_backend(d->worker, path, &info, &reason))
		tk_log(TK_LOG_WARN, "backend", NULL, "%s: %s", path, reason.message);
	info = info ? info : json_null();
	json_object_set_new_nocheck(p->backends, path, info);
	return info;
}

bool tk_plan_backend_runs_on(struct tk_plan *p, const struct tk_night_device *d, const char *path)
{
	const enum tk_device_kind package = tk_kernel_package_device_kind(path);
	if (package != TK_DEVICE_OTHER) /* without a launcher for other devices */
		return package == tk_device_kind_from_name(d->layer->name);
	const json_t *info = query(p, d, path);
	const char *kind = json_string_value(json_object_get(info, "device_kind"));
	return json_is_null(info) || (kind && strcmp(kind, d->layer->name) == 0);
}

uint32_t tk_plan_backend_operations(
        struct tk_plan *p, const struct tk_night_device *d, const char *path)
{
	const json_t *list = json_object_get(query(p, d, path), "operations"), *name;
	uint32_t operations = 0;
	size_t i;
	if (!list)
		return UINT32_MAX;
	json_array_foreach (list, i, name)
		operations |= tk_operation_parse(json_string_value(name));
	return operations;
}
