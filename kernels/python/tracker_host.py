"""The Python side of the host: what an adapter sees of the tracker, and what the host
(python_backend.c) calls. docs/reference/python-packages.md is the contract of adapters.

An adapter imports this module for `Unsupported`, `threads`, `device_kind` and `options`, which are
set before the adapter is imported.
"""

import ctypes
import functools
import gc
import importlib
import importlib.metadata
import json
import os
import sys
import traceback
import types

threads = 0  # 0: the library's choice
device_kind = "cpu"
options = {}

OK, UNSUPPORTED, NO_MEMORY, INVALID, DEVICE, INTERNAL = range(6)  # enum tk_abi_status

# Types without a name in numpy are given as integers of their size: an adapter views them as its
# own.
TYPESTR = {
    "f64": "<f8",
    "f32": "<f4",
    "tf32": "<f4",
    "f16": "<f2",
    "bf16": "<i2",
    "e4m3": "|u1",
    "e5m2": "|u1",
    "i32": "<i4",
    "i64": "<i8",
}


class Unsupported(Exception):
    """A problem that the library does not do. Its text is the reason."""


class Tensor:
    """One of the tracker's buffers: `name`, `dtype` ("f32"), `shape`, `pointer`, `nbytes`, `output`
    (to be written). numpy.asarray() and, on CUDA, torch.as_tensor() share its memory. `buffer` is
    the memory as ctypes bytes, on a CPU."""

    def __init__(self, name, dtype, shape, pointer, nbytes, output):
        self.name, self.dtype, self.shape = name, dtype, tuple(shape)
        self.pointer, self.nbytes, self.output = pointer, nbytes, output
        interface = {
            "version": 3,
            "shape": self.shape,
            "typestr": TYPESTR[dtype],
            "data": (pointer, False),
            "strides": None,
        }
        if device_kind == "cpu":
            self.__array_interface__ = interface
        else:
            self.__cuda_array_interface__ = interface

    @property
    def buffer(self):
        return (ctypes.c_char * self.nbytes).from_address(self.pointer)


@functools.lru_cache(maxsize=1)  # bound once for each of up to thousands of input sets
def parse_problem(text):
    return types.SimpleNamespace(**json.loads(text))


def failure(error):
    name = type(error).__name__
    if isinstance(error, Unsupported):
        return UNSUPPORTED, str(error) or "not supported", None
    traceback.print_exception(type(error), error, error.__traceback__)  # into the worker's log
    return (NO_MEMORY if "MemoryError" in name else INTERNAL), "%s: %s" % (name, error), None


def answers(function):
    """The result as (status, text, object), whatever the adapter raises."""

    def call(*args):
        try:
            text, value = function(*args)
            return OK, text, value
        except BaseException as error:  # SystemExit, too: the answer is the host's to send
            return failure(error)

    return call


def nothing():
    """Its call is the host's own part of every measured call."""


def check_version(description):
    """What is installed may have changed since the package was made."""
    producer = description.get("producer", {})
    if description.get("own_packages") and producer.get("version"):
        installed = importlib.metadata.version(producer["name"])
        if installed != producer["version"]:
            raise ImportError(
                "%s %s is installed, and the package was made for %s: make it again"
                % (producer["name"], installed, producer["version"])
            )


def check_callable(call):
    if not callable(call) and not hasattr(call, "graph"):
        raise TypeError("plan() returned %s, expected a callable" % type(call).__name__)
    return call


class Host:
    """One package, opened."""

    def __init__(self, package):
        with open(os.path.join(package, "host.json"), encoding="utf-8") as file:
            check_version(json.load(file))
        sys.path[:0] = [os.path.join(package, "adapter"), os.path.join(package, "site")]
        self.adapter = importlib.import_module("adapter")

    def supports(self, problem):
        reason = self.adapter.supports(parse_problem(problem))
        if reason:
            raise Unsupported(reason)
        return "", None

    def configs(self, problem):
        names = getattr(self.adapter, "configs", lambda p: ["default"])(parse_problem(problem))
        return ",".join(names), None

    def describe(self, problem, config):
        """Name of what runs, and whether equal inputs give equal bits."""
        name = getattr(self.adapter, "kernel", lambda p, c: "")(parse_problem(problem), config)
        return name, bool(getattr(self.adapter, "deterministic", False))

    def bind(self, problem, config, tensors, stream):
        tensors = {t["name"]: Tensor(**t) for t in json.loads(tensors)}
        call = check_callable(self.adapter.plan(parse_problem(problem), config, tensors, stream))
        outputs = [t for t in tensors.values() if t.output]
        return "", (call, outputs)

    def fetch(self, result, outputs):
        if not isinstance(result, (tuple, list)):
            result = (result,)
        if not 1 <= len(result) <= len(outputs):  # the last ones may be optional, as lse is
            raise ValueError(
                "the callable returned %d arrays, the problem has %d outputs"
                % (len(result), len(outputs))
            )
        for array, output in zip(result, outputs):
            self.adapter.fetch(array, output)
        return "", None


def parse_options(text):
    return dict(o.partition("=")[::2] for o in text.split(",") if o)


@answers
def open_host(package, kind, thread_count, option_text):
    global threads, device_kind, options
    threads, device_kind, options = thread_count, kind, parse_options(option_text)
    gc.disable()  # a collection within a sample would be noise
    host = Host(package)
    methods = ("supports", "configs", "describe", "bind", "fetch")
    return "", types.SimpleNamespace(**{name: answers(getattr(host, name)) for name in methods})


@answers
def collect():
    """Between two plans: frees what cycles hold."""
    gc.collect()
    return "", None
