#!/usr/bin/env python3
"""kernels/adapters/triton/compile.py with modules that stand in for Triton: the compile time of each
problem is that of a compilation, also where another problem of the process had the same code, and
without the time that only the first compilation of a process takes."""

import importlib
import os
import sys
import types

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ADAPTER = os.path.join(ROOT, "kernels", "adapters", "triton")
sys.path[:0] = [os.path.join(ROOT, "kernels", "launcher"), ADAPTER]
sys.dont_write_bytecode = True
os.environ.pop("TK_SRC", None)

clock = [0.0]
compiled = []


def stand_in(name, **members):
    module = sys.modules[name] = types.ModuleType(name)
    module.__dict__.update(members)
    return module


class Metadata:
    def _asdict(self):
        return {"name": "gemm", "num_warps": 8, "shared": 0}


class Kernel:
    """A JIT's kernel: `cache` is named as by the release."""

    arg_names = ["A", "M", "BLOCK_M"]

    def __init__(self, cache):
        self.kept = {}
        setattr(self, cache, self.kept)

    def warmup(self, *given, grid, **options):
        key = str(sorted(options.items()))
        if key not in self.kept:
            clock[0] += 0.5 if compiled else 9.0  # the first one loads the compiler
            compiled.append(key)
            self.kept[key] = types.SimpleNamespace(
                src=types.SimpleNamespace(constants={}, signature={"M": "i32"}),
                metadata=Metadata(),
                asm={"hsaco": b"code"},
            )
        return self.kept[key]


language = stand_in("triton.language")
for name in "float16 bfloat16 float32 float8e4nv float8e5 int32".split():
    setattr(language, name, name)
stand_in("triton", __version__="3.6.0", language=language)
stand_in("triton.backends")
stand_in(
    "triton.backends.compiler", GPUTarget=lambda *a: types.SimpleNamespace(warp_size=a[2], name=a)
)
driver = types.SimpleNamespace(set_active=lambda d: None)
stand_in("triton.runtime", driver=driver)
stand_in("triton.runtime.jit", MockTensor=lambda dtype: dtype)
kernels = stand_in("kernels")

adapter = importlib.import_module("compile")
assert os.environ["TRITON_ALWAYS_COMPILE"] == "1"
adapter.package.cpu_seconds = lambda: clock[0]


def seconds(call):
    code, members = adapter.compile_call("gfx942", call)
    assert code == b"code" and len(members["launches"]) == 1
    return members["compile_seconds"]


call = adapter.problems.Call(
    "gemm", [("A", "A", "f16")], {"M": 64}, {"BLOCK_M": 64}, (1, 1, 1), {"num_warps": 8}
)
for cache in "device_caches", "cache":
    kernels.gemm = Kernel(cache)
    assert [seconds(call) for _ in range(3)] == [0.5] * 3, cache
assert len(compiled) == 1 + 2 * 3, compiled
