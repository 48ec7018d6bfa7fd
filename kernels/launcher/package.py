"""Writes a compiled kernel package (docs/reference/kernel-packages.md): a code object and a
manifest for each problem and configuration. For adapters of compilers, which find this folder by
PYTHONPATH."""

import argparse
import concurrent.futures
import hashlib
import itertools
import json
import math
import os
import sys
from concurrent.futures.process import BrokenProcessPool


class Unsupported(Exception):
    """Not a failure: the adapter's kernels do not do this problem. Its text is the reason."""


class CompileError(Exception):
    """Its text alone becomes the manifest's error; of other exceptions the type is named, too."""


def parse_problem(text):
    op, _, rest = text.partition(":")
    return op, dict(pair.split("=", 1) for pair in rest.split(","))


def find_kernel(problem, kernels):
    """(what `kernels` has for the operation of a problem, the values of its keys)"""
    op, p = parse_problem(problem)
    if op not in kernels:
        *others, last = kernels
        raise Unsupported("only %s and %s" % (", ".join(others), last))
    return kernels[op], p


def choose_calls(problem, kernels, most):
    """For `calls` of write(). `kernels`: {operation: generator of (configuration, call) for the
    values of a problem}. Tiles that a problem cuts to the same size are one configuration."""
    kernel, p = find_kernel(problem, kernels)
    chosen = {}
    for configuration, call in kernel(p):
        chosen.setdefault(configuration, call)
    return list(itertools.islice(chosen.items(), most))


def read_attention(p, sizes):
    """(b, h, hkv, s, d, scale) of the values of a problem, for kernels with heads of these `sizes`
    whose tiles divide the lengths. Raises Unsupported."""
    b, h, hkv, sq, skv, d = (int(p[key]) for key in ("b", "h", "hkv", "sq", "skv", "d"))
    scale = float(p.get("scale", 0)) or 1 / math.sqrt(d)
    if (
        p["dir"] != "fwd"
        or p["dtype"] not in ("f16", "bf16")
        or int(p.get("dv", d)) != d
        or d not in sizes
    ):
        *others, last = map(str, sizes)
        raise Unsupported(
            "only forward, f16 and bf16, heads of %s and %s" % (", ".join(others), last)
        )
    if scale <= 0 or sq != skv or sq % 128:
        raise Unsupported("only a positive scale, and as many queries as keys, a multiple of 128")
    return b, h, hkv, sq, d, scale


def read_nsa(p):
    """(b, h, hkv, s, d, scale, block_size, selected_blocks, window) of the values of a problem, for
    kernels with heads of 64 and 128. Raises Unsupported."""
    b, h, hkv, s, d, block, selected, window = (
        int(p[key])
        for key in ("b", "h", "hkv", "s", "d", "block_size", "selected_blocks", "window")
    )
    scale = float(p.get("scale", 0)) or 1 / math.sqrt(d)
    if p["dtype"] not in ("f16", "bf16") or d not in (64, 128) or block % 16 or scale <= 0:
        raise Unsupported(
            "only f16 and bf16, heads of 64 and 128, blocks of a multiple of 16 keys, a positive"
            " scale"
        )
    return b, h, hkv, s, d, scale, block, selected, window


def cpu_seconds():
    """Processor time of this process and its children: other work on the machine does not count."""
    return sum(os.times()[:4])


def error_line(error):
    text = " ".join(str(error).split())
    return (text if isinstance(error, CompileError) else "%s: %s" % (type(error).__name__, text))[
        :440
    ]


def write_one(compile_call, out, extension, common, stem, call):
    """One manifest, and its code object unless the compiler fails. Returns the line of the log, and
    whether there is code."""
    written = dict(common)
    try:
        code, members = compile_call(call)
        name = "%s.%s" % (stem, extension)
        with open(os.path.join(out, name), "wb") as f:
            f.write(code)
        written.update(
            members,
            code_object=name,
            sha256=hashlib.sha256(code).hexdigest(),
            compile_seconds=round(members["compile_seconds"], 4),
        )
        result = "%.2f s, %d bytes" % (members["compile_seconds"], len(code))
    except Exception as error:  # one problem that does not compile must not cost the others
        written["error"] = result = error_line(error)
    with open(os.path.join(out, stem + ".json"), "w", encoding="utf-8") as f:
        json.dump(written, f, indent=1)
    return (
        "%s %s: %s" % (written["problem"], written["configuration"], result),
        "error" not in written,
    )


def crash(call):
    raise CompileError("the compiler crashed")


def run_alone(compile_call, *job):
    """In a process of its own. A compiler that ends it costs its own problem alone."""
    try:
        with concurrent.futures.ProcessPoolExecutor(1) as pool:
            return pool.submit(write_one, compile_call, *job).result()
    except BrokenProcessPool:
        return write_one(crash, *job)


def run_jobs(jobs, compile_call, out, extension):
    """The results of `write_one`, in the order of the jobs. A crash ends the pool: what has no
    result then is compiled again."""
    with concurrent.futures.ProcessPoolExecutor(int(os.environ.get("TK_JOBS", "1"))) as pool:
        waiting = [(job, submit(pool, compile_call, out, extension, *job)) for job in jobs]
        for job, future in waiting:
            try:
                yield future.result()
            except BrokenProcessPool:
                yield run_alone(compile_call, out, extension, *job)


def submit(pool, *job):
    try:
        return pool.submit(write_one, *job)
    except BrokenProcessPool as error:
        failed = concurrent.futures.Future()
        failed.set_exception(error)
        return failed


def list_jobs(calls, common, most, parameters):
    """(members that are the same whether it compiles or not, file name without extension, call) of
    each manifest."""
    with open(os.environ["TK_PROBLEMS"], encoding="utf-8") as f:
        listed = json.load(f)["problems"]
    for problem in listed:
        try:
            chosen = calls(problem, most)
        except Unsupported as why:
            print("%s: not supported: %s" % (problem, why))
            continue
        digest = hashlib.sha256(problem.encode()).hexdigest()[:10]
        for i, (configuration, call) in enumerate(chosen):
            named = parameters(call) if parameters else {}
            yield (
                dict(
                    common,
                    problem=problem,
                    configuration=configuration,
                    **({"parameters": named} if named else {}),
                ),
                "%s-%s-%d" % (problem.partition(":")[0], digest, i),
                call,
            )


def parse_arguments(*more):
    """OUT TARGET [--configs=N], and the positional arguments `more`."""
    parser = argparse.ArgumentParser()
    for name in ("out", "target", *more):
        parser.add_argument(name)
    parser.add_argument(
        "--configs", type=int, default=1, help="configurations of a problem at most"
    )
    return parser.parse_args()


def note_instance(problem, line, ok):
    """The preferred kernel of a problem, in the table from which the tracker tells whether a build is
    complete. Other configurations of it may fail: a search leaves them out."""
    if "TK_OUT" in os.environ:
        with open(os.path.join(os.environ["TK_OUT"], "instances.txt"), "a", encoding="utf-8") as f:
            seconds = line.partition(": ")[2].partition(" s,")[0] if ok else "0"
            reason = "" if ok else ": " + line.partition(": ")[2]
            print(problem, "ok" if ok else "failed", seconds, "s" + reason, file=f)


def write(options, producer, extension, calls, compile_call, parameters=None):
    """`calls(problem, most)` gives at most `most` (configuration, call), the best guess first, or
    raises Unsupported. `compile_call(call)`, which runs in other processes, gives the bytes of a
    code object and members of its manifest: `launches`, `compile_seconds`, and others that replace
    the usual. `parameters(call)` names what the configurations of a problem differ in, the same
    names for all of them: {name: whole number}; {}: nothing, they have only their names.
    """
    os.makedirs(options.out, exist_ok=True)
    todo = list(
        list_jobs(
            calls,
            {"format": 1, "producer": producer, "target": options.target},
            options.configs,
            parameters,
        )
    )
    good, failures = 0, []
    for (common, stem, _), (line, ok) in zip(
        todo, run_jobs(todo, compile_call, options.out, extension)
    ):
        print(line, flush=True)
        good += ok
        failures += [] if ok else [line]
        if stem.endswith("-0"):
            note_instance(common["problem"], line, ok)
    print("%s %s: %d of %d code objects" % (producer["name"], producer["version"], good, len(todo)))
    if not good:
        sys.exit(
            "error: "
            + (
                "none of the problems could be compiled: " + failures[0]
                if todo
                else "none of the problems is supported"
            )
        )
