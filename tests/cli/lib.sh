# What every command test starts with:  . "$TK_LIB"
#
# The test runs in an empty folder of its own that is removed at the end (kept where TK_KEEP is
# set), with a home, a cache and a git identity of its own, and with the calendar pinned. `run
# CMD...` runs a command and keeps its exit code, stdout and stderr; the assert functions look at
# the last run and end the test with what was expected and what came.
set -u
shopt -s inherit_errexit 2>/dev/null

: "${TRACKER:?the path of the tracker binary}"
: "${TK_SOURCE_ROOT:=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tracker-cli-XXXXXX")
trap 'code=$?; [ -n "${TK_KEEP:-}" ] && echo "kept: $scratch" || rm -rf -- "$scratch"; exit $code' \
	EXIT
mkdir "$scratch/home" "$scratch/work" "$scratch/io"
cd "$scratch/work" || exit 1

export TRACKER TZ=UTC LC_ALL=C TRACKER_NOW=2026-11-21T03:00:00Z
export HOME=$scratch/home TRACKER_CACHE=$scratch/home/cache
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=Test GIT_AUTHOR_EMAIL=test@example.org GIT_COMMITTER_NAME=Test \
	GIT_COMMITTER_EMAIL=test@example.org
export ASAN_OPTIONS=exitcode=99:${ASAN_OPTIONS:-} \
	UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS:-}
unset CI NO_COLOR GIT_DIR GIT_WORK_TREE XDG_CACHE_HOME TRACKER_DATADIR

out_file=$scratch/io/out err_file=$scratch/io/err
last="" code=0

tracker() { "$TRACKER" "$@"; }

fail() {
	local at=0
	while [ "${BASH_SOURCE[$at]}" = "${BASH_SOURCE[0]}" ]; do at=$((at + 1)); done
	{
		echo "${BASH_SOURCE[$at]}:${BASH_LINENO[$((at - 1))]}: $1"
		if [ -n "$last" ]; then
			echo "--- command: $last (exit code $code)"
			echo "--- stdout:"; head -c 4000 "$out_file"
			echo "--- stderr:"; head -c 4000 "$err_file"
		fi
	} >&2
	exit 1
}

skip() { echo "skipped: $*"; exit 77; }

# run CMD...: "tracker" is the binary under test
run() {
	last="$*"
	code=0
	"$@" >"$out_file" 2>"$err_file" </dev/null || code=$?
	out=$(tr -d '\0' <"$out_file"; printf x) out=${out%x}
	err=$(tr -d '\0' <"$err_file"; printf x) err=${err%x}
}

assert_code() { [ "$code" -eq "$1" ] || fail "expected exit code $1, got $code"; }
assert_out() { [[ $out == *"$1"* ]] || fail "expected on stdout: $1"; }
assert_no_out() { [[ $out != *"$1"* ]] || fail "not expected on stdout: $1"; }
assert_err() { [[ $err == *"$1"* ]] || fail "expected on stderr: $1"; }
assert_no_err() { [[ $err != *"$1"* ]] || fail "not expected on stderr: $1"; }
assert_out_matches() { [[ $out =~ $1 ]] || fail "expected on stdout, as a pattern: $1"; }
assert_err_matches() { [[ $err =~ $1 ]] || fail "expected on stderr, as a pattern: $1"; }
assert_out_is() { [ "$out" = "$1"$'\n' ] || fail "expected on stdout exactly: $1"; }
assert_out_empty() { [ -z "$out" ] || fail "expected nothing on stdout"; }
assert_err_empty() { [ -z "$err" ] || fail "expected nothing on stderr"; }
assert_eq() { [ "$1" = "$2" ] || fail "${3:-}expected: $2, got: $1"; }
assert_file() { [ -f "$1" ] || fail "expected the file $1, there is: $(ls)"; }
assert_no_file() { [ ! -e "$1" ] || fail "not expected: the file $1"; }

# isolated_python ARGUMENT...: Python with its own modules alone, called by its path: `python3` may
# be a script that looks for it, which takes longer than what tests do in Python.
interpreter=
isolated_python() {
	[ -n "$interpreter" ] ||
		interpreter=$(python3 -c 'import sys; print(sys.executable)' </dev/null)
	"${interpreter:-python3}" -I -S "$@"
}

# assert_json EXPRESSION [FILE]: a Python expression about `d`, the parsed document (default: the
# last stdout)
assert_json() {
	isolated_python - "$1" "${2:-$out_file}" <<'PYTHON' || fail "JSON: expected: $1"
import json, sys
def constant(x):
    raise ValueError("not JSON: " + x)
with open(sys.argv[2], encoding="utf-8") as f:
    d = json.load(f, parse_constant=constant)
if not eval("(" + sys.argv[1] + "\n)"):  # of several lines, too
    print("got:", json.dumps(d)[:2000], file=sys.stderr)
    sys.exit(1)
PYTHON
}

# assert_json_lines FILE: each line is a JSON object
assert_json_lines() {
	isolated_python - "$1" <<'PYTHON' || fail "expected JSON lines in $1"
import json, sys
for n, line in enumerate(open(sys.argv[1], encoding="utf-8"), 1):
    if not isinstance(json.loads(line), dict) or not line.endswith("\n"):
        sys.exit(f"line {n} is no object: {line!r}")
PYTHON
}

# omit_ceilings [MODULE...]: nights from now on measure no ceilings, which take longer than most
# tests; the backend in their place has none. MODULE: others that are needed.
omit_ceilings() {
	local module
	mkdir backends
	for module in tk_device_cpu tk_backend_control "$@"; do
		cp "$TRACKER_BACKENDS/$module.so" backends/ || fail "no module $module"
	done
	cp "$TRACKER_BACKENDS/tk_backend_control.so" backends/tk_backend_ceiling.so
	export TRACKER_BACKENDS=$PWD/backends
}

# sql DB STATEMENTS: changes what is stored
sql() {
	isolated_python - "$@" <<'PYTHON' || fail "SQL: $2"
import sqlite3, sys

db = sqlite3.connect(sys.argv[1])
db.executescript(sys.argv[2])
db.commit()
PYTHON
}

# refuse_rows DB TABLE CONDITION MESSAGE: from now on only rows that meet the SQL condition can be
# stored; accept_rows DB TABLE undoes it
refuse_rows() { change_table "$1" "$2" "CONSTRAINT \"$4\" CHECK ($3)"; }
accept_rows() { change_table "$1" "$2" ""; }
change_table() {
	isolated_python - "$@" <<'PYTHON' || fail "cannot change the table $2"
import re, sqlite3, sys

path, table, constraint = sys.argv[1:]
db = sqlite3.connect(path)
(sql,) = db.execute("SELECT sql FROM sqlite_schema WHERE name=?", (table,)).fetchone()
sql = re.sub(r' CONSTRAINT "[^"]*" CHECK \([^)]*\)', "", sql)
if constraint:
    sql = re.sub("INTEGER (NOT NULL|PRIMARY KEY)", lambda m: m[0] + " " + constraint, sql, count=1)
db.execute("PRAGMA writable_schema=ON")
db.execute("UPDATE sqlite_schema SET sql=? WHERE name=?", (sql, table))
db.commit()
PYTHON
}
