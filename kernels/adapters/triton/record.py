"""Runs a kernel of this folder by Triton's JIT, with regions recorded by Proton's instrumentation
(Triton 3.6; NVIDIA): a Chrome trace of one launch for `tracker trace --import-proton`.

usage: record.py PROBLEM CONFIGURATION FILE
       record.py --times PROBLEM CONFIGURATION...   prints the time of a launch without records

PROBLEM has all parts: attention:b=1,h=16,hkv=16,sq=4096,skv=4096,d=128,dtype=f16,causal=0,dir=fwd

Regions are put into the compiler's last representation for GPUs. Scopes in the source (pl.scope)
would be lost where the compiler specializes warps, and would move where it pipelines a loop."""

import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

import torch
import triton
import triton.profiler as proton
from triton._C.libtriton import ir
from triton._C.libtriton import proton as dialect
from triton.backends.nvidia.compiler import CUDABackend

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "launcher"))
import kernels  # noqa: E402
import package  # noqa: E402
import problems  # noqa: E402

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
# What the matrix products of a loop are, in their order, and what follows the first of them.
PRODUCTS = {"attention": ["scores", "output"], "gemm": ["product"]}
AFTER_FIRST = {"attention": "softmax [compute]", "gemm": None}
AROUND = {
    "ttng.wait_barrier": "wait for data [wait]",
    "ttg.async_wait": "wait for data [wait]",
    "ttng.async_tma_copy_global_to_local": "load [load]",
    "ttg.async_copy_global_to_local": "load [load]",
}
RECORDS_BYTES = 16384  # of one warp; the newest are kept


class Recorder:
    """Adds records to a kernel's representation, line by line."""

    def __init__(self, operation):
        self.names, self.after = PRODUCTS[operation], AFTER_FIRST[operation]
        self.lines = []
        self.products = 0  # of this loop
        self.open = None  # a region that ends before the next wait or product

    def put(self, way, name):
        self.lines.append('proton.record %s "%s"' % (way, name))

    def around(self, line, name):
        self.put("start", name)
        self.lines.append(line)
        self.put("end", name)

    def close(self):
        if self.open:
            self.put("end", self.open)
        self.open = None

    def open_after_first(self):
        if self.products == 1 and self.after:
            self.open = self.after
            self.put("start", self.open)

    def product(self, line):
        """An asynchronous one is waited for later; the first wait of a loop ends the first one and
        that of the turn before."""
        self.close()
        self.products += 1
        name = self.names[min(self.products, len(self.names)) - 1] + " [tensor]"
        if "isAsync = true" not in line:
            self.around(line, name)
            self.open_after_first()
            return
        if self.products == 1:
            self.put("start", name)
        self.lines.append(line)

    def await_product(self, line):
        if self.products != 1:
            self.around(line, self.names[-1] + " [tensor]")
            return
        self.lines.append(line)
        self.put("end", self.names[0] + " [tensor]")
        self.open_after_first()

    def add(self, line):
        operation = line.split(" loc(")[0]
        found = re.search(r"\b(ttn?g\.\w+|scf\.for)\b", operation)
        what = found.group(1) if found else ""
        if what == "scf.for":
            self.products = 0
        if what in AROUND:
            self.close()
            self.around(line, AROUND[what])
        elif what == "ttng.warp_group_dot":
            self.product(line)
        elif what == "ttng.warp_group_dot_wait":
            self.await_product(line)
        elif what == "ttng.async_tma_copy_local_to_global":
            self.put("start", "store [store]")
            self.lines.append(line)
        elif what == "ttng.async_tma_store_wait":
            self.lines.append(line)
            self.put("end", "store [store]")
        else:
            self.lines.append(line)


def add_records(text, operation):
    recorder = Recorder(operation)
    for line in text.split("\n"):
        recorder.add(line)
    return "\n".join(recorder.lines)


class Recording:
    """While `operation` is set, kernels are compiled with records."""

    operation = None
    make = CUDABackend.make_ttgir

    @staticmethod
    def make_ttgir(module, metadata, options, capability):
        module = Recording.make(module, metadata, options, capability)
        if not Recording.operation:
            return module
        dialect.load_dialects(module.context)
        with tempfile.NamedTemporaryFile("w", suffix=".ttgir") as f:
            f.write(add_records(str(module), Recording.operation))
            f.flush()
            recording = ir.parse_mlir_module(f.name, module.context)
        recording.context = module.context
        return recording


CUDABackend.make_ttgir = staticmethod(Recording.make_ttgir)


class Target:
    kind = "cuda"
    version = tuple(int(x) for x in re.findall(r"\d+", triton.__version__)[:2])

    def __init__(self):
        self.units = torch.cuda.get_device_properties(0).multi_processor_count


def tensor_shapes(text):
    operation, p = package.parse_problem(text)
    n = {k: int(v) for k, v in p.items() if v.isdigit()}
    if operation == "gemm":
        shapes = {"A": (n["m"], n["k"]), "B": (n["k"], n["n"]), "C": (n["m"], n["n"])}
    else:
        q, kv = (n["b"], n["sq"], n["h"], n["d"]), (n["b"], n["skv"], n["hkv"], n["d"])
        shapes = {"Q": q, "K": kv, "V": kv, "O": q, "lse": (n["b"], n["h"], n["sq"])}
    return shapes


def make_run(text, config):
    call = dict(problems.calls(text, Target(), 99))[config]
    shapes = tensor_shapes(text)
    torch.manual_seed(1)
    arguments = dict(call.constants, **call.options)
    for name, tensor, dtype in call.tensors:
        arguments[name] = torch.randn(shapes[tensor], device="cuda").to(TYPES[dtype])
    for name, size in call.scratch.items():
        arguments[name] = torch.empty(size // 4, device="cuda")
    jit = getattr(kernels, call.kernel)

    def run():
        for grid, values in call.launches():
            jit[grid](**arguments, **values)

    return run, arguments


def time_us(run, seconds=0.1):
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    times, end = [], time.time() + seconds
    while time.time() < end or len(times) < 10:
        begin, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        stop.record()
        stop.synchronize()
        times.append(begin.elapsed_time(stop) * 1e3)
    return sorted(times)[len(times) // 2]


def attention_error(text, arguments):
    """Against PyTorch; None: not attention."""
    operation, p = package.parse_problem(text)
    if operation != "attention":
        return None
    q, k, v, o = (arguments[x].float().transpose(1, 2) for x in "QKVO")
    right = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, is_causal=p["causal"] == "1", enable_gqa=True
    )
    return (right - o).abs().max().item()


def record(text, config, out):
    """One launch; warps that a compiler added for other tasks are the third group."""
    warps = "0,4,8" if config.endswith("-ws") else "0,4"
    mode = proton.mode.Default(
        optimizations="clock32",
        buffer_type="global",
        buffer_size=RECORDS_BYTES * (warps.count(",") + 1),
        sampling_strategy="selective",
        sampling_options=warps,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace")
        os.environ["TRITON_CACHE_DIR"] = folder
        proton.start(path, data="trace", backend="instrumentation", mode=mode)
        Recording.operation = package.parse_problem(text)[0]
        run, arguments = make_run(text, config)
        run()
        torch.cuda.synchronize()
        proton.finalize()
        shutil.move(path + ".chrome_trace", out)
    return attention_error(text, arguments)


def main():
    triton.set_allocator(
        lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda")
    )
    torch.cuda.init()
    if sys.argv[1] == "--times":
        for config in sys.argv[3:]:
            print(config, "%.2f us" % time_us(make_run(sys.argv[2], config)[0]))
    else:
        error = record(*sys.argv[1:4])
        print(sys.argv[3], "largest error %.2g" % error if error is not None else "")


if __name__ == "__main__":
    main()
