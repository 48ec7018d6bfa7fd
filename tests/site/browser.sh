#!/bin/bash
# browser.sh SCRIPT FOLDER SITE LARGE [FILE...]: runs SCRIPT (browser, firefox, html or
# sample_pages) on the sites, with the packages that npm.sh installed into FOLDER; of browser FILEs
# alone. Exits with 77 where it cannot run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "$1"; exit 77; }
[ -f "$2/installed" ] || skip "no packages: see npm.sh"
case $1 in
browser | sample_pages)
	export CHROMIUM=${CHROMIUM:-/usr/bin/chromium}
	[ -x "$CHROMIUM" ] || skip "no Chromium: set CHROMIUM or install it" ;;
firefox)
	export FIREFOX=${FIREFOX:-/usr/bin/firefox-esr}
	[ -x "$FIREFOX" ] || skip "no Firefox: set FIREFOX or install it"
	node --experimental-websocket -e 0 2>/dev/null || skip "this node has no WebSocket" ;;
html)
	# the versions that html-validate supports
	node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 12) || (a === 20 && b >= 19) ? 0 : 1)' ||
		skip "node $(node --version) is too old for html-validate" ;;
esac
[ "$1" = html ] || [ -f "$3/assets/chart.umd.min.js" ] || skip "the site was built without Chart.js"
script=$1
site=$(realpath "$3") large=$(realpath "$4")
# A folder of its own: tests that run side by side do not replace each other's scripts.
work=$(mktemp -d "$2/run.XXXXXX") # below node_modules
trap 'rm -rf "$work"' EXIT
cp -r "$here"/{browser,firefox,html,pages,sample_pages}.mjs "$here/browser" "$work"
cd "$work"
shift 4
if [ "$script" = firefox ]; then
	node --experimental-websocket firefox.mjs "$site"
else
	node "$script.mjs" "$site" "$large" "$@"
fi
