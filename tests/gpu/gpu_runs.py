"""The problems that the evidence scripts measure, and one call of `tracker run` in a fresh
process."""

import json
import os
import statistics
import subprocess
import time

# name, backend, problem; the names are those of docs/results/figures.md.
PROBLEMS = [
    ("gemm 128x4096x4096 bf16", "cublaslt", "gemm:m=128,n=4096,k=4096,a=bf16"),
    ("gemm 16x14336x4096 bf16", "cublaslt", "gemm:m=16,n=14336,k=4096,a=bf16"),
    ("gemm 1024^3 bf16", "cublaslt", "gemm:m=1024,n=1024,k=1024,a=bf16"),
    ("gemm 2048^3 bf16", "cublaslt", "gemm:m=2048,n=2048,k=2048,a=bf16"),
    ("gemm 4096^3 bf16", "cublaslt", "gemm:m=4096,n=4096,k=4096,a=bf16"),
    ("gemm 8192^3 bf16", "cublaslt", "gemm:m=8192,n=8192,k=8192,a=bf16"),
    ("gemm 4096^3 e4m3", "cublaslt", "gemm:m=4096,n=4096,k=4096,a=e4m3,c=bf16,tb=t"),
    ("gemm 4096^3 f32", "cublaslt", "gemm:m=4096,n=4096,k=4096,a=f32"),
    ("attention S512 D64", "cudnn", "attention:b=32,h=32,sq=512,d=64,dtype=bf16"),
    ("attention S2048 D64", "cudnn", "attention:b=8,h=32,sq=2048,d=64,dtype=bf16"),
    ("attention S8192 D64", "cudnn", "attention:b=2,h=32,sq=8192,d=64,dtype=bf16"),
    ("attention S512 D128", "cudnn", "attention:b=32,h=16,sq=512,d=128,dtype=bf16"),
    ("attention S2048 D128", "cudnn", "attention:b=8,h=16,sq=2048,d=128,dtype=bf16"),
    ("attention S8192 D128", "cudnn", "attention:b=2,h=16,sq=8192,d=128,dtype=bf16"),
]


def tracker_run(tracker, backend, problems, mode, *more):
    """The results of one fresh process: {problem as given: answer of `tracker run --format=json`},
    and its wall time."""
    start = time.monotonic()
    done = subprocess.run(
        [tracker, "run", backend, *problems, f"--mode={mode}", "--format=json", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    wall = time.monotonic() - start
    if not done.stdout.strip():
        raise SystemExit(f"tracker run {backend} --mode={mode}: {done.stderr.strip()}")
    return dict(zip(problems, json.loads(done.stdout))), wall


def choose(words):
    """The problems whose names hold one of these words, with commas between; all where there are
    none."""
    wanted = [w for w in words.split(",") if w]
    return [p for p in PROBLEMS if not wanted or any(w in p[0] for w in wanted)]


def by_backend(problems):
    groups = {}
    for name, backend, problem in problems:
        groups.setdefault(backend, []).append((name, problem))
    return groups


def spread(values):
    """(largest - smallest) / median, and the interquartile range / median; percent."""
    middle = statistics.median(values)
    quartiles = (
        statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [middle] * 3
    )
    return (max(values) - min(values)) / middle * 100, (quartiles[2] - quartiles[0]) / middle * 100


def machine():
    """What the figures belong to."""
    query = "name,uuid,driver_version,power.limit,clocks.max.sm"
    try:
        text = subprocess.run(
            ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        ).stdout
    except OSError:
        text = ""
    return {
        "gpus": [
            dict(zip(query.split(","), (x.strip() for x in line.split(","))))
            for line in text.splitlines()
        ],
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "revision": os.environ.get("TRACKER_REVISION", ""),
    }


def save(path, data):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(data, f, indent=1)
        f.write("\n")
