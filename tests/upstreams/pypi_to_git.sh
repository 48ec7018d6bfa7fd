#!/bin/sh
# Makes a git repository out of releases on PyPI: one commit a version, in the given order, tagged
# v<version>, dated by its upload. A version's source distribution is taken, or, where it has none,
# its wheel for any machine or for Linux on x86-64.
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

find_archive() { # VERSION: "url sha256 time", the time that of its upload
	python3 - "$out.sdists/index.json" "$package-$1" <<-'PY'
		import json, sys
		files = {}
		for f in json.load(open(sys.argv[1]))["files"]:
		    name = f["filename"].lower().replace("_", "-")
		    if name == sys.argv[2] + ".tar.gz":
		        files["sdist"] = f
		    elif name.startswith(sys.argv[2] + "-"):
		        if name.endswith(("x86-64.whl", "any.whl")):
		            files["wheel"] = f
		f = files.get("sdist") or files.get("wheel")
		if f:
		    print(f["url"], f["hashes"]["sha256"], f["upload-time"])
	PY
}

unpack() { # ARCHIVE FOLDER
	case $(head -c 2 "$1") in
	PK) python3 -m zipfile -e "$1" "$2" ;;
	*) tar -x --no-same-owner -f "$1" -C "$2" --strip-components=1 ;;
	esac
}

rm -rf "$out/.git"
git init -q -b main "$out"
git -C "$out" config user.name "pypi_to_git.sh"
git -C "$out" config user.email "pypi@example.invalid"
for version; do
	archive=$out.sdists/$version
	found=$(find_archive "$version")
	[ -n "$found" ] || {
		echo "$0: $package $version has no source distribution and no wheel" >&2
		continue
	}
	read -r url sum when <<-END
		$found
	END
	sum="$sum  $archive"
	echo "$sum" | sha256sum --check --status 2>/dev/null ||
		curl -fsm 600 -o "$archive" "$url"
	echo "$sum" | sha256sum --check --status || {
		echo "$0: $package $version cannot be had" >&2
		continue
	}
	find "$out" -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +
	rm -rf "$out.sdists/tree"
	mkdir "$out.sdists/tree"
	unpack "$archive" "$out.sdists/tree"
	rm -rf "$out.sdists/tree/$folder/.git" # of a submodule
	(cd "$out.sdists/tree/$folder" && cp -a . "$out/")
	git -C "$out" add -A -f
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
