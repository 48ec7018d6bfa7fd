/* The order of versions, with the examples of PEP 440. */
#include "base/version.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static struct tk_version parse(const char *text)
{
	struct tk_version v;
	if (!tk_version_parse(text, &v))
		fail_msg("\"%s\" is refused", text);
	return v;
}

static void versions_are_ordered(void **state)
{
	static const char *const ascending[] = {"0.9", "1.0.dev1", "1.0a1.dev1", "1.0a1", "1.0a2",
	        "1.0a12", "1.0b1", "1.0b2.dev3", "1.0b2", "1.0rc1", "1.0rc2", "1.0", "1.0+abc",
	        "1.0+abc.7", "1.0+5", "1.0+12", "1.0.post1.dev2", "1.0.post1", "1.0.1", "1.2",
	        "1.10", "3.0.0.post1", "2021.1", "1!0.1"};
	for (size_t i = 0; i < COUNT(ascending); i++)
		for (size_t k = 0; k < COUNT(ascending); k++) {
			const struct tk_version a = parse(ascending[i]), b = parse(ascending[k]);
			const int order = tk_version_compare(&a, &b), wanted = (i > k) - (i < k);
			if ((order > 0) - (order < 0) != wanted)
				fail_msg("%s and %s: %d, expected %d", ascending[i], ascending[k],
				        order, wanted);
		}
}

static void spellings_are_equal(void **state)
{
	static const char *const pairs[][2] = {{"1.0", "1.0.0"}, {"v1.1", "1.1"},
	        {"1.0-alpha.1", "1.0a1"}, {"1.0BETA2", "1.0b2"}, {"1.0c1", "1.0rc1"},
	        {"1.0_pre_3", "1.0rc3"}, {"1.0-1", "1.0.post1"}, {"1.0.rev2", "1.0.post2"},
	        {"1.0dev", "1.0.dev0"}, {"1.0+Ubuntu-1", "1.0+ubuntu.1"}, {"01.02", "1.2"}};
	for (size_t i = 0; i < COUNT(pairs); i++) {
		const struct tk_version a = parse(pairs[i][0]), b = parse(pairs[i][1]);
		if (tk_version_compare(&a, &b))
			fail_msg("%s is not %s", pairs[i][0], pairs[i][1]);
	}
}

static void other_texts_are_refused(void **state)
{
	static const char *const bad[] = {"", "main", "1.", "1..2", "1.0+", "1.0+a/b", "1.0 ", "-1",
	        "1.0rc1x", "99999999999999999999", "1.2.3.4.5.6.7.8.9", "1!", "refs/tags/1"};
	struct tk_version v;
	for (size_t i = 0; i < COUNT(bad); i++)
		if (tk_version_parse(bad[i], &v))
			fail_msg("\"%s\" is accepted", bad[i]);
}

static void pre_releases_are_known(void **state)
{
	static const struct {
		const char *text;
		bool pre;
	} cases[] = {{"1.0", false}, {"1.0rc1", true}, {"1.0.dev1", true}, {"1.0.post1", false},
	        {"1.0.post1.dev1", true}, {"1.0+a1", false}};
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct tk_version v = parse(cases[i].text);
		if (tk_version_is_pre(&v) != cases[i].pre)
			fail_msg("%s", cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(versions_are_ordered),
	        cmocka_unit_test(spellings_are_equal), cmocka_unit_test(other_texts_are_refused),
	        cmocka_unit_test(pre_releases_are_known)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
