# The traced backend, with records and without: $backend; and a problem of it: $problem.
# shellcheck disable=SC2034 # tests use them
mkdir -p builds/trace
source=$TK_SOURCE_ROOT/tests/cli/trace/traced_backend.c
build() {
	cc -shared -fPIC -Wall -Wextra -Wno-unused-parameter -fvisibility=hidden \
		-I"$TK_SOURCE_ROOT/kernels/abi" "$@" "$source" || fail "the backend does not build"
}
build -o builds/tk_backend_traced.so
build -DTRACED -o builds/trace/tk_backend_traced.so
backend=./builds/tk_backend_traced.so
problem=gemm:m=16,n=16,k=16
