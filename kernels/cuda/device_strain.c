/* See device_strain.h. A copy of CHUNK bytes, then a wait that makes the copies the asked share of the time, again and
 * again. */
#include "device_strain.h"
#include "device_kernels.h"
#include <math.h>
#include <stdlib.h>

#define CHUNK ((size_t)64 << 20)
#define CALIBRATION 8
#define PERIODS_MAX 4096.0

struct device_strain {
	void *from, *to;
	cudaStream_t stream;
	double copy_ns; /* of one chunk, nothing else running */
};

/* CHECK(call): returns from the function where the runtime says no. */
#define CHECK(call) \
	do { \
		cudaError_t code_ = (call); \
		if (code_ != cudaSuccess) \
			return code_; \
	} while (0)

static cudaError_t calibrate(struct device_strain *s)
{
	cudaEvent_t start, end;
	float ms = 0;
	CHECK(cudaEventCreate(&start));
	CHECK(cudaEventCreate(&end));
	CHECK(cudaMemcpyAsync(s->to, s->from, CHUNK, cudaMemcpyDeviceToDevice, s->stream));
	CHECK(cudaEventRecord(start, s->stream));
	for (int i = 0; i < CALIBRATION; i++)
		CHECK(cudaMemcpyAsync(s->to, s->from, CHUNK, cudaMemcpyDeviceToDevice, s->stream));
	CHECK(cudaEventRecord(end, s->stream));
	CHECK(cudaEventSynchronize(end));
	CHECK(cudaEventElapsedTime(&ms, start, end));
	s->copy_ns = fmax((double)ms * 1e6 / CALIBRATION, 1000);
	CHECK(cudaEventDestroy(start));
	return cudaEventDestroy(end);
}

static cudaError_t make(struct device_strain *s)
{
	CHECK(cudaMalloc(&s->from, CHUNK));
	CHECK(cudaMalloc(&s->to, CHUNK));
	CHECK(cudaMemset(s->from, 0x5a, CHUNK));
	CHECK(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
	CHECK(cudaDeviceSynchronize());
	return calibrate(s);
}

cudaError_t device_strain_new(struct device_strain **out)
{
	struct device_strain *s = calloc(1, sizeof *s);
	cudaError_t code = s ? make(s) : cudaErrorMemoryAllocation;
	if (code == cudaSuccess)
		*out = s;
	else
		device_strain_free(s);
	return code;
}

void device_strain_free(struct device_strain *s)
{
	if (!s)
		return;
	if (s->stream)
		cudaStreamDestroy(s->stream);
	cudaFree(s->from);
	cudaFree(s->to);
	free(s);
}

cudaError_t device_strain_run(struct device_strain *s, double ns, double share)
{
	double within = fmin(fmax(share, 0.01), 1), wait_ns = s->copy_ns * (1 / within - 1);
	double periods = fmin(ceil(ns / (s->copy_ns + wait_ns)), PERIODS_MAX);
	for (double i = 0; i < periods; i++) {
		CHECK(cudaMemcpyAsync(s->to, s->from, CHUNK, cudaMemcpyDeviceToDevice, s->stream));
		if (wait_ns >= 1000)
			CHECK(device_hold_enqueue(wait_ns, s->stream));
	}
	return cudaSuccess;
}

cudaError_t device_strain_wait(struct device_strain *s)
{
	return cudaStreamSynchronize(s->stream);
}
