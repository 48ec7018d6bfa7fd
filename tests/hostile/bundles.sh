#!/bin/bash
# Histories of others that were changed to harm: a merge refuses each, a check names it, and what is
# stored stays as it is.
# shellcheck disable=SC1090,SC2154
. "$TK_LIB"
make_history=$TK_BUILD_ROOT/tests/make_history
"$make_history" good.db --series=3 --nights=3 --keep-samples=1 >/dev/null || fail "make_history"
printf 'series,day,commit,value\na,0,c1,5\na,1,c2,6.5\n' >points.csv
run tracker import points.csv --better=lower
assert_code 0
run tracker db check
assert_code 0
tracker db export >before

# NAME, what the messages of merge and check say, and how the history is changed
cat >make.py <<'PYTHON'
import hashlib, shutil, sqlite3, struct


def uid(table, *keys):
    h = hashlib.sha256()
    for k in (table, *keys):
        if isinstance(k, str):
            h.update(struct.pack("<Q", len(k.encode())) + k.encode())
        else:
            h.update(struct.pack("<q", k))
    return h.hexdigest()[:32]


def night(when):
    def change(db):
        (machine_id, machine) = db.execute("SELECT id, uid FROM machine").fetchone()
        key = uid("night", machine, "nightly", when, when, 7)
        db.execute(
            "INSERT INTO night(uid, machine_id, kind, as_of_s, started_s, status, seed,"
            " config_hash, tracker_version) VALUES (?,?,'nightly',?,?,'complete',7,'','1')",
            (key, machine_id, when, when),
        )

    return change


def upstream(name):
    return lambda db: db.execute(
        "INSERT INTO upstream(uid, name, kind, url) VALUES (?,?,'git','')",
        (uid("upstream", name), name),
    )


def sql(text):
    return lambda db: db.executescript(text)


ESC, MARK = "\x1b]0;owned\x07", "\u202e"
VIEW = "ALTER TABLE measurement RENAME TO m2; CREATE VIEW measurement AS SELECT * FROM m2"
CASES = [
    ("delete", 'trigger "t" does not belong', sql(
        "CREATE TRIGGER t AFTER INSERT ON measurement BEGIN DELETE FROM measurement; END")),
    ("script", 'trigger "s" does not belong', sql(
        "CREATE TRIGGER s BEFORE INSERT ON machine BEGIN SELECT load_extension('x'); END")),
    ("view", '"measurement"', sql(VIEW)),
    ("extra_view", 'view "everything" does not belong', sql(
        "CREATE VIEW everything AS SELECT * FROM run, run b, run c")),
    ("swapped", "is not defined as in a history", sql(
        "ALTER TABLE device RENAME TO d0; ALTER TABLE upstream RENAME TO device;"
        "ALTER TABLE d0 RENAME TO upstream")),
    ("replacing", 'table "stage" is not defined as in a history', sql(
        "DROP TABLE stage; CREATE TABLE stage(night_id INTEGER UNIQUE ON CONFLICT REPLACE,"
        " name TEXT, status TEXT, started_s INTEGER, finished_s INTEGER, detail TEXT)")),
    ("dropped", 'table "verdict" is missing', sql("DROP TABLE verdict")),
    ("unique", 'index "once" does not belong', sql(
        "CREATE UNIQUE INDEX once ON measurement(flags, n, run_id)")),
    ("checksum", "its checksum is 0000000000003039", sql("UPDATE measurement SET checksum=12345")),
    ("no_checksum", "has no checksum", sql("UPDATE measurement SET checksum=0")),
    ("nan", "was changed by hand", sql("UPDATE measurement SET value=9e999")),
    ("negative", "was changed by hand", sql("UPDATE measurement SET value=-value")),
    ("machine", "it was changed by hand", lambda db: db.execute(
        "UPDATE machine SET name=name||?", (ESC + MARK,))),
    ("backend", "a text has 5000000 bytes", sql(
        "UPDATE series SET backend=hex(zeroblob(2500000)) WHERE id=1")),
    ("long", "a text has 5000000 bytes", upstream("x" * 5000000)),
    ("slug", "the slug \"../../owned\" was changed", sql(
        "UPDATE device SET slug='../../owned' WHERE id=1")),
    ("year1", "expected a time between 1970 and 2200", night(-62135596800)),
    ("year9999", "expected a time between 1970 and 2200", night(253402300799)),
    ("uid", "it was changed by hand", sql("UPDATE problem SET uid=lower(hex(randomblob(16)))")),
]
for name, phrase, change in CASES:
    shutil.copy("good.db", name + ".db")
    db = sqlite3.connect(name + ".db")
    change(db)
    db.commit()
    db.close()
    print(name, phrase, sep="\t")

# what is odd, but a history that the tracker could have written
for name, change in (
    ("huge_ids", sql(
        "PRAGMA foreign_keys=OFF; UPDATE machine SET id=4611686018427387904;"
        "UPDATE device SET machine_id=4611686018427387904;"
        "UPDATE night SET machine_id=4611686018427387904")),
    ("escapes", upstream("u" + ESC + MARK)),
):
    shutil.copy("good.db", name + ".db")
    db = sqlite3.connect(name + ".db")
    change(db)
    db.commit()
PYTHON
python3 make.py >cases || fail "the histories could not be changed"
[ "$(wc -l <cases)" -ge 19 ] || fail "cases are missing"

while IFS=$'\t' read -r name phrase; do
	run tracker merge "$name.db" --into=tracker.db
	[ "$code" = 4 ] || fail "$name: exit code $code"
	assert_err "$phrase"
	case $name in view | unique | machine | backend | year9999) # the same rule
		run tracker --db="$name.db" db check
		[ "$code" = 1 ] || fail "$name: exit code $code of the check"
		assert_out "$phrase"
		;;
	esac
	! LC_ALL=C grep -qP '\x1b|\x07|\xe2\x80\xae' "$out_file" "$err_file" ||
		fail "$name: a control character was printed"
done <cases
tracker db export | cmp - before || fail "a refused history changed this one"

# triggers of the history itself do not run: nothing is lost, and the check names them
cp tracker.db trapped.db
python3 - <<'PYTHON'
import sqlite3

sqlite3.connect("trapped.db").executescript(
    "CREATE TRIGGER t AFTER INSERT ON measurement BEGIN DELETE FROM measurement; END"
)
PYTHON
run tracker merge good.db --into=trapped.db
assert_code 4
assert_err 'trapped.db: the trigger "t" does not belong to a history'
printf 'series,day,commit,value\na,2,c3,5\n' >more.csv
run tracker --db=trapped.db import more.csv --better=lower
assert_code 0
run tracker --db=trapped.db db check
assert_code 1
assert_out 'trigger "t" does not belong to a history'
tracker --db=trapped.db db export >after
[ "$(wc -l <after)" -gt "$(wc -l <before)" ] || fail "points were lost"

for name in huge_ids escapes; do
	run tracker merge "$name.db" --into=tracker.db
	assert_code 4
	assert_err "were changed by hand"
	run tracker db check
	assert_code 0
done
[ -z "$(find .. -name owned)" ] || fail "a file was written outside of the folder"
