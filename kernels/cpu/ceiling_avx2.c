/* Ceilings: AVX2 with FMA. */
#define ISA avx2
#define LANES 8
#define ACCUMULATORS 12
#include "ceiling_body.h"
