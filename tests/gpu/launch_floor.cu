// How fast kernels can follow each other: ns a launch, in graphs of 1000 and in a stream. The least
// and the median of 60 bursts each.
//
//   nvcc -std=c++17 -O2 -arch=sm_90 tests/gpu/launch_floor.cu -o launch_floor && ./launch_floor
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

#define MUST(call) \
	do { \
		cudaError_t e = (call); \
		if (e) { \
			printf("%s: %s\n", #call, cudaGetErrorString(e)); \
			return 1; \
		} \
	} while (0)
enum { LAUNCHES = 1000, BURSTS = 60 };

__global__ void empty_kernel(const char *in, char *out)
{
}
__global__ void copy_kernel(const char *in, char *out)
{
	out[threadIdx.x] = in[threadIdx.x];
}
__global__ void empty_early_kernel(const char *in, char *out)
{
	asm volatile("griddepcontrol.launch_dependents;");
	asm volatile("griddepcontrol.wait;" ::: "memory");
}
__global__ void copy_early_kernel(const char *in, char *out)
{
	asm volatile("griddepcontrol.launch_dependents;");
	out[threadIdx.x] = in[threadIdx.x];
	asm volatile("griddepcontrol.wait;" ::: "memory");
}
__global__ void copy_no_wait_kernel(const char *in, char *out)
{
	asm volatile("griddepcontrol.launch_dependents;");
	out[threadIdx.x] = in[threadIdx.x];
}

typedef void (*kernel)(const char *, char *);
static cudaError_t launch(kernel k, bool early, unsigned blocks, cudaStream_t s, char *m)
{
	cudaLaunchAttribute a = {};
	cudaLaunchConfig_t c = {};
	if (!k)
		return cudaMemsetAsync(m, 1, 1, s);
	a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	a.val.programmaticStreamSerializationAllowed = 1;
	c.gridDim = dim3(blocks);
	c.blockDim = dim3(1);
	c.stream = s;
	c.attrs = &a;
	c.numAttrs = early;
	return cudaLaunchKernelEx(&c, k, (const char *)m, m + 256);
}

int main()
{
	const struct {
		const char *name;
		kernel k;
		bool early;
		unsigned blocks;
	} rows[] = {{"empty", empty_kernel, false, 1}, {"copy of a byte", copy_kernel, false, 1},
	        {"empty, early", empty_early_kernel, true, 1},
	        {"copy, early", copy_early_kernel, true, 1},
	        {"copy, early, no wait", copy_no_wait_kernel, true, 1},
	        {"copy, early, 132 blocks", copy_early_kernel, true, 132},
	        {"memset of a byte", NULL, false, 1}};
	char *m;
	cudaStream_t s;
	cudaEvent_t a, b;
	MUST(cudaMalloc(&m, 512));
	MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	MUST(cudaEventCreate(&a));
	MUST(cudaEventCreate(&b));
	for (int graphs = 1; graphs >= 0; graphs--)
		for (const auto &r : rows) {
			cudaGraph_t g;
			cudaGraphExec_t x = NULL;
			std::vector<float> ns;
			if (graphs) {
				MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
				for (int i = 0; i < LAUNCHES; i++)
					MUST(launch(r.k, r.early, r.blocks, s, m));
				MUST(cudaStreamEndCapture(s, &g));
				MUST(cudaGraphInstantiate(&x, g, 0));
			}
			for (int burst = 0; burst < BURSTS; burst++) {
				float ms;
				MUST(cudaEventRecord(a, s));
				if (x)
					MUST(cudaGraphLaunch(x, s));
				for (int i = 0; !x && i < LAUNCHES; i++)
					MUST(launch(r.k, r.early, r.blocks, s, m));
				MUST(cudaEventRecord(b, s));
				MUST(cudaEventSynchronize(b));
				MUST(cudaEventElapsedTime(&ms, a, b));
				ns.push_back(ms * 1e6f / LAUNCHES);
			}
			std::sort(ns.begin(), ns.end());
			printf("%-7s %-26s least %7.1f ns  median %7.1f ns\n",
			        graphs ? "graph" : "stream", r.name, ns[0], ns[BURSTS / 2]);
		}
	return 0;
}
