/* Tools and libraries, with the versions that they report. */
#include "cli/host/inspect.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/process.h"
#include "cli/host/inspect_read.h"

/* The first version number in a text, as 12.2.0; NULL: none. Free it. */
static char *find_version(const char *text)
{
	for (const char *p = text; *p; p++) {
		size_t n;

		if (!isdigit((unsigned char)*p))
			continue;
		n = strspn(p, "0123456789.");
		while (n > 0 && p[n - 1] == '.')
			n--;
		if (memchr(p, '.', n))
			return tk_strndup(p, n);
		p += n ? n - 1 : 0;
	}
	return NULL;
}

/* The output of a program (stderr if stdout is empty); NULL: it cannot be run or fails. Free it. */
static char *run_output(const char *const *argv)
{
	struct tk_process_spec spec = {.argv = argv, .deadline_s = 10, .capture_max = 1 << 20};
	struct tk_process_result r;
	char *text = NULL;

	if (tk_process_run(&spec, &r, NULL) == 0 && r.exit_code == 0)
		text = tk_strdup(r.out.len ? tk_buf_cstr(&r.out) : tk_buf_cstr(&r.err));
	tk_process_result_free(&r);
	return text;
}

static json_t *tool(const char *name, const char *purpose)
{
	const char *argv[] = {name, "--version", NULL};
	char *path = NULL, *output, *version;
	json_t *t;

	if (!tk_process_find_program(name, &path))
		return json_pack(
		        "{s:s, s:n, s:n, s:s}", "name", name, "path", "version", "for", purpose);
	output = run_output(argv);
	version = output ? find_version(output) : NULL;
	t = json_pack("{s:s, s:o, s:o, s:s}", "name", name, "path", tk_inspect_text(path),
	        "version", tk_inspect_text(version), "for", purpose);
	free(path);
	free(output);
	free(version);
	return t;
}

json_t *tk_inspect_tools(void)
{
	static const struct {
		const char *name, *purpose;
	} tools[] = {
	        {"git", "revisions of upstreams"},
	        {"cmake", "builds"},
	        {"ninja", "builds, faster than make"},
	        {"make", "builds"},
	        {"gcc", "CPU kernels"},
	        {"clang", "CPU kernels"},
	        {"gfortran", "LAPACK parts of OpenBLAS"},
	        {"nvcc", "CUDA kernels"},
	        {"nvidia-smi", "NVIDIA driver's view"},
	        {"ncu", "counters of kernels on NVIDIA GPUs: tracker profile"},
	        {"hipcc", "HIP kernels"},
	        {"rocminfo", "AMD driver's view"},
	        {"rocprofv3", "counters of kernels on AMD GPUs: tracker profile"},
	        {"ccache", "repeated builds"},
	        {"python3", "Python adapters"},
	        {"node", "charts of the site, when the tracker is built"},
	        {"npm", "charts of the site, when the tracker is built"},
	};
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
		json_array_append_new(list, tool(tools[i].name, tools[i].purpose));
	return list;
}

/* The file of a library, of any version, from the loader's cache. Free it. */
static char *library_path(const char *cache, const char *name)
{
	size_t n = strlen(name);
	const char *p = cache;
	char real[PATH_MAX], *path, *found;

	while (p && (p = strstr(p, name))) {
		const char *arrow = strstr(p, "=> "), *end = strchr(p, '\n');

		if ((p == cache || isspace((unsigned char)p[-1])) && (p[n] == ' ' || p[n] == '.') &&
		        arrow && (!end || arrow < end)) {
			path = tk_strndup(arrow + 3, strcspn(arrow + 3, "\n"));
			found = path && realpath(path, real) ? tk_strdup(real) : NULL;
			free(path);
			return found;
		}
		p += n;
	}
	return NULL;
}

static char *package_version(const char *package)
{
	const char *argv[] = {"pkg-config", "--modversion", package, NULL};
	char *output = *package ? run_output(argv) : NULL,
	     *version = output ? find_version(output) : NULL;

	free(output);
	return version;
}

/* libopenblas-r0.3.21.so, libnvidia-ml.so.580.65.06 */
static char *find_file_version(const char *path)
{
	const char *base = path ? strrchr(path, '/') : NULL;

	return base ? find_version(base) : NULL;
}

static json_t *library(const char *cache, const char *name, const char *file, const char *package)
{
	char *path = library_path(cache, file), *version = path ? package_version(package) : NULL;
	json_t *l;

	if (!version)
		version = find_file_version(path);
	l = json_pack("{s:s, s:o, s:o}", "name", name, "path", tk_inspect_text(path), "version",
	        tk_inspect_text(version));
	free(path);
	free(version);
	return l;
}

/* A driver has a version file while its module is loaded. */
static json_t *driver(const char *name, const char *path)
{
	struct tk_buf b = TK_BUF_INIT;
	char *version = find_version(tk_inspect_read_file(&b, "%s", path));
	json_t *d = json_pack("{s:s, s:o, s:o}", "name", name, "path",
	        version ? tk_inspect_text(path) : json_null(), "version", tk_inspect_text(version));

	free(version);
	tk_buf_free(&b);
	return d;
}

json_t *tk_inspect_libraries(void)
{
	static const struct {
		const char *name, *file, *package;
	} libraries[] = {
	        {"OpenBLAS", "libopenblas.so", "openblas"},
	        {"BLIS", "libblis.so", "blis"},
	        {"oneMKL", "libmkl_rt.so", "mkl-dynamic-lp64-seq"},
	        {"CUDA driver API", "libcuda.so", ""},
	        {"CUDA runtime", "libcudart.so", ""},
	        {"cuBLAS", "libcublas.so", ""},
	        {"NVML", "libnvidia-ml.so.1", ""},
	        {"HIP runtime", "libamdhip64.so", ""},
	        {"rocBLAS", "librocblas.so", ""},
	        {"ROCm SMI", "librocm_smi64.so", ""},
	};
	const char *argv[] = {"/sbin/ldconfig", "-p", NULL};
	char *cache = run_output(argv);
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		json_array_append_new(list, library(cache ? cache : "", libraries[i].name,
		                                    libraries[i].file, libraries[i].package));
	json_array_append_new(list, driver("NVIDIA kernel driver", "/proc/driver/nvidia/version"));
	json_array_append_new(list, driver("AMD kernel driver", "/sys/module/amdgpu/version"));
	json_array_append_new(list, driver("ROCm", "/opt/rocm/.info/version"));
	free(cache);
	return list;
}
