#!/usr/bin/env python3
"""kernels/adapters/tilelang/problems.py: large products get large tiles, and products with few rows
small ones, so that all multiprocessors have work. Sparse attention gets steps that divide its
blocks."""

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

NSA = (
    "nsa:b=1,block_size=%d,causal=1,d=128,dtype=bf16,h=%d,hkv=4,s=8192,selected_blocks=16,window=0"
)


def steps(block, heads=64, s=8192):
    """[(rows, keys of a step)] of the configurations"""
    problem = (NSA % (block, heads)).replace("8192", str(s))
    return [call[1][11:13] for _, call in problems.calls(problem, 9)]


assert steps(64) == [(16, 64), (16, 32), (16, 32)], steps(64)
assert steps(32)[0] == (16, 32), steps(32)
assert steps(48, s=9600)[0] == (16, 16)  # of 64 keys some would be of another block
assert steps(64, heads=8)[0][0] == 16 and steps(64, heads=96)[0][0] == 32
for refused in (NSA % (24, 64), NSA % (64, 512), (NSA % (64, 64)).replace("d=128", "d=192")):
    try:
        raise AssertionError(problems.calls(refused, 9))
    except problems.Unsupported:
        pass
