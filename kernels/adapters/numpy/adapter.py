"""numpy.matmul, with the OpenBLAS that its wheel brings: single and double precision."""

from functools import partial

import numpy as np

TYPES = ("f32", "f64")  # numpy has no fast product of other types
deterministic = True


def supports(p):
    if p.op != "gemm":
        return "only gemm"
    if not (p.a == p.b == p.c == p.acc and p.a in TYPES):
        return (
            "numpy multiplies f32 and f64 with sums of the same type; others are not done by its"
            " BLAS"
        )
    return None


def kernel(p, config):
    return "numpy.matmul"


def plan(p, config, tensors, stream):
    a, b, c = (np.asarray(tensors[name]) for name in "ABC")
    if p.ta:
        a = a.swapaxes(-1, -2)  # a view: BLAS reads it transposed
    if p.tb:
        b = b.swapaxes(-1, -2)
    return partial(np.matmul, a, b, out=c)
