#!/usr/bin/env python3
"""Measurements that the strategies of Kernel Tuner need on a space that was measured as a whole, in
its simulation mode, until one is within 2 % of the fastest: beside bench_space_search.

usage: kernel_tuner_strategies.py FILE.csv STRATEGY,... SEEDS MEASUREMENTS [RESTRICTION...]

Needs `pip install kernel_tuner`. The file is that of space_search.c; the restrictions are those of
the space, as Python. A search that does not get there counts as MEASUREMENTS.
"""

import contextlib
import csv
import io
import json
import random
import statistics
import sys
import tempfile

import kernel_tuner
import numpy as np

SOURCE = "__global__ void k(float *x) { x[0] = 1; }"  # never compiled


def read_space(path):
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    keys = [key for key in rows[0] if key != "ns"]
    return keys, {tuple(int(r[k]) for k in keys): float(r["ns"]) for r in rows}


def write_cache(path, keys, parameters, times):
    def entry(point, ns):
        fixed = {name: 0 for name in ("compile_time", "verification_time", "benchmark_time")}
        fixed |= {"strategy_time": 0, "framework_time": 0, "GFLOP_s": 1}
        measured = {"time": ns / 1e6, "times": [ns / 1e6]}
        when = {"timestamp": "2026-11-26T12:00:00+00:00"}
        return dict(zip(keys, point)) | measured | fixed | when

    cache = {
        "device_name": "sim",
        "kernel_name": "k",
        "problem_size": 1,
        "tune_params_keys": keys,
        "tune_params": parameters,
        "objective": "time",
        "cache": {",".join(map(str, p)): entry(p, ns) for p, ns in times.items()},
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(cache, file)


def main():
    path, strategies, seeds, most, *restrictions = sys.argv[1:]
    keys, times = read_space(path)
    parameters = {k: sorted({p[i] for p in times}) for i, k in enumerate(keys)}
    best = min(times.values())

    def search(strategy, seed, cache):
        random.seed(seed)
        np.random.seed(seed)
        with contextlib.redirect_stdout(io.StringIO()):
            results, _ = kernel_tuner.tune_kernel(
                "k",
                SOURCE,
                1,
                [np.zeros(1, np.float32)],
                parameters,
                restrictions=restrictions or None,
                strategy=strategy,
                strategy_options={"max_fevals": int(most)},
                simulation_mode=True,
                cache=cache,
                lang="CUDA",
            )
        good = (i + 1 for i, r in enumerate(results) if r["time"] * 1e6 < 1.02 * best)
        return next(good, None)

    for strategy in strategies.split(","):
        with tempfile.TemporaryDirectory() as folder:
            write_cache(f"{folder}/cache.json", keys, parameters, times)
            found = [search(strategy, s, f"{folder}/cache.json") for s in range(int(seeds))]
        needed = [f or int(most) for f in found]
        print(
            f"{strategy:20} {statistics.mean(needed):6.1f} in the mean,"
            f" {statistics.median(needed):6.1f} in the median, {found.count(None)} of"
            f" {len(found)} searches did not get there",
            flush=True,
        )


if __name__ == "__main__":
    main()
