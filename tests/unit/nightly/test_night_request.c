/* The options of a night, stored and restored: --resume continues with those of the start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "nightly/plan/night_request.h"

static char first[] = "null:0", second[] = "null:1", not_utf8[] = "\xff";
static char *const two_devices[] = {first, second, NULL};
static char *const one_device[] = {first, NULL};
static const struct tk_night_options all = {.devices = two_devices,
        .split = true,
        .part = 2,
        .parts = 14,
        .import_file = "/srv/builds.tar.zst",
        .only_upstream = "openblas"};

static json_t *encode(const struct tk_night_options *o)
{
	json_t *request;

	assert_int_equal(tk_night_request_encode(o, &request, NULL), TK_OK);
	return request;
}

static void only_what_is_set_is_stored(void **state)
{
	json_t *request = encode(&(struct tk_night_options){.seed = 7, .resume = true});

	assert_int_equal(json_object_size(request), 0);
	json_decref(request);
	request = encode(&(struct tk_night_options){.devices = one_device});
	assert_int_equal(json_object_size(request), 1);
	assert_int_equal(json_array_size(json_object_get(request, "devices")), 1);
	json_decref(request);
}

static void a_bundle_is_found_from_another_folder(void **state)
{
	json_t *request = encode(&(struct tk_night_options){.import_file = "builds.tar.zst"});

	assert_int_equal(*json_string_value(json_object_get(request, "import")), '/');
	json_decref(request);
}

static void not_utf8_is_refused(void **state)
{
	json_t *request = json_null();
	struct tk_error err = {0};
	char *const devices[] = {first, not_utf8, NULL};

	assert_int_equal(tk_night_request_encode(
	                         &(struct tk_night_options){.devices = devices}, &request, &err),
	        TK_EUSAGE);
	assert_null(request);
	assert_non_null(strstr(err.message, "--devices"));
}

static void what_is_left_out_is_restored(void **state)
{
	json_t *request = encode(&all);
	struct tk_night_options o = {.resume = true, .seed = 9};
	char **devices;

	assert_int_equal(tk_night_request_restore(request, &o, &devices, NULL), TK_OK);
	assert_true(o.split && o.resume);
	assert_int_equal(o.part, 2);
	assert_int_equal(o.parts, 14);
	assert_int_equal(o.seed, 9);
	assert_string_equal(o.import_file, all.import_file);
	assert_string_equal(o.only_upstream, "openblas");
	assert_ptr_equal(o.devices, devices);
	assert_string_equal(devices[0], "null:0");
	assert_string_equal(devices[1], "null:1");
	assert_null(devices[2]);
	free(devices);
	json_decref(request);
}

static void what_is_given_again_must_be_the_same(void **state)
{
	struct tk_night_options same = all;
	json_t *request = encode(&all);
	struct tk_error err = {0};
	char **devices;

	assert_int_equal(tk_night_request_restore(request, &same, &devices, &err), TK_OK);
	free(devices);
	same = (struct tk_night_options){.devices = one_device};
	assert_int_equal(tk_night_request_restore(request, &same, &devices, &err), TK_EUSAGE);
	assert_null(devices);
	assert_non_null(strstr(err.message, "--devices=null:0: "));
	assert_non_null(strstr(err.message, "with --devices=null:0,null:1;"));
	json_decref(request);
}

static void another_part_is_refused(void **state)
{
	json_t *request = encode(&all);
	struct tk_night_options o = {.part = 1, .parts = 14};
	struct tk_error err = {0};
	char **devices;

	assert_int_equal(tk_night_request_restore(request, &o, &devices, &err), TK_EUSAGE);
	assert_non_null(strstr(err.message, "--part=1/14: "));
	assert_non_null(strstr(err.message, "with --part=2/14;"));
	json_decref(request);
}

static void an_option_that_the_start_did_not_have_is_refused(void **state)
{
	json_t *request = encode(&(struct tk_night_options){.only_upstream = "openblas"});
	struct tk_night_options o = {.split = true};
	struct tk_error err = {0};
	char **devices;

	assert_int_equal(tk_night_request_restore(request, &o, &devices, &err), TK_EUSAGE);
	assert_non_null(strstr(err.message, "--split: "));
	assert_non_null(strstr(err.message, "started without it;"));
	json_decref(request);
}

static void a_night_with_the_defaults_restores_the_defaults(void **state)
{
	json_t *request = encode(&(struct tk_night_options){0});
	struct tk_night_options o = {0};
	char **devices;

	assert_int_equal(tk_night_request_restore(request, &o, &devices, NULL), TK_OK);
	assert_null(devices);
	assert_true(!o.devices && !o.split && !o.parts && !o.import_file && !o.only_upstream);
	json_decref(request);
}

/* A stored part that is none: the night has all problems. */
static void a_part_that_is_none_is_all(void **state)
{
	static const char *const texts[] = {"", "2", "3/2", "0/4", "x/y", "1/2/3"};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		json_t *request = json_pack("{s:s}", "part", texts[i]);
		struct tk_night_options o = {0};
		char **devices;

		assert_int_equal(tk_night_request_restore(request, &o, &devices, NULL), TK_OK);
		assert_int_equal(o.part, 0);
		assert_int_equal(o.parts, 0);
		json_decref(request);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(only_what_is_set_is_stored),
	        cmocka_unit_test(a_bundle_is_found_from_another_folder),
	        cmocka_unit_test(not_utf8_is_refused),
	        cmocka_unit_test(what_is_left_out_is_restored),
	        cmocka_unit_test(what_is_given_again_must_be_the_same),
	        cmocka_unit_test(another_part_is_refused),
	        cmocka_unit_test(an_option_that_the_start_did_not_have_is_refused),
	        cmocka_unit_test(a_part_that_is_none_is_all),
	        cmocka_unit_test(a_night_with_the_defaults_restores_the_defaults),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
