#!/bin/bash
# Files to import that were made to harm, in every format: endless, truncated, nested deeply. Each
# ends with a clear error, and what is stored stays as it is.
# shellcheck disable=SC1090,SC2154
. "$TK_LIB"
printf 'series,day,commit,value\na,0,c1,5\na,1,c2,6.5\n' >points.csv
run tracker import points.csv --better=lower
assert_code 0
tracker export >records.ndjson
tracker db export >before

refused() { # WHAT PHRASE FILE...: is an error that names the file
	local what=$1 phrase=$2
	shift 2
	run tracker import "$@"
	[ "$code" = 4 ] || fail "$what: exit code $code"
	assert_err "$phrase"
	[ ${#err} -lt 2000 ] || fail "$what: a message of ${#err} bytes"
}

# endless: one line, and one record after another
refused zero "more than 1024 MiB" /dev/zero
mkfifo endless
yes "b,2,c3,7" >endless 2>/dev/null &
refused fifo "more than 1024 MiB" csv endless

python3 - <<'PYTHON'
import json

DEPTH = 100000
STARTS = {
    "asv": '{"version": 2, "commit_hash": "%s", "results": {"a": ' % ("c" * 40),
    "github-action": 'window.BENCHMARK_DATA = {"lastUpdate": 1, "entries": {"B": ',
    "google-benchmark": '{"context": {"date": "2026-10-01"}, "benchmarks": ',
    "hyperfine": '{"results": ',
    "kernels": '[{"kernel": ',
    "nvbench": '{"meta": {}, "devices": ',
    "pytest-benchmark": '{"machine_info": {}, "benchmarks": ',
    "tracker": '{"format": 2, "machine": ',
}
for name, start in STARTS.items():
    for bracket in ("[", '{"a":'):
        kind = "list" if bracket == "[" else "object"
        with open(f"deep-{kind}.{name}", "w") as f:
            f.write(start + bracket * DEPTH)
    with open(f"cut.{name}", "w") as f:
        f.write(start + '[{"name": "x", "value": 1')
with open("cut.csv", "w") as f:
    f.write('series,day,commit,value\na,3,"c4')
with open("wide.csv", "w") as f:
    f.write("series,day,commit,value\n" + "n" * 5000000 + ",1,c9,5\n")
record = json.loads(open("records.ndjson").readline())


def changed(name, change):
    copy = json.loads(json.dumps(record))
    change(copy)
    with open(f"{name}.ndjson", "w") as f:
        f.write(json.dumps(copy, separators=(",", ":")) + "\n")


changed("year1", lambda r: r["night"].update(as_of_s=-62135596800))
changed("year9999", lambda r: r["night"].update(started_s=253402300799))
changed("forged", lambda r: r["measurement"].update(checksum="0" * 16))
changed("huge", lambda r: r["night"].update(as_of_s=2**62))
changed("long", lambda r: r["upstream"].update(name="u" * 5000000))
changed("swapped", lambda r: r.update(device="cpu"))
PYTHON

for format in asv github-action google-benchmark hyperfine kernels nvbench pytest-benchmark \
	tracker; do
	for file in deep-list deep-object cut; do
		refused "$file.$format" "$file.$format" "$format" "$file.$format"
	done
done
refused "half a line" "cut.csv" csv cut.csv
refused "a wide name" "is longer than 4096 bytes" csv wide.csv
refused "year 1" "expected a time between 1970 and 2200" tracker year1.ndjson
refused "year 9999" "expected a time between 1970 and 2200" tracker year9999.ndjson
refused "a time of 2^62" "expected a time between 1970 and 2200" tracker huge.ndjson
refused "a forged checksum" "was changed after its export" tracker forged.ndjson
refused "a long name" "at most 1048576 are allowed" tracker long.ndjson
refused "other kinds" "expected an object" tracker swapped.ndjson
tracker db export | cmp - before || fail "a refused file changed the history"
