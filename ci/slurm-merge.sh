#!/bin/bash
# Merges the histories of all nodes of a cluster and writes the site; ci/slurm-split.sh submits it.
#
# usage: sbatch ci/slurm-merge.sh
#        environment: TRACKER_HOME     see ci/slurm-split.sh
#
# Reads TRACKER_HOME/KIND/parts/NODE/tracker.db. TRACKER_HOME/tracker.db becomes the merged history,
# TRACKER_HOME/site its site; TRACKER_HOME/tracker.yml, if there is one, configures the site. A
# history that cannot be read is left out, and the exit code is 4.
#SBATCH --job-name=tracker-merge
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --time=01:00:00
#SBATCH --output=tracker-%x-%j.log
set -euo pipefail
clone=${SLURM_SUBMIT_DIR:-$(cd "$(dirname "$0")/.." && pwd)}
home=${TRACKER_HOME:-$HOME/tracker}
tracker=$clone/build/tracker
# SQLite's write-ahead log does not work on network file systems.
work=$(mktemp -d "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/tracker.XXXXXX")
trap 'rm -rf "$work"' EXIT

for file in tracker.yml tracker.db; do
	[ ! -e "$home/$file" ] || cp "$home/$file" "$work/"
done
code=0
for history in "$home"/*/parts/*/tracker.db; do
	[ -e "$history" ] || continue
	cp "$history" "$work/part.db"
	"$tracker" -C "$work" merge part.db || {
		echo "slurm-merge.sh: $history is left out" >&2
		code=4
	}
	rm -f "$work"/part.db*
done
[ -f "$work/tracker.db" ] || {
	echo "slurm-merge.sh: there is no history below $home" >&2
	exit 4
}
rm -f "$home/tracker.db.new"
"$tracker" -C "$work" db backup "$home/tracker.db.new"
mv "$home/tracker.db.new" "$home/tracker.db"
"$tracker" -C "$work" site
# beside the old site first, then renamed, so that nobody sees half of it
rm -rf "$home/site.new" "$home/site.old"
cp -r "$work/site" "$home/site.new"
[ ! -e "$home/site" ] || mv "$home/site" "$home/site.old"
mv "$home/site.new" "$home/site"
rm -rf "$home/site.old"
exit $code
