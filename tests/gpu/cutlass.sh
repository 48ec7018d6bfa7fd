#!/bin/bash
# Versions of CUTLASS on a Hopper card beside cuBLASLt, each result verified by the tracker.
#
# usage: tests/gpu/cutlass.sh FOLDER [TRACKER [RESULTS]]
#        FOLDER has a folder for each version, with tk_backend_cutlass.so and
#        instances.txt
# as the adapter builds them; answers of the tracker are left in RESULTS
#
# Prints the time of each version and configuration and its speed in percent of cuBLASLt's. Fails
# where a result is wrong, or a problem whose kernel compiled was not measured.
set -euo pipefail
[ -e /dev/nvidiactl ] || {
	echo "there is no NVIDIA GPU here"
	exit 77
}
folder=${1:?"usage: tests/gpu/cutlass.sh FOLDER [TRACKER [RESULTS]]"}
tracker=${2:-build/tracker}
if [ $# -ge 3 ]; then
	results=$3
	mkdir -p "$results"
else
	results=$(mktemp -d)
	trap 'rm -rf "$results"' EXIT
fi

# "cutlass_f16_f16_nt_128x256_2x1_cooperative ok 104 s": types and transposes
kinds() {
	sed -n 's/^cutlass_\([a-z0-9]*\)_\([a-z0-9]*\)_\([nt]\)\([nt]\)_[^ ]* ok .*/a=\1,c=\2,ta=\3,tb=\4/p' "$@" | sort -u
}
problems() { # KIND...
	local kind shape
	for kind; do
		for shape in m=4096,n=4096,k=4096 m=8192,n=8192,k=8192 m=1024,n=4096,k=4096 \
			m=128,n=8192,k=4096 m=4096,n=4096,k=512; do
			echo "gemm:$shape,$kind"
		done
	done
}
configurations() { # of the adapter
	sed -e 's/#.*//' -e '/^ *$/d' -e 's/ .*//' \
		"$(dirname "$0")/../../kernels/adapters/cutlass/configurations"
}

mapfile -t all < <(kinds "$folder"/*/instances.txt)
if [ ${#all[@]} = 0 ]; then
	echo "no compiled kernel below $folder"
	exit 2
fi
mapfile -t asked < <(problems "${all[@]}")
"$tracker" run cublaslt --seconds=0.5 --format=json "${asked[@]}" >"$results/cublaslt.json"
for version in "$folder"/*/; do
	mapfile -t own < <(kinds "$version/instances.txt")
	mapfile -t asked < <(problems "${own[@]}")
	for config in $(configurations); do
		if ! grep -q "_${config//-/_} ok " "$version/instances.txt"; then continue; fi
		"$tracker" run "$version/tk_backend_cutlass.so" "--config-of-backend=$config" \
			--seconds=0.5 --format=json "${asked[@]}" \
			>"$results/$(basename "$version")@$config.json" ||
			echo "$version, $config: exit code $?"
	done
done

python3 - "$results" <<'PY'
import json, pathlib, sys

answers = {
    p.stem: json.loads(p.read_text() or "[]")
    for p in sorted(pathlib.Path(sys.argv[1]).glob("*.json"))
}
vendor = {
    a["problem"]: a["result"]["median"] for a in answers.pop("cublaslt") if a["outcome"] == "ok"
}
bad = 0
for who, list_ in answers.items():
    if not list_:
        bad += 1
    for a in list_:
        if a["outcome"] != "ok":
            bad += 1
            print(f"{who:44} {a['problem']:72} {a['outcome']}: {a['message']}")
            continue
        ns = a["result"]["median"]
        percent = f"{100 * vendor[a['problem']] / ns:.1f} %" if a["problem"] in vendor else "-"
        print(f"{who:44} {a['problem']:72} {ns / 1000:10.2f} us {percent:>8}")
print(f"{len(answers)} versions and configurations, {bad} bad answers")
sys.exit(bad > 0 or not answers)
PY
