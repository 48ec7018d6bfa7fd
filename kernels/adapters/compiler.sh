#!/bin/sh
# Shared by the adapters of compilers in Python; sourced by their `build`.

# card_capability: "90" of the first NVIDIA card; nothing where there is none
card_capability() {
	echo "${TK_CUDA_CAPABILITIES:-}" | cut -d ' ' -f 1 | tr -d .
}

# compile_package BACKEND.KIND PYTHON ARGUMENT...: runs the adapter's compile.py, which finds
# kernels/launcher. TK_FLAGS is split at spaces, never expanded.
compile_package() {
	package=$TK_OUT/lib/tk_backend_$1 python=$2
	shift 2
	set -f
	# shellcheck disable=SC2086
	PYTHONPATH=$TK_KERNELS/launcher "$python" -B "$TK_ADAPTER/compile.py" \
		"$package" "$@" ${TK_FLAGS:-}
}

# compile_hopper_package BACKEND ARGUMENT...: of kernels that are written for sm_90a alone
compile_hopper_package() {
	target=$TK_ARCH backend=$1
	shift
	if [ "$TK_ARCH" = native ]; then target=sm_$(card_capability)a; fi
	case $target in
	sm_90a) ;;
	*)
		echo "error: unknown target \"$target\"; these kernels are for sm_90a (--arch=sm_90a)"
		exit 1
		;;
	esac
	compile_package "$backend.cuda" "$TK_SRC/bin/python" "$target" "$@"
}
