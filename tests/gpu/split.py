#!/usr/bin/env python3
"""One night on one GPU, then on all of them: how much faster is it? And what happens when workers
are killed in the middle, or a GPU is lost?

  tests/gpu/split.py --tracker build/tracker --out split.json
  tests/gpu/split.py --nights killed,lost --lost-backends FOLDER      # one GPU is enough

The night `lost` needs tests/gpu/lost_device.c as the CUDA layer of a second folder of modules
(--lost-backends).
"""

import argparse
import collections
import json
import os
import re
import signal
import subprocess
import time

import gpu_runs

FLAG = "/tmp/lost"  # as compiled into lost_device.c
CONFIG = """machine: gpus
devices: [cuda]
suites: [suite.yml]
upstreams:
  - {name: cublas, kind: system, backends: [cublas]}
  - {name: cublaslt, kind: system, backends: [cublaslt]}
  - {name: cudnn, kind: system, backends: [cudnn]}
measure: {modes: [cuda:paced], precision: 0.5%}
budgets: {measure: 300ms, job: 30s, job_memory: 100GiB}
control: {every: 0}
paths: {db: NAME.db}
"""
# Parts of gemm-core and attention-core.
SUITE = """title: parts of the core suites
source: gemm-core and attention-core
problems:
  - gemm: { m: [1, 16, 4096], a: bf16 }
    each:
      - { n: 12288, k: 4096 }
      - { n: 7168, k: 8192 }
      - { n: 8192, k: 3584 }
      - { n: 16384, k: 2048 }
  - gemm: { m: [512, 1024, 2048, 4096, 8192], n: $m, k: $m, a: [bf16, f16] }
  - attention: { sq: [512, 1024, 2048, 4096, 8192, 16384], b: 16384/$sq, dtype: f16 }
    each:
      - { d: [64, 128], h: 2048/$d, causal: [no, yes] }
"""


def uuids():
    text = subprocess.run(
        ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    ).stdout
    return text.split()


def children(tracker_pid):
    out = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as f:
                if int(f.read().rsplit(")", 1)[1].split()[1]) == tracker_pid:
                    out.append(int(name))
        except OSError:
            pass
    return out


def workers_on(uuid, tracker_pid):
    """Processes of this tracker that have the device open; where the driver lists none of them and
    there is one device, all."""
    text = subprocess.run(
        ["nvidia-smi", "--query-compute-apps=pid,gpu_uuid", "--format=csv,noheader"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    ).stdout
    listed = [int(line.split(",")[0]) for line in text.splitlines() if uuid in line]
    mine = children(tracker_pid)
    found = [pid for pid in mine if pid in listed]
    return found or (mine if len(uuids()) == 1 else [])


def lose(uuid, tracker_pid, flag):
    """Ends the processes that have the device open; with the flag, no other can open it any
    more."""
    if flag:
        with open(FLAG, "w", encoding="utf-8") as f:
            f.write(uuid + "\n")
    pids = workers_on(uuid, tracker_pid)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    return len(pids)


def night(tracker, name, devices, more=(), environment=None, loss=None, flag=False):
    """Runs one; the time of the suite's jobs is that between the first line of progress and the end
    of the stage."""
    with open("suite.yml", "w", encoding="utf-8") as f:
        f.write(SUITE)
    with open("tracker.yml", "w", encoding="utf-8") as f:
        f.write(CONFIG.replace("NAME", name))
    begin = time.monotonic()
    p = subprocess.Popen(
        [tracker, "nightly", "--no-site", f"--devices={devices}", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    marks, log, ended = [], [], 0
    for line in p.stderr:
        at = time.monotonic() - begin
        m = re.match(r"\[measure\] (\d+)/(\d+)", line)
        if m:
            marks.append((at, int(m[1]), int(m[2])))
            if loss and not ended and int(m[1]) > 0.4 * int(m[2]):
                ended = lose(loss, p.pid, flag)
        elif line.startswith("[measure]"):
            marks.append((at, 0, 0))
        elif line.startswith("[detect]"):
            marks.append((at, -1, 0))
        elif "warning" in line and len(log) < 40:
            log.append(line.strip()[:300])
    code = p.wait()
    first = min((at for at, n, _ in marks if n == 0), default=0)
    last = max((at for at, n, _ in marks if n == -1), default=0)
    out = {
        "name": name,
        "exit_code": code,
        "wall_s": time.monotonic() - begin,
        "measure_s": last - first,
        "log": log,
        **outcomes(tracker),
    }
    if loss:
        out["workers_ended"] = ended
    print(
        f"{name}: exit code {code}, whole night {out['wall_s']:.1f} s, its jobs"
        f" {out['measure_s']:.1f} s, {out['by_device']}",
        flush=True,
    )
    return out


def outcomes(tracker):
    text = subprocess.run(
        [tracker, "db", "export"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    rows = [json.loads(line) for line in text.splitlines()]
    device = {r["uid"]: r["slug"] for r in rows if r["table"] == "device"}
    series = {r["uid"]: r for r in rows if r["table"] == "series"}
    count = collections.Counter()
    busy, said = collections.Counter(), collections.Counter()
    for r in rows:
        if r["table"] == "run":
            s = series[r["series"]]
            count[f"{device[s['device']]} {s['role']} {r['outcome']}"] += 1
            if r["outcome"] not in ("ok", "unstable", "throttled", "unsupported"):
                said[f"{r['outcome']}: {r['message'][:120]}"] += 1
            busy[device[s["device"]]] += r["wall_s"]
    return {
        "by_device": dict(sorted(count.items())),
        "busy_s": {k: round(v, 2) for k, v in sorted(busy.items())},
        "messages": dict(said),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tracker", default="build/tracker")
    parser.add_argument("--nights", default="one,all", help="of one, all, killed, lost")
    parser.add_argument("--lost-backends", default="")
    parser.add_argument("--out", default="split.json")
    o = parser.parse_args()
    tracker, gpus, wanted = os.path.abspath(o.tracker), uuids(), o.nights.split(",")
    out = {"machine": gpu_runs.machine(), "nights": []}

    def one(*arguments, **named):
        out["nights"].append(night(tracker, *arguments, **named))
        gpu_runs.save(o.out, out)
        return out["nights"][-1]

    first = one("one", "cuda:0") if "one" in wanted else None
    if "all" in wanted:
        last = one("all", "cuda", ["--split"])
        if first:
            out["speed_up"] = {key: first[key] / last[key] for key in ("wall_s", "measure_s")}
            print(
                f"{len(gpus)} GPUs against one: jobs {out['speed_up']['measure_s']:.2f} times as"
                f" fast, the whole night {out['speed_up']['wall_s']:.2f}",
                flush=True,
            )
    if "killed" in wanted:
        one("killed", "cuda", ["--split"], loss=gpus[-1])
    if "lost" in wanted:
        if os.path.exists(FLAG):
            os.remove(FLAG)
        one(
            "lost",
            "cuda",
            ["--split"],
            environment={"TRACKER_BACKENDS": os.path.abspath(o.lost_backends)},
            loss=gpus[-1],
            flag=True,
        )
    gpu_runs.save(o.out, out)


if __name__ == "__main__":
    main()
