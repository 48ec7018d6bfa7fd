/* See device_transfer.h. Each lane has a share of the bytes, a stream, and two buffers: while one is on the bus, the
 * lane's thread fills or empties the other. */
#include "device_transfer.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LANES 4
#define CHUNK ((size_t)2 << 20)
#define ALIGNMENT ((size_t)4096)

struct lane {
	int device;
	cudaStream_t stream;
	void *buffer[2];
	cudaEvent_t done[2];
	/* the copy in hand */
	char *to;
	const char *from;
	size_t bytes;
	bool up;
	cudaError_t code;
};

struct device_transfer {
	struct lane lanes[LANES];
};

/* CHECK(call): returns from the function where the runtime says no. */
#define CHECK(call) \
	do { \
		cudaError_t code_ = (call); \
		if (code_ != cudaSuccess) \
			return code_; \
	} while (0)

static cudaError_t lane_make(struct lane *l)
{
	CHECK(cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking));
	for (int i = 0; i < 2; i++) {
		CHECK(cudaHostAlloc(&l->buffer[i], CHUNK, cudaHostAllocDefault));
		CHECK(cudaEventCreateWithFlags(&l->done[i], cudaEventDisableTiming));
	}
	return cudaSuccess;
}

static size_t piece(const struct lane *l, size_t at)
{
	return l->bytes - at < CHUNK ? l->bytes - at : CHUNK;
}

/* An event that was never recorded is one that has happened. */
static cudaError_t lane_up(struct lane *l)
{
	int i = 0;
	for (size_t at = 0; at < l->bytes; at += CHUNK, i ^= 1) {
		CHECK(cudaEventSynchronize(l->done[i]));
		memcpy(l->buffer[i], l->from + at, piece(l, at));
		CHECK(cudaMemcpyAsync(l->to + at, l->buffer[i], piece(l, at), cudaMemcpyHostToDevice, l->stream));
		CHECK(cudaEventRecord(l->done[i], l->stream));
	}
	return cudaStreamSynchronize(l->stream);
}

static cudaError_t lane_fetch(struct lane *l, size_t at, int i)
{
	CHECK(cudaMemcpyAsync(l->buffer[i], l->from + at, piece(l, at), cudaMemcpyDeviceToHost, l->stream));
	return cudaEventRecord(l->done[i], l->stream);
}

static cudaError_t lane_down(struct lane *l)
{
	int i = 0;
	if (l->bytes)
		CHECK(lane_fetch(l, 0, i));
	for (size_t at = 0; at < l->bytes; at += CHUNK, i ^= 1) {
		if (at + CHUNK < l->bytes)
			CHECK(lane_fetch(l, at + CHUNK, i ^ 1));
		CHECK(cudaEventSynchronize(l->done[i]));
		memcpy(l->to + at, l->buffer[i], piece(l, at));
	}
	return cudaSuccess;
}

static void *lane_run(void *arg)
{
	struct lane *l = arg;
	l->code = cudaSetDevice(l->device);
	if (l->code == cudaSuccess)
		l->code = l->up ? lane_up(l) : lane_down(l);
	return NULL;
}

static cudaError_t run(struct device_transfer *t, void *to, const void *from, size_t bytes, bool up)
{
	pthread_t threads[LANES];
	bool started[LANES] = {false};
	size_t share = (bytes / LANES + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, at = 0;
	for (int i = 0; i < LANES; i++) {
		struct lane *l = &t->lanes[i];
		size_t n = i == LANES - 1 || bytes - at < share ? bytes - at : share;
		l->to = (char *)to + at;
		l->from = (const char *)from + at;
		l->bytes = n;
		l->up = up;
		at += n;
		started[i] = i > 0 && pthread_create(&threads[i], NULL, lane_run, l) == 0;
	}
	cudaError_t code = cudaSuccess;
	for (int i = 0; i < LANES; i++)
		if (!started[i])
			lane_run(&t->lanes[i]);
	for (int i = 0; i < LANES; i++) {
		if (started[i])
			pthread_join(threads[i], NULL);
		code = code == cudaSuccess ? t->lanes[i].code : code;
	}
	return code;
}

cudaError_t device_transfer_new(int device, struct device_transfer **out)
{
	struct device_transfer *t = calloc(1, sizeof *t);
	cudaError_t code = t ? cudaSuccess : cudaErrorMemoryAllocation;
	for (int i = 0; code == cudaSuccess && i < LANES; i++) {
		t->lanes[i].device = device;
		code = lane_make(&t->lanes[i]);
	}
	if (code == cudaSuccess)
		*out = t;
	else
		device_transfer_free(t);
	return code;
}

void device_transfer_free(struct device_transfer *t)
{
	for (int i = 0; t && i < LANES; i++) {
		struct lane *l = &t->lanes[i];
		for (int k = 0; k < 2; k++) {
			if (l->done[k])
				cudaEventDestroy(l->done[k]);
			cudaFreeHost(l->buffer[k]);
		}
		if (l->stream)
			cudaStreamDestroy(l->stream);
	}
	free(t);
}

cudaError_t device_transfer_up(struct device_transfer *t, void *to, const void *from, size_t bytes)
{
	return run(t, to, from, bytes, true);
}

cudaError_t device_transfer_down(struct device_transfer *t, void *to, const void *from, size_t bytes)
{
	return run(t, to, from, bytes, false);
}
