#!/bin/bash
# The pages of tunings, in the files, and that a newer result reaches the page of its series:
# tunings.sh SITE_SEED TRACKER
set -eu
seed=$(realpath "$1") tracker=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$*" >&2; exit 1; }
"$seed" h.db demo
render() { TRACKER_NOW=2026-11-20T08:00:00Z "$tracker" --db=h.db site --out=site "$@"; }
render >/dev/null
has() { grep -q -- "$2" "$1" || fail "$1: expected $2"; }
lacks() { if grep -q -- "$2" "$1"; then fail "$1: not expected: $2"; fi; }
page=$(echo site/tunings/*cutlass.gemm_f16_4096*.html)
library=$(echo site/tunings/*cublas.gemm_f16_4096*.html)
series=site/series/h200-node-1.h200-0.cutlass.gemm-f16-4096x4096x4096-nn.128x256x64.paced.html
for file in "$page" "$library" "$series"; do [ -e "$file" ] || fail "no page $file"; done

# before and after, the landscape, every candidate, the results before
has "$page" 'Use: tile_m=256,tile_n=128,split=2</dt><dd>214.7.µs'
has "$page" 'Change of time, 12 A/B pairs'
has "$page" '<td class="heat-0" title="tile_m=256,tile_n=128,split=2">best <span class="lead">214.7.µs</span></td>'
has "$page" '<td class="heat-4" title="tile_m=64,tile_n=64,split=2">+18.8.%'
has "$page" '<th scope="rowgroup" rowspan="3">split</th>'
[ "$(grep -c '<th scope="row">tile_m=' "$page")" = 36 ] || fail "expected 36 candidates"
has "$page" 'wrong</span> C differs from the reference'
has "$page" 'tone-note">inconclusive'
lacks "$library" 'Landscape' # one parameter is no map
has "$library" '>heuristic</th>'

# the index: state, rules; the kernel page and the series lead there
has site/tunings/index.html 'gemm f16 \*x\*x\* nn</b>: cutlass up to m = n = k = 1024, cublas from m = n = k = 4096'
[ "$(grep -c 'cutlass.gemm.*<td>fresh</td>' site/tunings/index.html)" = 2 ] || fail "expected 2 fresh"
has site/tunings/index.html 'cutlass.gemm_f16_8192.*stale: new revision'
has site/kernels/gemm.html 'href="../tunings/index.html">Tuning</a>'
has "$series" "href=\"../tunings/$(basename "$page")\""
has "$page" "href=\"../series/$(basename "$series")\""
if grep -rlq '<script>alert' site/tunings; then fail "a text of a tuning became markup"; fi

# a newer result: its page, the index and the page of its series change, and no other series
cp -r site before
python3 - <<'END'
import sqlite3

db = sqlite3.connect("h.db")
db.row_factory = sqlite3.Row
(row,) = db.execute(
    "SELECT * FROM tuning WHERE backend='cutlass' AND config<>'' AND pair_count=12"
    " AND default_ns BETWEEN 2e5 AND 3e5"
).fetchall()
row = dict(row) | {"id": None, "uid": "0" * 32, "started_s": row["started_s"] + 86400}
row |= {"config": "tile_m=64,tile_n=64,split=1", "verdict": row["verdict"]}
marks = ",".join("?" * len(row))
db.execute(f"INSERT INTO tuning ({','.join(row)}) VALUES ({marks})", [*row.values()])
db.commit()
END
render >/dev/null
has "$page" 'Use: tile_m=64,tile_n=64,split=1'
has "$series" 'use <code>tile_m=64,tile_n=64,split=1</code>'
changed=$(diff -rq before site | grep 'series/' || true)
if [ "$(grep -c . <<<"$changed")" -gt 2 ] ||
	[[ $changed != *cutlass.gemm-f16-4096x4096x4096* ]]; then
	fail "changed pages of series: $changed"
fi

# without stored results there is no page and no link
python3 -c 'import sqlite3; d = sqlite3.connect("h.db"); d.execute("DELETE FROM tuning"); d.commit()'
render >/dev/null
[ ! -e site/tunings ] || fail "pages of tunings are left"
lacks site/kernels/gemm.html tunings/index.html
