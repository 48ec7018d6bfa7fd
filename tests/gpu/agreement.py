#!/usr/bin/env python3
"""Do the tracker's times agree with those of NVIDIA's profilers? ncu on the tracker's own launches,
CUPTI (by torch.profiler) on PyTorch's.

  tests/gpu/agreement.py --tracker build/tracker --out agreement.json

ncu runs each kernel alone with cold caches, the tracker runs it in bursts: for short kernels the
gap between two launches is in the tracker's figure and not in ncu's."""

import argparse
import csv
import io
import json
import os
import statistics
import subprocess

import gpu_runs

NAMES = (
    "gemm 128x4096x4096 bf16",
    "gemm 1024^3 bf16",
    "gemm 4096^3 bf16",
    "gemm 4096^3 f32",
    "attention S512 D64",
    "attention S2048 D128",
)


def ncu(tracker, backends, backend, problem, launches):
    """Durations of the kernels that take most of the time, and what they are called. The worker
    process is asked directly: one that the tracker starts does not get the profiler's
    environment."""
    request = {
        "id": 1,
        "cmd": "measure",
        "device_layer": f"{backends}/tk_device_cuda.so",
        "backend": f"{backends}/tk_backend_{backend}.so",
        "problem": problem,
        "mode": "hot",
        "measure_s": 0.01,
        "verify": False,
    }
    command = [
        "ncu",
        "--target-processes",
        "all",
        "--clock-control",
        "none",
        "--cache-control",
        "all",
        "--metrics",
        "gpu__time_duration.sum,sm__cycles_elapsed.max,smsp__cycles_elapsed.avg.per_second",
        "--csv",
        "--print-units",
        "base",
        "--kernel-name-base",
        "function",
        "--kernel-name",
        "regex:(nvjet|xmma|cutlass|gemm|sdpa|cudnn|flash)",
        "--launch-count",
        str(launches),
        tracker,
        "worker",
    ]
    done = subprocess.run(
        command,
        input=json.dumps(request) + "\n",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    return durations(done.stdout)


def durations(text):
    lines = [line for line in text.splitlines() if line.startswith('"')]
    kernels, clocks = {}, {}
    for r in csv.DictReader(io.StringIO("\n".join(lines))):
        value = float(r["Metric Value"].replace(",", ""))
        if r["Metric Name"] == "gpu__time_duration.sum":
            kernels.setdefault(r["Kernel Name"], []).append(value)
        elif r["Metric Name"] == "smsp__cycles_elapsed.avg.per_second":
            clocks.setdefault(r["Kernel Name"], []).append(value / 1e6)
    if not kernels:
        return None, 0, "", text[-300:]
    name, values = max(kernels.items(), key=lambda k: sum(k[1]))
    return (
        statistics.median(values),
        statistics.median(clocks[name]) if name in clocks else 0,
        name,
        "",
    )


def cupti(call):
    import torch
    from torch.profiler import ProfilerActivity, profile

    flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    for _ in range(5):
        call()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        for _ in range(20):
            flush.zero_()
            call()
            torch.cuda.synchronize()
    kernels = {}
    for e in p.events():
        if e.device_type == torch.autograd.DeviceType.CUDA and not any(
            x in e.name for x in ("emset", "fill", "Fill", "FillFunctor")
        ):
            kernels.setdefault(e.name, []).append(e.device_time_total * 1e3)
    name, values = max(kernels.items(), key=lambda k: sum(k[1]))
    return statistics.median(values), name


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tracker", default="build/tracker")
    parser.add_argument("--backends", default="", help="their folder (default: beside the tracker)")
    parser.add_argument("--launches", type=int, default=12)
    parser.add_argument("--out", default="agreement.json")
    o = parser.parse_args()
    backends = o.backends or os.path.join(os.path.dirname(os.path.abspath(o.tracker)), "backends")
    rows = []
    print(
        f"{'problem':26} {'tracker us':>10} {'MHz':>5} {'ncu us':>9} {'MHz':>5} {'diff':>7}"
        f" {'cyc diff':>8} {'CUPTI us':>9} {'diff':>7}"
    )
    for name, backend, problem in gpu_runs.PROBLEMS:
        if name not in NAMES:
            continue
        answer, _ = gpu_runs.tracker_run(o.tracker, backend, [problem], "paced")
        ours, mhz = answer[problem]["result"]["median"], answer[problem]["result"]["clock_mhz"]
        theirs, ncu_mhz, kernel, why = ncu(o.tracker, backends, backend, problem, o.launches)
        import torch_calls

        seen, seen_kernel = cupti(torch_calls.call_of(problem))
        rows.append(
            {
                "name": name,
                "problem": problem,
                "tracker_ns": ours,
                "tracker_mhz": mhz,
                "ncu_ns": theirs,
                "ncu_mhz": ncu_mhz,
                "ncu_kernel": kernel,
                "cupti_ns": seen,
                "cupti_kernel": seen_kernel,
                "why": why,
            }
        )
        gap = (
            f"{(ours / theirs - 1):7.2%}"
            f" {(ours * mhz / (theirs * ncu_mhz) - 1) if ncu_mhz else 0:8.2%}"
            if theirs
            else why
        )
        print(
            f"{name:26} {ours / 1e3:10.2f} {mhz:5.0f} {(theirs or 0) / 1e3:9.2f} {ncu_mhz:5.0f}"
            f" {gap} {seen / 1e3:9.2f} {ours / seen - 1:7.2%}  {kernel[:40]} | {seen_kernel[:40]}",
            flush=True,
        )
    gpu_runs.save(o.out, {"machine": gpu_runs.machine(), "rows": rows})


if __name__ == "__main__":
    main()
