"""JAX: dot and jax.nn.dot_product_attention, compiled by XLA for the CPU. It shares the tracker's
inputs and makes its outputs itself."""

import os

import tracker_host

if tracker_host.threads:
    # XLA has one thread for each core that the process may use; one thread: none beside the caller.
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=%s" % (
        "true" if tracker_host.threads > 1 else "false"
    )
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

jax.config.update("jax_enable_x64", True)  # f64 exists

TYPES = {"f64": jnp.float64, "f32": jnp.float32, "f16": jnp.float16, "bf16": jnp.bfloat16}
compiled = {}  # by problem and configuration: thousands of input sets share one


def supports(p):
    if p.op == "gemm":
        if p.a not in TYPES or p.a != p.b or p.c not in TYPES or p.acc not in ("f32", "f64"):
            return "only f64, f32, f16 and bf16, A and B of one type"
        return None
    if p.op == "attention":
        if p.backward:
            return "only the forward pass"
        if p.dtype not in TYPES or p.dv != p.d:
            return "only f64, f32, f16 and bf16, heads of one size"
        if p.causal and p.sq != p.skv:
            return "its causal mask begins at the first key, not at the last"
        return None
    return "only gemm and attention"


def kernel(p, config):
    return "jax.numpy.matmul" if p.op == "gemm" else "jax.nn.dot_product_attention"


def typed(array, name):
    """bf16 comes as integers, because numpy has no name for it. Within the compiled program this
    costs nothing."""
    return jax.lax.bitcast_convert_type(array, jnp.bfloat16) if name == "bf16" else array


def gemm(p):
    def product(a, b):
        a, b = typed(a, p.a), typed(b, p.b)
        a = a.swapaxes(-1, -2) if p.ta else a
        b = b.swapaxes(-1, -2) if p.tb else b
        return jnp.matmul(a, b, precision="highest", preferred_element_type=TYPES[p.acc]).astype(
            TYPES[p.c]
        )

    return product


def attention(p):
    def attend(q, k, v):
        q, k, v = (typed(x, p.dtype) for x in (q, k, v))
        return jax.nn.dot_product_attention(q, k, v, scale=p.scale, is_causal=bool(p.causal))

    return attend


def plan(p, config, tensors, stream):
    # Shared, not copied: the tracker's memory is aligned, and its values change between two calls.
    inputs = [jax.dlpack.from_dlpack(np.asarray(t)) for t in tensors.values() if not t.output]
    if p.text not in compiled:
        function = gemm(p) if p.op == "gemm" else attention(p)
        compiled[p.text] = jax.jit(function).lower(*inputs).compile()
    run = compiled[p.text]
    return lambda: run(*inputs).block_until_ready()


def fetch(array, output):
    np.asarray(output)[...] = np.asarray(array).view(np.asarray(output).dtype)
