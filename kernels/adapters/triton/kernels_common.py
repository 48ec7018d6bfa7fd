"""Constants of several kernels."""

import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)  # exp(x) = 2^(x log2 e)
