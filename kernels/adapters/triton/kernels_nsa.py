"""Native sparse attention."""

import triton
import triton.language as tl
from kernels_common import LOG2_E

LOWEST = tl.constexpr(-1e30)  # below every score, and finite: a row may see no key at all


@triton.jit
def attend_keys(total, weight, top, q, keys, values, n, seen, factor, stride):
    """Adds the keys `n` that are `seen` to the running softmax."""
    k = tl.load(keys + n[None, :] * stride, mask=seen[None, :], other=0.0)
    v = tl.load(values + n[:, None] * stride, mask=seen[:, None], other=0.0)
    score = tl.where(seen[None, :], tl.dot(q, k) * factor, float("-inf"))
    highest = tl.maximum(top, tl.max(score, 1))
    p = tl.math.exp2(score - highest[:, None])
    shrink = tl.math.exp2(top - highest)
    return (
        tl.dot(p.to(v.dtype), v, total * shrink[:, None]),
        weight * shrink + tl.sum(p, 1),
        highest,
    )


@triton.jit
def nsa(
    Q,
    K,
    V,
    blocks,
    O,
    H,
    HKV,
    S,
    window,
    scale,
    D: tl.constexpr,
    GROUP: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    SELECTED: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
):
    """Program (token, batch and kv head): the GROUP query heads of a token, padded to ROWS, attend
    to its list of blocks of BLOCK keys, BLOCK_N keys at a time, -1 = none; with WINDOW also to the
    last `window` keys. The outputs of both branches are added.
    """
    token = tl.program_id(0)
    kv_head = tl.program_id(1) % HKV
    batch = (tl.program_id(1) // HKV).to(tl.int64)
    h = tl.arange(0, ROWS)
    d = tl.arange(0, D)
    n = tl.arange(0, BLOCK_N)
    at = (batch * S + token) * (H * D) + (kv_head * GROUP + h)[:, None] * D + d[None, :]
    q = tl.load(Q + at, mask=h[:, None] < GROUP, other=0.0)
    stride = HKV * D
    keys = K + batch * S * stride + kv_head * D + d[:, None]
    values = V + batch * S * stride + kv_head * D + d[None, :]
    factor = scale * LOG2_E
    listed = blocks + ((batch * S + token) * HKV + kv_head) * SELECTED
    end = S
    if CAUSAL:
        end = token + 1

    total = tl.zeros((ROWS, D), tl.float32)
    weight = tl.zeros((ROWS,), tl.float32)
    top = tl.full((ROWS,), LOWEST, tl.float32)
    for step in range(SELECTED * (BLOCK // BLOCK_N)):
        block = tl.load(listed + step // (BLOCK // BLOCK_N))
        key = block * BLOCK + step % (BLOCK // BLOCK_N) * BLOCK_N + n
        total, weight, top = attend_keys(
            total, weight, top, q, keys, values, key, (block >= 0) & (key < end), factor, stride
        )
    result = tl.where(weight[:, None] > 0, total / weight[:, None], 0.0)
    if WINDOW:
        total = tl.zeros((ROWS, D), tl.float32)
        weight = tl.zeros((ROWS,), tl.float32)
        top = tl.full((ROWS,), LOWEST, tl.float32)
        for first in range(max(token + 1 - window, 0), token + 1, BLOCK_N):
            total, weight, top = attend_keys(
                total, weight, top, q, keys, values, first + n, first + n <= token, factor, stride
            )
        result += total / weight[:, None]
    tl.store(O + at, result.to(O.dtype.element_ty), mask=h[:, None] < GROUP)
