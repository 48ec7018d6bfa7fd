#!/bin/bash
# names.sh TRACKER DB: `tracker diff` distinguishes backends of one name by upstream, and series of
# several modes by mode.
set -eu
# something got worse
out=$(TRACKER_NOW=2026-11-20T08:00:00Z COLUMNS=400 "$1" --db="$2" diff --all --limit=0) ||
	[ $? = 1 ]
for name in 'openblas (openblas)' 'openblas (openblas-debian)' 'openblas (openblas), hot' \
	'cublas, sustained' ' cublas '; do
	grep -qF "$name" <<<"$out" || { echo "no \"$name\" in:"; echo "$out"; exit 1; }
done
if grep -qE 'blis \(|paced' <<<"$out"; then
	echo "a name has a needless addition:"
	echo "$out"
	exit 1
fi
