/* The CUDA device layer: memory, streams, events, graphs, clocks. One of them per worker process, on one device.
 *
 * The runtime is linked statically and finds the driver by itself, so that the module loads (and says why there is no
 * device) on a machine without one. Plain cudaMalloc only; clocks and power are read, never set. */
#include "device_kernels.h"
#include "device_strain.h"
#include "nvml.h"
#include "tracker_abi.h"
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tk_device {
	int index;
	struct cudaDeviceProp properties;
	struct nvml *nvml;
	struct device_strain *strain; /* NULL until it is asked for */
	unsigned long long stamps;    /* how many were recorded */
};

/* One slot for each multiprocessor, on the device. */
struct stamp {
	struct device_stamp *slots;
	unsigned long long sequence;
};

static int fail(struct tk_abi_error *err, cudaError_t code, const char *what)
{
	if (err && err->size >= sizeof *err)
		snprintf(err->message, sizeof err->message, "%s: %s (%s)", what, cudaGetErrorString(code),
		        cudaGetErrorName(code));
	switch (code) {
	case cudaErrorMemoryAllocation:
		cudaGetLastError();
		return TK_ABI_NO_MEMORY;
	case cudaErrorInvalidValue:
		cudaGetLastError();
		return TK_ABI_INVALID;
	default:
		return TK_ABI_DEVICE;
	}
}

/* CHECK(call): returns from the function where the runtime says no. */
#define CHECK(err, call) \
	do { \
		cudaError_t code_ = (call); \
		if (code_ != cudaSuccess) \
			return fail(err, code_, #call); \
	} while (0)

static int device_count(uint32_t *n, struct tk_abi_error *err)
{
	int count = 0;
	cudaError_t code = cudaGetDeviceCount(&count);
	if (code != cudaSuccess && code != cudaErrorNoDevice)
		return fail(err, code, "cudaGetDeviceCount");
	*n = (uint32_t)count;
	return TK_ABI_OK;
}

static int device_open(uint32_t index, struct tk_device **out, struct tk_abi_error *err)
{
	char bus[32] = "";
	struct tk_device *dev = calloc(1, sizeof *dev);
	if (!dev)
		return TK_ABI_NO_MEMORY;
	dev->index = (int)index;
	cudaError_t code = cudaSetDevice(dev->index);
	if (code == cudaSuccess)
		code = cudaGetDeviceProperties(&dev->properties, dev->index);
	if (code == cudaSuccess)
		code = cudaDeviceGetPCIBusId(bus, sizeof bus, dev->index);
	if (code == cudaSuccess)
		code = cudaFree(NULL); /* makes the context now, not in the first measurement */
	if (code != cudaSuccess) {
		free(dev);
		return fail(err, code, "cannot open the CUDA device");
	}
	dev->nvml = nvml_open(bus);
	*out = dev;
	return TK_ABI_OK;
}

static void device_close(struct tk_device *dev)
{
	if (!dev)
		return;
	device_strain_free(dev->strain);
	nvml_close(dev->nvml);
	free(dev);
}

static void format_uuid(const cudaUUID_t *uuid, char out[80])
{
	const unsigned char *b = (const unsigned char *)uuid->bytes;
	snprintf(out, 80, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2],
	        b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static int device_info(struct tk_device *dev, struct tk_device_info *out, struct tk_abi_error *err)
{
	const struct cudaDeviceProp *p = &dev->properties;
	int driver = 0, runtime = 0;
	if (out->size < sizeof *out)
		return TK_ABI_INVALID;
	CHECK(err, cudaDriverGetVersion(&driver));
	CHECK(err, cudaRuntimeGetVersion(&runtime));
	snprintf(out->kind, sizeof out->kind, "cuda");
	snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1, p->name);
	format_uuid(&p->uuid, out->uuid);
	snprintf(out->arch, sizeof out->arch, "sm_%d%d", p->major, p->minor);
	out->memory_bytes = p->totalGlobalMem;
	out->cache_bytes = (uint64_t)p->l2CacheSize;
	out->compute_units = (uint32_t)p->multiProcessorCount;
	out->numa_node = p->hostNumaId >= 0 ? (uint32_t)p->hostNumaId : 0;
	snprintf(out->driver, sizeof out->driver, "%s", nvml_driver(dev->nvml));
	size_t len = (size_t)snprintf(out->attributes, sizeof out->attributes,
	        "{\"cuda_driver\":\"%d.%d\",\"cuda_runtime\":\"%d.%d\","
	        "\"shared_memory_bytes\":%zu",
	        driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, p->sharedMemPerBlockOptin);
	len += nvml_attributes(dev->nvml, out->attributes + len, sizeof out->attributes - len - 2);
	snprintf(out->attributes + len, sizeof out->attributes - len, "}");
	return TK_ABI_OK;
}

static int memory_alloc(struct tk_device *dev, size_t bytes, void **out, struct tk_abi_error *err)
{
	void *memory = NULL;
	CHECK(err, cudaMalloc(&memory, bytes ? bytes : 1));
	*out = memory;
	return TK_ABI_OK;
}

static void memory_release(struct tk_device *dev, void *memory)
{
	cudaFree(memory);
}

static int upload(struct tk_device *dev, void *to, const void *from, size_t bytes, struct tk_abi_error *err)
{
	CHECK(err, cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
	CHECK(err, cudaStreamSynchronize(NULL)); /* streams that do not wait for the default one must see it */
	return TK_ABI_OK;
}

static int download(struct tk_device *dev, void *to, const void *from, size_t bytes, struct tk_abi_error *err)
{
	CHECK(err, cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
	return TK_ABI_OK;
}

static int copy(struct tk_device *dev, void *to, const void *from, size_t bytes, struct tk_abi_error *err)
{
	CHECK(err, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, NULL));
	CHECK(err, cudaStreamSynchronize(NULL));
	return TK_ABI_OK;
}

static int fill(struct tk_device *dev, void *to, unsigned char value, size_t bytes, struct tk_abi_error *err)
{
	CHECK(err, cudaMemsetAsync(to, value, bytes, NULL));
	CHECK(err, cudaStreamSynchronize(NULL));
	return TK_ABI_OK;
}

static int compare(
        struct tk_device *dev, const void *a, const void *b, size_t bytes, uint32_t *same, struct tk_abi_error *err)
{
	unsigned *differs = NULL, found = 1;
	CHECK(err, cudaMalloc((void **)&differs, sizeof *differs));
	cudaError_t code = cudaMemset(differs, 0, sizeof *differs);
	if (code == cudaSuccess)
		code = device_compare_enqueue(a, b, bytes, differs, NULL);
	if (code == cudaSuccess)
		code = cudaMemcpy(&found, differs, sizeof found, cudaMemcpyDeviceToHost);
	cudaFree(differs);
	if (code != cudaSuccess)
		return fail(err, code, "comparing two results");
	*same = !found;
	return TK_ABI_OK;
}

static int memory_used(struct tk_device *dev, uint64_t *bytes, struct tk_abi_error *err)
{
	size_t left = 0, all = 0;
	CHECK(err, cudaMemGetInfo(&left, &all));
	*bytes = all - left;
	return TK_ABI_OK;
}

static int stream_new(struct tk_device *dev, void **stream, struct tk_abi_error *err)
{
	cudaStream_t s;
	CHECK(err, cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	*stream = s;
	return TK_ABI_OK;
}

static void stream_free(struct tk_device *dev, void *stream)
{
	cudaStreamDestroy(stream);
}

static int synchronize(struct tk_device *dev, void *stream, struct tk_abi_error *err)
{
	CHECK(err, cudaStreamSynchronize(stream));
	CHECK(err, cudaGetLastError());
	return TK_ABI_OK;
}

static int event_new(struct tk_device *dev, void **event, struct tk_abi_error *err)
{
	cudaEvent_t e;
	CHECK(err, cudaEventCreate(&e));
	*event = e;
	return TK_ABI_OK;
}

static void event_free(struct tk_device *dev, void *event)
{
	cudaEventDestroy(event);
}

static int event_record(struct tk_device *dev, void *event, void *stream, struct tk_abi_error *err)
{
	CHECK(err, cudaEventRecord(event, stream));
	return TK_ABI_OK;
}

static int event_elapsed_ns(struct tk_device *dev, void *from, void *to, double *ns, struct tk_abi_error *err)
{
	float ms = 0;
	CHECK(err, cudaEventSynchronize(to));
	CHECK(err, cudaEventElapsedTime(&ms, from, to));
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
	nvml_telemetry(dev->nvml, out);
	return TK_ABI_OK;
}

static int graph_begin(struct tk_device *dev, void *stream, struct tk_abi_error *err)
{
	CHECK(err, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	return TK_ABI_OK;
}

static int graph_end(struct tk_device *dev, void *stream, void **graph, struct tk_abi_error *err)
{
	cudaGraph_t captured = NULL;
	cudaGraphExec_t exec = NULL;
	CHECK(err, cudaStreamEndCapture(stream, &captured));
	cudaError_t code = cudaGraphInstantiate(&exec, captured, 0);
	cudaGraphDestroy(captured);
	if (code == cudaSuccess)
		code = cudaGraphUpload(exec, stream);
	if (code != cudaSuccess)
		return fail(err, code, "cudaGraphInstantiate");
	*graph = exec;
	return TK_ABI_OK;
}

static int graph_launch(struct tk_device *dev, void *graph, void *stream, struct tk_abi_error *err)
{
	CHECK(err, cudaGraphLaunch(graph, stream));
	return TK_ABI_OK;
}

static void graph_free(struct tk_device *dev, void *graph)
{
	cudaGraphExecDestroy(graph);
}

static int stamp_new(struct tk_device *dev, void **out, struct tk_abi_error *err)
{
	struct stamp *s = calloc(1, sizeof *s);
	size_t bytes = (size_t)dev->properties.multiProcessorCount * sizeof *s->slots;
	void *memory = NULL;
	cudaError_t code = s ? cudaMalloc(&memory, bytes) : cudaErrorMemoryAllocation;
	if (code == cudaSuccess)
		code = cudaMemset(memory, 0, bytes);
	if (code != cudaSuccess) {
		cudaFree(memory);
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
	cudaFree(s->slots);
	free(s);
}

static int stamp_record(struct tk_device *dev, void *stamp, void *stream, struct tk_abi_error *err)
{
	struct stamp *s = stamp;
	s->sequence = ++dev->stamps;
	CHECK(err, device_stamp_enqueue(s->slots, (unsigned)dev->properties.multiProcessorCount, s->sequence, stream));
	return TK_ABI_OK;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The median over the multiprocessors that wrote both stamps. */
static double mean_mhz(const struct device_stamp *from, const struct device_stamp *to, const struct stamp *first,
        const struct stamp *second, int count)
{
	double mhz[1024];
	int n = 0;
	for (int i = 0; i < count && n < 1024; i++)
		if (from[i].sequence == first->sequence && to[i].sequence == second->sequence &&
		        to[i].ns > from[i].ns && to[i].cycles > from[i].cycles)
			mhz[n++] = (double)(to[i].cycles - from[i].cycles) / (double)(to[i].ns - from[i].ns) * 1000;
	qsort(mhz, (size_t)n, sizeof *mhz, compare_doubles);
	return n ? mhz[n / 2] : NAN;
}

static int stamp_mhz(struct tk_device *dev, void *from, void *to, double *mhz, struct tk_abi_error *err)
{
	const struct stamp *first = from, *second = to;
	int count = dev->properties.multiProcessorCount;
	size_t bytes = (size_t)count * sizeof(struct device_stamp);
	struct device_stamp *both = malloc(2 * bytes);
	if (!both)
		return TK_ABI_NO_MEMORY;
	cudaError_t code = cudaDeviceSynchronize();
	if (code == cudaSuccess)
		code = cudaMemcpy(both, first->slots, bytes, cudaMemcpyDeviceToHost);
	if (code == cudaSuccess)
		code = cudaMemcpy(both + count, second->slots, bytes, cudaMemcpyDeviceToHost);
	if (code == cudaSuccess)
		*mhz = mean_mhz(both, both + count, first, second, count);
	free(both);
	return code == cudaSuccess ? TK_ABI_OK : fail(err, code, "reading the clock stamps");
}

static int hold(struct tk_device *dev, void *stream, double ns, struct tk_abi_error *err)
{
	CHECK(err, device_hold_enqueue(ns, stream));
	return TK_ABI_OK;
}

static int strain(struct tk_device *dev, double ns, double share, struct tk_abi_error *err)
{
	if (!dev->strain)
		CHECK(err, device_strain_new(&dev->strain));
	if (ns > 0)
		CHECK(err, device_strain_run(dev->strain, ns, share));
	else
		CHECK(err, device_strain_wait(dev->strain));
	return TK_ABI_OK;
}

static const struct tk_device_ops ops = {
        .size = sizeof ops,
        .abi_major = TK_ABI_MAJOR,
        .abi_minor = TK_ABI_MINOR,
        .kind = "cuda",
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
        .hold = hold,
        .strain = strain,
        .copy = copy,
        .fill = fill,
        .same = compare,
        .memory_used = memory_used,
};

const struct tk_device_ops *tk_device_entry(void)
{
	return &ops;
}
