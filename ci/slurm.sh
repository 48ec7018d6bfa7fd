#!/bin/bash
# A night on one exclusive node of a Slurm cluster; it submits itself again for the next night.
#
# usage: sbatch --begin=02:30 [--partition=P --constraint=mi300x --gres=gpu:8 ...] ci/slurm.sh
#        environment: TRACKER_HOME     shared folder with one subfolder a node type (default: ~/tracker)
#                     TRACKER_KIND     name of the node type, e.g. h200, mi300x (default: the node's name)
#                     TRACKER_ONCE=1   do not submit again
#
# SQLite's write-ahead log does not work on network file systems: the history is copied to the node's own disk for the night and back
# when it is over. Use one TRACKER_KIND a hardware type, and pin it to one node where you can: two nodes are two machines.
#SBATCH --job-name=tracker
#SBATCH --exclusive
#SBATCH --nodes=1
#SBATCH --time=08:00:00
#SBATCH --output=tracker-%x-%j.log
set -euo pipefail
# sbatch runs a copy of this script: the clone is where it was submitted.
clone=${SLURM_SUBMIT_DIR:-$(cd "$(dirname "$0")/.." && pwd)}
[ -x "$clone/ci/nightly.sh" ] || {
	echo "slurm.sh: submit it from the clone (cd tracker && sbatch ci/slurm.sh)" >&2
	exit 2
}
kind=${TRACKER_KIND:-${SLURMD_NODENAME:-$(hostname -s)}}
home=${TRACKER_HOME:-$HOME/tracker}/$kind
work=$(mktemp -d "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/tracker.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$home"

if [ -z "${TRACKER_ONCE:-}" ] && [ -n "${SLURM_JOB_ID:-}" ]; then
	sbatch --begin="tomorrow 02:30" --dependency=afterany:"$SLURM_JOB_ID" "$clone/ci/slurm.sh"
fi

for f in tracker.db tracker.yml; do
	[ ! -f "$home/$f" ] || cp "$home/$f" "$work/"
done
code=0
"$clone/ci/nightly.sh" --dir="$work" --publish="$home/site" || code=$?

# The history is copied through SQLite (complete, without its log), beside the old one, then renamed.
"$clone/build/tracker" -C "$work" db backup "$home/tracker.db.new"
mv "$home/tracker.db.new" "$home/tracker.db"
mkdir -p "$home/logs"
cp -r "$work"/logs/. "$home/logs/"
exit $code
