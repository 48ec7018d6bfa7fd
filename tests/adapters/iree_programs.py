#!/usr/bin/env python3
"""The programs of kernels/adapters/iree: a causal mask is an operand whose last visible key of query
i is i + skv - sq, and has the syntax of the release."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "kernels", "launcher")]
sys.path[:0] = [os.path.join(ROOT, "kernels", "adapters", "iree")]
sys.dont_write_bytecode = True

import package  # noqa: E402
import programs  # noqa: E402

ATTENTION = "attention:b=2,h=4,hkv=2,sq=%d,skv=%d,d=64,dtype=f16,causal=%d,dir=%s"


def text(sq, skv, causal, version=(3, 12)):
    program = programs.program(ATTENTION % (sq, skv, causal, "fwd"))
    assert program.tensors == ["Q", "K", "V", "O"]
    return program.text("", version)


masked = text(96, 200, 1)
assert "%late = arith.constant 104 : index" in masked
assert "arith.cmpi sle, %j, %last : index" in masked
assert "%scale, %mask : " in masked and "f16, tensor<96x200xi1>)" in masked
# as many maps as operands and results
assert masked.count("affine_map<(b, h, g, m, n, d, s)") == 6
free = text(96, 200, 0)
assert "mask" not in free and free.count("affine_map<(b, h, g, m, n, d, s)") == 5
assert "attention <{indexing_maps" in text(64, 64, 1, (3, 13))
assert "attention {indexing_maps" in text(64, 64, 1, (3, 12))
assert "constant 0 : index" in text(64, 64, 1)

for sq, skv, causal, direction in ((200, 96, 1, "fwd"), (64, 64, 1, "bwd")):
    try:
        programs.program(ATTENTION % (sq, skv, causal, direction))
    except package.Unsupported:
        continue
    raise AssertionError((sq, skv, causal, direction))
