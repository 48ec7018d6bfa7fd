/* The launcher's driver for CPUs, with a shared library that has the interface of IREE's code
 * objects. */
#include "arguments.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct launcher_driver *d = &launcher_driver;
static struct tk_abi_error err = {.size = sizeof err};
static struct tk_buf code = TK_BUF_INIT;

static int set_up(void **state)
{
	const struct tk_open_args args = {.size = sizeof args, .threads = 3};
	struct tk_error why = {0};
	unsetenv("FAKE_IREE");
	return tk_file_read(FAKE_IREE_OBJECT, (size_t)1 << 26, &code, &why) ||
	       d->start(&args, &err);
}

static int tear_down(void **state)
{
	d->stop();
	tk_buf_free(&code);
	return 0;
}

static struct launcher_arg *list_args(void)
{
	static struct launcher_arg args[3];
	args[0] = (struct launcher_arg){.kind = LAUNCHER_ARG_TENSOR, .bytes = 8, .tensor = TK_T_IN};
	args[1] = (struct launcher_arg){.kind = LAUNCHER_ARG_VALUE, .bytes = 4, .value = {3}};
	args[2] =
	        (struct launcher_arg){.kind = LAUNCHER_ARG_TENSOR, .bytes = 8, .tensor = TK_T_OUT};
	return args;
}

static struct launcher_launch launch(void)
{
	return (struct launcher_launch){.entry = "scale",
	        .grid = {4, 3, 2},
	        .block = {1, 1, 1},
	        .cluster = {1, 1, 1},
	        .args = list_args(),
	        .arg_count = 3};
}

static void code_runs_on_its_level_and_above(void **state)
{
	static const struct {
		const char *target, *arch;
		bool runs;
	} cases[] = {{"x86-64-v3", "x86-64-v4", true}, {"x86-64-v3", "x86-64-v3", true},
	        {"x86-64-v4", "x86-64-v3", false}, {"x86-64-v3", "aarch64", false},
	        {"aarch64", "aarch64", true}, {"sm_90a", "x86-64-v4", false},
	        {"x86-64-v3x", "x86-64-v4", false}, {"", "x86-64-v4", false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (d->runs_on(cases[i].target, cases[i].arch) != cases[i].runs)
			fail_msg("%s on %s", cases[i].target, cases[i].arch);
}

static void run_every_workgroup(void)
{
	struct launcher_launch l = launch();
	float from[24], to[25] = {0};
	void *none[3] = {0}, *module = NULL, *function = NULL;
	const struct tk_tensor tensors[2] = {
	        {.data = from, .bytes = sizeof from}, {.data = to, .bytes = sizeof from}};
	struct launcher_arguments a;
	for (int i = 0; i < 24; i++)
		from[i] = (float)i + 1;
	assert_int_equal(d->load(code.data, code.len, &module, &err), TK_ABI_OK);
	assert_int_equal(d->find(module, "scale", &function, &err), TK_ABI_OK);
	assert_int_equal(d->prepare(function, &l, &err), TK_ABI_OK);
	assert_int_equal(launcher_arguments_pack(&a, &l, tensors, 2, none, &err), TK_ABI_OK);
	assert_int_equal(d->launch(function, &l, &a, NULL, &err), TK_ABI_OK);
	for (int i = 0; i < 24; i++)
		assert_true(to[i] == 3 * from[i]);
	assert_true(to[24] == 0);
	l.grid[2] = 3; /* beyond the buffers, which the kernel is told */
	assert_int_equal(d->launch(function, &l, &a, NULL, &err), TK_ABI_DEVICE);
	assert_non_null(strstr(err.message, "scale returned 7"));
	launcher_arguments_free(&a);
	d->unload(module);
}

static void every_workgroup_runs_once(void **state)
{
	run_every_workgroup();
}

static void older_libraries_are_read(void **state)
{
	setenv("FAKE_IREE", "old", 1);
	run_every_workgroup();
	unsetenv("FAKE_IREE");
}

/* Equal names of files under /proc must not give the first library again. */
static void two_code_objects_are_loaded_side_by_side(void **state)
{
	void *first = NULL, *second = NULL, *a = NULL, *b = NULL;
	assert_int_equal(d->load(code.data, code.len, &first, &err), TK_ABI_OK);
	assert_int_equal(d->load(code.data, code.len, &second, &err), TK_ABI_OK);
	assert_int_equal(d->find(first, "scale", &a, &err), TK_ABI_OK);
	assert_int_equal(d->find(second, "scale", &b, &err), TK_ABI_OK);
	assert_memory_not_equal(a, b, sizeof(void *));
	d->unload(first);
	d->unload(second);
}

static void a_manifest_that_does_not_fit_is_refused(void **state)
{
	struct launcher_launch l = launch();
	void *module = NULL, *function = NULL;
	assert_int_equal(d->load(code.data, code.len, &module, &err), TK_ABI_OK);
	assert_int_equal(d->find(module, "absent", &function, &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "no kernel \"absent\""));
	assert_int_equal(d->find(module, "scale", &function, &err), TK_ABI_OK);
	l.arg_count = 2;
	assert_int_equal(d->prepare(function, &l, &err), TK_ABI_INVALID);
	assert_non_null(
	        strstr(err.message, "takes 2 buffers and 1 values, its manifest has 1 and 1"));
	l = launch();
	l.args[1].bytes = 8;
	assert_int_equal(d->prepare(function, &l, &err), TK_ABI_INVALID);
	l = launch();
	l.args[1].kind = LAUNCHER_ARG_TENSOR_MAP;
	assert_int_equal(d->prepare(function, &l, &err), TK_ABI_INVALID);
	l = launch();
	l.grid[2] = 70000;
	assert_int_equal(d->prepare(function, &l, &err), TK_ABI_INVALID);
	d->unload(module);
}

static void code_that_needs_more_is_refused(void **state)
{
	static const struct {
		const char *defect, *message;
	} cases[] = {{"version", "not an executable library of IREE"},
	        {"import", "needs the function \"needed\""}, {"constants", "1 constants"}};
	struct launcher_launch l = launch();
	void *module = NULL, *function = NULL;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		setenv("FAKE_IREE", cases[i].defect, 1);
		assert_int_equal(d->load(code.data, code.len, &module, &err), TK_ABI_INVALID);
		if (!strstr(err.message, cases[i].message))
			fail_msg("%s: %s", cases[i].defect, err.message);
	}
	assert_int_equal(
	        d->load("\177ELF but not more than that", 28, &module, &err), TK_ABI_INVALID);
	assert_non_null(strstr(err.message, "cannot load the code object"));
	assert_null(module);
	setenv("FAKE_IREE", "memory", 1);
	assert_int_equal(d->load(code.data, code.len, &module, &err), TK_ABI_OK);
	assert_int_equal(d->find(module, "scale", &function, &err), TK_ABI_OK);
	assert_int_equal(d->prepare(function, &l, &err), TK_ABI_UNSUPPORTED);
	d->unload(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(code_runs_on_its_level_and_above),
	        cmocka_unit_test(every_workgroup_runs_once),
	        cmocka_unit_test(older_libraries_are_read),
	        cmocka_unit_test(two_code_objects_are_loaded_side_by_side),
	        cmocka_unit_test(a_manifest_that_does_not_fit_is_refused),
	        cmocka_unit_test(code_that_needs_more_is_refused),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
