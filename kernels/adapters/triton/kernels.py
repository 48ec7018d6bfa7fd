"""The kernels by name: GEMM, attention and native sparse attention in Triton, in the layouts of
tracker_abi.h. Written in the common subset of Triton 3.2 and later, but for what problems.py names
in SINCE."""

from kernels_attention import attention, attention_tma  # noqa: F401
from kernels_backward import attention_backward  # noqa: F401
from kernels_gemm import gemm, gemm_persistent, gemm_split  # noqa: F401
from kernels_nsa import nsa  # noqa: F401
