"""Attention, backward.

P = exp(scale q k' - lse), dP = dO v', delta = dO o', dS = P (dP - delta);
dQ = scale dS k, dK = scale dS' q, dV = P' dO.
"""

import triton
import triton.language as tl
from kernels_common import LOG2_E


@triton.jit
def load_rows(base, rows, stride, limit, D: tl.constexpr, EVEN: tl.constexpr):
    """The vectors of D elements at `rows`; those from `limit` on are 0."""
    at = base + rows[:, None] * stride + tl.arange(0, D)[None, :]
    if EVEN:
        return tl.load(at)
    else:
        return tl.load(at, mask=rows[:, None] < limit, other=0.0)


@triton.jit
def key_gradients(
    dk,
    dv,
    k,
    v,
    q_base,
    do_base,
    lse_base,
    delta_base,
    n,
    start,
    end,
    visible,
    SQ,
    SKV,
    factor,
    stride,
    D: tl.constexpr,
    BLOCK_M: tl.constexpr,
    MASKED: tl.constexpr,
    CAUSAL: tl.constexpr,
    EVEN: tl.constexpr,
):
    """Adds the queries from `start` to `end` to the gradients of the keys `n` and their values."""
    for at in range(start, end, BLOCK_M):
        m = at + tl.arange(0, BLOCK_M)
        q = load_rows(q_base, m, stride, SQ, D, EVEN)
        do = load_rows(do_base, m, stride, SQ, D, EVEN)
        lse = tl.load(lse_base + m, mask=m < SQ, other=float("inf")) * LOG2_E
        p = tl.math.exp2(tl.dot(k, tl.trans(q)) * factor - lse[None, :])
        if MASKED and CAUSAL:
            p = tl.where(n[:, None] <= m[None, :] + visible, p, 0.0)
        dv = tl.dot(p.to(do.dtype), do, dv)
        delta = tl.load(delta_base + m, mask=m < SQ, other=0.0)
        ds = p * (tl.dot(v, tl.trans(do)) - delta[None, :])
        dk = tl.dot(ds.to(q.dtype), q, dk)
    return dk, dv


@triton.jit
def query_gradient(
    dq,
    q,
    do,
    lse,
    delta,
    k_base,
    v_base,
    m,
    start,
    end,
    visible,
    SKV,
    factor,
    stride,
    D: tl.constexpr,
    BLOCK_N: tl.constexpr,
    MASKED: tl.constexpr,
    CAUSAL: tl.constexpr,
    EVEN: tl.constexpr,
):
    """Adds the keys from `start` to `end` to the gradient of the queries `m`."""
    for at in range(start, end, BLOCK_N):
        n = at + tl.arange(0, BLOCK_N)
        k = load_rows(k_base, n, stride, SKV, D, EVEN or not MASKED)
        v = load_rows(v_base, n, stride, SKV, D, EVEN or not MASKED)
        p = tl.math.exp2(tl.dot(q, tl.trans(k)) * factor - lse[:, None])
        if MASKED:
            seen = n[None, :] < SKV
            if CAUSAL:
                seen = seen & (n[None, :] <= m[:, None] + visible)
            p = tl.where(seen, p, 0.0)
        ds = p * (tl.dot(do, tl.trans(v)) - delta[:, None])
        dq = tl.dot(ds.to(k.dtype), k, dq)
    return dq


@triton.jit(do_not_specialize=["phase"])
def attention_backward(
    Q,
    K,
    V,
    O,
    LSE,
    DO,
    DQ,
    DK,
    DV,
    DELTA,
    H,
    HKV,
    SQ,
    SKV,
    scale,
    phase,
    D: tl.constexpr,
    LONG: tl.constexpr,
    SHORT: tl.constexpr,
    CAUSAL: tl.constexpr,
    EVEN: tl.constexpr,
):
    """Phase 0: DELTA[b][h][sq]; 1: DK and DV, a program has LONG keys of a kv head and goes through
    its queries SHORT at a time; 2: DQ, a program has LONG queries of a head and goes through their
    keys."""
    d = tl.arange(0, D)
    factor = scale * LOG2_E
    visible = SKV - SQ
    if phase == 1:
        kv_head = tl.program_id(1) % HKV
        batch = (tl.program_id(1) // HKV).to(tl.int64)
        first = tl.program_id(0) * LONG
        n = first + tl.arange(0, LONG)
        kv_base = batch * SKV * HKV * D + kv_head * D
        k = load_rows(K + kv_base, n, HKV * D, SKV, D, EVEN)
        v = load_rows(V + kv_base, n, HKV * D, SKV, D, EVEN)
        dk = tl.zeros((LONG, D), tl.float32)
        dv = tl.zeros((LONG, D), tl.float32)
        start = 0
        whole = 0  # from here on, every query sees every key of the block
        if CAUSAL:
            start = max(first - visible, 0) // SHORT * SHORT
            whole = min(
                max(tl.cdiv(first + LONG - 1 - visible, SHORT) * SHORT, start),
                tl.cdiv(SQ, SHORT) * SHORT,
            )
        for head in range(kv_head * (H // HKV), (kv_head + 1) * (H // HKV)):
            q_base = batch * SQ * H * D + head * D
            row = (batch * H + head) * SQ
            if CAUSAL:
                dk, dv = key_gradients(
                    dk,
                    dv,
                    k,
                    v,
                    Q + q_base,
                    DO + q_base,
                    LSE + row,
                    DELTA + row,
                    n,
                    start,
                    whole,
                    visible,
                    SQ,
                    SKV,
                    factor,
                    H * D,
                    D,
                    SHORT,
                    True,
                    CAUSAL,
                    EVEN,
                )
            dk, dv = key_gradients(
                dk,
                dv,
                k,
                v,
                Q + q_base,
                DO + q_base,
                LSE + row,
                DELTA + row,
                n,
                whole,
                SQ,
                visible,
                SQ,
                SKV,
                factor,
                H * D,
                D,
                SHORT,
                False,
                CAUSAL,
                EVEN,
            )
        at = kv_base + n[:, None] * (HKV * D) + d[None, :]
        tl.store(DK + at, (dk * scale).to(DK.dtype.element_ty), mask=n[:, None] < SKV)
        tl.store(DV + at, dv.to(DV.dtype.element_ty), mask=n[:, None] < SKV)
    else:
        block = (
            tl.num_programs(0) - 1 - tl.program_id(0)
        )  # the last rows see the most keys when causal: they start first
        head = tl.program_id(1) % H
        batch = (tl.program_id(1) // H).to(tl.int64)
        m = block * LONG + tl.arange(0, LONG)
        q_base = batch * SQ * H * D + head * D
        row = (batch * H + head) * SQ + m
        do = load_rows(DO + q_base, m, H * D, SQ, D, EVEN)
        if phase == 0:
            o = load_rows(O + q_base, m, H * D, SQ, D, EVEN)
            tl.store(DELTA + row, tl.sum(o.to(tl.float32) * do.to(tl.float32), 1), mask=m < SQ)
        else:
            q = load_rows(Q + q_base, m, H * D, SQ, D, EVEN)
            lse = tl.load(LSE + row, mask=m < SQ, other=float("inf")) * LOG2_E
            delta = tl.load(DELTA + row, mask=m < SQ, other=0.0)
            kv_base = batch * SKV * HKV * D + head // (H // HKV) * D
            end = SKV
            whole = SKV // SHORT * SHORT
            if CAUSAL:
                end = min(SKV, (block + 1) * LONG + visible)
                whole = min(whole, max(block * LONG + visible + 1, 0) // SHORT * SHORT)
            dq = tl.zeros((LONG, D), tl.float32)
            dq = query_gradient(
                dq,
                q,
                do,
                lse,
                delta,
                K + kv_base,
                V + kv_base,
                m,
                0,
                whole,
                visible,
                SKV,
                factor,
                HKV * D,
                D,
                SHORT,
                False,
                CAUSAL,
                EVEN,
            )
            dq = query_gradient(
                dq,
                q,
                do,
                lse,
                delta,
                K + kv_base,
                V + kv_base,
                m,
                whole,
                end,
                visible,
                SKV,
                factor,
                HKV * D,
                D,
                SHORT,
                True,
                CAUSAL,
                EVEN,
            )
            tl.store(
                DQ + q_base + m[:, None] * (H * D) + d[None, :],
                (dq * scale).to(DQ.dtype.element_ty),
                mask=m[:, None] < SQ,
            )
