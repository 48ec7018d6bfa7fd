# usage: python_modules.sh METHOD   A Python module that raises, exits, hangs, crashes, prints or
#                                   forks costs its own row.
. "$TK_LIB"
export TRACKER_SANDBOX_METHOD=$1
python=$(python3 -c 'import ctypes, os, sys; print(os.path.realpath(sys.executable))') ||
	skip "no python3 with ctypes"
run tracker doctor --format=json
[ "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["sandbox"]["method"])' \
	"$out_file")" = "$1" ] ||
	skip "this machine has no $1"
cp "$TK_SOURCE_ROOT/tests/hostile/python_adapter.py" adapter.py
pack() {
	"$python" -I "$TK_SOURCE_ROOT/kernels/python/pack.py" --own-packages --package=none \
		"$@" adapter.py
}
package=tk_backend_hostile.python-cpu
pack $package || fail "the package was not written"

cat >tracker.yml <<'YML'
suites: [smoke]
budgets: { job: 3s }
YML
rows() { # M...
	local m problems=()
	for m in "$@"; do problems+=("gemm:m=$m,n=8,k=8,a=f32"); done
	run timeout -s KILL 120 "$TRACKER" run ./$package "${problems[@]}" --seconds=0.01 \
		--sets=2 --format=json
}
if [ "$1" = bubblewrap ]; then
	rows 1 2 3 4 5 6 7 9 10 11 12 13 15 8
	wanted="failed failed failed crashed timeout out_of_memory crashed crashed ok wrong ok ok failed ok"
else
	rows 2 4 10 8
	wanted="failed crashed ok ok"
fi
assert_code 3
assert_eq "$(python3 -c '
import json, sys
print(
    " ".join(
        {"unstable": "ok"}.get(r["outcome"], r["outcome"]) for r in json.load(open(sys.argv[1]))
    )
)' "$out_file")" "$wanted"
assert_out "launch: ValueError: no \u00FCse of this"

for fault in import_raises import_exits import_clashes import_ends; do
	run timeout -s KILL 60 "$TRACKER" run ./$package gemm:m=8,n=8,k=8,a=f32 --sets=2 \
		--options=fault=$fault --format=json
	assert_code 3
	case $fault in
	import_raises) \
		assert_json 'd[0]["outcome"] == "failed"
			and "ModuleNotFoundError: No module named" in d[0]["message"]' ;;
	import_exits) assert_json \
		'd[0]["outcome"] == "failed" and "SystemExit" in d[0]["message"]' ;;
	import_clashes) assert_json \
		'd[0]["outcome"] == "failed" and "ABI version" in d[0]["message"]' ;;
	import_ends) assert_json 'd[0]["outcome"] == "crashed"' ;;
	esac
	[ "$1" = bubblewrap ] || break
done

# descriptions that cannot be used, each the failure of its backend
bad() { # KEY VALUE MESSAGE
	python3 - "$1" "$2" <<'PY'
import json, sys
path = "tk_backend_hostile.python-cpu/host.json"
d = json.load(open("host.json"))
d[sys.argv[1]] = json.loads(sys.argv[2])
json.dump(d, open(path, "w"))
PY
	run "$TRACKER" run ./$package gemm:m=8,n=8,k=8,a=f32 --sets=2
	[ "$code" = 3 ] || [ "$code" = 4 ] || fail "exit code $code"
	[[ $out$err == *"$3"* ]] || fail "expected: $3"
}
cp $package/host.json host.json
ln -s /bin/sh python9
bad python '"/no/such/python3"' "build it again"
bad python '"/bin/sh"' "not the absolute path of an interpreter"
bad python "\"$PWD/python9\"" "which is not a Python"
bad format 2 "\"format\" is not 1"
bad operations '["dance"]' "unknown operation \"dance\""
exit 0
