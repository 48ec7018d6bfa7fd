/* The variables of a build that do not depend on where it stands. */
#include "base/process.h"
#include "build/build_internal.h"
#include <stdlib.h>

int tk_build_env_put(
        struct tk_build_env *e, const char *name, const char *value, struct tk_error *err)
{
	if (e->count == TK_BUILD_ENV_MAX)
		return tk_fail(
		        err, TK_ECONFIG, "more than %d variables in `env`", TK_BUILD_ENV_MAX);
	e->vars[e->count++] = tk_sprintf("%s=%s", name, value);
	return TK_OK;
}

/* 0: unknown. */
static uint64_t read_free_mib(void)
{
	unsigned long long kib = 0;
	char line[256];
	FILE *f = fopen("/proc/meminfo", "re");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib >> 10;
}

/* The jobs of `spec`, or fewer where the adapter has a file `memory_per_job` and less memory is
 * free; at least one. */
static int limit_jobs(const struct tk_build_spec *spec, unsigned *out, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	AUTO_TEXT path = tk_path_join(spec->adapter_dir, "memory_per_job");
	unsigned long mib = 0;
	*out = spec->jobs ? spec->jobs : 1;
	if (!tk_file_exists(path))
		return TK_OK;
	TRY(tk_file_read(path, 4096, &text, err));
	if (sscanf(tk_buf_cstr(&text), "%9lu", &mib) != 1 || !mib)
		return tk_fail(err, TK_ECONFIG, "%s: expected a number of MiB above 0", path);
	const uint64_t free_mib = read_free_mib(), fit = free_mib / mib;
	if (free_mib && fit < *out)
		*out = fit ? (unsigned)fit : 1;
	return TK_OK;
}

#define NVIDIA_SMI_DEADLINE_S 20

/* Of each NVIDIA card, such as "9.0 9.0"; "": there is none. A build cannot ask for it: the sandbox
 * hides the devices. */
static void find_cuda_capabilities(char *out, size_t size)
{
	const char *const argv[] = {
	        "nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader", NULL};
	const struct tk_process_spec spec = {.argv = argv, .deadline_s = NVIDIA_SMI_DEADLINE_S};
	struct tk_process_result result;
	*out = '\0';
	if (!tk_process_run(&spec, &result, NULL) && result.exit_code == 0) {
		const char *text = tk_buf_cstr(&result.out);
		snprintf(out, size, "%.*s", (int)strspn(text, "0123456789.\n"), text);
		for (char *c = out; *c; c++)
			*c = *c == '\n' ? ' ' : *c;
	}
	tk_process_result_free(&result);
}

int tk_build_env_add(struct tk_build_env *e, const struct tk_build_spec *spec, struct tk_error *err)
{
	const char *arch = tk_text_or(spec->arch, "native");
	char jobs[16], instances[16] = "", capabilities[256] = "";
	unsigned job_count = 1;
	if (strcmp(arch, "native") == 0)
		find_cuda_capabilities(capabilities, sizeof capabilities);
	TRY(limit_jobs(spec, &job_count, err));
	snprintf(jobs, sizeof(jobs), "%u", job_count);
	if (spec->instances)
		snprintf(instances, sizeof(instances), "%u", spec->instances);
	const struct {
		const char *name, *value;
	} vars[] = {{"TK_JOBS", jobs}, {"TK_INSTANCES", instances}, {"TK_ARCH", arch},
	        {"TK_CUDA_CAPABILITIES", capabilities}, {"TK_FLAGS", tk_text_or(spec->flags, "")},
	        {"CC", tk_text_or(getenv("CC"), "cc")}, {"CXX", tk_text_or(getenv("CXX"), "c++")},
	        {"LDFLAGS", "-Wl,--emit-relocs"}, {"SOURCE_DATE_EPOCH", "315532800"}};
	for (char *const *name = spec->env; name && *name; name++)
		if (getenv(*name))
			TRY(tk_build_env_put(e, *name, getenv(*name), err));
	for (size_t i = 0; i < sizeof vars / sizeof *vars; i++)
		TRY(tk_build_env_put(e, vars[i].name, vars[i].value, err));
	return TK_OK;
}

void tk_build_env_free(struct tk_build_env *e)
{
	while (e->count)
		free(e->vars[--e->count]);
}
