#!/bin/sh
# Makes a git repository out of source distributions of PyPI: one commit a version, in the given
# order, tagged v<version>.
#
#   pypi_to_git.sh PACKAGE OUTDIR FOLDER VERSION...
#
# FOLDER is the part of the archive that becomes the repository ("." for all of it): of
# llama-cpp-python, vendor/llama.cpp is a tree of llama.cpp. Archives are kept in OUTDIR.sdists.
# Prints "version commit" lines. Needs curl, python3, git, tar. Exit code: 0 done, 77 nothing can be
# had here, 2 wrong usage, 1 anything else.
set -eu

[ $# -ge 4 ] || { echo "usage: $0 PACKAGE OUTDIR FOLDER VERSION..." >&2; exit 2; }
package=$1 folder=$3
mkdir -p "$2" "$2.sdists"
out=$(cd "$2" && pwd)
shift 3
index=${TRACKER_PYPI_INDEX:-https://pypi.org/simple}
curl -fsm 60 -H 'Accept: application/vnd.pypi.simple.v1+json' "$index/$package/" \
	>"$out.sdists/index.json" || exit 77

find_archive() { # VERSION: "url sha256"
	python3 - "$out.sdists/index.json" "$package-$1.tar.gz" <<-'PY'
		import json, sys
		for f in json.load(open(sys.argv[1]))["files"]:
		    if f["filename"].lower().replace("_", "-") == sys.argv[2]:
		        print(f["url"], f["hashes"]["sha256"])
	PY
}

rm -rf "$out/.git"
git init -q -b main "$out"
git -C "$out" config user.name "pypi_to_git.sh"
git -C "$out" config user.email "pypi@example.invalid"
for version; do
	archive=$out.sdists/$version.tar.gz
	found=$(find_archive "$version")
	[ -n "$found" ] || {
		echo "$0: $package $version has no source distribution" >&2
		continue
	}
	sum="${found#* }  $archive"
	echo "$sum" | sha256sum --check --status 2>/dev/null ||
		curl -fsm 600 -o "$archive" "${found% *}"
	echo "$sum" | sha256sum --check --status || {
		echo "$0: $package $version cannot be had" >&2
		continue
	}
	find "$out" -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +
	rm -rf "$out.sdists/tree"
	mkdir "$out.sdists/tree"
	tar -x --no-same-owner -f "$archive" -C "$out.sdists/tree" --strip-components=1
	(cd "$out.sdists/tree/$folder" && cp -a . "$out/")
	git -C "$out" add -A -f
	when=$(tar -t -v -f "$archive" --full-time --utc |
		awk '$NF ~ /PKG-INFO$/ { print $4 "T" $5 "Z"; exit }')
	# a folder that did not change: two tags of one commit
	if ! git -C "$out" diff --cached --quiet; then
		GIT_AUTHOR_DATE=$when GIT_COMMITTER_DATE=$when git -C "$out" commit \
			-q -m "$package $version"
	fi
	git -C "$out" tag "v$version"
	echo "$version $(git -C "$out" rev-parse HEAD)"
done
rm -rf "$out.sdists/tree"
[ -n "$(git -C "$out" tag)" ] || exit 77
