# usage: worker_attacks.sh METHOD
# A backend that attacks the tracker fails only its own row: the tracker goes on, and the attack
# writes no file and reaches no port.
. "$TK_LIB"
. "$(dirname "${BASH_SOURCE[0]}")/sandbox_method.sh" "$1"

as=()
attack() {
	cc -shared -fPIC -o "$1.so" -DFORK_BOMB="\"$PWD/fork_bomb\"" -DWHAT="$1" \
		-DPORT="$(cat "$port_file")" -DFILE_TO_PLANT="\"${FILE_TO_PLANT:-$PWD/planted}\"" \
		"$TK_SOURCE_ROOT/tests/hostile/worker_attack.c" ||
		fail "the attack does not compile"
	run "${as[@]}" timeout -s KILL 60 "$TRACKER" run "./$1.so" gemm:m=8,n=8,k=8
	[ "$code" -lt 124 ] || fail "the tracker was killed, stopped or traced by \"$1\""
	[ -n "$out$err" ] || fail "the tracker said nothing after \"$1\""
}

attack kills
attack stops
attack traces

# The kernel keeps the memory of a root with more capabilities from the worker: tried as an ordinary
# user.
[ "$(id -u)" -ne 0 ] ||
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups env TRACKER_CACHE="$PWD/open/cache")
chmod 755 "$scratch" && mkdir -m 777 open
FILE_TO_PLANT=$PWD/open/planted attack reads_memory
assert_err "tk_backend_entry returned NULL" # it was loaded
assert_no_file open/planted
as=()

cc -O2 -o fork_bomb "$TK_SOURCE_ROOT/tests/hostile/fork_bomb.c" ||
	fail "the fork bomb does not compile"
attack forks
assert_err "more than 1024 processes"

attack calls
assert_no_file "$port_file.reached"
if [ "$method" != limits ]; then
	attack plants
	assert_no_file planted

	# The folder of the backends: a worker reads it, and cannot write to it.
	mkdir backends && cp "$TRACKER_BACKENDS"/*.so backends/
	TRACKER_BACKENDS=$PWD/backends FILE_TO_PLANT=$PWD/backends/planted attack plants
	assert_no_file backends/planted
fi

# An honest job works and is as it was.
run tracker run cpu gemm:m=16,n=16,k=16
assert_code 0
exit 0
