#!/bin/bash
# watch.sh SITE_SEED TRACKER: `tracker site --watch` updates the site when the history
# changes, and finishes on SIGTERM.
set -eu
work=$(mktemp -d)
watcher=
trap 'kill "$watcher" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
"$1" tiny.db tiny
TRACKER_NOW=2026-09-25T08:00:00Z TRACKER_ASSETS='' "$2" --db=tiny.db site \
	--out=site --watch >log 2>&1 &
watcher=$!
written() { # N: waits until the site was written N times
	for _ in $(seq 150); do
		[ "$(grep -c 'pages,' log)" -ge "$1" ] && return 0
		sleep 0.2
	done
	echo "not written $1 times:"
	cat log
	exit 1
}
written 1
"$1" other.db demo && mv other.db tiny.db
written 2
grep -q epyc-lab site/index.html || grep -q epyc-lab site/api/machines.json || {
	echo "the new history is not shown"
	exit 1
}
kill -TERM "$watcher"
wait "$watcher" || { echo "exit code $?"; exit 1; }
watcher=
[ -z "$(find . -maxdepth 1 -name 'site.tmp*')" ] || { echo "a half-written site was left"; exit 1; }
