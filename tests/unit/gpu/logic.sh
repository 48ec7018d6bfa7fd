#!/bin/bash
# The kernels of kernels/gpu without a GPU: their launches are rewritten, the two headers that know
# the hardware are replaced, and a C++ compiler makes programs of them that compare with
# kernels/reference. 32 lanes as on NVIDIA, 64 as on AMD. An access off its alignment ends the
# program, as it ends a kernel.
#
# usage: tests/unit/gpu/logic.sh LANES MODULE      LANES: 32 or 64; MODULE: flash, nsa, pieces or a
#                                                  step of the GEMM ladder, "5_matrix"
# exit code 77 where there is no C++ compiler
set -euo pipefail
lanes=$1
module=$2
here=$(cd "$(dirname "$0")" && pwd)
kernels=$here/../../../kernels
cxx=$(command -v c++ || command -v g++) || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$kernels"/gpu/*.h "$kernels/gpu/device/device_compare.h" "$here"/*.cpp "$work"
cp "$here/emulated_runtime.h" "$work/gpu_runtime.h"
cp "$here/emulated_matrix.h" "$work/gpu_matrix.h"
kind=ATTENTION
test=test_logic
case $module in
flash) files="flash_module flash_forward flash_backward" ;;
nsa) files="nsa_forward" ;;
pieces) test=test_pieces files="ceiling_memory ceiling_rate softmax device_compare" ;;
*) kind=GEMM files=gemm_$module ;;
esac
for file in $files; do
	source=$(find "$kernels/gpu" -name "$file.cu")
	sed -z -E 's/([a-z_]+(<[A-Za-z0-9_:, \n\t]+>)?)[ \n\t]*<<<([^;]*)>>>\(/emulated(\3, \1)(/g' "$source" >"$work/$file.cpp"
done
cd "$work"
"${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O1 \
	-I"$kernels/abi" -c "$kernels"/reference/{attention,attention_backward,element,gemm}.c
# shellcheck disable=SC2086   # names of files
"$cxx" -std=c++17 -O1 -w -fsanitize=alignment -fno-sanitize-recover=alignment \
	-D$kind -DGPU_HIP=$((lanes == 64)) '-DTK_GPU_KIND="test"' \
	-I"$kernels/abi" -I"$kernels/reference" -o logic $test.cpp emulated.cpp \
	${files// /.cpp }.cpp ./*.o -lm
./logic
