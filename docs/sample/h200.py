#!/usr/bin/env python3
"""Turns the results of three nights on one H200 (docs/results/h200-vendors.json of commit c9da515)
into records that `tracker import` reads: h200.py RESULTS.json > h200.ndjson

What the results say is taken as it is: medians of each night, the interval, number of samples and
algorithm of the last, ceilings. They have no samples and no telemetry, and the interval of an
earlier night is not known."""

import calendar, json, sys, time

results = json.load(open(sys.argv[1], encoding="utf-8"))
device = results["device"]
columns = results["columns"]
UPSTREAM = {"ceiling_cuda": "builtin", "control_cuda": "builtin"}
OPS = {"gemm": "a", "attention": "dtype", "copy": "dtype", "read": "dtype", "fma": "dtype"}


def seconds(iso):
    return calendar.timegm(time.strptime(iso, "%Y-%m-%dT%H:%M:%SZ"))


def title(text):
    op, pairs = text.split(":")
    p = dict(pair.split("=") for pair in pairs.split(","))
    if op == "gemm":
        types = p["a"] if p["a"] == p["c"] == p["b"] else f"{p['a']}→{p['c']}"
        return f"gemm {types} {p['m']}x{p['n']}x{p['k']} {p['ta']}{p['tb']}" + (
            f" x{p['batch']}" if "batch" in p else ""
        )
    if op == "attention":
        heads = p["h"] if p["h"] == p["hkv"] else f"{p['h']}/{p['hkv']}"
        length = p["sq"] if p["sq"] == p["skv"] else f"{p['sq']}x{p['skv']}"
        return (
            f"attention {p['dtype']} B{p['b']} H{heads} S{length} D{p['d']}"
            + (" causal" if p["causal"] == "1" else "")
            + (" bwd" if p["dir"] == "bwd" else "")
        )
    return f"{op} {p['dtype']} {int(p['bytes']) // 2**20} MiB" if "bytes" in p else text


def record(row, number, night, seq):
    r = dict(zip(columns, row))
    op, pairs = r["problem"].split(":")
    p = dict(pair.split("=") for pair in pairs.split(","))
    upstream, began = UPSTREAM.get(r["backend"], r["backend"]), seconds(night["started"])
    value = r["median ns by night"][number]
    last = max(i for i, v in enumerate(r["median ns by night"]) if v is not None) == number
    version = (
        results["revision"]
        if upstream == "builtin"
        else "13.1.0" if upstream.startswith("cublas") else "9.19.0"
    )
    attributes = {
        "plan": {"algorithm": r["algorithm"] or ""},
        "verify": {
            "done": True,
            "passed": True,
            "max_error": r["largest error"],
            "tolerance": r["its tolerance"],
        },
    }
    return {
        "machine": {"name": "h200", "attributes": json.dumps({"gpus": 1, "cores": 16})},
        "device": {
            "kind": "cuda",
            "name": "NVIDIA H200",
            "uuid": "",
            "arch": device["arch"],
            "slug": "h200-0",
        },
        "environment": {
            "attributes": json.dumps(
                {"driver": device["driver"], **device["attributes"]}, sort_keys=True
            )
        },
        "upstream": {"name": upstream, "kind": "system", "url": ""},
        "revision": {
            "rev": version,
            "parent": "",
            "position": 0,
            "author_time_s": 0,
            "commit_time_s": 0,
            "author": "",
            "subject": "",
        },
        "build": {
            "artifact_key": f"{upstream}-{version}",
            "adapter": "system",
            "toolchain": "",
            "flags": "",
            "arch": device["arch"],
            "status": "ok",
            "message": "",
            "log": "",
            "wall_s": 0.0,
            "size_bytes": 0,
            "built_s": began,
        },
        "problem": {
            "text": r["problem"],
            "op": op,
            "dtype": p[OPS[op]],
            "title": title(r["problem"]),
            "flops": r["flops"],
            "bytes": r["bytes"],
            "source": "",
            "family": "",
        },
        "series": {
            "slug": None,
            "backend": r["backend"],
            "config": "",
            "mode": r["mode"],
            "metric": "time",
            "unit": "ns",
            "better": "lower",
            "role": r["role"],
        },
        "night": {
            "kind": "nightly",
            "as_of_s": began,
            "started_s": began,
            "finished_s": began + night["wall_s"],
            "status": "incomplete" if night["outcomes"].get("skipped") else "complete",
            "seed": number,
            "config_hash": "",
            "tracker_version": "0.1.0",
            "summary": "{}",
        },
        "run": {
            "seq": seq,
            "as_of_s": began,
            "started_s": began + seq,
            "wall_s": 0.0,
            "outcome": r["outcome"] if last else "ok",
            "message": "",
            "attributes": json.dumps(attributes),
        },
        "measurement": {
            "value": value,
            "lo": r["lo of the last"] if last else None,
            "hi": r["hi of the last"] if last else None,
            "n": r["samples of the last"] if last else 0,
            "min": None,
            "q25": None,
            "q75": None,
            "p95": None,
            "flags": {"throttled": 1, "unstable": 2}.get(r["outcome"], 0) if last else 0,
        },
        "samples": None,
    }


for number, night in enumerate(results["nights"]):
    first = True
    for seq, row in enumerate(results["rows"]):
        if row[columns.index("median ns by night")][number] is None:
            continue
        out = record(row, number, night, seq)
        if first:
            out["ceilings"] = [
                {**{k: c[k] for k in ("name", "source", "value", "unit")}, "device": out["device"]}
                for c in results["ceilings"]
                if c["night"] == number
            ]
        first = False
        print(json.dumps(out, separators=(",", ":"), ensure_ascii=False))
