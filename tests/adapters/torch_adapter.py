#!/usr/bin/env python3
"""kernels/adapters/torch/adapter.py with modules that stand in for PyTorch: which problems and
configurations it has on CUDA, and what reaches the functions for 8-bit floats and backward."""

import os
import sys
import types

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "kernels", "adapters", "torch")]
sys.dont_write_bytecode = True
called = []


class Array:
    """Of a shape; what is called of it is its history."""

    def __init__(self, *shape):
        self.shape = shape

    def reshape(self, *shape):
        return Array(*shape)

    view = reshape

    def t(self):
        return Array(*reversed(self.shape))

    def transpose(self, a, b):
        shape = list(self.shape)
        shape[a], shape[b] = shape[b], shape[a]
        return Array(*shape)

    def unsqueeze(self, at):
        return Array(*self.shape, 1)


def record(name):
    def call(*given, **named):
        called.append((name, given, named))
        return given[1:4]

    return call


class Functions:
    def __getattr__(self, name):
        return record(name)


torch = sys.modules["torch"] = types.ModuleType("torch")
for name in "float64 float32 float16 bfloat16 float8_e4m3fn float8_e5m2 int64 uint64".split():
    setattr(torch, name, name)
torch.ones = torch.zeros = lambda shape, dtype, device: Array()
torch._scaled_mm = record("_scaled_mm")
torch.ops = types.SimpleNamespace(aten=Functions())
host = sys.modules["tracker_host"] = types.ModuleType("tracker_host")
host.threads, host.device_kind = 0, "cuda"
host.Unsupported = type("Unsupported", (Exception,), {})

import adapter  # noqa: E402


def gemm(a, b, c, **more):
    problem = dict(op="gemm", a=a, b=b, c=c, m=64, n=32, k=48, ta=0, tb=1, batch=1)
    return types.SimpleNamespace(**{**problem, **more})


def attention(backward, sq=64):
    return types.SimpleNamespace(
        **dict(op="attention", b=1, h=2, hkv=2, sq=sq, skv=sq, d=64, dv=64, scale=0.125),
        **dict(dtype="bf16", causal=1, backward=backward),
    )


assert adapter.supports(gemm("e4m3", "e5m2", "bf16")) is None
assert adapter.configs(gemm("e4m3", "e4m3", "bf16")) == ["default", "fast"]
for problem in (
    gemm("e5m2", "e5m2", "bf16"),
    gemm("e4m3", "f16", "f16"),
    gemm("e4m3", "e4m3", "bf16", tb=0),
    gemm("e4m3", "e4m3", "bf16", n=40),
    gemm("e4m3", "e4m3", "e4m3"),
):
    assert "8-bit floats" in adapter.supports(problem), problem
assert adapter.supports(gemm("f16", "f16", "f16")) is None

tensors = {"A": Array(64, 48), "B": Array(32, 48), "C": Array(64, 32)}
for config in "default", "fast":
    adapter.gemm(gemm("e4m3", "e4m3", "bf16"), tensors, config)()
    name, given, named = called.pop()
    assert name == "_scaled_mm" and [x.shape for x in given[:2]] == [(64, 48), (48, 32)]
    assert named["out_dtype"] == "bfloat16" and named["use_fast_accum"] == (config == "fast")

assert adapter.configs(attention(0)) == (
    ["default", "flash", "efficient", "cudnn", "math", "flex", "compile"]
)
assert adapter.configs(attention(1)) == ["default", "efficient", "cudnn", "math"]
tensors = {name: Array(1, 64, 2, 64) for name in ("Q", "K", "V", "O", "dO")}
tensors["lse"] = Array(1, 2, 64)
for config, function in (("default", "flash"), ("efficient", "efficient"), ("cudnn", "cudnn")):
    results = adapter.backward(attention(1), tensors, config)()
    name, given, named = called.pop()
    assert name == "_scaled_dot_product_%s_attention_backward" % function
    assert named == {"scale": 0.125} and [x.shape for x in results] == [(1, 64, 2, 64)] * 3
try:
    adapter.backward(attention(1, 72), tensors, "efficient")
    raise AssertionError("its log-sum-exp has another shape")
except host.Unsupported:
    pass
