#!/bin/sh
# The flags of both kinds of instances; sourced by build and compile_*. Of the library's own,
# -amdgpu-early-inline-all=true and -amdgpu-function-calls=false are left out: with both of them
# clang 21 did not finish one GEMM kernel in four minutes, without them it takes 11 s.

# offload_flags "gfx90a,gfx942"
offload_flags() {
	printf '%s\n' "$1" | tr , '\n' | sed 's/^/--offload-arch=/'
}

compile_hip() { # ARGUMENT...
	# shellcheck disable=SC2046
	hipcc -std=c++17 -O3 -fPIC -fvisibility=hidden -DNDEBUG $(offload_flags "$CK_TARGETS") \
		-Wno-everything -I. -Ilibrary/include -x hip "$@"
}
