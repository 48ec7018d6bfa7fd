#!/bin/bash
# A night shared by the nodes of Slurm partitions: each node measures its part of the problems, then
# one job merges all parts and writes the site. Run it every night where sbatch is (cron, scrontab).
#
# usage: ci/slurm-split.sh "KIND OPTION-OF-SBATCH..." ["KIND OPTION..."]...
#        ci/slurm-split.sh "h200 --partition=h200 --gres=gpu:8" "mi300x --partition=mi300x"
#        environment: TRACKER_HOME     shared folder (default: ~/tracker)
#                     TRACKER_BEGIN    when the night begins, as --begin of sbatch (default: now)
#
# TRACKER_HOME/KIND has tracker.yml and what it names. Each KIND has one set of like nodes:
# TRACKER_HOME/KIND/nodes, one name a line, which is written at the first night from the partition
# of its options. The n-th node measures the n-th part every night, because two nodes are two
# machines: a problem that changed its node would change its time. A job array does not pin its
# tasks to nodes, so each node gets a job of its own. A node that is down is left out, and said.
#
# The merged history is TRACKER_HOME/tracker.db, the site TRACKER_HOME/site. Prints the numbers of
# the jobs, the merging one last. Exit code: 0, 2 wrong usage, 1 anything else.
set -euo pipefail
clone=$(cd "$(dirname "$0")/.." && pwd)
home=${TRACKER_HOME:-$HOME/tracker}
jobs=()

fail() {
	echo "slurm-split.sh: $1" >&2
	exit "${2:-1}"
}

[ $# -gt 0 ] || fail "expected \"KIND OPTION-OF-SBATCH...\"" 2

# write_nodes FILE OPTION...: the nodes of the partition that the options name
write_nodes() {
	local file=$1 option partition=() list
	shift
	for option; do
		case $option in
		--partition=* | -p?*) partition=("$option") ;;
		esac
	done
	list=$(sinfo --noheader --Node --format=%N "${partition[@]}" | sort -uV) || return
	[ -n "$list" ] || return
	printf '%s\n' "$list" >"$file"
}

is_up() { # NODE
	case $(sinfo --noheader --nodes="$1" --format=%T | head -n 1) in
	'' | *down* | *drain* | *fail* | *unknown* | *'*') return 1 ;;
	esac
}

# submit KIND OPTION...: a job for each node
submit() {
	local kind=$1 nodes=() node i id
	shift
	[ -f "$home/$kind/tracker.yml" ] || fail "there is no $home/$kind/tracker.yml"
	[ -s "$home/$kind/nodes" ] || write_nodes "$home/$kind/nodes" "$@" ||
		fail "sinfo names no nodes for $kind; write them to $home/$kind/nodes"
	mkdir -p "$home/$kind/logs"
	mapfile -t nodes < <(sed '/^ *\(#.*\)*$/d' "$home/$kind/nodes")
	for i in "${!nodes[@]}"; do
		node=${nodes[i]}
		is_up "$node" || {
			echo "slurm-split.sh: $node is down: part $((i + 1)) of $kind is not measured" >&2
			continue
		}
		id=$(cd "$clone" && TRACKER_HOME=$home TRACKER_KIND=$kind \
			TRACKER_PART=$((i + 1))/${#nodes[@]} sbatch --parsable --requeue \
			--nodelist="$node" --job-name="$kind-$((i + 1))" \
			--output="$home/$kind/logs/$node-%j.log" \
			${TRACKER_BEGIN:+--begin="$TRACKER_BEGIN"} "$@" ci/slurm.sh)
		jobs+=("${id%%;*}")
	done
}

# Here and not on each node: they share the clone.
git -C "$clone" rev-parse '@{upstream}' >/dev/null 2>&1 &&
	! git -C "$clone" pull --ff-only --quiet && echo "slurm-split.sh: git pull failed, the night runs at the commit that is there" >&2
(cd "$clone" && cmake --preset release && cmake --build build --parallel) >"$home/build.txt" 2>&1 ||
	[ -x "$clone/build/tracker" ] || fail "the tracker could not be built: see $home/build.txt"

for group; do
	read -ra words <<<"$group"
	[ ${#words[@]} -gt 0 ] || fail "expected \"KIND OPTION-OF-SBATCH...\"" 2
	submit "${words[@]}"
done
[ ${#jobs[@]} -gt 0 ] || fail "no node is up"
after=$(IFS=: && echo "${jobs[*]}")
read -ra words <<<"$1"
id=$(cd "$clone" && TRACKER_HOME=$home sbatch --parsable --dependency=afterany:"$after" \
	--output="$home/merge-%j.log" "${words[@]:1}" ci/slurm-merge.sh)
printf '%s\n' "${jobs[@]}" "${id%%;*}"
