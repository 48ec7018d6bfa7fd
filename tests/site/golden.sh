#!/bin/bash
# The sites of four histories with a fixed clock, byte for byte: golden/SEED.sha256 has a hash a
# file.
#
#   golden.sh BUILD            compares; on a difference prints what changed, against the last
#                              rendering that was right in BUILD (of `tiny`: golden/tiny.tar.gz)
#   golden.sh --accept BUILD   after an intended change: writes the hashes anew
#
# Assets are left out, and addresses of assets carry no hash.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
accept=
[ "${1:-}" = --accept ] && accept=1 && shift
build=$(realpath "${1:?usage: golden.sh [--accept] BUILD-FOLDER}")
tracker=${TRACKER:-$build/tracker} seed=$build/tests/site_seed kept=$build/tests/golden
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export TZ=UTC LC_ALL=C TRACKER_ASSETS= # without Chart.js
unset TRACKER_DATADIR

# history SEED: makes SEED.db
history() {
	if [ "$1" != versions ]; then
		"$seed" "$1.db" "$1"
		return
	fi
	python3 "$here/version_records.py" >versions.ndjson
	"$tracker" --db=versions.db import versions.ndjson >/dev/null 2>&1
	python3 "$here/version_records.py" --pairs versions.db
	TRACKER_NOW=@1765000000 "$tracker" --db=versions.db detect >/dev/null 2>&1
}

render() { # SEED
	TRACKER_NOW=2026-11-20T08:00:00Z "$tracker" --db="$1.db" site --out="$1" \
		--title='Tiny "site" <b>' --base-url=https://example.org/kernels/
}

plain() { # SEED
	rm -r "$1/assets"
	find "$1" -name '*.html' -exec sed -i 's/?v=[0-9a-f]*"/?v=HASH"/g' {} +
}

# explain SEED: each distinct change of the files in `changed`, and in how many of them it is
explain() {
	python3 - "$1" <<'PYTHON'
import collections, difflib, os, sys

def lines(path):  # pages have long lines: one element a line
    text = open(path, encoding="utf-8", errors="replace").read()
    return text.replace("><", ">\n<").replace("},{", "},\n{").split("\n")

where = collections.defaultdict(list)
for name in open("changed").read().splitlines():
    old, new = f"base/{sys.argv[1]}/{name}", f"{sys.argv[1]}/{name}"
    if not os.path.exists(old):
        continue
    hunk = []
    for line in [*difflib.unified_diff(lines(old), lines(new), n=1, lineterm="")][2:] + ["@@"]:
        if line.startswith("@@"):
            if hunk:
                where["\n".join(hunk)].append(name)
            hunk = []
        else:
            hunk.append(line[:240])
shown = sorted(where.items(), key=lambda item: -len(item[1]))
for hunk, names in shown[:40]:
    rest = f" and {len(names) - 1} more" if len(names) > 1 else ""
    print(f"--- {sys.argv[1]}/{names[0]}{rest}\n{hunk}")
if len(shown) > 40:
    print(f"... and {len(shown) - 40} other changes")
PYTHON
}

failed=
mkdir -p "$kept" 2>/dev/null || true # the build may be read-only
keep() { [ ! -w "$kept" ] || tar -czf "$kept/$1.tar.gz" "$1"; }
for name in tiny demo fleet versions; do
	golden=$here/golden/$name
	history $name
	render $name >/dev/null
	render $name | grep -q '(0 written)' || { echo "$name was written twice" >&2; exit 1; }
	plain $name
	(cd $name && find . -type f -printf '%P\n' | sort | xargs -d '\n' sha256sum) >$name.sha256
	if [ -z "$accept" ] && cmp -s $name.sha256 "$golden.sha256"; then
		keep $name
		continue
	fi
	if [ -n "$accept" ]; then
		cp $name.sha256 "$golden.sha256"
		keep $name
		[ $name != tiny ] || tar --sort=name --mtime=@0 --owner=0 --group=0 \
			--numeric-owner -c tiny | gzip -9n >"$golden.tar.gz"
		continue
	fi
	failed="$failed $name"
	diff <(cut -c 67- "$golden.sha256") <(cut -c 67- $name.sha256) |
		sed -n "s,^<,$name: gone: ,p; s,^>,$name: new: ,p"
	grep -vxFf "$golden.sha256" $name.sha256 | cut -c 67- >changed || true
	echo "$name: $(wc -l <changed) of $(wc -l <$name.sha256) files differ"
	base=$golden.tar.gz
	[ -e "$base" ] || base=$kept/$name.tar.gz
	if [ -e "$base" ]; then
		mkdir base && tar -C base -xzf "$base"
		explain $name
		rm -r base
	else
		head -20 changed
		echo "$name: there is no text to compare with: run this test once without the change"
	fi
done
[ -z "$failed" ] || {
	echo "the sites differ from tests/site/golden:$failed" >&2
	echo "if that is intended: tests/site/golden.sh --accept $build" >&2
	exit 1
}
