/* Traffic beside a kernel. Repeats a copy of CHUNK bytes and a wait that gives the copies their
 * share of the time. */
#include "device.h"
#include <math.h>
#include <stdlib.h>

#define CHUNK ((size_t)64 << 20)
#define CALIBRATION 8
#define PERIODS_MAX 4096.0

struct device_memory_load {
	void *from, *to;
	gpu_stream stream;
	double copy_ns; /* of one chunk, nothing else running */
	double tick_ns; /* of the timer that waiting reads */
};

/* CHECK(call): returns from the function if the runtime reports an error. */
#define CHECK(call) \
	do { \
		gpu_error code_ = (call); \
		if (code_ != GPU_SUCCESS) \
			return code_; \
	} while (0)

static gpu_error calibrate(struct device_memory_load *s)
{
	gpu_event start, end;
	float ms = 0;
	CHECK(gpu_event_new(&start));
	CHECK(gpu_event_new(&end));
	CHECK(gpu_memcpy_async(s->to, s->from, CHUNK, GPU_DEVICE_TO_DEVICE, s->stream));
	CHECK(gpu_event_record(start, s->stream));
	for (int i = 0; i < CALIBRATION; i++)
		CHECK(gpu_memcpy_async(s->to, s->from, CHUNK, GPU_DEVICE_TO_DEVICE, s->stream));
	CHECK(gpu_event_record(end, s->stream));
	CHECK(gpu_event_synchronize(end));
	CHECK(gpu_event_elapsed_ms(&ms, start, end));
	s->copy_ns = fmax((double)ms * 1e6 / CALIBRATION, 1000);
	CHECK(gpu_event_free(start));
	return gpu_event_free(end);
}

static gpu_error make(struct device_memory_load *s)
{
	CHECK(gpu_malloc(&s->from, CHUNK));
	CHECK(gpu_malloc(&s->to, CHUNK));
	CHECK(gpu_memset(s->from, 0x5a, CHUNK));
	CHECK(gpu_stream_new(&s->stream));
	CHECK(gpu_device_synchronize());
	return calibrate(s);
}

gpu_error device_memory_load_new(double tick_ns, struct device_memory_load **out)
{
	struct device_memory_load *s = calloc(1, sizeof *s);
	gpu_error code = s ? make(s) : GPU_ERROR_MEMORY;
	if (code == GPU_SUCCESS) {
		s->tick_ns = tick_ns;
		*out = s;
	} else {
		device_memory_load_free(s);
	}
	return code;
}

void device_memory_load_free(struct device_memory_load *s)
{
	if (!s)
		return;
	if (s->stream)
		gpu_stream_free(s->stream);
	gpu_free(s->from);
	gpu_free(s->to);
	free(s);
}

gpu_error device_memory_load_run(struct device_memory_load *s, double ns, double share)
{
	double within = fmin(fmax(share, 0.01), 1), wait_ns = s->copy_ns * (1 / within - 1);
	double periods = fmin(ceil(ns / (s->copy_ns + wait_ns)), PERIODS_MAX);
	for (double i = 0; i < periods; i++) {
		CHECK(gpu_memcpy_async(s->to, s->from, CHUNK, GPU_DEVICE_TO_DEVICE, s->stream));
		if (wait_ns >= 1000)
			CHECK(device_block_enqueue(wait_ns / s->tick_ns, s->stream));
	}
	return GPU_SUCCESS;
}

gpu_error device_memory_load_wait(struct device_memory_load *s)
{
	return gpu_stream_synchronize(s->stream);
}
