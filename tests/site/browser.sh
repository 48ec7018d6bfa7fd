#!/bin/bash
# browser.sh FOLDER SITE: installs playwright-core and axe-core into FOLDER by lock file and runs browser.mjs on the site. 77: cannot be run here.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
chromium=${CHROMIUM:-/usr/bin/chromium}
[ -x "$chromium" ] || { echo "no Chromium: set CHROMIUM or install it"; exit 77; }
command -v npm >/dev/null || { echo "no npm"; exit 77; }
mkdir -p "$1"
if ! cmp -s "$here/package-lock.json" "$1/installed"; then
	cp "$here/package.json" "$here/package-lock.json" "$1"
	(cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --prefer-offline >npm.log 2>&1) || { tail -3 "$1/npm.log"; echo "npm ci failed"; exit 77; }
	cp "$here/package-lock.json" "$1/installed"
fi
[ -f "$2/assets/chart.umd.min.js" ] || { echo "the site was built without Chart.js"; exit 77; }
cp "$here/browser.mjs" "$1"
cd "$1"
CHROMIUM=$chromium exec node browser.mjs "$2"
