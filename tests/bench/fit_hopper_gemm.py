#!/usr/bin/env python3
"""Fits the constants of `estimate` in kernels/cuda/hopper_gemm_backend.c, which chooses the default
tile of hopper_gemm, to results of `tracker tune`.

usage: tests/bench/fit_hopper_gemm.py RESULTS.json... [--held-out=RESULTS.json]
           [--multiprocessors=132]

Loss: by how much the chosen tile is slower than the fastest measured one, the mean over the
products. Each constant takes a few values; the best combination wins. Held out: the mean loss of
products that the constants were not fitted to, in ten parts; with --held-out also of others."""

import argparse
import itertools
import json
import math
import re

TILES = [
    (128, 256, 2, 1),
    (128, 192, 1, 1),
    (128, 128, 1, 1),
    (64, 192, 1, 1),
    (64, 128, 1, 1),
    (64, 128, 1, 2),
    (64, 128, 1, 4),
    (64, 128, 1, 8),
]
# name: value now, values to try
CONSTANTS = {
    "rate_64": (0.55, [0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85]),
    "rate_64_one_row": (0.75, [0.65, 0.7, 0.75, 0.8]),
    "rate_128": (0.9, [0.8, 0.85, 0.9]),
    "rate_192": (0.95, [0.9, 0.95]),
    "join": (4, [0, 2, 4, 8, 12]),
    "join_split": (3, [1, 2, 3, 4, 5, 6]),
}
PARTS = 10


def read(paths):
    """{(m, n, k): {tile: fastest median}} of bf16 products that have a time for every tile."""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            searches = json.load(f)["searches"]
        for row in (row for s in searches for row in s["rows"]):
            size = re.match(r"gemm bf16 (\d+)x(\d+)x(\d+) ", row["title"])
            for c in row["candidates"]:
                tile = re.fullmatch(
                    r"tile_m=(\d+),tile_n=(\d+),cluster=(\d+),split=(\d+)", c["config"]
                )
                if size and tile and c["median_ns"]:
                    times = found.setdefault(tuple(map(int, size.groups())), {})
                    key = tuple(map(int, tile.groups()))
                    times[key] = min(times.get(key, math.inf), c["median_ns"])
    return {size: times for size, times in found.items() if set(TILES) <= set(times)}


def ceil_div(a, b):
    return -(-a // b)


def estimate(size, tile, c, multiprocessors):
    """As the backend does, batch 1 and 16-bit operands."""
    m, n, k = size
    tile_m, tile_n, cluster, splits = tile
    tiles = ceil_div(ceil_div(m, tile_m), cluster) * cluster * ceil_div(n, tile_n)
    rounds = ceil_div(tiles * splits, multiprocessors)
    steps = ceil_div(ceil_div(k, 64), splits)
    if tile_m == 64:
        rate = c["rate_64"] if m > 64 else c["rate_64_one_row"]
    else:
        rate = {256: 1, 192: c["rate_192"], 128: c["rate_128"]}[tile_n]
    write = tile_m * tile_n * 4
    join = write * (c["join"] + c["join_split"] * splits) if splits > 1 else 0
    return rounds * (steps * tile_m * tile_n / rate + write + join)


def loss(size, times, c, multiprocessors):
    chosen = min(TILES, key=lambda tile: estimate(size, tile, c, multiprocessors))
    return times[chosen] / min(times.values()) - 1


def mean(values):
    return sum(values) / len(values)


def choices():
    """All combinations; the constants of now come first, so that others have to be better."""
    yield {name: now for name, (now, _) in CONSTANTS.items()}
    for values in itertools.product(*(values for _, values in CONSTANTS.values())):
        yield dict(zip(CONSTANTS, values))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="+")
    parser.add_argument("--held-out")
    parser.add_argument("--multiprocessors", type=int, default=132)
    o = parser.parse_args()
    data = read(o.results)
    sizes = sorted(data)
    combinations = list(choices())
    losses = [[loss(s, data[s], c, o.multiprocessors) for s in sizes] for c in combinations]

    def fit(kept):
        return min(range(len(losses)), key=lambda i: sum(losses[i][k] for k in kept))

    best = fit(range(len(sizes)))
    held_out = []
    for part in range(PARTS):
        left_out = [k for k in range(len(sizes)) if k % PARTS == part]
        chosen = fit([k for k in range(len(sizes)) if k % PARTS != part])
        held_out += [losses[chosen][k] for k in left_out]
    print("%d products" % len(sizes))
    for name, i in (("now", 0), ("fitted", best)):
        print(
            "%-7s mean loss %.2f %%, largest %.1f %%: %s"
            % (name, 100 * mean(losses[i]), 100 * max(losses[i]), combinations[i])
        )
    print(
        "held out mean loss %.2f %%, largest %.1f %%" % (100 * mean(held_out), 100 * max(held_out))
    )
    if o.held_out:
        others = read([o.held_out])
        for name, i in (("now", 0), ("fitted", best)):
            found = [loss(s, t, combinations[i], o.multiprocessors) for s, t in others.items()]
            print("%d others, %s: mean loss %.2f %%" % (len(found), name, 100 * mean(found)))
    for k, size in enumerate(sizes):
        if max(losses[0][k], losses[best][k]) > 0.02:
            print(
                "  %dx%dx%d: %.1f %% now, %.1f %% fitted"
                % (*size, 100 * losses[0][k], 100 * losses[best][k])
            )


if __name__ == "__main__":
    main()
