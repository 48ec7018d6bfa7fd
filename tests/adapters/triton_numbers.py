#!/usr/bin/env python3
"""The numbers of the kernels of kernels/adapters/triton: every configuration of small problems,
executed by Triton's interpreter on the CPU, beside the definitions of tracker_abi.h in f64. Needs
triton and numpy; exits with 77 where they are not installed.

  tests/adapters/triton_numbers.py [PROBLEM ...]"""

import os
import sys

os.environ["TRITON_INTERPRET"] = "1"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [
    os.path.join(ROOT, "kernels", "launcher"),
    os.path.join(ROOT, "kernels", "adapters", "triton"),
]
sys.dont_write_bytecode = True
try:
    import numpy as np
    import triton
    import triton.language as tl
    from triton.runtime import interpreter
except ImportError as error:
    print("skipped: %s" % error)
    sys.exit(77)

import kernels  # noqa: E402
import problems  # noqa: E402
from package import parse_problem  # noqa: E402

# Memory is the host's already.
interpreter.GridExecutor._init_args_hst = lambda self, args, kwargs: (args, kwargs)
interpreter.GridExecutor._restore_args_dev = lambda self, *args: None

calculate = interpreter.InterpreterBuilder.binary_op


def calculate_with_type(self, a, b, op):
    """The interpreter gives a comparison the type of its operands: as a scalar that is broadcast to
    a mask it would become integers, which numpy does not take as a mask."""
    result = calculate(self, a, b, op)
    if result.data.dtype == np.bool_:
        result.dtype = tl.int1
    return result


interpreter.InterpreterBuilder.binary_op = calculate_with_type

# The interpreter multiplies the bits of bf16 as integers, so f16 stands for it.
PROBLEMS = [
    "gemm:a=f16,b=f16,c=f16,m=160,n=144,k=200,ta=n,tb=n",
    "gemm:a=f16,b=f16,c=f16,m=136,n=264,k=128,ta=t,tb=t",
    "gemm:a=f16,b=f16,c=f32,m=130,n=70,k=66,ta=n,tb=t,batch=2",
    "gemm:a=f16,b=f16,c=f16,m=16,n=72,k=4096,ta=n,tb=t",
    "gemm:a=f16,b=f16,c=f16,m=5,n=64,k=2050,ta=n,tb=n",
    "gemm:a=e4m3,b=e4m3,c=f16,m=144,n=160,k=256,ta=n,tb=t",
    "attention:b=2,h=4,hkv=2,sq=80,skv=150,d=64,dtype=f16,causal=1,dir=fwd",
    "attention:b=2,h=2,hkv=2,sq=130,skv=100,d=64,dtype=f16,causal=0,dir=fwd",
    "attention:b=1,h=2,hkv=1,sq=256,skv=256,d=128,dtype=f16,causal=1,dir=fwd,scale=0.2",
    "attention:b=2,h=4,hkv=2,sq=80,skv=150,d=64,dtype=f16,causal=1,dir=bwd",
    "attention:b=1,h=2,hkv=2,sq=256,skv=256,d=64,dtype=f16,causal=1,dir=bwd",
    "attention:b=1,h=2,hkv=1,sq=140,skv=300,d=64,dtype=f16,causal=0,dir=bwd,scale=0.2",
    "attention:b=1,h=1,hkv=1,sq=128,skv=256,d=128,dtype=f16,causal=1,dir=bwd",
    "nsa:b=2,h=8,hkv=2,s=50,d=64,dtype=f16,causal=1,block_size=16,selected_blocks=3,window=0",
    "nsa:b=1,h=20,hkv=1,s=40,d=64,dtype=f16,causal=1,block_size=32,selected_blocks=2,window=11",
    "nsa:b=1,h=32,hkv=2,s=136,d=128,dtype=f16,causal=0,block_size=128,selected_blocks=1,window=70",
]
TYPES = {
    "f16": (np.float16, tl.float16),
    "f32": (np.float32, tl.float32),
    "e4m3": (np.uint8, tl.float8e4nv),
    "i32": (np.int32, tl.int32),
}


class Target:
    """A card of few multiprocessors, so that small problems have more tiles than it."""

    version = (99, 0)

    def __init__(self, kind):
        self.kind, self.units = kind, 3 if kind == "cuda" else 16


class Pointer:
    """What the interpreter asks of a tensor."""

    def __init__(self, array, dtype):
        self.array, self.dtype = array, TYPES[dtype][1]

    def data_ptr(self):
        return self.array.ctypes.data


def aligned(shape, dtype):
    """NaN (or a large number) everywhere: what a kernel forgets to write shows."""
    kind = np.dtype(TYPES[dtype][0])
    size = int(np.prod(shape)) * kind.itemsize
    memory = np.full(size + 64, 0xFF, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(kind).reshape(shape)


def fill(random, shape, dtype):
    """An array, and its numbers in f64."""
    array = aligned(shape, dtype)
    if dtype == "e4m3":
        array[...] = (
            random.integers(0x20, 0x40, shape) | random.integers(0, 2, shape) << 7
        )  # 2^-3 to below 2
        exponent, fraction = (array >> 3 & 15).astype(float), (array & 7).astype(float)
        return array, np.where(array >> 7, -1.0, 1.0) * 2.0 ** (exponent - 7) * (1 + fraction / 8)
    array[...] = random.standard_normal(shape)
    return array, array.astype(np.float64)


def gemm(p, random):
    m, n, k, batch = (int(p.get(x, 1)) for x in ("m", "n", "k", "batch"))
    a, x = fill(random, (batch, k, m) if p["ta"] == "t" else (batch, m, k), p["a"])
    b, y = fill(random, (batch, n, k) if p["tb"] == "t" else (batch, k, n), p["b"])
    product = (x.swapaxes(1, 2) if p["ta"] == "t" else x) @ (
        y.swapaxes(1, 2) if p["tb"] == "t" else y
    )
    return {"A": a, "B": b, "C": aligned((batch, m, n), p["c"])}, {"C": product}


def softmax(score):
    top = score.max(-1, keepdims=True)
    lse = top + np.log(np.exp(score - top).sum(-1, keepdims=True))
    return np.exp(score - lse), lse[..., 0]


def attention(p, random):
    b, h, hkv, sq, skv, d = (int(p[x]) for x in ("b", "h", "hkv", "sq", "skv", "d"))
    scale = float(p.get("scale", 0)) or d**-0.5
    tensors, numbers = {}, {}
    for name, shape in (
        ("Q", (b, sq, h, d)),
        ("K", (b, skv, hkv, d)),
        ("V", (b, skv, hkv, d)),
        ("dO", (b, sq, h, d)),
    ):
        tensors[name], numbers[name] = fill(random, shape, "f16")
    q, k, v, do = (
        numbers[x] if x in ("Q", "dO") else numbers[x].repeat(h // hkv, 2)
        for x in ("Q", "K", "V", "dO")
    )
    score = np.einsum("bihd,bjhd->bhij", q, k) * scale
    if p["causal"] == "1":
        score[..., np.arange(skv) > np.arange(sq)[:, None] + skv - sq] = -np.inf
    weight, lse = softmax(score)
    o = np.einsum("bhij,bjhd->bihd", weight, v)
    tensors["O"], tensors["lse"] = aligned((b, sq, h, d), "f16"), aligned((b, h, sq), "f32")
    if p["dir"] == "fwd":
        return tensors, {"O": o, "lse": lse}
    tensors["O"][...], tensors["lse"][...] = o, lse
    d_weight = np.einsum("bihd,bjhd->bhij", do, v)
    d_score = weight * (d_weight - np.einsum("bihd,bihd->bhi", do, o)[..., None])

    def grouped(x):
        return x.reshape(b, skv, hkv, h // hkv, d).sum(3)

    expected = {
        "dQ": scale * np.einsum("bhij,bjhd->bihd", d_score, k),
        "dK": grouped(scale * np.einsum("bhij,bihd->bjhd", d_score, q)),
        "dV": grouped(np.einsum("bhij,bihd->bjhd", weight, do)),
    }
    tensors.update({name: aligned(x.shape, "f16") for name, x in expected.items()})
    return tensors, expected


def choose_blocks(random, token, size, count, s, causal):
    """A list as verification makes it: different blocks with a key that the token sees, -1 for the
    others."""
    seen = (token // size if causal else (s - 1) // size) + 1
    chosen = random.permutation(seen)[:count]
    return np.concatenate([chosen, np.full(count - len(chosen), -1)])


def nsa(p, random):
    b, h, hkv, s, d, size, count, window = (
        int(p[x]) for x in ("b", "h", "hkv", "s", "d", "block_size", "selected_blocks", "window")
    )
    causal = p["causal"] == "1"
    tensors, numbers = {}, {}
    for name, heads in (("Q", h), ("K", hkv), ("V", hkv)):
        tensors[name], numbers[name] = fill(random, (b, s, heads, d), "f16")
    blocks = aligned((b, s, hkv, count), "i32")
    out = np.zeros((b, s, h, d))
    for i, token, g in np.ndindex(b, s, hkv):
        blocks[i, token, g] = listed = choose_blocks(random, token, size, count, s, causal)
        if token == s // 2:
            blocks[i, token, g] = listed = np.full(count, -1)  # sees nothing
        keys = [
            j
            for x in listed
            if x >= 0
            for j in range(x * size, min((x + 1) * size, token + 1 if causal else s))
        ]
        heads = slice(g * (h // hkv), (g + 1) * (h // hkv))
        for seen in (keys, list(range(max(token + 1 - window, 0), token + 1)) if window else []):
            if seen:
                weight, _ = softmax(
                    numbers["Q"][i, token, heads] @ numbers["K"][i, seen, g].T * d**-0.5
                )
                out[i, token, heads] += weight @ numbers["V"][i, seen, g]
    tensors.update(blocks=blocks, O=aligned(out.shape, "f16"))
    return tensors, {"O": out}


def run(call, tensors):
    kernel = getattr(kernels, call.kernel)
    given = {name: Pointer(tensors[tensor], dtype) for name, tensor, dtype in call.tensors}
    given.update(
        {name: Pointer(aligned((size // 4,), "f32"), "f32") for name, size in call.scratch.items()}
    )
    for grid, values in call.launches():
        kernel[grid](
            **{n: given.get(n, values.get(n, call.constants.get(n))) for n in kernel.arg_names}
        )


def check(text, kind):
    op, p = parse_problem(text)
    tensors, expected = {"gemm": gemm, "attention": attention, "nsa": nsa}[op](
        p, np.random.default_rng(1)
    )
    wrong, done = 0, []
    for name, call in problems.calls(text, Target(kind), 99):
        same = (
            call.kernel,
            call.constants,
            call.launches(),
        )  # but for warps and stages, which the interpreter does not have
        if same in done:
            continue
        done.append(same)
        for output in expected:
            tensors[output].view(np.uint8)[...] = 0xFF
        run(call, tensors)
        worst = {
            x: float(np.abs(tensors[x] - expected[x]).max() / np.abs(expected[x]).max())
            for x in expected
        }
        good = all(x < 3e-3 for x in worst.values())  # f16 rounds by 2^-11; not so for NaN
        wrong += not good
        print(
            "%s %s %s: %s %s"
            % (
                "ok" if good else "WRONG",
                kind,
                text,
                name,
                {x: "%.1e" % e for x, e in worst.items()},
            ),
            flush=True,
        )
    return wrong


def main():
    wrong = sum(
        check(text, kind)
        for text in sys.argv[1:] or PROBLEMS
        for kind in ("cuda", "hip")
        if kind == "cuda" or "e4m3" not in text
    )
    sys.exit("%d configurations are wrong" % wrong if wrong else 0)


if __name__ == "__main__":
    main()
