#!/usr/bin/env python3
"""Ends nights and backfills by kill -9 at random moments, fills the disk at random moments, and
holds the history's lock.

usage: kills.py [--nights=N] [--backfills=N] [--disks=N] [--locks=N] [--seed=S]
with TRACKER in the environment

--disks: nights that find no space, for each of the folders of history, site, cache and logs.

After every end: each measurement that was there is there with the same bytes, none is there twice,
`db check` finds nothing, `--resume` (or the same backfill) goes on, and no build is stored as
failed. Exit code 1 names the first thing that does not hold, 77: the disks cannot be made here.
"""

import argparse, os, random, shutil, signal, sqlite3, subprocess, sys, tempfile, time

TRACKER = os.environ["TRACKER"]
ADAPTER = '#!/bin/sh\nmkdir -p "$TK_OUT/lib" && cp "%s" "$TK_OUT/lib/tk_backend_null.so"\n'
SUITE = (
    "title: six\nsource: made for this test\n"
    "problems:\n  - gemm: { m: [16, 24, 32], n: [16, 32], k: 16 }\n"
)
CONFIG = """machine: testbed
devices: ["null:0"]
suites: [suite.yml]
paths: { adapters: adapters, db: db/tracker.db, site: pub/site, cache: cache/c }
budgets: { job: 20s, measure: 10ms }
control: { every: 0 }
upstreams:
  - { name: up, kind: git, url: up, adapter: copy, backends: ["null"] }
"""
TABLES = (
    "select n.uid, s.uid, r.uid, m.value, m.lo, m.hi, m.n, m.min, m.q25, m.q75, m.p95, m.flags,"
    " hex(p.data) from measurement m join run r on r.id = m.run_id join night n on n.id ="
    " m.night_id join series s on s.id = m.series_id left join sample p on p.run_id = m.run_id and"
    " p.series_id = m.series_id"
)


def git(*args, day=1):
    when = f"2026-10-{day:02}T12:00:00Z"
    env = {
        **os.environ,
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_DATE": when,
        "GIT_CONFIG_GLOBAL": "/dev/null",
    }
    for role in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{role}_NAME": "Test", f"GIT_{role}_EMAIL": "test@example.org"}
    subprocess.run(["git", "-C", "up", *args], env=env, check=True, stdout=subprocess.DEVNULL)


def make_project():
    for folder in ("up", "adapters/copy", "db", "pub", "cache", "logs"):
        os.makedirs(folder)
    null = os.path.join(
        os.environ.get("TRACKER_BACKENDS", os.path.dirname(TRACKER) + "/backends"),
        "tk_backend_null.so",
    )
    for path, text in (
        ("adapters/copy/build", ADAPTER % null),
        ("suite.yml", SUITE),
        ("tracker.yml", CONFIG),
    ):
        with open(path, "w") as f:
            f.write(text)
    os.chmod("adapters/copy/build", 0o755)
    git("init", "-q", "-b", "main")
    for i in range(1, 4):
        commit(i)


def commit(i):
    with open("up/n", "w") as f:
        f.write(str(i))
    git("add", "n", day=i % 28 + 1)
    git("commit", "-q", "-m", f"commit {i}", day=i % 28 + 1)


def fail(what, output=""):
    print(f"kills: {what}\n{output}", file=sys.stderr)
    sys.exit(1)


def run(*args):
    done = subprocess.run([TRACKER, *args], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def rows():
    if not os.path.exists("db/tracker.db"):
        return set()
    c = sqlite3.connect("file:db/tracker.db?mode=ro", uri=True, timeout=20)
    try:
        found = c.execute(TABLES).fetchall()
        double = c.execute(
            "select count(*) from (select 1 from measurement group by night_id, series_id, build_id"
            " having count(*) > 1)"
        ).fetchone()[0]
        broken = c.execute("select count(*) from build where status <> 'ok'").fetchone()[0]
    except sqlite3.OperationalError as e:
        if "no such table" in str(e):
            return set()
        raise
    finally:
        c.close()
    if double:
        fail(f"{double} measurements are there twice")
    if broken:
        fail("a build is stored as failed, which only the system ended")
    return set(found)


def check(before, what):
    now = rows()
    if not before <= now:
        fail(f"{what}: {len(before - now)} measurements are gone or changed")
    if os.path.exists("db/tracker.db") and os.path.getsize("db/tracker.db"):
        code, text = run("db", "check")
        if code:
            fail(f"{what}: db check: exit code {code}", text)
    return now


def kill_at(args, after_s):
    p = subprocess.Popen(
        [TRACKER, *args],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        p.wait(after_s)
    except subprocess.TimeoutExpired:
        pass
    was_running = p.poll() is None
    if was_running:
        os.killpg(p.pid, signal.SIGKILL)
    p.wait()
    return was_running


def has_unfinished():
    c = sqlite3.connect("file:db/tracker.db?mode=ro", uri=True, timeout=20)
    try:
        return c.execute("select count(*) from night where status = 'running'").fetchone()[0] > 0
    finally:
        c.close()


def time_of(*args):
    start = time.monotonic()
    code, text = run(*args)
    if code not in (0, 1):
        fail(f"{args}: exit code {code}", text)
    return time.monotonic() - start


def kill_nights(count):
    time_of("nightly")  # builds
    length, seen, killed = time_of("nightly"), rows(), 0
    for i in range(count):
        killed += kill_at(["nightly"], random.uniform(0, 1.1 * length))
        seen = check(seen, f"night {i}")
        if has_unfinished():
            code, text = run("nightly", "--resume")
            if code not in (0, 1):
                fail(f"night {i}: --resume: exit code {code}", text)
            seen = check(seen, f"resumed night {i}")
    return killed


def kill_backfills(count):
    length, seen, killed = 0, rows(), 0
    for i in range(count):
        commit(100 + i)
        args = ["backfill", "up", "--commits=2"]
        if not length:
            length = time_of(*args)
            continue
        killed += kill_at(args, random.uniform(0, 1.1 * length))
        seen = check(seen, f"backfill {i}")
        if i % 5 == 4:
            code, text = run(*args)
            if code not in (0, 1):
                fail(f"backfill {i}: exit code {code}", text)
            seen = check(seen, f"continued backfill {i}")
    return killed


# The folder lies on a file system of its own, with this many KiB more than it needs now; how many
# were left is the last line.
FILL = """cp -a {0} copy.{0} && mount -t tmpfs none {0} && cp -a copy.{0}/. {0}/ || exit 77
mount -o remount,size=$(( $(df --output=used -k {0} | tail -n 1) + {1} ))k {0} || exit 77
start=$(df --output=avail -k {0} | tail -n 1)
"$TRACKER" --log=logs/night.jsonl nightly; code=$?
left=$(df --output=avail -k {0} | tail -n 1)
rm -rf copy.{0}; cp -a {0} copy.{0}
echo; echo "$start $left"; exit $code"""


def fill_disk(folder, kib, what):
    """One night; returns how many KiB it used, and whether it found no space."""
    seen = rows()
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", FILL.format(folder, kib)], capture_output=True, text=True
    )
    text = done.stdout + done.stderr
    if done.returncode == 77 or "unshare:" in text:
        sys.exit(77)
    start, left = map(int, done.stdout.split()[-2:])
    shutil.rmtree(folder)
    os.rename("copy." + folder, folder)
    if done.returncode not in (0, 1, 3, 4):
        fail(f"{what}: exit code {done.returncode}", text)
    seen = check(seen, what)
    if "--resume" in text:
        code, text = run("nightly", "--resume")
        if code not in (0, 1):
            fail(f"{what}: --resume: exit code {code}", text)
        check(seen, "resumed, " + what)
    return start - left, left < 4 or done.returncode not in (0, 1)


PAGE = 4096  # what a file in memory has room for, at least


def fill_log(room):
    """A night whose log has this many bytes left; the same results as fill_disk()."""
    with open("logs/night.jsonl", "w") as f:
        f.write("\n" * (PAGE - room))
    fill_disk("logs", 0, f"logs with {room} bytes left")
    size = os.path.getsize("logs/night.jsonl")
    return size - (PAGE - room), size == PAGE


def fill_disks(count):
    """Each folder until `count` nights have found no space, of a random part of what the nights
    before used."""
    total = 0
    for folder in ("db", "pub", "cache", "logs"):
        full, most, tries = 0, 600, 0
        while full < count and tries < 10 * count + 20:
            tries += 1
            total += 1
            commit(1000 + total)
            room = random.randint(0, most)
            used, is_full = (
                fill_log(room)
                if folder == "logs"
                else fill_disk(folder, room, f"{folder} with {room} KiB left")
            )
            full += is_full
            if not is_full:
                most = max(5, min(most, used))
        print(f"full disk below {folder}: {full} of {tries} nights", flush=True)
    return total


def hold_locks(count):
    """Another program writes to the history for 1 to 60 s, from a random moment of a night on."""
    length, resumed = time_of("nightly"), 0
    for i in range(count):
        seconds, seen = random.uniform(1, 60), rows()
        night = subprocess.Popen(
            [TRACKER, "nightly"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        time.sleep(random.uniform(0, length))
        c = sqlite3.connect("db/tracker.db", timeout=20, isolation_level=None)
        c.execute("begin immediate")
        time.sleep(seconds)
        c.execute("rollback")
        c.close()
        text = night.communicate()[0]
        what = f"lock {i} for {seconds:.0f} s"
        if night.returncode not in (0, 1, 4):
            fail(f"{what}: exit code {night.returncode}", text)
        seen = check(seen, what)
        if night.returncode == 4 and "--resume" not in text:
            fail(f"{what}: nothing says how to go on", text)
        if has_unfinished():
            resumed += 1
            code, text = run("nightly", "--resume")
            if code not in (0, 1):
                fail(f"{what}: --resume: exit code {code}", text)
            check(seen, "resumed, " + what)
    return resumed


AFTER = {
    "nights": "ended early",
    "backfills": "ended early",
    "full disks": "nights",
    "locks": "resumed",
}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name, default in (
        ("nights", 200),
        ("backfills", 200),
        ("disks", 12),
        ("locks", 0),
        ("seed", int(time.time())),
    ):
        p.add_argument("--" + name, type=int, default=default)
    o = p.parse_args()
    random.seed(o.seed)
    print(f"seed {o.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ |= {"HOME": folder, "TZ": "UTC", "GIT_CONFIG_GLOBAL": "/dev/null"}
        make_project()
        for what, work, count in (
            ("nights", kill_nights, o.nights),
            ("backfills", kill_backfills, o.backfills),
            ("full disks", fill_disks, o.disks),
            ("locks", hold_locks, o.locks),
        ):
            if count:
                print(
                    f"{what}: {count} wanted, {work(count)} {AFTER[what]}, {len(rows())}"
                    " measurements, none lost",
                    flush=True,
                )
        os.chdir("/")


main()
