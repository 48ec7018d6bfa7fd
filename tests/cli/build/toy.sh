# A small upstream `toy` in up/, an adapter for it in adapters/, and a tracker.yml that knows both:
#   .
#   toy.sh
mkdir -p adapters/toy
git init -q -b main up

# commit_toy FACTOR SUBJECT: the kernel multiplies by FACTOR
commit_toy() {
	cat >up/toy.c <<-END
		#include "tracker_abi.h"
		static const char *version(void) { return "toy of $2"; }
		float toy_kernel(float x);
		float toy_kernel(float x) { return x * $1; }
		static const struct tk_backend backend = {.size = sizeof(backend),
			.abi_major = TK_ABI_MAJOR, .abi_minor = TK_ABI_MINOR,
			.name = "toy", .device_kind = "cpu", .description = "a toy",
			.version = version};
		const struct tk_backend *tk_backend_entry(void) { return &backend; }
	END
	git -C up add toy.c
	git -C up commit -q -m "$2"
}

# adapter COMMAND...: what the adapter does after its usual work
adapter() {
	cat >adapters/toy/build <<-'END'
		#!/bin/sh
		set -eu
		mkdir -p "$TK_OUT/lib"
		$CC -O2 -fPIC -shared $LDFLAGS -I"$TK_KERNELS/abi" \
			-o "$TK_OUT/lib/tk_backend_toy.so" "$TK_SRC/toy.c"
	END
	echo "${*:-:}" >>adapters/toy/build
	chmod +x adapters/toy/build
}
echo cc >adapters/toy/tools
cat >tracker.yml <<END
paths:
  adapters: adapters
upstreams:
  - name: toy
    kind: git
    url: $PWD/up
    adapter: toy
  - name: installed
    kind: system
    adapter: openblas
    backends: [openblas]
END
commit_toy 2 "first"
adapter
