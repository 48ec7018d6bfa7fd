/* The environment of child processes: variables that locate tools, accounts and devices, none that
 * silently changes a measurement. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/process.h"

extern char **environ;

/* Whole names: a prefix such as CUDA_ or SSH_ would also pass keys and tokens. docs/explanation/
 * sandbox.md has this list. */
static const char *const kept[] = {"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ",
        "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "CC", "CXX", "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_MODULE_LOADING", "CUDA_HOME",
        "CUDA_PATH", "CUDA_CACHE_DISABLE", "CUDA_CACHE_MAXSIZE", "CUDA_INJECTION64_PATH",
        "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY", "NVIDIA_VISIBLE_DEVICES",
        "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_TF32_OVERRIDE", "HIP_VISIBLE_DEVICES", "HIP_PATH",
        "HIP_PLATFORM", "ROCR_VISIBLE_DEVICES", "ROCM_PATH", "ROCM_HOME", "CCACHE_DIR",
        "CCACHE_BASEDIR", "CCACHE_DISABLE", "CCACHE_MAXSIZE", "CCACHE_CONFIGPATH",
        "CCACHE_NOHASHDIR", "CCACHE_SLOPPINESS", "CCACHE_COMPILERCHECK", "ASAN_OPTIONS",
        "LSAN_OPTIONS", "UBSAN_OPTIONS", NULL};

/* How git reaches a repository, and pip an index. */
static const char *const kept_for_network[] = {"SSH_AUTH_SOCK", "http_proxy", "https_proxy",
        "HTTPS_PROXY", "ftp_proxy", "FTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
        "PIP_CERT", "REQUESTS_CA_BUNDLE", NULL};

static bool has_name(const char *const *names, const char *variable)
{
	size_t n = strcspn(variable, "=");

	for (; *names; names++)
		if (strlen(*names) == n && memcmp(*names, variable, n) == 0)
			return true;
	return false;
}

/* Replaces the variable of the same name or appends. `env` has room. */
static void set_variable(char **env, size_t *count, const char *variable)
{
	size_t n = strcspn(variable, "="), i = 0;
	char *copy = tk_strdup(variable);

	while (i < *count && (strncmp(env[i], variable, n) != 0 || env[i][n] != '='))
		i++;
	if (i == *count)
		(*count)++;
	else
		free(env[i]);
	env[i] = copy;
}

char **tk_env_new_scrubbed(const char *const *extra, bool for_network)
{
	static const char *const fixed[] = {"LANG=C", "LC_ALL=C", NULL};
	size_t room = 3, count = 0;
	char **env;

	for (char **e = environ; e && *e; e++)
		room++;
	for (const char *const *e = extra; e && *e; e++)
		room++;
	env = tk_calloc(room, sizeof *env);
	for (char **e = environ; e && *e; e++)
		if (has_name(kept, *e) || (for_network && has_name(kept_for_network, *e)))
			set_variable(env, &count, *e);
	for (const char *const *e = fixed; *e; e++)
		set_variable(env, &count, *e);
	for (const char *const *e = extra; e && *e; e++)
		set_variable(env, &count, *e);
	return env;
}

void tk_env_free(char **env)
{
	for (char **e = env; e && *e; e++)
		free(*e);
	free(env);
}
