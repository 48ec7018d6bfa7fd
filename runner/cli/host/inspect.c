/* The system, CPU and memory, from /proc and /sys, and this part of `tracker doctor`. Containers
 * hide much of it: everything may be missing. */
#include <ctype.h>
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/host/survey.h"
#include "cli/table.h"

/* A file without the space at its end; "" where it cannot be read. */
static char *read_file(const char *fmt, ...)
{
	AUTO(tk_buf) b = TK_BUF_INIT;
	char path[PATH_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof path, fmt, ap);
	va_end(ap);
	if (tk_file_read(path, 1 << 20, &b, NULL) != 0)
		tk_buf_clear(&b);
	while (b.len > 0 && isspace((unsigned char)b.data[b.len - 1]))
		b.data[--b.len] = '\0';
	return tk_strdup(tk_buf_cstr(&b));
}

/* Invalid UTF-8 is replaced. */
static json_t *text_or_null(const char *s)
{
	return s && *s ? tk_json_valid_text(s) : json_null();
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

static const char *container(const char *systemd)
{
	return *systemd                                  ? systemd
	       : access("/.dockerenv", F_OK) == 0        ? "docker"
	       : access("/run/.containerenv", F_OK) == 0 ? "podman"
	                                                 : "";
}

static json_t *inspect_system(void)
{
	AUTO_TEXT os = read_file("/etc/os-release");
	AUTO_TEXT cpu = read_file("/proc/cpuinfo");
	AUTO_TEXT systemd = read_file("/run/systemd/container");
	AUTO_TEXT name = field(os, "PRETTY_NAME", '=');
	AUTO_TEXT flags = field(cpu, "flags", ':');
	struct utsname u = {0};

	uname(&u);
	return json_pack("{s:o, s:s, s:s, s:o, s:b}", "os", text_or_null(name), "kernel", u.release,
	        "arch", u.machine, "container", text_or_null(container(systemd)), "virtual",
	        flags && strstr(flags, " hypervisor"));
}

#define CPU "/sys/devices/system/cpu/"

/* Counts cores, not threads: a thread counts if it is the first of its siblings. */
static int count_cores(int logical)
{
	int cores = 0;

	for (int i = 0; i < logical; i++) {
		AUTO_TEXT siblings = read_file(CPU "cpu%d/topology/thread_siblings_list", i);

		cores += *siblings && atoi(siblings) == i;
	}
	return cores;
}

static int count_nodes(void)
{
	glob_t found = {0};
	bool exist = glob("/sys/devices/system/node/node[0-9]*", 0, NULL, &found) == 0;
	int count = exist ? (int)found.gl_pathc : 0;

	globfree(&found);
	return count;
}

static json_t *cache(int i, int level)
{
	AUTO_TEXT type = read_file(CPU "cpu0/cache/index%d/type", i);
	AUTO_TEXT text = read_file(CPU "cpu0/cache/index%d/size", i);
	AUTO_TEXT shared = read_file(CPU "cpu0/cache/index%d/shared_cpu_list", i);
	long long size = 0;
	char unit = 0;

	if (sscanf(text, "%lld%c", &size, &unit) == 2)
		size *= unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1;
	return json_pack("{s:i, s:o, s:I, s:o}", "level", level, "type", text_or_null(type),
	        "bytes", (json_int_t)size, "shared", text_or_null(shared));
}

static json_t *caches(void)
{
	json_t *list = json_array();

	for (int i = 0; i < 16; i++) {
		AUTO_TEXT level = read_file(CPU "cpu0/cache/index%d/level", i);

		if (!atoi(level))
			break;
		json_array_append_new(list, cache(i, atoi(level)));
	}
	return list;
}

static json_t *turbo(void)
{
	AUTO_TEXT no_turbo = read_file(CPU "intel_pstate/no_turbo");
	AUTO_TEXT boost = read_file(CPU "cpufreq/boost");

	return *no_turbo ? json_boolean(*no_turbo == '0')
	       : *boost  ? json_boolean(*boost == '1')
	                 : json_null();
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

static json_t *inspect_cpu(void)
{
	const int logical = (int)sysconf(_SC_NPROCESSORS_ONLN), cores = count_cores(logical);
	AUTO_TEXT info = read_file("/proc/cpuinfo");
	AUTO_TEXT model = field(info, "model name", ':');
	AUTO_TEXT smt = read_file(CPU "smt/control");
	AUTO_TEXT governor = read_file(CPU "cpu0/cpufreq/scaling_governor");
	double load = 0;

	return json_pack("{s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:i, s:o}", "model",
	        text_or_null(model), "logical", logical, "usable", usable_cpus(logical), "cores",
	        cores ? json_integer(cores) : json_null(), "smt", text_or_null(smt), "governor",
	        text_or_null(governor), "turbo", turbo(), "load_1m",
	        getloadavg(&load, 1) == 1 ? json_real(load) : json_null(), "numa_nodes",
	        count_nodes(), "caches", caches());
}

/* Of /proc/meminfo, which has kB. */
static json_int_t read_bytes(const char *text, const char *key)
{
	AUTO_TEXT value = field(text, key, ':');

	return value ? (json_int_t)atoll(value) * 1024 : 0;
}

static json_t *inspect_memory(void)
{
	AUTO_TEXT text = read_file("/proc/meminfo");

	return json_pack("{s:I, s:I}", "total_bytes", read_bytes(text, "MemTotal"),
	        "available_bytes", read_bytes(text, "MemAvailable"));
}

/* Keeps the smallest limit: that of an outer group holds for the inner ones. */
static void read_limits_v2(const char *group, double *cpus, double *memory)
{
	AUTO_TEXT cpu_max = read_file("/sys/fs/cgroup%s/cpu.max", group);
	AUTO_TEXT memory_max = read_file("/sys/fs/cgroup%s/memory.max", group);
	double quota, period, bytes;

	if (sscanf(cpu_max, "%lf %lf", &quota, &period) == 2 && period > 0 &&
	        quota / period < *cpus)
		*cpus = quota / period;
	if (sscanf(memory_max, "%lf", &bytes) == 1 && bytes < *memory)
		*memory = bytes;
}

static double read_number(const char *path)
{
	AUTO_TEXT text = read_file("%s", path);

	return atof(text);
}

/* Version 1 has two trees; a container sees its own group as their root. */
static void read_limits_v1(double *cpus, double *memory)
{
	const double quota = read_number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
	             period = read_number("/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
	             bytes = read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes");

	if (quota > 0 && period > 0)
		*cpus = quota / period;
	if (bytes > 0 && bytes < 0x1p60)
		*memory = bytes;
}

static json_t *inspect_limits(void)
{
	AUTO_TEXT groups = read_file("/proc/self/cgroup");
	const char *line = strstr(groups, "0::/");
	AUTO_TEXT group = line ? tk_strndup(line + 3, strcspn(line + 3, "\n")) : NULL;
	double cpus = 1e9, memory = 0x1p60;

	while (group && *group) {
		read_limits_v2(group, &cpus, &memory);
		*strrchr(group, '/') = '\0';
	}
	read_limits_v2("", &cpus, &memory);
	read_limits_v1(&cpus, &memory);
	return json_pack("{s:o, s:o}", "cpus", cpus < 1e9 ? json_real(cpus) : json_null(),
	        "memory_bytes", memory < 0x1p60 ? json_integer((json_int_t)memory) : json_null());
}

/* The first version number in a text, which may be NULL, as 12.2.0; NULL: none. Free it. */
static char *find_version(const char *text)
{
	for (const char *p = text; p && *p; p++) {
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

/* path, version: may be NULL. */
static json_t *entry(const char *name, const char *path, const char *version)
{
	return json_pack("{s:s, s:o, s:o}", "name", name, "path", text_or_null(path), "version",
	        text_or_null(version));
}

static json_t *inspect_tools(void)
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

	for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
		const char *argv[] = {tools[i].name, "--version", NULL};
		AUTO_TEXT path = NULL;
		AUTO_TEXT output =
		        tk_process_find_program(argv[0], &path) ? run_output(argv) : NULL;
		AUTO_TEXT version = find_version(output);
		json_t *tool = entry(argv[0], path, version);

		json_object_set_new(tool, "for", json_string(tools[i].purpose));
		json_array_append_new(list, tool);
	}
	return list;
}

/* The file of a library, of any version, from the loader's cache. Free it. */
static char *library_path(const char *cache, const char *name)
{
	size_t n = strlen(name);
	const char *p = cache;
	char real[PATH_MAX];

	while (p && (p = strstr(p, name))) {
		const char *arrow = strstr(p, "=> "), *end = strchr(p, '\n');

		if ((p == cache || isspace((unsigned char)p[-1])) && (p[n] == ' ' || p[n] == '.') &&
		        arrow && (!end || arrow < end)) {
			AUTO_TEXT path = tk_strndup(arrow + 3, strcspn(arrow + 3, "\n"));

			return realpath(path, real) ? tk_strdup(real) : NULL;
		}
		p += n;
	}
	return NULL;
}

/* A version is that of pkg-config, else of the file: libopenblas-r0.3.21.so, libcuda.so.580 */
static json_t *library(const char *cache, const char *name, const char *file, const char *package)
{
	const char *argv[] = {"pkg-config", "--modversion", package, NULL};
	AUTO_TEXT path = library_path(cache, file);
	AUTO_TEXT output = path && *package ? run_output(argv) : NULL;
	AUTO_TEXT version = find_version(output);

	if (!version)
		version = find_version(path ? strrchr(path, '/') : NULL);
	return entry(name, path, version);
}

/* A driver has a version file while its module is loaded. */
static json_t *driver(const char *name, const char *path)
{
	AUTO_TEXT text = read_file("%s", path);
	AUTO_TEXT version = find_version(text);

	return entry(name, version ? path : NULL, version);
}

static json_t *inspect_libraries(void)
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
	AUTO_TEXT cache = run_output(argv);
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		json_array_append_new(list, library(cache ? cache : "", libraries[i].name,
		                                    libraries[i].file, libraries[i].package));
	json_array_append_new(list, driver("NVIDIA kernel driver", "/proc/driver/nvidia/version"));
	json_array_append_new(list, driver("AMD kernel driver", "/sys/module/amdgpu/version"));
	json_array_append_new(list, driver("ROCm", "/opt/rocm/.info/version"));
	return list;
}

void tk_doctor_inspect(json_t *report)
{
	json_object_update_new(report,
	        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "system", inspect_system(), "cpu",
	                inspect_cpu(), "memory", inspect_memory(), "limits", inspect_limits(),
	                "tools", inspect_tools(), "libraries", inspect_libraries()));
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_caches(const json_t *caches)
{
	size_t i;
	json_t *c;

	json_array_foreach (caches, i, c) {
		double kib = tk_record_number(c, "bytes") / 1024;
		const char *type = tk_record_text(c, "type");

		printf("%sL%.0f%s %.0f %s", i ? ", " : "", tk_record_number(c, "level"),
		        strcmp(type, "Data") == 0          ? "d"
		        : strcmp(type, "Instruction") == 0 ? "i"
		                                           : "",
		        floor(kib >= 1024 ? kib / 1024 : kib), kib >= 1024 ? "MiB" : "KiB");
	}
}

static void print_machine(const json_t *r)
{
	tk_record_write(stdout,
	        "System    {system.os|unknown}, Linux {system.kernel}, {system.arch}"
	        "[{?system.virtual}, virtual machine][, container: {system.container}]\n"
	        "CPU       {cpu.model|unknown}, {cpu.cores|0} cores, {cpu.logical} threads, "
	        "{cpu.usable} usable[, {cpu.numa_nodes:count} NUMA "
	        "node{cpu.numa_nodes:plural}]\nCaches    ",
	        r);
	print_caches(tk_record_get(r, "cpu.caches"));
	tk_record_write(stdout,
	        "\nClocks    governor {cpu.governor|unknown}, turbo {cpu.turbo:onoff|unknown}, SMT "
	        "{cpu.smt|unknown}, load "
	        "{cpu.load_1m|0}\n"
	        "Memory    {memory.total_bytes:bytes}, {memory.available_bytes:bytes} available"
	        "[, limited to {limits.memory_bytes:bytes}]\n[Quota     {limits.cpus} CPUs\n]",
	        r);
}

/* In lines of at most 60 columns, the narrowest terminal that tables are made for. */
static void print_absent(const json_t *list)
{
	int column = 0;
	size_t i;
	json_t *e;

	json_array_foreach (list, i, e) {
		const char *name = tk_record_text(e, "name");

		if (*tk_record_text(e, "path"))
			continue;
		if (!column)
			column = printf("not found: %s", name);
		else if (column + (int)strlen(", ,") + (int)strlen(name) > 60)
			column = printf(",\n%11s%s", "", name) - (int)strlen(",\n");
		else
			column += printf(", %s", name);
	}
	if (column)
		puts("");
}

/* Tools or libraries; the missing ones are listed below the table. */
static int print_found(
        const struct tk_globals *g, const char *title, const json_t *list, struct tk_error *err)
{
	static const struct tk_column columns[] = {{"NAME", 0, "name"},
	        {"VERSION", 0, "{version|?}"}, {"PATH", TK_COLUMN_CUT, "path"}, {0}};
	json_t *found = json_array(), *e;
	size_t i;

	json_array_foreach (list, i, e)
		if (*tk_record_text(e, "path"))
			json_array_append(found, e);
	printf("\n%s\n", title);
	TRY(tk_records_print(g, columns, found, false, err));
	print_absent(list);
	return TK_OK;
}

int tk_doctor_print_machine(const struct tk_globals *g, const json_t *r, struct tk_error *err)
{
	print_machine(r);
	TRY(print_found(g, "Tools", json_object_get(r, "tools"), err));
	return print_found(g, "Libraries and drivers", json_object_get(r, "libraries"), err);
}
