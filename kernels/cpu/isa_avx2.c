/* AVX2 with FMA (Haswell, Zen): 6 x 2 accumulators, 2 vectors of B, 1 broadcast = 15 of 16
 * registers. */
#define ISA avx2
#define LANES 8
#define ROWS 6
#include "isa_body.h"
