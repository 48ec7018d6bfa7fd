"""Which problems the kernels solve, and with which tiles: problem in the tracker's canonical form -> calls of the kernels."""
import math

from package import Unsupported, parse_problem

OPERAND_TYPES = ("f16", "bf16", "e4m3", "e5m2", "f32", "tf32")


class Call:
    """A kernel with everything that its launch needs. `tensors`: (argument, tensor of the problem, type); `values`: {argument: number}."""

    def __init__(self, kernel, tensors, values, constants, grid, options):
        self.kernel, self.tensors, self.values = kernel, tensors, values
        self.constants, self.grid, self.options = constants, grid, options


def ceil_div(a, b):
    return -(-a // b)


# ---- GEMM ----

# BLOCK_M, BLOCK_N, BLOCK_K in bytes of the operands, warps, stages: the best guess first.
GEMM_TILES = {
    "cuda": [(128, 256, 128, 8, 3), (128, 128, 128, 4, 4), (64, 128, 128, 4, 4), (64, 64, 128, 4, 5), (16, 64, 256, 4, 4)],
    "hip": [(128, 128, 128, 8, 2), (256, 128, 128, 8, 2), (64, 64, 128, 4, 2), (16, 64, 256, 4, 2)],
}


def waste(tile, m, n, units):
    """The time of a tiling as a multiple of perfect use of the chip: idle units in the last round, rows and columns that do not exist. Small tiles
    load more for each product."""
    tiles = ceil_div(m, tile[0]) * ceil_div(n, tile[1])
    rounds = ceil_div(tiles, units)
    return rounds * units * tile[0] * tile[1] / (m * n) * (1 + 24 / tile[0] + 24 / tile[1])


def gemm(p, target):
    m, n, k, batch = (int(p.get(key, 1)) for key in ("m", "n", "k", "batch"))
    a, b, c = p["a"], p["b"], p["c"]
    if p.get("acc", "f32") != "f32" or a not in OPERAND_TYPES or b not in OPERAND_TYPES or c not in ("f16", "bf16", "f32"):
        raise Unsupported("the types of this product")
    if a != b and not (a[0] == b[0] == "e"):
        raise Unsupported("two different types")
    if max(m * k, k * n, m * n) >= 2**31:
        raise Unsupported("offsets beyond 32 bits")
    if target.kind == "hip" and (a[0] == "e" or a == "tf32"):
        raise Unsupported("8-bit floats and tf32 on AMD")
    wide = 4 if a in ("f32", "tf32") else 1 if a[0] == "e" else 2
    ta, tb = p["ta"] == "t", p["tb"] == "t"
    strides = dict(stride_ab=m * k, stride_am=1 if ta else k, stride_ak=m if ta else 1,
                   stride_bb=k * n, stride_bk=1 if tb else n, stride_bn=k if tb else 1)
    tiles = [t for t in GEMM_TILES[target.kind] if a != "f32" or t[0] * t[1] <= 128 * 128]
    for t in sorted(tiles, key=lambda t: waste(t, m, n * batch, target.units)):
        block_k = max(t[2] // wide, 16)
        constants = dict(BLOCK_M=t[0], BLOCK_N=t[1], BLOCK_K=block_k, GROUP_M=8, EVEN_K=k % block_k == 0,
                         PRECISION="ieee" if a == "f32" else "tf32")
        yield "%dx%dx%d-w%d-s%d" % (t[0], t[1], block_k, t[3], t[4]), Call(
            "gemm", [("A", "A", a), ("B", "B", b), ("C", "C", c)], dict(M=m, N=n, K=k, **strides), constants,
            (ceil_div(m, t[0]) * ceil_div(n, t[1]), batch, 1), dict(num_warps=t[3], num_stages=t[4]))


# ---- attention ----

# BLOCK_M, BLOCK_N, warps, stages by the width of a head: the best guess first.
ATTENTION_TILES = {
    "cuda": {64: [(128, 64, 4, 3), (128, 128, 8, 3)], 128: [(128, 64, 8, 3), (128, 64, 8, 2), (128, 128, 8, 2)],
             256: [(128, 64, 8, 2), (64, 64, 4, 2)]},
    "hip": {64: [(128, 64, 4, 1)], 128: [(128, 64, 4, 1)], 256: [(64, 64, 4, 1)]},
}


def attention(p, target):
    b, h, hkv, sq, skv, d = (int(p[key]) for key in ("b", "h", "hkv", "sq", "skv", "d"))
    scale = float(p.get("scale", 0)) or 1 / math.sqrt(d)
    if p["dir"] != "fwd" or p["dtype"] not in ("f16", "bf16") or int(p.get("dv", d)) != d or d not in (64, 128, 256):
        raise Unsupported("only forward, f16 and bf16, heads of 64, 128 and 256")
    if scale <= 0 or max(b * sq * h, b * skv * hkv) * d >= 2**40 or skv * hkv * d >= 2**31:
        raise Unsupported("a negative scale, or offsets beyond 32 bits")
    t = p["dtype"]
    tensors = [("Q", "Q", t), ("K", "K", t), ("V", "V", t), ("O", "O", t), ("LSE", "lse", "f32")]
    for rows, keys, warps, stages in ATTENTION_TILES[target.kind][d]:
        yield "%dx%d-w%d-s%d" % (rows, keys, warps, stages), Call(
            "attention", tensors, dict(H=h, HKV=hkv, SQ=sq, SKV=skv, scale=scale),
            dict(D=d, BLOCK_M=rows, BLOCK_N=keys, CAUSAL=p["causal"] == "1"),
            (ceil_div(sq, rows), b * h, 1), dict(num_warps=warps, num_stages=stages))


def calls(problem, target, most):
    """At most `most` (configuration, Call), the best guess first. Raises Unsupported."""
    op, p = parse_problem(problem)
    make = {"gemm": gemm, "attention": attention}.get(op)
    if not make:
        raise Unsupported("only gemm and attention")
    return [call for call, _ in zip(make(p, target), range(most))]
