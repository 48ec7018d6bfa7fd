/* The environment of children: what passes, what is fixed, what wins, and that no secret passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/process.h"

extern char **environ;

/* The value of a variable; NULL: there is none. Fails where there are two. */
static const char *find(char **env, const char *name)
{
	const size_t n = strlen(name);
	const char *found = NULL;

	for (char **e = env; *e; e++)
		if (strncmp(*e, name, n) == 0 && (*e)[n] == '=') {
			assert_null(found);
			found = *e + n + 1;
		}
	return found;
}

static char **scrubbed(const char *const *extra, bool for_network)
{
	struct tk_error err = {0};
	char **env = tk_env_new_scrubbed(extra, for_network, &err);

	if (!env)
		fail_msg("%s", err.message);
	return env;
}

static void secrets_do_not_pass(void **state)
{
	static const char *const secrets[] = {"AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN",
	        "SSH_AUTH_SOCK", "CUDA_API_KEY", "SSH_PRIVATE_KEY", "PATH_TOKEN", "XPATH",
	        "PIP_INDEX_URL", "LD_PRELOAD", "OMP_NUM_THREADS", "http_proxy", "path"};

	(void)state;
	for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
		setenv(secrets[i], "secret", 1);
	char **env = scrubbed(NULL, false);

	for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
		if (find(env, secrets[i]))
			fail_msg("%s passes", secrets[i]);
	for (char **e = env; *e; e++)
		assert_null(strstr(*e, "secret"));
	tk_env_free(env);
	/* what reaches a repository passes with the network, and nothing else does */
	env = scrubbed(NULL, true);
	assert_string_equal(find(env, "SSH_AUTH_SOCK"), "secret");
	assert_string_equal(find(env, "http_proxy"), "secret");
	assert_null(find(env, "GITHUB_TOKEN"));
	assert_null(find(env, "PIP_INDEX_URL"));
	assert_null(find(env, "LD_PRELOAD"));
	tk_env_free(env);
	for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
		unsetenv(secrets[i]);
}

static void tools_are_found(void **state)
{
	static const char *const names[] = {
	        "HOME", "TMPDIR", "CUDA_VISIBLE_DEVICES", "CC", "ROCM_PATH", "CCACHE_DIR", "TZ"};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *before = getenv(names[i]) ? strdup(getenv(names[i])) : NULL;

		setenv(names[i], "a=b c", 1);
		char **env = scrubbed(NULL, false);

		assert_string_equal(find(env, names[i]), "a=b c");
		tk_env_free(env);
		setenv(names[i], "", 1);
		env = scrubbed(NULL, false);
		assert_string_equal(find(env, names[i]), ""); /* empty is not missing */
		tk_env_free(env);
		unsetenv(names[i]);
		env = scrubbed(NULL, false);
		assert_null(find(env, names[i]));
		tk_env_free(env);
		if (before)
			setenv(names[i], before, 1);
		free(before);
	}
}

/* Messages of compilers are parsed, so that the language of the user must not pass. */
static void the_language_is_fixed(void **state)
{
	static const char *const extra[] = {"LC_ALL=C.UTF-8", NULL};

	(void)state;
	setenv("LANG", "de_DE.UTF-8", 1);
	setenv("LC_ALL", "de_DE.UTF-8", 1);
	setenv("LC_MESSAGES", "de_DE.UTF-8", 1);
	char **env = scrubbed(NULL, false);

	assert_string_equal(find(env, "LANG"), "C");
	assert_string_equal(find(env, "LC_ALL"), "C");
	assert_null(find(env, "LC_MESSAGES"));
	tk_env_free(env);
	env = scrubbed(extra, false); /* unless the caller says otherwise */
	assert_string_equal(find(env, "LC_ALL"), "C.UTF-8");
	tk_env_free(env);
	unsetenv("LANG");
	unsetenv("LC_ALL");
	unsetenv("LC_MESSAGES");
}

static void what_the_caller_adds_wins(void **state)
{
	static const char *const extra[] = {
	        "PATH=/only", "NEW=1", "NEW=2", "EMPTY=", "EQ=a=b", NULL};

	(void)state;
	char **env = scrubbed(extra, false);

	assert_string_equal(find(env, "PATH"), "/only");
	assert_string_equal(find(env, "NEW"), "2");
	assert_string_equal(find(env, "EMPTY"), "");
	assert_string_equal(find(env, "EQ"), "a=b");
	/* it is a copy: the parent's own stays */
	assert_string_not_equal(getenv("PATH"), "/only");
	tk_env_free(env);
}

static void an_empty_environment(void **state)
{
	char **before = environ, *none[] = {NULL};

	(void)state;
	environ = none;
	char **env = scrubbed(NULL, true);

	environ = NULL;
	char **other = scrubbed(NULL, true);

	environ = before;
	assert_string_equal(env[0], "LANG=C");
	assert_string_equal(env[1], "LC_ALL=C");
	assert_null(env[2]);
	assert_string_equal(other[0], "LANG=C");
	assert_null(other[2]);
	tk_env_free(env);
	tk_env_free(other);
	tk_env_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(secrets_do_not_pass),
	        cmocka_unit_test(tools_are_found),
	        cmocka_unit_test(the_language_is_fixed),
	        cmocka_unit_test(what_the_caller_adds_wins),
	        cmocka_unit_test(an_empty_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
