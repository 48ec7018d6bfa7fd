"""Writes a compiled kernel package: a code object and a manifest for each problem and configuration, for adapters of compilers."""
import argparse
import concurrent.futures
import hashlib
import json
import os
import sys


def one_line(error):
    return ("%s: %s" % (type(error).__name__, " ".join(str(error).split())))[:440]


def cpu_seconds():
    """Processor time of this process and its children: other work on the machine does not count."""
    return sum(os.times()[:4])


def write_one(compile_call, out, target, producer, problem, call, stem):
    """One manifest, and its code object unless the compiler fails. Returns the line of the log, and whether there is code."""
    written = {"format": 1, "producer": producer, "target": target, "problem": problem, "configuration": call[1]}
    started = cpu_seconds()
    try:
        code, launches = compile_call(target, call)
        seconds = cpu_seconds() - started
        with open(os.path.join(out, stem + ".cubin"), "wb") as f:
            f.write(code)
        written.update(code_object=stem + ".cubin", sha256=hashlib.sha256(code).hexdigest(), launches=launches, compile_seconds=round(seconds, 4))
        result = "%.2f s, %d bytes" % (seconds, len(code))
    except Exception as error:  # one problem that does not compile must not cost the others
        written["error"] = result = one_line(error)
    with open(os.path.join(out, stem + ".json"), "w", encoding="utf-8") as f:
        json.dump(written, f, indent=1)
    return "%s %s: %s" % (problem, call[1], result), "error" not in written


def jobs(listed, calls, most, unsupported):
    for problem in listed:
        try:
            chosen = calls(problem, most)
        except unsupported as why:
            print("%s: not supported: %s" % (problem, why))
            continue
        digest = hashlib.sha256(problem.encode()).hexdigest()[:10]
        for i, call in enumerate(chosen):
            yield problem, call, "%s-%s-%d" % (problem.partition(":")[0], digest, i)


def main(producer, calls, unsupported, compile_call):
    """`calls(problem, most)` gives (kernel, configuration, ...) or raises `unsupported`; `compile_call(target, call)` gives the bytes of a code object
    and the list of launches."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("target")
    parser.add_argument("--configs", type=int, default=1, help="configurations of a problem at most")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    with open(os.environ["TK_PROBLEMS"], encoding="utf-8") as f:
        todo = list(jobs(json.load(f)["problems"], calls, options.configs, unsupported))
    good, failures = 0, []
    with concurrent.futures.ProcessPoolExecutor(int(os.environ.get("TK_JOBS", "1"))) as pool:
        waiting = [pool.submit(write_one, compile_call, options.out, options.target, producer, *job) for job in todo]
        for line, ok in (w.result() for w in waiting):
            print(line, flush=True)
            good += ok
            failures += [] if ok else [line]
    print("%s %s: %d of %d code objects" % (producer["name"], producer["version"], good, len(todo)))
    if not good:
        sys.exit("error: " + ("none of the problems could be compiled: " + failures[0] if todo else "none of the problems is supported"))
