# . sandbox_method.sh METHOD   Everything below runs in that sandbox; skips where this machine has
#                              another one.
# $port_file has the port of a listener; a connection to it leaves $port_file.reached.
method=$1
export TRACKER_SANDBOX_METHOD=$method
run tracker doctor --format=json
[ "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["sandbox"]["method"])' \
	"$out_file")" = "$method" ] ||
	skip "this machine has no $method"

port_file=$scratch/port
python3 -c '
import socket, sys
s = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(s.getsockname()[1]))
s.settimeout(60)
s.accept()
open(sys.argv[1] + ".reached", "w")' "$port_file" >/dev/null 2>&1 &
listener=$!
trap 'code=$?; kill "$listener" 2>/dev/null; rm -rf -- "$scratch"; exit $code' EXIT
for _ in $(seq 100); do [ -s "$port_file" ] && break; sleep 0.1; done
