"""An adapter that misbehaves: on import by the option `fault`, otherwise by the rows of A
(`FAULTS`). 8 rows are multiplied correctly."""

import ctypes
import os
import sys
import threading
import time

import tracker_host

FAULT = tracker_host.options.get("fault")
if FAULT == "import_raises":
    import no_such_module  # noqa: F401
if FAULT == "import_exits":
    sys.exit(7)
if FAULT == "import_ends":
    os._exit(0)
if FAULT == "import_clashes":
    raise RuntimeError(
        "module compiled against ABI version 0x1000009 but this version of numpy is 0x2000000"
    )

LINE = '{"id":%d,"ok":true,"result":{"outcome":"ok","median":1}}\n'


def nothing(*_):
    pass


def raises(*_):
    raise ValueError("no \u00fcse\nof this")


def exits(*_):
    sys.exit(0)


def ends(*_):
    os._exit(0)


def hangs(*_):
    time.sleep(3600)


def out_of_memory(*_):
    raise MemoryError("a petabyte")


def crashes(*_):
    ctypes.string_at(0)


def closes(*_):
    os.closerange(0, 4096)


def prints(multiply):
    for i in range(10):
        print(LINE % i, flush=True)
        os.write(1, (LINE % i).encode())
    multiply()


def returns(multiply):
    return 7


def forks(*_):
    os.fork()  # both go on


def starts_thread(*_):
    threading.Thread(target=lambda: [time.sleep(0.001) for _ in iter(int, 1)], daemon=True).start()


def unprintable(*_):
    class Error(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    raise Error


# rows: at the plan, at each call instead of the product
FAULTS = {
    1: (raises, None),
    2: (nothing, raises),
    3: (nothing, exits),
    4: (nothing, ends),
    5: (nothing, hangs),
    6: (nothing, out_of_memory),
    7: (nothing, crashes),
    9: (closes, None),
    10: (nothing, prints),
    11: (nothing, returns),
    12: (forks, None),
    13: (starts_thread, None),
    15: (nothing, unprintable),
}


def supports(p):
    return None if p.op == "gemm" and p.a == "f32" and not p.ta and not p.tb else "only gemm of f32"


def plan(p, config, tensors, stream):
    at_plan, at_call = FAULTS.get(p.m, (nothing, None))
    at_plan()
    a, b, c = (
        (ctypes.c_float * (tensors[n].nbytes // 4)).from_address(tensors[n].pointer) for n in "ABC"
    )

    def multiply():
        for i in range(p.m):
            for j in range(p.n):
                c[i * p.n + j] = sum(a[i * p.k + k] * b[k * p.n + j] for k in range(p.k))

    return (lambda: at_call(multiply)) if at_call else multiply
