"""Problems in the tracker's canonical form -> programs of IREE (MLIR, dialects linalg and
iree_linalg_ext)."""

import math

from package import Unsupported, find_kernel

FLOATS = ("f32", "f16", "bf16")


class Program:
    """`tensors`: names of the problem's tensors in the order of the function's arguments, its
    result last. `text(tiles, version)` is the source; `tiles`: an attribute of the main operation,
    or ""."""

    def __init__(self, tensors, text):
        self.tensors, self.text = tensors, text


def tensor(*shape):
    """tensor("f32", 2, 3) -> "tensor<2x3xf32>"."""
    return "tensor<%s%s>" % ("".join("%dx" % side for side in shape[1:]), shape[0])


# ---- GEMM ----

PRODUCT = """  %%p = linalg.generic {indexing_maps = [affine_map<(%(d)sm, n, k) -> (%(d)s%(a)s)>,
      affine_map<(%(d)sm, n, k) -> (%(d)s%(b)s)>, affine_map<(%(d)sm, n, k) -> (%(d)sm, n)>],
      iterator_types = [%(batch)s"parallel", "parallel", "reduction"]%(tiles)s}
    ins(%%a, %%b : %(A)s, %(B)s) outs(%%z : %(S)s) {
    ^bb0(%%x: %(in)s, %%y: %(in)s, %%s: f32):
%(multiply)s      linalg.yield %%sum : f32
  } -> %(S)s
"""
MULTIPLY = """      %t = arith.mulf %x, %y : f32
      %sum = arith.addf %s, %t : f32
"""
WIDEN = """      %%u = arith.extf %%x : %s to f32
      %%v = arith.extf %%y : %s to f32
"""
NARROW = """  %%o = tensor.empty() : %(C)s
  %%r = linalg.generic {indexing_maps = [affine_map<(%(i)s) -> (%(i)s)>,
      affine_map<(%(i)s) -> (%(i)s)>], iterator_types = [%(parallel)s]}
    ins(%%p : %(S)s) outs(%%o : %(C)s) {
    ^bb0(%%x: f32, %%y: %(c)s):
      %%t = arith.truncf %%x : f32 to %(c)s
      linalg.yield %%t : %(c)s
  } -> %(C)s
"""


def gemm_text(p, m, n, k, batch, tiles):
    kind, c = p["a"], p["c"]
    ta, tb = p["ta"] == "t", p["tb"] == "t"
    lead = (batch,) if batch > 1 else ()
    w = {
        "A": tensor(kind, *lead, *((k, m) if ta else (m, k))),
        "B": tensor(kind, *lead, *((n, k) if tb else (k, n))),
        "S": tensor("f32", *lead, m, n),
        "C": tensor(c, *lead, m, n),
        "in": kind,
        "c": c,
        "d": "b, " if lead else "",
        "batch": '"parallel", ' if lead else "",
        "a": "k, m" if ta else "m, k",
        "b": "n, k" if tb else "k, n",
        "tiles": ", " + tiles if tiles else "",
        "i": "i, j, l" if lead else "i, j",
        "parallel": ", ".join(['"parallel"'] * (2 + len(lead))),
    }
    multiply = (
        MULTIPLY if kind == "f32" else WIDEN % (kind, kind) + MULTIPLY.replace("%x, %y", "%u, %v")
    )
    text = (
        "func.func @f(%%a: %(A)s, %%b: %(B)s) -> %(C)s {\n"
        "  %%zero = arith.constant 0.0 : f32\n  %%e = tensor.empty() : %(S)s\n"
        "  %%z = linalg.fill ins(%%zero : f32) outs(%%e : %(S)s) -> %(S)s\n" % w
    )
    if (
        not lead and not ta and not tb
    ):  # the operation that most programs have; the generic form is equal to it
        text += "  %%p = linalg.matmul %s ins(%%a, %%b : %s, %s) outs(%%z : %s) -> %s\n" % (
            "{%s}" % tiles if tiles else "",
            w["A"],
            w["B"],
            w["S"],
            w["S"],
        )
    else:
        text += PRODUCT % dict(w, multiply=multiply)
    if c == "f32":
        return text + "  return %%p : %s\n}\n" % w["S"]
    return text + NARROW % w + "  return %%r : %s\n}\n" % w["C"]


def gemm(p):
    m, n, k, batch = (int(p.get(key, 1)) for key in ("m", "n", "k", "batch"))
    if (
        p.get("acc", "f32") != "f32"
        or p["a"] != p["b"]
        or p["a"] not in FLOATS
        or p["c"] not in FLOATS
    ):
        raise Unsupported("only f32, f16 and bf16, the same for A and B, and sums in f32")
    return Program(["A", "B", "C"], lambda tiles, version: gemm_text(p, m, n, k, batch, tiles))


# ---- attention ----

ATTENTION = """func.func @f(%%q: %(Q)s, %%k: %(K)s, %%v: %(K)s) -> %(Q)s {
  %%scale = arith.constant %(scale)s : %(t)s
  %%g = tensor.expand_shape %%q [[0], [1], [2, 3], [4]] output_shape [%(groups)s]
      : %(Q)s into %(G)s
  %%e = tensor.empty() : %(G)s
%(make_mask)s  %%o = iree_linalg_ext.attention %(open)s{indexing_maps = [
      affine_map<(b, h, g, m, n, d, s) -> (b, m, h, g, d)>,
      affine_map<(b, h, g, m, n, d, s) -> (b, s, h, d)>,
      affine_map<(b, h, g, m, n, d, s) -> (b, s, h, n)>,
      affine_map<(b, h, g, m, n, d, s) -> ()>,%(mask_map)s
      affine_map<(b, h, g, m, n, d, s) -> (b, m, h, g, n)>]}%(close)s
    ins(%%g, %%k, %%v, %%scale%(mask)s : %(G)s, %(K)s, %(K)s, %(t)s%(mask_type)s)
    outs(%%e : %(G)s) {
    ^bb0(%%x: f32):
      iree_linalg_ext.yield %%x : f32
  } -> %(G)s
  %%r = tensor.collapse_shape %%o [[0], [1], [2, 3], [4]] : %(G)s into %(Q)s
  return %%r : %(Q)s
}
"""
# Query i sees keys up to i + %(late)s.
MASK = """  %%c = tensor.empty() : %(M)s
  %%mask = linalg.generic {indexing_maps = [affine_map<(m, s) -> (m, s)>],
      iterator_types = ["parallel", "parallel"]} outs(%%c : %(M)s) {
    ^bb0(%%x: i1):
      %%i = linalg.index 0 : index
      %%j = linalg.index 1 : index
      %%late = arith.constant %(late)s : index
      %%last = arith.addi %%i, %%late : index
      %%y = arith.cmpi sle, %%j, %%last : index
      linalg.yield %%y : i1
  } -> %(M)s
"""


def mask_words(p, sq, skv):
    if p["causal"] == "0":
        return dict.fromkeys(("make_mask", "mask_map", "mask", "mask_type"), "")
    kind = tensor("i1", sq, skv)
    return {
        "make_mask": MASK % {"M": kind, "late": skv - sq},
        "mask_map": "\n      affine_map<(b, h, g, m, n, d, s) -> (m, s)>,",
        "mask": ", %mask",
        "mask_type": ", " + kind,
    }


def attention(p):
    b, h, hkv, sq, skv, d = (int(p[key]) for key in ("b", "h", "hkv", "sq", "skv", "d"))
    t, scale = p["dtype"], float(p.get("scale", 0)) or 1 / math.sqrt(d)
    if p["dir"] != "fwd" or t not in FLOATS or int(p.get("dv", d)) != d:
        raise Unsupported("only forward, f32, f16 and bf16")
    if p["causal"] != "0" and skv < sq:
        raise Unsupported("a causal mask that leaves queries without keys")
    groups = (b, sq, hkv, h // hkv, d)
    words = {
        "Q": tensor(t, b, sq, h, d),
        "K": tensor(t, b, skv, hkv, d),
        "G": tensor(t, *groups),
        "groups": ", ".join(map(str, groups)),
        "scale": "%.9e" % scale,
        "t": t,
        **mask_words(p, sq, skv),
    }

    def text(tiles, version):
        properties = (
            ("<", ">") if version >= (3, 13) else ("", "")
        )  # the operation's syntax changed
        return ATTENTION % dict(words, open=properties[0], close=properties[1])

    return Program(["Q", "K", "V", "O"], text)


def program(problem):
    """Raises Unsupported."""
    make, p = find_kernel(problem, {"gemm": gemm, "attention": attention})
    return make(p)
