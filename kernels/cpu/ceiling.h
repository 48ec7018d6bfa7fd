/* The loops behind the ceilings of the roofline, one table for each instruction set. */
#ifndef TK_CPU_CEILING_H
#define TK_CPU_CEILING_H
#include <stdint.h>

enum { TK_CEILING_VALUES = 64 }; /* start values and results of fma */

struct tk_cpu_ceiling_isa {
	const char *name;
	double (*sum)(const float *from, int64_t n,
	        int64_t passes); /* of n numbers, read again for every pass */
	/* About `count` multiply-adds (rounded up to whole rounds of all accumulators) on 64 start
	 * values. */
	void (*fma)(
	        int64_t count, const float from[TK_CEILING_VALUES], float to[TK_CEILING_VALUES]);
};

extern const struct tk_cpu_ceiling_isa tk_cpu_ceiling_generic, tk_cpu_ceiling_avx2,
        tk_cpu_ceiling_avx512;

/* bf16 pairs: two multiply-adds a lane; from and to are bf16 bits. */
void tk_cpu_ceiling_fma_bf16(
        int64_t count, const uint16_t from[TK_CEILING_VALUES], uint16_t to[TK_CEILING_VALUES]);

#endif
