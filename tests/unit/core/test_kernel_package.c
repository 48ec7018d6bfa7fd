/* Packages by their names, and the description of a Python package, whatever it says. */
#include "base/error.h"
#include "base/file.h"
#include "core/kernel_package.h"
#include "core/python_package.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka needs the above */
#include "tracker_abi.h"
#include <cmocka.h>

static char *dir, *file;

static void the_name_tells_the_kind(void **state)
{
	static const struct {
		const char *path;
		enum tk_device_kind kind;
		bool python;
	} cases[] = {
	        {"/a/tk_backend_x.cuda", TK_DEVICE_CUDA, false},
	        {"tk_backend_x.hip", TK_DEVICE_HIP, false},
	        {"tk_backend_numpy.python-cpu", TK_DEVICE_CPU, true},
	        {"/b.c/tk_backend_torch.python-cuda", TK_DEVICE_CUDA, true},
	        {"tk_backend_x.so", TK_DEVICE_OTHER, false},
	        {"tk_backend_x.cpu", TK_DEVICE_CPU, false},
	        {"/a.python-cpu/tk_backend_x", TK_DEVICE_OTHER, false},
	        {"tk_backend_x.python-dog", TK_DEVICE_OTHER, true},
	        {"", TK_DEVICE_OTHER, false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(tk_kernel_package_device_kind(cases[i].path), cases[i].kind);
		assert_int_equal(tk_kernel_package_is_python(cases[i].path), cases[i].python);
	}
}

static void the_name_has_the_backend(void **state)
{
	static const char *const cases[][2] = {
	        {"/a/tk_backend_x.cuda", "x"},
	        {"tk_backend_a.b.python-cpu", "a.b"},
	        {"/a.b/mine.hip", "mine"},
	        {"/a.b/none", "none"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *name = tk_kernel_package_backend(cases[i][0]);
		assert_string_equal(name, cases[i][1]);
		free(name);
	}
}

static int read_text(const char *text, struct tk_python_package *p, struct tk_error *err)
{
	*err = (struct tk_error){0};
	assert_int_equal(tk_file_write(file, text, strlen(text), NULL), 0);
	return tk_python_package_read(dir, p, err);
}

static void a_description_is_read(void **state)
{
	struct tk_python_package p;
	struct tk_error err;
	assert_int_equal(
	        read_text("{\"format\":1,\"python\":\"/opt/v/bin/python3.11\",\"producer\":"
	                  "{\"name\":\"numpy\",\"version\":\"2.2.6\"},\"returns_outputs\":"
	                  "true,\"operations\":[\"gemm\",\"attention\"]}",
	                &p, &err),
	        0);
	assert_string_equal(p.python, "/opt/v/bin/python3.11");
	assert_string_equal(p.version, "2.2.6");
	assert_true(p.returns_outputs && !p.own_packages);
	assert_int_equal(p.operations, TK_OPERATION_GEMM | TK_OPERATION_ATTENTION);
	tk_python_package_free(&p);
	assert_int_equal(read_text("{\"format\":1,\"python\":\"/usr/bin/python3\"}", &p, &err), 0);
	assert_string_equal(p.version, "");
	assert_int_equal(p.operations, 0);
	tk_python_package_free(&p);
	assert_null(p.python);
}

static void a_bad_description_is_refused(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
	        {"", "host.json"},
	        {"[]", "\"format\" is not 1"},
	        {"{\"format\":1,\"format\":1}", "duplicate"},
	        {"{\"format\":2,\"python\":\"/usr/bin/python3\"}", "\"format\" is not 1"},
	        {"{\"format\":1}", "\"python\" is not the absolute path"},
	        {"{\"format\":1,\"python\":\"python3\"}", "\"python\" is not the absolute path"},
	        {"{\"format\":1,\"python\":\"/bin/sh\"}", "\"python\" is not the absolute path"},
	        {"{\"format\":1,\"python\":\"/a/../bin/python3\"}",
	                "\"python\" is not the absolute path"},
	        {"{\"format\":1,\"python\":\"/a/python3-x\"}",
	                "\"python\" is not the absolute path"},
	        {"{\"format\":1,\"python\":\"/a/python3\",\"own_packages\":1}",
	                "\"own_packages\" is not true or false"},
	        {"{\"format\":1,\"python\":\"/a/python3\",\"operations\":[]}",
	                "\"operations\" is not a list"},
	        {"{\"format\":1,\"python\":\"/a/python3\",\"operations\":[3]}",
	                "unknown operation \"\""},
	        {"{\"format\":1,\"python\":\"/a/python3\",\"operations\":[\"dance\"]}",
	                "unknown operation \"dance\""},
	};
	struct tk_python_package p;
	struct tk_error err;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(read_text(cases[i].text, &p, &err), TK_EDATA);
		if (!strstr(err.message, cases[i].message))
			fail_msg("%s: %s", cases[i].text, err.message);
	}
	assert_int_equal(tk_python_package_read("/no/such/folder", &p, &err), TK_EDATA);
}

static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_tells_the_kind),
        cmocka_unit_test(the_name_has_the_backend),
        cmocka_unit_test(a_description_is_read),
        cmocka_unit_test(a_bad_description_is_refused),
};

int main(void)
{
	if (tk_dir_create_temp("/tmp", "tracker-test-", &dir, NULL) ||
	        !(file = tk_path_join(dir, "host.json")))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	tk_dir_remove(dir, NULL);
	free(file);
	free(dir);
	return failed;
}
