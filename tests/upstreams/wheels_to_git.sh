#!/bin/sh
# Makes a git repository out of binary releases on PyPI whose wheels carry a library and its
# headers: one commit a version, in the given order, tagged v<version>, with the wheels' include/
# and lib/.
#
#   wheels_to_git.sh OUTDIR "PACKAGE..." VERSION...
#     wheels_to_git.sh onednn "onednn-cpu-gomp onednn-devel-cpu-gomp" 2021.4.0
#     2023.2.0
#
# Wheels are kept in OUTDIR.wheels. Prints "version commit" lines. Needs pip, git, unzip. Exit code:
# 0 done, 77 nothing can be had here, 2 wrong usage, 1 anything else.
set -eu

[ $# -ge 3 ] || { echo "usage: $0 OUTDIR \"PACKAGE...\" VERSION..." >&2; exit 2; }
mkdir -p "$1" "$1.wheels"
out=$(cd "$1" && pwd)
wheels=$out.wheels
packages=$2
shift 2

unpack() { # VERSION: include/ and lib/ into the work tree
	for package in $packages; do
		name=$(echo "$package" | tr - _)-$1
		ls "$wheels/$name"-*.whl >/dev/null 2>&1 || pip download -q --no-deps -d "$wheels" \
			"$package==$1" >"$wheels/pip.log" 2>&1 || return 1
		rm -rf "$wheels/tree"
		unzip -q "$wheels/$name"-*.whl -d "$wheels/tree"
		cp -r "$wheels"/tree/*.data/data/. "$out/"
	done
	# the same library once for each of its names: one is enough
	find "$out/lib" -name '*.so.*' -delete
}

rm -rf "$out/.git"
git init -q -b main "$out"
git -C "$out" config user.name "wheels_to_git.sh"
git -C "$out" config user.email "wheels@example.invalid"
# large binary files: neither compressed nor compared with each other
git -C "$out" config core.compression 0
git -C "$out" config core.bigFileThreshold 1m
day=0
for version; do
	find "$out" -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +
	unpack "$version" || { echo "$0: $version cannot be had" >&2; continue; }
	git -C "$out" add -A -f
	day=$((day + 1)) # the wheels' own times say nothing
	when="2024-01-$(printf %02d $day)T00:00:00Z"
	GIT_AUTHOR_DATE=$when GIT_COMMITTER_DATE=$when git -C "$out" commit -q -m "release $version"
	git -C "$out" tag "v$version"
	echo "$version $(git -C "$out" rev-parse HEAD)"
done
rm -rf "$wheels/tree"
[ -n "$(git -C "$out" tag)" ] || exit 77
