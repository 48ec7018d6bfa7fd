#!/usr/bin/env python3
# Written for this project, under its licence (LICENSE); no data and no code of others.
"""families.py - verdicts about series of one machine that step at one commit.

  families.py --tracker build/tracker [--seeds 20] [--jobs 2]

An imported history (code unknown) of 34 nights at 1 % noise: k series lose 4 to 20 % at night 28,
with others that stay where they are ("flat": 200 series in all) or without ("alone": k series in
all), and with a new driver in the same night or without. Prints a Markdown table: verdicts of the k
series after six nights in %, the night of the first alert, and alerts of flat series per history.
"""

import argparse, collections, concurrent.futures, json, os, random, sqlite3, subprocess, tempfile

NIGHTS, STEP, SERIES = 34, 28, 200
FORMAT = """-- reads: csv
-- columns: series|value|commit|date
SELECT cells ->> 'series' AS series, 'us' AS unit, cells ->> 'value' AS value,
  cells ->> 'commit' AS revision, cells ->> 'date' AS time, 'box' AS machine,
  place || '.value' AS place
FROM csv;
"""


def write_history(folder, family, flat, seed):
    r = random.Random(seed)
    with open(os.path.join(folder, "f.sql"), "w") as f:
        f.write(FORMAT)
    size = [r.uniform(0.04, 0.2) for _ in range(family)]
    with open(os.path.join(folder, "h.csv"), "w") as f:
        print("series,date,commit,value", file=f)
        for night in range(NIGHTS):
            date = f"2026-{9 + night // 30:02}-{1 + night % 30:02}"
            for k in range(SERIES if flat else family):
                loss = size[k] if k < family and night >= STEP else 0
                value = (100 + k) * (1 + loss) * (1 + r.gauss(0, 0.01))
                print(f"s{k:03},{date},{0xABC00000 + night:x},{value:.6g}", file=f)


def set_driver(folder):
    """The nights since the step have another driver: imports do not say one."""
    s = sqlite3.connect(os.path.join(folder, "tracker.db"))
    s.execute('UPDATE environment SET attributes = \'{"driver":"550"}\'')
    columns = [c[1] for c in s.execute("PRAGMA table_info(environment)") if c[1] != "id"]
    values = {"uid": "'driver 560'", "attributes": '\'{"driver":"560"}\''}
    select = ", ".join(values.get(c, c) for c in columns)
    s.execute(f"INSERT INTO environment ({', '.join(columns)}) SELECT {select} FROM environment")
    since = "as_of_s >= (SELECT as_of_s FROM night ORDER BY as_of_s LIMIT 1 OFFSET ?)"
    for table in ("run", "measurement"):
        new = "(SELECT max(id) FROM environment)"
        s.execute(f"UPDATE {table} SET environment_id = {new} WHERE {since}", (STEP,))
    s.commit()


def judge(tracker, family, flat, driver, seed):
    with tempfile.TemporaryDirectory() as folder:
        write_history(folder, family, flat, seed)
        env = dict(os.environ, TRACKER_NOW="2026-10-04T12:00:00Z", TZ="UTC")

        def run(*args):
            p = subprocess.run([tracker, *args], cwd=folder, env=env, capture_output=True)
            if p.returncode not in (0, 1, 3):
                raise SystemExit(p.stderr.decode())
            return p.stdout

        run("import", "--format=./f.sql", "h.csv")
        if driver:
            set_driver(folder)
        run("detect", "--all")
        rows = json.loads(run("diff", "--last=7", "--all", "--format=json"))["rows"]
        alerts = json.loads(run("alert", "--all", "--format=json"))
    in_family = lambda problem: int(problem.split("s")[-1][:3]) < family
    status = collections.Counter(x["status"] for x in rows if in_family(x["problem"]))
    opened = sorted(a["opened"] for g in alerts for a in g["alerts"])
    wrong = sum(x["status"] == "regressed" for x in rows if not in_family(x["problem"]))
    night = int(opened[0][8:10]) - 29 + 30 * (opened[0][5:7] > "09") if opened else None
    return status, night, wrong


def main():
    a = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    a.add_argument("--tracker", required=True)
    a.add_argument("--seeds", type=int, default=20)
    a.add_argument("--jobs", type=int, default=2)
    a = a.parse_args()
    tracker = os.path.abspath(a.tracker)
    print("| family | others | driver | regressed | environment | unsure | else | alert | false |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for family in (1, 2, 5, 12, 60, 150):
            for flat in (True, False):
                for driver in (False, True):
                    all_ = collections.Counter()
                    nights, wrong = [], 0
                    ask = lambda seed: judge(tracker, family, flat, driver, seed)
                    for status, night, false in pool.map(ask, range(a.seeds)):
                        all_ += status
                        wrong += false
                        nights += [night] if night is not None else []
                    part = lambda *s: f"{100 * sum(all_[x] for x in s) / sum(all_.values()):.0f}"
                    told = ("regressed", "environment", "unsure")
                    print(
                        f"| {family} | {'flat' if flat else 'none'} | {'new' if driver else ''} | "
                        + " | ".join(part(s) for s in told)
                        + f" | {part(*(set(all_) - set(told)))} | "
                        + (f"night {sorted(nights)[len(nights) // 2] + 1}" if nights else "-")
                        + f" | {wrong / a.seeds:.2f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
