/* Occupancy of GPU kernels, from the limits in the manufacturers' documents. */
#include <string.h>

#include "build/device_code.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static int64_t min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t round_up(int64_t x, int64_t unit)
{
	return (x + unit - 1) / unit * unit;
}

/* ---- NVIDIA ---- */

/* CUDA C++ Programming Guide, compute capabilities; Occupancy Calculator. */
struct multiprocessor {
	unsigned arch;
	int64_t warps, blocks, shared_bytes;
};

static const struct multiprocessor multiprocessors[] = {
        {80, 64, 32, 164 << 10},
        {86, 48, 16, 100 << 10},
        {87, 48, 16, 164 << 10},
        {89, 48, 24, 100 << 10},
        {90, 64, 32, 228 << 10},
        {100, 64, 32, 228 << 10},
        {103, 64, 32, 228 << 10},
        {110, 48, 24, 228 << 10},
        {120, 48, 24, 100 << 10},
        {121, 48, 24, 100 << 10},
};

enum {
	WARP_THREADS = 32,
	PARTITIONS = 4,
	PARTITION_REGISTERS = 65536 / PARTITIONS,
	WARP_REGISTERS_UNIT = 256,
	MIN_SHARED_BYTES = 1024, /* of a block; nvcc counts it already */
};

static const struct multiprocessor *find_multiprocessor(unsigned arch)
{
	for (size_t i = 0; i < COUNT(multiprocessors); i++)
		if (multiprocessors[i].arch == arch)
			return &multiprocessors[i];
	return NULL;
}

static int64_t nvidia_occupancy(const struct tk_device_kernel *k)
{
	const struct multiprocessor *m = find_multiprocessor(k->arch);
	int64_t warps, warp_registers, blocks;

	if (!m || k->threads <= 0 || k->registers <= 0 || k->shared_bytes < 0)
		return -1;
	warps = round_up(k->threads, WARP_THREADS) / WARP_THREADS;
	warp_registers = round_up(k->registers * WARP_THREADS, WARP_REGISTERS_UNIT);
	blocks = PARTITIONS * (PARTITION_REGISTERS / warp_registers) / warps;
	blocks = min(blocks, m->warps / warps);
	blocks = min(blocks,
	        m->shared_bytes /
	                (k->shared_bytes > MIN_SHARED_BYTES ? k->shared_bytes : MIN_SHARED_BYTES));
	blocks = min(blocks, m->blocks);
	return 100 * blocks * warps / m->warps;
}

/* ---- AMD ---- */

/* CDNA compute units: LLVM, AMDGPUBaseInfo.cpp and GCNSubtarget.cpp. */
struct compute_unit {
	unsigned arch;
	int64_t shared_bytes, shared_unit;
};

static const struct compute_unit compute_units[] = {
        {0x90a, 64 << 10, 512},
        {0x942, 64 << 10, 512},
        {0x950, 160 << 10, 1280},
};

enum {
	WAVE_THREADS = 64,
	SIMD_UNITS = 4,
	SIMD_WAVES = 8,
	VECTOR_REGISTERS = 512, /* of a SIMD unit */
	VECTOR_UNIT = 8,
	EIGHT_WAVES_SCALARS = 100, /* 800 / 8; no wave needs more than 1/7 of the 800 */
	MULTI_WAVE_BLOCKS = 16,    /* maximum of blocks that have more than one wave */
};

static const struct compute_unit *find_compute_unit(unsigned arch)
{
	for (size_t i = 0; i < COUNT(compute_units); i++)
		if (compute_units[i].arch == arch)
			return &compute_units[i];
	return NULL;
}

static int64_t amd_occupancy(const struct tk_device_kernel *k)
{
	const struct compute_unit *c = find_compute_unit(k->arch);
	int64_t block_waves, simd_waves, blocks;

	if (!c || k->threads <= 0 || k->registers < 0 || k->shared_bytes < 0)
		return -1;
	block_waves = round_up(k->threads, WAVE_THREADS) / WAVE_THREADS;
	simd_waves = VECTOR_REGISTERS /
	             (k->registers ? round_up(k->registers, VECTOR_UNIT) : VECTOR_UNIT);
	simd_waves = min(simd_waves, SIMD_WAVES);
	if (k->scalars > EIGHT_WAVES_SCALARS)
		simd_waves = min(simd_waves, SIMD_WAVES - 1);
	blocks = SIMD_UNITS * simd_waves / block_waves;
	if (k->shared_bytes)
		blocks = min(blocks, c->shared_bytes / round_up(k->shared_bytes, c->shared_unit));
	if (block_waves > 1)
		blocks = min(blocks, MULTI_WAVE_BLOCKS);
	return 100 * blocks * block_waves / (SIMD_UNITS * SIMD_WAVES);
}

int64_t tk_device_kernel_occupancy(const struct tk_device_kernel *k)
{
	bool amd = strncmp(k->processor, "gfx", 3) == 0;

	return amd ? amd_occupancy(k) : nvidia_occupancy(k);
}
