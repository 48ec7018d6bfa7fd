"""compile.py OUT TARGET [--configs=N]: compiles the kernels for the problems in $TK_PROBLEMS with
the installed TileLang, without a GPU, and writes a compiled kernel package into OUT.

TileLang makes CUDA source, which nvcc compiles; TileLang's own wrapper for that source knows the
launch and the tensor maps.
"""

import functools
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # this folder is part of the build's key
os.environ.setdefault("TILELANG_CACHE_DIR", os.path.join(os.getcwd(), "cache"))

import no_torch  # noqa: E402,F401

import tilelang  # noqa: E402
from tilelang import tvm  # noqa: E402
from tilelang.env import CUTLASS_INCLUDE_DIR, TILELANG_TEMPLATE_PATH  # noqa: E402
from tilelang.jit.adapter.wrapper import TLCUDASourceWrapper  # noqa: E402

import kernels  # noqa: E402
import package  # noqa: E402
import problems  # noqa: E402
from code_objects import kernel_parameters  # noqa: E402

MAP_TYPES = {6: ("f16", 2), 7: ("f32", 4), 9: ("bf16", 2)}  # CUtensorMapDataType
SWIZZLES = (0, 32, 64, 128)
PROMOTIONS = (0, 64, 128, 256)


def lower(target, call):
    target = tvm.target.Target({"kind": "cuda", "arch": target})
    name, given = call
    function = getattr(kernels, name)(*given)
    with target, tvm.transform.PassContext(opt_level=3):
        artifact = tilelang.lower(function, target=target)
    module = tvm.IRModule({function.attrs["global_symbol"]: function})
    return (
        TLCUDASourceWrapper(
            module, artifact.kernel_source, target, artifact.device_mod, artifact.host_mod, {}
        ),
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


def arguments(wrapper, source, entry):
    maps = {}
    for text in (wrapper.tma_descriptor_args or {}).values():
        maps[str(text[1])] = tensor_map(text)
    declared = re.search(
        r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\) )?%s\(([^)]*)\)'
        % re.escape(entry),
        source,
    )[1]
    out = []
    for parameter in declared.split(","):
        name = parameter.split()[-1].lstrip("*")
        if name in maps:
            out.append(maps[name])
        elif "*" in parameter:
            out.append({"tensor": name})
        else:
            raise RuntimeError(
                "the kernel has a parameter that a manifest cannot describe: " + parameter
            )
    return out


def compile_call(target, call):
    started = package.cpu_seconds()
    wrapper, source = lower(target, call)
    code = nvcc(target, source)
    launches = []
    for entry in wrapper.function_names:
        args = arguments(wrapper, source, entry)
        sizes = [128 if "tensormap" in a else 8 for a in args]
        if kernel_parameters(code, entry) != sizes:
            raise RuntimeError(
                "the code object has parameters of %s bytes, expected %s"
                % (kernel_parameters(code, entry), sizes)
            )
        cluster = wrapper.cluster_dims[entry] if getattr(wrapper, "cluster_dims", None) else None
        launches.append(
            {
                "entry": entry,
                "grid": [int(x) for x in wrapper.grid_info[entry]],
                "block": [int(x) for x in wrapper.block_info[entry]],
                "cluster": [int(x) for x in cluster] if cluster else [1, 1, 1],
                "shared_bytes": int(wrapper.dynamic_smem_buf[entry] or 0),
                "cooperative": bool(wrapper.use_cooperative_groups[entry]),
                "args": args,
            }
        )
    return code, {"launches": launches, "compile_seconds": package.cpu_seconds() - started}


if __name__ == "__main__":
    options = package.parse_arguments()
    producer = {"name": "tilelang", "version": tilelang.__version__.partition("+")[0]}
    package.write(
        options, producer, "cubin", problems.calls, functools.partial(compile_call, options.target)
    )
