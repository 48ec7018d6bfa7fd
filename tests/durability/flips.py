#!/usr/bin/env python3
"""usage: flips.py HISTORY.db FLIPS   with TRACKER in the environment
Edits each column of each table and flips random bits: `db check` finds it, or nothing that can be
read has changed. Prints the counts."""

import os, random, shutil, sqlite3, subprocess, sys

COPY = "flipped.db"


def is_found():
    done = subprocess.run(
        [os.environ["TRACKER"], "--db=" + COPY, "db", "check"], capture_output=True
    )
    return done.returncode != 0


def content(path):
    db = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    names = [n for (n,) in db.execute("SELECT name FROM sqlite_schema WHERE type='table'")]
    db.text_factory = bytes
    return {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}"))) for name in names}


def flip(path, count):
    rng, before, data, harmless = random.Random(1), content(path), open(path, "rb").read(), 0
    for _ in range(count):
        at, bit = rng.randrange(len(data)), rng.randrange(8)
        with open(COPY, "wb") as f:
            f.write(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
        if not is_found():
            harmless += 1
            assert content(COPY) == before, f"not found: bit {bit} of byte {at}"
    print(f"{count} flipped bits: {count - harmless} found, {harmless} harmless")


def edit(path):
    db, edits, empty = sqlite3.connect(path), 0, []
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type='table'").fetchall():
        if not db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:
            empty.append(table)
            continue
        for _, column, kind, *_ in db.execute(f"PRAGMA table_info({table})"):
            shutil.copy(path, COPY)
            copy = sqlite3.connect(COPY)
            copy.execute("PRAGMA ignore_check_constraints=ON")
            new = {"TEXT": f"{column}||'x'", "BLOB": "x'00'", "REAL": f"ifnull({column},7)/2+1"}
            copy.execute(
                f"UPDATE {table} SET {column}={new.get(kind, f'ifnull({column},7)+1')}"
                f" WHERE {column} IS (SELECT max({column}) FROM {table})"
            )
            copy.commit()
            copy.close()
            edits += 1
            assert is_found(), f"not found: an edit of {table}.{column}"
    print(f"{edits} edited columns found; empty tables: {empty}")


edit(sys.argv[1])
flip(sys.argv[1], int(sys.argv[2]))
