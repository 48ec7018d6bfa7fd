"""Attention, forward."""

import triton
import triton.language as tl
from kernels_common import LOG2_E


@triton.jit
def attend(
    total,
    weight,
    top,
    q,
    keys,
    values,
    m,
    n,
    start,
    end,
    visible,
    SKV,
    factor,
    stride,
    BLOCK_N: tl.constexpr,
    MASKED: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """Adds the keys from `start` to `end` to the running softmax. `visible`: how many keys query 0
    sees more than one, when causal."""
    for at in range(start, end, BLOCK_N):
        if MASKED:
            k = tl.load(keys + at * stride, mask=(at + n)[None, :] < SKV, other=0.0)
        else:
            k = tl.load(keys + at * stride)
        score = tl.dot(q, k)
        if MASKED:
            seen = (at + n)[None, :] < SKV
            if CAUSAL:
                seen = seen & ((at + n)[None, :] <= m[:, None] + visible)
            score = tl.where(seen, score, float("-inf"))
        highest = tl.maximum(top, tl.max(score, 1) * factor)  # never -inf: every query sees key 0
        p = tl.math.exp2(score * factor - highest[:, None])
        shrink = tl.math.exp2(top - highest)
        weight = weight * shrink + tl.sum(p, 1)
        total = total * shrink[:, None]
        if MASKED:
            v = tl.load(values + at * stride, mask=(at + n)[:, None] < SKV, other=0.0)
        else:
            v = tl.load(values + at * stride)
        total = tl.dot(p.to(v.dtype), v, total)
        top = highest
    return total, weight, top


@triton.jit
def attention(
    Q,
    K,
    V,
    O,
    LSE,
    H,
    HKV,
    SQ,
    SKV,
    scale,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    """O[b][sq][h][D] and LSE[b][h][sq]; the causal mask is aligned to the bottom right. `scale` is
    positive."""
    # The last rows see the most keys when causal: they start first.
    block = tl.num_programs(0) - 1 - tl.program_id(0)
    head = tl.program_id(1) % H
    batch = (tl.program_id(1) // H).to(tl.int64)
    kv_head = head // (H // HKV)
    m = block * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    stride = HKV * D
    q_at = (batch * SQ + m)[:, None] * (H * D) + head * D + d[None, :]
    q = tl.load(Q + q_at, mask=m[:, None] < SQ, other=0.0)
    keys = K + (batch * SKV + n)[None, :] * stride + kv_head * D + d[:, None]
    values = V + (batch * SKV + n)[:, None] * stride + kv_head * D + d[None, :]
    total = tl.zeros((BLOCK_M, D), tl.float32)
    weight = tl.zeros((BLOCK_M,), tl.float32)
    top = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    factor = scale * LOG2_E

    visible = SKV - SQ
    end = SKV
    whole = SKV // BLOCK_N * BLOCK_N
    if CAUSAL:
        end = min(SKV, (block + 1) * BLOCK_M + visible)
        whole = min(whole, max(block * BLOCK_M + visible + 1, 0) // BLOCK_N * BLOCK_N)
    total, weight, top = attend(
        total,
        weight,
        top,
        q,
        keys,
        values,
        m,
        n,
        0,
        whole,
        visible,
        SKV,
        factor,
        stride,
        BLOCK_N,
        False,
        CAUSAL,
    )
    total, weight, top = attend(
        total,
        weight,
        top,
        q,
        keys,
        values,
        m,
        n,
        whole,
        end,
        visible,
        SKV,
        factor,
        stride,
        BLOCK_N,
        True,
        CAUSAL,
    )
    tl.store(O + q_at, (total / weight[:, None]).to(O.dtype.element_ty), mask=m[:, None] < SQ)
    lse = (top + tl.math.log2(weight)) * 0.6931471805599453
    tl.store(LSE + (batch * H + head) * SQ + m, lse, mask=m < SQ)


@triton.jit
def attend_tma(
    total,
    weight,
    top,
    q,
    keys,
    values,
    row,
    column,
    m,
    n,
    start,
    end,
    visible,
    SKV,
    factor,
    BLOCK_N: tl.constexpr,
    MASKED: tl.constexpr,
    CAUSAL: tl.constexpr,
    SPECIALIZE: tl.constexpr,
):
    """As `attend`; `row`, `column`: where key 0 begins in the descriptors."""
    for at in tl.range(start, end, BLOCK_N, warp_specialize=SPECIALIZE):
        score = tl.dot(q, keys.load([row + at, column]).T)
        if MASKED:
            seen = (at + n)[None, :] < SKV
            if CAUSAL:
                seen = seen & ((at + n)[None, :] <= m[:, None] + visible)
            score = tl.where(seen, score, float("-inf"))
        highest = tl.maximum(top, tl.max(score, 1) * factor)  # never -inf: every query sees key 0
        p = tl.math.exp2(score * factor - highest[:, None])
        shrink = tl.math.exp2(top - highest)
        weight = weight * shrink + tl.sum(p, 1)
        total = total * shrink[:, None]
        v = values.load([row + at, column])
        total = tl.dot(p.to(v.dtype), v, total)
        top = highest
    return total, weight, top


@triton.jit
def attention_tma(
    Q,
    K,
    V,
    O,
    LSE,
    H,
    HKV,
    SQ,
    SKV,
    rows_q,
    rows_kv,
    scale,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
    EVEN: tl.constexpr,
    SPECIALIZE: tl.constexpr,
):
    """As `attention`, by TMA. EVEN: SKV is a multiple of BLOCK_N. A tensor is a matrix of rows_q or
    rows_kv rows, a head D of its columns: a block at the end of a batch reads rows of the next,
    which the mask hides."""
    block = tl.num_programs(0) - 1 - tl.program_id(0)
    head = tl.program_id(1) % H
    batch = tl.program_id(1) // H
    m = block * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    queries = tl.make_tensor_descriptor(Q, [rows_q, H * D], [H * D, 1], [BLOCK_M, D])
    keys = tl.make_tensor_descriptor(K, [rows_kv, HKV * D], [HKV * D, 1], [BLOCK_N, D])
    values = tl.make_tensor_descriptor(V, [rows_kv, HKV * D], [HKV * D, 1], [BLOCK_N, D])
    column = head // (H // HKV) * D
    q = queries.load([batch * SQ + block * BLOCK_M, head * D])
    total = tl.zeros((BLOCK_M, D), tl.float32)
    weight = tl.zeros((BLOCK_M,), tl.float32)
    top = tl.full((BLOCK_M,), float("-inf"), tl.float32)

    visible = SKV - SQ
    end = SKV
    if CAUSAL:
        end = min(SKV, (block + 1) * BLOCK_M + visible)
    whole = 0
    if (
        not SPECIALIZE
    ):  # Triton gives loads a warp of their own in one loop only: then all blocks are masked
        whole = end // BLOCK_N * BLOCK_N
        if CAUSAL:
            whole = min(SKV, max(block * BLOCK_M + visible + 1, 0)) // BLOCK_N * BLOCK_N
        total, weight, top = attend_tma(
            total,
            weight,
            top,
            q,
            keys,
            values,
            batch * SKV,
            column,
            m,
            n,
            0,
            whole,
            visible,
            SKV,
            scale * LOG2_E,
            BLOCK_N,
            False,
            CAUSAL,
            False,
        )
    total, weight, top = attend_tma(
        total,
        weight,
        top,
        q,
        keys,
        values,
        batch * SKV,
        column,
        m,
        n,
        whole,
        end,
        visible,
        SKV,
        scale * LOG2_E,
        BLOCK_N,
        not EVEN or CAUSAL,
        CAUSAL,
        SPECIALIZE,
    )
    o = O + (batch.to(tl.int64) * SQ + m)[:, None] * (H * D) + head * D + tl.arange(0, D)[None, :]
    tl.store(o, (total / weight[:, None]).to(O.dtype.element_ty), mask=m[:, None] < SQ)
    lse = (top + tl.math.log2(weight)) / LOG2_E
    tl.store(LSE + (batch.to(tl.int64) * H + head) * SQ + m, lse, mask=m < SQ)
