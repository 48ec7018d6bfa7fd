/* Packages of the Python in the PATH that the tracker has adapters for, and that nothing
 * measures. */
#include "cli/host/doctor.h"

#include "cli/host/python_packages.h"
#include "config/config.h"

#include <string.h>

static bool is_measured(const struct tk_doctor *d, const char *name)
{
	if (d->modules && tk_modules_find_backend(d->modules, name))
		return true;
	for (size_t i = 0; i < d->config->upstream_count; i++)
		if (strcmp(d->config->upstreams[i].adapter, name) == 0)
			return true;
	return false;
}

void tk_doctor_find_python(struct tk_doctor *d)
{
	struct tk_python_packages *found = d->config ? tk_python_packages_find() : NULL;
	if (!found)
		return;
	for (const struct tk_config_host_package *p = tk_python_packages_list(found); p->name; p++)
		if (!is_measured(d, p->name))
			tk_doctor_add_line(d, "notes",
			        "python3 has %s %s, which nothing measures: docs/how-to/%s.md says "
			        "how",
			        p->package, p->version,
			        p->is_compiler ? "track-a-compiler" : "track-a-python-library");
	tk_python_packages_free(found);
}
