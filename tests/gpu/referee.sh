#!/bin/bash
# usage: referee.sh [TRACKER [HOSTILE.so]]    on a GPU, in five minutes: no honest kernel is
#     suspected, and all of 20 copies are refused that hostile.cu pretends (nvcc -shared
#     -arch=sm_90 -Xcompiler -fPIC -Ikernels/abi -o HOSTILE.so tests/gpu/hostile.cu)
[ -e /dev/nvidiactl ] || exit 77
tracker=${1:-build/tracker} failed=0
for backend in cublaslt hopper_gemm hopper_flash gemm_matrix_cuda cudnn; do
	timeout 40 "${0%/*}/../bench/referee.py" "$tracker" 16 $backend || failed=1
done
mapfile -t copies < <(yes copy:bytes=33554432 | head -20)
for cheat in none half seen late; do
	found=$(timeout 30 "$tracker" run "${2:-build/hostile.so}" "${copies[@]}" --referee \
		--options=fail=$cheat --format=json | grep -o 'outcome": "[a-z_]*"' | uniq -c)
	echo "$cheat: ${found//$'\n'/,}"
	[ "$cheat" = none ] || ! grep -qE 'ok|unstable|failed' <<<"$found" || failed=1
done
exit $failed
