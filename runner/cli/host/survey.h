/* What this machine has to measure: its devices, the modules that load and have one, and whether
 * the tracker's own kernels can be built here. `tracker init` writes a configuration from it, and
 * the same text is the configuration where there is no file. */
#ifndef TK_CLI_SURVEY_H
#define TK_CLI_SURVEY_H
#include <stdbool.h>

#include "base/buf.h"
#include "cli/commands.h"
#include "config/reference.h"
#include "nightly/plan/modules.h"

struct tk_config;
struct tk_error;

struct tk_survey;

/* `root`: folder of the configuration. Starts a worker for each module. */
int tk_survey_new(
        const struct tk_globals *g, const char *root, struct tk_survey **out, struct tk_error *err);
void tk_survey_free(struct tk_survey *s);
/* Adds the packages that Python has to the host; nothing where there is no Python. */
void tk_survey_find_packages(struct tk_survey *s);
const struct tk_config_host *tk_survey_host(const struct tk_survey *s);

/* Without a file, replaces *config by what `tracker init` would write here. */
int tk_survey_apply_defaults(
        const struct tk_globals *g, struct tk_config **config, struct tk_error *err);

/* Whether the system has a GPU of this kind ("cuda", "hip"), with or without modules for it. */
bool tk_gpu_is_present(const char *kind);
/* Why the tracker has no modules for a kind, and the command that builds them: one sentence.
 * `modules` may be NULL. */
void tk_gpu_explain_missing(const struct tk_modules *modules, const char *kind, struct tk_buf *out);

/* Packages that the Python in the PATH has and that the tracker has adapters for. Nothing is
 * imported and nothing is downloaded. */
struct tk_python_packages;

/* NULL: there is no Python, or it gave no answer. The caller frees. */
struct tk_python_packages *tk_python_packages_find(void);
void tk_python_packages_free(struct tk_python_packages *p);
/* A row with name NULL ends them. */
const struct tk_config_host_package *tk_python_packages_list(const struct tk_python_packages *p);

#endif
