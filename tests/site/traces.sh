#!/bin/bash
# The pages of traces and profiles, and that a new one reaches the page of its series, in the files:
# traces.sh SITE_SEED TRACKER
set -eu
seed=$(realpath "$1") tracker=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$*" >&2; exit 1; }
"$seed" h.db demo
render() { TRACKER_NOW=2026-11-20T08:00:00Z "$tracker" --db=h.db site --out=site "$@"; }
render >/dev/null
trace=$(echo site/traces/*cutlass*.html)
series=site/series/h200-node-1.h200-0.cutlass.gemm-f16-4096x4096x4096-nn.128x256x64.paced.html
[ -e "$series" ] || fail "no page of the series"
[ "$(find site/traces -name '*.html' | wc -l)" = 3 ] || fail "expected two traces and their list"
has() { grep -q -- "$2" "$1" || fail "$1: expected $2"; }
has "$series" "href=\"../traces/$(basename "$trace")\""
has "$series" 'matrix products 89.%, wait 0.7.%, no block 1.7.%'
has "$series" '<dt>DRAM</dt><dd>201.3.MB, 683 FLOP/B</dd>'
has "$series" '<dt>L2</dt><dd>805.3.MB, 171 FLOP/B</dd>'
has "$trace" "href=\"../series/$(basename "$series")\""
has "$trace" '+0.8 %'
has "$trace" '196,608, none lost'
has "$trace" '26.80.ns in place, 20.02.ns in a row'
has "$trace" '<dt>Without records</dt><dd>176.6'
has "$trace" '4.7.% slower'
has "$trace" 'epilogue +16.10.µs, of which +7.800.µs are exposed'
has site/roofline/h200-node-1.h200-0.html '>683 <span class="sub">L2 171, L1 341</span>'
has site/roofline/h200-node-1.h200-0.html 'class="measured"'
has site/data/roofline-h200-node-1.h200-0.js '"measured":\[682.6'
has site/traces/index.html "href=\"$(basename "$trace")\""
has site/kernels/gemm.html '>Where the time goes</a> inside'
other=site/series/h200-node-1.h200-0.cublas.gemm-f16-4096x4096x4096-nn.paced.html
grep -q 'Inside the kernel' "$other" && fail "a series without a trace shows one"
grep -rlq '<script>alert' site/traces site/data && fail "a text of a trace became markup"

# a newer trace of the same kernel: its page and that of its series change, and no other series'
cp -r site before
python3 - <<'END'
import sqlite3

db = sqlite3.connect("h.db")
names = [r[1] for r in db.execute("PRAGMA table_info(kernel_report)")]
(row,) = db.execute(
    "SELECT * FROM kernel_report WHERE backend='cutlass' AND base='' AND kind='trace'"
).fetchall()
row = dict(zip(names, row))
row.update(id=None, uid="0" * 32, started_s=row["started_s"] + 86400)
row["result"] = row["result"].replace('"matrix products":158300', '"matrix products":89010')
marks = ",".join("?" * len(names))
db.execute(f"INSERT INTO kernel_report VALUES ({marks})", [row[n] for n in names])
db.commit()
END
render >/dev/null
has "$series" 'matrix products 50.%'
has "$trace" '>50.%<'
changed=$(diff -rq before site | grep -c 'series/' || true)
[ "$changed" = 1 ] || fail "$changed pages of series changed, expected 1"
