/* The environment of child processes: variables that locate tools, accounts and devices, none that
 * silently changes a measurement. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/process.h"

extern char **environ;

/* A name that ends with '*' is a prefix, one that starts with '*' a suffix. */
static const char *const kept[] = {"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "SSH_*",
        "*_proxy", "*_PROXY", "SSL_CERT_*", "CUDA_*", "NVIDIA_*", "HIP_*", "ROCR_*", "ROCM_*",
        "LD_LIBRARY_PATH", "CC", "CXX", "CCACHE_*", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS",
        NULL};

static bool matches(const char *pattern, const char *name, size_t n)
{
	size_t p = strlen(pattern);

	if (pattern[0] == '*')
		return n >= p - 1 && memcmp(name + n - (p - 1), pattern + 1, p - 1) == 0;
	if (pattern[p - 1] == '*')
		return n >= p - 1 && memcmp(name, pattern, p - 1) == 0;
	return n == p && memcmp(name, pattern, n) == 0;
}

static bool is_kept(const char *variable)
{
	size_t n = strcspn(variable, "=");

	for (const char *const *p = kept; *p; p++)
		if (matches(*p, variable, n))
			return true;
	return false;
}

/* Replaces the variable of the same name or appends. `env` has room. */
static int set_variable(char **env, size_t *count, const char *variable)
{
	size_t n = strcspn(variable, "="), i = 0;
	char *copy = strdup(variable);

	if (!copy)
		return TK_ENOMEM;
	while (i < *count && (strncmp(env[i], variable, n) != 0 || env[i][n] != '='))
		i++;
	if (i == *count)
		(*count)++;
	else
		free(env[i]);
	env[i] = copy;
	return TK_OK;
}

char **tk_env_new_scrubbed(const char *const *extra, struct tk_error *err)
{
	static const char *const fixed[] = {"LANG=C", "LC_ALL=C", NULL};
	size_t room = 3, count = 0;
	char **env;
	int status = TK_OK;

	for (char **e = environ; e && *e; e++)
		room++;
	for (const char *const *e = extra; e && *e; e++)
		room++;
	env = calloc(room, sizeof *env);
	if (!env)
		goto failed;
	for (char **e = environ; e && *e && !status; e++)
		if (is_kept(*e))
			status = set_variable(env, &count, *e);
	for (const char *const *e = fixed; *e && !status; e++)
		status = set_variable(env, &count, *e);
	for (const char *const *e = extra; e && *e && !status; e++)
		status = set_variable(env, &count, *e);
	if (!status)
		return env;
failed:
	tk_env_free(env);
	tk_fail(err, TK_ENOMEM, "out of memory");
	return NULL;
}

void tk_env_free(char **env)
{
	for (char **e = env; e && *e; e++)
		free(*e);
	free(env);
}
