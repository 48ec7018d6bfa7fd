/* A worker that cannot copy its specification fails with TK_ENOMEM, whichever copy fails: an
 * unchecked one of the UUID once selected the device by its index. */
#include "base/error.h"
#include "worker/worker.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int failing_copy; /* number of the strdup() that fails, from 1; 0: none */

char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);

char *__wrap_strdup(const char *s)
{
	return failing_copy > 0 && --failing_copy == 0 ? NULL : __real_strdup(s);
}

static int make(int failing, struct tk_error *err)
{
	struct tk_worker_spec spec = {.program = "/bin/true",
	        .device_kind = "null",
	        .device_layer = "/no/such.so",
	        .device_uuid = "null-1",
	        .cpu_list = "0"};
	struct tk_worker *w = NULL;
	failing_copy = failing;
	int status = tk_worker_new(&spec, &w, err);
	failing_copy = 0;
	if (!status)
		tk_worker_free(w);
	return status;
}

static void every_copy_is_checked(void **state)
{
	for (int n = 1; n <= 5; n++) {
		struct tk_error err = {0};
		if (make(n, &err) != TK_ENOMEM)
			fail_msg("copy %d failed: %s", n, err.message);
	}
	assert_int_equal(make(0, NULL), TK_OK);
}

static void an_invalid_list_of_cores_is_refused(void **state)
{
	struct tk_worker_spec spec = {
	        .program = "/bin/true", .device_kind = "null", .cpu_list = "3-1"};
	struct tk_worker *w = NULL;
	assert_int_equal(tk_worker_new(&spec, &w, NULL), TK_EUSAGE);
	assert_null(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_copy_is_checked),
	        cmocka_unit_test(an_invalid_list_of_cores_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
