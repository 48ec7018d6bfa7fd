#!/bin/bash
# The files of a dispatch table agree, and the C header compiles and finds: dispatch.sh SITE. The
# site is that of facts.sh, with a tie and the name of a GPU that could end a comment.
set -eu
site=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$site" site
cat >check.py <<'END'
import csv, glob, json

path = glob.glob("site/dispatch/attention@h200*.json")[0][:-5]
table = json.load(open(path + ".json"))
rows = {r["title"]: r for r in table["problems"]}
tied = rows["attention bf16 B1 H16 S1024 D128"]
assert (
    table["op"] == "attention" and table["tie"] == 0.01 and table["device_model"] == "*/ int broken"
), table
assert (tied["label"], tied["tied"]) == ("flash-attention", ["cutlass · 128x256x64"]), tied
clear = rows["attention bf16 B4 H16 S4096 D128"]
assert (
    clear["label"] == "flash-attention" and clear["tied"] == [] and clear["next_ratio"] > 1.01
), clear
assert (
    clear["lo_ns"] <= clear["time_ns"] <= clear["hi_ns"] and clear["rate_unit"] == "gflop_per_s"
), clear
lines = list(csv.DictReader(open(path + ".csv", encoding="utf-8", newline="")))
assert [(l["problem"], l["label"], l["tied"]) for l in lines] == [
    (r["problem"], r["label"], "; ".join(r["tied"])) for r in table["problems"]
]
assert all(
    abs(float(l["time_ns"]) / r["time_ns"] - 1) < 1e-4 for l, r in zip(lines, table["problems"])
)
page = open("site/kernels/attention.html", encoding="utf-8").read()
assert '<td class="muted">cutlass · 128x256x64</td>' in page, "the page does not name the tie"
open("use.c", "w").write(
    """#include "%s.h"
#include <stdio.h>
int main(void)
{
	const struct tracker_dispatch_entry *all = tracker_dispatch_attention_NAME;
	size_t count = sizeof tracker_dispatch_attention_NAME / sizeof *all, found = 0;
	for (size_t i = 0; i < count; i++)
		found += tracker_dispatch_find(all, count, all[i].problem) == &all[i];
	const struct tracker_dispatch_entry *one = tracker_dispatch_find(all, count, "%s");
	printf("%%zu of %%zu, %%s, %%u tied, %%d", found, count, one->backend, one->tied,
		!tracker_dispatch_find(all, count, "no"));
}
""".replace("NAME", path.split("@")[1].replace(".", "_").replace("-", "_"))
    % (path, tied["problem"])
)
open("expected", "w").write("%d of %d, flash-attention, 1 tied, 1" % (len(lines), len(lines)))
END
python3 check.py
"${CC:-cc}" -std=c17 -Wall -Wextra -Werror -pedantic -o use use.c
./use >found
cmp expected found || { cat expected found >&2; exit 1; }
# hostile names stay within their strings
for header in site/dispatch/*.h; do "${CC:-cc}" -std=c17 -fsyntax-only -x c "$header"; done
