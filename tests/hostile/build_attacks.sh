# usage: build_attacks.sh METHOD   An adapter that tries to leave its boundary: each attempt fails or costs its own build.
. "$TK_LIB"
. "$(dirname "${BASH_SOURCE[0]}")/sandbox_method.sh" "$1"

echo secret >"$HOME/key"
mkdir adapters && git init -q -b main upstream && git -C upstream commit -q --allow-empty -m one
cat >tracker.yml <<YML
machine: testbed
devices: ["null:0"]
paths: { adapters: adapters }
upstreams:
  - { name: toy, kind: git, url: upstream, adapter: toy }
YML

# build SCRIPT: a build by an adapter with this text, and its log in build.log
build() {
	mkdir -p adapters/toy
	printf '#!/bin/bash\n%s\n' "$1" >adapters/toy/build
	: >adapters/toy/tools
	chmod +x adapters/toy/build
	run timeout 100 "$TRACKER" build toy
	[ "$code" -ne 124 ] || fail "the build hangs"
	log=$(ls -t "$TRACKER_CACHE"/artifacts/*/build.log | head -n 1)
}

# refused WHAT COMMAND: the command fails in the build
refused() {
	build "if $2; then echo DONE; else echo REFUSED; fi; exit 1"
	grep -qx REFUSED "$log" || fail "$1 was not refused: $(head -c 400 "$log")"
}

refused "a connection to the network" "(exec 3<>/dev/tcp/127.0.0.1/$(cat "$port_file")) 2>/dev/null"
assert_no_file "$port_file.reached"

# bubblewrap and Landlock stop all; the filter of system calls alone leaves the files open.
if [ "$method" != limits ]; then
	refused "reading a file in HOME" "cat '$HOME/key' 2>/dev/null"
	build "touch '$PWD/planted'; exit 1" # bubblewrap: into an empty folder that vanishes
	assert_no_file planted
	refused "writing into the adapter" "echo x 2>/dev/null >>'$PWD/adapters/toy/build'"
	refused "writing into the kernels" "touch \"\$TK_KERNELS/planted\" 2>/dev/null"
fi

# A build that kills or stops its parent fails; the tracker says so and ends.
for signal in KILL STOP; do
	build "kill -$signal \$PPID; exit 1"
	[ "$code" -lt 124 ] || fail "a build ended the tracker by SIG$signal (exit code $code)"
	[ -n "$out$err" ] || fail "the tracker said nothing after SIG$signal"
done

# What a build leaves behind dies with it, also in a session of its own.
build "(setsid sh -c 'exec -a left-behind-$$ sleep 300' >/dev/null 2>&1 &) ; sleep 0.5; exit 1"
sleep 0.5
if pgrep -f "^left-behind-$$" >/dev/null; then fail "a daemon outlives its build"; fi

build "yes 'a flood of text' | head -c 300000000; sleep 60; exit 1"
assert_err "printed more than 64 MiB"
[ "$(stat -c %s "$log")" -lt 290000000 ] || fail "the log has all of the flood"

# A FIFO or a link in TK_OUT fails the build and hangs nothing.
build "mkdir -p \"\$TK_OUT/lib\"; mkfifo \"\$TK_OUT/lib/tk_backend_x.so\""
assert_err "not a regular file"
build "ln -s / \"\$TK_OUT/lib\""
assert_err "lib links to"

exit 0
