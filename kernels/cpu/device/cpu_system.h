/* The open device of the CPU device layer, and readers of /sys and /proc. */
#ifndef TK_CPU_SYSTEM_H
#define TK_CPU_SYSTEM_H
#include "tracker_abi.h"
#include <sched.h>
#include <stdint.h>

struct cpu_counters { /* since boot; -1 if the system does not report it */
	int64_t thermal, quota, steal, jiffies;
};

struct tk_device {
	cpu_set_t cores; /* available to this process when the device was opened */
	int first_core;
	char cgroup_stat[512]; /* path of the cpu.stat of this process' control group, "" where
	                          there is none */
	char temperature_path[128];
	struct cpu_counters seen; /* at the last telemetry */
};

/* First line of a file without its newline; 0 if it cannot be read. `path` is a printf format. */
int cpu_read_line(char *out, size_t size, const char *path_format, ...)
        __attribute__((format(printf, 3, 4)));
int64_t cpu_read_number(int64_t otherwise, const char *path_format, ...)
        __attribute__((format(printf, 2, 3)));
/* "name value" in a file of such lines; -1 if it is missing. */
int64_t cpu_read_field(const char *path, const char *name);

int cpu_fill_info(struct tk_device *dev, struct tk_device_info *out);
void cpu_find_sensors(struct tk_device *dev);
void cpu_fill_telemetry(struct tk_device *dev, struct tk_telemetry *out);
struct cpu_counters cpu_read_counters(const struct tk_device *dev);
/* Cores that a cgroup's quota allows; 0: no quota. */
double cpu_quota(void);

#endif
