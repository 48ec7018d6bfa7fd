#!/usr/bin/env python3
"""How far do measurements of the same kernel in fresh processes differ? The tracker beside
triton.testing.do_bench, in the same run.

  tests/gpu/fidelity.py --rounds 30 --twice '1024^3,4096^3 bf16' --out fidelity.json
  tests/gpu/fidelity.py --rounds 0 --sustained 10 --only '4096^3 bf16,8192^3' --no-torch

--torch-after=ROUNDS: the tracker has the card to itself, then do_bench runs for ROUNDS rounds.
Without it, do_bench takes turns with the tracker.
--twice=NAMES: each round measures these problems in a second fresh process of the same build, in
turn before and after the first. Their difference is what the same build gives against itself.
"""

import argparse
import statistics
import time

import gpu_runs


def torch_round(calls, out):
    import triton.testing

    for name, call in calls.items():
        start = time.monotonic()
        ms = triton.testing.do_bench(call, return_mode="median")
        out.setdefault(name, []).append((ms * 1e6, time.monotonic() - start))


def tracker_round(tracker, mode, chosen, out, more):
    start = 0.0
    for backend, problems in gpu_runs.by_backend(chosen).items():
        answers, wall = gpu_runs.tracker_run(
            tracker, backend, [p for _, p in problems], mode, *more
        )
        start += wall - sum(a["wall_s"] for a in answers.values())
        for name, problem in problems:
            out.setdefault(name, []).append(answers[problem])
    return start


def row(name, answers):
    good = [a["result"] for a in answers if a["result"] and "median" in a["result"]]
    bad = [a["outcome"] + ": " + a["message"] for a in answers if a["outcome"] != "ok"]
    if not good:
        return {"name": name, "bad": bad[:3]}
    wide, quartiles = gpu_runs.spread([r["median"] for r in good])
    middle = lambda key: statistics.median(
        r[key] if r[key] is not None else float("nan") for r in good
    )
    cycles = [r["cycles"] for r in good if r.get("cycles")]
    return {
        "name": name,
        "n": len(good),
        "median_ns": middle("median"),
        "spread_pct": wide,
        "iqr_pct": quartiles,
        "cycles_spread_pct": gpu_runs.spread(cycles)[0] if cycles else None,
        "clock_mhz": middle("clock_mhz"),
        "rest_ms": middle("idle_gap_ns") / 1e6,
        "wall_s": statistics.median(a["wall_s"] for a in answers),
        "setup_s": middle("setup_s"),
        "verify_s": middle("verify_s"),
        "warmup_s": middle("warmup_s"),
        "measure_s": middle("measure_s"),
        "samples": middle("n"),
        "throttled": sum(r["throttled_samples"] for r in good),
        "kernel": good[0]["plan"]["kernel"] or good[0]["plan"]["algorithm"],
        "medians_ns": [round(r["median"], 2) for r in good],
        "bad": bad[:3],
    }


def ratios_of(first, second):
    """second / first of each round, by name; only where both were measured."""
    out = {}
    for name in second:
        pairs = [(a["result"] or {}, b["result"] or {}) for a, b in zip(first[name], second[name])]
        ratios = [b["median"] / a["median"] for a, b in pairs if "median" in a and "median" in b]
        if ratios:
            within = sum(abs(r - 1) <= 0.002 for r in ratios)
            out[name] = {
                "n": len(ratios),
                "within_0.2_pct": within,
                "median": statistics.median(ratios),
                "least": min(ratios),
                "most": max(ratios),
                "ratios": [round(r, 6) for r in ratios],
            }
            print(
                f"{name:26} ratio {out[name]['median']:.5f}  least {min(ratios):.5f}  most"
                f" {max(ratios):.5f}  within 0.2 %: {within} of {len(ratios)}"
            )
    return out


def show(title, rows):
    print(title)
    print(
        f"{'problem':26} {'median us':>10} {'spread %':>9} {'IQR %':>7} {'cyc sp%':>8} {'MHz':>6}"
        f" {'rest':>5} {'wall s':>7} {'setup':>6} {'verify':>6} {'warm':>6} {'meas':>6} {'n':>4}"
        f" {'thr':>4}"
    )
    for r in rows:
        if "median_ns" not in r:
            print(f"{r['name']:26} {r['bad'][:1]}")
            continue
        cycles = r["cycles_spread_pct"]
        print(
            f"{r['name']:26} {r['median_ns'] / 1e3:10.2f} {r['spread_pct']:9.3f}"
            f" {r['iqr_pct']:7.3f} {cycles if cycles is not None else 0:8.3f} {r['clock_mhz']:6.0f}"
            f" {r['rest_ms']:5.1f} {r['wall_s']:7.3f} {r['setup_s']:6.3f} {r['verify_s']:6.3f}"
            f" {r['warmup_s']:6.3f} {r['measure_s']:6.3f} {r['samples']:4.0f}"
            f" {r['throttled']:4d}{' ' + r['bad'][0][:60] if r['bad'] else ''}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tracker", default="build/tracker")
    parser.add_argument("--rounds", type=int, default=30, help="fresh processes, paced")
    parser.add_argument("--sustained", type=int, default=0, help="fresh processes, sustained")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument(
        "--torch-after",
        type=int,
        default=0,
        help="rounds of do_bench after those of the tracker, not between them",
    )
    parser.add_argument("--only", default="", help="parts of names, with commas between")
    parser.add_argument("--twice", default="", help="parts of names, with commas between")
    parser.add_argument("--budget", type=float, default=570, help="seconds; the rounds stop there")
    parser.add_argument("--out", default="fidelity.json")
    parser.add_argument("more", nargs="*", help="further options of tracker run")
    o = parser.parse_args()
    begin = time.monotonic()
    calls = {}
    chosen, twice = gpu_runs.choose(o.only), gpu_runs.choose(o.twice) if o.twice else []
    if not o.no_torch:
        import torch_calls
        import triton.testing  # loaded now; nothing is on the card before the first call

        make = lambda: {name: torch_calls.call_of(problem) for name, _, problem in chosen}
        calls = {} if o.torch_after else make()
    print(f"ready after {time.monotonic() - begin:.1f} s", flush=True)
    answers = {"paced": {}, "sustained": {}, "again": {}}
    torch, starts, done = {}, [], {"paced": 0, "sustained": 0}
    for mode, rounds in (("paced", o.rounds), ("sustained", o.sustained)):
        last = 0.0
        for i in range(rounds):
            start = time.monotonic()
            if start - begin + last > o.budget:
                break
            if mode == "paced" and twice and i % 2:
                tracker_round(o.tracker, mode, twice, answers["again"], o.more)
            starts.append(tracker_round(o.tracker, mode, chosen, answers[mode], o.more))
            if mode == "paced" and twice and i % 2 == 0:
                tracker_round(o.tracker, mode, twice, answers["again"], o.more)
            if mode == "paced" and calls:
                torch_round(calls, torch)
            done[mode] += 1
            last = time.monotonic() - start
    if o.torch_after:
        calls = make()
    for _ in range(o.torch_after):
        torch_round(calls, torch)
    result = {
        "machine": gpu_runs.machine(),
        "rounds": done,
        "process_start_s": statistics.median(starts) if starts else None,
    }
    for mode in ("paced", "sustained"):
        if answers[mode]:
            result[mode] = [row(name, answers[mode][name]) for name, _, _ in chosen]
            show(f"\n{mode}: {done[mode]} fresh processes", result[mode])
    if twice:
        print("\nthe same build against itself")
        result["twice"] = ratios_of(answers["paced"], answers["again"])
    if torch:
        result["do_bench"] = []
        print("\ntriton.testing.do_bench, median, in one process")
        for name, values in torch.items():
            wide, quartiles = gpu_runs.spread([v for v, _ in values])
            result["do_bench"].append(
                {
                    "name": name,
                    "median_ns": statistics.median(v for v, _ in values),
                    "spread_pct": wide,
                    "iqr_pct": quartiles,
                    "wall_s": statistics.median(w for _, w in values),
                }
            )
            print(
                f"{name:26} {result['do_bench'][-1]['median_ns'] / 1e3:10.2f} {wide:9.3f}"
                f" {quartiles:7.3f} wall {result['do_bench'][-1]['wall_s']:.3f}"
            )
    print(
        f"\nprocess start {result['process_start_s'] or 0:.2f} s for"
        f" {len(gpu_runs.by_backend(chosen))} backends; all {time.monotonic() - begin:.0f} s"
    )
    gpu_runs.save(o.out, result)


if __name__ == "__main__":
    main()
