/* AVX-512 (Skylake-X, Zen 4): 12 x 2 accumulators, 2 vectors of B; A is broadcast from memory by
 * the multiply-add itself. */
#define ISA avx512
#define LANES 16
#define ROWS 12
#include "isa_body.h"
