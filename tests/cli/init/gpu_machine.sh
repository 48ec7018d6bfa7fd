# A machine with simulated GPUs: the null device and backend under the names of real ones, in
# modules/.  . gpu_machine.sh
mkdir modules fake

# fake KIND ARCH: copies the sources of the null modules as those of another kind
fake() {
	cp "$TK_SOURCE_ROOT"/kernels/null/*.[ch] \
		"$TK_SOURCE_ROOT"/kernels/reference/{element.*,attention.c,reference.h} fake/
	sed -i "s/out->kind, \"null\"\|\.kind = \"null\"\|KIT_BACKEND(null, \"null\", \"null\"/&@/; s/\"null\"@/\"$1\"/" fake/*_null.c
	sed -i "s/\(out->arch, sizeof out->arch, \)\"null\"/\1\"$2\"/; s/\(out->kind, sizeof out->kind, \)\"null\"/\1\"$1\"/" fake/device_null.c
}

# compile OUTPUT SOURCE...
compile() {
	local out=modules/$1.so
	shift
	cc -std=gnu11 -O1 -D_GNU_SOURCE -shared -fPIC -I"$TK_SOURCE_ROOT/kernels/abi" \
		-Ifake -o "$out" "$@" -lm
}

# add_gpu KIND ARCH BACKEND...
add_gpu() {
	local kind=$1 arch=$2 backend
	shift 2
	fake "$kind" "$arch"
	compile "tk_device_$kind" fake/device_null.c
	for backend in "$@"; do
		sed "s/KIT_BACKEND(null, \"null\"/KIT_BACKEND(null, \"$backend\"/" \
			fake/backend_null.c >fake/backend_this.c
		compile "tk_backend_$backend" \
			fake/backend_this.c fake/null_*.c fake/element.c fake/attention.c
	done
}

for module in device_cpu backend_cpu backend_control; do
	cp "$TRACKER_BACKENDS/tk_$module.so" modules/
done
export TRACKER_BACKENDS=$PWD/modules
