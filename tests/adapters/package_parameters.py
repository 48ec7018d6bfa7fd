#!/usr/bin/env python3
"""The parameters that adapters of compilers name in their manifests: the configurations of a problem
have the same names, each other values, and a text that the launcher takes. They are written into
manifests, of code and of failures."""

import importlib
import importlib.metadata
import json
import os
import re
import sys
import tempfile
import types

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "kernels", "launcher")]
sys.dont_write_bytecode = True
importlib.metadata.version = lambda name: "3.12.0"  # of IREE's compiler, which is not needed here

import package  # noqa: E402

GEMM = "gemm:a=%s,acc=f32,b=%s,c=f16,k=%d,m=%d,n=%d,ta=n,tb=t"
ATTENTION = "attention:b=1,causal=1,d=%d,dir=%s,dtype=f16,h=8,hkv=2,skv=1024,sq=1024"
NSA = (
    "nsa:b=1,block_size=%d,causal=1,d=128,dtype=bf16,h=64,hkv=4,s=8192,selected_blocks=16,window=0"
)
PROBLEMS = (
    [GEMM % (a, a, k, m, 4096) for a in ("f16", "f32") for k in (512, 8192) for m in (16, 1024)]
    + [ATTENTION % (d, way) for d in (64, 128, 256) for way in ("fwd", "bwd")]
    + [NSA % block for block in (16, 32, 64)]
)


def load(adapter, module):
    """A module of the adapter; adapters have modules of the same names."""
    folder = os.path.join(ROOT, "kernels", "adapters", adapter)
    for name in ("problems", "programs", "compile", "gpu"):
        sys.modules.pop(name, None)
    sys.path.insert(0, folder)
    loaded = importlib.import_module(module)
    sys.path.remove(folder)
    return loaded


def names_of(calls, parameters, problem):
    """The names that all configurations of a problem have; None: the adapter does not do it."""
    try:
        chosen = calls(problem)
    except package.Unsupported:
        return None
    named = [parameters(call) for _, call in chosen]
    text = [",".join("%s=%d" % pair for pair in p.items()) for p in named]
    assert all(list(p) == list(named[0]) for p in named), named
    assert all(isinstance(x, int) for p in named for x in p.values()), named
    assert all(re.fullmatch("[a-z][a-z0-9_]{,30}", name) for name in named[0]), named
    assert not named[0] or len(set(text)) == len(text), text
    assert all(len(t) < 128 for t in text), text
    return list(named[0]), len(chosen)


def count(calls, parameters):
    found = [names_of(calls, parameters, problem) for problem in PROBLEMS]
    return max(n for names, n in filter(None, found) if names)


triton = load("triton", "problems")
for kind, units in (("cuda", 132), ("hip", 304)):
    target = types.SimpleNamespace(kind=kind, units=units, version=(3, 6))
    calls = lambda problem, target=target: triton.calls(problem, target, 99)  # noqa: E731
    parameters = lambda call, kind=kind: triton.parameters(call, kind)  # noqa: E731
    assert count(calls, parameters) > 4
    names = names_of(calls, parameters, PROBLEMS[3])[0]
    assert names[:5] == ["block_m", "block_n", "block_k", "num_warps", "num_stages"], names
    assert ("waves_per_eu" in names) == (kind == "hip"), names
    assert ("persistent" in names) == (kind == "cuda"), names
for adapter in ("tilelang", "cutedsl"):
    problems = load(adapter, "problems")
    calls = lambda problem, problems=problems: problems.calls(problem, 99)  # noqa: E731
    assert count(calls, problems.parameters) > 2, adapter
iree = load("iree", "compile")
calls = lambda problem: iree.list_calls(problem, 99)  # noqa: E731
assert names_of(calls, iree.tile_parameters, PROBLEMS[0]) == (["tile_m", "tile_n"], 3)
assert [iree.tile_parameters(c) for _, c in calls(PROBLEMS[0])][1] == {"tile_m": 8, "tile_n": 32}
assert names_of(calls, iree.tile_parameters, ATTENTION % (64, "fwd")) == ([], 1)


def compile_call(call):
    if call == 2:
        raise package.CompileError("no")
    return b"code", {"launches": [], "compile_seconds": 1}


def write(parameters):
    """{configuration: "parameters" of its manifest}"""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TK_PROBLEMS"] = os.path.join(folder, "problems")
        with open(os.environ["TK_PROBLEMS"], "w", encoding="utf-8") as f:
            json.dump({"problems": ["gemm:m=1"]}, f)
        out = os.path.join(folder, "out")
        options = types.SimpleNamespace(out=out, target="any", configs=9)
        calls = lambda problem, most: [("one", 1), ("two", 2)]  # noqa: E731
        producer = {"name": "x", "version": "1"}
        package.write(options, producer, "so", calls, compile_call, parameters)
        found = {}
        for name in os.listdir(out):
            if name.endswith(".json"):
                with open(os.path.join(out, name), encoding="utf-8") as f:
                    manifest = json.load(f)
                found[manifest["configuration"]] = manifest.get("parameters")
        return found


sys.stdout = sys.stderr
assert write(None) == {"one": None, "two": None}
assert write(lambda call: {"size": call}) == {"one": {"size": 1}, "two": {"size": 2}}
