/* Clock, temperature, load, and whether something held the processor back since the last look. */
#include "cpu_system.h"
#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cpu_read_line(char *out, size_t size, const char *path_format, ...)
{
	char path[640];
	va_list ap;
	va_start(ap, path_format);
	vsnprintf(path, sizeof path, path_format, ap);
	va_end(ap);
	FILE *f = fopen(path, "re");
	char *got = f ? fgets(out, (int)size, f) : NULL;
	if (f)
		fclose(f);
	if (!got)
		return 0;
	out[strcspn(out, "\n")] = 0;
	return 1;
}

int64_t cpu_read_number(int64_t otherwise, const char *path_format, ...)
{
	char path[640], line[64], *end;
	va_list ap;
	va_start(ap, path_format);
	vsnprintf(path, sizeof path, path_format, ap);
	va_end(ap);
	if (!cpu_read_line(line, sizeof line, "%s", path))
		return otherwise;
	int64_t value = strtoll(line, &end, 10);
	return end == line ? otherwise : value;
}

int64_t cpu_read_field(const char *path, const char *name)
{
	char line[256];
	int64_t value = -1;
	size_t n = strlen(name);
	FILE *f = path[0] ? fopen(path, "re") : NULL;
	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, name, n) == 0 && line[n] == ' ') {
			value = strtoll(line + n, NULL, 10);
			break;
		}
	if (f)
		fclose(f);
	return value;
}

/* Folder of this process in a cgroup hierarchy: v2 ("0::/path"), else v1's cpu controller. */
static int cgroup_folder(char *out, size_t size)
{
	char line[512];
	int found = 0;
	FILE *f = fopen("/proc/self/cgroup", "re");
	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = 0;
		const char *root =
		        !list[1] ? "/sys/fs/cgroup"
		        : strcmp(list + 1, "cpu") == 0 || strncmp(list + 1, "cpu,", 4) == 0
		                ? "/sys/fs/cgroup/cpu"
		                : NULL;
		if (!root || (found && !list[1]))
			continue;
		if (snprintf(out, size, "%s%s", root, strcmp(path, "/") ? path : "") < (int)size)
			found = 1;
	}
	if (f)
		fclose(f);
	return found;
}

double cpu_quota(void)
{
	char folder[400], line[64];
	if (!cgroup_folder(folder, sizeof folder))
		return 0;
	if (cpu_read_line(line, sizeof line, "%s/cpu.max", folder)) {
		double quota = 0, period = 0;
		return sscanf(line, "%lf %lf", &quota, &period) == 2 && period > 0 ? quota / period
		                                                                   : 0;
	}
	int64_t quota = cpu_read_number(-1, "%s/cpu.cfs_quota_us", folder),
	        period = cpu_read_number(0, "%s/cpu.cfs_period_us", folder);
	return quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

static void find_temperature(struct tk_device *dev)
{
	static const char *const wanted[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal"};
	char name[64];
	for (int i = 0; i < 32; i++) {
		if (!cpu_read_line(name, sizeof name, "/sys/class/hwmon/hwmon%d/name", i))
			continue;
		for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++)
			if (strcmp(name, wanted[w]) == 0) {
				snprintf(dev->temperature_path, sizeof dev->temperature_path,
				        "/sys/class/hwmon/hwmon%d/temp1_input", i);
				return;
			}
	}
	for (int i = 0; i < 32; i++)
		if (cpu_read_line(name, sizeof name, "/sys/class/thermal/thermal_zone%d/type", i) &&
		        (strstr(name, "x86_pkg_temp") || strstr(name, "cpu"))) {
			snprintf(dev->temperature_path, sizeof dev->temperature_path,
			        "/sys/class/thermal/thermal_zone%d/temp", i);
			return;
		}
}

void cpu_find_sensors(struct tk_device *dev)
{
	char folder[400];
	find_temperature(dev);
	if (cgroup_folder(folder, sizeof folder))
		snprintf(dev->cgroup_stat, sizeof dev->cgroup_stat, "%s/cpu.stat", folder);
}

struct cpu_counters cpu_read_counters(const struct tk_device *dev)
{
	struct cpu_counters c = {-1, cpu_read_field(dev->cgroup_stat, "nr_throttled"), -1, -1};
	char line[256];
	long long t[8] = {0};
	int64_t core = cpu_read_number(-1,
	        "/sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count",
	        dev->first_core);
	int64_t package = cpu_read_number(-1,
	        "/sys/devices/system/cpu/cpu%d/thermal_throttle/package_throttle_count",
	        dev->first_core);
	if (core >= 0 || package >= 0)
		c.thermal = (core > 0 ? core : 0) + (package > 0 ? package : 0);
	if (cpu_read_line(line, sizeof line, "/proc/stat") &&
	        sscanf(line, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &t[0], &t[1], &t[2],
	                &t[3], &t[4], &t[5], &t[6], &t[7]) == 8) {
		c.steal = t[7];
		c.jiffies = t[0] + t[1] + t[2] + t[3] + t[4] + t[5] + t[6] + t[7];
	}
	return c;
}

/* Asking a core for its clock interrupts it: the first few that may be used speak for all. */
#define CLOCK_CORES 8

/* Mean clock of these cores in MHz; NAN: unknown. */
static double current_mhz(const struct tk_device *dev)
{
	double sum = 0, mhz;
	int n = 0, core = -1;
	char line[256];
	for (int i = 0; i < CPU_SETSIZE && n < CLOCK_CORES; i++) {
		int64_t khz =
		        CPU_ISSET(i, &dev->cores)
		                ? cpu_read_number(-1,
		                          "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq",
		                          i)
		                : -1;
		if (khz > 0) {
			sum += (double)khz / 1000;
			n++;
		}
	}
	FILE *f = n == 0 ? fopen("/proc/cpuinfo", "re") : NULL;
	while (f && n < CLOCK_CORES && fgets(line, sizeof line, f)) {
		if (sscanf(line, "processor : %d", &core) == 1)
			continue;
		if (sscanf(line, "cpu MHz : %lf", &mhz) == 1 && core >= 0 && core < CPU_SETSIZE &&
		        CPU_ISSET(core, &dev->cores)) {
			sum += mhz;
			n++;
		}
	}
	if (f)
		fclose(f);
	return n > 0 ? sum / n : NAN;
}

static void add_reason(struct tk_telemetry *out, const char *reason)
{
	size_t used = strlen(out->reasons);
	snprintf(out->reasons + used, sizeof out->reasons - used, "%s%s", used ? "," : "", reason);
}

void cpu_fill_telemetry(struct tk_device *dev, struct tk_telemetry *out)
{
	struct cpu_counters now = cpu_read_counters(dev), *was = &dev->seen;
	char line[128];
	double load;
	int64_t milli = dev->temperature_path[0]
	                        ? cpu_read_number(INT64_MIN, "%s", dev->temperature_path)
	                        : INT64_MIN;
	int64_t energy = cpu_read_number(-1, "/sys/class/powercap/intel-rapl:0/energy_uj");
	out->throttled = 0;
	out->reasons[0] = 0;
	out->clock_mhz = current_mhz(dev);
	out->memory_clock_mhz = out->power_w = NAN;
	out->temperature_c = milli == INT64_MIN ? NAN : (double)milli / 1000;
	out->energy_j = energy < 0 ? NAN : (double)energy * 1e-6;
	out->load =
	        cpu_read_line(line, sizeof line, "/proc/loadavg") && sscanf(line, "%lf", &load) == 1
	                ? load
	                : NAN;
	if (now.thermal > was->thermal && was->thermal >= 0)
		add_reason(out, "thermal");
	if (now.quota > was->quota && was->quota >= 0)
		add_reason(out, "cgroup_quota");
	out->throttled = out->reasons[0] != 0;
	/* Time that the hypervisor gave to others: no throttling, but worth a word from one part in
	 * fifty on. */
	if (was->steal >= 0 && now.jiffies > was->jiffies &&
	        (now.steal - was->steal) * 50 > now.jiffies - was->jiffies)
		add_reason(out, "steal");
	*was = now;
}
