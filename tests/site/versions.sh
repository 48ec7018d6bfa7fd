#!/bin/bash
# The page of a package's versions, in the files: versions.sh TRACKER RESULTS.json
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tracker=$(realpath "$1") results=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "$*" >&2; exit 1; }
has() { grep -qP -- "$2" "$1" || fail "$1: expected $2"; }
lacks() { ! grep -qP -- "$2" "$1" || fail "$1: expected no $2"; }
make_site() { # NAME, records on stdin
	cat >"$1.ndjson"
	"$tracker" --db="$1.db" import "$1.ndjson" >/dev/null
	[ "$1" != paired ] || python3 "$here/version_records.py" --pairs "$1.db"
	TRACKER_NOW=@1765000000 "$tracker" --db="$1.db" detect >/dev/null
	TRACKER_NOW=@1765000000 "$tracker" --db="$1.db" site --out="$1" >/dev/null
}
python3 "$here/version_records.py" | make_site small
page=small/versions/triton.html
[ -e "$page" ] || fail "no page of the versions"
has small/upstreams/triton.html 'href="../versions/triton.html"'
series=$(echo small/series/h200.cuda-0.triton.attention*.128x128-w8.paced.html)
has "$series" 'href="../versions/triton.html">by version'
lacks small/upstreams/cudnn.html 'versions/'
lacks small/series/h200.cuda-0.cudnn.*.html 'versions/'
[ ! -e small/versions/cudnn.html ] || fail "a system library has a page of versions"

# one step for each version, in the order of PEP 440
has "$page" '>3\.8\.0</text>.*>3\.9\.0</text>.*>3\.10\.0</text>'
[ "$(grep -c '<figcaption>Speed</figcaption>' "$page")" = 2 ] || fail "expected two charts of speed"
[ "$(grep -c '<figcaption>Speed against' "$page")" = 1 ] || fail "only attention has a vendor"
[ "$(grep -c '<figcaption>Compile time' "$page")" = 1 ] || fail "only attention has compile times"
has "$page" 'compile time, s</text>'

# the steps of attention, the newest first, with what is known of the code
sed -n '/aria-label="Steps of Attention/,/<\/table>/p' "$page" >steps
[ "$(grep -c '<tr><th scope="row"' steps)" = 2 ] || fail "expected two steps"
has steps '>3\.9\.0 → 3\.10\.0<'
has steps '\+10\.0.%.*slower.*registers 168 → 255'
has steps 'before triton . 64x64-w4.*.25\.0.%.*faster.*registers 128'
[ "$(sed -n 2,99p steps | grep -n '→ 3\.10\.0' | head -1 | cut -d: -f1)" -lt \
	"$(sed -n 2,99p steps | grep -n '3\.8\.0 →' | cut -d: -f1)" ] || fail "the newest step is first"
lacks "$page" 'A/B runs'
# the same with A/B pairs of the newest step; the other one changed its configuration
python3 "$here/version_records.py" | make_site paired
sed -n '/aria-label="Steps of Attention/,/<\/table>/p' paired/versions/triton.html >paired_steps
has paired_steps '3\.9\.0 → 3\.10\.0.*text-bad">\+10\.0.% <span class="sub">\+9\.[5-9] to \+10\.[1-5].%, 8 pairs<'
[ "$(grep -c '<td class="num">–</td><td class="wide-text">' paired_steps)" = 1 ] ||
	fail "expected one step without A/B runs"
# the GEMM's 0.5 % are no step; its code is known by what its run used
has "$page" 'No problem became slower or faster'
sed -n '/<summary>gemm/,/<\/details>/p' "$page" >gemm
lacks "$page" 'Steps of GEMM'
has gemm '>3\.10\.0</th>.*<td class="num">200</td>.*<td class="nowrap">same</td>'
has gemm '>3\.9\.0</th>.*<td class="nowrap">changed</td>'
lacks gemm "against"

# 480 of 660 us; the compile time of the fastest configuration
sed -n '/<summary>attention/,/<\/details>/p' "$page" >attention
has attention 'against cudnn, 480\.0'
has attention '>3\.10\.0</th>.*660\.0.*73.%.*3\.000.s.*255.*48'
has attention '>3\.8\.0</th>.*800\.0.*60.%.*64x64-w4'

# texts of a package are texts
grep -rlq '<script>alert\|<b>' small/versions && fail "a text of a package became markup"
[ "$(find small/versions -name '*.html' | wc -l)" = 3 ] || fail "expected three pages"

# the newest 40 of 43 versions; the line of the GEMM has a gap at 2.20
page=small/versions/numpy.html
has "$page" '>The newest 40 measured versions'
lacks "$page" '>2\.2</'
has "$page" '<th scope="row">2\.3</th>'
gap=$(grep -oP 'sized-line mark-0" d="\K[^"]*' "$page" | head -1)
[ "$gap" = "${gap#M*M}" ] && fail "expected a gap in the line: $gap"

# the releases that were measured
python3 "$here/version_records.py" "$results" | make_site measured
page=measured/versions/triton.html
sed -n '/aria-label="Steps of Attention/,/<\/table>/p' "$page" >steps
has steps '3\.3\.1 → 3\.4\.0.*.25\.3.%.*faster'
has steps '3\.7\.0 → 3\.7\.1.*\+4\.0.%.*slower'
