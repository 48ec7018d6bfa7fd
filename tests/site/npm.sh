#!/bin/bash
# npm.sh FOLDER: installs the packages of the browser tests into FOLDER. Exits with 77 where it
# cannot.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v npm >/dev/null || { echo "no npm"; exit 77; }
mkdir -p "$1"
cmp -s "$here/package-lock.json" "$1/installed" && exit 0
cp "$here/package.json" "$here/package-lock.json" "$1"
(cd "$1" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund --prefer-offline >npm.log \
	2>&1) || { tail -3 "$1/npm.log"; echo "npm ci failed"; exit 77; }
cp "$here/package-lock.json" "$1/installed"
