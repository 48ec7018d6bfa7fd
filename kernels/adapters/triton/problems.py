"""Which problems the kernels solve, and with which tiles: problem in the tracker's canonical form
-> calls of the kernels."""

import math

from package import Unsupported, choose_calls, read_nsa

OPERAND_TYPES = ("f16", "bf16", "e4m3", "e5m2", "f32", "tf32")


# Releases that have what a kernel is written with: descriptors for TMA.
SINCE = {"gemm_persistent": (3, 4), "attention_tma": (3, 4)}


class Call:
    """A kernel with everything that its launches need. `tensors`: (argument, tensor of the problem,
    type); `values`: {argument: number}; `scratch`: {argument: bytes} of f32; `phases`: grids of
    further launches of the same code, which differ from the first in the argument "phase": 0, 1,
    ...
    """

    def __init__(self, kernel, tensors, values, constants, grid, options, scratch=None, phases=()):
        self.kernel, self.tensors, self.values = kernel, tensors, values
        self.constants, self.grid, self.options = constants, grid, options
        self.scratch, self.phases = scratch or {}, phases

    def launches(self):
        """(grid, values) of each launch."""
        if not self.phases:
            return [(self.grid, self.values)]
        return [
            (grid, dict(self.values, phase=i)) for i, grid in enumerate((self.grid, *self.phases))
        ]


def ceil_div(a, b):
    return -(-a // b)


# ---- GEMM ----

# BLOCK_M, BLOCK_N, BLOCK_K in bytes of the operands, warps, stages, for AMD waves_per_eu: the best
# guess first.
GEMM_TILES = {
    "cuda": [
        (128, 256, 128, 8, 3),
        (128, 128, 128, 4, 4),
        (64, 128, 128, 4, 4),
        (64, 64, 128, 4, 5),
        (16, 64, 256, 4, 4),
    ],
    "hip": [(128, 128, 128, 8, 2), (256, 128, 128, 8, 2), (64, 64, 128, 4, 2), (16, 64, 256, 4, 2)],
}
# The same; "ws": loads in warps of their own (warp specialisation). Not for AMD: it has no TMA.
PERSISTENT_TILES = {
    "cuda": [(128, 256, 128, 8, 3, ""), (128, 256, 128, 4, 3, "ws"), (128, 128, 128, 8, 4, "")],
    "hip": [],
}
SPLIT_TILES = {
    "cuda": [(16, 64, 256, 4, 4), (64, 64, 128, 4, 4), (128, 64, 128, 4, 4)],
    "hip": [(16, 64, 256, 4, 2, 2), (64, 64, 128, 4, 2, 2)],
}


def waste(tile, m, n, units):
    """The time of a tiling as a multiple of perfect use of the chip: idle units in the last round,
    rows and columns that do not exist. Small tiles load more for each product."""
    tiles = ceil_div(m, tile[0]) * ceil_div(n, tile[1])
    rounds = ceil_div(tiles, units)
    return rounds * units * tile[0] * tile[1] / (m * n) * (1 + 24 / tile[0] + 24 / tile[1])


def gemm(p, target):
    m, n, k, batch = (int(p.get(key, 1)) for key in ("m", "n", "k", "batch"))
    a, b, c = p["a"], p["b"], p["c"]
    if (
        p.get("acc", "f32") != "f32"
        or a not in OPERAND_TYPES
        or b not in OPERAND_TYPES
        or c not in ("f16", "bf16", "f32")
    ):
        raise Unsupported("the types of this product")
    if a != b and not (a[0] == b[0] == "e"):
        raise Unsupported("two different types")
    if max(m * k, k * n, m * n) >= 2**31:
        raise Unsupported("offsets beyond 32 bits")
    if target.kind == "hip" and (a[0] == "e" or a == "tf32"):
        raise Unsupported("8-bit floats and tf32 on AMD")
    wide = 4 if a in ("f32", "tf32") else 1 if a[0] == "e" else 2
    ta, tb = p["ta"] == "t", p["tb"] == "t"
    strides = dict(
        stride_ab=m * k,
        stride_am=1 if ta else k,
        stride_ak=m if ta else 1,
        stride_bb=k * n,
        stride_bk=1 if tb else n,
        stride_bn=k if tb else 1,
    )
    tensors = [("A", "A", a), ("B", "B", b), ("C", "C", c)]
    precision = "ieee" if a == "f32" else "tf32"
    tiles = sorted(
        (t for t in GEMM_TILES[target.kind] if a != "f32" or t[0] * t[1] <= 128 * 128),
        key=lambda t: waste(t, m, n * batch, target.units),
    )

    def plain(t):
        block_k = max(t[2] // wide, 16)
        constants = dict(
            BLOCK_M=t[0],
            BLOCK_N=t[1],
            BLOCK_K=block_k,
            GROUP_M=8,
            EVEN_K=k % block_k == 0,
            PRECISION=precision,
        )
        return tile_name(t, block_k), Call(
            "gemm",
            tensors,
            dict(M=m, N=n, K=k, **strides),
            constants,
            (ceil_div(m, t[0]) * ceil_div(n, t[1]), batch, 1),
            options(t),
        )

    yield plain(tiles[0])
    if batch == 1:
        yield from gemm_split(
            m,
            n,
            k,
            wide,
            tensors,
            {x: strides[x] for x in strides if x[-2:] in ("am", "ak", "bk", "bn")},
            precision,
            target,
        )
        if (
            a in ("f16", "bf16", "e4m3", "e5m2")
            and m >= 128
            and n >= 128
            and all(x * wide % 16 == 0 for x in (m, n, k))
        ):
            yield from gemm_persistent(m, n, k, wide, tensors, ta, tb, target)
    for t in tiles[1:]:
        yield plain(t)


def tile_name(t, block_k):
    return "%dx%dx%d-w%d-s%d" % (t[0], t[1], block_k, t[3], t[4]) + (
        "-eu%d" % t[5] if len(t) > 5 else ""
    )


def special_name(name, special):
    return name + "-" + special if special else name


def options(t):
    """`waves`: waves for each unit of an AMD GPU that registers are left for; without it, the
    compiler chooses."""
    return dict(num_warps=t[3], num_stages=t[4], **(dict(waves_per_eu=t[5]) if len(t) > 5 else {}))


def gemm_persistent(m, n, k, wide, tensors, ta, tb, target):
    for *t, special in PERSISTENT_TILES[target.kind]:
        block_k = t[2] // wide
        constants = dict(
            BLOCK_M=t[0],
            BLOCK_N=t[1],
            BLOCK_K=block_k,
            GROUP_M=8,
            TA=ta,
            TB=tb,
            FLATTEN=not special,
            SPECIALIZE=special == "ws",
        )
        yield special_name("persistent-" + tile_name(t, block_k), special), Call(
            "gemm_persistent",
            tensors,
            dict(M=m, N=n, K=k),
            constants,
            (min(target.units, ceil_div(m, t[0]) * ceil_div(n, t[1])), 1, 1),
            options(t),
        )


def gemm_split(m, n, k, wide, tensors, strides, precision, target):
    """For products that have too few tiles for the units of the card."""
    for t in SPLIT_TILES[target.kind]:
        tiles = ceil_div(m, t[0]) * ceil_div(n, t[1])
        block_k = max(t[2] // wide, 16)
        parts = 1
        while parts < 16 and tiles * parts < 2 * target.units and k >= parts * 2 * block_k * 4:
            parts *= 2
        if parts == 1 or m > 2 * t[0] or parts * m * n >= 2**31:
            continue
        values = dict(M=m, N=n, K=k, phase=0, **strides)
        constants = dict(
            BLOCK_M=t[0],
            BLOCK_N=t[1],
            BLOCK_K=block_k,
            SPLIT=parts,
            SUM=1024,
            EVEN_K=k % block_k == 0,
            PRECISION=precision,
        )
        yield "split%d-%s" % (parts, tile_name(t, block_k)), Call(
            "gemm_split",
            tensors,
            values,
            constants,
            (tiles, parts, 1),
            options(t),
            {"parts": parts * m * n * 4},
            [(ceil_div(m * n, 1024), 1, 1)],
        )


# ---- attention ----

# BLOCK_M, BLOCK_N, warps, stages, for AMD waves_per_eu, by the width of a head: the best guess
# first.
ATTENTION_TILES = {
    "cuda": {
        64: [(128, 64, 4, 3), (128, 128, 8, 3)],
        128: [(128, 64, 8, 3), (128, 64, 8, 2), (128, 128, 8, 2)],
        256: [(128, 64, 8, 2), (64, 64, 4, 2)],
    },
    "hip": {
        64: [(128, 64, 4, 1), (128, 64, 4, 1, 2)],
        128: [(128, 64, 4, 1), (128, 64, 4, 1, 2)],
        256: [(64, 64, 4, 1)],
    },
}
# With "ws" as above.
TMA_TILES = {
    64: [(128, 128, 8, 3, ""), (128, 128, 4, 2, "ws")],
    128: [(128, 128, 8, 2, ""), (128, 128, 4, 2, "ws"), (128, 64, 4, 3, "")],
    256: [(128, 64, 8, 2, "")],
}
# LONG, SHORT, warps, stages.
BACKWARD_TILES = {
    "cuda": {
        64: [(128, 64, 8, 3), (128, 64, 4, 3), (128, 128, 8, 2)],
        128: [(128, 64, 8, 2), (64, 64, 4, 2), (128, 32, 8, 3)],
    },
    "hip": {64: [(128, 32, 4, 1), (64, 32, 4, 1, 2)], 128: [(64, 32, 4, 1), (128, 32, 8, 1, 1)]},
}


def attention(p, target):
    b, h, hkv, sq, skv, d = (int(p[key]) for key in ("b", "h", "hkv", "sq", "skv", "d"))
    scale = float(p.get("scale", 0)) or 1 / math.sqrt(d)
    t, causal = p["dtype"], p["causal"] == "1"
    if t not in ("f16", "bf16") or int(p.get("dv", d)) != d or d not in (64, 128, 256):
        raise Unsupported("only f16 and bf16, heads of 64, 128 and 256")
    if (
        scale <= 0
        or max(b * sq * h, b * skv * hkv) * d >= 2**40
        or max(sq * h, skv * hkv) * d >= 2**31
    ):
        raise Unsupported("a negative scale, or offsets beyond 32 bits")
    tensors = [("Q", "Q", t), ("K", "K", t), ("V", "V", t), ("O", "O", t), ("LSE", "lse", "f32")]
    values = dict(H=h, HKV=hkv, SQ=sq, SKV=skv, scale=scale)
    if p["dir"] == "bwd":
        yield from attention_backward(b, d, causal, tensors, values, target)
        return
    for at, tile in enumerate(ATTENTION_TILES[target.kind][d]):
        rows, keys, warps, stages = tile[:4]
        yield attention_name(tile), Call(
            "attention",
            tensors,
            values,
            dict(D=d, BLOCK_M=rows, BLOCK_N=keys, CAUSAL=causal),
            (ceil_div(sq, rows), b * h, 1),
            options((0, *tile)),
        )
        if at == 0 and target.kind == "cuda":
            yield from attention_tma(b, d, causal, tensors, values)


def attention_name(t):
    return "%dx%d-w%d-s%d" % t[:4] + ("-eu%d" % t[4] if len(t) > 4 else "")


def attention_tma(b, d, causal, tensors, values):
    for rows, keys, warps, stages, special in TMA_TILES[d]:
        constants = dict(
            D=d,
            BLOCK_M=rows,
            BLOCK_N=keys,
            CAUSAL=causal,
            EVEN=values["SKV"] % keys == 0,
            SPECIALIZE=special == "ws",
        )
        yield special_name("tma-" + attention_name((rows, keys, warps, stages)), special), Call(
            "attention_tma",
            tensors,
            dict(values, rows_q=b * values["SQ"], rows_kv=b * values["SKV"]),
            constants,
            (ceil_div(values["SQ"], rows), b * values["H"], 1),
            dict(num_warps=warps, num_stages=stages),
        )


def attention_backward(b, d, causal, tensors, values, target):
    if d not in BACKWARD_TILES[target.kind]:
        raise Unsupported("backward only with heads of 64 and 128")
    t = tensors[0][2]
    sq, skv, h, hkv = (values[x] for x in ("SQ", "SKV", "H", "HKV"))
    tensors = tensors + [(name.upper(), name, t) for name in ("dO", "dQ", "dK", "dV")]
    for tile in BACKWARD_TILES[target.kind][d]:
        long, short = tile[:2]
        constants = dict(
            D=d, LONG=long, SHORT=short, CAUSAL=causal, EVEN=sq % long == 0 and skv % long == 0
        )
        rows = (ceil_div(sq, long), b * h, 1)
        yield attention_name(tile), Call(
            "attention_backward",
            tensors,
            dict(values, phase=0),
            constants,
            rows,
            options((0, *tile)),
            {"DELTA": b * h * sq * 4},
            [(ceil_div(skv, long), b * hkv, 1), rows],
        )


# ---- native sparse attention ----

# Keys of a step at most, warps, stages.
NSA_TILES = {"cuda": [(64, 2, 3), (32, 1, 3), (64, 4, 2)], "hip": [(32, 1, 1), (64, 2, 1)]}


def power_of_two(n):
    return 1 << max(n - 1, 0).bit_length()


def nsa(p, target):
    b, h, hkv, s, d, scale, block, selected, window = read_nsa(p)
    if block != power_of_two(block):
        raise Unsupported("only blocks of 16, 32, 64, ... keys")
    if max(s * h, s * hkv) * d >= 2**31 or b * hkv > 65535:
        raise Unsupported("offsets beyond 32 bits")
    t = p["dtype"]
    tensors = [
        ("Q", "Q", t),
        ("K", "K", t),
        ("V", "V", t),
        ("blocks", "blocks", "i32"),
        ("O", "O", t),
    ]
    for most, warps, stages in NSA_TILES[target.kind]:
        keys = min(most, block)
        constants = dict(
            D=d,
            GROUP=h // hkv,
            ROWS=max(16, power_of_two(h // hkv)),
            BLOCK=block,
            SELECTED=selected,
            BLOCK_N=keys,
            CAUSAL=p["causal"] == "1",
            WINDOW=window > 0,
        )
        yield "keys%d-w%d-s%d" % (keys, warps, stages), Call(
            "nsa",
            tensors,
            dict(H=h, HKV=hkv, S=s, window=window, scale=scale),
            constants,
            (s, b * hkv, 1),
            dict(num_warps=warps, num_stages=stages),
        )


# ---- the parameters of a configuration ----


def gemm_parameters(call, kind):
    special = {"split_k": call.constants.get("SPLIT", 1)}
    if kind == "cuda":
        special["persistent"] = int(call.kernel == "gemm_persistent")
        special["warp_specialize"] = int(call.constants.get("SPECIALIZE", False))
    return ("BLOCK_M", "BLOCK_N", "BLOCK_K"), special


def attention_parameters(call, kind):
    special = {}
    if kind == "cuda":
        special["tma"] = int(call.kernel == "attention_tma")
        special["warp_specialize"] = int(call.constants.get("SPECIALIZE", False))
    return ("BLOCK_M", "BLOCK_N"), special


PARAMETERS = {
    "gemm": gemm_parameters,
    "gemm_split": gemm_parameters,
    "gemm_persistent": gemm_parameters,
    "attention": attention_parameters,
    "attention_tma": attention_parameters,
    "attention_backward": lambda call, kind: (("LONG", "SHORT"), {}),
    "nsa": lambda call, kind: (("BLOCK_N",), {}),
}


def parameters(call, kind):
    """{name: number} of what the configurations of its problem differ in, the same names for all of
    them. waves_per_eu 0: the compiler chooses."""
    constants, special = PARAMETERS[call.kernel](call, kind)
    out = {name.lower(): call.constants[name] for name in constants}
    out.update(num_warps=call.options["num_warps"], num_stages=call.options["num_stages"])
    if kind == "hip":
        out["waves_per_eu"] = call.options.get("waves_per_eu", 0)
    return dict(out, **special)


def calls(problem, target, most):
    """At most `most` (configuration, Call), the best guess first, without kernels that this release
    cannot compile. Raises Unsupported."""

    def possible(make):
        return lambda p: (
            (name, call)
            for name, call in make(p, target)
            if target.version >= SINCE.get(call.kernel, (0,))
        )

    return choose_calls(
        problem,
        {"gemm": possible(gemm), "attention": possible(attention), "nsa": possible(nsa)},
        most,
    )
