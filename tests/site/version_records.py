#!/usr/bin/env python3
"""Writes records of packages and a vendor's library, as `tracker import` reads them:
version_records.py
version_records.py --pairs HISTORY.db adds A/B pairs, which records do not have, to the imported
scenario. $RECORDS_BEGIN is the time of its first night."""

import json
import os
import sqlite3
import sys

GEMM = "gemm:a=f16,acc=f32,b=f16,c=f16,k=4096,m=4096,n=4096,ta=n,tb=n"
ATTENTION = "attention:b=4,causal=1,d=128,dir=fwd,dtype=bf16,h=16,hkv=16,skv=4096,sq=4096"
TITLES = {GEMM: "gemm f16 4096x4096x4096 nn", ATTENTION: "attention bf16 B4 H16 S4096 D128 causal"}
FLOPS = {GEMM: 2.0 * 4096**3, ATTENTION: 274877906944.0}
BEGIN = int(os.environ.get("RECORDS_BEGIN", "1760000000"))
seq = 0


def record(upstream, version, series, value, half=0.001, kernels=None, algorithm="", driver="580"):
    """upstream: name, kind, backend; version: text, position, day; series: problem, config, metric"""
    global seq
    seq += 1
    name, kind, backend = upstream
    rev, position, day = version
    problem, config, metric = series
    at_s = BEGIN + day * 86400
    plan = {"algorithm": algorithm, "kernel": "", "workspace_bytes": 0}
    return {
        "format": 1,
        "machine": {"name": "h200", "attributes": "{}"},
        "device": {
            "kind": "cuda",
            "name": "NVIDIA H200",
            "uuid": "",
            "arch": "sm_90",
            "slug": "cuda-0",
        },
        "environment": {"attributes": json.dumps({"driver": driver})},
        "upstream": {"name": name, "kind": kind, "url": ""},
        "revision": {
            "rev": rev,
            "parent": "",
            "position": position,
            "author_time_s": at_s,
            "commit_time_s": at_s,
            "author": "",
            "subject": f"{name} {rev}",
        },
        "build": {
            "artifact_key": f"{name}-{rev}",
            "adapter": name,
            "toolchain": "",
            "flags": "",
            "arch": "sm_90a",
            "status": "ok",
            "message": "",
            "log": "",
            "wall_s": 20.0,
            "size_bytes": 1000,
            "built_s": at_s,
        },
        "problem": {
            "text": problem,
            "op": problem.split(":")[0],
            "dtype": "f16" if problem == GEMM else "bf16",
            "title": TITLES[problem],
            "flops": FLOPS[problem],
            "bytes": 1e8,
            "source": "",
            "family": "",
        },
        "series": {
            "slug": None,
            "backend": backend,
            "config": config,
            "mode": "paced",
            "metric": metric,
            "unit": "ns",
            "better": "lower",
            "role": "suite",
        },
        "night": {
            "kind": "backfill",
            "as_of_s": at_s,
            "started_s": at_s,
            "finished_s": at_s + 60,
            "status": "complete",
            "seed": 1,
            "config_hash": "",
            "tracker_version": "0.1.0",
            "summary": "{}",
        },
        "run": {
            "seq": seq,
            "as_of_s": at_s,
            "started_s": at_s + seq,
            "wall_s": 0.1,
            "outcome": "ok",
            "message": "",
            "attributes": json.dumps({"plan": plan}),
        },
        "measurement": {
            "value": value,
            "lo": value * (1 - half),
            "hi": value * (1 + half),
            "n": 30,
            "min": None,
            "q25": None,
            "q75": None,
            "p95": None,
            "flags": 0,
        },
        "samples": None,
        "kernels": kernels,
    }


def kernel(problem, config, code, registers, spills=0, total=800):
    return {
        "backend": "triton",
        "name": f"sm_90 kernel {problem} {config}",
        "code_hash": code * 64,
        "size_bytes": 8000,
        "registers": registers,
        "spill_bytes": spills,
        "shared_bytes": 98304,
        "threads": 256,
        "occupancy_percent": None,
        "instructions": f"total={total} LDL={spills // 4} BAR=1",
    }


def scenario():
    """Attention is faster with 3.9.0 by another configuration and slower with 3.10.0, whose position
    is wrong on purpose; the GEMM stays, and 3.10.0 has the same code of it."""
    triton, cudnn = ("triton", "package", "triton"), ("cudnn", "system", "cudnn")
    versions = [("3.8.0", 1, 0), ("3.10.0", 2, 20), ("3.9.0", 3, 10)]
    attention = {"3.8.0": (900e3, 800e3), "3.9.0": (600e3, 810e3), "3.10.0": (660e3, 805e3)}
    compile_ns = {"3.8.0": 1.5e9, "3.9.0": 2.0e9, "3.10.0": 3.0e9}
    for version in versions:
        rev = version[0]
        old = rev == "3.8.0"
        kernels = [
            kernel(GEMM, "128x256-w8", "a" if old else "b", 200),
            kernel(ATTENTION, "128x128-w8", rev[2], 168 if rev == "3.9.0" else 255, 48, 816),
            kernel(ATTENTION, "64x64-w4", "c", 128),
        ]
        for config, value in zip(("128x128-w8", "64x64-w4"), attention[rev]):
            # all kernels of a build are in one of its records
            yield record(triton, version, (ATTENTION, config, "time"), value, kernels=kernels)
            yield record(triton, version, (ATTENTION, config, "compile"), compile_ns[rev])
            kernels = None
        # the series does not say which configuration ran
        driver = "590" if rev == "3.9.0" else "580"
        value = 200e3 if old else 201e3
        gemm = record(triton, version, (GEMM, "", "time"), value, algorithm="128x256-w8")
        gemm["environment"]["attributes"] = json.dumps({"driver": driver})
        yield gemm
    yield record(cudnn, ("9.19", 1, 5), (ATTENTION, "", "time"), 480e3)
    numpy = ("numpy", "package", "numpy")
    for i in range(43):  # more than are shown; one of them failed
        if i != 20:
            yield record(numpy, (f"2.{i}", i, i), (GEMM, "", "time"), 400e3)
    yield record(numpy, ("2.20", 20, 20), (ATTENTION, "", "time"), 700e3)
    hostile = ("<script>alert(1)</script>", "package", "<script>alert(2)</script>")
    for i, rev in enumerate(("<script>alert(3)</script>", "1.0")):
        yield record(hostile, (rev, i, i), (GEMM, "<b>", "time"), 300e3 * (1 + i))


def add_pairs(path):
    """Attention: 3.10.0 is 9.5 to 10.5 % slower than 3.9.0 in 8 pairs."""
    db = sqlite3.connect(path)
    builds = dict(db.execute("SELECT artifact_key, id FROM build"))
    good, bad = builds["triton-3.9.0"], builds["triton-3.10.0"]
    (series,) = db.execute(
        "SELECT s.id FROM series s JOIN problem p ON p.id = s.problem_id WHERE p.text = ?"
        " AND s.config = '128x128-w8' AND s.metric = 'time'",
        (ATTENTION,),
    ).fetchone()
    (night,) = db.execute("SELECT max(night_id) FROM run WHERE build_id = ?", (bad,)).fetchone()
    for pair in range(8):
        before, after = 600e3, 600e3 * (1.095 + 0.01 * pair / 7)
        db.execute(
            "INSERT INTO ab_pair(uid, night_id, series_id, base_build_id, head_build_id, pair,"
            " started_s, wall_s, first, base_outcome, head_outcome, base_median, head_median,"
            " base_min, head_min)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, 'ok', 'ok', ?, ?, ?, ?)",
            (f"{pair:032x}", night, series, good, bad, pair, BEGIN, ("base", "head")[pair % 2])
            + (before, after, before, after),
        )
    db.commit()


if sys.argv[1:2] == ["--pairs"]:
    add_pairs(sys.argv[2])
else:
    for r in scenario():
        print(json.dumps(r))
