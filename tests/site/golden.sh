#!/bin/bash
# The site of the tiny history with a fixed clock, byte for byte:
# golden.sh SITE_SEED TRACKER GOLDEN_DIR [--update]
# Assets are left out. After an intended change:
# tests/site/golden.sh build/tests/site_seed build/tracker tests/site/golden --update
set -eu
seed=$(realpath "$1") tracker=$(realpath "$2") golden=$(realpath -m "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$seed" tiny.db tiny
render() { # without Chart.js, and always at the same second
	env -u TRACKER_DATADIR TRACKER_ASSETS= TRACKER_NOW=2026-09-25T08:00:00Z TZ=UTC "$tracker" \
		--db=tiny.db site --out=site --title='Tiny "site" <b>' \
		--base-url=https://example.org/kernels/ "$@"
}
render
mkdir kept
cp -r site/. kept
if ! render | grep -q '(0 written)'; then
	echo "the same history was written twice" >&2
	exit 1
fi
diff -r kept site
rm -r site/assets
# addresses of assets carry their hash, which changes with every change of a style sheet
find site -name '*.html' -exec sed -i 's/?v=[0-9a-f]*"/?v=HASH"/' {} +
if [ "${4:-}" = --update ]; then
	rm -rf "$golden"
	mkdir -p "$golden"
	cp -r site/. "$golden"
	exit 0
fi
diff -r -u "$golden" site || {
	echo "the site differs from tests/site/golden; if intended: $0 ... --update" >&2
	exit 1
}
