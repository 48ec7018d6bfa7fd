# shellcheck shell=bash disable=SC2034   # $folder is for the scripts that source this
# For the scripts that measure versions of a library on an NVIDIA card. From their arguments,
# FOLDER [TRACKER [RESULTS]], it sets $folder, $tracker and $results, where answers of the tracker
# go: NAME.json of a backend; of a version, the name has an "@". Exits with 77 without a GPU.
[ -e /dev/nvidiactl ] || {
	echo "there is no NVIDIA GPU here"
	exit 77
}
folder=${1:?"expected FOLDER [TRACKER [RESULTS]]"}
tracker=${2:-build/tracker}
if [ $# -ge 3 ]; then
	results=$3
	mkdir -p "$results"
else
	results=$(mktemp -d)
	trap 'rm -rf "$results"' EXIT
fi

# measure NAME BACKEND OPTION|PROBLEM...
measure() {
	"$tracker" run "$2" --format=json "${@:3}" >"$results/$1.json" || echo "$1: exit code $?"
}

# report VENDOR OUTCOME...: every answer, with its speed in percent of the vendor's. Fails where a
# version has no answers, or one with another outcome than these.
report() {
	python3 "$(dirname "${BASH_SOURCE[0]}")/versions.py" "$results" "$@"
}
