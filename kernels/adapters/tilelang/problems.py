"""Which problems the kernels solve, and with which tiles: problem in the tracker's canonical form
-> calls of the kernels."""

import math

from package import Unsupported, choose_calls, read_attention, read_nsa

TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}


# BM, BN, BK, stages, threads that compute, C through shared memory: the fastest on an H200 first.
GEMM_TILES = [
    (128, 256, 64, 3, 256, True),
    (128, 256, 64, 4, 256, False),
    (128, 128, 64, 4, 128, False),
    (64, 128, 64, 4, 128, False),
    (64, 64, 64, 4, 128, False),
]


def cost(tile, m, n):
    """Of a tiling, in any unit: rounds of the 132 multiprocessors; small tiles load more for each
    product."""
    rounds = -(-(m // tile[0] * (n // tile[1])) // 132)
    return rounds * tile[0] * tile[1] * (1 + 24 / tile[0] + 24 / tile[1])


def gemm(p):
    m, n, k = (int(p[key]) for key in ("m", "n", "k"))
    if (
        p.get("acc", "f32") != "f32"
        or p["a"] != p["b"]
        or p["a"] not in ("f16", "bf16")
        or p["c"] not in (p["a"], "f32")
        or int(p.get("batch", 1)) > 1
    ):
        raise Unsupported("only f16 and bf16 without a batch, sums in f32")
    fitting = [
        t
        for t in GEMM_TILES
        if m % t[0] == n % t[1] == k % t[2] == 0 and not (t[5] and p["c"] == "f32")
    ]
    if not fitting:
        raise Unsupported("sides that are no multiples of 64")
    for t in sorted(fitting, key=lambda t: cost(t, m, n)):
        yield "%dx%dx%d-s%d-t%d%s" % (*t[:5], "-staged" if t[5] else ""), (
            "gemm",
            (m, n, k, p["ta"] == "t", p["tb"] == "t", TYPES[p["a"]], TYPES[p["c"]], *t),
        )


# BM, BN, stages, threads that compute, by the width of a head
ATTENTION_TILES = {
    64: [(128, 128, 2, 256), (128, 64, 2, 256)],
    128: [(128, 128, 2, 256), (128, 64, 2, 256), (64, 64, 2, 128)],
    256: [(64, 64, 2, 128)],
}


def attention(p):
    b, h, hkv, sq, d, scale = read_attention(p, ATTENTION_TILES)
    for t in ATTENTION_TILES[d]:
        yield "%dx%d-s%d-t%d" % t, (
            "attention",
            (b, h, hkv, sq, d, scale, p["causal"] == "1", TYPES[p["dtype"]], *t),
        )


# Keys of a step at most, stages, threads that compute.
NSA_TILES = [(64, 2, 32), (32, 2, 32), (32, 3, 32)]


def nsa(p):
    b, h, hkv, s, d, scale, block, selected, window = read_nsa(p)
    if h // hkv > 64 or s % block:
        raise Unsupported("more than 64 heads of Q for one of K, or a last block that is not full")
    rows = max(16, 1 << (h // hkv - 1).bit_length())
    for most, stages, threads in NSA_TILES:
        step = math.gcd(most, block)
        yield "keys%d-s%d-t%d" % (step, stages, threads), (
            "nsa",
            (
                *(b, h, hkv, s, d, scale, block, selected, window, p["causal"] == "1"),
                *(TYPES[p["dtype"]], rows, step, stages, threads),
            ),
        )


# What configurations differ in: the last arguments of each kernel.
PARAMETERS = {
    "gemm": ("block_m", "block_n", "block_k", "num_stages", "threads", "staged"),
    "attention": ("block_m", "block_n", "num_stages", "threads"),
    "nsa": ("block_n", "num_stages", "threads"),
}


def parameters(call):
    kernel, given = call
    names = PARAMETERS[kernel]
    return {name: int(value) for name, value in zip(names, given[-len(names) :])}


def calls(problem, most):
    """At most `most` (configuration, (kernel, arguments)), the best guess first. Raises
    Unsupported."""
    return choose_calls(problem, {"gemm": gemm, "attention": attention, "nsa": nsa}, most)
