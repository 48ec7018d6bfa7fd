/* From a backend as users name it to its file: paths, backends of the tracker, and suggestions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/file.h"
#include "config/config.h"
#include "nightly/plan/backend_name.h"
#include "nightly/plan/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rig {
	char folder[64];
	struct tk_config config;
	struct tk_module backends[2];
	struct tk_modules modules;
};

static char openblas[] = "openblas", openblas_path[] = "/lib/tk_backend_openblas.so";
static char reference[] = "reference", reference_path[] = "/lib/tk_backend_reference.so";

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof *r);

	assert_non_null(r);
	strcpy(r->folder, "/tmp/tracker-name-XXXXXX");
	assert_non_null(mkdtemp(r->folder));
	r->config.cache_dir = r->folder;
	r->backends[0] = (struct tk_module){openblas, openblas_path};
	r->backends[1] = (struct tk_module){reference, reference_path};
	r->modules = (struct tk_modules){.backends = r->backends, .backend_count = 2};
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	tk_dir_remove(r->folder, NULL);
	free(r);
	return 0;
}

static void check(struct rig *r, const char *name, const char *path)
{
	struct tk_error err = {0};
	char *found = NULL;

	if (tk_backend_find(&r->config, &r->modules, name, &found, &err))
		fail_msg("%s: %s", name, err.message);
	assert_string_equal(found, path);
	free(found);
}

static void check_unknown(struct rig *r, const char *name, const char *message)
{
	struct tk_error err = {0};
	char *found = NULL;

	assert_int_equal(tk_backend_find(&r->config, &r->modules, name, &found, &err), TK_EUSAGE);
	assert_null(found);
	if (!strstr(err.message, message))
		fail_msg("%s: no \"%s\" in \"%s\"", name, message, err.message);
}

static void make_file(const struct rig *r, const char *name, char path[128])
{
	struct tk_error err = {0};

	snprintf(path, 128, "%s/%s", r->folder, name);
	if (tk_file_write(path, "x", 1, &err))
		fail_msg("%s", err.message);
}

static void a_name_is_one_of_the_tracker(void **state)
{
	struct rig *r = *state;

	check(r, "openblas", openblas_path);
	check(r, "reference", reference_path);
	check_unknown(r, "openblsa", "unknown backend \"openblsa\"; did you mean \"openblas\"?");
	check_unknown(r, "xyz", "`tracker doctor` lists the backends");
	check_unknown(r, "up:openblas", "unknown backend \"up:openblas\"");
}

static void a_path_is_a_file_or_a_package(void **state)
{
	struct rig *r = *state;
	char path[128], missing[128];

	make_file(r, "mine.so", path);
	check(r, path, path);
	snprintf(missing, sizeof missing, "%s/other.so", r->folder);
	check_unknown(r, missing, "other.so does not exist");
	check_unknown(r, "other.so", "other.so does not exist"); /* by its ending */
	check_unknown(r, ".so", "unknown backend");              /* an ending alone is a name */
	/* a package is a folder */
	snprintf(path, sizeof path, "%s/tk_backend_toy.cuda", r->folder);
	check_unknown(r, path, "does not exist");
	assert_int_equal(tk_dir_create(path, NULL), 0);
	check(r, path, path);
	make_file(r, "tk_backend_file.cuda", path);
	check_unknown(r, path, "does not exist");
}

static void a_traced_build_is_beside_the_other(void **state)
{
	struct rig *r = *state;
	char path[128], folder[128], traced[160];

	make_file(r, "tk_backend_a.so", path);
	assert_null(tk_backend_find_traced(path));
	snprintf(folder, sizeof folder, "%s/trace", r->folder);
	assert_int_equal(tk_dir_create(folder, NULL), 0);
	assert_null(tk_backend_find_traced(path));
	snprintf(traced, sizeof traced, "%s/tk_backend_a.so", folder);
	assert_int_equal(tk_file_write(traced, "x", 1, NULL), 0);
	char *found = tk_backend_find_traced(path);
	assert_non_null(found);
	assert_string_equal(found, traced);
	free(found);
	assert_null(tk_backend_find_traced("tk_backend_a.so")); /* no folder */
}

static char listed[256];

static void note(const char *name)
{
	snprintf(listed + strlen(listed), sizeof listed - strlen(listed), "%s ", name);
}

static void all_backends_are_listed(void **state)
{
	struct rig *r = *state;
	struct tk_error err = {0};

	*listed = '\0';
	assert_int_equal(tk_backend_list(&r->config, &r->modules, note, &err), 0);
	assert_string_equal(listed, "openblas reference ");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_name_is_one_of_the_tracker),
	        TEST(a_path_is_a_file_or_a_package),
	        TEST(a_traced_build_is_beside_the_other),
	        TEST(all_backends_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
