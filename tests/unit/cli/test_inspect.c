/* What the machine has: shapes and what must hold on any Linux; the machine itself decides the
 * values. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/host/inspect.h"

static const json_t *by_name(const json_t *list, const char *name)
{
	size_t i;
	json_t *e;

	json_array_foreach (list, i, e)
		if (strcmp(json_string_value(json_object_get(e, "name")), name) == 0)
			return e;
	fail_msg("%s is not listed", name);
	return NULL;
}

static void machine_makes_sense(void **state)
{
	json_t *cpu = tk_inspect_cpu(), *memory = tk_inspect_memory(),
	       *system = tk_inspect_system(), *limits = tk_inspect_limits();
	json_int_t logical = json_integer_value(json_object_get(cpu, "logical"));

	assert_true(logical >= 1);
	assert_in_range(json_integer_value(json_object_get(cpu, "usable")), 1, (uintmax_t)logical);
	assert_true(json_integer_value(json_object_get(cpu, "cores")) <= logical);
	assert_true(json_is_array(json_object_get(cpu, "caches")));
	assert_true(json_integer_value(json_object_get(memory, "total_bytes")) > 1 << 20);
	assert_true(json_integer_value(json_object_get(memory, "available_bytes")) <=
	            json_integer_value(json_object_get(memory, "total_bytes")));
	assert_true(json_is_string(json_object_get(system, "kernel")));
	assert_true(json_is_boolean(json_object_get(system, "virtual")));
	assert_int_equal(json_object_size(limits), 2);
	json_decref(cpu);
	json_decref(memory);
	json_decref(system);
	json_decref(limits);
}

/* Programs in a PATH of our own: one that answers, one that fails, one that floods, one that is not
 * there. */
static void tools_are_asked_for_their_version(void **state)
{
	static const char *const scripts[][2] = {
	        {"git", "#!/bin/sh\necho git version 9.8.7-rc1"},
	        {"nvcc",
	                "#!/bin/sh\necho 'Copyright (c) 2005-2025'; echo 'release 13.0, V13.0.88'"},
	        {"gcc", "#!/bin/sh\nexit 1"},
	        {"clang", "#!/bin/sh\nwhile :; do echo "
	                  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"},
	        {"cmake", "#!/bin/sh\nprintf 'no \\377 version'"},
	        {"node", "#!/bin/sh\necho v20.1.2 >&2"},
	};
	char *dir, *path, *old = strdup(getenv("PATH"));
	json_t *tools;

	assert_int_equal(tk_dir_create_temp("/tmp", "tk-inspect-", &dir, NULL), 0);
	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
		path = tk_path_join(dir, scripts[i][0]);
		assert_int_equal(
		        tk_file_write_nosync(path, scripts[i][1], strlen(scripts[i][1]), NULL), 0);
		assert_int_equal(chmod(path, 0755), 0);
		free(path);
	}
	setenv("PATH", dir, 1);
	tools = tk_inspect_tools();
	setenv("PATH", old, 1);
	assert_string_equal(
	        json_string_value(json_object_get(by_name(tools, "git"), "version")), "9.8.7");
	assert_string_equal(
	        json_string_value(json_object_get(by_name(tools, "nvcc"), "version")), "13.0");
	assert_string_equal(
	        json_string_value(json_object_get(by_name(tools, "node"), "version")), "20.1.2");
	assert_true(json_is_null(json_object_get(by_name(tools, "gcc"), "version")));
	assert_true(json_is_string(json_object_get(by_name(tools, "gcc"), "path")));
	assert_true(json_is_null(json_object_get(by_name(tools, "clang"), "version")));
	assert_true(json_is_null(json_object_get(by_name(tools, "cmake"), "version")));
	assert_true(json_is_null(json_object_get(by_name(tools, "hipcc"), "path")));
	json_decref(tools);
	tk_dir_remove(dir, NULL);
	free(dir);
	free(old);
}

static void libraries_that_are_there_have_a_file(void **state)
{
	json_t *libraries = tk_inspect_libraries(), *e;
	size_t i;

	json_array_foreach (libraries, i, e) {
		const char *path = json_string_value(json_object_get(e, "path"));

		if (path)
			assert_int_equal(access(path, F_OK), 0);
		else
			assert_true(json_is_null(json_object_get(e, "version")));
	}
	by_name(libraries, "OpenBLAS");
	json_decref(libraries);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(machine_makes_sense),
	        cmocka_unit_test(tools_are_asked_for_their_version),
	        cmocka_unit_test(libraries_that_are_there_have_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
