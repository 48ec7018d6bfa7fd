"""GEMM."""

import triton
import triton.language as tl


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
