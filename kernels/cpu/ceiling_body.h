/* The loops of the ceilings, compiled once for each instruction set. The including file defines
 * ISA, LANES and ACCUMULATORS: enough independent multiply-adds to cover latency x units (4 cycles
 * x 2 units = 8 at least), few enough to stay in registers. */
#include "ceiling.h"
#include <string.h>

typedef float vec __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

enum { PARTS = 8, BLOCK = PARTS * LANES, GATHER = 1 << 18 };

static double gather(vec part[PARTS])
{
	double sum = 0;
	for (int j = PARTS / 2; j > 0; j /= 2)
		for (int i = 0; i < j; i++)
			part[i] += part[i + j];
	for (int i = 0; i < LANES; i++)
		sum += (double)part[0][i];
	memset(part, 0, PARTS * sizeof *part);
	return sum;
}

/* Eight vectors of partial sums over all passes, added to a double every 2^18 numbers so that f32
 * does not lose precision. Doing that more often would slow down reads from the first-level cache
 * measurably. */
static double sum(const float *from, int64_t n, int64_t passes)
{
	double total = 0, rest = 0;
	vec part[PARTS] = {0};
	int64_t whole = n / BLOCK * BLOCK, added = 0;
	for (int64_t pass = 0; pass < passes; pass++)
		for (int64_t at = 0; at < whole;) {
			int64_t end = whole - at < GATHER ? whole : at + GATHER;
			added += end - at;
			for (; at < end; at += BLOCK)
#pragma GCC unroll 8
				for (int j = 0; j < PARTS; j++)
					part[j] += *(const vec *)(from + at + j * LANES);
			if (added >= GATHER) {
				total += gather(part);
				added = 0;
			}
		}
	for (int64_t i = whole; i < n; i++)
		rest += (double)from[i];
	return total + gather(part) + rest * (double)passes;
}

/* x = x / 2 + s converges to 2 s: the values stay finite and the compiler cannot drop the work. */
static void multiply_adds(
        int64_t count, const float from[TK_CEILING_VALUES], float to[TK_CEILING_VALUES])
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
