/* The sensors of device.h by ROCm SMI: clocks, power, temperature, throttling, energy. The
 * library is opened by name at run time, under the version of the header, so that a machine without
 * it loses telemetry and nothing else. https://rocm.docs.amd.com/projects/rocm_smi_lib */
#include "device.h"
#include <dlfcn.h>
#include <rocm_smi/rocm_smi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* name in the struct, symbol: parameters are those of the header */
#define SMI_FUNCTIONS(X) \
	X(init, rsmi_init) \
	X(shutdown, rsmi_shut_down) \
	X(count, rsmi_num_monitor_devices) \
	X(pci_id, rsmi_dev_pci_id_get) \
	X(version, rsmi_version_str_get) \
	X(metrics, rsmi_dev_gpu_metrics_info_get) \
	X(power, rsmi_dev_power_get) \
	X(power_cap, rsmi_dev_power_cap_get) \
	X(energy, rsmi_dev_energy_count_get) \
	X(temperature, rsmi_dev_temp_metric_get) \
	X(busy, rsmi_dev_busy_percent_get) \
	X(clocks, rsmi_dev_gpu_clk_freq_get) \
	X(perf_level, rsmi_dev_perf_level_get) \
	X(ecc, rsmi_dev_ecc_enabled_get) \
	X(vbios, rsmi_dev_vbios_version_get) \
	X(partition, rsmi_dev_compute_partition_get) \
	X(memory_partition, rsmi_dev_memory_partition_get) \
	X(processes, rsmi_compute_process_info_get) \
	X(gpus_of_process, rsmi_compute_process_gpus_get)

/* Firmware counts the time for which a limit lowers the clocks (metrics 1.6 and later, MI300): only
 * the difference of two readings has a meaning. */
struct residency {
	uint64_t ppt, prochot, socket, vr, hbm;
};

/* A newer library of the same name may know more metrics than the header. */
union metrics {
	rsmi_gpu_metrics_t known;
	char room[16384];
};

struct sensors {
	void *library;
	uint32_t device;
	char driver_version[64];
	struct residency last;
#define SMI_POINTER(name, symbol) __typeof__(symbol) *name;
	SMI_FUNCTIONS(SMI_POINTER)
#undef SMI_POINTER
};

/* SMU_THROTTLER_..._BIT of the kernel's amdgpu_smu.h, in groups. */
static const struct {
	uint64_t bits;
	const char *word;
} throttle_words[] = {
        {0x00000000000000ffULL, "power"},
        {0x00000000ffff0000ULL, "current"},
        {0x00000fff00000000ULL, "thermal"},
        {0x0000f00000000000ULL, "prochot"},
};

static int find_device(struct sensors *s, const char *pci_bus_id)
{
	unsigned domain, bus, slot;
	uint32_t count = 0;
	uint64_t id;
	if (sscanf(pci_bus_id, "%x:%x:%x", &domain, &bus, &slot) != 3 ||
	        s->count(&count) != RSMI_STATUS_SUCCESS)
		return -1;
	for (s->device = 0; s->device < count;
	        s->device++) /* domain << 32 | bus << 8 | slot << 3, partition above */
		if (s->pci_id(s->device, &id) == RSMI_STATUS_SUCCESS && id >> 32 == domain &&
		        (id >> 8 & 0xff) == bus && (id >> 3 & 0x1f) == slot)
			return 0;
	return -1;
}

struct sensors *sensors_open(const char *pci_bus_id)
{
	struct sensors *s = calloc(1, sizeof *s);
	if (!s || !(s->library = dlopen(TK_ROCM_SMI, RTLD_NOW | RTLD_LOCAL))) {
		free(s);
		return NULL;
	}
#define SMI_LOAD(name, symbol) *(void **)&s->name = dlsym(s->library, #symbol);
	SMI_FUNCTIONS(SMI_LOAD)
#undef SMI_LOAD
	if (!s->init || !s->shutdown || !s->count || !s->pci_id ||
	        s->init(0) != RSMI_STATUS_SUCCESS) {
		dlclose(s->library);
		free(s);
		return NULL;
	}
	if (find_device(s, pci_bus_id) != 0) {
		sensors_close(s);
		return NULL;
	}
	if (s->version)
		s->version(RSMI_SW_COMP_DRIVER, s->driver_version, sizeof s->driver_version);
	return s;
}

void sensors_close(struct sensors *s)
{
	if (!s)
		return;
	s->shutdown();
	dlclose(s->library);
	free(s);
}

const char *sensors_driver(struct sensors *s)
{
	return s ? s->driver_version : "";
}

/* ---- telemetry ---- */

static void add_reason(struct tk_telemetry *out, const char *word)
{
	size_t len = strlen(out->reasons);
	out->throttled = 1;
	snprintf(out->reasons + len, sizeof out->reasons - len, "%s%s", len ? "," : "", word);
}

/* 0xffff and 0xffffffffffffffff mean "unknown". */
static int is_known(uint16_t value)
{
	return value != 0 && value != UINT16_MAX;
}

static int has_grown(uint64_t *last, uint64_t now)
{
	int grown = now != UINT64_MAX && *last != 0 && now > *last;
	*last = now == UINT64_MAX ? 0 : now;
	return grown;
}

static void add_throttling(struct sensors *s, const rsmi_gpu_metrics_t *m, struct tk_telemetry *out)
{
	uint64_t bits = m->indep_throttle_status == UINT64_MAX ? 0 : m->indep_throttle_status;
	out->throttled = 0;
	out->reasons[0] = 0;
	for (size_t i = 0; i < sizeof throttle_words / sizeof *throttle_words; i++)
		if (bits & throttle_words[i].bits)
			add_reason(out, throttle_words[i].word);
	if (m->common_header.format_revision != 1 || m->common_header.content_revision < 6)
		return;
	if (has_grown(&s->last.ppt, m->ppt_residency_acc))
		add_reason(out, "power_cap");
	if (has_grown(&s->last.prochot, m->prochot_residency_acc))
		add_reason(out, "prochot");
	if (has_grown(&s->last.socket, m->socket_thm_residency_acc))
		add_reason(out, "socket_thermal");
	if (has_grown(&s->last.vr, m->vr_thm_residency_acc))
		add_reason(out, "vr_thermal");
	if (has_grown(&s->last.hbm, m->hbm_thm_residency_acc))
		add_reason(out, "hbm_thermal");
}

/* One clock for all dies: the slowest known one limits the kernel. */
static double slowest_clock(const rsmi_gpu_metrics_t *m)
{
	double slowest = is_known(m->current_gfxclk) ? m->current_gfxclk : 0;
	if (m->common_header.format_revision == 1 && m->common_header.content_revision >= 4)
		for (size_t i = 0; i < RSMI_MAX_NUM_GFX_CLKS; i++)
			if (is_known(m->current_gfxclks[i]) &&
			        (slowest == 0 || m->current_gfxclks[i] < slowest))
				slowest = m->current_gfxclks[i];
	return slowest;
}

static void read_metrics(struct sensors *s, struct tk_telemetry *out)
{
	union metrics m;
	memset(&m, 0xff, sizeof m);
	if (!s->metrics || s->metrics(s->device, &m.known) != RSMI_STATUS_SUCCESS)
		return;
	double clock = slowest_clock(&m.known);
	if (clock > 0)
		out->clock_mhz = clock;
	if (is_known(m.known.current_uclk))
		out->memory_clock_mhz = m.known.current_uclk;
	add_throttling(s, &m.known, out);
}

void sensors_telemetry(struct sensors *s, struct tk_telemetry *out)
{
	uint64_t microwatt = 0, ticks = 0, stamp = 0;
	uint32_t percent = 0;
	int64_t millidegree = 0;
	float microjoule_per_tick = 0;
	RSMI_POWER_TYPE type;
	if (!s)
		return;
	read_metrics(s, out);
	if (s->power && s->power(s->device, &microwatt, &type) == RSMI_STATUS_SUCCESS)
		out->power_w = (double)microwatt * 1e-6;
	if (s->energy &&
	        s->energy(s->device, &ticks, &microjoule_per_tick, &stamp) == RSMI_STATUS_SUCCESS)
		out->energy_j = (double)ticks * (double)microjoule_per_tick * 1e-6;
	if (s->temperature && s->temperature(s->device, RSMI_TEMP_TYPE_JUNCTION, RSMI_TEMP_CURRENT,
	                              &millidegree) == RSMI_STATUS_SUCCESS)
		out->temperature_c = (double)millidegree * 1e-3;
	if (s->busy && s->busy(s->device, &percent) == RSMI_STATUS_SUCCESS)
		out->load = percent / 100.0;
}

/* ---- attributes ---- */

static int uses_device(struct sensors *s, uint32_t pid)
{
	uint32_t devices[64], count = 64;
	if (!s->gpus_of_process || s->gpus_of_process(pid, devices, &count) != RSMI_STATUS_SUCCESS)
		return 1; /* unknown: rather one too many */
	for (uint32_t i = 0; i < count && i < 64; i++)
		if (devices[i] == s->device)
			return 1;
	return 0;
}

/* Number of other processes that compute on the card: the user may stop them, and their work
 * disturbs measurements. */
static int other_processes(struct sensors *s)
{
	rsmi_process_info_t list[64];
	uint32_t count = 64;
	int others = 0;
	if (!s->processes || s->processes(list, &count) != RSMI_STATUS_SUCCESS)
		return -1;
	for (uint32_t i = 0; i < count && i < 64; i++)
		others += list[i].process_id != (uint32_t)getpid() &&
		          uses_device(s, list[i].process_id);
	return others;
}

/* Hz of the highest state of the compute clock; 0 where unknown. */
static uint64_t highest_clock(struct sensors *s)
{
	rsmi_frequencies_t f;
	uint64_t highest = 0;
	if (!s->clocks || s->clocks(s->device, RSMI_CLK_TYPE_SYS, &f) != RSMI_STATUS_SUCCESS)
		return 0;
	for (uint32_t i = 0; i < f.num_supported && i < sizeof f.frequency / sizeof *f.frequency;
	        i++)
		if (f.frequency[i] > highest)
			highest = f.frequency[i];
	return highest;
}

size_t sensors_attributes(struct sensors *s, char *out, size_t size)
{
	char text[128] = "";
	uint64_t wide;
	rsmi_dev_perf_level_t level;
	int others, len = 0;
#define ADD(...) \
	(len += snprintf(out + len, (size_t)len < size ? size - (size_t)len : 0, __VA_ARGS__))
	out[0] = 0;
	if (!s)
		return 0;
	if (s->power_cap && s->power_cap(s->device, 0, &wide) == RSMI_STATUS_SUCCESS)
		ADD(",\"power_cap_w\":%llu", (unsigned long long)(wide / 1000000));
	if ((wide = highest_clock(s)) > 0)
		ADD(",\"max_clock_mhz\":%llu", (unsigned long long)(wide / 1000000));
	if (s->perf_level && s->perf_level(s->device, &level) == RSMI_STATUS_SUCCESS)
		ADD(",\"perf_level\":%d", (int)level);
	if (s->ecc && s->ecc(s->device, &wide) == RSMI_STATUS_SUCCESS)
		ADD(",\"ecc\":%s", wide ? "true" : "false");
	if (s->partition && s->partition(s->device, text, sizeof text) == RSMI_STATUS_SUCCESS)
		ADD(",\"compute_partition\":\"%s\"", sensors_plain(text));
	if (s->memory_partition &&
	        s->memory_partition(s->device, text, sizeof text) == RSMI_STATUS_SUCCESS)
		ADD(",\"memory_partition\":\"%s\"", sensors_plain(text));
	if (s->vbios && s->vbios(s->device, text, sizeof text) == RSMI_STATUS_SUCCESS)
		ADD(",\"vbios\":\"%s\"", sensors_plain(text));
	if ((others = other_processes(s)) > 0)
		ADD(",\"other_processes\":%d", others);
#undef ADD
	return (size_t)len < size ? (size_t)len : size - 1;
}
