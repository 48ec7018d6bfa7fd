#!/usr/bin/env python3
"""The programs of kernels/adapters/iree: a causal mask is an operand whose last visible key of query
i is i + skv - sq, and has the syntax of the release. GPUs: flags of a release, and what is read of
each kernel."""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "kernels", "launcher")]
sys.path[:0] = [os.path.join(ROOT, "kernels", "adapters", "iree")]
sys.dont_write_bytecode = True

import gpu  # noqa: E402
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

assert gpu.Gpu("sm_90", (3, 12)).flags[1] == "--iree-cuda-target=sm_86"
assert gpu.Gpu("sm_90", (3, 13)).flags[1] == "--iree-cuda-target=sm_89"
assert gpu.Gpu("gfx942", (3, 12)).flags == [
    "--iree-hal-target-device=hip",
    "--iree-hip-target=gfx942",
]
assert gpu.Gpu("gfx942", (3, 13)).flags[1] == "--iree-rocm-target=gfx942"
EXPORTS = """hal.executable.export public @fill ordinal(0) layout(#x) count(%arg0: !hal.device) {
  hal.return %c1, %c1, %c1 : index, index, index
} <workgroup_size = [32 : index, 1 : index, 1 : index], subgroup_size = 32>
hal.executable.export public @attend ordinal(1) layout(#x) attributes {
  workgroup_size = [64 : index, 2 : index], workgroup_local_memory = 38400 : index} {
"""
assert gpu.workgroups(EXPORTS) == {
    "fill": {"block": [32, 1, 1], "shared_bytes": 0},
    "attend": {"block": [64, 2, 1], "shared_bytes": 38400},
}, gpu.workgroups(EXPORTS)
