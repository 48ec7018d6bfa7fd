"""compile.py OUT TARGET [--configs=N]: compiles the kernels for the problems in $TK_PROBLEMS with
the installed CuTe DSL, without a GPU, and writes a compiled kernel package into OUT."""

import importlib.metadata
import os
import sys

sys.dont_write_bytecode = True  # this folder is part of the build's key
os.environ["CUTE_DSL_ARCH"] = "sm_90a"

import cutlass  # noqa: E402
import cutlass.cute as cute  # noqa: E402
from cutlass.cute.runtime import make_fake_compact_tensor, make_fake_stream  # noqa: E402

import attention  # noqa: E402
import gemm  # noqa: E402
import host_code  # noqa: E402
import package  # noqa: E402
import problems  # noqa: E402
from code_objects import check_parameters  # noqa: E402

TYPES = {"f16": cutlass.Float16, "bf16": cutlass.BFloat16, "f32": cutlass.Float32}


def tensor(dtype, shape, order):
    """`order`: modes of `shape`, the contiguous one first."""
    return make_fake_compact_tensor(
        TYPES[dtype],
        shape,
        stride_order=tuple(order.index(i) for i in range(len(order))),
        assumed_align=128,
    )


def gemm_call(m, n, k, ta, tb, dtype, tile, cluster, group, stages):
    tensors = (
        tensor(dtype, (m, k), (0, 1) if ta == "t" else (1, 0)),
        tensor(dtype, (n, k), (1, 0) if tb == "t" else (0, 1)),
        tensor(dtype, (m, n), (1, 0)),
    )
    return gemm.Gemm(tile, cluster, group, stages), tensors, "ABC", [cluster[0] * cluster[1], 1, 1]


def attention_call(b, h, hkv, s, d, dtype, *choice):
    q, k, v = (
        tensor(dtype, shape, order)
        for shape, order in (
            ((s, d, h, b), (1, 2, 0, 3)),
            ((s, d, hkv, b), (1, 2, 0, 3)),
            ((d, s, hkv, b), (0, 2, 1, 3)),
        )
    )
    return (
        attention.Attention(d, h // hkv, *choice),
        (q, k, v, q, tensor("f32", (s, h, b), (0, 1, 2))),
        ("Q", "K", "V", "O", "lse"),
        [1, 1, 1],
    )


CALLS = {"gemm": gemm_call, "attention": attention_call}


def compile_call(call):
    started = package.cpu_seconds()
    kernel, tensors, names, cluster = CALLS[call[0]](*call[1])
    compiled = cute.compile(
        kernel,
        *tensors,
        make_fake_stream(),
        options="--keep-cubin --gpu-arch sm_90a --dump-dir " + os.getcwd()
    )
    code, (entry,) = compiled.__cubin__, compiled.kernel_info
    launch, maps = host_code.read(str(compiled.ir_module), compiled.function_name)
    # all kernels have their tensor maps first
    check_parameters(code, entry, [128] * len(maps) + [8] * (len(names) - len(maps)))
    args = [dict(tensormap=name, l2_promotion=128, **found) for name, found in zip(names, maps)] + [
        {"tensor": name} for name in names[len(maps) :]
    ]
    launch.update(entry=entry, cluster=cluster, cooperative=False, args=args)
    return code, {"launches": [launch], "compile_seconds": package.cpu_seconds() - started}


if __name__ == "__main__":
    options = package.parse_arguments()
    producer = {"name": "cutedsl", "version": importlib.metadata.version("nvidia-cutlass-dsl")}
    package.write(options, producer, "cubin", problems.calls, compile_call, problems.parameters)
