/* Addresses of commits, and differences between environments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "site_gen/model/links.h"
#include <string.h>

#define HASH "0123456789abcdef0123456789abcdef01234567"
#define OTHER "fedcba9876543210fedcba9876543210fedcba98"

static char out[TK_LINK_SIZE];

static void links_commits_of_known_forges(void **state)
{
	assert_string_equal(tk_link_commit("https://github.com/a/b.git", HASH, out),
	        "https://github.com/a/b/commit/" HASH);
	assert_string_equal(tk_link_commit("https://gitlab.example.org/a/b", HASH, out),
	        "https://gitlab.example.org/a/b/-/commit/" HASH);
	assert_string_equal(tk_link_range("https://github.com/a/b/", HASH, OTHER, out),
	        "https://github.com/a/b/compare/" HASH "..." OTHER);
}

static void links_nothing_odd(void **state)
{
	static const char *const urls[] = {"", "git@github.com:a/b.git", "https://example.org/a/b",
	        "javascript:alert(1)//github.com/", "https://github.com/a/\"><script>",
	        "file:///srv/git/github.com/a"};
	for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
		assert_string_equal(tk_link_commit(urls[i], HASH, out), "");
	assert_string_equal(tk_link_commit("https://github.com/a/b", "../../x", out), "");
	assert_string_equal(tk_link_commit("https://github.com/a/b", "v1.2", out), "");
}

static void hides_passwords(void **state)
{
	assert_string_equal(tk_link_strip_user("https://user:secret@github.com/a/b", out),
	        "https://github.com/a/b");
	assert_string_equal(tk_link_commit("https://user:secret@github.com/a/b.git", HASH, out),
	        "https://github.com/a/b/commit/" HASH);
	assert_string_equal(tk_link_strip_user("/srv/a@b", out), "/srv/a@b");
}

static void abbreviates_revisions(void **state)
{
	assert_string_equal(tk_rev_abbreviate(HASH, out), "0123456789ab");
	assert_string_equal(tk_rev_abbreviate("0.3.21+ds-4", out), "0.3.21+ds-4");
	assert_string_equal(tk_rev_abbreviate("a version with a very long name", out),
	        "a version with a very lo…");
}

static void writes_differences_of_environments(void **state)
{
	struct tk_buf text = TK_BUF_INIT;
	tk_environment_add_diff(&text, "{\"driver\":\"550\",\"a\":{\"clock\":1}}",
	        "{\"driver\":\"560\",\"a\":{\"clock\":1},\"new\":true}");
	assert_non_null(strstr(tk_buf_cstr(&text), "driver 550 → 560"));
	assert_null(strstr(tk_buf_cstr(&text), "clock"));
	assert_non_null(strstr(tk_buf_cstr(&text), "new"));
	tk_buf_clear(&text);
	tk_environment_add_diff(&text, "not json", "{\"driver\":\"560\"}");
	tk_buf_clear(&text);
	tk_environment_add_diff(&text, "{\"a\":1}", "{\"a\":1}");
	assert_int_equal(text.len, 0);
	tk_buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(links_commits_of_known_forges),
	        cmocka_unit_test(links_nothing_odd), cmocka_unit_test(hides_passwords),
	        cmocka_unit_test(abbreviates_revisions),
	        cmocka_unit_test(writes_differences_of_environments)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
