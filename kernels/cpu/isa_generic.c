/* Any processor: vectors of four floats, which are SSE2 on x86-64 and NEON on arm64. 4 x 2
 * accumulators of 16 registers. */
#define ISA generic
#define LANES 4
#define ROWS 4
#include "isa_body.h"
