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


class Workspace:
    """What launches ask for beside their arguments. The launch that is captured gets the memory of
    the first one: nothing may be allocated then."""

    def __init__(self):
        self.buffers = {}

    def __call__(self, size, alignment, stream):
        if size not in self.buffers:
            self.buffers[size] = torch.empty(size, dtype=torch.int8, device="cuda")
        return self.buffers[size]


def plan(p, config, tensors, stream):
    call = find_calls(p)[config]
    jit = getattr(kernels, call.kernel)
    arguments = dict(call.constants, **call.options)
    for name, tensor, dtype in call.tensors:
        shared = torch.as_tensor(tensors[tensor], device="cuda")
        arguments[name] = shared.view(TYPES[dtype])
    for name, size in call.scratch.items():
        arguments[name] = torch.empty(size // 4, dtype=torch.float32, device="cuda")
    workspace = Workspace()
    on = torch.cuda.ExternalStream(stream)

    def run():
        if hasattr(triton, "set_allocator"):
            triton.set_allocator(workspace)
        with torch.cuda.stream(on):
            for grid, values in call.launches():
                jit[grid](**arguments, **values)

    return run
