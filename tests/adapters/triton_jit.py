#!/usr/bin/env python3
"""kernels/adapters/triton/adapter.py with modules that stand in for PyTorch and Triton: each launch
of a problem's call reaches the kernel with its grid, its arguments and the tracker's memory, on the
tracker's stream."""

import contextlib
import os
import sys
import types

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ADAPTER = os.path.join(ROOT, "kernels", "adapters", "triton")
sys.path[:0] = [os.path.join(ROOT, "kernels", "launcher"), ADAPTER]
sys.dont_write_bytecode = True

launched = []
streams = []
allocated = []


class Array:
    def __init__(self, memory, dtype=None):
        self.memory, self.dtype = memory, dtype

    def view(self, dtype):
        return Array(self.memory, dtype)


class Kernel:
    def __init__(self, name):
        self.name = name

    def __getitem__(self, grid):
        return lambda **arguments: launched.append((self.name, grid, arguments, streams[-1]))


@contextlib.contextmanager
def stream(which):
    streams.append(which)
    yield
    streams.pop()


def empty(size, dtype, device):
    allocated.append(size)
    return Array(object(), dtype)


def stand_in(name, **members):
    module = sys.modules[name] = types.ModuleType(name)
    module.__dict__.update(members)
    return module


dtypes = "float16 bfloat16 float32 float8_e4m3fn float8_e5m2 int32 int8"
torch = stand_in("torch", empty=empty, as_tensor=lambda x, device: Array(x))
torch.__dict__.update({name: name for name in dtypes.split()})
torch.version = types.SimpleNamespace(hip=None)
torch.cuda = types.SimpleNamespace(
    get_device_properties=lambda device: types.SimpleNamespace(multi_processor_count=132),
    ExternalStream=lambda handle: ("stream", handle),
    stream=stream,
)
triton = stand_in("triton", __version__="3.6.0", set_allocator=lambda a: setattr(triton, "a", a))
stand_in("tracker_host", Unsupported=type("Unsupported", (Exception,), {}))
names = ["gemm", "gemm_persistent", "gemm_split"]
names += ["attention", "attention_tma", "attention_backward", "nsa"]
stand_in("kernels", **{name: Kernel(name) for name in names})

import adapter  # noqa: E402
import problems  # noqa: E402

GEMM = "gemm:a=bf16,b=bf16,c=bf16,m=%d,n=512,k=4096,ta=n,tb=t"
ATTENTION = "attention:b=1,h=2,hkv=2,sq=256,skv=256,d=64,dtype=%s,causal=1,dir=%s"


def problem(text):
    return types.SimpleNamespace(text=text)


def launches(text, config):
    tensors = {
        name: name for name in ("A", "B", "C", "Q", "K", "V", "O", "lse", "dO", "dQ", "dK", "dV")
    }
    launched.clear()
    adapter.plan(problem(text), config, tensors, 77)()
    return list(launched)


def check_all(text):
    """Each configuration of compile.py's packages is one of the JIT, with the same launches."""
    target = types.SimpleNamespace(kind="cuda", version=(3, 6), units=132)
    calls = problems.calls(text, target, 99)
    assert adapter.configs(problem(text)) == [name for name, _ in calls], text
    for name, call in calls:
        expected = call.launches()
        got = launches(text, name)
        assert len(got) == len(expected), (text, name)
        for (kernel, grid, arguments, where), (want_grid, values) in zip(got, expected):
            assert (kernel, grid, where) == (call.kernel, want_grid, ("stream", 77)), (text, name)
            for given in (values, call.constants, call.options):
                assert {key: arguments[key] for key in given} == given, (text, name)
            for argument, tensor, dtype in call.tensors:
                array = arguments[argument]
                assert (array.memory, array.dtype) == (tensor, adapter.TYPES[dtype]), argument
            count = len(values) + len(call.constants) + len(call.options)
            assert len(arguments) == count + len(call.tensors) + len(call.scratch), sorted(
                arguments
            )
        assert adapter.kernel(problem(text), name) == call.kernel


check_all(GEMM % 512)
check_all(GEMM % 16)
assert any(name.startswith("split") for name in adapter.configs(problem(GEMM % 16)))
check_all(ATTENTION % ("f16", "fwd"))
check_all(ATTENTION % ("f16", "bwd"))
backward = launches(
    ATTENTION % ("f16", "bwd"), adapter.configs(problem(ATTENTION % ("f16", "bwd")))[0]
)
assert len(backward) == 3 and [x[2]["phase"] for x in backward] == [0, 1, 2]
assert len({id(x[2]["DELTA"].memory) for x in backward}) == 1  # one scratch for all phases

# the launch that is captured allocates nothing: it gets what the first one got
before = len(allocated)
assert adapter.memory.allocate(4096, 128, 0) is adapter.memory.allocate(4096, 128, 0)
assert adapter.memory.get("a", 4096) is not adapter.memory.get("b", 4096)
assert len(allocated) == before + 3

assert adapter.supports(problem(ATTENTION % ("f16", "fwd"))) is None
assert "only f16 and bf16" in adapter.supports(problem(ATTENTION % ("f32", "fwd")))
assert "only gemm, attention and nsa" in adapter.supports(problem("stream:n=4"))
NSA = "nsa:b=1,block_size=%d,causal=1,d=%d,dtype=f16,h=16,hkv=1,s=96,selected_blocks=1,window=0"
assert adapter.supports(problem(NSA % (32, 64))) is None
assert "blocks of 16, 32, 64" in adapter.supports(problem(NSA % (48, 64)))
assert "heads of 64 and 128" in adapter.supports(problem(NSA % (32, 192)))
