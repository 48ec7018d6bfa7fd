/* Ceilings: Any processor (on x86-64 without FMA: a multiplication and an addition). */
#define ISA generic
#define LANES 4
#define ACCUMULATORS 12
#include "ceiling_body.h"
