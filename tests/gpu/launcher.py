#!/usr/bin/env python3
"""Releases of Triton (or of another compiler, --upstream) on one card: a backfill of compiled
kernel packages that were built elsewhere, every result verified, beside the vendor's libraries
where they are.

  on a build host, with a tracker.yml as in docs/how-to/track-a-compiler.md:
    tracker backfill triton --since=2025-01-01 --arch=sm_90a --export=triton.tar.zst
  on the card:
    tests/gpu/launcher.py --tracker build/tracker --bundle triton.tar.zst --out launcher.json

Prints a table release x problem (ms, TFLOP/s, change against the release before) and exits with 1
where a result is wrong or a job failed. The history is left in --folder, for `tracker diff`,
`bisect` and `site`."""

import argparse
import json
import os
import subprocess
import sys

HEADLINES = {
    "GEMM 4096^3 f16": "gemm:a=f16,acc=f32,b=f16,c=f16,k=4096,m=4096,n=4096,ta=n,tb=n",
    "attention fwd bf16 causal B4 H16 S4096 D128": (
        "attention:b=4,causal=1,d=128,dir=fwd,dtype=bf16,h=16,hkv=16,skv=4096,sq=4096"
    ),
}
VENDORS = {"gemm": ["cublaslt", "hopper_gemm"], "attention": ["cudnn", "hopper_flash"]}
CONFIG = """machine: card
devices: [cuda]
suites: [SUITE]
upstreams:
  - {name: UPSTREAM, kind: package}
measure: {modes: ["cuda:paced"], precision: 0.3%}
budgets: {measure: 300ms, job: 60s, job_memory: 120GiB, night: 1h, confirm: CONFIRM, bisect: 0s}
control: {problem: "gemm:m=2048,n=2048,k=2048,a=f32", every: 20}
paths: {cache: cache}
"""
SUITE = """title: headline problems
source: chosen for this script, no outside source
problems:
"""


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def call(o, *arguments):
    return subprocess.run(
        [o.tracker, *arguments],
        cwd=o.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


def read_rows(text):
    """{table: {uid: row}} of an export; rows without a uid are numbered."""
    tables = {}
    for i, line in enumerate(text.splitlines()):
        row = json.loads(line)
        tables.setdefault(row["table"], {})[row.get("uid", i)] = row
    return tables


def version_key(version):
    return [
        int(x) if x.isdigit() else -1
        for x in version.replace("rc", ".").replace(".post", ".").split(".")
    ]


def measurements(tables, name):
    """[(release, problem, run)] of an upstream, oldest release first."""
    out = []
    for run in tables.get("run", {}).values():
        series = tables["series"][run["series"]]
        upstream = tables["upstream"][series["upstream"]]
        if (
            upstream["name"] != name
            or series["metric"] != "time"
            or run.get("build") not in tables["build"]
        ):
            continue
        revision = tables["revision"][tables["build"][run["build"]]["revision"]]
        out.append((revision["rev"], tables["problem"][series["problem"]]["text"], run))
    return sorted(out, key=lambda row: (version_key(row[0]), row[1]))


def table(rows, flops):
    """{problem: [{release, ms, tflops, change_pct, ...}]}, and how many jobs have no timing."""
    out, bad = {}, 0
    for release, problem, run in rows:
        attributes = json.loads(run["attributes"] or "{}")
        median = attributes.get("median")
        verified = (attributes.get("verify") or {}).get("outcome", run["outcome"])
        line = {
            "release": release,
            "outcome": run["outcome"],
            "message": run["message"],
            "verify": verified,
        }
        if median:
            before = [x for x in out.get(problem, []) if "ms" in x]
            line.update(
                {
                    "ms": median * 1e-6,
                    "tflops": flops[problem] / median * 1e-3,
                    "half_width_pct": (attributes["hi"] - attributes["lo"]) / 2 / median * 100,
                    "config": (attributes.get("plan") or {}).get("algorithm"),
                }
            )
            line["change_pct"] = (line["ms"] / before[-1]["ms"] - 1) * 100 if before else None
        else:
            bad += 1
        out.setdefault(problem, []).append(line)
    return out, bad


def print_table(problems):
    names = {text: name for name, text in HEADLINES.items()}
    for problem in sorted(problems, key=lambda p: (p not in names, p)):
        print("\n== " + names.get(problem, problem))
        print(
            "%-10s %10s %10s %8s %8s  %s"
            % ("release", "ms", "TFLOP/s", "+-%", "change", "configuration")
        )
        for x in problems[problem]:
            if "ms" not in x:
                print("%-10s %s: %s" % (x["release"], x["outcome"], x["message"][:120]))
                continue
            change = "" if x["change_pct"] is None else "%+.1f %%" % x["change_pct"]
            print(
                "%-10s %10.4f %10.1f %8.2f %8s  %s"
                % (x["release"], x["ms"], x["tflops"], x["half_width_pct"], change, x["config"])
            )


def vendors(o, problems):
    """The same problems by the backends of VENDORS that this build has."""
    out = {}
    for op, backends in VENDORS.items():
        mine = [p for p in problems if p.startswith(op + ":")]
        for backend in backends if mine else []:
            done = call(o, "run", backend, *mine, "--format=json", "--seconds=0.3")
            try:
                answers = json.loads(done.stdout)
            except ValueError:
                print("\n%s: %s" % (backend, done.stderr.strip().splitlines()[-1:] or "no answer"))
                continue
            for problem, a in zip(mine, answers):
                r = a["result"] or {}
                if r.get("median"):
                    out.setdefault(problem, {})[backend] = {
                        "ms": r["median"] * 1e-6,
                        "tflops": r["flops"] / r["median"] * 1e-3,
                    }
    for problem, found in out.items():
        print(
            "\n%s\n   %s"
            % (
                problem,
                ", ".join(
                    "%s %.4f ms %.0f TFLOP/s" % (b, x["ms"], x["tflops"]) for b, x in found.items()
                ),
            )
        )
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tracker", default="build/tracker")
    parser.add_argument("--bundle", required=True)
    parser.add_argument("--upstream", default="triton", help="name of the upstream in the bundle")
    parser.add_argument(
        "--folder", default="launcher-history", help="for the history; made if it does not exist"
    )
    parser.add_argument("--out", default="launcher.json")
    parser.add_argument(
        "--all",
        action="store_true",
        help="the suite compilers-core instead of the two headline problems",
    )
    parser.add_argument(
        "--confirm", default="0s", help="time for A/B runs of suspected steps in each night"
    )
    o = parser.parse_args()
    o.tracker, o.folder, bundle = (os.path.abspath(p) for p in (o.tracker, o.folder, o.bundle))
    os.makedirs(o.folder, exist_ok=True)
    write(
        os.path.join(o.folder, "headlines.yml"),
        SUITE + "".join('  - problem: "%s"\n' % p for p in HEADLINES.values()),
    )
    write(
        os.path.join(o.folder, "tracker.yml"),
        CONFIG.replace("UPSTREAM", o.upstream)
        .replace("SUITE", "compilers-core" if o.all else "headlines.yml")
        .replace("CONFIRM", o.confirm),
    )
    done = call(o, "backfill", o.upstream, "--import=" + bundle, "--no-site")
    print(
        done.stdout.strip()
        + "\n"
        + "\n".join(line for line in done.stderr.splitlines() if line.startswith("tracker"))
    )
    tables = read_rows(call(o, "db", "export").stdout)
    flops = {p["text"]: p["flops"] for p in tables.get("problem", {}).values()}
    rows = measurements(tables, o.upstream)
    problems, bad = table(rows, flops)
    print_table(problems)
    beside = vendors(o, [p for p in HEADLINES.values() if p in problems])
    write(
        o.out,
        json.dumps({"problems": problems, "beside": beside, "backfill": done.stdout}, indent=1),
    )
    if not rows or bad:
        sys.exit("%d of %d jobs have no timing" % (bad, len(rows)))


if __name__ == "__main__":
    main()
