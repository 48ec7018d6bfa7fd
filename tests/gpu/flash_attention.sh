#!/bin/bash
# Versions of FlashAttention-2, -3 and FlashInfer beside cuDNN and our own kernel on an NVIDIA card,
# each result verified by the tracker.
#
# usage: tests/gpu/flash_attention.sh FOLDER [TRACKER [RESULTS]]
#        FOLDER has a folder for each version, with tk_backend_fa2.so, tk_backend_fa3.so or
#        tk_backend_flashinfer.so and instances.txt as the adapters build them; answers of the
#        tracker are left in RESULTS
#
# Prints the time and rate of each version and its speed in percent of cuDNN's. Fails where a result
# is wrong, or a problem whose instance compiled was not measured. SEQUENCES, in the environment,
# has the lengths of the sequences (default: 512 2048 8192 16384).
set -euo pipefail
[ -e /dev/nvidiactl ] || {
	echo "there is no NVIDIA GPU here"
	exit 77
}
folder=${1:?"usage: tests/gpu/flash_attention.sh FOLDER [TRACKER [RESULTS]]"}
tracker=${2:-build/tracker}
if [ $# -ge 3 ]; then
	results=$3
	mkdir -p "$results"
else
	results=$(mktemp -d)
	trap 'rm -rf "$results"' EXIT
fi

# "fa2_f16_128_1 ok 104 s": type, head dimension, mask (any: both); "fa3_f16_128 ok 150 s" and
# "flashinfer_f16_128 ok 65 s": both masks
problems() { # FILE...
	sed -n -e 's/^fa2_\([a-z0-9]*\)_\([0-9]*\)_\([a-z0-9]*\) ok .*/\1 \2 \3/p' \
		-e 's/^[a-z0-9]*_\([a-z0-9]*\)_\([0-9]*\) ok .*/\1 \2 any/p' "$@" | sort -u |
		while read -r type d mask; do
		case $mask in any) masks="0 1" ;; *) masks=$mask ;; esac
		for causal in $masks; do
			for sq in ${SEQUENCES:-512 2048 8192 16384}; do
				echo "attention:b=$((16384 / sq)),h=$((2048 / d)),sq=$sq,d=$d,dtype=$type,causal=$causal"
			done
			if [ "$d" = 128 ]; then
				echo "attention:b=1,h=64,hkv=8,sq=4096,d=128,dtype=$type,causal=$causal"
			fi
		done
	done
}
measure() { # NAME BACKEND PROBLEM...
	local name=$1
	shift
	"$tracker" run "$1" --mode=paced --seconds=0.4 --format=json "${@:2}" \
		>"$results/$name.json" || echo "$name: exit code $?"
}

mapfile -t all < <(problems "$folder"/*/instances.txt | sort -u)
if [ ${#all[@]} = 0 ]; then
	echo "no compiled instance below $folder"
	exit 2
fi
measure cudnn cudnn "${all[@]}"
measure hopper_flash hopper_flash "${all[@]}"
for version in "$folder"/*/; do
	mapfile -t own < <(problems "$version/instances.txt")
	for backend in "$version"tk_backend_*.so; do
		name=${backend##*_}
		measure "${name%.so} $(basename "$version")" "$backend" "${own[@]}"
	done
done

python3 - "$results" <<'PY'
import json, pathlib, re, sys

answers = {
    p.stem: json.loads(p.read_text() or "[]")
    for p in sorted(pathlib.Path(sys.argv[1]).glob("*.json"))
}
vendor = {
    a["problem"]: a["result"]["median"]
    for a in answers.get("cudnn", [])
    if a["outcome"] in ("ok", "unstable")
}


def tflops(problem, ns):
    f = dict(re.findall(r"[:,](\w+)=(\w+)", problem))
    b, h, d, sq, skv = (int(f.get(k, f["sq"])) for k in ("b", "h", "d", "sq", "skv"))
    return 4 * b * h * d * sq * skv / (2 if f["causal"] == "1" else 1) / ns / 1000


bad = 0
for who, list_ in answers.items():
    theirs = " " in who  # a backend and its version
    bad += theirs and not list_
    for a in list_:
        if a["outcome"] not in ("ok", "unstable"):
            bad += theirs
            print(f"{who:16} {a['problem']:84} {a['outcome']}: {a['message']}")
            continue
        ns = a["result"]["median"]
        percent = f"{100 * vendor[a['problem']] / ns:.1f} %" if a["problem"] in vendor else "-"
        print(
            f"{who:16} {a['problem']:84} {ns / 1000:10.2f} us {tflops(a['problem'], ns):7.1f}"
            f" TFLOP/s {percent:>8}"
        )
print(f"{len(answers)} backends, {bad} bad answers")
sys.exit(bad > 0 or not answers)
PY
