/* Packages that the Python in the PATH has and that the tracker has adapters for. Nothing is
 * imported and nothing is downloaded. */
#ifndef TK_CLI_PYTHON_PACKAGES_H
#define TK_CLI_PYTHON_PACKAGES_H
#include "config/reference.h"

struct tk_python_packages;

/* NULL: there is no Python, or it gave no answer. The caller frees. */
struct tk_python_packages *tk_python_packages_find(void);
void tk_python_packages_free(struct tk_python_packages *p);
/* A row with name NULL ends them. */
const struct tk_config_host_package *tk_python_packages_list(const struct tk_python_packages *p);

#endif
