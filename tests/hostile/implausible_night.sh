#!/bin/bash
# A night with a time that no device can reach: stored, shown everywhere, an alert at once, never a
# best and never a point.
# shellcheck disable=SC1090,SC2154
. "$TK_LIB"

# The null device under the name of one that has a data sheet.
cat >layer.c <<'END'
#define tk_device_entry null_entry
#include "device_null.c"
#undef tk_device_entry
static int info_with_name(struct tk_device *dev, struct tk_device_info *out,
	struct tk_abi_error *err)
{
	int status = null_info(dev, out, err);
	snprintf(out->name, sizeof out->name, "NVIDIA H100 80GB HBM3");
	return status;
}
TK_EXPORT const struct tk_device_ops *tk_device_entry(void)
{
	static struct tk_device_ops ops;
	ops = *null_entry();
	ops.info = info_with_name;
	return &ops;
}
END
mkdir backends && cp "$TRACKER_BACKENDS"/tk_*_null.so \
	"$TRACKER_BACKENDS"/tk_backend_{control,ceiling}.so backends/
cc -shared -fPIC -o backends/tk_device_null.so -I"$TK_SOURCE_ROOT/kernels/abi" \
	-I"$TK_SOURCE_ROOT/kernels/null" layer.c || fail "the layer cannot be built"
export TRACKER_BACKENDS=$PWD/backends
cat >suite.yml <<'YML'
title: one
source: made for this test
problems:
  - gemm: { m: 64, n: 64, k: 64 }
YML

night() { # DAY OPTIONS: of the backend that cheats from the second night on
	cat >tracker.yml <<YML
machine: testbed
devices: ["null:0"]
suites: [suite.yml]
budgets: { job: 60s, measure: 50ms, confirm: 0s }
control: { every: 0 }
upstreams:
  - { name: honest, kind: system, adapter: "null" }
  - { name: cheats, kind: system, adapter: "null", options: "$2" }
  - { name: always, kind: system, adapter: "null", options: "slow=1e-4" }
YML
	TRACKER_NOW=2026-11-$1T03:00:00Z run tracker nightly
}

night 10 slow=2
assert_code 1
assert_out "measured: 2 of 3 jobs, 3 verified, 1 implausible"
assert_err_matches \
	"warning: .*always.*: implausible: [0-9]+.+FLOP/s in f32; this device can do at most 359"
night 11 slow=1e-4
assert_code 1
assert_out "incomplete"
assert_out "1 newly-failed"

export TRACKER_NOW=2026-11-11T04:00:00Z
run tracker log
assert_out_matches 'OK +FAILED +WRONG +IMPLAUSIBLE +SKIPPED'
assert_out_matches ' +1 +0 +0 +2 +0 +1 newly failed'
run tracker log --format=json
assert_json '[n["jobs"]["implausible"] for n in d] == [2, 1]
	and all(n["jobs"]["failed"] == 0 for n in d)'
assert_json 'd[0]["summary"]["implausible"] == 2'

# Stored with its figures, but no point: neither a best nor a baseline.
tracker db export >history
figures() {
	python3 - <<'PYTHON'
import json

rows = [json.loads(line) for line in open("history")]
upstreams = {r["uid"]: r["name"] for r in rows if r["table"] == "upstream"}
revisions = {r["uid"]: upstreams[r["upstream"]] for r in rows if r["table"] == "revision"}
builds = {r["uid"]: revisions[r["revision"]] for r in rows if r["table"] == "build"}
points = {r["run"]: r.get("value") for r in rows if r["table"] in ("point", "measurement")}
assert points
for r in rows:
    if r["table"] == "run":
        a = json.loads(r["attributes"])
        has_figures = a.get("median", points.get(r["uid"])) > 0 and a["flops"] == 2 * 64**3
        print(
            builds[r["build"]],
            r["outcome"],
            "figures" if has_figures else "",
            "point" if r["uid"] in points else "none",
        )
PYTHON
}
assert_eq "$(figures | sed 's/unstable/ok/' | sort | tr '\n' ';')" \
	"always implausible figures none;always implausible figures none;cheats implausible figures none;cheats ok figures point;honest ok figures point;honest ok figures point;"
run tracker show 'cheats'
assert_code 0
assert_out "opened 2026-11-11"
assert_no_out "2026-11-11 03:00 " # among the points
refused=0
for number in 4 5 6; do # the runs of the second night, in any order
	run tracker show $number
	if [[ $out =~ outcome\ +implausible ]]; then
		assert_out_matches 'message +[0-9]+.+FLOP/s in f32; this device can do at most'
		assert_out_matches '  median +0\.[0-9]'
		refused=$((refused + 1))
	fi
done
assert_eq $refused 2
for baseline in window best first; do
	run tracker diff --last=1 --all --baseline=$baseline --format=json
	assert_json '{r["upstream"]: r["status"] for r in d["rows"]}
		== {"honest": "same", "cheats": "newly-failed", "always": "failing"}'
	assert_json 'all("at most" in r["reason"] and r["after"] is None for r in d["rows"]
		if r["upstream"] != "honest")'
done
run tracker diff --last=1 --all
assert_out_matches "implausible: [0-9]+.+FLOP/s"

# Two alerts, one in the night in which each of them first happened.
run tracker alert
assert_out_matches 'new +2026-11-11 .*implausible'
assert_out_matches 'new +2026-11-10 .*implausible'

for page in site/index.html site/series/*cheats*.html site/nights/2026-11-11*.html \
	site/api/alerts.json; do
	grep -q implausible "$page" || fail "$page does not say it"
done
assert_json '{s["upstream"]: (s["outcome"] == "implausible", s["value"] is not None)
	for s in d["series"]} == {"honest": (False, True), "cheats": (True, True),
	"always": (True, False)}' site/api/series.json
assert_json 'all(s["night"] == "2026-11-10T03:00:00Z" for s in d["series"] if s["upstream"]
	== "cheats")' site/api/series.json
