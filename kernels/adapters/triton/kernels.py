"""GEMM and attention in Triton, in the layouts of tracker_abi.h. Written in the common subset of Triton 3.2 and later."""
import triton
import triton.language as tl


@triton.jit
def gemm(A, B, C, M, N, K, stride_ab, stride_am, stride_ak, stride_bb, stride_bk, stride_bn,
         BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
         EVEN_K: tl.constexpr, PRECISION: tl.constexpr):
    """C[b] = op(A[b]) op(B[b]); the strides say how A and B are stored. Tiles go down GROUP_M rows before the next column, for the L2 cache."""
    tile = tl.program_id(0)
    batch = tl.program_id(1).to(tl.int64)
    rows = tl.cdiv(M, BLOCK_M)
    columns = tl.cdiv(N, BLOCK_N)
    first_row = tile // (GROUP_M * columns) * GROUP_M
    group_rows = min(rows - first_row, GROUP_M)
    row = first_row + tile % (GROUP_M * columns) % group_rows
    column = tile % (GROUP_M * columns) // group_rows

    m = row * BLOCK_M + tl.arange(0, BLOCK_M)
    n = column * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    # Rows beyond the matrix read one inside it: their products are not stored, and no mask is needed in the loop.
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
def attend(total, weight, top, q, keys, values, m, n, start, end, visible, SKV, factor, stride,
           BLOCK_N: tl.constexpr, MASKED: tl.constexpr, CAUSAL: tl.constexpr):
    """Adds the keys from `start` to `end` to the running softmax. `visible`: how many keys query 0 sees more than one, when causal."""
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
def attention(Q, K, V, O, LSE, H, HKV, SQ, SKV, scale, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
              CAUSAL: tl.constexpr):
    """O[b][sq][h][D] and LSE[b][h][sq]; the causal mask is aligned to the bottom right. `scale` is positive."""
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
    factor = scale * 1.4426950408889634  # exp(x) = 2^(x log2 e)

    visible = SKV - SQ
    end = SKV
    whole = SKV // BLOCK_N * BLOCK_N
    if CAUSAL:
        end = min(SKV, (block + 1) * BLOCK_M + visible)
        whole = min(whole, max(block * BLOCK_M + visible + 1, 0) // BLOCK_N * BLOCK_N)
    total, weight, top = attend(total, weight, top, q, keys, values, m, n, 0, whole, visible, SKV, factor, stride,
                                BLOCK_N, False, CAUSAL)
    total, weight, top = attend(total, weight, top, q, keys, values, m, n, whole, end, visible, SKV, factor, stride,
                                BLOCK_N, True, CAUSAL)
    tl.store(O + q_at, (total / weight[:, None]).to(O.dtype.element_ty), mask=m[:, None] < SQ)
    lse = (top + tl.math.log2(weight)) * 0.6931471805599453
    tl.store(LSE + (batch * H + head) * SQ + m, lse, mask=m < SQ)
