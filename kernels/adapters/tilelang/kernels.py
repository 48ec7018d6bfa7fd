"""GEMM, attention forward and native sparse attention in TileLang, in the layouts of
tracker_abi.h."""

import tilelang.language as T


def gemm(m, n, k, ta, tb, a_type, c_type, BM, BN, BK, stages, threads, staged):
    """C = op(A) op(B). `staged`: tiles of C go through shared memory, so that they are stored by
    TMA."""
    a_shape, a_tile = ((k, m), (BK, BM)) if ta else ((m, k), (BM, BK))
    b_shape, b_tile = ((n, k), (BN, BK)) if tb else ((k, n), (BK, BN))

    @T.prim_func
    def gemm_kernel(
        A: T.Tensor(a_shape, a_type), B: T.Tensor(b_shape, a_type), C: T.Tensor((m, n), c_type)
    ):
        with T.Kernel(T.ceildiv(n, BN), T.ceildiv(m, BM), threads=threads) as (bx, by):
            a = T.alloc_shared(a_tile, a_type)
            b = T.alloc_shared(b_tile, a_type)
            c = T.alloc_fragment((BM, BN), "float32")
            T.use_swizzle(10)  # tiles of a panel share columns of B in the L2 cache
            T.clear(c)
            for i in T.Pipelined(T.ceildiv(k, BK), num_stages=stages):
                if ta:
                    T.copy(A[i * BK, by * BM], a)
                else:
                    T.copy(A[by * BM, i * BK], a)
                if tb:
                    T.copy(B[bx * BN, i * BK], b)
                else:
                    T.copy(B[i * BK, bx * BN], b)
                T.gemm(a, b, c, transpose_A=ta, transpose_B=tb)
            if staged:
                out = T.alloc_shared((BM, BN), c_type)
                T.copy(c, out)
                T.copy(out, C[by * BM, bx * BN])
            else:
                T.copy(c, C[by * BM, bx * BN])

    return gemm_kernel


def attention(b, h, hkv, s, d, scale, causal, dtype, BM, BN, stages, threads):
    """O[b][s][h][d] and LSE[b][h][s], with as many keys as queries. `scale` is positive."""
    factor = scale * 1.4426950408889634  # exp(x) = 2^(x log2 e)
    group = h // hkv

    @T.prim_func
    def attention_kernel(
        Q: T.Tensor((b, s, h, d), dtype),
        K: T.Tensor((b, s, hkv, d), dtype),
        V: T.Tensor((b, s, hkv, d), dtype),
        O: T.Tensor((b, s, h, d), dtype),
        LSE: T.Tensor((b, h, s), "float32"),
    ):
        with T.Kernel(T.ceildiv(s, BM), h, b, threads=threads) as (bx, by, bz):
            q = T.alloc_shared((BM, d), dtype)
            k = T.alloc_shared((BN, d), dtype)
            v = T.alloc_shared((BN, d), dtype)
            out = T.alloc_shared((BM, d), dtype)
            score = T.alloc_fragment((BM, BN), "float32")
            p = T.alloc_fragment((BM, BN), dtype)
            total = T.alloc_fragment((BM, d), "float32")
            top = T.alloc_fragment((BM,), "float32")
            before = T.alloc_fragment((BM,), "float32")
            shrink = T.alloc_fragment((BM,), "float32")
            row = T.alloc_fragment((BM,), "float32")
            weight = T.alloc_fragment((BM,), "float32")
            T.copy(Q[bz, bx * BM : (bx + 1) * BM, by, :], q)
            T.fill(total, 0)
            T.fill(weight, 0)
            T.fill(top, -T.infinity("float32"))
            last = (
                T.min(T.ceildiv(s, BN), T.ceildiv((bx + 1) * BM, BN))
                if causal
                else T.ceildiv(s, BN)
            )
            for n in T.Pipelined(last, num_stages=stages):
                T.copy(K[bz, n * BN : (n + 1) * BN, by // group, :], k)
                if causal:
                    for i, j in T.Parallel(BM, BN):
                        score[i, j] = T.if_then_else(
                            bx * BM + i >= n * BN + j, 0, -T.infinity("float32")
                        )
                else:
                    T.clear(score)
                T.gemm(q, k, score, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                T.copy(V[bz, n * BN : (n + 1) * BN, by // group, :], v)
                T.copy(top, before)
                T.fill(top, -T.infinity("float32"))
                T.reduce_max(score, top, dim=1, clear=False)
                for i in T.Parallel(BM):
                    top[i] = T.max(top[i], before[i])
                    shrink[i] = T.exp2(before[i] * factor - top[i] * factor)
                for i, j in T.Parallel(BM, d):
                    total[i, j] = total[i, j] * shrink[i]
                for i, j in T.Parallel(BM, BN):
                    score[i, j] = T.exp2(score[i, j] * factor - top[i] * factor)
                T.copy(score, p)
                T.gemm(p, v, total, policy=T.GemmWarpPolicy.FullRow)
                T.reduce_sum(score, row, dim=1)
                for i in T.Parallel(BM):
                    weight[i] = weight[i] * shrink[i] + row[i]
            for i, j in T.Parallel(BM, d):
                total[i, j] = total[i, j] / weight[i]
            T.copy(total, out)
            T.copy(out, O[bz, bx * BM : (bx + 1) * BM, by, :])
            for i in T.Parallel(BM):
                weight[i] = (T.log2(weight[i]) + top[i] * factor) * 0.6931471805599453
            T.copy(weight, LSE[bz, by, bx * BM : (bx + 1) * BM])

    return attention_kernel


LOWEST = -1e30  # below every score, and finite: a row may see no key at all


def nsa(
    b, h, hkv, s, d, scale, block, selected, window, causal, dtype, rows, step, stages, threads
):
    """Block (token, kv head, batch): the query heads of a kv head, padded to `rows`, attend to the
    token's list of `selected` blocks of `block` keys, `step` keys at a time, -1 = none; with
    `window` also to the last `window` keys. The outputs of both branches are added. `scale` is
    positive."""
    factor = scale * 1.4426950408889634  # exp(x) = 2^(x log2 e)
    group, parts = h // hkv, block // step

    @T.macro
    def start(total, weight, top):
        T.fill(total, 0)
        T.fill(weight, 0)
        T.fill(top, LOWEST)

    @T.macro
    def attend(q, k, v, score, weights, total, weight, top, before, shrink, row):
        """Adds the keys of `k`; those that are not seen have a score of minus infinity."""
        T.gemm(q, k, score, transpose_B=True, policy=T.GemmWarpPolicy.FullCol)
        T.copy(top, before)
        T.reduce_max(score, top, dim=1, clear=False)
        for i in T.Parallel(rows):
            shrink[i] = T.exp2(before[i] * factor - top[i] * factor)
        for i, j in T.Parallel(rows, step):
            score[i, j] = T.exp2(score[i, j] * factor - top[i] * factor)
        T.reduce_sum(score, row, dim=1)
        for i in T.Parallel(rows):
            weight[i] = weight[i] * shrink[i] + row[i]
        for i, j in T.Parallel(rows, d):
            total[i, j] = total[i, j] * shrink[i]
        T.copy(score, weights)
        T.gemm(weights, v, total, policy=T.GemmWarpPolicy.FullCol)

    @T.prim_func
    def nsa_kernel(
        Q: T.Tensor((b, s, h, d), dtype),
        K: T.Tensor((b, s, hkv, d), dtype),
        V: T.Tensor((b, s, hkv, d), dtype),
        blocks: T.Tensor((b, s, hkv, selected), "int32"),
        O: T.Tensor((b, s, h, d), dtype),
    ):
        with T.Kernel(s, hkv, b, threads=threads) as (token, by, bz):
            q = T.alloc_shared((rows, d), dtype)
            k = T.alloc_shared((step, d), dtype)
            v = T.alloc_shared((step, d), dtype)
            weights = T.alloc_shared((rows, step), dtype)
            score = T.alloc_fragment((rows, step), "float32")
            total = T.alloc_fragment((rows, d), "float32")
            result = T.alloc_fragment((rows, d), "float32")
            top = T.alloc_fragment((rows,), "float32")
            before = T.alloc_fragment((rows,), "float32")
            shrink = T.alloc_fragment((rows,), "float32")
            row = T.alloc_fragment((rows,), "float32")
            weight = T.alloc_fragment((rows,), "float32")
            for i, j in T.Parallel(rows, d):
                q[i, j] = T.if_then_else(
                    i < group, Q[bz, token, by * group + T.min(i, group - 1), j], 0
                )
            start(total, weight, top)
            end = token + 1 if causal else s
            for n in T.Pipelined(selected * parts, num_stages=stages):
                at = blocks[bz, token, by, n // parts] * block + n % parts * step
                if at >= 0 and at < end:
                    T.copy(K[bz, at : at + step, by, :], k)
                    T.copy(V[bz, at : at + step, by, :], v)
                    for i, j in T.Parallel(rows, step):
                        score[i, j] = T.if_then_else(at + j < end, 0, -T.infinity("float32"))
                    attend(q, k, v, score, weights, total, weight, top, before, shrink, row)
            for i, j in T.Parallel(rows, d):
                result[i, j] = T.if_then_else(weight[i] > 0, total[i, j] / weight[i], 0)
            if window:
                near_k = T.alloc_shared((step, d), dtype)
                near_v = T.alloc_shared((step, d), dtype)
                start(total, weight, top)
                first = T.max(token + 1 - window, 0)
                for n in T.serial(T.ceildiv(token + 1 - first, step)):
                    at = first + n * step
                    T.copy(K[bz, at : at + step, by, :], near_k)
                    T.copy(V[bz, at : at + step, by, :], near_v)
                    for i, j in T.Parallel(rows, step):
                        score[i, j] = T.if_then_else(at + j <= token, 0, -T.infinity("float32"))
                    attend(
                        *(q, near_k, near_v, score, weights),
                        *(total, weight, top, before, shrink, row),
                    )
                for i, j in T.Parallel(rows, d):
                    result[i, j] = result[i, j] + total[i, j] / weight[i]
            for i, j in T.Parallel(rows, d):
                if i < group:
                    O[bz, token, by * group + i, j] = result[i, j]

    return nsa_kernel
