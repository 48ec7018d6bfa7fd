"""C = op(A) op(B) in CuTe DSL for Hopper: one warp loads tiles by TMA, the other warp groups
multiply by wgmma; each cluster works off several tiles of C."""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
import cutlass.pipeline as pipeline
import cutlass.utils as utils
import cutlass.utils.hopper_helpers as sm90
from cutlass.cute.nvgpu import cpasync, warp, warpgroup

import tiles

MULTIPROCESSORS = 132  # of an H100 or H200 (SXM)
WARP_GROUP = 128  # threads


def shared_layout(kind, dtype, shape, major, stages):
    """Tiles as TMA writes and wgmma reads them, swizzled. `major`: the contiguous mode, 0 or 1."""
    atom = warpgroup.make_smem_layout_atom(
        sm90.get_smem_layout_atom(kind, dtype, shape[major]), dtype
    )
    return cute.tile_to_shape(atom, (*shape, stages), order=(0, 1, 2) if major else (1, 0, 2))


class Gemm:
    """`tile`: M, N, K of a block. `cluster`: blocks along M and N, which share loaded tiles.
    `group`: rows of cluster tiles that are worked off together, so that their columns of B stay in
    the L2 cache."""

    def __init__(self, tile, cluster, group, stages, epilogue_stages=4):
        self.tile, self.cluster, self.group, self.stages, self.epilogue_stages = (
            tile,
            cluster,
            group,
            stages,
            epilogue_stages,
        )
        self.consumers = 2 if tile[0] == 128 else 1
        self.epilogue_tile = (tile[0], min(32, tile[1]))
        self.barrier = pipeline.NamedBarrier(barrier_id=1, num_threads=self.consumers * WARP_GROUP)

    def load_atom(self, tensor, layout, shape, copies):
        op = (
            cpasync.CopyBulkTensorTileG2SOp()
            if copies == 1
            else cpasync.CopyBulkTensorTileG2SMulticastOp()
        )
        return cpasync.make_tiled_tma_atom(
            op, tensor, cute.slice_(layout, (None, None, 0)), shape, num_multicast=copies
        )

    @cute.jit
    def __call__(self, a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, stream: cuda.CUstream):
        """a: (m, k), b: (n, k), c: (m, n), with any of the two modes contiguous."""
        bm, bn, bk = self.tile
        self.dtype, self.c_dtype = a.element_type, c.element_type
        a_kind, b_kind, self.c_kind = (utils.LayoutEnum.from_tensor(t) for t in (a, b, c))
        self.majors = a_kind.sm90_mma_major_mode(), b_kind.sm90_mma_major_mode()
        a_layout = shared_layout(
            a_kind, self.dtype, (bm, bk), 0 if a_kind.is_m_major_a() else 1, self.stages
        )
        b_layout = shared_layout(
            b_kind, self.dtype, (bn, bk), 0 if b_kind.is_n_major_b() else 1, self.stages
        )
        c_layout = shared_layout(
            self.c_kind, self.c_dtype, self.epilogue_tile, 1, self.epilogue_stages
        )
        a_atom, a_map = self.load_atom(a, a_layout, (bm, bk), self.cluster[1])
        b_atom, b_map = self.load_atom(b, b_layout, (bn, bk), self.cluster[0])
        c_atom, c_map = cpasync.make_tiled_tma_atom(
            cpasync.CopyBulkTensorTileS2GOp(),
            c,
            cute.slice_(c_layout, (None, None, 0)),
            self.epilogue_tile,
        )

        @cute.struct
        class Storage:
            barriers: cute.struct.MemRange[cutlass.Int64, self.stages * 2]
            a: cute.struct.Align[cute.struct.MemRange[self.dtype, cute.cosize(a_layout)], 1024]
            b: cute.struct.Align[cute.struct.MemRange[self.dtype, cute.cosize(b_layout)], 1024]
            c: cute.struct.Align[cute.struct.MemRange[self.c_dtype, cute.cosize(c_layout)], 1024]

        self.storage = Storage
        size = self.cluster[0] * self.cluster[1]
        self.rows = -(-c.shape[0] // (bm * self.cluster[0]))
        self.columns = -(-c.shape[1] // (bn * self.cluster[1]))
        clusters = min(self.rows * self.columns, MULTIPROCESSORS // size)
        self.kernel(
            a_atom, a_map, b_atom, b_map, c_atom, c_map, a_layout, b_layout, c_layout
        ).launch(
            grid=[clusters * size, 1, 1],
            block=[(self.consumers + 1) * WARP_GROUP, 1, 1],
            cluster=[size, 1, 1],
            min_blocks_per_mp=1,
            stream=stream,
        )

    @cute.jit
    def tile_of(self, index, rank):
        return tiles.tile_of(
            index, rank, self.rows, self.columns, self.group, self.cluster, cutlass.min
        )

    @cute.kernel
    def kernel(
        self,
        a_atom: cute.CopyAtom,
        a_map: cute.Tensor,
        b_atom: cute.CopyAtom,
        b_map: cute.Tensor,
        c_atom: cute.CopyAtom,
        c_map: cute.Tensor,
        a_layout: cute.ComposedLayout,
        b_layout: cute.ComposedLayout,
        c_layout: cute.ComposedLayout,
    ):
        bm, bn, bk = self.tile
        cm, cn = self.cluster
        # made here, not passed: its one member at run time would become a parameter
        mma = sm90.make_trivial_tiled_mma(
            self.dtype,
            self.dtype,
            *self.majors,
            cutlass.Float32,
            (self.consumers, 1, 1),
            tiler_mn=(64, bn)
        )
        thread, _, _ = cute.arch.thread_idx()
        block, _, _ = cute.arch.block_idx()
        blocks, _, _ = cute.arch.grid_dim()
        warp_index = cute.arch.make_warp_uniform(cute.arch.warp_idx())
        if warp_index == 0:
            cpasync.prefetch_descriptor(a_atom)
            cpasync.prefetch_descriptor(b_atom)
            cpasync.prefetch_descriptor(c_atom)
        rank = cute.arch.make_warp_uniform(cute.arch.block_idx_in_cluster())
        cluster_layout = cute.make_layout((cm, cn, 1))
        place = cluster_layout.get_flat_coord(rank)
        a_mask = (
            cute.make_layout_image_mask(cluster_layout, place, mode=1)
            if cutlass.const_expr(cn > 1)
            else 0
        )
        b_mask = (
            cute.make_layout_image_mask(cluster_layout, place, mode=0)
            if cutlass.const_expr(cm > 1)
            else 0
        )
        storage = utils.SmemAllocator().allocate(self.storage)
        loaded = pipeline.PipelineTmaAsync.create(
            barrier_storage=storage.barriers.data_ptr(),
            num_stages=self.stages,
            producer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
            consumer_group=pipeline.CooperativeGroup(
                pipeline.Agent.Thread, (cm + cn - 1) * self.consumers * 4
            ),
            tx_count=(bm + bn) * bk * self.dtype.width // 8,
            cta_layout_vmnk=cute.make_layout((1, cm, cn, 1)),
        )
        a_shared = storage.a.get_tensor(a_layout.outer, swizzle=a_layout.inner)
        b_shared = storage.b.get_tensor(b_layout.outer, swizzle=b_layout.inner)
        c_shared = storage.c.get_tensor(c_layout.outer, swizzle=c_layout.inner)
        a_tiles = cute.local_tile(a_map, (bm, bk), (None, None))
        b_tiles = cute.local_tile(b_map, (bn, bk), (None, None))
        c_tiles = cute.local_tile(c_map, (bm, bn), (None, None))
        steps = cute.size(a_tiles, mode=[3])
        group = cute.arch.make_warp_uniform(thread // WARP_GROUP)
        first, stride = block // (cm * cn), blocks // (cm * cn)
        if group == 0:
            cute.arch.warpgroup_reg_dealloc(40)
            if warp_index == 0:
                a_to, a_from = cpasync.tma_partition(
                    a_atom,
                    place[1],
                    cute.make_layout(cn),
                    cute.group_modes(a_shared, 0, 2),
                    cute.group_modes(a_tiles, 0, 2),
                )
                b_to, b_from = cpasync.tma_partition(
                    b_atom,
                    place[0],
                    cute.make_layout(cm),
                    cute.group_modes(b_shared, 0, 2),
                    cute.group_modes(b_tiles, 0, 2),
                )
                state = pipeline.make_pipeline_state(
                    pipeline.PipelineUserType.Producer, self.stages
                )
                for index in range(first, self.rows * self.columns, stride):
                    row, column = self.tile_of(index, rank)
                    for k in range(steps):
                        loaded.producer_acquire(state)
                        full = loaded.producer_get_barrier(state)
                        cute.copy(
                            a_atom,
                            a_from[None, row, k],
                            a_to[None, state.index],
                            tma_bar_ptr=full,
                            mcast_mask=a_mask,
                        )
                        cute.copy(
                            b_atom,
                            b_from[None, column, k],
                            b_to[None, state.index],
                            tma_bar_ptr=full,
                            mcast_mask=b_mask,
                        )
                        loaded.producer_commit(state)
                        state.advance()
                loaded.producer_tail(state)
        else:
            cute.arch.warpgroup_reg_alloc(232 if self.consumers == 2 else 240)
            part = mma.get_slice(cute.make_layout(self.consumers, stride=WARP_GROUP)(group - 1))
            a_parts = mma.make_fragment_A(part.partition_A(a_shared))
            b_parts = mma.make_fragment_B(part.partition_B(b_shared))
            sums = cute.make_rmem_tensor(part.partition_C(c_tiles).shape[:3], cutlass.Float32)
            read = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, self.stages)
            done = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, self.stages)

            store_op = sm90.sm90_get_smem_store_op(
                self.c_kind, elem_ty_d=self.c_dtype, elem_ty_acc=cutlass.Float32
            )
            by_matrix = cute.make_tiled_copy_C_atom(
                cute.make_copy_atom(warp.StMatrix8x8x16bOp(False, 4), self.dtype), mma
            )
            to_shared = cute.make_tiled_copy_S(store_op, by_matrix)
            mine = to_shared.get_slice(thread - WARP_GROUP)
            c_to = mine.partition_D(c_shared)
            sums_by_store = to_shared.retile(sums)
            piece_shape = cute.shape(mine.partition_S(c_shared))[:3]
            piece = cute.make_rmem_tensor(piece_shape, cutlass.Float32)
            rounded = cute.make_rmem_tensor(piece_shape, self.c_dtype)
            stored = pipeline.PipelineTmaStore.create(
                num_stages=self.epilogue_stages,
                producer_group=pipeline.CooperativeGroup(
                    pipeline.Agent.Thread, self.consumers * WARP_GROUP
                ),
            )
            slot = cutlass.Int32(0)

            for index in range(first, self.rows * self.columns, stride):
                row, column = self.tile_of(index, rank)
                mma.set(warpgroup.Field.ACCUMULATE, False)
                for k in range(steps):
                    loaded.consumer_wait(read)
                    warpgroup.fence()
                    for i in cutlass.range_constexpr(cute.size(a_parts, mode=[2])):
                        cute.gemm(
                            mma,
                            sums,
                            a_parts[None, None, i, read.index],
                            b_parts[None, None, i, read.index],
                            sums,
                        )
                        mma.set(warpgroup.Field.ACCUMULATE, True)
                    warpgroup.commit_group()
                    warpgroup.wait_group(1)
                    if k > 0:
                        loaded.consumer_release(done)
                        done.advance()
                    read.advance()
                warpgroup.wait_group(0)
                loaded.consumer_release(done)
                done.advance()

                out = cute.zipped_divide(c_tiles[None, None, row, column], self.epilogue_tile)
                c_from, c_out = cpasync.tma_partition(
                    c_atom, 0, cute.make_layout(1), cute.group_modes(c_shared, 0, 2), out
                )
                for i in cutlass.range_constexpr(bn // self.epilogue_tile[1]):
                    for j in cutlass.range_constexpr(cute.size(piece)):
                        piece[j] = sums_by_store[i * cute.size(piece) + j]
                    rounded.store(piece.load().to(self.c_dtype))
                    cute.copy(to_shared, rounded, c_to[None, None, None, slot])
                    cute.arch.fence_proxy("async.shared", space="cta")
                    self.barrier.arrive_and_wait()
                    if warp_index == 4:
                        cute.copy(c_atom, c_from[None, slot], c_out[None, (0, i)])
                        stored.producer_commit()
                        stored.producer_acquire()
                    self.barrier.arrive_and_wait()
                    slot = (slot + 1) % self.epilogue_stages
            stored.producer_tail()
