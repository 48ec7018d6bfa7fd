#!/bin/bash
# Versions of FlashAttention-2, -3, FlashInfer and CUTLASS's example beside cuDNN and our own kernel
# on an NVIDIA card, each result verified by the tracker.
#
# usage: tests/gpu/flash_attention.sh FOLDER [TRACKER [RESULTS]]
#        FOLDER has a folder for each version, with tk_backend_fa2.so, tk_backend_fa3.so,
#        tk_backend_flashinfer.so or tk_backend_cutlass_fmha.so and instances.txt as the adapters
#        build them; answers of the tracker are left in RESULTS
#
# Prints the time and rate of each version and its speed in percent of cuDNN's. Fails where a result
# is wrong, or a problem whose instance compiled was not measured. SEQUENCES, in the environment,
# has the lengths of the sequences (default: 512 2048 8192 16384).
# shellcheck disable=SC1091,SC2154   # versions.sh sets $folder
set -euo pipefail
. "$(dirname "$0")/versions.sh"

# "fa2_f16_128_1 ok 104 s", "fa2_f16_128_1_bwd ok 104 s", "fmha_f16_128_1 ok 60 s": type, head
# dimension, mask (any: both); "fa3_f16_128 ok 150 s", "fa3_f16_128_bwd ok 300 s" and
# "flashinfer_f16_128 ok 65 s": both masks
problems() { # FILE...
	sed -n -e 's/^fa2_\([a-z0-9]*\)_\([0-9]*\)_\([a-z0-9]*\) ok .*/\1 \2 \3 fwd/p' \
		-e 's/^fa2_\([a-z0-9]*\)_\([0-9]*\)_\([a-z0-9]*\)_bwd ok .*/\1 \2 \3 bwd/p' \
		-e 's/^fmha_\([a-z0-9]*\)_\([0-9]*\)_\([01]\) ok .*/\1 \2 \3 fwd/p' \
		-e 's/^fmha_\([a-z0-9]*\)_\([0-9]*\)_\([01]\)_bwd ok .*/\1 \2 \3 bwd ungrouped/p' \
		-e 's/^[a-z0-9]*_\([a-z0-9]*\)_\([0-9]*\) ok .*/\1 \2 any fwd/p' \
		-e 's/^[a-z0-9]*_\([a-z0-9]*\)_\([0-9]*\)_bwd ok .*/\1 \2 any bwd/p' "$@" | sort -u |
		while read -r type d mask dir heads; do
		case $mask in any) masks="0 1" ;; *) masks=$mask ;; esac
		for causal in $masks; do
			for sq in ${SEQUENCES:-512 2048 8192 16384}; do
				echo "attention:b=$((16384 / sq)),h=$((2048 / d)),sq=$sq,d=$d,dtype=$type,causal=$causal,dir=$dir"
			done
			if [ "$d" = 128 ] && [ "$heads" != ungrouped ]; then
				echo "attention:b=1,h=64,hkv=8,sq=4096,d=128,dtype=$type,causal=$causal,dir=$dir"
			fi
		done
	done
}

mapfile -t all < <(problems "$folder"/*/instances.txt | sort -u)
if [ ${#all[@]} = 0 ]; then
	echo "no compiled instance below $folder"
	exit 2
fi
options=(--mode=paced --seconds=0.4)
measure cudnn cudnn "${options[@]}" "${all[@]}"
measure hopper_flash hopper_flash "${options[@]}" "${all[@]}"
for version in "$folder"/*/; do
	mapfile -t own < <(problems "$version/instances.txt")
	for backend in "$version"tk_backend_*.so; do
		name=${backend##*tk_backend_}
		measure "${name%.so}@$(basename "$version")" "$backend" "${options[@]}" "${own[@]}"
	done
done

report cudnn ok unstable
