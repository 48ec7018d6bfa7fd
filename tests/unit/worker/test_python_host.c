/* How a worker is started inside Python: which program, and what a sandbox shows of it. */
#include "base/error.h"
#include "base/file.h"
#include "worker/python_host.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka needs the above */
#include <cmocka.h>

static char
        *root; /* a Python that was made up: bin/python3.9, lib/python3.9, lib/libpython3.9.so */

static char *at(const char *name)
{
	char *path = tk_path_join(root, name);
	assert_non_null(path);
	return path;
}

static void write_file(const char *name, const char *text)
{
	char *path = at(name);
	assert_int_equal(tk_file_write(path, text, strlen(text), NULL), 0);
	assert_int_equal(chmod(path, 0755), 0);
	free(path);
}

static void link_to(const char *target, const char *name)
{
	char *path = at(name);
	assert_int_equal(symlink(target, path), 0);
	free(path);
}

static int open_host(
        const char *python, const char *flags, struct tk_python_host *h, struct tk_error *err)
{
	char text[1000];
	snprintf(text, sizeof text, "{\"format\":1,\"python\":\"%s/%s\"%s}", root, python, flags);
	write_file("package/host.json", text);
	char *package = at("package"), *modules = at("modules");
	*err = (struct tk_error){0};
	int status = tk_python_host_open(package, modules, h, err);
	free(package);
	free(modules);
	return status;
}

static bool shows(const struct tk_python_host *h, const char *name)
{
	char *path = at(name);
	bool found = false;
	for (char *const *folder = h->folders; *folder; folder++)
		found |= strcmp(*folder, path) == 0;
	free(path);
	return found;
}

static bool has_argument(const struct tk_python_host *h, const char *argument)
{
	for (const char *const *a = h->argv; *a; a++)
		if (strcmp(*a, argument) == 0)
			return true;
	return false;
}

static void a_python_is_shown_without_what_lies_beside_it(void **state)
{
	struct tk_python_host h;
	struct tk_error err;
	if (open_host("bin/python3.9", "", &h, &err))
		fail_msg("%s", err.message);
	assert_true(has_argument(&h, "-I") && has_argument(&h, "-S"));
	assert_true(shows(&h, "lib/python3.9") && shows(&h, "bin/python3.9"));
	assert_true(shows(&h, "lib/libpython3.9.so"));
	assert_false(shows(&h, "lib") || shows(&h, "secret") || shows(&h, "lib/python3.1"));
	tk_python_host_free(&h);
}

static void an_environment_is_shown_with_its_python(void **state)
{
	struct tk_python_host h;
	struct tk_error err;
	if (open_host("venv/bin/python", ",\"own_packages\":true", &h, &err))
		fail_msg("%s", err.message);
	assert_false(has_argument(&h, "-S"));
	assert_true(shows(&h, "venv/pyvenv.cfg") && shows(&h, "lib/python3.9"));
	assert_true(shows(&h, "venv/bin") && shows(&h, "bin/python3.9"));
	assert_string_equal(strstr(h.program, "venv"), "venv/bin/python");
	tk_python_host_free(&h);
}

/* The sandbox would not show the link. */
static void a_link_is_followed(void **state)
{
	struct tk_python_host h;
	struct tk_error err;
	if (open_host("secret/python3", "", &h, &err))
		fail_msg("%s", err.message);
	assert_non_null(strstr(h.program, "/bin/python3.9"));
	assert_false(shows(&h, "secret"));
	tk_python_host_free(&h);
}

static void what_cannot_run_is_named(void **state)
{
	struct tk_python_host h;
	struct tk_error err;
	assert_int_equal(open_host("bin/python3.8", "", &h, &err), TK_ENOTFOUND);
	assert_non_null(strstr(err.message, "build it again"));
	assert_int_equal(open_host("bin/python7", "", &h, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "which is not a Python"));
	assert_int_equal(open_host("secret/python3.5", "", &h, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "is not in a folder \"bin\""));
	char *package = at("package");
	assert_int_equal(tk_python_host_open(package, root, &h, &err), TK_ENOTFOUND);
	assert_non_null(strstr(err.message, "tk_python_worker.so does not exist"));
	assert_int_equal(tk_python_host_open(package, NULL, &h, &err), TK_ENOTFOUND);
	free(package);
}

static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_python_is_shown_without_what_lies_beside_it),
        cmocka_unit_test(an_environment_is_shown_with_its_python),
        cmocka_unit_test(a_link_is_followed),
        cmocka_unit_test(what_cannot_run_is_named),
};

int main(void)
{
	static const char *const folders[] = {
	        "bin", "lib/python3.9", "secret", "venv/bin", "package", "modules"};
	if (tk_dir_create_temp("/tmp", "tracker-test-", &root, NULL))
		return 1;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		char *path = tk_path_join(root, folders[i]);
		if (!path || tk_dir_create(path, NULL))
			return 1;
		free(path);
	}
	write_file("bin/python3.9", "");
	write_file("lib/libpython3.9.so", "");
	write_file("modules/tk_python_worker.so", "");
	write_file("venv/pyvenv.cfg", "");
	link_to("../secret", "lib/python3.1");
	link_to("../../bin/python3.9", "venv/bin/python");
	link_to("/bin/sh", "bin/python7");
	link_to("../bin/python3.9", "secret/python3");
	write_file("secret/python3.5", "");
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	tk_dir_remove(root, NULL);
	free(root);
	return failed;
}
