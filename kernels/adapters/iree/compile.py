"""compile.py OUT TARGET CPU [--configs=N]: compiles the problems in $TK_PROBLEMS with the installed
IREE for CPU ("host" or a processor's name) or, where TARGET is a GPU, for TARGET, and writes a
compiled kernel package into OUT. A code object is what IREE calls an executable; how it is launched
is read from the program that IREE would run.
"""

import ctypes
import functools
import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile

import gpu
import package
import programs
from code_objects import check_parameters
from package import CompileError

VERSION = importlib.metadata.version("iree-base-compiler")
COMPILER = os.path.join(os.path.dirname(sys.executable), "iree-compile")
FLAGS = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
TILES = (
    "compilation_info = #iree_codegen.compilation_info<"
    "lowering_config = #iree_cpu.lowering_config<distribution = [64, 64, 0], "
    "vector_common_parallel = [%d, %d, 0], vector_reduction = [0, 0, 16]>, "
    "translation_info = #iree_codegen.translation_info<pipeline = %s>>"
)
FUNCTION = re.compile(r"^  util\.func .*?^  }$", re.M | re.S)
DISPATCH = re.compile(r"hal\.command_buffer\.dispatch<.*?flags\(", re.S)
BINDING = re.compile(r"\((%[\w-]+) : (index|!hal\.buffer)\)\[(%[\w-]+), (%[\w-]+)\]")


def version_key():
    return tuple(int(x) for x in re.findall(r"\d+", VERSION)[:2])


def list_calls(problem, most):
    """At most `most` (configuration, (problem, attribute of a matrix product)), the compiler's own
    choice first. Raises Unsupported."""
    known = list_own(problem)
    pipeline = (
        "#iree_cpu.pipeline<DoubleTilingExpert>"
        if version_key() >= (3, 12)
        else "CPUDoubleTilingExpert"
    )
    if has_tiles(problem):
        known += [
            ("tile-%dx%d" % tile, (problem, TILES % (*tile, pipeline)))
            for tile in ((8, 32), (8, 16))
        ]
    return known[:most]


def has_tiles(problem):
    return problem.startswith("gemm:") and ",batch=" not in problem


def tile_parameters(call):
    """{name: number} of what the configurations of a problem differ in; 0: the compiler chooses."""
    problem, tiles = call
    if not has_tiles(problem):
        return {}
    m, n = re.search(r"parallel = \[(\d+), (\d+)", tiles).groups() if tiles else (0, 0)
    return {"tile_m": int(m), "tile_n": int(n)}


def list_own(problem):
    """As list_calls: the compiler's own choice alone."""
    programs.program(problem)
    return [("default", (problem, ""))]


# ---- the program that IREE would run ----


def constants(function):
    found = dict(re.findall(r"(%[\w-]+) = arith\.constant (-?\d+) : (?:index|i32|i64)", function))
    return {name: int(text) for name, text in found.items()}


def entry_name(function, text, values, exports):
    """The dispatch names its function by number, or by a symbol that was looked up (3.13)."""
    number = re.search(r"\[(%[\w-]+)\] workgroups", text)[1]
    if number in values:
        return exports[values[number]]
    found = re.search(
        re.escape(number) + r" = hal\.executable\.lookup\.function .* function\(@.*::@([^)]*)\)",
        function,
    )
    return found[1].strip('"')


def read_launches(hal, tensors, exports):
    """The dispatches of the command buffer, in their order, as launches of a manifest."""
    if re.search(r"hal\.command_buffer\.(fill|copy|update)", hal):
        raise CompileError("the program also fills or copies buffers, which a package cannot say")
    found = []
    for function in FUNCTION.findall(hal):
        values = constants(function)
        for text in DISPATCH.findall(function):
            grid = [
                values[name.strip()]
                for name in re.search(r"workgroups\(\[(.*?)\]\)", text)[1].split(",")
            ]
            args = []
            for buffer, kind, offset, length in BINDING.findall(text):
                if kind != "index" or values[offset]:
                    raise CompileError(
                        "the program uses parts of buffers, which a package cannot say"
                    )
                slot = values[
                    buffer
                ]  # the function's arguments, its result, then temporary buffers
                args.append(
                    {"tensor": tensors[slot]}
                    if slot < len(tensors)
                    else {
                        "scratch": "temporary %d" % (slot - len(tensors)),
                        "bytes": values[length],
                    }
                )
            passed = re.search(r"constants\(\[(.*?)\]\)", text)
            args += (
                [{"value": values[name.strip()], "type": "i32"} for name in passed[1].split(",")]
                if passed
                else []
            )
            found.append(
                {
                    "entry": entry_name(function, text, values, exports),
                    "grid": grid,
                    "block": [1, 1, 1],
                    "shared_bytes": 0,
                    "args": args,
                }
            )
    if not found:
        raise CompileError("the program launches no kernel")
    return found


class Library(ctypes.Structure):
    """The start of iree_hal_executable_library_v0_t; the table of exports begins with functions and
    attributes."""

    _fields_ = [
        ("header", ctypes.POINTER(ctypes.c_uint32)),
        ("import_count", ctypes.c_uint32),
        ("imports", ctypes.c_void_p),
        ("export_count", ctypes.c_uint32),
        ("functions", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("tables", ctypes.c_void_p * 3),
    ]


def export_names(path):
    query = ctypes.CDLL(path).iree_hal_executable_library_query
    query.restype = ctypes.POINTER(Library)
    for version, table in ((6, 2), (5, 0)):  # 0.6 has two more tables before the names
        library = query(ctypes.c_uint32(version), ctypes.byref((ctypes.c_uint64 * 16)()))
        if library:
            names = ctypes.cast(library[0].tables[table], ctypes.POINTER(ctypes.c_char_p))
            return [names[i].decode() for i in range(library[0].export_count)]
    raise CompileError(
        "the code object has another interface than versions 0.5 and 0.6 of IREE's executable"
        " libraries"
    )


# ---- one problem ----


def run(folder, arguments):
    done = subprocess.run(
        [COMPILER, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        errors = [line for line in done.stdout.splitlines() if "error:" in line]
        text = (
            errors[0]
            if errors
            else done.stdout[-400:] or "iree-compile ended with %d" % done.returncode
        )
        raise CompileError(text.replace(folder + os.sep, ""))  # equal messages for equal causes


def compile_into(folder, flags, extension, program, tiles):
    """(path of the code object, text of the program that IREE would run, seconds of the compiler)."""
    hal = os.path.join(folder, "hal.mlir")
    with open(os.path.join(folder, "f.mlir"), "w", encoding="utf-8") as f:
        f.write(program.text(tiles, version_key()))
    every = [*flags, "f.mlir"]  # the code object has the path that it is given
    started = package.cpu_seconds()
    run(
        folder,
        [
            *every,
            "-o",
            os.path.join(folder, "f.vmfb"),
            "--iree-hal-dump-executable-binaries-to=" + folder,
        ],
    )
    seconds = package.cpu_seconds() - started
    run(folder, [*every, "--compile-to=hal", "-o", hal])
    code = [name for name in os.listdir(folder) if name.endswith(extension)]
    if len(code) != 1:
        raise CompileError("the program has %d code objects, expected one" % len(code))
    with open(hal, encoding="utf-8") as f:
        return os.path.join(folder, code[0]), f.read(), seconds


def compile_for_cpu(cpu, call):
    problem, tiles = call
    program = programs.program(problem)
    flags = [*FLAGS, "--iree-llvmcpu-target-cpu=" + cpu]
    with tempfile.TemporaryDirectory() as folder:
        path, hal, seconds = compile_into(folder, flags, ".so", program, tiles)
        launches = read_launches(hal, program.tensors, export_names(path))
        with open(path, "rb") as f:
            return f.read(), {"launches": launches, "compile_seconds": seconds}


def compile_for_gpu(device, call):
    problem, tiles = call
    program = programs.program(problem)
    with tempfile.TemporaryDirectory() as folder:
        path, hal, seconds = compile_into(folder, device.flags, device.dumped, program, tiles)
        run(folder, [*device.flags, "f.mlir", "--compile-to=executable-targets", "-o", "g.mlir"])
        with open(os.path.join(folder, "g.mlir"), encoding="utf-8") as f:
            sizes = gpu.workgroups(f.read())
        started = package.cpu_seconds()
        code = device.read_code(path)
        seconds += package.cpu_seconds() - started
    launches = read_launches(hal, program.tensors, list(sizes))
    for launch in launches:
        launch.update(sizes[launch["entry"]])
        if device.is_cuda:
            sizes = [4 if "type" in argument else 8 for argument in launch["args"]]
            check_parameters(code, launch["entry"], sizes)
    return code, {"launches": launches, "compile_seconds": seconds}


def main():
    options = package.parse_arguments("cpu")
    producer = {"name": "iree", "version": VERSION}
    if options.target.startswith(("sm_", "gfx")):
        device = gpu.Gpu(options.target, version_key())
        extension, calls, named = device.extension, lambda problem, most: list_own(problem), None
        compile_call = functools.partial(compile_for_gpu, device)
    else:
        extension, calls, named = "so", list_calls, tile_parameters
        compile_call = functools.partial(compile_for_cpu, options.cpu)
    package.write(options, producer, extension, calls, compile_call, named)


if __name__ == "__main__":
    main()
