/* The sensors of device.h by NVML: clocks, power, temperature, throttle reasons. The library
 * is opened by name at run time: the driver brings it, the toolkit does not. The functions and
 * constants are those of NVIDIA's NVML API reference (docs.nvidia.com/deploy/nvml-api). */
#include "device.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *nvml_device; /* nvmlDevice_t */
struct nvml_process {
	unsigned pid;
	unsigned long long memory;
	unsigned gpu_instance, compute_instance;
}; /* nvmlProcessInfo_t, v3 */

/* name in the struct, symbol, parameters */
#define NVML_FUNCTIONS(X) \
	X(init, "nvmlInit_v2", (void)) \
	X(shutdown, "nvmlShutdown", (void)) \
	X(driver, "nvmlSystemGetDriverVersion", (char *, unsigned)) \
	X(by_bus, "nvmlDeviceGetHandleByPciBusId_v2", (const char *, nvml_device *)) \
	X(clock, "nvmlDeviceGetClockInfo", (nvml_device, int, unsigned *)) \
	X(max_clock, "nvmlDeviceGetMaxClockInfo", (nvml_device, int, unsigned *)) \
	X(app_clock, "nvmlDeviceGetApplicationsClock", (nvml_device, int, unsigned *)) \
	X(power, "nvmlDeviceGetPowerUsage", (nvml_device, unsigned *)) \
	X(power_cap, "nvmlDeviceGetEnforcedPowerLimit", (nvml_device, unsigned *)) \
	X(energy, "nvmlDeviceGetTotalEnergyConsumption", (nvml_device, unsigned long long *)) \
	X(temperature, "nvmlDeviceGetTemperature", (nvml_device, int, unsigned *)) \
	X(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", \
	        (nvml_device, unsigned long long *)) \
	X(utilization, "nvmlDeviceGetUtilizationRates", (nvml_device, unsigned[2])) \
	X(ecc, "nvmlDeviceGetEccMode", (nvml_device, int *, int *)) \
	X(mig, "nvmlDeviceGetMigMode", (nvml_device, unsigned *, unsigned *)) \
	X(persistence, "nvmlDeviceGetPersistenceMode", (nvml_device, int *)) \
	X(vbios, "nvmlDeviceGetVbiosVersion", (nvml_device, char *, unsigned)) \
	X(processes, "nvmlDeviceGetComputeRunningProcesses_v3", \
	        (nvml_device, unsigned *, struct nvml_process *))

struct sensors {
	void *library;
	nvml_device device;
	char driver_version[64];
#define NVML_POINTER(name, symbol, args) int(*name) args;
	NVML_FUNCTIONS(NVML_POINTER)
#undef NVML_POINTER
};

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, TEMPERATURE_GPU = 0 };

/* nvmlClocksThrottleReason...: idle (1) and application clocks (2) do not count as throttling. */
static const struct {
	unsigned long long bit;
	const char *word;
} throttle_words[] = {
        {0x04, "sw_power_cap"},
        {0x08, "hw_slowdown"},
        {0x20, "sw_thermal"},
        {0x40, "hw_thermal"},
        {0x80, "hw_power_brake"},
};

struct sensors *sensors_open(const char *pci_bus_id)
{
	struct sensors *n = calloc(1, sizeof *n);
	if (!n || !(n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL))) {
		free(n);
		return NULL;
	}
#define NVML_LOAD(name, symbol, args) *(void **)&n->name = dlsym(n->library, symbol);
	NVML_FUNCTIONS(NVML_LOAD)
#undef NVML_LOAD
	if (!n->init || !n->shutdown || !n->by_bus || n->init() != 0) {
		dlclose(n->library);
		free(n);
		return NULL;
	}
	if (n->by_bus(pci_bus_id, &n->device) != 0) {
		sensors_close(n);
		return NULL;
	}
	if (n->driver)
		n->driver(n->driver_version, sizeof n->driver_version);
	return n;
}

void sensors_close(struct sensors *n)
{
	if (!n)
		return;
	n->shutdown();
	dlclose(n->library);
	free(n);
}

const char *sensors_driver(struct sensors *n)
{
	return n ? n->driver_version : "";
}

static void add_reasons(unsigned long long bits, struct tk_telemetry *out)
{
	size_t len = 0;
	out->reasons[0] = 0;
	out->throttled = 0;
	for (size_t i = 0; i < sizeof throttle_words / sizeof *throttle_words; i++)
		if (bits & throttle_words[i].bit) {
			out->throttled = 1;
			len += (size_t)snprintf(out->reasons + len, sizeof out->reasons - len,
			        "%s%s", len ? "," : "", throttle_words[i].word);
		}
}

void sensors_telemetry(struct sensors *n, struct tk_telemetry *out)
{
	unsigned value, rates[2];
	unsigned long long wide;
	if (!n)
		return;
	if (n->clock && n->clock(n->device, CLOCK_SM, &value) == 0)
		out->clock_mhz = value;
	if (n->clock && n->clock(n->device, CLOCK_MEMORY, &value) == 0)
		out->memory_clock_mhz = value;
	if (n->power && n->power(n->device, &value) == 0)
		out->power_w = value / 1000.0;
	if (n->energy && n->energy(n->device, &wide) == 0)
		out->energy_j = (double)wide / 1000.0;
	if (n->temperature && n->temperature(n->device, TEMPERATURE_GPU, &value) == 0)
		out->temperature_c = value;
	if (n->utilization && n->utilization(n->device, rates) == 0)
		out->load = rates[0] / 100.0;
	if (n->reasons && n->reasons(n->device, &wide) == 0)
		add_reasons(wide, out);
}

/* Number of other processes that compute on the card: the user may stop them, and their work
 * disturbs measurements. */
static int other_processes(struct sensors *n)
{
	struct nvml_process list[64];
	unsigned count = 64;
	int others = 0;
	if (!n->processes || n->processes(n->device, &count, list) != 0)
		return -1;
	for (unsigned i = 0; i < count; i++)
		others += list[i].pid != (unsigned)getpid();
	return others;
}

size_t sensors_attributes(struct sensors *n, char *out, size_t size)
{
	unsigned value, pending;
	int now, later, len = 0;
	char vbios[64] = "";
#define ADD(...) \
	(len += snprintf(out + len, (size_t)len < size ? size - (size_t)len : 0, __VA_ARGS__))
	out[0] = 0;
	if (!n)
		return 0;
	if (n->power_cap && n->power_cap(n->device, &value) == 0)
		ADD(",\"power_cap_w\":%u", value / 1000);
	if (n->max_clock && n->max_clock(n->device, CLOCK_SM, &value) == 0)
		ADD(",\"max_clock_mhz\":%u", value);
	if (n->app_clock && n->app_clock(n->device, CLOCK_SM, &value) == 0)
		ADD(",\"application_clock_mhz\":%u", value);
	if (n->ecc && n->ecc(n->device, &now, &later) == 0)
		ADD(",\"ecc\":%s", now ? "true" : "false");
	if (n->mig && n->mig(n->device, &value, &pending) == 0)
		ADD(",\"mig\":%s", value ? "true" : "false");
	if (n->persistence && n->persistence(n->device, &now) == 0)
		ADD(",\"persistence\":%s", now ? "true" : "false");
	if (n->vbios && n->vbios(n->device, vbios, sizeof vbios) == 0)
		ADD(",\"vbios\":\"%s\"", sensors_plain(vbios));
	if ((now = other_processes(n)) > 0)
		ADD(",\"other_processes\":%d", now);
#undef ADD
	return (size_t)len < size ? (size_t)len : size - 1;
}
