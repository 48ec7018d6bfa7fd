/* The device layer of GPUs: memory, streams, events, graphs, clocks. One of them per worker
 * process, on one device. Compiled once for CUDA and once for HIP; device.h declares what a vendor
 * adds.
 *
 * The module loads (and says why there is no device) on a machine without one. Ordinary allocations
 * only; clocks and power are read, never set. */
#include "device.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct tk_device {
	int index;
	gpu_properties properties;
	char bus[32];
	struct sensors *sensors;
	struct device_memory_load *memory_load; /* NULL until first used */
	unsigned long long stamps;              /* how many were recorded */
	double tick_ns;                         /* of the timer that stamps read */
	unsigned slots;                         /* of a stamp */
};

/* One slot for each multiprocessor (AMD: compute unit), on the device. */
struct stamp {
	struct device_stamp *slots;
	unsigned long long sequence;
};

static int fail(struct tk_abi_error *err, gpu_error code, const char *what)
{
	if (err && err->size >= sizeof *err)
		snprintf(err->message, sizeof err->message, "%s: %s (%s)", what,
		        gpu_error_text(code), gpu_error_name(code));
	switch (code) {
	case GPU_ERROR_MEMORY:
		gpu_last_error();
		return TK_ABI_NO_MEMORY;
	case GPU_ERROR_VALUE:
		gpu_last_error();
		return TK_ABI_INVALID;
	default:
		return TK_ABI_DEVICE;
	}
}

/* CHECK(call): returns from the function if the runtime reports an error. */
#define CHECK(err, call) \
	do { \
		gpu_error code_ = (call); \
		if (code_ != GPU_SUCCESS) \
			return fail(err, code_, #call); \
	} while (0)

static int device_count(uint32_t *n, struct tk_abi_error *err)
{
	int count = 0;
	gpu_error code = gpu_device_count(&count);
	if (code != GPU_SUCCESS && code != GPU_ERROR_NO_DEVICE)
		return fail(err, code, "gpu_device_count");
	*n = (uint32_t)count;
	return TK_ABI_OK;
}

static int device_open(uint32_t index, struct tk_device **out, struct tk_abi_error *err)
{
	struct tk_device *dev = calloc(1, sizeof *dev);
	if (!dev)
		return TK_ABI_NO_MEMORY;
	dev->index = (int)index;
	gpu_error code = gpu_device_set(dev->index);
	if (code == GPU_SUCCESS)
		code = gpu_device_properties(&dev->properties, dev->index);
	if (code == GPU_SUCCESS)
		code = gpu_device_bus(dev->bus, sizeof dev->bus, dev->index);
	if (code == GPU_SUCCESS)
		code = gpu_free(NULL); /* makes the context now, not in the first measurement */
	if (code != GPU_SUCCESS) {
		free(dev);
		return fail(err, code, "cannot open the device");
	}
	dev->tick_ns = vendor_tick_ns(dev->index);
	dev->slots = vendor_stamp_slots(&dev->properties);
	dev->sensors = sensors_open(dev->bus);
	*out = dev;
	return TK_ABI_OK;
}

static void device_close(struct tk_device *dev)
{
	if (!dev)
		return;
	device_memory_load_free(dev->memory_load);
	sensors_close(dev->sensors);
	free(dev);
}

static int device_info(struct tk_device *dev, struct tk_device_info *out, struct tk_abi_error *err)
{
	const gpu_properties *p = &dev->properties;
	int driver = 0, runtime = 0;
	if (out->size < sizeof *out)
		return TK_ABI_INVALID;
	CHECK(err, gpu_driver_version(&driver));
	CHECK(err, gpu_runtime_version(&runtime));
	snprintf(out->kind, sizeof out->kind, "%s", vendor_kind);
	snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1, p->name);
	out->memory_bytes = p->totalGlobalMem;
	out->compute_units = (uint32_t)p->multiProcessorCount;
	vendor_describe(p, dev->bus, out);
	snprintf(out->driver, sizeof out->driver, "%s", sensors_driver(dev->sensors));
	size_t len = (size_t)snprintf(out->attributes, sizeof out->attributes, "{");
	len += vendor_versions(
	        driver, runtime, p, out->attributes + len, sizeof out->attributes - len - 2);
	len += sensors_attributes(
	        dev->sensors, out->attributes + len, sizeof out->attributes - len - 2);
	snprintf(out->attributes + len, sizeof out->attributes - len, "}");
	return TK_ABI_OK;
}

static int memory_alloc(struct tk_device *dev, size_t bytes, void **out, struct tk_abi_error *err)
{
	void *memory = NULL;
	CHECK(err, gpu_malloc(&memory, bytes ? bytes : 1));
	*out = memory;
	return TK_ABI_OK;
}

static void memory_release(struct tk_device *dev, void *memory)
{
	gpu_free(memory);
}

static int upload(
        struct tk_device *dev, void *to, const void *from, size_t bytes, struct tk_abi_error *err)
{
	CHECK(err, gpu_memcpy(to, from, bytes, GPU_HOST_TO_DEVICE));
	CHECK(err, gpu_stream_synchronize(
	                   NULL)); /* streams that do not wait for the default one must see it */
	return TK_ABI_OK;
}

static int download(
        struct tk_device *dev, void *to, const void *from, size_t bytes, struct tk_abi_error *err)
{
	CHECK(err, gpu_memcpy(to, from, bytes, GPU_DEVICE_TO_HOST));
	return TK_ABI_OK;
}

static int copy(
        struct tk_device *dev, void *to, const void *from, size_t bytes, struct tk_abi_error *err)
{
	CHECK(err, gpu_memcpy_async(to, from, bytes, GPU_DEVICE_TO_DEVICE, NULL));
	CHECK(err, gpu_stream_synchronize(NULL));
	return TK_ABI_OK;
}

static int fill(struct tk_device *dev, void *to, unsigned char value, size_t bytes,
        struct tk_abi_error *err)
{
	CHECK(err, gpu_memset_async(to, value, bytes, NULL));
	CHECK(err, gpu_stream_synchronize(NULL));
	return TK_ABI_OK;
}

static int compare(struct tk_device *dev, const void *a, const void *b, size_t bytes,
        uint32_t *same, struct tk_abi_error *err)
{
	unsigned *differs = NULL, found = 1;
	CHECK(err, gpu_malloc(&differs, sizeof *differs));
	gpu_error code = gpu_memset(differs, 0, sizeof *differs);
	if (code == GPU_SUCCESS)
		code = (gpu_error)device_compare_enqueue(a, b, bytes, differs, NULL);
	if (code == GPU_SUCCESS)
		code = gpu_memcpy(&found, differs, sizeof found, GPU_DEVICE_TO_HOST);
	gpu_free(differs);
	if (code != GPU_SUCCESS)
		return fail(err, code, "comparing two results");
	*same = !found;
	return TK_ABI_OK;
}

static int memory_used(struct tk_device *dev, uint64_t *bytes, struct tk_abi_error *err)
{
	size_t left = 0, all = 0;
	CHECK(err, gpu_memory_info(&left, &all));
	*bytes = all - left;
	return TK_ABI_OK;
}

static int profile(struct tk_device *dev, uint32_t on, struct tk_abi_error *err)
{
	CHECK(err, vendor_profile(on));
	return TK_ABI_OK;
}

static int stream_new(struct tk_device *dev, void **stream, struct tk_abi_error *err)
{
	gpu_stream s;
	CHECK(err, gpu_stream_new(&s));
	*stream = s;
	return TK_ABI_OK;
}

static void stream_free(struct tk_device *dev, void *stream)
{
	gpu_stream_free(stream);
}

static int synchronize(struct tk_device *dev, void *stream, struct tk_abi_error *err)
{
	CHECK(err, gpu_stream_synchronize(stream));
	CHECK(err, gpu_last_error());
	return TK_ABI_OK;
}

static int event_new(struct tk_device *dev, void **event, struct tk_abi_error *err)
{
	gpu_event e;
	CHECK(err, gpu_event_new(&e));
	*event = e;
	return TK_ABI_OK;
}

static void event_free(struct tk_device *dev, void *event)
{
	gpu_event_free(event);
}

static int event_record(struct tk_device *dev, void *event, void *stream, struct tk_abi_error *err)
{
	CHECK(err, gpu_event_record(event, stream));
	return TK_ABI_OK;
}

static int event_elapsed_ns(
        struct tk_device *dev, void *from, void *to, double *ns, struct tk_abi_error *err)
{
	float ms = 0;
	CHECK(err, gpu_event_synchronize(to));
	CHECK(err, gpu_event_elapsed_ms(&ms, from, to));
	*ns = (double)ms * 1e6;
	return TK_ABI_OK;
}

static int telemetry(struct tk_device *dev, struct tk_telemetry *out, struct tk_abi_error *err)
{
	if (out->size < sizeof *out)
		return TK_ABI_INVALID;
	*out = (struct tk_telemetry){.size = sizeof *out,
	        .clock_mhz = NAN,
	        .memory_clock_mhz = NAN,
	        .power_w = NAN,
	        .temperature_c = NAN,
	        .energy_j = NAN,
	        .load = NAN};
	sensors_telemetry(dev->sensors, out);
	return TK_ABI_OK;
}

static int graph_begin(struct tk_device *dev, void *stream, struct tk_abi_error *err)
{
	CHECK(err, gpu_capture_begin(stream));
	return TK_ABI_OK;
}

static int graph_end(struct tk_device *dev, void *stream, void **graph, struct tk_abi_error *err)
{
	gpu_graph captured = NULL;
	gpu_graph_exec exec = NULL;
	CHECK(err, gpu_capture_end(stream, &captured));
	gpu_error code = gpu_graph_instantiate(&exec, captured);
	gpu_graph_free(captured);
	if (code == GPU_SUCCESS)
		code = gpu_graph_upload(exec, stream);
	if (code != GPU_SUCCESS) {
		if (exec)
			gpu_graph_exec_free(exec);
		return fail(err, code, "instantiating a graph");
	}
	*graph = exec;
	return TK_ABI_OK;
}

static int graph_launch(struct tk_device *dev, void *graph, void *stream, struct tk_abi_error *err)
{
	CHECK(err, gpu_graph_launch(graph, stream));
	return TK_ABI_OK;
}

static void graph_free(struct tk_device *dev, void *graph)
{
	gpu_graph_exec_free(graph);
}

static int stamp_new(struct tk_device *dev, void **out, struct tk_abi_error *err)
{
	struct stamp *s = calloc(1, sizeof *s);
	size_t bytes = (size_t)dev->slots * sizeof *s->slots;
	void *memory = NULL;
	gpu_error code = s ? gpu_malloc(&memory, bytes) : GPU_ERROR_MEMORY;
	if (code == GPU_SUCCESS)
		code = gpu_memset(memory, 0, bytes);
	if (code != GPU_SUCCESS) {
		gpu_free(memory);
		free(s);
		return fail(err, code, "a clock stamp");
	}
	s->slots = memory;
	*out = s;
	return TK_ABI_OK;
}

static void stamp_free(struct tk_device *dev, void *stamp)
{
	struct stamp *s = stamp;
	if (!s)
		return;
	gpu_free(s->slots);
	free(s);
}

static int stamp_record(struct tk_device *dev, void *stamp, void *stream, struct tk_abi_error *err)
{
	struct stamp *s = stamp;
	s->sequence = ++dev->stamps;
	CHECK(err, device_stamp_enqueue(s->slots, dev->slots,
	                   (unsigned)dev->properties.multiProcessorCount, s->sequence, stream));
	return TK_ABI_OK;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

#define SLOTS_MAX 1024

/* The median over the multiprocessors that wrote both stamps. */
static double median_mhz(const struct tk_device *dev, const struct device_stamp *from,
        const struct device_stamp *to, const struct stamp *first, const struct stamp *second)
{
	double mhz[SLOTS_MAX];
	int n = 0;
	for (unsigned i = 0; i < dev->slots && n < SLOTS_MAX; i++)
		if (from[i].sequence == first->sequence && to[i].sequence == second->sequence &&
		        to[i].ticks > from[i].ticks && to[i].cycles > from[i].cycles)
			mhz[n++] = (double)(to[i].cycles - from[i].cycles) /
			           ((double)(to[i].ticks - from[i].ticks) * dev->tick_ns) * 1000;
	qsort(mhz, (size_t)n, sizeof *mhz, compare_doubles);
	return n ? mhz[n / 2] : NAN;
}

static int stamp_mhz(
        struct tk_device *dev, void *from, void *to, double *mhz, struct tk_abi_error *err)
{
	const struct stamp *first = from, *second = to;
	size_t bytes = (size_t)dev->slots * sizeof(struct device_stamp);
	struct device_stamp *both = malloc(2 * bytes);
	if (!both)
		return TK_ABI_NO_MEMORY;
	gpu_error code = gpu_device_synchronize();
	if (code == GPU_SUCCESS)
		code = gpu_memcpy(both, first->slots, bytes, GPU_DEVICE_TO_HOST);
	if (code == GPU_SUCCESS)
		code = gpu_memcpy(both + dev->slots, second->slots, bytes, GPU_DEVICE_TO_HOST);
	if (code == GPU_SUCCESS)
		*mhz = median_mhz(dev, both, both + dev->slots, first, second);
	free(both);
	return code == GPU_SUCCESS ? TK_ABI_OK : fail(err, code, "reading the clock stamps");
}

static int block_stream(struct tk_device *dev, void *stream, double ns, struct tk_abi_error *err)
{
	CHECK(err, device_block_enqueue(ns / dev->tick_ns, stream));
	return TK_ABI_OK;
}

static int memory_load(struct tk_device *dev, double ns, double share, struct tk_abi_error *err)
{
	if (!dev->memory_load)
		CHECK(err, device_memory_load_new(dev->tick_ns, &dev->memory_load));
	if (ns > 0)
		CHECK(err, device_memory_load_run(dev->memory_load, ns, share));
	else
		CHECK(err, device_memory_load_wait(dev->memory_load));
	return TK_ABI_OK;
}

static int flip_signs(struct tk_device *dev, void *memory, size_t count, size_t element_bytes,
        uint64_t seed, struct tk_abi_error *err)
{
	CHECK(err, device_flip_enqueue(memory, count, element_bytes, seed, NULL));
	CHECK(err, gpu_stream_synchronize(NULL));
	return TK_ABI_OK;
}

/* The descriptor is of a file in memory, which holds the handle of the allocation. */
static int share(struct tk_device *dev, size_t bytes, void **out, int *fd, struct tk_abi_error *err)
{
	gpu_ipc_handle handle;
	int made = memfd_create("tracker", MFD_CLOEXEC);
	if (made < 0)
		return fail(err, GPU_ERROR_MEMORY, "memfd_create");
	gpu_error code = gpu_malloc(out, bytes);
	if (!code && (code = gpu_ipc_handle_get(&handle, *out)))
		gpu_free(*out);
	if (!code && pwrite(made, &handle, sizeof handle, 0) == sizeof handle) {
		*fd = made;
		return TK_ABI_OK;
	}
	close(made);
	return fail(err, code ? code : GPU_ERROR_VALUE, "shared memory");
}

static int attach(struct tk_device *dev, int fd, size_t bytes, void **out, struct tk_abi_error *err)
{
	gpu_ipc_handle handle = {0};
	if (pread(fd, &handle, sizeof handle, 0) != sizeof handle)
		return fail(err, GPU_ERROR_VALUE, "shared memory");
	CHECK(err, gpu_ipc_open(out, handle));
	return TK_ABI_OK;
}

/* What this process attached, or else what it shared. */
static void detach(struct tk_device *dev, void *memory, size_t bytes)
{
	if (gpu_ipc_close(memory) != GPU_SUCCESS) {
		gpu_last_error();
		gpu_free(memory);
	}
}

static const struct tk_device_ops ops = {
        .size = sizeof ops,
        .abi_major = TK_ABI_MAJOR,
        .abi_minor = TK_ABI_MINOR,
        .kind = vendor_kind,
        .count = device_count,
        .open = device_open,
        .close = device_close,
        .info = device_info,
        .alloc = memory_alloc,
        .release = memory_release,
        .upload = upload,
        .download = download,
        .stream_new = stream_new,
        .stream_free = stream_free,
        .synchronize = synchronize,
        .event_new = event_new,
        .event_free = event_free,
        .event_record = event_record,
        .event_elapsed_ns = event_elapsed_ns,
        .telemetry = telemetry,
        .graph_begin = graph_begin,
        .graph_end = graph_end,
        .graph_launch = graph_launch,
        .graph_free = graph_free,
        .stamp_new = stamp_new,
        .stamp_free = stamp_free,
        .stamp_record = stamp_record,
        .stamp_mhz = stamp_mhz,
        .block_stream = block_stream,
        .memory_load = memory_load,
        .copy = copy,
        .fill = fill,
        .same = compare,
        .memory_used = memory_used,
        .profile = profile,
        .flip_signs = flip_signs,
        .share = share,
        .attach = attach,
        .detach = detach,
};

const struct tk_device_ops *tk_device_entry(void)
{
	return &ops;
}
