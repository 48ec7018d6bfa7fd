#!/bin/sh
# Makes a git repository out of the versions of a Debian source package: one commit a version,
# oldest first. It is how the adapters of OpenBLAS and BLIS are tested on two real versions where no
# git host can be reached.
#
#   debian_to_git.sh PACKAGE OUTDIR [SUITE...]       default suites: bookworm trixie sid
#
# Each version's orig tarball is committed as it is (without Debian's patches), dated by its newest
# file, and tagged v<version>. Needs apt-get, git, tar. Nothing of the system's apt is changed:
# lists and sources live in OUTDIR.apt. TRACKER_DEBIAN_MIRRORS (separated by spaces) names other
# mirrors: the first gives the signed lists, a file that it lacks is sought in the others and must
# have the checksum of the lists. Prints "version commit" lines. Exit code: 0 done, 77 the sources
# cannot be had here, 1 anything else.
set -eu

[ $# -ge 2 ] || { echo "usage: $0 PACKAGE OUTDIR [SUITE...]" >&2; exit 2; }
package=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
[ $# -gt 0 ] || set -- bookworm trixie sid
mirrors=${TRACKER_DEBIAN_MIRRORS:-"http://deb.debian.org/debian http://archive.ubuntu.com/ubuntu"}
apt=$out.apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"

for suite in "$@"; do
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirrors%% *} $suite main"
done >"$apt/sources.list"
cat >"$apt/apt.conf" <<END
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt/cache";
APT::Sandbox::User "root";
END
APT_CONFIG=$apt/apt.conf
export APT_CONFIG

apt-get -q update >"$apt/update.log" 2>&1 || { cat "$apt/update.log" >&2; exit 77; }

# "version directory sha256 file" of every orig tarball, oldest first.
apt-cache showsrc --only-source "$package" 2>/dev/null | awk '
	/^[^ ]/ { sums = 0 }
	/^Version: / { version = $2; sub(/^[0-9]+:/, "", version); sub(/-[^-]*$/, "", version) }
	/^Checksums-Sha256:/ { sums = 1 }
	sums && $3 ~ /\.orig\.tar\.[a-z0-9]+$/ { sum = $1; file = $3 }
	/^Directory: / { print version, $2, sum, file }' | sort -uV >"$apt/versions"
[ -s "$apt/versions" ] || { echo "$0: no source package $package in $*" >&2; exit 77; }

fetch() { # directory sha256 file
	echo "$2  $apt/$3" | sha256sum --check --status 2>/dev/null && return 0
	for mirror in $mirrors; do # Ubuntu has in universe what Debian has in main
		for directory in "$1" "$(echo "$1" | sed 's:^pool/main/:pool/universe/:')"; do
			/usr/lib/apt/apt-helper download-file "$mirror/$directory/$3" \
				"$apt/$3" "SHA256:$2" \
				>"$apt/fetch.log" 2>&1 && return 0
		done
	done
	return 1
}

# Whether all of a tarball lies in one folder, which most have at their top.
has_one_folder() { # tarball
	tar -t -f "$1" | sed -e 's:^\./::' -e '/^$/d' |
		awk -F / '!seen[$1]++ { top++ } NF == 1 { files++ } END { exit top != 1 || files }'
}

commit_version() { # version tarball
	find "$out" -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +
	strip=0
	if has_one_folder "$2"; then strip=1; fi
	tar -x -f "$2" -C "$out" --strip-components="$strip"
	git -C "$out" add -A -f
	# the newest file of the release: the time of the tarball is that of its download
	when=$(find "$out" -name .git -prune -o -type f -printf '%T@\n' | sort -n | tail -n 1)
	GIT_AUTHOR_DATE="${when%.*} +0000" GIT_COMMITTER_DATE="${when%.*} +0000" git -C "$out" \
		commit -q -m "$package $1"
	tag=v$(echo "$1" | tr '~+' '_-')
	git -C "$out" tag "$tag"
	echo "$1 $(git -C "$out" rev-parse HEAD)"
}

rm -rf "$out/.git"
git init -q -b main "$out"
git -C "$out" config user.name "debian_to_git.sh"
git -C "$out" config user.email "debian@example.invalid"
while read -r version folder sum file; do
	if fetch "$folder" "$sum" "$file"; then
		commit_version "$version" "$apt/$file"
	else
		echo "$0: $package $version cannot be had from $mirrors" >&2
	fi
done <"$apt/versions"
[ -n "$(git -C "$out" tag)" ] || exit 77
