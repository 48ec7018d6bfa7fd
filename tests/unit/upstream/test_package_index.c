/* Pages of a package index, which are untrusted. */
#include "base/error.h"
#include "upstream/package.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define FILE_OF(name, more) \
	"{\"filename\":\"" name "\",\"url\":\"https://e.invalid/" name \
	"\",\"hashes\":{\"sha256\":\"" HASH "\"}" more "}"
#define PAGE(files) "{\"files\":[" files "]}"

static struct tk_package_index read_page(const char *page)
{
	struct tk_package_index p = {0};
	struct tk_error err = {0};
	if (tk_package_index_add(
	            &p, "Fake.Pkg", "https://e.invalid/simple", page, strlen(page), &err))
		fail_msg("%s", err.message);
	return p;
}

static void wheels_become_releases(void **state)
{
	struct tk_package_index p = read_page(PAGE(FILE_OF("fake_pkg-1.10-cp311-a.whl",
	        ",\"upload-time\":\"2026-11-02T00:00:01.25Z\",\"core-"
	        "metadata\":true") "," FILE_OF("fake_pkg-1.10-cp312-a."
	                                       "whl",
	        ",\"upload-time\":\"2026-11-01T00:00:00Z\"") "," FILE_OF("fake_pkg-1.9-py3-none-"
	                                                                 "any.whl",
	        ",\"yanked\":\"bad\"") "," FILE_OF("fake_pkg-2.0.tar.gz",
	        "") "," FILE_OF("fake_other-3.0-py3.whl", "") "," FILE_OF("fake_pkg-../x-py3.whl",
	        "") "," FILE_OF("fake_pkg-4.0",
	        "") ","
	            "7,{},{\"filename\":3},{\"filename\":\"fake_pkg-5.0-py3.whl\",\"hashes\":{}}"));
	assert_int_equal(p.count, 3);
	assert_string_equal(p.releases[0].text, "1.9");
	assert_true(p.releases[0].yanked);
	assert_null(p.releases[0].metadata_url);
	assert_string_equal(p.releases[1].text, "1.10");
	assert_false(p.releases[1].yanked);
	assert_int_equal(p.releases[1].wheel_count, 2);
	assert_int_equal(p.releases[1].time_s, 1793491200);
	assert_string_equal(
	        p.releases[1].metadata_url, "https://e.invalid/fake_pkg-1.10-cp311-a.whl.metadata");
	assert_int_equal(p.releases[2].wheel_count, 0); /* 5.0: nothing to check it by */
	tk_package_index_free(&p);
}

static void one_good_wheel_is_enough(void **state)
{
	struct tk_package_index p = read_page(PAGE(FILE_OF("fake_pkg-1-a.whl",
	        ",\"yanked\":true") "," FILE_OF("fake_pkg-1-b.whl", ",\"yanked\":false")));
	assert_int_equal(p.count, 1);
	assert_false(p.releases[0].yanked);
	tk_package_index_free(&p);
}

static void the_first_index_wins(void **state)
{
	const char *page =
	        PAGE(FILE_OF("fake_pkg-1-a.whl", "") "," FILE_OF("fake_pkg-2-a.whl", ""));
	struct tk_package_index p = read_page(PAGE(FILE_OF("fake_pkg-1-a.whl", "")));
	assert_int_equal(tk_package_index_add(&p, "fake-pkg", "https://second.invalid", page,
	                         strlen(page), NULL),
	        0);
	assert_int_equal(p.count, 2);
	assert_int_equal(p.releases[0].wheel_count, 1);
	assert_string_equal(p.releases[0].index, "https://e.invalid/simple");
	assert_string_equal(p.releases[1].index, "https://second.invalid");
	tk_package_index_free(&p);
}

static void other_answers_are_refused(void **state)
{
	static const char *const pages[][2] = {{"<!DOCTYPE html>", "did not answer with JSON"},
	        {"", "did not answer with JSON"}, {"[]", "no list \"files\""},
	        {"{\"files\":{}}", "no list \"files\""}};
	for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
		struct tk_package_index p = {0};
		struct tk_error err = {0};
		assert_int_equal(tk_package_index_add(&p, "x", "https://e.invalid", pages[i][0],
		                         strlen(pages[i][0]), &err),
		        TK_EDATA);
		if (!strstr(err.message, pages[i][1]))
			fail_msg("%s: %s", pages[i][0], err.message);
		tk_package_index_free(&p);
	}
}

static void names_are_normalized(void **state)
{
	static const char *const names[][2] = {
	        {"Fake.Pkg", "fake-pkg"}, {"a__b--c", "a-b-c"}, {"triton", "triton"}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *normal = tk_package_normalize_name(names[i][0]);
		assert_string_equal(normal, names[i][1]);
		free(normal);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(wheels_become_releases),
	        cmocka_unit_test(one_good_wheel_is_enough), cmocka_unit_test(the_first_index_wins),
	        cmocka_unit_test(other_answers_are_refused),
	        cmocka_unit_test(names_are_normalized)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
