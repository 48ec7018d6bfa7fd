#!/usr/bin/env python3
"""kernels/adapters/tilelang/compile.py with modules that stand in for TileLang: what a manifest says
of a kernel by either target, the host code that makes the cubin of `cutedsl`, and refusals."""

import os
import sys
import types

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ADAPTER = os.path.join(ROOT, "kernels", "adapters", "tilelang")
sys.path[:0] = [os.path.join(ROOT, "kernels", "launcher"), ADAPTER]
sys.dont_write_bytecode = True
os.environ["TILELANG_CACHE_DIR"] = "cache"


def stand_in(name, **members):
    module = sys.modules[name] = types.ModuleType(name)
    module.__dict__.update(members)
    return module


class Anything:
    """What is asked of TVM: any member, and its result, is this again."""

    def __getattr__(self, name):
        return self

    def __call__(self, *given):
        return self


stand_in("no_torch")
stand_in("tilelang", __version__="0.1.15+cuda", tvm=Anything())
stand_in("tilelang.language")
stand_in("tilelang.env", CUTLASS_INCLUDE_DIR="", TILELANG_TEMPLATE_PATH="")
stand_in("tilelang.jit")
stand_in("tilelang.jit.adapter")
stand_in("tilelang.jit.adapter.wrapper", TLCUDASourceWrapper=None)
stand_in("tilelang.cuda")
stand_in("tilelang.cuda.target", normalize_cutedsl_target=dict)
stand_in("tilelang.jit.adapter.cutedsl")
stand_in("tilelang.jit.adapter.cutedsl.wrapper", TLCuTeDSLSourceWrapper=None)
stand_in("kernels")
import code_objects  # noqa: E402
import compile as adapter  # noqa: E402
from package import CompileError  # noqa: E402

MAP = ["encode", "A_desc", 6, 2, "A", 64, 128, 2, 128, 64, 32, 1, 1, 0, 3, 2, 0]
HOST = """import pathlib
_cubin_path = pathlib.Path(__file__).with_suffix(".cubin")
def _generate_cubin_if_needed(A, B):
    assert (A.shape, A.dtype, A.dim_order()) == ((128, 64), "torch.float16", (0, 1))
    _cubin_path.write_bytes(b"code of " + str(B.shape).encode())
"""


class Wrapper:
    function_names = ["main"]
    tma_descriptor_args = {"A_desc": MAP}
    cluster_dims = {"main": None}
    grid_info, block_info = {"main": [4, 2, 1]}, {"main": [160, 1, 1]}
    dynamic_smem_buf, use_cooperative_groups = {"main": 4096}, {"main": False}
    host_func = HOST
    buffers = [
        types.SimpleNamespace(shape=(128, 64), dtype="float16"),
        types.SimpleNamespace(shape=(8,), dtype="float32"),
    ]
    prim_func = types.SimpleNamespace(params=[0, 1], buffer_map=dict(enumerate(buffers)))


source = ""
adapter.lower = lambda target, wrapper, call: (Wrapper, source)
adapter.nvcc = lambda target, text: b"cubin"
adapter.load_cutedsl = lambda: None
sizes = [128, 8]
code_objects.kernel_parameters = lambda code, entry: sizes
adapter.sections = lambda code: {".text.kernel_main_0": code, ".nv.info": b""}


def compile_by(name):
    return adapter.compile_call(adapter.COMPILERS[name], "sm_90a", ("gemm", ()))


expected = [
    {
        "tensormap": "A",
        "type": "f16",
        "dims": [64, 128],
        "strides_bytes": [128],
        "box": [64, 32],
        "swizzle": 128,
        "l2_promotion": 128,
    },
    {"tensor": "B"},
]
source = (
    'extern "C" __global__ void __launch_bounds__(160, 1) main('
    "__grid_constant__ const CUtensorMap A_desc, float* __restrict__ B) {}"
)
code, members = compile_by("cuda")
(launch,) = members["launches"]
assert code == b"cubin" and launch["args"] == expected, launch
assert (launch["entry"], launch["grid"], launch["block"], launch["cluster"]) == (
    "main",
    [4, 2, 1],
    [160, 1, 1],
    [1, 1, 1],
)
source = "@cute.kernel\ndef main(A_desc, B):\n  pass\n"
code, members = compile_by("cutedsl")
(launch,) = members["launches"]
assert code == b"code of (8,)" and launch["args"] == expected, (code, launch)
assert launch["entry"] == "kernel_main_0" and launch["shared_bytes"] == 4096


def refused(name, text):
    try:
        compile_by(name)
    except (RuntimeError, CompileError) as error:
        assert text in str(error), error
    else:
        raise AssertionError(text)


sizes = [128, 16]
refused("cutedsl", "parameters of [128, 16] bytes, expected [128, 8]")
sizes = [128, 8]
source = 'extern "C" __global__ void main(const CUtensorMap A_desc, float scale) {}'
refused("cuda", "a parameter that a manifest cannot describe: scale")
MAP[-1] = 1
refused("cuda", "a tensor map that a manifest cannot describe")
