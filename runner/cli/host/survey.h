/* What this machine has to measure: its devices, the modules that load and have one, and whether
 * the tracker's own kernels can be built here. `tracker doctor` prints it; `tracker init` writes a
 * configuration from it, which is also the configuration where there is no file. */
#ifndef TK_CLI_SURVEY_H
#define TK_CLI_SURVEY_H
#include "base/process.h"
#include "cli/commands.h"
#include "config/config.h"
#include "nightly/plan/modules.h"

struct tk_config;

/* Without a file, replaces *config by what `tracker init` would write here. */
int tk_survey_apply_defaults(
        const struct tk_globals *g, struct tk_config **config, struct tk_error *err);

/* The devices of the modules, as workers describe them, with "layer", "index", "available" and, if
 * it is not, the "reason". simulated: also those that measure nothing (layer "null"). */
json_t *tk_survey_devices(
        const struct tk_globals *g, const struct tk_modules *modules, bool simulated);
/* The same of backends, with "module", "path", "device_kind": one that loads and has an available
 * device is available. */
json_t *tk_survey_backends(
        const struct tk_globals *g, const struct tk_modules *modules, const json_t *devices);
/* What a worker of this machine says of a backend, whose device need not be here, else {"reason"}.
 */
json_t *tk_survey_query_backend(
        const struct tk_globals *g, const struct tk_modules *modules, const char *path);
bool tk_survey_is_available(const json_t *entry);

/* Kinds of GPUs: why the tracker has no modules for the kind i, and the command that builds them;
 * NULL where it has. *is_present: whether the system has such a GPU. The caller frees. */
#define TK_GPU_KINDS 2
char *tk_gpu_explain_missing(const struct tk_modules *modules, size_t i, bool *is_present);

/* Packages that the Python in the PATH has and that the tracker has adapters for. Nothing is
 * imported and nothing is downloaded. */
#define TK_PYTHON_PACKAGES_MAX 8
struct tk_python_packages {
	struct tk_process_result result;                                /* keeps the versions */
	struct tk_config_host_package list[TK_PYTHON_PACKAGES_MAX + 1]; /* ends with name NULL */
};
void tk_python_packages_find(struct tk_python_packages *p);
void tk_python_packages_free(struct tk_python_packages *p);

/* ---- the rest of `tracker doctor`: inspect.c ------------------------------------------------- */

/* Adds what this machine has. Nothing here loads a library or talks to a device; null: not known.
 *
 *   "system": {"os","kernel","arch","container","virtual"}
 *   "cpu": {"model","logical","usable","cores","smt","governor","turbo","load_1m","numa_nodes",
 *           "caches":[{"level","type","bytes","shared"}]}
 *   "memory": {"total_bytes","available_bytes"}
 *   "limits": {"cpus","memory_bytes"}, of the control group; null: unlimited
 *   "tools": [{"name","path","version","for"}]; path null: not installed
 *   "libraries": [{"name","path","version"}] */
void tk_doctor_inspect(json_t *report);

/* Its system, tools and libraries, as text. */
int tk_doctor_print_machine(const struct tk_globals *g, const json_t *report, struct tk_error *err);

#endif
