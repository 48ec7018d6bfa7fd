#!/usr/bin/env python3
"""Every configuration of compiled kernel packages on one card, beside the vendors' and our own
kernels for the same problems; each result is verified before it is timed. The packages are built
elsewhere:

  on a build host, with `cmake_args: --configs=4` in tracker.yml:
    tracker build triton --rev=3.9.0 --arch=sm_90a
  on the card:
    tests/gpu/compiled.py --tracker build/tracker --out compiled.json PACKAGE.cuda ...

A process for the first configurations of a package, one for the second ones, and so on, so that the
best guesses are measured first where --budget ends the run. Exits with 1 where a problem has no
timing."""

import argparse
import glob
import json
import os
import shutil
import sys
import tempfile
import time

import beside
import gpu_runs

BESIDE = {
    "gemm": ["cublaslt", "hopper_gemm"],
    "attention": ["cudnn", "hopper_flash"],
    "nsa": ["hopper_nsa", "nsa_cuda"],
}


def manifests(package):
    """{problem: [(file, manifest)]}, the best guess first."""
    out = {}
    for path in sorted(glob.glob(os.path.join(package, "*.json"))):
        with open(path, encoding="utf-8") as f:
            manifest = json.load(f)
        out.setdefault(manifest["problem"], []).append((path, manifest))
    return out


def configurations(package, folder):
    """[(path of a package with one configuration of each problem, problems)], the best guesses
    first."""
    found, out = manifests(package), []
    for rank in range(max(len(x) for x in found.values())):
        part = os.path.join(folder, str(rank), os.path.basename(package.rstrip("/")))
        os.makedirs(part)
        problems = []
        for problem, listed in found.items():
            if rank >= len(listed):
                continue
            path, manifest = listed[rank]
            if "error" in manifest:
                print("%s %s: %s" % (problem, manifest["configuration"], manifest["error"]))
                continue
            shutil.copy(path, part)
            shutil.copy(os.path.join(package, manifest["code_object"]), part)
            problems.append(problem)
        out.append((part, problems))
    return out


def print_table(rows):
    for problem in dict.fromkeys(r["problem"] for r in rows):
        mine = [r for r in rows if r["problem"] == problem]
        best = max(
            [r["tflops"] for r in mine if r["table"] == "beside" and "tflops" in r], default=None
        )
        print("\n" + problem)
        for r in mine:
            name = r["backend"] if r["table"] == "beside" else r["table"]
            share = "%6.1f %%" % (100 * r["tflops"] / best) if best and "tflops" in r else ""
            figures = (
                "%9.2f us %8.1f TFLOP/s %s" % (r["median_us"], r["tflops"], share)
                if "tflops" in r
                else r.get("message", "")[:140]
            )
            print(
                "  %-14s %-32s %-9s %s" % (name, r.get("algorithm", "")[:32], r["outcome"], figures)
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tracker", default="build/tracker")
    parser.add_argument("--seconds", type=float, default=0.1, help="of sampling")
    parser.add_argument("--limit", type=float, default=60, help="seconds that one process may take")
    parser.add_argument(
        "--budget", type=float, default=85, help="seconds after which no other process is started"
    )
    parser.add_argument("--out", default="compiled.json")
    parser.add_argument("packages", nargs="+")
    o = parser.parse_args()
    begin, rows = time.monotonic(), []

    def measure(table, backend, problems):
        if not problems or time.monotonic() - begin > o.budget:
            print("%s %s: left out" % (table, backend))
            return
        rows.extend(beside.ask(o, table, backend, "paced", problems))
        gpu_runs.save(o.out, {"machine": gpu_runs.machine(), "rows": rows})

    with tempfile.TemporaryDirectory() as folder:
        parts = []
        for i, package in enumerate(o.packages):
            producer = next(iter(manifests(package).values()))[0][1]["producer"]
            for rank, part in enumerate(configurations(package, os.path.join(folder, str(i)))):
                parts.append((rank, i, producer["name"] + " " + producer["version"], *part))
        problems = dict.fromkeys(p for part in parts for p in part[4])
        for op, backends in BESIDE.items():
            for backend in backends:
                measure("beside", backend, [p for p in problems if p.startswith(op + ":")])
        for _, _, table, path, chosen in sorted(parts, key=lambda part: part[:2]):
            measure(table, path, chosen)
    print_table(rows)
    sys.exit(any("tflops" not in r and r["outcome"] != "unsupported" for r in rows))


if __name__ == "__main__":
    main()
