# An upstream `fake` in up/ whose backend `traced` records regions of its own making:
#   .
#   fake.sh
#   commit SOFTMAX SUBJECT [SPIN]: that region is longer by SOFTMAX ns; a launch lasts SPIN us
git init -q -b main up
commit() {
	echo "$1" >up/softmax
	echo "$2" >up/note
	echo "${3:-0}" >up/spin
	git -C up add .
	git -C up commit -q -m "$2"
}
mkdir -p adapters/fake
cp "$TK_SOURCE_ROOT/tests/cli/trace/traced_backend.c" adapters/fake/
cat >adapters/fake/build <<'SH'
#!/bin/sh
set -e
mkdir -p "$TK_OUT/lib/trace"
sed "s/SOFTMAX_NS + ctx/SOFTMAX_NS + $(cat "$TK_SRC/softmax") + ctx/" \
	"$TK_ADAPTER/traced_backend.c" >traced.c
set -- -shared -fPIC -fvisibility=hidden $LDFLAGS -DSPIN_US="$(cat "$TK_SRC/spin")" \
	-I"$TK_KERNELS/abi" traced.c -o
cc "$@" "$TK_OUT/lib/tk_backend_traced.so"
[ -e "$TK_SRC/untraced" ] || cc -DTRACED "$@" "$TK_OUT/lib/trace/tk_backend_traced.so"
SH
chmod +x adapters/fake/build
