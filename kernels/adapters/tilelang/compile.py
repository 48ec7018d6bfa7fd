"""compile.py OUT TARGET CODE [--configs=N]: compiles the kernels for the problems in $TK_PROBLEMS
with the installed TileLang, without a GPU, and writes a compiled kernel package into OUT. CODE:
cuda or cutedsl.

TileLang makes source in CUDA, which nvcc compiles, or in CuTe DSL, which compiles itself;
TileLang's own wrapper for that source knows the launch and the tensor maps.
"""

import functools
import importlib
import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # this folder is part of the build's key
os.environ.setdefault("TILELANG_CACHE_DIR", os.path.join(os.getcwd(), "cache"))
os.environ["CUTE_DSL_ARCH"] = "sm_90a"

import no_torch  # noqa: E402,F401

import tilelang  # noqa: E402
from tilelang import tvm  # noqa: E402
from tilelang.env import CUTLASS_INCLUDE_DIR, TILELANG_TEMPLATE_PATH  # noqa: E402
from tilelang.jit.adapter.wrapper import TLCUDASourceWrapper  # noqa: E402

import kernels  # noqa: E402
import package  # noqa: E402
import problems  # noqa: E402
from code_objects import check_parameters, sections  # noqa: E402

MAP_TYPES = {6: ("f16", 2), 7: ("f32", 4), 9: ("bf16", 2)}  # CUtensorMapDataType
SWIZZLES = (0, 32, 64, 128)
PROMOTIONS = (0, 64, 128, 256)


def lower(target, wrapper, call):
    """(what TileLang's wrapper says about the launches, source)"""
    name, given = call
    function = getattr(kernels, name)(*given)
    with target, tvm.transform.PassContext(opt_level=3):
        artifact = tilelang.lower(function, target=target)
    module = tvm.IRModule({function.attrs["global_symbol"]: function})
    return (
        wrapper(module, artifact.kernel_source, target, artifact.device_mod, artifact.host_mod, {}),
        artifact.kernel_source,
    )


def nvcc(target, source):
    with tempfile.TemporaryDirectory() as folder:
        path, cubin = os.path.join(folder, "kernel.cu"), os.path.join(folder, "kernel.cubin")
        with open(path, "w", encoding="utf-8") as f:
            f.write(source)
        done = subprocess.run(
            [
                "nvcc",
                "-cubin",
                "-arch=" + target,
                "-std=c++20",
                "-O3",
                "-w",
                "--expt-relaxed-constexpr",
                "-DENABLE_BF16",
                "-I" + TILELANG_TEMPLATE_PATH,
                "-I" + CUTLASS_INCLUDE_DIR,
                "-o",
                cubin,
                path,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError("nvcc: " + done.stdout.replace(folder, ""))
        with open(cubin, "rb") as f:
            return f.read()


def tensor_map(text):
    """From a call of cuTensorMapEncodeTiled: function, descriptor, type, rank, tensor, dims,
    strides, box, element strides, interleave, swizzle, promotion, fill."""
    words = [str(x).strip('"') for x in text]
    numbers = [int(x) if re.fullmatch(r"-?\d+", x) else x for x in words[2:]]
    kind, rank, name, rest = numbers[0], numbers[1], numbers[2], numbers[3:]
    dims, strides, box, steps = (rest[i * rank : (i + 1) * rank] for i in range(4))
    interleave, swizzle, promotion, fill = rest[4 * rank :]
    if (
        kind not in MAP_TYPES
        or interleave
        or fill
        or any(s != 1 for s in steps)
        or strides[0] != MAP_TYPES[kind][1]
    ):
        raise RuntimeError("a tensor map that a manifest cannot describe: " + ", ".join(words))
    return {
        "tensormap": name,
        "type": MAP_TYPES[kind][0],
        "dims": dims,
        "strides_bytes": strides[1:],
        "box": box,
        "swizzle": SWIZZLES[swizzle],
        "l2_promotion": PROMOTIONS[promotion],
    }


def arguments(wrapper, parameters):
    """`parameters`: [(name, whether it is a tensor)]"""
    maps = {}
    for text in (wrapper.tma_descriptor_args or {}).values():
        maps[str(text[1])] = tensor_map(text)
    out = []
    for name, is_tensor in parameters:
        if name not in maps and not is_tensor:
            raise RuntimeError(
                "the kernel has a parameter that a manifest cannot describe: " + name
            )
        out.append(maps.get(name) or {"tensor": name})
    return out


def compile_cuda(arch, call):
    """(wrapper, code, {kernel: (entry, parameters)})"""
    target = tvm.target.Target({"kind": "cuda", "arch": arch})
    wrapper, source = lower(target, TLCUDASourceWrapper, call)
    declared = {
        entry: re.search(
            r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\) )?%s\(([^)]*)\)'
            % re.escape(entry),
            source,
        )[1].split(",")
        for entry in wrapper.function_names
    }
    return (
        wrapper,
        nvcc(arch, source),
        {
            entry: (entry, [(p.split()[-1].lstrip("*"), "*" in p) for p in parameters])
            for entry, parameters in declared.items()
        },
    )


class Shape:
    """What the generated host code asks of a tensor."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype

    def dim_order(self):
        return tuple(range(len(self.shape)))


def run_host_code(wrapper):
    """The cubin that CuTe DSL compiles in the function of the host code that does nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(wrapper.host_func)
        spec = importlib.util.spec_from_file_location("kernel", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        function = wrapper.prim_func
        shapes = [
            Shape(tuple(int(x) for x in buffer.shape), "torch." + str(buffer.dtype))
            for buffer in (function.buffer_map[p] for p in function.params)
        ]
        module._generate_cubin_if_needed(*shapes)
        with open(module._cubin_path, "rb") as f:
            return f.read()


def compile_cutedsl(arch, call):
    """As compile_cuda."""
    from tilelang.cuda.target import normalize_cutedsl_target
    from tilelang.jit.adapter.cutedsl.wrapper import TLCuTeDSLSourceWrapper

    target = normalize_cutedsl_target({"kind": "cutedsl", "arch": arch})
    wrapper, source = lower(target, TLCuTeDSLSourceWrapper, call)
    if len(wrapper.function_names) != 1:
        raise RuntimeError("more than one kernel")
    (name,) = wrapper.function_names
    parameters = re.search(r"^def %s\(([^)]*)\):" % re.escape(name), source, re.M)[1].split(",")
    code = run_host_code(wrapper)
    (entry,) = (x[len(".text.") :] for x in sections(code) if x.startswith(".text."))
    return wrapper, code, {name: (entry, [(p.strip(), True) for p in parameters])}


def load_cutedsl():
    """What only the first compilation of a process imports is not part of a kernel's time."""
    for name in ("cutlass.cute", "cutlass.experimental.cuda", "tilelang.contrib.cutedsl"):
        importlib.import_module(name)


def compile_call(compiler, arch, call):
    if compiler is compile_cutedsl:
        load_cutedsl()
    started = package.cpu_seconds()
    wrapper, code, found = compiler(arch, call)
    launches = []
    for name, (entry, parameters) in found.items():
        args = arguments(wrapper, parameters)
        check_parameters(code, entry, [128 if "tensormap" in a else 8 for a in args])
        cluster = wrapper.cluster_dims[name] if getattr(wrapper, "cluster_dims", None) else None
        launches.append(
            {
                "entry": entry,
                "grid": [int(x) for x in wrapper.grid_info[name]],
                "block": [int(x) for x in wrapper.block_info[name]],
                "cluster": [int(x) for x in cluster] if cluster else [1, 1, 1],
                "shared_bytes": int(wrapper.dynamic_smem_buf[name] or 0),
                "cooperative": bool(wrapper.use_cooperative_groups[name]),
                "args": args,
            }
        )
    return code, {"launches": launches, "compile_seconds": package.cpu_seconds() - started}


COMPILERS = {"cuda": compile_cuda, "cutedsl": compile_cutedsl}

if __name__ == "__main__":
    options = package.parse_arguments("code")
    producer = {"name": "tilelang", "version": tilelang.__version__.partition("+")[0]}
    if options.code == "cutedsl":
        producer["cutlass_dsl"] = importlib.metadata.version("nvidia-cutlass-dsl")
    package.write(
        options,
        producer,
        "cubin",
        problems.calls,
        functools.partial(compile_call, COMPILERS[options.code], options.target),
        problems.parameters,
    )
