"""IREE's targets for GPUs: flags of the compiler, threads and memory of each kernel, and PTX as a
cubin."""

import os
import re
import subprocess

from package import CompileError

EXPORT = re.compile(
    r"hal\.executable\.export public @(\S+) .*?workgroup_size = \[([^\]]*)\]([^\n]*)", re.S
)


class Gpu:
    """`target`: sm_90 or gfx942. IREE has no sm_90: it compiles for `compiled`, whose PTX is
    assembled for the target."""

    def __init__(self, target, version):
        self.target, self.is_cuda = target, target.startswith("sm_")
        self.extension = "cubin" if self.is_cuda else "hsaco"
        self.dumped = ".ptx" if self.is_cuda else ".hsaco"
        compiled = target
        if target == "sm_90":
            compiled = "sm_89" if version >= (3, 13) else "sm_86"
        option = (
            "--iree-cuda-target="
            if self.is_cuda
            else "--iree-rocm-target=" if version >= (3, 13) else "--iree-hip-target="
        )
        self.flags = [
            "--iree-hal-target-device=" + ("cuda" if self.is_cuda else "hip"),
            option + compiled,
        ]

    def read_code(self, path):
        if not self.is_cuda:
            with open(path, "rb") as f:
                return f.read()
        cubin = path[: -len(".ptx")] + ".cubin"
        done = subprocess.run(
            ["ptxas", "-arch=" + self.target, "-o", cubin, path],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise CompileError("ptxas: " + done.stdout.replace(os.path.dirname(path) + os.sep, ""))
        with open(cubin, "rb") as f:
            return f.read()


def numbers(text):
    return [int(x) for x in re.findall(r"\d+", re.sub(r": \w+", "", text))]


def workgroups(text):
    """{kernel: members of its launches}, of the program with translated kernels."""
    found = {}
    for name, size, rest in EXPORT.findall(text):
        memory = re.search(r"workgroup_local_memory = (\d+)", rest)
        found[name] = {
            "block": (numbers(size) + [1, 1])[:3],
            "shared_bytes": int(memory[1]) if memory else 0,
        }
    return found
