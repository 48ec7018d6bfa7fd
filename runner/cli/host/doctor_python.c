/* Libraries of the Python in the PATH that the tracker has adapters for, and that nothing measures.
 * Nothing is imported and nothing is downloaded. */
#include "cli/host/doctor.h"

#include "base/process.h"
#include "config/config.h"

#include <string.h>

#define DEADLINE_S 10

static const char program[] = "import importlib.metadata as m, importlib.util as u\n"
                              "for n in ('numpy', 'jax', 'torch'):\n"
                              "    if u.find_spec(n):\n"
                              "        print(n, m.version(n))\n";

static bool is_measured(const struct tk_doctor *d, const char *name)
{
	if (d->modules && tk_modules_find_backend(d->modules, name))
		return true;
	for (size_t i = 0; i < d->config->upstream_count; i++)
		if (strcmp(d->config->upstreams[i].adapter, name) == 0)
			return true;
	return false;
}

/* One line, "numpy 2.2.6". */
static void note_library(struct tk_doctor *d, char *line)
{
	char *space = strchr(line, ' ');
	if (!space)
		return;
	*space = '\0';
	if (!is_measured(d, line))
		tk_doctor_add_line(d, "notes",
		        "python3 has %s %s, which nothing measures: "
		        "docs/how-to/track-a-python-library.md says how",
		        line, space + 1);
}

void tk_doctor_find_python(struct tk_doctor *d)
{
	static const char *const argv[] = {"python3", "-I", "-c", program, NULL};
	const struct tk_process_spec spec = {
	        .argv = argv, .deadline_s = DEADLINE_S, .capture_max = 4096};
	struct tk_process_result result;
	if (!d->config || tk_process_run(&spec, &result, NULL))
		return;
	char *rest = result.exit_code == 0 ? result.out.data : NULL;
	for (char *line; rest && (line = strsep(&rest, "\n"));)
		note_library(d, line);
	tk_process_result_free(&result);
}
