#!/bin/bash
# usage: referee.sh [TRACKER]    honest kernels on a GPU, which no referee may suspect, and what it
#                                costs; less than five minutes, with what is built already
set -uo pipefail
[ -e /dev/nvidiactl ] || exit 77
failed=0
for backend in cublaslt hopper_gemm hopper_flash gemm_matrix_cuda cudnn; do
	timeout 60 "${0%/*}/../bench/referee.py" "${1:-build/tracker}" 16 $backend || failed=1
done
exit $failed
