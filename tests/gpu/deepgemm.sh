#!/bin/bash
# Versions of DeepGEMM on a Hopper card beside cuBLASLt, each result verified by the tracker.
#
# usage: tests/gpu/deepgemm.sh FOLDER [TRACKER [RESULTS]]
#        FOLDER has a folder for each version, with tk_backend_deepgemm.so and instances.txt as
#        the adapter builds them; answers of the tracker are left in RESULTS
#
# Prints the time of each version and its speed in percent of cuBLASLt's. Fails where a result is
# wrong, or a problem whose kernel compiled was not measured.
# shellcheck disable=SC1091,SC2154   # versions.sh sets $folder
set -euo pipefail
. "$(dirname "$0")/versions.sh"

# "deepgemm_bf16_bf16_nt_4096x2112x7168 ok 5 s"
problems() { # FILE...
	sed -n 's/^deepgemm_\([a-z0-9]*\)_\([a-z0-9]*\)_\([nt]\)\([nt]\)_\([0-9]*\)x\([0-9]*\)x\([0-9]*\) ok .*/gemm:m=\5,n=\6,k=\7,a=\1,c=\2,ta=\3,tb=\4/p' "$@" | sort -u
}

mapfile -t all < <(problems "$folder"/*/instances.txt)
if [ ${#all[@]} = 0 ]; then
	echo "no compiled kernel below $folder"
	exit 2
fi
options=(--mode=paced --seconds=0.4)
measure cublaslt cublaslt "${options[@]}" "${all[@]}"
for version in "$folder"/*/; do
	mapfile -t own < <(problems "$version/instances.txt")
	measure "deepgemm@$(basename "$version")" "$version/tk_backend_deepgemm.so" \
		"${options[@]}" "${own[@]}"
done

report cublaslt ok unstable
