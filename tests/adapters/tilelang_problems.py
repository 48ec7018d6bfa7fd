#!/usr/bin/env python3
"""kernels/adapters/tilelang/problems.py: large products get large tiles, and products with few rows
small ones, so that all multiprocessors have work."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "kernels", "launcher")]
sys.path[:0] = [os.path.join(ROOT, "kernels", "adapters", "tilelang")]
sys.dont_write_bytecode = True

import problems  # noqa: E402

GEMM = "gemm:a=f16,b=f16,c=f16,m=%d,n=%d,k=4096,ta=n,tb=n"


def first(m, n):
    return problems.calls(GEMM % (m, n), 9)[0][0]


for side in (2048, 4096, 8192, 16384):
    assert first(side, side).startswith("128x256x64"), (side, first(side, side))
assert first(128, 4096).startswith("64x64x64"), first(128, 4096)
