"""Attention forward in CuTe DSL for Hopper: one warp loads Q, K and V by TMA; each of the other
warp groups has 64 queries. The scores of the next keys are multiplied while those of the keys
before are exponentiated, and the warp groups take turns at the tensor cores.
"""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
import cutlass.pipeline as pipeline
import cutlass.utils as utils
import cutlass.utils.hopper_helpers as sm90
from cutlass.cute.nvgpu import cpasync, warp, warpgroup

from gemm import WARP_GROUP, shared_layout

ROWS = 64  # queries of a warp group
LOG2_E = 1.4426950408889634
LN_2 = 0.6931471805599453
K_MAJOR, MN_MAJOR = utils.LayoutEnum.ROW_MAJOR, utils.LayoutEnum.COL_MAJOR


def scores(mma, query, keys, out):
    for i in range(cute.size(query, mode=[2])):
        mma.set(warpgroup.Field.ACCUMULATE, i != 0)
        cute.gemm(mma, out, query[None, None, i], keys[None, None, i], out)


def row_total(value, combine):
    """Over the four threads that have a row of an accumulator."""
    for offset in (1, 2):
        value = combine(value, cute.arch.shuffle_sync_bfly(value, offset=offset))
    return value


class Attention:
    """`keys`: of a step. `consumers`: warp groups of 64 queries. `turns`: warp groups take turns at
    the tensor cores."""

    def __init__(self, d, heads_per_kv, scale, causal, keys, consumers, stages, turns):
        self.d, self.group, self.causal, self.keys, self.consumers, self.stages, self.turns = (
            d,
            heads_per_kv,
            causal,
            keys,
            consumers,
            stages,
            turns,
        )
        self.factor = scale * LOG2_E  # exp(x) = 2^(x log2 e)

    @cute.jit
    def __call__(
        self,
        q: cute.Tensor,
        k: cute.Tensor,
        v: cute.Tensor,
        o: cute.Tensor,
        lse: cute.Tensor,
        stream: cuda.CUstream,
    ):
        """q, k, o: (sequence, d, head, batch); v: (d, sequence, head, batch); lse: (sequence, head,
        batch)."""
        self.dtype = q.element_type
        rows = shared_layout(K_MAJOR, self.dtype, (ROWS, self.d), 1, self.consumers)
        k_layout = shared_layout(K_MAJOR, self.dtype, (self.keys, self.d), 1, self.stages)
        v_layout = shared_layout(MN_MAJOR, self.dtype, (self.d, self.keys), 0, self.stages)
        load = cpasync.CopyBulkTensorTileG2SOp()
        q_atom, q_map = cpasync.make_tiled_tma_atom(
            load, q, cute.slice_(rows, (None, None, 0)), (ROWS, self.d)
        )
        k_atom, k_map = cpasync.make_tiled_tma_atom(
            load, k, cute.slice_(k_layout, (None, None, 0)), (self.keys, self.d)
        )
        v_atom, v_map = cpasync.make_tiled_tma_atom(
            load, v, cute.slice_(v_layout, (None, None, 0)), (self.d, self.keys)
        )
        o_atom, o_map = cpasync.make_tiled_tma_atom(
            cpasync.CopyBulkTensorTileS2GOp(), o, cute.slice_(rows, (None, None, 0)), (ROWS, self.d)
        )

        @cute.struct
        class Storage:
            q_barriers: cute.struct.MemRange[cutlass.Int64, self.consumers * 2]
            k_barriers: cute.struct.MemRange[cutlass.Int64, self.stages * 2]
            v_barriers: cute.struct.MemRange[cutlass.Int64, self.stages * 2]
            q: cute.struct.Align[cute.struct.MemRange[self.dtype, cute.cosize(rows)], 1024]
            k: cute.struct.Align[cute.struct.MemRange[self.dtype, cute.cosize(k_layout)], 1024]
            v: cute.struct.Align[cute.struct.MemRange[self.dtype, cute.cosize(v_layout)], 1024]

        self.storage = Storage
        self.steps = k.shape[0] // self.keys
        tiles = q.shape[0] // (ROWS * self.consumers)
        self.kernel(
            q_atom,
            q_map,
            k_atom,
            k_map,
            v_atom,
            v_map,
            o_atom,
            o_map,
            lse,
            rows,
            k_layout,
            v_layout,
        ).launch(
            grid=[q.shape[2], q.shape[3], tiles],
            block=[(self.consumers + 1) * WARP_GROUP, 1, 1],
            min_blocks_per_mp=1,
            stream=stream,
        )

    def pipe(self, barriers, stages, width):
        return pipeline.PipelineTmaAsync.create(
            barrier_storage=barriers.data_ptr(),
            num_stages=stages,
            producer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
            consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, self.consumers * 4),
            tx_count=width * self.d * self.dtype.width // 8,
            cta_layout_vmnk=cute.make_layout((1, 1, 1, 1)),
        )

    def mask(self, s, first_key, first_row, thread):
        """Scores of later keys than the query become -inf."""
        row = first_row + thread % WARP_GROUP // 32 * 16 + thread % 32 // 4
        column = first_key + thread % 4 * 2
        for i in range(cute.size(s)):
            s[i] = cutlass.select_(
                row + i // 2 % 2 * 8 >= column + i // 4 * 8 + i % 2, s[i], -cutlass.Float32.inf
            )

    def softmax(self, s, top, total, shrink):
        """Scores to weights 2^(factor (s - top)), with the rows' new maxima and sums; `shrink` is
        what earlier weights are multiplied with."""
        for r in range(2):
            own = [4 * c + 2 * r + e for c in range(cute.size(s) // 4) for e in range(2)]
            before = top[r]
            most = before
            for i in own:
                most = cute.arch.fmax(most, s[i])
            most = row_total(most, cute.arch.fmax)
            top[r] = most
            if self.causal and self.keys != ROWS * self.consumers:  # a row may have no key yet
                most = cutlass.select_(most == -cutlass.Float32.inf, cutlass.Float32(0.0), most)
            shrink[r] = cute.arch.exp2((before - most) * self.factor)
            offset = most * self.factor
            part = total[r] * shrink[r]
            for i in own:
                s[i] = cute.arch.exp2(s[i] * self.factor - offset)
                part = part + s[i]
            total[r] = part

    @cute.kernel
    def kernel(
        self,
        q_atom: cute.CopyAtom,
        q_map: cute.Tensor,
        k_atom: cute.CopyAtom,
        k_map: cute.Tensor,
        v_atom: cute.CopyAtom,
        v_map: cute.Tensor,
        o_atom: cute.CopyAtom,
        o_map: cute.Tensor,
        lse: cute.Tensor,
        rows: cute.ComposedLayout,
        k_layout: cute.ComposedLayout,
        v_layout: cute.ComposedLayout,
    ):
        thread, _, _ = cute.arch.thread_idx()
        head, batch, late = cute.arch.block_idx()
        _, _, tiles = cute.arch.grid_dim()
        tile = tiles - 1 - late  # with a causal mask the last queries take longest
        warp_index = cute.arch.make_warp_uniform(cute.arch.warp_idx())
        if warp_index == 0:
            cpasync.prefetch_descriptor(q_atom)
            cpasync.prefetch_descriptor(k_atom)
            cpasync.prefetch_descriptor(v_atom)
            cpasync.prefetch_descriptor(o_atom)
        storage = utils.SmemAllocator().allocate(self.storage)
        q_pipe = self.pipe(storage.q_barriers, self.consumers, ROWS)
        k_pipe = self.pipe(storage.k_barriers, self.stages, self.keys)
        v_pipe = self.pipe(storage.v_barriers, self.stages, self.keys)
        q_shared = storage.q.get_tensor(rows.outer, swizzle=rows.inner)
        k_shared = storage.k.get_tensor(k_layout.outer, swizzle=k_layout.inner)
        v_shared = storage.v.get_tensor(v_layout.outer, swizzle=v_layout.inner)
        q_tiles = cute.local_tile(q_map[None, None, head, batch], (ROWS, self.d), (None, 0))
        k_tiles = cute.local_tile(
            k_map[None, None, head // self.group, batch], (self.keys, self.d), (None, 0)
        )
        v_tiles = cute.local_tile(
            v_map[None, None, head // self.group, batch], (self.d, self.keys), (0, None)
        )
        o_tiles = cute.local_tile(o_map[None, None, head, batch], (ROWS, self.d), (None, 0))
        alone = cute.make_layout(1)
        last = cutlass.Int32(self.steps)
        if cutlass.const_expr(self.causal):
            last = ((tile + 1) * ROWS * self.consumers + self.keys - 1) // self.keys
        group = cute.arch.make_warp_uniform(thread // WARP_GROUP)
        if group == 0:
            cute.arch.warpgroup_reg_dealloc(24 if self.consumers == 2 else 32)
            if warp_index == 0:
                q_to, q_from = cpasync.tma_partition(
                    q_atom,
                    0,
                    alone,
                    cute.group_modes(q_shared, 0, 2),
                    cute.group_modes(q_tiles, 0, 2),
                )
                k_to, k_from = cpasync.tma_partition(
                    k_atom,
                    0,
                    alone,
                    cute.group_modes(k_shared, 0, 2),
                    cute.group_modes(k_tiles, 0, 2),
                )
                v_to, v_from = cpasync.tma_partition(
                    v_atom,
                    0,
                    alone,
                    cute.group_modes(v_shared, 0, 2),
                    cute.group_modes(v_tiles, 0, 2),
                )
                q_state = pipeline.make_pipeline_state(
                    pipeline.PipelineUserType.Producer, self.consumers
                )
                k_state = pipeline.make_pipeline_state(
                    pipeline.PipelineUserType.Producer, self.stages
                )
                v_state = pipeline.make_pipeline_state(
                    pipeline.PipelineUserType.Producer, self.stages
                )
                for i in cutlass.range_constexpr(self.consumers):
                    q_pipe.producer_acquire(q_state)
                    cute.copy(
                        q_atom,
                        q_from[None, tile * self.consumers + i],
                        q_to[None, q_state.index],
                        tma_bar_ptr=q_pipe.producer_get_barrier(q_state),
                    )
                    q_pipe.producer_commit(q_state)
                    q_state.advance()
                for i in range(last):
                    step = last - 1 - i
                    k_pipe.producer_acquire(k_state)
                    cute.copy(
                        k_atom,
                        k_from[None, step],
                        k_to[None, k_state.index],
                        tma_bar_ptr=k_pipe.producer_get_barrier(k_state),
                    )
                    k_pipe.producer_commit(k_state)
                    k_state.advance()
                    v_pipe.producer_acquire(v_state)
                    cute.copy(
                        v_atom,
                        v_from[None, step],
                        v_to[None, v_state.index],
                        tma_bar_ptr=v_pipe.producer_get_barrier(v_state),
                    )
                    v_pipe.producer_commit(v_state)
                    v_state.advance()
                k_pipe.producer_tail(k_state)
                v_pipe.producer_tail(v_state)
        else:
            cute.arch.warpgroup_reg_alloc(240 if self.consumers == 2 else 160)
            place = group - 1
            first_row = (tile * self.consumers + place) * ROWS
            s_mma = sm90.make_trivial_tiled_mma(
                self.dtype,
                self.dtype,
                K_MAJOR.sm90_mma_major_mode(),
                K_MAJOR.sm90_mma_major_mode(),
                cutlass.Float32,
                (1, 1, 1),
                tiler_mn=(ROWS, self.keys),
            )
            o_mma = sm90.make_trivial_tiled_mma(
                self.dtype,
                self.dtype,
                K_MAJOR.sm90_mma_major_mode(),
                MN_MAJOR.sm90_mma_major_mode(),
                cutlass.Float32,
                (1, 1, 1),
                tiler_mn=(ROWS, self.d),
                a_source=warpgroup.OperandSource.RMEM,
            )
            s_part, o_part = s_mma.get_slice(0), o_mma.get_slice(0)
            q_parts = s_mma.make_fragment_A(s_part.partition_A(q_shared))[None, None, None, place]
            k_parts = s_mma.make_fragment_B(s_part.partition_B(k_shared))
            v_parts = o_mma.make_fragment_B(o_part.partition_B(v_shared))
            s = cute.make_rmem_tensor(s_mma.partition_shape_C((ROWS, self.keys)), cutlass.Float32)
            out = cute.make_rmem_tensor(o_mma.partition_shape_C((ROWS, self.d)), cutlass.Float32)
            weights = cute.make_rmem_tensor(o_mma.partition_shape_A((ROWS, self.keys)), self.dtype)
            weights_as_s = cute.make_tensor(
                weights.iterator, s.layout
            )  # an accumulator has the order of an operand in registers
            top = cute.make_rmem_tensor((2,), cutlass.Float32)
            total = cute.make_rmem_tensor((2,), cutlass.Float32)
            shrink = cute.make_rmem_tensor((2,), cutlass.Float32)
            top.fill(-cutlass.Float32.inf)
            total.fill(0.0)
            out.fill(0.0)
            k_read = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, self.stages)
            v_read = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, self.stages)

            q_pipe.consumer_wait(
                pipeline.PipelineState(self.consumers, cutlass.Int32(0), place, cutlass.Int32(0))
            )
            k_pipe.consumer_wait(k_read)
            warpgroup.fence()
            scores(s_mma, q_parts, k_parts[None, None, None, k_read.index], s)
            warpgroup.commit_group()
            warpgroup.wait_group(0)
            k_pipe.consumer_release(k_read)
            k_read.advance()
            if cutlass.const_expr(self.causal):
                self.mask(s, (last - 1) * self.keys, first_row, thread)
            self.softmax(s, top, total, shrink)
            weights_as_s.store(s.load().to(self.dtype))
            o_mma.set(warpgroup.Field.ACCUMULATE, True)
            if cutlass.const_expr(self.turns):
                if place == self.consumers - 1:
                    cute.arch.barrier_arrive(barrier_id=2, number_of_threads=2 * WARP_GROUP)

            for i in range(1, last):
                k_pipe.consumer_wait(k_read)
                if cutlass.const_expr(self.turns):
                    cute.arch.barrier(barrier_id=2 + place, number_of_threads=2 * WARP_GROUP)
                warpgroup.fence()
                scores(s_mma, q_parts, k_parts[None, None, None, k_read.index], s)
                warpgroup.commit_group()
                v_pipe.consumer_wait(v_read)
                cute.gemm(o_mma, out, weights, v_parts[None, None, None, v_read.index], out)
                warpgroup.commit_group()
                if cutlass.const_expr(self.turns):
                    cute.arch.barrier_arrive(
                        barrier_id=2 + (place + 1) % self.consumers,
                        number_of_threads=2 * WARP_GROUP,
                    )
                warpgroup.wait_group(1)
                k_pipe.consumer_release(k_read)
                k_read.advance()
                if cutlass.const_expr(self.causal and self.keys < ROWS * self.consumers):
                    self.mask(s, (last - 1 - i) * self.keys, first_row, thread)
                self.softmax(s, top, total, shrink)
                warpgroup.wait_group(0)
                v_pipe.consumer_release(v_read)
                v_read.advance()
                for j in cutlass.range_constexpr(cute.size(out)):
                    out[j] = out[j] * shrink[j // 2 % 2]
                weights_as_s.store(s.load().to(self.dtype))

            v_pipe.consumer_wait(v_read)
            warpgroup.fence()
            cute.gemm(o_mma, out, weights, v_parts[None, None, None, v_read.index], out)
            warpgroup.commit_group()
            for r in cutlass.range_constexpr(2):
                total[r] = row_total(total[r], lambda a, b: a + b)
                row = thread % WARP_GROUP // 32 * 16 + thread % 32 // 4 + r * 8
                if thread % 4 == 0:
                    lse[first_row + row, head, batch] = (
                        top[r] * self.factor + cute.math.log2(total[r])
                    ) * LN_2
            warpgroup.wait_group(0)
            v_pipe.consumer_release(v_read)

            # O goes where Q was, which only this warp group read
            for r in cutlass.range_constexpr(2):
                shrink[r] = 1.0 / total[r]
            for j in cutlass.range_constexpr(cute.size(out)):
                out[j] = out[j] * shrink[j // 2 % 2]
            rounded = cute.make_rmem_tensor(out.shape, self.dtype)
            rounded.store(out.load().to(self.dtype))
            by_matrix = cute.make_tiled_copy_C(
                cute.make_copy_atom(warp.StMatrix8x8x16bOp(False, 4), self.dtype), o_mma
            )
            mine = by_matrix.get_slice(thread % WARP_GROUP)
            cute.copy(
                by_matrix,
                by_matrix.retile(rounded),
                mine.partition_D(q_shared)[None, None, None, place],
            )
            cute.arch.fence_proxy("async.shared", space="cta")
            cute.arch.barrier(barrier_id=2 + self.consumers + place, number_of_threads=WARP_GROUP)
            if warp_index == group * 4:
                o_from, o_to = cpasync.tma_partition(
                    o_atom,
                    0,
                    alone,
                    cute.group_modes(q_shared, 0, 2),
                    cute.group_modes(o_tiles, 0, 2),
                )
                cute.copy(o_atom, o_from[None, place], o_to[None, tile * self.consumers + place])
                cute.arch.cp_async_bulk_commit_group()
                cute.arch.cp_async_bulk_wait_group(0, read=True)
