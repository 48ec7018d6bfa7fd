#!/usr/bin/env python3
"""What kernels/adapters/cutedsl does without CuTe DSL: choice of tiles, order of tiles, launches
and tensor maps read out of host code."""

import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [
    os.path.join(ROOT, "kernels", "launcher"),
    os.path.join(ROOT, "kernels", "adapters", "cutedsl"),
]
sys.dont_write_bytecode = True

import host_code  # noqa: E402
import problems  # noqa: E402
import tiles  # noqa: E402
from package import Unsupported  # noqa: E402

SHARED_BYTES = 227 * 1024
GEMM = "gemm:a=f16,acc=f32,b=f16,c=f16,k=%d,m=%d,n=%d,ta=%s,tb=%s"
ATTENTION = "attention:b=1,causal=1,d=%d,dir=%s,dtype=bf16,h=8,hkv=2,skv=%d,sq=%d"


def place(number, base, index):
    return (
        "    %%%d = llvm.getelementptr %%%d[%s] : (!llvm.ptr) -> !llvm.ptr, !llvm.array<16 x i64>\n"
        % (number, base, index)
    )


def host_function(words, launch):
    """As CuTe DSL writes it: a function that stores constants and words into variables."""
    text, number = "  llvm.func @host(%arg0: !llvm.ptr) -> i32 {\n", 100
    text += "    %1 = llvm.alloca %0 x i64 {alignment = 64 : i64} : (i32) -> !llvm.ptr\n"
    text += (
        "    %2 = llvm.alloca %0 x !llvm.struct<(array<3 x i32>, array<3 x i32>, i64, ptr, ptr,"
        " i32)> : (i32) -> !llvm.ptr\n"
    )
    stores = [(1, "0, %d" % i, w) for i, w in words.items()] + [
        (2, "0, " + where, value) for where, value in launch.items()
    ]
    for base, index, value in stores:
        text += (
            "    %%%d = llvm.mlir.constant(%d : i64) : i64\n" % (number, value)
            if value is not None
            else "    %%%d = llvm.add %%7, %%8 : i64\n" % number
        )
        text += place(number + 1, base, index) + "    llvm.store %%%d, %%%d : i64, !llvm.ptr\n" % (
            number,
            number + 1,
        )
        number += 2
    return "  llvm.func @other() {\n  }\n" + text + "    llvm.return %0 : i32\n  }\n"


LAUNCH = {"0, 0": 132, "0, 1": 1, "0, 2": 1, "1, 0": 384, "1, 1": 1, "1, 2": 1, "2": 230400}
# f16, 4096 x 4096, box 64 x 128, swizzled by 128 bytes; the same with four dimensions, bf16: both
# as CuTe DSL 4.8.1 writes them
TWO = {1: 0x20000246312, 2: 0, 3: 0, 4: 0xFFF00000FFF, 5: 0, 6: 0x3F << 56, 7: 0x7F}
FOUR = {
    1: 0x10000246532,
    2: 0x10000000000010,
    3: 0,
    4: 0xFFF0000007F,
    5: 0x30000000F,
    6: 0x3F << 56,
    7: 0x3F,
}


class HostCode(unittest.TestCase):
    def test_launch_and_map(self):
        launch, maps = host_code.read(host_function(TWO, LAUNCH), "host")
        self.assertEqual(
            launch, {"grid": [132, 1, 1], "block": [384, 1, 1], "shared_bytes": 230400}
        )
        self.assertEqual(
            maps,
            [
                {
                    "type": "f16",
                    "dims": [4096, 4096],
                    "strides_bytes": [8192],
                    "box": [64, 128],
                    "swizzle": 128,
                }
            ],
        )

    def test_four_dimensions(self):
        _, maps = host_code.read(host_function(FOUR, LAUNCH), "host")
        self.assertEqual(
            maps,
            [
                {
                    "type": "bf16",
                    "dims": [128, 4096, 16, 4],
                    "strides_bytes": [4096, 256, 1 << 24],
                    "box": [64, 64, 1, 1],
                    "swizzle": 128,
                }
            ],
        )

    def test_refusals(self):
        refused = [
            (TWO, dict(LAUNCH, **{"2": None})),
            (TWO, {k: v for k, v in LAUNCH.items() if k != "0, 1"}),
            (dict(TWO, **{}), {}),
            ({**TWO, 4: None}, LAUNCH),
            ({**TWO, 3: 1}, LAUNCH),
            ({**TWO, 1: TWO[1] | 15 << 7}, LAUNCH),
        ]
        for words, launch in refused:
            with self.subTest(words=words, launch=launch), self.assertRaises(RuntimeError):
                host_code.read(host_function(words, launch), "host")
        with self.assertRaises(RuntimeError):
            host_code.read(host_function(TWO, LAUNCH), "hos")


class Tiles(unittest.TestCase):
    def test_every_tile_once(self):
        for rows, columns, group, cluster in (
            (16, 16, 8, (2, 1)),
            (5, 3, 4, (1, 2)),
            (1, 7, 16, (1, 1)),
            (9, 1, 8, (2, 1)),
        ):
            with self.subTest(rows=rows, columns=columns):
                found = [
                    tiles.tile_of(i, rank, rows, columns, group, cluster, min)
                    for i in range(rows * columns)
                    for rank in range(cluster[0] * cluster[1])
                ]
                self.assertEqual(
                    sorted(found),
                    [(r, c) for r in range(rows * cluster[0]) for c in range(columns * cluster[1])],
                )

    def test_group_shares_columns(self):
        self.assertEqual(
            [tiles.tile_of(i, 0, 4, 3, 2, (1, 1), min) for i in range(7)],
            [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 0)],
        )


class Problems(unittest.TestCase):
    def test_first_configuration(self):
        for (k, m, n), name in (
            ((4096, 4096, 4096), "128x256x64-c1x1-s4"),
            ((4096, 16, 4096), "64x64x64-c1x1-s8"),
        ):
            self.assertEqual(problems.calls(GEMM % (k, m, n, "n", "t"), 1)[0][0], name)
        self.assertEqual(
            problems.calls(ATTENTION % (128, "fwd", 4096, 4096), 9)[0][0], "128x128-s2-turns"
        )

    def test_names_are_unique(self):
        for problem in (GEMM % (512, 512, 512, "n", "n"), ATTENTION % (64, "fwd", 384, 384)):
            names = [name for name, _ in problems.calls(problem, 99)]
            self.assertEqual(len(names), len(set(names)))
            self.assertGreaterEqual(len(names), 3)

    def test_shared_memory(self):
        for (bm, bn, bk), _, _, stages, _ in problems.GEMM_TILES:
            self.assertLessEqual(
                stages * (bm + bn) * bk * 2 + 4 * bm * min(32, bn) * 2 + 2048,
                SHARED_BYTES,
                (bm, bn, bk),
            )
        for d, choices in problems.ATTENTION_TILES.items():
            for keys, consumers, stages, _ in choices:
                self.assertLessEqual(
                    (64 * consumers + 2 * stages * keys) * d * 2 + 2048, SHARED_BYTES, (d, keys)
                )

    def test_attention_tiles_divide(self):
        self.assertNotIn(
            "192x128-s2-turns",
            [name for name, _ in problems.calls(ATTENTION % (64, "fwd", 512, 512), 9)],
        )
        self.assertIn(
            "192x128-s2-turns",
            [name for name, _ in problems.calls(ATTENTION % (64, "fwd", 384, 384), 9)],
        )

    def test_unsupported(self):
        refused = [
            GEMM % (64, 64, 63, "n", "n"),
            GEMM % (63, 64, 64, "n", "n"),
            GEMM % (64, 63, 64, "t", "n"),
            GEMM.replace("c=f16", "c=f32") % (64, 64, 64, "n", "n"),
            GEMM.replace("a=f16", "batch=2,a=f16") % (64, 64, 64, "n", "n"),
            ATTENTION % (64, "bwd", 128, 128),
            ATTENTION % (96, "fwd", 128, 128),
            ATTENTION % (64, "fwd", 256, 128),
            ATTENTION % (64, "fwd", 100, 100),
            ATTENTION.replace("b=1", "b=1,scale=-0.1") % (64, "fwd", 128, 128),
            "nsa:b=1,s=64,h=16,hkv=1,d=64,block_size=64,selected_blocks=4,window=0,dtype=bf16",
        ]
        for problem in refused:
            with self.subTest(problem=problem), self.assertRaises(Unsupported):
                problems.calls(problem, 1)


if __name__ == "__main__":
    unittest.main()
