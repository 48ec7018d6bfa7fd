#!/usr/bin/env python3
"""`tracker tune` on a compiled kernel package with configurations that are fast because they are
wrong: they never win.

  on a build host with nvcc:  tests/gpu/planted.py --make FOLDER
  on the card:                tests/gpu/planted.py --package FOLDER --tracker build/tracker

Exits with 1 where a wrong configuration is not called wrong, or wins."""

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = "tk_backend_planted.cuda"
SIDE = 2048
PROBLEM = "gemm:a=f32,acc=f32,b=f32,c=f32,k=%d,m=%d,n=%d,ta=n,tb=n" % (SIDE, SIDE, SIDE)
# Side of a tile; which part of the products is added up (2: every second one, which is wrong).
CONFIGURATIONS = [(8, 1), (16, 1), (32, 1), (16, 2), (32, 2)]
KERNEL = """
template <int T> __device__ void gemm(const float *a, const float *b, float *c, int n, int k,
        int part)
{
	__shared__ float as[T][T], bs[T][T];
	int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
	float sum = 0;
	for (int at = 0; at < k; at += T * part) {
		as[threadIdx.y][threadIdx.x] = a[row * k + at + threadIdx.x];
		bs[threadIdx.y][threadIdx.x] = b[(at + threadIdx.y) * n + column];
		__syncthreads();
		for (int i = 0; i < T; i++)
			sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
		__syncthreads();
	}
	c[row * n + column] = sum;
}
#define TILE(t) extern "C" __global__ void gemm_##t(const float *a, const float *b, float *c, \\
        int n, int k, int part) { gemm<t>(a, b, c, n, k, part); }
TILE(8) TILE(16) TILE(32)
"""


def compile_call(cubin, call):
    """The code is the same for all."""
    tile, part = call
    launch = {
        "entry": "gemm_%d" % tile,
        "grid": [SIDE // tile, SIDE // tile, 1],
        "block": [tile, tile, 1],
        "shared_bytes": 0,
        "args": [{"tensor": t} for t in "ABC"]
        + [{"value": v, "type": "i32"} for v in (SIDE, SIDE, part)],
    }
    with open(cubin, "rb") as f:
        return f.read(), {"launches": [launch], "compile_seconds": 1}


def make(folder):
    sys.path.insert(0, os.path.join(ROOT, "kernels", "launcher"))
    import package

    with tempfile.TemporaryDirectory() as work:
        source, cubin = os.path.join(work, "gemm.cu"), os.path.join(work, "gemm.cubin")
        os.environ["TK_PROBLEMS"] = os.path.join(work, "problems.json")
        with open(source, "w", encoding="utf-8") as f:
            f.write(KERNEL)
        with open(os.environ["TK_PROBLEMS"], "w", encoding="utf-8") as f:
            json.dump({"problems": [PROBLEM]}, f)
        subprocess.run(["nvcc", "-cubin", "-arch=sm_90a", "-o", cubin, source], check=True)
        package.write(
            argparse.Namespace(out=os.path.join(folder, PACKAGE), target="sm_90a", configs=99),
            {"name": "planted", "version": "1"},
            "cubin",
            lambda problem, most: [("tile%d-part%d" % t, t) for t in CONFIGURATIONS],
            functools.partial(compile_call, cubin),
            lambda call: {"tile": call[0], "part": call[1]},
        )


def tune(tracker, folder):
    """Whether all is as it should be; prints what was found."""
    done = subprocess.run(
        [tracker, "tune", os.path.join(folder, PACKAGE), PROBLEM, "--devices=cuda:0", "--no-store"]
        + ["--mode=paced", "--budget=20s", "--format=json"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    (row,) = json.loads(done.stdout)["rows"]
    good = "part=1" in (row["winner"] or "") and "part=1" in (row["config"] or "")
    for c in row["candidates"]:
        print("%-16s %-12s %s" % (c["config"], c["outcome"], c["median_ns"]))
        good = good and (c["outcome"] == "wrong") == c["config"].endswith("part=2")
    print("winner %s, verdict %s, exit code %d" % (row["winner"], row["verdict"], done.returncode))
    return good and done.returncode == 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--make", metavar="FOLDER")
    parser.add_argument("--package", metavar="FOLDER")
    parser.add_argument("--tracker", default="build/tracker")
    o = parser.parse_args()
    if o.make:
        make(o.make)
    elif o.package:
        sys.exit(0 if tune(o.tracker, o.package) else 1)
    else:
        parser.error("--make or --package is required")


if __name__ == "__main__":
    main()
