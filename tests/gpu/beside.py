#!/usr/bin/env python3
"""Our own kernels beside the vendors', in one run on one card: every step of the GEMM ladder,
Llama's shapes, attention forward and backward, native sparse attention beside dense attention;
paced and sustained.

  tests/gpu/beside.py --tracker build/tracker --tables squares,forward --out beside.json
  tests/gpu/beside.py --tables backward --modes sustained --backends 'cudnn|hopper' \\
      --problems 'd=128'     # a part of a table

A process a backend and a mode; each result is verified before it is timed.
"""

import argparse
import json
import re
import subprocess
import time

import gpu_runs

SQUARES = [1024, 2048, 4096, 8192, 16384]
# meta-pytorch/tritonbench tritonbench/utils/triton_op.py llama_shapes(), as in
# suites/gemm-core.yml: 7b, and shards of 70b and 405b
LLAMA = [
    (12288, 4096),
    (4096, 4096),
    (22016, 4096),
    (4096, 11008),
    (1280, 8192),
    (8192, 1024),
    (7168, 8192),
    (8192, 3584),
    (2304, 16384),
    (16384, 2048),
    (13312, 16384),
    (16384, 6656),
]
# The largest square that a step takes less than a second for.
LADDER = [
    ("gemm_naive_cuda", 4096),
    ("gemm_shared_cuda", 8192),
    ("gemm_register_cuda", 16384),
    ("gemm_pipelined_cuda", 16384),
    ("gemm_matrix_cuda", 16384),
]
SPARSE = "nsa:b=1,s={s},h=64,hkv=4,d=128,block_size=64,selected_blocks=16,window=512,dtype=bf16"
DENSE = "attention:b=1,h=64,hkv=4,sq={s},d=128,dtype=bf16,causal=1"


def square(n):
    return f"gemm:m={n},n={n},k={n},a=bf16"


def attention(d, causal, s, more=""):
    return f"attention:b={16384 // s},h={2048 // d},sq={s},d={d},dtype=bf16,causal={causal}{more}"


def dense(direction, widths, sizes):
    return [attention(d, causal, s, direction) for d in widths for causal in (0, 1) for s in sizes]


def tables(light):
    """name: [(backend, problems)]"""
    forward, backward = dense("", (64, 128, 256), (4096, 8192, 16384)), dense(
        ",dir=bwd", (64, 128), (4096, 8192, 16384)
    )
    if light:
        forward, backward = dense("", (64, 128, 256), (4096,)), dense(
            ",dir=bwd", (64, 128), (4096,)
        )
    squares = [n for n in SQUARES if not light or n in (1024, 4096, 8192)]
    llama = [
        f"gemm:m={m},n={n},k={k},a=bf16"
        for n, k in LLAMA
        for m in (16, 4096)
        if not light and (m, n, k) != (4096, 4096, 4096)
    ]
    sizes = (8192,) if light else (4096, 8192, 16384, 32768)
    ladder = [(backend, [square(n) for n in squares if n <= top]) for backend, top in LADDER]
    return {
        "squares": (
            [(b, [square(n) for n in squares]) for b in ("cublaslt", "hopper_gemm")] + ladder
        ),
        "llama": [(b, llama) for b in ("cublaslt", "hopper_gemm")],
        "forward": [(b, forward) for b in ("cudnn", "hopper_flash", "flash_cuda")],
        "backward": [(b, backward) for b in ("cudnn", "hopper_flash", "flash_cuda")],
        "nsa": (
            [(b, [SPARSE.format(s=s) for s in sizes]) for b in ("hopper_nsa", "nsa_cuda")]
            + [
                (b, [DENSE.format(s=s) for s in sizes])
                for b in ("cudnn", "hopper_flash", "flash_cuda")
            ]
        ),
    }


def row(table, backend, mode, answer):
    r = answer["result"] or {}
    verify, plan, median = r.get("verify") or {}, r.get("plan") or {}, r.get("median")
    out = {
        "table": table,
        "backend": backend,
        "mode": mode,
        "problem": answer["problem"],
        "outcome": answer["outcome"],
    }
    if median:
        out.update(
            {
                "median_us": round(median / 1e3, 3),
                "tflops": round(r["flops"] / median / 1e3, 2),
                "algorithm": plan.get("algorithm") or "",
                "error": verify.get("max_error"),
                "tolerance": verify.get("tolerance"),
                "clock_mhz": ((r.get("telemetry") or {}).get("after") or {}).get("clock_mhz"),
            }
        )
    if answer["message"]:
        out["message"] = answer["message"]
    return out


def ask(o, table, backend, mode, problems):
    seconds = o.seconds if mode == "paced" else 0.6
    command = [
        o.tracker,
        "run",
        backend,
        f"--mode={mode}",
        f"--seconds={seconds}",
        "--format=json",
        *problems,
    ]
    begin = time.monotonic()
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=o.limit,
        )
        answers, why = (json.loads(done.stdout) if done.stdout.strip() else []), done.stderr
    except subprocess.TimeoutExpired:
        answers, why = [], f"over {o.limit} s"
    if len(answers) != len(problems):
        print(
            f"{table} {backend} {mode}: {len(answers)} answers to {len(problems)} problems:"
            f" {why.strip()[-400:]}",
            flush=True,
        )
    rows = [row(table, backend, mode, a) for a in answers]
    print(
        f"{table} {backend} {mode}: {time.monotonic() - begin:.1f} s: "
        + " ".join(f"{r['tflops']:.0f}" if "tflops" in r else r["outcome"] for r in rows),
        flush=True,
    )
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tracker", default="build/tracker")
    parser.add_argument("--tables", default="squares,llama,forward,backward,nsa")
    parser.add_argument("--modes", default="paced,sustained")
    parser.add_argument(
        "--backends", default="", help="a regular expression; the others are left out"
    )
    parser.add_argument("--problems", default="", help="likewise")
    parser.add_argument("--seconds", type=float, default=0.1, help="of sampling, paced")
    parser.add_argument(
        "--limit", type=float, default=120, help="seconds that one process may take"
    )
    parser.add_argument("--out", default="beside.json")
    o = parser.parse_args()
    rows = []
    for table in o.tables.split(","):
        for mode in o.modes.split(","):
            for backend, problems in tables(mode == "sustained")[table]:
                chosen = [p for p in problems if re.search(o.problems, p)]
                if chosen and re.search(o.backends, backend):
                    rows += ask(o, table, backend, mode, chosen)
                gpu_runs.save(o.out, {"machine": gpu_runs.machine(), "rows": rows})


if __name__ == "__main__":
    main()
