"""GEMM, attention and native sparse attention in Triton, in the layouts of tracker_abi.h. Written
in the common subset of Triton 3.2 and later, but for what problems.py names in SINCE."""

import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)  # exp(x) = 2^(x log2 e)
LOWEST = tl.constexpr(-1e30)  # below every score, and finite: a row may see no key at all


@triton.jit
def place(tile, rows, columns, GROUP_M: tl.constexpr):
    """Row and column of a tile: GROUP_M rows down before the next column, for the L2 cache."""
    first_row = tile // (GROUP_M * columns) * GROUP_M
    group_rows = min(rows - first_row, GROUP_M)
    return (
        first_row + tile % (GROUP_M * columns) % group_rows,
        tile % (GROUP_M * columns) // group_rows,
    )


@triton.jit
def gemm(
    A,
    B,
    C,
    M,
    N,
    K,
    stride_ab,
    stride_am,
    stride_ak,
    stride_bb,
    stride_bk,
    stride_bn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    EVEN_K: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """C[b] = op(A[b]) op(B[b]); the strides say how A and B are stored."""
    rows = tl.cdiv(M, BLOCK_M)
    columns = tl.cdiv(N, BLOCK_N)
    row, column = place(tl.program_id(0), rows, columns, GROUP_M)
    batch = tl.program_id(1).to(tl.int64)

    m = row * BLOCK_M + tl.arange(0, BLOCK_M)
    n = column * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    # Rows beyond the matrix read one inside it: their products are not stored, and no mask is
    # needed in the loop.
    a = A + batch * stride_ab + (m % M)[:, None] * stride_am + k[None, :] * stride_ak
    b = B + batch * stride_bb + k[:, None] * stride_bk + (n % N)[None, :] * stride_bn
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        if EVEN_K:
            x = tl.load(a)
            y = tl.load(b)
        else:
            x = tl.load(a, mask=k[None, :] < K - start, other=0.0)
            y = tl.load(b, mask=k[:, None] < K - start, other=0.0)
        total = tl.dot(x, y, total, input_precision=PRECISION)
        a += BLOCK_K * stride_ak
        b += BLOCK_K * stride_bk
    c = C + batch * M * N + m[:, None].to(tl.int64) * N + n[None, :]
    tl.store(c, total.to(C.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def gemm_persistent(
    A,
    B,
    C,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    TA: tl.constexpr,
    TB: tl.constexpr,
    FLATTEN: tl.constexpr,
    SPECIALIZE: tl.constexpr,
):
    """As `gemm` without batches. A program for each multiprocessor goes through the tiles; TMA
    loads and stores them, so that the stores of a tile and the loads of the next overlap. What TMA
    reads outside a matrix is 0."""
    if TA:
        a = tl.make_tensor_descriptor(A, [K, M], [M, 1], [BLOCK_K, BLOCK_M])
    else:
        a = tl.make_tensor_descriptor(A, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    if TB:
        b = tl.make_tensor_descriptor(B, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    else:
        b = tl.make_tensor_descriptor(B, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    c = tl.make_tensor_descriptor(C, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    rows = tl.cdiv(M, BLOCK_M)
    columns = tl.cdiv(N, BLOCK_N)
    for tile in tl.range(
        tl.program_id(0),
        rows * columns,
        tl.num_programs(0),
        flatten=FLATTEN,
        warp_specialize=SPECIALIZE,
    ):
        row, column = place(tile, rows, columns, GROUP_M)
        m = row * BLOCK_M
        n = column * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for block in range(tl.cdiv(K, BLOCK_K)):
            k = block * BLOCK_K
            if TA:
                x = a.load([k, m]).T
            else:
                x = a.load([m, k])
            if TB:
                y = b.load([n, k]).T
            else:
                y = b.load([k, n])
            total = tl.dot(x, y, total)
        c.store([m, n], total.to(C.dtype.element_ty))


@triton.jit(do_not_specialize=["phase"])
def gemm_split(
    A,
    B,
    C,
    parts,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    phase,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    SPLIT: tl.constexpr,
    SUM: tl.constexpr,
    EVEN_K: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """As `gemm` without batches, for few tiles and a long K. Phase 0: program (tile, part)
    multiplies a part of K into `parts` [SPLIT][M][N] in f32. Phase 1: each program adds up the
    parts of SUM elements. The order of the sums is fixed, so equal inputs give equal bits.
    """
    if phase == 0:
        columns = tl.cdiv(N, BLOCK_N)
        part = tl.program_id(1)
        m = tl.program_id(0) // columns * BLOCK_M + tl.arange(0, BLOCK_M)
        n = tl.program_id(0) % columns * BLOCK_N + tl.arange(0, BLOCK_N)
        k = tl.arange(0, BLOCK_K)
        blocks = tl.cdiv(tl.cdiv(K, BLOCK_K), SPLIT)
        first = part * blocks * BLOCK_K
        a = A + (m % M)[:, None] * stride_am + (first + k)[None, :] * stride_ak
        b = B + (first + k)[:, None] * stride_bk + (n % N)[None, :] * stride_bn
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for start in range(first, min(first + blocks * BLOCK_K, K), BLOCK_K):
            if EVEN_K:
                x = tl.load(a)
                y = tl.load(b)
            else:
                x = tl.load(a, mask=k[None, :] < K - start, other=0.0)
                y = tl.load(b, mask=k[:, None] < K - start, other=0.0)
            total = tl.dot(x, y, total, input_precision=PRECISION)
            a += BLOCK_K * stride_ak
            b += BLOCK_K * stride_bk
        c = parts + part * M * N + m[:, None] * N + n[None, :]
        tl.store(c, total, mask=(m[:, None] < M) & (n[None, :] < N))
    else:
        at = tl.program_id(0) * SUM + tl.arange(0, SUM)
        inside = at < M * N
        result = tl.zeros((SUM,), dtype=tl.float32)
        for part in tl.static_range(SPLIT):
            result += tl.load(parts + part * M * N + at, mask=inside, other=0.0)
        tl.store(C + at, result.to(C.dtype.element_ty), mask=inside)


# ---- attention, forward ----


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


# ---- attention, backward ----
# P = exp(scale q k' - lse), dP = dO v', delta = dO o', dS = P (dP - delta);
# dQ = scale dS k, dK = scale dS' q, dV = P' dO.


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


# ---- native sparse attention ----


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
