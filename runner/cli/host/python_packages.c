/* See python_packages.h. */
#include "cli/host/python_packages.h"

#include "base/memory.h"
#include "base/process.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEADLINE_S 10
#define COUNT (sizeof rows / sizeof *rows)

static const struct {
	const char *adapter, *package; /* name on the index */
	bool is_compiler;
} rows[] = {
        {"numpy", "numpy", false},
        {"jax", "jax", false},
        {"torch", "torch", false},
        {"triton", "triton", true},
        {"tilelang", "tilelang", true},
        {"iree", "iree-base-compiler", true},
};

static const char program[] =
        "import importlib.metadata as m, sys\n"
        "for line in m.distributions():\n"
        "    print((line.metadata['Name'] or '').lower().replace('_', '-'), line.version)\n";

struct tk_python_packages {
	struct tk_process_result result; /* keeps the versions */
	struct tk_config_host_package list[COUNT + 1];
};

/* The text goes into a configuration file. */
static bool is_version(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(".+!-_", *c))
			return false;
	return *text != '\0';
}

/* One line, "numpy 2.2.6". */
static void add_line(struct tk_python_packages *p, char *line)
{
	char *space = strchr(line, ' ');
	if (!space || !is_version(space + 1))
		return;
	*space = '\0';
	for (size_t i = 0; i < COUNT; i++)
		if (strcmp(line, rows[i].package) == 0 && !p->list[i].version)
			p->list[i].version = space + 1;
}

static void keep_found(struct tk_python_packages *p)
{
	size_t found = 0;
	for (size_t i = 0; i < COUNT; i++)
		if (p->list[i].version)
			p->list[found++] = (struct tk_config_host_package){rows[i].adapter,
			        rows[i].package, p->list[i].version, rows[i].is_compiler};
	p->list[found] = (struct tk_config_host_package){0};
}

struct tk_python_packages *tk_python_packages_find(void)
{
	static const char *const argv[] = {"python3", "-I", "-c", program, NULL};
	const struct tk_process_spec spec = {
	        .argv = argv, .deadline_s = DEADLINE_S, .capture_max = 1 << 20};
	struct tk_python_packages *p = tk_calloc(1, sizeof *p);
	if (!p || tk_process_run(&spec, &p->result, NULL)) {
		free(p);
		return NULL;
	}
	char *rest = p->result.exit_code == 0 ? p->result.out.data : NULL;
	for (char *line; rest && (line = strsep(&rest, "\n"));)
		add_line(p, line);
	keep_found(p);
	return p;
}

void tk_python_packages_free(struct tk_python_packages *p)
{
	if (!p)
		return;
	tk_process_result_free(&p->result);
	free(p);
}

const struct tk_config_host_package *tk_python_packages_list(const struct tk_python_packages *p)
{
	return p->list;
}
