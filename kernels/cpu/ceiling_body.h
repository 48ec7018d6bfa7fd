/* The loops of the ceilings, compiled once for each instruction set. The including file defines ISA, LANES and
 * ACCUMULATORS: enough independent multiply-adds to cover latency x units (4 cycles x 2 units = 8 at least), few enough
 * to stay in registers. */
#include "ceiling.h"
#include <string.h>

typedef float vec __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

static float add_lanes(vec v)
{
	float sum = 0;
	for (int i = 0; i < LANES; i++)
		sum += v[i];
	return sum;
}

/* Eight vectors of partial sums, gathered in double every 16384 numbers so that f32 does not lose what it adds. */
static double sum(const float *from, int64_t n)
{
	double total = 0;
	while (n > 0) {
		int64_t chunk = n < 16384 ? n : 16384, i = 0;
		vec part[8] = {0};
		for (; i + 8 * LANES <= chunk; i += 8 * LANES)
#pragma GCC unroll 8
			for (int j = 0; j < 8; j++)
				part[j] += *(const vec *)(from + i + j * LANES);
		for (int j = 0; j < 8; j++)
			total += (double)add_lanes(part[j]);
		for (; i < chunk; i++)
			total += (double)from[i];
		from += chunk;
		n -= chunk;
	}
	return total;
}

/* x = x / 2 + s converges to 2 s: the values stay finite and the work cannot be left out. */
static void multiply_adds(int64_t count, const float from[TK_CEILING_VALUES], float to[TK_CEILING_VALUES])
{
	const vec half = (vec){0} + 0.5f, s = *(const vec *)from;
	vec x[ACCUMULATORS];
	for (int j = 0; j < ACCUMULATORS; j++)
		x[j] = *(const vec *)(from + j * LANES % TK_CEILING_VALUES);
	for (int64_t done = 0; done < count; done += ACCUMULATORS * LANES)
#pragma GCC unroll 32
		for (int j = 0; j < ACCUMULATORS; j++)
			x[j] = x[j] * half + s;
	memset(to, 0, TK_CEILING_VALUES * sizeof(*to));
	for (int j = 0; j < ACCUMULATORS; j++)
		*(vec *)(to + j * LANES % TK_CEILING_VALUES) += x[j];
}

#define TABLE_(word) tk_cpu_ceiling_##word
#define TABLE(word) TABLE_(word)
#define TEXT_(word) #word
#define TEXT(word) TEXT_(word)

const struct tk_cpu_ceiling_isa TABLE(ISA) = {.name = TEXT(ISA), .sum = sum, .fma = multiply_adds};
