"""versions.py RESULTS VENDOR OUTCOME...: what the scripts of versions.sh measured, beside the vendor.
Fails where a version has no answers, or one with another outcome than these."""

import json, pathlib, re, sys

results, vendor, *outcomes = sys.argv[1:]


def flops(problem):
    f = dict(re.findall(r"[:,](\w+)=(\w+)", problem))
    if problem.startswith("gemm:"):
        return 2 * int(f["m"]) * int(f["n"]) * int(f["k"])
    b, h, d, sq, skv = (int(f.get(k, f["sq"])) for k in ("b", "h", "d", "sq", "skv"))
    products = 5 if f["dir"] == "bwd" else 2
    return 2 * products * b * h * d * sq * skv // (2 if f["causal"] == "1" else 1)


answers = {
    path.stem: json.loads(path.read_text() or "[]")
    for path in sorted(pathlib.Path(results).glob("*.json"))
}
best = {
    a["problem"]: a["result"]["median"] for a in answers.get(vendor, []) if a["outcome"] in outcomes
}
bad = 0
for name, rows in answers.items():
    is_version = "@" in name
    bad += is_version and not rows
    for a in rows:
        if a["outcome"] not in outcomes:
            bad += is_version
            print(f"{name:44} {a['problem']:84} {a['outcome']}: {a['message']}")
            continue
        ns = a["result"]["median"]
        percent = f"{100 * best[a['problem']] / ns:.1f} %" if a["problem"] in best else "-"
        print(
            f"{name:44} {a['problem']:84} {ns / 1000:10.2f} us"
            f" {flops(a['problem']) / ns / 1000:7.1f} TFLOP/s {percent:>8}"
        )
versions = sum("@" in name for name in answers)
print(f"{versions} versions and configurations, {bad} bad answers")
sys.exit(bad > 0 or not versions)
