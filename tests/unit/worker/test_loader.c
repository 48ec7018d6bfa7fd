/* What the loader says of modules that break the contract. */
#include "base/base.h"
#include "worker/loader.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Where modules of ABI 1.0 and 1.1 look for them. */
_Static_assert(
        sizeof(void *) != 8 || sizeof(struct tk_device_info) == 4448, "tk_open_args holds one");
_Static_assert(sizeof(void *) != 8 || offsetof(struct tk_open_args, options) == 4472,
        "older modules read it there");

static int load(int bad, struct tk_error *err)
{
	char path[4096];
	struct tk_backend b;
	snprintf(path, sizeof path, "%s/bad_module_%d.so", TK_BAD_MODULES, bad);
	return tk_loader_load_backend(path, &b, err);
}

static void broken_modules_are_named(void **state)
{
	/* clang-format off */
	static const struct { int status; const char *message; } cases[] = {
		{TK_EDATA, "is not a backend: it does not export tk_backend_entry"},
		{TK_EDATA, "tk_backend_entry returned NULL"},
		{TK_EDATA, "its table has 8 bytes, too few"},
		{TK_EVERSION, "was built for version 2 of the contract, expected 1"},
		{TK_EDATA, "its table ends after"}, {TK_EDATA, "\"launch\" is missing"},
		{TK_EDATA, "invalid backend name"},
	};
	/* clang-format on */
	for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
		struct tk_error err = {0};
		assert_int_equal(load(i, &err), cases[i].status);
		if (!strstr(err.message, cases[i].message))
			fail_msg("module %d: %s", i, err.message);
	}
}

static void another_minor_version_is_fine(void **state)
{
	struct tk_error err = {0};
	if (load(7, &err))
		fail_msg("%s", err.message);
}

static void optional_functions_may_be_missing(void **state)
{
	struct tk_backend b;
	struct tk_error err = {0};
	char path[4096];
	snprintf(path, sizeof path, "%s/bad_module_7.so", TK_BAD_MODULES);
	assert_int_equal(tk_loader_load_backend(path, &b, &err), 0);
	assert_null(b.configs);
	assert_null(b.fetch);
}

static void files_that_are_not_modules(void **state)
{
	struct tk_backend b;
	const struct tk_device_ops *d;
	struct tk_error err = {0};
	assert_int_equal(tk_loader_load_backend("/no/such.so", &b, &err), TK_EIO);
	assert_non_null(strstr(err.message, "cannot load /no/such.so: "));
	assert_int_equal(
	        tk_loader_load_backend(TK_SOURCE_ROOT "/CMakeLists.txt", &b, &err), TK_EIO);
	assert_int_equal(
	        tk_loader_load_device(TK_BAD_MODULES "/bad_module_7.so", &d, &err), TK_EDATA);
	assert_non_null(strstr(err.message, "is not a device layer"));
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken_modules_are_named),
		cmocka_unit_test(another_minor_version_is_fine),
		cmocka_unit_test(optional_functions_may_be_missing),
		cmocka_unit_test(files_that_are_not_modules),
	};
	/* clang-format on */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
