#!/bin/bash
# One night for cron, systemd, Slurm or a CI runner: update, build, run `tracker nightly`, keep the
# logs, publish the site.
#
# usage: ci/nightly.sh [OPTION]... [-- OPTION OF `tracker nightly`...]
#   --dir=DIR          where tracker.yml, tracker.db and site/ are (default: this clone)
#   --publish=TO       replace what is there by the site when the night is over: a folder, HOST:PATH
#                      for rsync, or git:REMOTE#BRANCH, a branch that always has one commit (Pages).
#                      A folder or branch that is not empty and holds no site is refused
#   --no-update        leave the clone at its commit (default: git pull --ff-only, when its branch
#                      follows another)
#   --no-build         use build/tracker as it is, at the commit of the clone
#   --keep-logs=DAYS   in DIR/logs (default: 60)
#
# Only one night at a time runs in DIR. Exit code: that of `tracker nightly` (0 done, 1 something
# changed, 3 some jobs failed, 4 could not finish), 75 when another night is still running. The last
# night's text is DIR/logs/latest.txt.
set -euo pipefail
clone=$(cd "$(dirname "$0")/.." && pwd)
dir=$clone
publish=
update=1
build=1
keep=60

while [ $# -gt 0 ]; do
	case $1 in
	--dir=*) dir=${1#*=} ;;
	--publish=*) publish=${1#*=} ;;
	--no-update) update= ;;
	--no-build) update='' build='' ;;
	--keep-logs=*) keep=${1#*=} ;;
	--)
		shift
		break
		;;
	*)
		sed -n '2,17s/^# \{0,1\}//p' "$0" >&2
		exit 2
		;;
	esac
	shift
done
[[ $keep =~ ^[0-9]+$ ]] || {
	echo "nightly.sh: --keep-logs: expected a number of days, not \"$keep\"" >&2
	exit 2
}

[ "$publish" = / ] || publish=${publish%/}
case $publish in
git:*#*) ;;
git:*)
	echo "nightly.sh: --publish=$publish names no branch, expected git:REMOTE#BRANCH" >&2
	exit 2
	;;
'' | /* | *:*) ;;
*) publish=$PWD/$publish ;;
esac

# What is published replaces the whole folder: an empty one, one that is not there yet, or an
# earlier site (every site has this file).
marker=tracker-site.json
refuse() {
	echo "nightly.sh: $publish is not empty and holds no site (there is no $marker): it would be replaced as a whole" >&2
	return 1
}

may_replace_folder() {
	local found
	if [ -d "$publish" ]; then
		[ ! -e "$publish/$marker" ] || return 0
		found=$(ls -A "$publish") || return 1 # what cannot be looked into may hold anything
		[ -z "$found" ] || refuse
	elif [ -e "$publish" ]; then
		refuse
	fi
}

may_replace_remote() {
	local code=0 found said
	said=$(mktemp)
	found=$(LC_ALL=C rsync --list-only "$publish/" 2>"$said") || code=$?
	[ $code -eq 0 ] || found=$(cat "$said")
	rm -f "$said"
	if [ $code -eq 0 ]; then
		grep -q " $marker$" <<<"$found" || ! grep -qv ' \.$' <<<"$found" || refuse
	# there is such a folder, or it could not be asked
	elif [ $code -ne 23 ] || [[ $found != *"No such file or directory"* ]]; then
		echo "$found" >&2
		return 1
	fi
}

# Said before the night, and not only after it. Another host is asked when there is something to
# send.
case $publish in
'' | *:*) ;;
*) may_replace_folder || exit 2 ;;
esac
mkdir -p "$dir/logs"
cd "$dir"
site_dir=$PWD
exec 9>logs/.lock
flock -n 9 || {
	echo "nightly.sh: another night is still running in $dir" >&2
	exit 75
}
stamp=$(date -u +%Y-%m-%dT%H%M%SZ)
log=logs/$stamp.txt
ln -sfn "$stamp.txt" logs/latest.txt
find logs -maxdepth 1 -type f \( -name '*.txt' -o -name '*.jsonl' \) -mtime "+$keep" -delete

# An update that fails (no network, a local change) is said, and the night runs with what is there.
update_clone() {
	[ -z "$update" ] || ! git -C "$clone" rev-parse '@{upstream}' >/dev/null 2>&1 ||
		git -C "$clone" pull --ff-only --quiet 9>&- ||
		echo "nightly.sh: git pull failed, the night runs at $(git -C "$clone" \
		rev-parse --short HEAD)"
	[ -n "$build" ] || return 0
	(cd "$clone" && cmake --preset release && cmake --build build --parallel) \
		>"logs/$stamp.build.txt" 2>&1 9>&- || {
		tail -n 20 "logs/$stamp.build.txt"
		[ -x "$clone/build/tracker" ] || return 1
		echo "nightly.sh: the tracker could not be built; the last one that could is used"
	}
	rm -f "logs/$stamp.build.txt"
}

# A branch with one commit, pushed by force: the repository does not grow by a site every night.
publish_branch() {
	local remote=${publish#git:} branch tree commit found code=0
	branch=${remote##*#} remote=${remote%#*}
	local -x GIT_DIR=$site_dir/.cache/publish.git
	mkdir -p "$site_dir/.cache" && git init -q --bare || return 1
	found=$(git ls-remote --exit-code --heads "$remote" "refs/heads/$branch" 2>&1) || code=$?
	if [ $code -eq 0 ]; then
		git fetch -q --depth=1 "$remote" "refs/heads/$branch" || return 1
		git cat-file -e "FETCH_HEAD:$marker" 2>/dev/null || refuse || return 1
	elif [ $code -ne 2 ]; then # 2: there is no such branch yet
		echo "$found" >&2
		return 1
	fi
	rm -f "$GIT_DIR/index"
	touch site/.nojekyll
	(cd site && git --work-tree=. add --all --force .) && tree=$(git write-tree) || return 1
	commit=$(git -c user.name=tracker -c user.email=tracker@localhost commit-tree "$tree" \
		-m "Site of $stamp") || return 1
	git push -q --force "$remote" "$commit:refs/heads/$branch"
}

# Into a folder: beside the old site first, then renamed, so that nobody sees half of it.
publish_site() {
	case $publish in
	'') return ;;
	git:*) publish_branch || return 1 ;;
	*:*) may_replace_remote && rsync -a --delete --delay-updates site/ "$publish/" ||
		return 1 ;;
	*)
		may_replace_folder || return 1
		rm -rf "$publish.tracker-new" "$publish.tracker-old"
		cp -r site "$publish.tracker-new" || return 1
		[ ! -e "$publish" ] || mv "$publish" "$publish.tracker-old" || return 1
		mv "$publish.tracker-new" "$publish" || return 1
		rm -rf "$publish.tracker-old"
		;;
	esac
	echo "nightly.sh: published to $publish"
}

night() {
	local code=0
	echo "nightly.sh: $stamp on $(hostname), tracker at $(git -C "$clone" rev-parse \
		--short HEAD 2>/dev/null || echo "no commit")"
	update_clone || return 4
	"$clone/build/tracker" --log="logs/$stamp.jsonl" nightly "$@" 9>&- || code=$?
	if [ -f site/index.html ]; then
		publish_site || {
			echo "nightly.sh: the site could not be published to $publish"
			[ $code -ne 0 ] || code=4
		}
	fi
	echo "nightly.sh: ended with exit code $code"
	return $code
}

set +e
night "$@" 2>&1 | tee "$log"
exit "${PIPESTATUS[0]}"
