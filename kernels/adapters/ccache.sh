#!/bin/sh
# Sourced by adapters whose library has a build system of its own that knows a compiler by its name.

# use_ccache: from here on $CC is a program of the same name that calls the compiler through ccache,
# if there is one. Files that a commit does not change are then not compiled again.
use_ccache() {
	command -v ccache >/dev/null || return 0
	compiler=$(command -v "$CC") || return 0 # not one word
	mkdir launchers
	CC=${CC##*/}
	printf '#!/bin/sh\nexec ccache "%s" "$@"\n' "$compiler" >"launchers/$CC"
	chmod +x "launchers/$CC"
	PATH=$PWD/launchers:$PATH CCACHE_NOHASHDIR=1
	export PATH CCACHE_NOHASHDIR
}
