/* Ceilings: AVX-512. */
#define ISA avx512
#define LANES 16
#define ACCUMULATORS 24
#include "ceiling_body.h"
