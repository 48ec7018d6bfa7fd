"""compile.py OUT TARGET [--configs=N]: compiles the kernels for the problems in $TK_PROBLEMS with
the installed Triton, without a GPU, and writes a compiled kernel package into OUT.

Triton's own JIT specialises and compiles (`warmup`) under a driver that only knows its target: the
same code that a GPU would have been given.
"""

import functools
import os
import re
import sys
import types

sys.dont_write_bytecode = True  # this folder is part of the build's key
os.environ["TRITON_DISABLE_LINE_INFO"] = (
    "1"  # paths of this machine must not be part of the code object
)
os.environ["TRITON_ALWAYS_COMPILE"] = "1"  # a compile time is never that of a look-up on disk
if "torch" not in sys.modules:  # 3.6 and 3.7 import it on AMD to look at one type
    sys.modules["torch"] = types.ModuleType("torch")
    sys.modules["torch"].Tensor = type("Tensor", (), {})

import triton  # noqa: E402
import triton.language as tl  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.runtime import driver  # noqa: E402
from triton.runtime.jit import MockTensor  # noqa: E402

if os.path.exists(os.path.join(os.environ.get("TK_SRC", ""), "kernels.py")):
    sys.path.insert(0, os.environ["TK_SRC"])  # a user's own, with their problems.py
import kernels  # noqa: E402
import package  # noqa: E402
import problems  # noqa: E402
from code_objects import check_parameters  # noqa: E402

VERSION = tuple(int(x) for x in re.findall(r"\d+", triton.__version__)[:2])
PRODUCER = {"name": "triton", "version": triton.__version__}
LANGUAGE_TYPES = {
    "f16": tl.float16,
    "bf16": tl.bfloat16,
    "f32": tl.float32,
    "tf32": tl.float32,
    "e4m3": tl.float8e4nv,
    "e5m2": tl.float8e5,
    "i32": tl.int32,
}
VALUE_TYPES = {
    "i1": ("i8", 1),
    "i8": ("i8", 1),
    "i16": ("i16", 2),
    "i32": ("i32", 4),
    "i64": ("i64", 8),
    "fp32": ("f32", 4),
    "fp64": ("f64", 8),
}


class Target:
    """`version`: of Triton; `units`: multiprocessors or compute units of the card that tiles are
    chosen for."""

    def __init__(self, name):
        self.name, self.version = name, VERSION
        number = re.fullmatch(r"sm_(\d+)a?", name)
        self.kind, self.extension = ("cuda", "cubin") if number else ("hip", "hsaco")
        self.triton = (
            GPUTarget("cuda", int(number[1]), 32) if number else GPUTarget("hip", name, 64)
        )
        self.units = 132 if number else 304


class TargetDriver:
    """What the JIT asks a driver before it compiles."""

    launcher_cls = None

    def __init__(self, target):
        self.target = target

    def get_current_target(self):
        return self.target

    def get_current_device(self):
        return 0

    def get_current_stream(self, device=None):
        return 0


def folded_names(kernel, source):
    """Arguments that are no parameters of the code: constexprs, and what the JIT found to be 1."""
    constants = getattr(source, "constants", None) or {}
    names = set()
    for key in constants:
        while isinstance(key, tuple):
            key = key[0]
        names.add(key if isinstance(key, str) else kernel.arg_names[key])
    return names


def argument_type(kernel, source, name):
    signature = source.signature
    return signature[name] if name in signature else signature[kernel.arg_names.index(name)]


def arguments(kernel, call, compiled, grid, values):
    """The parameters of the code object in their order, with their sizes."""
    tensors = {name: tensor for name, tensor, _ in call.tensors}
    folded = folded_names(kernel, compiled.src) | set(call.constants)
    out, sizes = [], []
    for name in kernel.arg_names:
        if name in tensors:
            out.append({"tensor": tensors[name]})
            sizes.append(8)
        elif name in call.scratch:
            out.append({"scratch": name, "bytes": call.scratch[name]})
            sizes.append(8)
        elif name not in folded:
            kind = argument_type(kernel, compiled.src, name)
            if kind == "constexpr":
                continue
            word, size = VALUE_TYPES[kind]
            out.append({"value": values[name], "type": word})
            sizes.append(size)
    metadata = compiled.metadata._asdict()
    # Later releases add pointers of their own; which, the release's metadata tells.
    blocks = grid[0] * grid[1] * grid[2]
    for hidden, since in (("global", (3, 3)), ("profile", (3, 5))):
        if VERSION >= since:
            out.append(
                {"scratch": hidden, "bytes": (metadata.get(hidden + "_scratch_size") or 0) * blocks}
            )
            sizes.append(8)
    return out, sizes


def forget(kernel):
    """Drops what the JIT has compiled in this process: problems that share their code each get the
    time of a compilation. The name of the cache differs between releases."""
    getattr(kernel, "device_caches", getattr(kernel, "cache", {})).clear()


def warm_up(call):
    kernel = getattr(kernels, call.kernel)
    forget(kernel)
    grid, values = call.launches()[0]
    pointers = {name: MockTensor(LANGUAGE_TYPES[dtype]) for name, _, dtype in call.tensors}
    pointers.update({name: MockTensor(tl.float32) for name in call.scratch})
    given = [
        pointers[n] if n in pointers else values[n]
        for n in kernel.arg_names
        if n not in call.constants
    ]
    return kernel, kernel.warmup(*given, **call.constants, **call.options, grid=grid)


LOADED = []


def load_compiler(call):
    """What only the first compilation of a process costs is not part of a kernel's time."""
    if not LOADED:
        LOADED.append(call)
        warm_up(call)


def launch(target, call, kernel, compiled, code, grid, values):
    metadata = compiled.metadata._asdict()
    args, sizes = arguments(kernel, call, compiled, grid, values)
    if target.kind == "cuda":
        check_parameters(code, metadata["name"], sizes)
    clusters = metadata.get("num_ctas") or 1
    return {
        "entry": metadata["name"],
        "grid": [grid[0] * clusters, grid[1], grid[2]],
        "block": [metadata["num_warps"] * target.triton.warp_size, 1, 1],
        "cluster": [clusters, 1, 1],
        "shared_bytes": metadata["shared"],
        "cooperative": bool(metadata.get("launch_cooperative_grid", False)),
        # as Triton's own loader of code objects does
        "prefer_shared": target.kind == "cuda" and metadata["shared"] > 49152,
        "args": args,
    }


def compile_call(target_name, call):
    target = Target(target_name)
    driver.set_active(TargetDriver(target.triton))
    load_compiler(call)
    started = package.cpu_seconds()
    kernel, compiled = warm_up(call)
    seconds = package.cpu_seconds() - started
    code = compiled.asm[target.extension]
    members = {
        "launches": [
            launch(target, call, kernel, compiled, code, grid, values)
            for grid, values in call.launches()
        ],
        "compile_seconds": seconds,
    }
    if target.kind == "cuda":
        members["producer"] = dict(
            PRODUCER, ptx=re.search(r"^\.version (\S+)", compiled.asm["ptx"], re.M)[1]
        )
    return code, members


def main():
    options = package.parse_arguments()
    target = Target(options.target)
    named = getattr(problems, "parameters", None)  # not of every user's own problems.py
    package.write(
        options,
        PRODUCER,
        target.extension,
        lambda problem, most: problems.calls(problem, target, most),
        functools.partial(compile_call, options.target),
        named and functools.partial(named, kind=target.kind),
    )


if __name__ == "__main__":
    main()
