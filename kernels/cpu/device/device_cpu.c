/* The device layer of processors: memory, a clock, telemetry. Everything is synchronous, so streams
 * do nothing. Events are readings of CLOCK_MONOTONIC_RAW, which time daemons do not adjust. */
#include "cpu_system.h"
#include "kit.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define HUGE_PAGE (2ull << 20)
#define ALIGNMENT 4096

static int cpu_count(uint32_t *n, struct tk_abi_error *err)
{
	*n = 1;
	return TK_ABI_OK;
}

static int cpu_open(uint32_t index, struct tk_device **out, struct tk_abi_error *err)
{
	if (index != 0)
		return fail(err, TK_ABI_INVALID, "there is one CPU device, 0");
	struct tk_device *dev = calloc(1, sizeof *dev);
	if (!dev)
		return fail(err, TK_ABI_NO_MEMORY, "out of memory");
	if (sched_getaffinity(0, sizeof dev->cores, &dev->cores) != 0)
		CPU_SET(0, &dev->cores);
	while (dev->first_core < CPU_SETSIZE - 1 && !CPU_ISSET(dev->first_core, &dev->cores))
		dev->first_core++;
	cpu_find_sensors(dev);
	dev->seen = cpu_read_counters(dev);
	*out = dev;
	return TK_ABI_OK;
}

static void cpu_close(struct tk_device *dev)
{
	free(dev);
}

static int cpu_info(struct tk_device *dev, struct tk_device_info *out, struct tk_abi_error *err)
{
	return cpu_fill_info(dev, out) == 0
	               ? TK_ABI_OK
	               : fail(err, TK_ABI_DEVICE, "the description of the processor is too long");
}

/* Large blocks use huge pages if the system has them: fewer TLB misses, and the same ones every
 * night. */
static int cpu_alloc(struct tk_device *dev, size_t bytes, void **out, struct tk_abi_error *err)
{
	size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : ALIGNMENT;
	void *memory = NULL;
	if (bytes > SIZE_MAX - alignment ||
	        !(memory = aligned_alloc(alignment,
	                  (bytes + alignment - 1) / alignment * alignment + alignment * !bytes)))
		return fail(err, TK_ABI_NO_MEMORY, "%zu bytes cannot be had", bytes);
	if (bytes >= HUGE_PAGE)
		madvise(memory, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
	*out = memory;
	return TK_ABI_OK;
}

static void cpu_release(struct tk_device *dev, void *memory)
{
	free(memory);
}

static int cpu_attach(
        struct tk_device *dev, int fd, size_t bytes, void **out, struct tk_abi_error *err)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (memory == MAP_FAILED)
		return fail(err, TK_ABI_NO_MEMORY, "%zu bytes cannot be mapped", bytes);
	*out = memory;
	return TK_ABI_OK;
}

/* Of fixed size, so that the other process cannot take pages away from this one. */
static int cpu_share(
        struct tk_device *dev, size_t bytes, void **out, int *fd, struct tk_abi_error *err)
{
	int made = memfd_create("tracker", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (made < 0 || ftruncate(made, (off_t)bytes) != 0 ||
	        fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
	        cpu_attach(dev, made, bytes, out, err) != TK_ABI_OK) {
		if (made >= 0)
			close(made);
		return fail(err, TK_ABI_NO_MEMORY, "%zu bytes cannot be shared", bytes);
	}
	*fd = made;
	return TK_ABI_OK;
}

static void cpu_detach(struct tk_device *dev, void *memory, size_t bytes)
{
	munmap(memory, bytes);
}

static int cpu_copy(
        struct tk_device *dev, void *to, const void *from, size_t bytes, struct tk_abi_error *err)
{
	memcpy(to, from, bytes);
	return TK_ABI_OK;
}

static int cpu_stream_new(struct tk_device *dev, void **stream, struct tk_abi_error *err)
{
	*stream = NULL;
	return TK_ABI_OK;
}

static void cpu_stream_free(struct tk_device *dev, void *stream)
{
}

static int cpu_synchronize(struct tk_device *dev, void *stream, struct tk_abi_error *err)
{
	return TK_ABI_OK;
}

static int cpu_event_new(struct tk_device *dev, void **event, struct tk_abi_error *err)
{
	*event = calloc(1, sizeof(struct timespec));
	return *event ? TK_ABI_OK : fail(err, TK_ABI_NO_MEMORY, "out of memory");
}

static void cpu_event_free(struct tk_device *dev, void *event)
{
	free(event);
}

static int cpu_event_record(
        struct tk_device *dev, void *event, void *stream, struct tk_abi_error *err)
{
	clock_gettime(CLOCK_MONOTONIC_RAW, event);
	return TK_ABI_OK;
}

static int cpu_event_elapsed_ns(
        struct tk_device *dev, void *from, void *to, double *ns, struct tk_abi_error *err)
{
	const struct timespec *a = from, *b = to;
	*ns = (double)(b->tv_sec - a->tv_sec) * 1e9 + (double)(b->tv_nsec - a->tv_nsec);
	return TK_ABI_OK;
}

static int cpu_telemetry(struct tk_device *dev, struct tk_telemetry *out, struct tk_abi_error *err)
{
	cpu_fill_telemetry(dev, out);
	return TK_ABI_OK;
}

const struct tk_device_ops *tk_device_entry(void)
{
	static const struct tk_device_ops ops = {
	        .size = sizeof ops,
	        .abi_major = TK_ABI_MAJOR,
	        .abi_minor = TK_ABI_MINOR,
	        .kind = "cpu",
	        .count = cpu_count,
	        .open = cpu_open,
	        .close = cpu_close,
	        .info = cpu_info,
	        .alloc = cpu_alloc,
	        .release = cpu_release,
	        .upload = cpu_copy,
	        .download = cpu_copy,
	        .stream_new = cpu_stream_new,
	        .stream_free = cpu_stream_free,
	        .synchronize = cpu_synchronize,
	        .event_new = cpu_event_new,
	        .event_free = cpu_event_free,
	        .event_record = cpu_event_record,
	        .event_elapsed_ns = cpu_event_elapsed_ns,
	        .telemetry = cpu_telemetry,
	        .share = cpu_share,
	        .attach = cpu_attach,
	        .detach = cpu_detach,
	};
	return &ops;
}
