/* The system, CPU and memory, from /proc and /sys. Containers hide much of it: everything may be
 * missing. */
#include <ctype.h>
#include <jansson.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/process.h"
#include "cli/host/inspect.h"

static const char *tk_inspect_read_file(struct tk_buf *b, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof path, fmt, ap);
	va_end(ap);
	if (tk_file_read(path, 1 << 20, b, NULL) != 0)
		tk_buf_clear(b);
	while (b->len > 0 && isspace((unsigned char)b->data[b->len - 1]))
		b->data[--b->len] = '\0';
	return tk_buf_cstr(b);
}

static json_t *tk_inspect_text(const char *s)
{
	struct tk_buf valid = TK_BUF_INIT;
	json_t *v;

	if (!s || !*s)
		return json_null();
	tk_buf_add_utf8(&valid, s, strlen(s));
	v = json_string(tk_buf_cstr(&valid));
	tk_buf_free(&valid);
	return v;
}

/* The value of `key` in lines of "key : value" or "key=value"; NULL: none. Free it. */
static char *field(const char *text, const char *key, char separator)
{
	size_t n = strlen(key);

	for (const char *line = text; line;
	        line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		const char *p = line + n;

		if (strncmp(line, key, n) != 0)
			continue;
		p += strspn(p, " \t");
		if (*p != separator)
			continue;
		p += 1 + strspn(p + 1, " \t\"");
		return tk_strndup(p, strcspn(p, "\"\n"));
	}
	return NULL;
}

static const char *container(struct tk_buf *b)
{
	const char *name = tk_inspect_read_file(b, "/run/systemd/container");

	if (*name)
		return name;
	if (access("/.dockerenv", F_OK) == 0)
		return "docker";
	return access("/run/.containerenv", F_OK) == 0 ? "podman" : "";
}

json_t *tk_inspect_system(void)
{
	struct tk_buf os = TK_BUF_INIT, cpu = TK_BUF_INIT, c = TK_BUF_INIT;
	struct utsname u = {0};
	char *name = field(tk_inspect_read_file(&os, "/etc/os-release"), "PRETTY_NAME", '='),
	     *flags = field(tk_inspect_read_file(&cpu, "/proc/cpuinfo"), "flags", ':');
	json_t *system;

	uname(&u);
	system = json_pack("{s:o, s:s, s:s, s:o, s:b}", "os", tk_inspect_text(name), "kernel",
	        u.release, "arch", u.machine, "container", tk_inspect_text(container(&c)),
	        "virtual", flags && strstr(flags, " hypervisor"));
	free(name);
	free(flags);
	tk_buf_free(&os);
	tk_buf_free(&cpu);
	tk_buf_free(&c);
	return system;
}

#define CPU "/sys/devices/system/cpu/"

/* Counts cores, not threads: a thread counts if it is the first of its siblings. */
static int count_cores(int logical)
{
	struct tk_buf b = TK_BUF_INIT;
	int cores = 0;

	for (int i = 0; i < logical; i++) {
		const char *siblings =
		        tk_inspect_read_file(&b, CPU "cpu%d/topology/thread_siblings_list", i);

		cores += *siblings && atoi(siblings) == i;
	}
	tk_buf_free(&b);
	return cores;
}

static int count_matching(const char *dir, const char *prefix)
{
	char **names;
	size_t count, n = strlen(prefix);
	int found = 0;

	if (tk_dir_list(dir, &names, &count, NULL) != 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		found += strncmp(names[i], prefix, n) == 0 && isdigit((unsigned char)names[i][n]);
	tk_names_free(names, count);
	return found;
}

static json_t *caches(void)
{
	struct tk_buf b = TK_BUF_INIT;
	json_t *list = json_array();

	for (int i = 0; i < 16; i++) {
		int level = atoi(tk_inspect_read_file(&b, CPU "cpu0/cache/index%d/level", i));
		char *type, unit = 0;
		long long size = 0;

		if (!level)
			break;
		type = tk_strdup(tk_inspect_read_file(&b, CPU "cpu0/cache/index%d/type", i));
		if (sscanf(tk_inspect_read_file(&b, CPU "cpu0/cache/index%d/size", i), "%lld%c",
		            &size, &unit) == 2)
			size *= unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1;
		json_array_append_new(
		        list, json_pack("{s:i, s:o, s:I, s:o}", "level", level, "type",
		                      tk_inspect_text(type), "bytes", (json_int_t)size, "shared",
		                      tk_inspect_text(tk_inspect_read_file(
		                              &b, CPU "cpu0/cache/index%d/shared_cpu_list", i))));
		free(type);
	}
	tk_buf_free(&b);
	return list;
}

static json_t *turbo(struct tk_buf *b)
{
	const char *no_turbo = tk_inspect_read_file(b, CPU "intel_pstate/no_turbo"), *boost;

	if (*no_turbo)
		return json_boolean(*no_turbo == '0');
	boost = tk_inspect_read_file(b, CPU "cpufreq/boost");
	return *boost ? json_boolean(*boost == '1') : json_null();
}

static int usable_cpus(int logical)
{
	size_t size = CPU_ALLOC_SIZE(8192);
	cpu_set_t *set = CPU_ALLOC(8192);
	int n = set && sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : logical;

	if (set)
		CPU_FREE(set);
	return n;
}

json_t *tk_inspect_cpu(void)
{
	struct tk_buf b = TK_BUF_INIT;
	int logical = (int)sysconf(_SC_NPROCESSORS_ONLN), cores = count_cores(logical);
	char *model = field(tk_inspect_read_file(&b, "/proc/cpuinfo"), "model name", ':');
	double load = 0;
	json_t *cpu = json_object();

	json_object_set_new(cpu, "model", tk_inspect_text(model));
	json_object_set_new(cpu, "logical", json_integer(logical));
	json_object_set_new(cpu, "usable", json_integer(usable_cpus(logical)));
	json_object_set_new(cpu, "cores", cores ? json_integer(cores) : json_null());
	json_object_set_new(
	        cpu, "smt", tk_inspect_text(tk_inspect_read_file(&b, CPU "smt/control")));
	json_object_set_new(cpu, "governor",
	        tk_inspect_text(tk_inspect_read_file(&b, CPU "cpu0/cpufreq/scaling_governor")));
	json_object_set_new(cpu, "turbo", turbo(&b));
	json_object_set_new(
	        cpu, "load_1m", getloadavg(&load, 1) == 1 ? json_real(load) : json_null());
	json_object_set_new(cpu, "numa_nodes",
	        json_integer(count_matching("/sys/devices/system/node", "node")));
	json_object_set_new(cpu, "caches", caches());
	free(model);
	tk_buf_free(&b);
	return cpu;
}

json_t *tk_inspect_memory(void)
{
	struct tk_buf b = TK_BUF_INIT;
	const char *text = tk_inspect_read_file(&b, "/proc/meminfo");
	char *total = field(text, "MemTotal", ':'), *available = field(text, "MemAvailable", ':');
	json_t *memory =
	        json_pack("{s:I, s:I}", "total_bytes", total ? (json_int_t)atoll(total) * 1024 : 0,
	                "available_bytes", available ? (json_int_t)atoll(available) * 1024 : 0);

	free(total);
	free(available);
	tk_buf_free(&b);
	return memory;
}

/* Keeps the smallest limit: that of an outer group holds for the inner ones. */
static void read_limits_v2(const char *group, double *cpus, double *memory)
{
	struct tk_buf b = TK_BUF_INIT;
	double quota, period, bytes;

	if (sscanf(tk_inspect_read_file(&b, "/sys/fs/cgroup%s/cpu.max", group), "%lf %lf", &quota,
	            &period) == 2 &&
	        period > 0 && quota / period < *cpus)
		*cpus = quota / period;
	if (sscanf(tk_inspect_read_file(&b, "/sys/fs/cgroup%s/memory.max", group), "%lf", &bytes) ==
	                1 &&
	        bytes < *memory)
		*memory = bytes;
	tk_buf_free(&b);
}

/* Version 1 has two trees; a container sees its own group as their root. */
static void read_limits_v1(double *cpus, double *memory)
{
	struct tk_buf b = TK_BUF_INIT;
	double quota = atof(tk_inspect_read_file(&b, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us")),
	       period = atof(tk_inspect_read_file(&b, "/sys/fs/cgroup/cpu/cpu.cfs_period_us"));
	double bytes =
	        atof(tk_inspect_read_file(&b, "/sys/fs/cgroup/memory/memory.limit_in_bytes"));

	if (quota > 0 && period > 0)
		*cpus = quota / period;
	if (bytes > 0 && bytes < 0x1p60)
		*memory = bytes;
	tk_buf_free(&b);
}

json_t *tk_inspect_limits(void)
{
	struct tk_buf b = TK_BUF_INIT;
	const char *line = strstr(tk_inspect_read_file(&b, "/proc/self/cgroup"), "0::/");
	char *group = line ? tk_strndup(line + 3, strcspn(line + 3, "\n")) : NULL;
	double cpus = 1e9, memory = 0x1p60;

	while (group && *group) {
		read_limits_v2(group, &cpus, &memory);
		*strrchr(group, '/') = '\0';
	}
	read_limits_v2("", &cpus, &memory);
	read_limits_v1(&cpus, &memory);
	free(group);
	tk_buf_free(&b);
	return json_pack("{s:o, s:o}", "cpus", cpus < 1e9 ? json_real(cpus) : json_null(),
	        "memory_bytes", memory < 0x1p60 ? json_integer((json_int_t)memory) : json_null());
}

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
