#!/bin/bash
# A night on one exclusive node of a Slurm cluster; it submits itself again for the next night.
#
# usage: sbatch --begin=02:30 [--partition=P --constraint=mi300x --gres=gpu:8 ...] ci/slurm.sh
#        environment: TRACKER_HOME     shared folder with one subfolder a node type (default:
#                                      ~/tracker)
#                     TRACKER_KIND     name of the node type, e.g. h200, mi300x (default: the node's
#                                      name)
#                     TRACKER_BEGIN    when the next night begins (default: 02:30)
#                     TRACKER_ONCE=1   do not submit again
#                     TRACKER_PART=K/N the K-th of N parts of the problems, as ci/slurm-split.sh
#                                      submits it: the machine has the node's name, its history and
#                                      logs are in TRACKER_HOME/TRACKER_KIND/parts/NODE, and no site
#                                      is written
#
# TRACKER_HOME/TRACKER_KIND has tracker.yml, the history, the site and the logs, and what
# tracker.yml names: suites/, adapters, acks.yml. The next night is asked for with the partition,
# account, QOS, constraint, nodes, devices and time limit of this one.
#
# SQLite's write-ahead log does not work on network file systems: the history is copied to the
# node's own disk for the night and back when it is over. Use one TRACKER_KIND a hardware type, and
# pin it to one node where you can: two nodes are two machines.
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
node=${SLURMD_NODENAME:-$(hostname -s)}
kind=${TRACKER_KIND:-$node}
home=${TRACKER_HOME:-$HOME/tracker}/$kind
results=$home # of the history and the logs
if [ -n "${TRACKER_PART:-}" ]; then
	results=$home/parts/$node
	TRACKER_ONCE=1
fi
work=$(mktemp -d "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/tracker.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$results"

# The options of this job, as sbatch takes them: they stood on the command line that submitted it,
# which the next one has not.
own_options() {
	local job field value
	job=$(scontrol show job -o "$SLURM_JOB_ID") || return
	for field in $job; do
		value=${field#*=}
		[ "$value" != "(null)" ] || continue
		case $field in
		Partition=?*) echo "--partition=$value" ;;
		Account=?*) echo "--account=$value" ;;
		QOS=?*) echo "--qos=$value" ;;
		Reservation=?*) echo "--reservation=$value" ;;
		Features=?*) echo "--constraint=$value" ;;
		ReqNodeList=?*) echo "--nodelist=$value" ;;
		ExcNodeList=?*) echo "--exclude=$value" ;;
		TimeLimit=?*) echo "--time=$value" ;;
		TresPerNode=gres*) echo "--gres=$(sed 's/gres[:/]//g' <<<"$value")" ;;
		TresPerJob=gres?gpu*) echo "--gpus=${value#gres?gpu:}" ;;
		esac
	done
}

if [ -z "${TRACKER_ONCE:-}" ] && [ -n "${SLURM_JOB_ID:-}" ]; then
	own=$(set -f && own_options) ||
		echo "slurm.sh: scontrol does not tell the options of this job: the next one has those of the script alone" >&2
	mapfile -t own < <(printf '%s' "$own")
	(cd "$clone" && sbatch --begin="$(date -d tomorrow +%F)T${TRACKER_BEGIN:-02:30}" \
		--dependency=afterany:"$SLURM_JOB_ID" "${own[@]}" ci/slurm.sh)
fi

# A link that says by a relative path where it leads would lead elsewhere on the node; the history
# itself has to be on the node's disk.
copy_to_node() {
	local link
	find "$home" -mindepth 1 -maxdepth 1 ! -name logs ! -name 'site' ! -name 'site.tracker-*' \
		! -name 'tracker.db*' ! -name 'unsaved-*' ! -name parts -exec cp -r -t "$work" {} +
	find "$work" -type l ! -lname '/*' -printf '%P\0' | while IFS= read -r -d '' link; do
		ln -sfn "$(realpath -m "$home/$link")" "$work/$link"
	done
	[ ! -e "$history" ] || cp "$history" "$work/tracker.db"
	[ -n "${TRACKER_PART:-}" ] || return 0
	sed -i '/^machine:/d' "$work/tracker.yml" 2>/dev/null || true
	printf '\nmachine: "%s"\n' "$node" >>"$work/tracker.yml"
}

# What the night measured is never thrown away: where it cannot be put in its place it lies beside
# it, or stays on the node.
keep_history() {
	local beside
	beside=$results/unsaved-$(date -u +%Y-%m-%dT%H%M%SZ)
	rm -f "$history.new"
	if mkdir -p "$beside" && cp "$work"/tracker.db* "$beside/"; then
		echo "slurm.sh: the history of this night could not be put in its place: it is $beside/tracker.db (\`tracker merge\` adds it)" >&2
	else
		trap - EXIT
		echo "slurm.sh: the history of this night could not be copied: it stays on $(hostname), $work/tracker.db" >&2
	fi
}

history=$(realpath -m "$results/tracker.db")
copy_to_node
code=0
if [ -n "${TRACKER_PART:-}" ]; then
	"$clone/ci/nightly.sh" --dir="$work" --no-build -- --no-site --part="$TRACKER_PART" ||
		code=$?
else
	"$clone/ci/nightly.sh" --dir="$work" --publish="$home/site" || code=$?
fi

keep_logs() {
	mkdir -p "$results/logs" || return
	[ ! -d "$work/logs" ] || cp -r "$work"/logs/. "$results/logs/"
}
keep_logs || code=4
# The history is copied through SQLite (complete, without its log), beside the old one, then
# renamed. A night that ended early has none.
if [ -f "$work/tracker.db" ]; then
	rm -f "$history.new"
	if ! "$clone/build/tracker" -C "$work" db backup "$history.new" ||
		! mv "$history.new" "$history"; then
		keep_history
		code=4
	fi
fi
exit $code
