/* The null device layer: host memory and a virtual clock, to try the whole tracker without waiting.
 *
 * Device 0 and device 1 are equal: 16 GiB of memory, which is the host's, and a last-level cache of
 * 1 MiB. */
#include "kit.h"
#include "null_device.h"
#include <math.h>
#include <unistd.h>

#define MEMORY_BYTES (16ull << 30)
#define HEADER 256 /* before an allocation: its size; keeps the alignment */

static int null_count(uint32_t *n, struct tk_abi_error *err)
{
	*n = 2;
	return TK_ABI_OK;
}

static int null_open(uint32_t index, struct tk_device **out, struct tk_abi_error *err)
{
	if (index > 1)
		return fail(err, TK_ABI_INVALID, "there are two null devices, 0 and 1");
	struct tk_device *dev = calloc(1, sizeof *dev);
	if (!dev)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	dev->magic = NULL_DEVICE_MAGIC;
	dev->index = index;
	dev->alone_fd = -1;
	*out = dev;
	return TK_ABI_OK;
}

static void null_close(struct tk_device *dev)
{
	if (dev->alone_fd >= 0)
		close(dev->alone_fd);
	free(dev);
}

static int null_info(struct tk_device *dev, struct tk_device_info *out, struct tk_abi_error *err)
{
	snprintf(out->kind, sizeof out->kind, "null");
	snprintf(out->name, sizeof out->name, "Null device");
	snprintf(out->uuid, sizeof out->uuid, "null-%u", dev->index);
	snprintf(out->arch, sizeof out->arch, "null");
	snprintf(out->driver, sizeof out->driver, "virtual clock 1");
	snprintf(out->attributes, sizeof out->attributes, "{\"clock\":\"virtual\"}");
	out->memory_bytes = MEMORY_BYTES;
	out->cache_bytes = 1 << 20;
	out->compute_units = 1;
	return TK_ABI_OK;
}

static int null_alloc(struct tk_device *dev, size_t bytes, void **out, struct tk_abi_error *err)
{
	if (bytes > MEMORY_BYTES - dev->allocated)
		return fail(
		        err, TK_ABI_NO_MEMORY, "the null device has 16 GiB, and they are used up");
	unsigned char *memory = aligned_alloc(HEADER, (bytes + 2 * HEADER - 1) / HEADER * HEADER);
	if (!memory)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	memcpy(memory, &bytes, sizeof bytes);
	dev->allocated += bytes;
	*out = memory + HEADER;
	return TK_ABI_OK;
}

static void null_release(struct tk_device *dev, void *memory)
{
	size_t bytes;
	if (!memory)
		return;
	memcpy(&bytes, (unsigned char *)memory - HEADER, sizeof bytes);
	dev->allocated -= bytes;
	free((unsigned char *)memory - HEADER);
}

static int null_copy(
        struct tk_device *dev, void *to, const void *from, size_t bytes, struct tk_abi_error *err)
{
	memcpy(to, from, bytes);
	return TK_ABI_OK;
}

static int null_stream_new(struct tk_device *dev, void **stream, struct tk_abi_error *err)
{
	*stream = dev;
	return TK_ABI_OK;
}

static void null_stream_free(struct tk_device *dev, void *stream)
{
}

static int null_synchronize(struct tk_device *dev, void *stream, struct tk_abi_error *err)
{
	null_device_release(dev);
	return TK_ABI_OK;
}

static int null_event_new(struct tk_device *dev, void **event, struct tk_abi_error *err)
{
	*event = calloc(1, sizeof(double));
	return *event ? TK_ABI_OK : fail(err, TK_ABI_NO_MEMORY, "out of memory");
}

static void null_event_free(struct tk_device *dev, void *event)
{
	free(event);
}

static int null_event_record(
        struct tk_device *dev, void *event, void *stream, struct tk_abi_error *err)
{
	*(double *)event = dev->now_ns;
	return null_device_acquire(dev, err);
}

static int null_event_elapsed_ns(
        struct tk_device *dev, void *from, void *to, double *ns, struct tk_abi_error *err)
{
	*ns = *(double *)to - *(double *)from;
	null_device_release(dev);
	return TK_ABI_OK;
}

static int null_telemetry(struct tk_device *dev, struct tk_telemetry *out, struct tk_abi_error *err)
{
	out->throttled = dev->throttled;
	out->clock_mhz = dev->throttled ? 800 : 1000;
	out->memory_clock_mhz = NAN;
	out->power_w = 1;
	out->temperature_c = 20;
	out->energy_j = dev->now_ns * 1e-9;
	out->load = 0;
	snprintf(out->reasons, sizeof out->reasons, "%s", dev->throttled ? "told_so" : "");
	return TK_ABI_OK;
}

static int null_graph_begin(struct tk_device *dev, void *stream, struct tk_abi_error *err)
{
	if (dev->capturing)
		return fail(err, TK_ABI_INVALID, "a capture is already under way");
	dev->capturing = 1;
	dev->captured_ns = 0;
	return TK_ABI_OK;
}

static int null_graph_end(
        struct tk_device *dev, void *stream, void **graph, struct tk_abi_error *err)
{
	double *ns = malloc(sizeof *ns);
	dev->capturing = 0;
	if (!ns)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	*ns = dev->captured_ns;
	*graph = ns;
	return TK_ABI_OK;
}

static int null_graph_launch(
        struct tk_device *dev, void *graph, void *stream, struct tk_abi_error *err)
{
	null_device_advance(dev, *(double *)graph);
	return TK_ABI_OK;
}

static void null_graph_free(struct tk_device *dev, void *graph)
{
	free(graph);
}

/* The clock of telemetry, between any two stamps. */
static int null_stamp_mhz(
        struct tk_device *dev, void *from, void *to, double *mhz, struct tk_abi_error *err)
{
	*mhz = dev->throttled ? 800 : 1000;
	return TK_ABI_OK;
}

static int null_block_stream(
        struct tk_device *dev, void *stream, double ns, struct tk_abi_error *err)
{
	dev->now_ns += ns;
	return null_device_acquire(dev, err);
}

static int null_idle_gap(struct tk_device *dev, double ns, struct tk_abi_error *err)
{
	dev->now_ns += ns;
	return null_device_acquire(dev, err);
}

static int null_memory_load(
        struct tk_device *dev, double ns, double share, struct tk_abi_error *err)
{
	dev->memory_load_until_ns = dev->now_ns + ns;
	dev->memory_load_share = share;
	dev->strained = ns > 0; /* until a call waits for its end */
	if (dev->strained)
		return null_device_acquire(dev, err);
	null_device_release(dev);
	return TK_ABI_OK;
}

static int null_fill(struct tk_device *dev, void *to, unsigned char value, size_t bytes,
        struct tk_abi_error *err)
{
	memset(to, value, bytes);
	return TK_ABI_OK;
}

static int null_same(struct tk_device *dev, const void *a, const void *b, size_t bytes,
        uint32_t *same, struct tk_abi_error *err)
{
	*same = memcmp(a, b, bytes) == 0;
	return TK_ABI_OK;
}

static int null_memory_used(struct tk_device *dev, uint64_t *bytes, struct tk_abi_error *err)
{
	*bytes = dev->allocated;
	return TK_ABI_OK;
}

static int null_profile(struct tk_device *dev, uint32_t on, struct tk_abi_error *err)
{
	return TK_ABI_OK;
}

static double null_now_ns(struct tk_device *dev)
{
	return dev->now_ns;
}

const struct tk_device_ops *tk_device_entry(void)
{
	/* clang-format off */
	static const struct tk_device_ops ops = {
		.size = sizeof ops, .abi_major = TK_ABI_MAJOR, .abi_minor = TK_ABI_MINOR,
		.kind = "null",
		.count = null_count, .open = null_open, .close = null_close, .info = null_info,
		.alloc = null_alloc,
		.release = null_release, .upload = null_copy, .download = null_copy,
		.stream_new = null_stream_new,
		.stream_free = null_stream_free, .synchronize = null_synchronize,
		.event_new = null_event_new,
		.event_free = null_event_free, .event_record = null_event_record,
		.event_elapsed_ns = null_event_elapsed_ns,
		.telemetry = null_telemetry, .graph_begin = null_graph_begin,
		.graph_end = null_graph_end,
		.graph_launch = null_graph_launch, .graph_free = null_graph_free,
		.stamp_new = null_event_new, .stamp_free = null_event_free,
		.stamp_record = null_event_record, .stamp_mhz = null_stamp_mhz,
		.block_stream = null_block_stream, .idle = null_idle_gap,
		.memory_load = null_memory_load, .copy = null_copy, .fill = null_fill,
		.same = null_same,
		.memory_used = null_memory_used, .profile = null_profile,
		.now_ns = null_now_ns,
	};
	/* clang-format on */
	return &ops;
}
