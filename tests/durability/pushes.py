#!/usr/bin/env python3
"""Ends the server, or `tracker push` itself, by kill -9 at random moments of a push.

usage: pushes.py [--rounds=N] [--history=FILE] [--seed=S] [--server=COMMAND], with TRACKER in the
environment

--history: a history to start from, for instance of make_history; the larger, the longer a push.
--server: another server of the S3 protocol, with {port} and {folder} in its command, for instance
moto of PyPI: "moto_server -p {port}". What is ended then is a process that forwards its
connections: a server may keep its objects in memory, or write them in place, which S3 does not.

After every end the server has the history of before or the new one, whole: `pull` fetches it, `db
check` finds nothing, and it has all of its nights. Then a push that nobody ends succeeds. Exit code
1 names the first thing that does not hold."""

import argparse, os, random, shlex, shutil, signal, socket, sqlite3, subprocess, sys, tempfile
import threading, time, urllib.request

TRACKER = os.path.abspath(os.environ.get("TRACKER", "tracker"))
SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli/push/server.py")
SCRIPT = os.path.abspath(__file__)
URL = "s3://bucket/nights"


class Failed(Exception):
    pass


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port):
    for _ in range(600):
        with socket.socket() as s:
            if not s.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.1)
    raise Failed("the server does not answer on port %d" % port)


def copy_bytes(source, to):
    try:
        while data := source.recv(65536):
            to.sendall(data)
        to.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def forward(port, target):
    """Until the process is ended: connections to `port` go to `target`."""
    with socket.create_server(("127.0.0.1", port)) as s:
        while True:
            client = s.accept()[0]
            server = socket.create_connection(("127.0.0.1", target))
            for pair in ((client, server), (server, client)):
                threading.Thread(target=copy_bytes, args=pair, daemon=True).start()


class OtherServer:
    """A server that goes on while what is between it and `push` is ended."""

    def __init__(self, command, folder):
        target, self.port = free_port(), free_port()
        words = shlex.split(command.format(port=target, folder=os.path.abspath(folder)))
        self.server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(target)
        self.target = target
        os.environ["AWS_ENDPOINT_URL"] = "http://127.0.0.1:%d" % self.port
        make = urllib.request.Request("http://127.0.0.1:%d/bucket" % target, method="PUT")
        urllib.request.urlopen(make).close()
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, SCRIPT, "--forward=%d:%d" % (self.port, self.target)]
        )
        wait_for(self.port)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.kill()
        self.server.kill()
        self.server.wait()


class Server:
    def __init__(self, folder):
        self.folder, self.port = folder, "0"
        self.start()

    def start(self):
        command = [sys.executable, SERVER, self.folder, self.port]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.port = self.process.stdout.readline().strip()
        os.environ["AWS_ENDPOINT_URL"] = "http://127.0.0.1:" + self.port

    def kill(self):
        self.process.kill()
        self.process.wait()

    end = kill


def tracker(*args, check=True):
    run = subprocess.run([TRACKER, *args], capture_output=True, text=True)
    if check and run.returncode:
        raise Failed("tracker %s: %d: %s" % (" ".join(args), run.returncode, run.stderr))
    return run


def count_nights(path):
    with sqlite3.connect("file:%s?mode=ro" % path, uri=True) as db:
        return db.execute("select count(*) from night").fetchone()[0]


def add_night(k):
    with open("point.csv", "w") as f:
        f.write("time,commit,a\n%s,c%d,%d\n" % (1700000000 + 86400 * k, k, 10 + k % 3))
    tracker("import", "csv", "point.csv", "--machine=m", "--upstream=x", "--better=lower")


def check_server(allowed):
    """The nights that the server has."""
    shutil.rmtree("pulled", ignore_errors=True)
    tracker("pull", URL)
    tracker("--db=pulled/m.db", "db", "check")
    nights = count_nights("pulled/m.db")
    if nights not in allowed:
        raise Failed("the server has %d nights, expected %s" % (nights, allowed))
    return nights


def one_round(server, rng, usual_s):
    """What was ended, and whether the new history arrived nevertheless."""
    before = count_nights("tracker.db")
    add_night(before)
    push = subprocess.Popen(
        [TRACKER, "push", URL], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    time.sleep(rng.uniform(0, 1.2 * usual_s))
    ended = rng.choice(("server", "push"))
    running = push.poll() is None
    if ended == "server":
        server.kill()
    else:
        push.send_signal(signal.SIGKILL)
    if ended == "server" and rng.random() < 0.5:
        server.start()  # soon enough for what push tries again
        if push.wait():
            raise Failed("push gave up although the server was back")
    else:
        push.kill()
        push.wait()
        if ended == "server":
            server.start()
    arrived = check_server((before, before + 1)) > before
    tracker("push", URL)
    check_server((before + 1,))
    return ended if running else "nothing", arrived


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=100)
    p.add_argument("--history")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--server")
    p.add_argument("--forward", help=argparse.SUPPRESS)
    options = p.parse_args()
    rng = random.Random(options.seed)
    history = options.history and os.path.abspath(options.history)
    if options.forward:
        forward(*map(int, options.forward.split(":")))
    os.environ.update(AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.mkdir("server")
        with open("tracker.yml", "w") as f:
            f.write("machine: m\npaths: { cache: cache }\n")
        if history:
            shutil.copy(history, "tracker.db")
        add_night(0)
        server = OtherServer(options.server, "server") if options.server else Server("server")
        start = time.monotonic()
        tracker("push", URL)
        usual_s = time.monotonic() - start
        counts = {}
        for _ in range(options.rounds):
            key = one_round(server, rng, usual_s)
            counts[key] = counts.get(key, 0) + 1
        server.end()
    for (ended, arrived), n in sorted(counts.items()):
        print(
            "%4d ended: %s, the new history %s"
            % (n, ended, "arrived" if arrived else "did not arrive")
        )
    print(
        "%d rounds, a push takes %.2f s; nothing lost, nothing in part" % (options.rounds, usual_s)
    )


try:
    main()
except Failed as error:
    print("FAILED: %s" % error)
    sys.exit(1)
