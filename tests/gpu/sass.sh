#!/bin/bash
# The Hopper kernels must be made of Hopper's own matrix instructions: HGMMA, for 8-bit floats
# QGMMA.
#
# usage: tests/gpu/sass.sh BACKENDS_FOLDER     exit code 77 where there is no cuobjdump (it comes
#                                              with CUDA's toolkit)
set -uo pipefail
command -v cuobjdump >/dev/null || exit 77
bad=0
# has FOLDER BACKEND INSTRUCTION
has() {
	local found
	found=$(cuobjdump -sass "$1/tk_backend_$2.so" | grep -c "$3")
	echo "$2: $found $3"
	[ "$found" -gt 0 ] || bad=1
}
has "$1" hopper_gemm HGMMA
has "$1" hopper_gemm QGMMA
has "$1" hopper_flash HGMMA
has "$1" hopper_nsa HGMMA
exit $bad
