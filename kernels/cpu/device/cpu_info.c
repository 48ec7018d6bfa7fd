/* Describes the processor and the parts of the system that belong to the environment of a run. */
#include "cpu_system.h"
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The value of "key : value" in /proc/cpuinfo's first processor. */
static int cpuinfo(const char *key, char *out, size_t size)
{
	char line[8192];
	int found = 0;
	size_t n = strlen(key);
	FILE *f = fopen("/proc/cpuinfo", "re");
	while (f && !found && fgets(line, sizeof line, f)) {
		char *colon = strchr(line, ':');
		if (!colon || strncmp(line, key, n) != 0 || !isspace((unsigned char)line[n]))
			continue;
		colon += strspn(colon, ": \t");
		colon[strcspn(colon, "\n")] = 0;
		snprintf(out, size, "%s", colon);
		found = 1;
	}
	if (f)
		fclose(f);
	return found;
}

static const char *arch_level(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
	        __builtin_cpu_supports("avx512vl"))
		return "x86-64-v4";
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma"))
		return "x86-64-v3";
	if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") &&
	        __builtin_cpu_supports("ssse3"))
		return "x86-64-v2";
	return "x86-64-v1";
#elif defined(__aarch64__)
	return "aarch64";
#else
	return "unknown";
#endif
}

/* Bytes of the data or unified cache of a level that the first core sees; 0 if the system does not
 * report it. */
static uint64_t cache_bytes(int core, int level)
{
	static const int names[] = {
	        0, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
	char type[32];
	for (int i = 0; i < 8; i++) {
		if (cpu_read_number(-1, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", core,
		            i) != level)
			continue;
		if (cpu_read_line(type, sizeof type,
		            "/sys/devices/system/cpu/cpu%d/cache/index%d/type", core, i) &&
		        strcmp(type, "Instruction") == 0)
			continue;
		int64_t kib = cpu_read_number(0, "/sys/devices/system/cpu/cpu%d/cache/index%d/size",
		        core, i); /* "32768K" */
		if (kib > 0)
			return (uint64_t)kib << 10;
	}
	long bytes = level <= 3 ? sysconf(names[level]) : 0;
	return bytes > 0 ? (uint64_t)bytes : 0;
}

static uint64_t last_level_cache(int core)
{
	for (int level = 3; level > 0; level--) {
		uint64_t bytes = cache_bytes(core, level);
		if (bytes)
			return bytes;
	}
	return 32ull << 20; /* unknown: rather too cold than too warm */
}

/* How many of `cores` are in a list as the system writes it: "0-3,8,10-11". */
static int count_listed(const char *list, const cpu_set_t *cores)
{
	int first, last, used, count = 0;
	for (; sscanf(list, "%d%n", &first, &used) == 1; list += strspn(list, ",")) {
		list += used;
		last = first;
		if (sscanf(list, "-%d%n", &last, &used) == 1)
			list += used;
		for (int core = first; core >= 0 && core <= last && core < CPU_SETSIZE; core++)
			count += CPU_ISSET(core, cores) != 0;
	}
	return count;
}

/* How many of the cores that we may use a core's cache of a level serves, itself among them. */
static int sharers(const struct tk_device *dev, int core, int level)
{
	char list[4096];
	for (int i = 0; i < 8; i++) {
		if (cpu_read_number(-1, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", core,
		            i) != level ||
		        !cpu_read_line(list, sizeof list,
		                "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", core,
		                i))
			continue;
		int count = count_listed(list, &dev->cores);
		if (count > 0)
			return count;
	}
	return 1;
}

/* Half of what a core has of each level, since others use it too, and at least twice the level
 * before it, because a smaller size would be served by that level. Each thread reads its own slice,
 * so cores have equal parts. */
static void find_resident(const struct tk_device *dev, struct tk_device_info *out)
{
	enum { PIECE = 512 }; /* of which a slice is made: equal ones, and no ragged ends */
	uint64_t inner = 0;
	for (int level = 1; level <= 3; level++) {
		uint64_t part = cache_bytes(dev->first_core, level) /
		                (uint64_t)sharers(dev, dev->first_core, level);
		uint64_t slice = part / 2 / PIECE * PIECE;
		if (slice && slice >= 2 * inner)
			out->resident_bytes[level - 1] = slice * out->compute_units;
		inner = part > inner ? part : inner;
	}
}

/* A JSON object under construction; `over`: it does not fit. */
struct attributes {
	char *out;
	size_t size, used;
	int over;
};

static void put(struct attributes *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(a->out + a->used, a->size - a->used, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= a->size - a->used)
		a->over = 1;
	else
		a->used += (size_t)n;
}

static void put_key(struct attributes *a, const char *key)
{
	put(a, "%s\"%s\":", a->used > 1 ? "," : "", key);
}

/* Printable ASCII only: what comes from firmware may be anything. */
static void put_text(struct attributes *a, const char *key, const char *value)
{
	if (!value[0])
		return;
	put_key(a, key);
	put(a, "\"");
	for (; *value; value++)
		put(a, "%s%c", *value == '"' || *value == '\\' ? "\\" : "",
		        *value >= ' ' && *value < 127 ? *value : '?');
	put(a, "\"");
}

static void put_number(struct attributes *a, const char *key, double value)
{
	if (!isfinite(value) || value < 0)
		return;
	put_key(a, key);
	put(a, "%.10g", value);
}

static void put_file(struct attributes *a, const char *key, const char *path)
{
	char line[128];
	if (cpu_read_line(line, sizeof line, "%s", path))
		put_text(a, key, line);
}

static void put_word(struct attributes *a, const char *key, const char *cpuinfo_key)
{
	char line[128];
	if (cpuinfo(cpuinfo_key, line, sizeof line))
		put_text(a, key, line);
}

/* no_turbo (Intel), else boost (AMD and others). */
static void put_turbo(struct attributes *a)
{
	int64_t off = cpu_read_number(-1, "/sys/devices/system/cpu/intel_pstate/no_turbo");
	int64_t boost = cpu_read_number(-1, "/sys/devices/system/cpu/cpufreq/boost");
	if (off >= 0)
		put_text(a, "turbo", off ? "off" : "on");
	else if (boost >= 0)
		put_text(a, "turbo", boost ? "on" : "off");
}

/* The word in brackets of "always [madvise] never". */
static void put_huge_pages(struct attributes *a)
{
	char line[128];
	if (!cpu_read_line(line, sizeof line, "/sys/kernel/mm/transparent_hugepage/enabled"))
		return;
	char *open = strchr(line, '['), *close = open ? strchr(open, ']') : NULL;
	if (!close)
		return;
	*close = 0;
	put_text(a, "transparent_huge_pages", open + 1);
}

static void put_hypervisor(struct attributes *a)
{
	char line[8192], product[64] = "";
	if (!cpuinfo("flags", line, sizeof line) || !strstr(line, " hypervisor"))
		return;
	cpu_read_line(product, sizeof product, "/sys/class/dmi/id/product_name");
	put_text(a, "hypervisor", product[0] ? product : "yes");
}

static int fill_attributes(struct tk_device *dev, char *out, size_t size)
{
	struct attributes a = {out, size, 0, 0};
	struct utsname u;
	int core = dev->first_core;
	char path[128];
	put(&a, "{");
	put_text(&a, "kernel", uname(&u) == 0 ? u.release : "");
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", core);
	put_file(&a, "governor", path);
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_driver", core);
	put_file(&a, "frequency_driver", path);
	put_number(&a, "max_mhz",
	        (double)cpu_read_number(
	                -1000, "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", core) /
	                1000);
	put_turbo(&a);
	put_file(&a, "smt", "/sys/devices/system/cpu/smt/control");
	put_word(&a, "microcode", "microcode");
	put_word(&a, "family", "cpu family");
	put_word(&a, "model", "model");
	put_word(&a, "stepping", "stepping");
	put_hypervisor(&a);
	put_huge_pages(&a);
	put_number(&a, "numa_balancing",
	        (double)cpu_read_number(-1, "/proc/sys/kernel/numa_balancing"));
	put_number(&a, "l1d_bytes", (double)cache_bytes(core, 1));
	put_number(&a, "l2_bytes", (double)cache_bytes(core, 2));
	put_number(&a, "l3_bytes", (double)cache_bytes(core, 3));
	put_number(&a, "cores_online", (double)sysconf(_SC_NPROCESSORS_ONLN));
	put_number(&a, "cores_by_affinity", CPU_COUNT(&dev->cores));
	double quota = cpu_quota();
	if (quota > 0)
		put_number(&a, "cgroup_cpu_quota", quota);
	put(&a, "}");
	return a.over ? -1 : 0;
}

/* A core's folder has a link named after its node. */
static uint32_t numa_node(int core)
{
	char path[96];
	for (uint32_t node = 0; node < 1024; node++) {
		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/node%u", core, node);
		if (access(path, F_OK) == 0)
			return node;
	}
	return 0;
}

int cpu_fill_info(struct tk_device *dev, struct tk_device_info *out)
{
	char name[128] = "";
	struct utsname u;
	double quota = cpu_quota();
	int cores = CPU_COUNT(&dev->cores);
	if (!cpuinfo("model name", name, sizeof name) && !cpuinfo("CPU part", name, sizeof name))
		snprintf(name, sizeof name, "unknown CPU");
	snprintf(out->kind, sizeof out->kind, "cpu");
	snprintf(out->name, sizeof out->name, "%s", name);
	out->uuid[0] = 0;
	snprintf(out->arch, sizeof out->arch, "%s", arch_level());
	snprintf(out->driver, sizeof out->driver, "%.63s", uname(&u) == 0 ? u.release : "");
	out->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	out->cache_bytes = last_level_cache(dev->first_core);
	out->compute_units =
	        quota > 0 && ceil(quota) < cores ? (uint32_t)ceil(quota) : (uint32_t)cores;
	out->numa_node = numa_node(dev->first_core);
	find_resident(dev, out);
	return fill_attributes(dev, out->attributes, sizeof out->attributes);
}
