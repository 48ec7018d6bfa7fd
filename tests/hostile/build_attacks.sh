# usage: build_attacks.sh METHOD   An adapter that tries to leave its boundary: each attempt fails
#                                  or costs its own build.
. "$TK_LIB"
. "$(dirname "${BASH_SOURCE[0]}")/sandbox_method.sh" "$1"
shared=/dev/shm/tracker-attack-$$
mkdir adapters && git init -q -b main upstream && git -C upstream commit -q --allow-empty -m one
cat >tracker.yml <<YML
machine: testbed
devices: ["null:0"]
paths: { adapters: adapters }
budgets: { build_disk: 64MiB }
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
	log=$(stat -c '%.9Y %n' "$TRACKER_CACHE"/artifacts/*/build.log | sort | sed '$!d;s/.* //')
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
	build "touch '$PWD/planted'; exit 1" # bubblewrap: into an empty folder that vanishes
	assert_no_file planted
	refused "writing into the adapter" "echo x 2>/dev/null >>'$PWD/adapters/toy/build'"
	refused "writing into the kernels" "touch \"\$TK_KERNELS/planted\" 2>/dev/null"
fi

# Programs in ~/.local/bin work, and the folders beside it stay hidden.
if [ "$method" != limits ]; then
	mkdir -p "$HOME"/.local/{bin,share/venv/bin,share/keyrings}
	echo secret >"$HOME/.local/share/keyrings/login"
	printf '#!/bin/sh\necho venv\n' >"$HOME/.local/share/venv/bin/tool-of-mine"
	chmod +x "$HOME/.local/share/venv/bin/tool-of-mine"
	ln -s ../share/venv/bin/tool-of-mine "$HOME/.local/bin/"
	PATH=$HOME/.local/bin:$PATH refused "reading beside ~/.local/bin" \
		"! tool-of-mine || cat '$HOME/.local/share/keyrings/login' 2>/dev/null"
	grep -qx venv "$log" || fail "a program of ~/.local/bin does not work"
fi

# A build that kills or stops its parent fails; the tracker says so and ends.
for signal in KILL STOP; do
	build "kill -$signal \$PPID; exit 1"
	[ "$code" -lt 124 ] || fail "a build ended the tracker by SIG$signal (exit code $code)"
	[ -n "$out$err" ] || fail "the tracker said nothing after SIG$signal"
done

# The filter knows the tracker's threads of the time when a build starts: there are no later ones.
if [ "$method" = limits ]; then
	build 'for t in $(ls /proc/$PPID/task); do kill -0 "$t" 2>/dev/null && echo "reached $t"; done; echo tried; exit 1'
	assert_eq "$(cat "$log")" tried "threads that a build reaches: "
fi

# What a build leaves behind dies with it, also in a session of its own.
build "(setsid sh -c 'exec -a left-behind-$$ sleep 300' >/dev/null 2>&1 &) ; sleep 0.5; exit 1"
sleep 0.5
if pgrep -f "^left-behind-$$" >/dev/null; then fail "a daemon outlives its build"; fi

build "yes 'a flood of text' | head -c 300M; sleep 60; exit 1"
assert_err "printed more than 64 MiB"
[ "$(stat -c %s "$log")" -le $((64 << 20)) ] || fail "the log is longer than its limit"

# A fork bomb of at most 6000 processes that are not in the build's group.
mkdir -p adapters/toy
cc -O2 -o adapters/toy/fork_bomb "$TK_SOURCE_ROOT/tests/hostile/fork_bomb.c" ||
	fail "the fork bomb does not compile"
build "\"\$TK_ADAPTER/fork_bomb\" 6000 40 wait; sleep 60; exit 1"
assert_err "more than 4096 processes"

# Disk space, in one file and in many, of which some were removed.
build "head -c 200M /dev/zero >\"\$TMPDIR/large\"; sleep 60; exit 1"
assert_err "more than 0.1 GiB of disk space"
build "mkdir a && cd a && for i in {1..20}; do head -c 8M /dev/zero >f\$i; ln f\$i g\$i; rm -f f\$((i - 2)); done; sleep 60; exit 1"
assert_err "more than 0.1 GiB of disk space"

# What the build is given besides its own folders has a limit too, and nothing of it stays.
if [ "$method" = bubblewrap ]; then
	refused "filling /tmp" "head -c 1100M /dev/zero 2>/dev/null >/tmp/large"
	refused "filling /home" "touch /home/large 2>/dev/null"
	refused "writing to /dev" "touch /dev/large 2>/dev/null"
	build "echo x >'$shared'; exit 1"
	assert_no_file "$shared"
fi

# A FIFO or a link in TK_OUT fails the build and hangs nothing.
build "mkdir -p \"\$TK_OUT/lib\"; mkfifo \"\$TK_OUT/lib/tk_backend_x.so\""
assert_err "not a regular file"
build "ln -s / \"\$TK_OUT/lib\""
assert_err "lib links to"
exit 0
