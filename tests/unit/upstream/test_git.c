/* User input never becomes an option, a transport helper or a word of a shell. */
#include "base/error.h"
#include "scratch.h"
#include "upstream/git.h"

static void expect_url(const char *url, const char *message)
{
	struct tk_error err = {0};
	assert_int_equal(tk_git_check_url(url, &err), message ? TK_ECONFIG : TK_OK);
	if (message)
		assert_string_equal(err.message, message);
}

static void urls(void **state)
{
	expect_url("https://github.com/flame/blis.git", NULL);
	expect_url("git@example.org:a/b.git", NULL);
	expect_url("../kernels", NULL);
	expect_url("/srv/odd::name", NULL);
	expect_url("", "the url is empty");
	expect_url("--upload-pack=touch x", "the url \"--upload-pack=touch x\" starts with \"-\"");
	expect_url("https://a\nb", "the url contains control characters");
	expect_url("ext::sh -c 'touch x'", "the url \"ext::sh -c 'touch x'\" names a transport "
	                                   "helper; expected https, ssh, git, file or a path");
	expect_url("fd::17", "the url \"fd::17\" names a transport helper; expected https, ssh, "
	                     "git, file or a path");
	assert_true(tk_git_url_is_local("/srv/git/a"));
	assert_true(tk_git_url_is_local("./a:b"));
	assert_true(tk_git_url_is_local("file:///srv/a"));
	assert_false(tk_git_url_is_local("git@example.org:a/b"));
	assert_false(tk_git_url_is_local("https://example.org/a"));
}

static void expect_branch(const char *branch, const char *message)
{
	struct tk_error err = {0};
	assert_int_equal(tk_git_check_branch(branch, &err), message ? TK_ECONFIG : TK_OK);
	if (message)
		assert_string_equal(err.message, message);
}

static void branches(void **state)
{
	expect_branch("main", NULL);
	expect_branch("feature/<script>'\"", NULL);
	expect_branch("-main", "the branch \"-main\" starts with \"-\"");
	expect_branch("", "the branch is empty");
	expect_branch("a..b", "\"a..b\" is not a branch name");
	expect_branch("a b", "\"a b\" is not a branch name");
	expect_branch("a:refs/heads/b", "\"a:refs/heads/b\" is not a branch name");
	expect_branch("*", "\"*\" is not a branch name");
	expect_branch("main@{upstream}", "\"main@{upstream}\" is not a branch name");
	struct tk_error err = {0};
	assert_int_equal(tk_git_check_rev("a..b", &err), TK_ECONFIG);
	assert_string_equal(err.message, "\"a..b\" is a range; expected one revision");
	assert_int_equal(tk_git_check_rev("v1.0~2", &err), TK_OK);
}

static void failures_speak(void **state)
{
	const struct scratch *s = *state;
	const struct tk_git git = {.dir = s->dir, .mode = TK_GIT_LOCAL, .deadline_s = 30};
	struct tk_error err = {0};
	int code = 0;
	assert_int_equal(
	        tk_git_run(&git, (const char *const[]){"rev-parse", "HEAD", NULL}, NULL, &err),
	        TK_EIO);
	assert_non_null(strstr(err.message, "git rev-parse: exit code 128: "));
	assert_int_equal(tk_git_query(&git, (const char *const[]){"rev-parse", "HEAD", NULL}, &code,
	                         NULL, &err),
	        TK_OK);
	assert_int_equal(code, 128);
	const struct tk_git nowhere = {.dir = "/nonexistent/folder", .deadline_s = 30};
	assert_int_not_equal(
	        tk_git_run(&nowhere, (const char *const[]){"status", NULL}, NULL, &err), TK_OK);
}

/* Local commands reach no server, so that a partial clone does not fetch commit after commit. */
static void local_is_local(void **state)
{
	const struct scratch *s = *state;
	sh(s, "git init -q a && git -C a commit -q --allow-empty -m one");
	const struct tk_git git = {.dir = s->dir, .mode = TK_GIT_LOCAL, .deadline_s = 30};
	struct tk_error err = {0};
	assert_int_equal(
	        tk_git_run(&git, (const char *const[]){"ls-remote", "./a", NULL}, NULL, &err),
	        TK_EIO);
	assert_non_null(strstr(err.message, "not allowed"));
	const struct tk_git network = {.dir = s->dir, .mode = TK_GIT_NETWORK, .deadline_s = 30};
	assert_int_equal(
	        tk_git_run(&network, (const char *const[]){"ls-remote", "./a", NULL}, NULL, &err),
	        TK_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(urls), cmocka_unit_test(branches),
	        cmocka_unit_test_setup_teardown(failures_speak, scratch_open, scratch_close),
	        cmocka_unit_test_setup_teardown(local_is_local, scratch_open, scratch_close)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
