"""The kernels of this folder by Triton's own JIT, in a Python that has Triton and PyTorch: the
launches of compile.py's packages, compiled on the card. Names of configurations are the same."""

import re

import torch
import tracker_host
import triton

import kernels
import problems
from package import Unsupported

TYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "tf32": torch.float32,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
    "i32": torch.int32,
}
deterministic = True


class Target:
    """The card; what its fields are, compile.py says."""

    kind = "hip" if torch.version.hip else "cuda"
    version = tuple(int(x) for x in re.findall(r"\d+", triton.__version__)[:2])

    def __init__(self):
        self.units = torch.cuda.get_device_properties(0).multi_processor_count


def find_calls(p):
    """{configuration: Call}, the best guess first. Raises Unsupported."""
    return dict(problems.calls(p.text, Target(), 99))


def supports(p):
    try:
        find_calls(p)
    except Unsupported as reason:
        return str(reason)
    return None


def configs(p):
    return list(find_calls(p))


def kernel(p, config):
    return find_calls(p)[config].kernel


class Memory:
    """What kernels need beside the tensors of a problem. A launch that is captured gets the memory
    of the one before: nothing may be allocated then. All input sets share it, as a program that
    calls a kernel again and again has the same memory from PyTorch each time."""

    def __init__(self):
        self.buffers = {}

    def get(self, name, size):
        if (name, size) not in self.buffers:
            self.buffers[name, size] = torch.empty(size, dtype=torch.int8, device="cuda")
        return self.buffers[name, size]

    def allocate(self, size, alignment, stream):
        """For Triton: descriptors that a kernel makes itself."""
        return self.get("triton", size)


memory = Memory()


def plan(p, config, tensors, stream):
    call = find_calls(p)[config]
    jit = getattr(kernels, call.kernel)
    arguments = dict(call.constants, **call.options)
    for name, tensor, dtype in call.tensors:
        shared = torch.as_tensor(tensors[tensor], device="cuda")
        arguments[name] = shared.view(TYPES[dtype])
    for name, size in call.scratch.items():
        arguments[name] = memory.get(name, size).view(torch.float32)
    on = torch.cuda.ExternalStream(stream)

    def run():
        if hasattr(triton, "set_allocator"):
            triton.set_allocator(memory.allocate)
        with torch.cuda.stream(on):
            for grid, values in call.launches():
                jit[grid](**arguments, **values)

    return run
