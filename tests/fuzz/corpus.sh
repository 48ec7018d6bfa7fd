#!/bin/bash
# The first inputs of the fuzz targets, in corpus.tar.gz:
#   corpus.sh unpack FOLDER            makes FOLDER/corpus/TARGET/...
#   corpus.sh add TARGET FILE...       adds files, a finding that was mended for example
set -eu
archive=$(dirname "$(realpath "$0")")/corpus.tar.gz
case ${1:-} in
unpack)
	rm -rf "$2/corpus"
	tar -C "$2" -xzf "$archive"
	;;
add)
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	tar -C "$work" -xzf "$archive"
	mkdir -p "$work/corpus/$2"
	cp -- "${@:3}" "$work/corpus/$2"
	tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$work" -c corpus |
		gzip -9n >"$archive"
	;;
*)
	sed -n '2,4s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
