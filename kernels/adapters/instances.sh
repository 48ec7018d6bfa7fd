#!/bin/sh
# Shared by adapters that compile instances of a template, one object each; sourced by their
# scripts, in the folder of the build. The file `instances` has a line for each: NAME and the values
# that the adapter's functions get.

# problem_value KEY PROBLEM
problem_value() {
	printf '%s\n' "$2" | sed -n "s/.*[:,]$1=\([^,]*\).*/\1/p"
}

tracker_type() { # f16: TK_F16
	printf 'TK_%s' "$1" | tr '[:lower:]' '[:upper:]'
}

# native_target: what `native` means to kernels for Hopper and for Ampere: sm_90a, but the processor
# of the first card where that is of Ampere or Ada.
native_target() {
	case ${TK_CUDA_CAPABILITIES:-} in
	8.*) echo "sm_${TK_CUDA_CAPABILITIES%% *}" | tr -d . ;;
	*) echo sm_90a ;;
	esac
}

# run_instance NAME COMMAND...: runs COMMAND, which leaves NAME.o, and leaves NAME.result: "ok
# SECONDS" or "failed SECONDS REASON".
run_instance() {
	instance=$1
	shift
	start=$(date +%s)
	if "$@" >"$instance.log" 2>&1; then
		echo "ok $(($(date +%s) - start))" >"$instance.result"
	else
		# a compiler without memory says nothing of the revision: the whole build ends
		if grep -E 'died due to signal 9|Killed|Cannot allocate memory|bad_alloc|No space left' "$instance.log"; then
			exit 255
		fi
		reason=$({ grep -m 1 -E 'error( #[0-9D-]+)? *:|fatal *:|undefined reference' \
			"$instance.log" || tail -n 1 "$instance.log"; } |
			tr -cd '[:print:]' | cut -c 1-400)
		tail -n 200 "$instance.log" >"$instance.tail"
		cat "$instance.tail" # at once, for the log of the build
		echo "failed $(($(date +%s) - start)) ${reason:-the compiler failed without a message}" >"$instance.result"
	fi
	echo "$instance: $(cat "$instance.result")"
}

# compile_instance NAME ARGUMENT...: by nvcc. Give relative paths, the same at every revision: then
# no path of the work tree is in an object.
compile_instance() {
	name=$1
	shift
	# ccache takes -gencode for a request for debug information, which has the name of the
	# folder in it
	launcher=
	if command -v ccache >/dev/null; then launcher="env CCACHE_NOHASHDIR=1 ccache"; fi
	# shellcheck disable=SC2086
	run_instance "$name" $launcher nvcc "$@" -Xcompiler -fPIC,-fvisibility=hidden \
		"-DKERNEL=$name" -o "$name.o"
}

# compile_instances [NAME=VALUE...]: runs the adapter's `compile` with these variables for each line
# of `instances`; with TK_INSTANCES=N for the first N.
compile_instances() {
	if [ -n "${TK_INSTANCES:-}" ]; then sed -i "$TK_INSTANCES q" instances; fi
	if [ -s instances ]; then
		env "$@" xargs -P "$TK_JOBS" -L 1 "$TK_ADAPTER/${compile:-compile}" <instances
	fi
}

# describe_instances: instances.inc for backend.c, and TK_OUT/instances.txt. Each row has what the
# adapter's instance_row VALUE... prints, then the kernel and the compiler's error, one of them
# NULL. Fails if no instance compiled.
describe_instances() {
	list_instances
	require_instance
}

# list_instances: as describe_instances, but does not fail
list_instances() {
	while read -r instance values; do
		if grep -q '^ok' "$instance.result"; then
			echo "extern const struct kernel $instance;"
		fi
	done <instances >instances.inc
	echo 'static const struct instance instances[] = {' >>instances.inc
	while read -r instance values; do
		read -r how seconds reason <"$instance.result"
		case $how in
		ok) end="&$instance, 0" ;;
		*) end="0, \"$(printf '%s' "$reason" | sed 's/[\\"]/\\&/g')\"" ;;
		esac
		# shellcheck disable=SC2086
		echo "{$(instance_row $values), $end}," >>instances.inc
		echo "$instance $how $seconds s${reason:+: $reason}" >>"$TK_OUT/instances.txt"
	done <instances
	echo '{0}};' >>instances.inc
}

# require_instance: fails if TK_OUT/instances.txt has instances and none of them compiled
require_instance() {
	if [ -s "$TK_OUT/instances.txt" ] && ! grep -q '^[^ ]* ok ' "$TK_OUT/instances.txt"; then
		echo "error: no instance compiled; the first one: $(head -n 1 \
			"$TK_OUT/instances.txt")"
		exit 1
	fi
}

# instance_objects: the objects of the instances that compiled
instance_objects() {
	while read -r instance values; do
		if grep -q '^ok' "$instance.result"; then echo "$instance.o"; fi
	done <instances
}

# link_instances BACKEND OBJECT...: TK_OUT/lib/tk_backend_BACKEND.so of the objects and the
# instances, by nvcc. Some libraries call the driver: the toolkit has a stub of it to link with.
link_instances() {
	backend=$1
	shift
	mkdir -p "$TK_OUT/lib"
	# shellcheck disable=SC2046 # names have no spaces
	set -- "$@" $(instance_objects)
	if nvcc -shared -cudart static -lcuda -o driver.so backend.o 2>/dev/null; then
		set -- "$@" -Xlinker --as-needed -lcuda
	fi
	nvcc -shared -cudart static ${LDFLAGS:+-Xlinker "${LDFLAGS#-Wl,}"} \
		-o "$TK_OUT/lib/tk_backend_$backend.so" "$@"
}
