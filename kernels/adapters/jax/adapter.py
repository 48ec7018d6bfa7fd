"""JAX: dot and jax.nn.dot_product_attention, compiled by XLA, on a CPU and on CUDA, where the work
is captured into a graph. It shares the tracker's inputs and makes its outputs itself.
Configurations on CUDA: the implementations of attention."""

import os

import tracker_host

ON_CUDA = tracker_host.device_kind == "cuda"
if ON_CUDA:
    # Memory as it is needed: the tracker has the rest. XLA's own graphs would be inside of ours.
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    os.environ["XLA_FLAGS"] = "--xla_gpu_enable_command_buffer="
elif tracker_host.threads:
    # XLA has one thread for each core that the process may use; one thread: none beside the caller.
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=%s" % (
        "true" if tracker_host.threads > 1 else "false"
    )
os.environ["JAX_PLATFORMS"] = "cuda" if ON_CUDA else "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

if ON_CUDA:
    import capture

jax.config.update("jax_enable_x64", True)  # f64 exists

TYPES = {"f64": jnp.float64, "f32": jnp.float32, "f16": jnp.float16, "bf16": jnp.bfloat16}
if ON_CUDA:
    TYPES["tf32"] = jnp.float32
compiled = {}  # by problem and configuration: thousands of input sets share one


def supports(p):
    if p.op == "gemm":
        if p.a not in TYPES or p.a != p.b or p.c not in TYPES or p.acc not in ("f32", "f64"):
            return "only %s, A and B of one type" % ", ".join(TYPES)
        return None
    if p.op == "attention":
        if p.backward:
            return "only the forward pass"
        if p.dtype not in TYPES or p.dtype == "tf32" or p.dv != p.d:
            return "only f64, f32, f16 and bf16, heads of one size"
        if p.causal and p.sq != p.skv:
            return "its causal mask begins at the first key, not at the last"
        return None
    return "only gemm and attention"


def configs(p):
    """`default` is XLA's own code; `cudnn` is for 16-bit types, and heads of 128 at most."""
    has_choice = ON_CUDA and p.op == "attention" and p.dtype in ("f16", "bf16") and p.d <= 128
    return ["default", "cudnn"] if has_choice else ["default"]


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
        precision = "TF32_TF32_F32" if p.a == "tf32" else "highest"
        return jnp.matmul(a, b, precision=precision, preferred_element_type=TYPES[p.acc]).astype(
            TYPES[p.c]
        )

    return product


def attention(p, config):
    options = {"implementation": "cudnn" if config == "cudnn" else "xla"} if ON_CUDA else {}

    def attend(q, k, v):
        q, k, v = (typed(x, p.dtype) for x in (q, k, v))
        with jax.default_matmul_precision("highest"):  # on CUDA f32 would be tf32
            return jax.nn.dot_product_attention(
                q, k, v, scale=p.scale, is_causal=bool(p.causal), **options
            )

    return attend


def output_of(p, tensors):
    """Memory for the result, as XLA's own."""
    first = next(t for t in tensors.values() if t.output)  # the tracker's lse is left out
    return jnp.zeros(first.shape, TYPES[p.c if p.op == "gemm" else p.dtype]).block_until_ready()


def plan(p, config, tensors, stream):
    # Shared, not copied: the tracker's memory is aligned, and its values change between two calls.
    if ON_CUDA:
        inputs = [capture.share(t) for t in tensors.values() if not t.output]
        out = output_of(p, tensors)
    else:
        inputs = [jax.dlpack.from_dlpack(np.asarray(t)) for t in tensors.values() if not t.output]
    key = (p.text, config)
    if key not in compiled:
        function = gemm(p) if p.op == "gemm" else attention(p, config)
        compiled[key] = (
            capture.compile(function, out, inputs)
            if ON_CUDA
            else jax.jit(function).lower(*inputs).compile()
        )
    run = compiled[key]
    if ON_CUDA:
        return capture.Captured(run, out, inputs)
    return lambda: run(*inputs).block_until_ready()


def fetch(array, output):
    if ON_CUDA:
        capture.copy(array, output)
    else:
        np.asarray(output)[...] = np.asarray(array).view(np.asarray(output).dtype)
