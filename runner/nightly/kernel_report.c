/* See kernel_report.h. */
#include "nightly/kernel_report.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "nightly/plan/plan_internal.h"
#include <stdlib.h>
#include <string.h>

char *tk_kernel_report_dump(const json_t *o)
{
	return o ? json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(12)) : tk_strdup("");
}

/* A build of an upstream lies in <cache>/artifacts/KEY/. Any other file is an installed backend. */
static int load_artifact(
        const struct tk_kernel_report_place *p, struct tk_artifact **out, struct tk_error *err)
{
	char key[TK_HASH_HEX_SIZE];
	AUTO_TEXT folder = tk_path_join(p->config->cache_dir, "artifacts/");
	size_t length = strlen(folder);
	if (strncmp(p->backend_path, folder, length) != 0 ||
	        strlen(p->backend_path + length) < sizeof key)
		return tk_artifact_load_installed(p->backend_path, p->backend, out, err);
	memcpy(key, p->backend_path + length, sizeof key - 1);
	key[sizeof key - 1] = '\0';
	return tk_artifact_load(p->config->cache_dir, key, out, err);
}

static int put_report(struct tk_night *n, const struct tk_kernel_report_place *p,
        const struct tk_artifact *a, struct tk_kernel_report_row *row, struct tk_error *err)
{
	struct tk_night_device device = {
	        .layer = tk_modules_find_device(p->modules, p->device_kind),
	        .index = p->device_index,
	        .info = p->device_info};
	int64_t id;
	if (!device.layer)
		return tk_fail(err, TK_ENOTFOUND, "no device layer for %s", p->device_kind);
	tk_night_device_set_slug(&device, p->device_count > 1);
	TRY(tk_night_put_machine(n, err));
	TRY(tk_night_put_device(n, &device, err));
	TRY(tk_plan_put_problem(n, p->problem, "", "", &row->problem_id, err));
	row->device_id = device.device_id;
	row->environment_id = device.environment_id;
	row->upstream = a->upstream;
	row->revision = a->revision;
	row->artifact_key = a->key;
	row->backend = p->backend;
	return tk_store_put(n->store, TK_TABLE_kernel_report, row, &id, err);
}

int tk_kernel_report_store(struct tk_store *store, const struct tk_kernel_report_place *place,
        const struct tk_kernel_report_row *report, struct tk_error *err)
{
	struct tk_night n = {.config = place->config, .store = store};
	struct tk_kernel_report_row row = *report;
	struct tk_artifact *artifact = NULL;
	TRY(load_artifact(place, &artifact, err));
	int status = tk_store_begin(store, err);
	if (!status) {
		status = put_report(&n, place, artifact, &row, err);
		if (status)
			tk_store_rollback(store);
		else
			status = tk_store_commit(store, err);
	}
	tk_artifact_free(artifact);
	return status;
}
