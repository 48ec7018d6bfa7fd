#!/bin/bash
# Versions of CUTLASS on an NVIDIA card beside cuBLASLt, each result verified by the tracker.
#
# usage: tests/gpu/cutlass.sh FOLDER [TRACKER [RESULTS]]
#        FOLDER has a folder for each version, with tk_backend_cutlass.so and instances.txt as
#        the adapter builds them; answers of the tracker are left in RESULTS
#
# Prints the time of each version and configuration and its speed in percent of cuBLASLt's. Fails
# where a result is wrong, or a problem whose kernel compiled was not measured.
# shellcheck disable=SC1091,SC2154   # versions.sh sets $folder
set -euo pipefail
. "$(dirname "$0")/versions.sh"

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
		"$(dirname "$0")/../../kernels/adapters/cutlass/"configurations{,.sm80} | sort -u
}

mapfile -t all < <(kinds "$folder"/*/instances.txt)
if [ ${#all[@]} = 0 ]; then
	echo "no compiled kernel below $folder"
	exit 2
fi
mapfile -t asked < <(problems "${all[@]}")
measure cublaslt cublaslt --seconds=0.5 "${asked[@]}"
for version in "$folder"/*/; do
	mapfile -t own < <(kinds "$version/instances.txt")
	mapfile -t asked < <(problems "${own[@]}")
	for config in $(configurations); do
		if ! grep -q "_${config//-/_} ok " "$version/instances.txt"; then continue; fi
		measure "$(basename "$version")@$config" "$version/tk_backend_cutlass.so" \
			"--config-of-backend=$config" --seconds=0.5 "${asked[@]}"
	done
done

report cublaslt ok
