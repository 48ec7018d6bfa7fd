"""PyTorch: matmul, _scaled_mm of 8-bit floats, and scaled_dot_product_attention forward and backward,
on a CPU and on CUDA, where the work is captured into a graph. Configurations: the implementations
of attention, `flex` (FlexAttention) and `compile` (torch.compile); of 8-bit products `fast`."""

import contextlib
from functools import partial

import torch
import tracker_host

ON_CUDA = tracker_host.device_kind == "cuda"
if tracker_host.threads and not ON_CUDA:
    torch.set_num_threads(tracker_host.threads)

TYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "tf32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
}
BYTES = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
ATTENTION = {
    "flash": "FLASH_ATTENTION",
    "efficient": "EFFICIENT_ATTENTION",
    "cudnn": "CUDNN_ATTENTION",
    "math": "MATH",
}


def supports_bytes(p):
    if not ON_CUDA or p.b not in BYTES or p.c not in ("f16", "bf16", "f32"):
        return "8-bit floats only on CUDA, both operands, and a result of f16, bf16 or f32"
    if p.a == p.b == "e5m2" or p.ta or not p.tb or p.batch != 1 or p.n % 16 or p.k % 16:
        return (
            "of 8-bit floats only A row by row and B transposed, n and k multiples of 16, no"
            " batch, not e5m2 by e5m2"
        )
    return None


def supports(p):
    if p.op == "gemm" and p.a in BYTES:
        return supports_bytes(p)
    if p.op == "gemm":
        if p.a not in TYPES or not p.a == p.b or TYPES[p.a] != TYPES.get(p.c):
            return "only f64, f32, tf32, f16 and bf16, the result of the same type"
        return "no tf32 on a CPU" if p.a == "tf32" and not ON_CUDA else None
    if p.op != "attention":
        return "only gemm and attention"
    if p.dtype not in TYPES or p.dtype == "tf32":
        return "only f64, f32, f16 and bf16"
    if p.causal and p.sq != p.skv:
        return "its causal mask begins at the first key, not at the last"
    if p.backward and (p.h != p.hkv or p.d != p.dv or ON_CUDA and p.dtype not in ("f16", "bf16")):
        return (
            "its backward pass is that of FlashAttention: as many heads of K and V as of Q, on CUDA"
            " f16 and bf16"
        )
    return None


def configs(p):
    if p.op == "gemm":
        return ["default", "fast" if p.a in BYTES else "compile"]
    if p.backward:
        # the default is FlashAttention's
        return ["default"] + (["efficient", "cudnn", "math"] if ON_CUDA else [])
    return ["default"] + (list(ATTENTION) + ["flex"] if ON_CUDA else []) + ["compile"]


def kernel(p, config):
    if p.op == "gemm":
        return "torch._scaled_mm" if p.a in BYTES else "torch.matmul"
    return "flex_attention" if config == "flex" else "scaled_dot_product_attention"


def share(tensor):
    """A torch tensor in the tracker's memory."""
    if ON_CUDA:
        # bf16 and 8-bit floats come as integers
        return torch.as_tensor(tensor, device="cuda").view({**TYPES, **BYTES}[tensor.dtype])
    return torch.frombuffer(tensor.buffer, dtype=TYPES[tensor.dtype]).view(tensor.shape)


def heads_first(x):
    return x.transpose(1, 2)  # the tracker's layout is [b][s][heads][d]


def scaled_gemm(p, t, config):
    """With scales of 1. `fast`: sums of the tensor cores' own precision."""
    one = torch.ones((), dtype=torch.float32, device="cuda")
    return partial(
        torch._scaled_mm,
        t["A"].reshape(p.m, p.k),
        t["B"].reshape(p.n, p.k).t(),
        one,
        one,
        out_dtype=TYPES[p.c],
        use_fast_accum=config == "fast",
        out=t["C"].view(p.m, p.n),
    )


def gemm(p, t, config):
    if p.a in BYTES:
        return scaled_gemm(p, t, config)
    a = t["A"].mT if p.ta else t["A"]
    b = t["B"].mT if p.tb else t["B"]
    torch.backends.cuda.matmul.allow_tf32 = p.a == "tf32"
    if config == "compile":
        return partial(torch.compile(torch.matmul), a, b)
    return partial(torch.matmul, a, b, out=t["C"])


def log_sum_exp(p, q, k, v):
    """What the public function does not return: of the implementation that it calls. None where
    that one cannot be called."""
    if p.h != p.hkv or p.d != p.dv or ON_CUDA and p.dtype not in ("f16", "bf16"):
        return None
    aten = torch.ops.aten
    forward = (
        aten._scaled_dot_product_flash_attention
        if ON_CUDA
        else aten._scaled_dot_product_flash_attention_for_cpu
    )
    return forward(q, k, v, 0.0, bool(p.causal), scale=p.scale)[1]


def flex_attention(p, q, k, v):
    from torch.nn.attention import flex_attention as flex

    mask = None
    if p.causal:
        mask = flex.create_block_mask(
            lambda b, h, q_at, k_at: q_at >= k_at, None, None, p.sq, p.skv, device="cuda"
        )
    return partial(
        torch.compile(flex.flex_attention),
        q,
        k,
        v,
        block_mask=mask,
        scale=p.scale,
        enable_gqa=p.h != p.hkv,
    )


def attention(p, t, config):
    q, k, v = (heads_first(t[name]) for name in "QKV")
    if config == "flex":
        attend_flex, lse = flex_attention(p, q, k, v), partial(log_sum_exp, p, q, k, v)
        return lambda: (attend_flex().transpose(1, 2), lse)
    options = {"is_causal": bool(p.causal), "scale": p.scale}
    if p.h != p.hkv:
        options["enable_gqa"] = True
    attend = partial(torch.nn.functional.scaled_dot_product_attention, **options)
    if config == "compile":
        attend = torch.compile(attend)
    lse = partial(log_sum_exp, p, q, k, v)
    if config not in ATTENTION:
        return lambda: (attend(q, k, v).transpose(1, 2), lse)
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def run():
        with sdpa_kernel(getattr(SDPBackend, ATTENTION[config])):
            return attend(q, k, v).transpose(1, 2), lse

    return run


def flash_backward(p, do, q, k, v, o, lse):
    seed = torch.zeros(2, dtype=torch.uint64, device="cuda")
    return partial(
        torch.ops.aten._scaled_dot_product_flash_attention_backward,
        *(do, q, k, v, o, lse, None, None, p.sq, p.skv, 0.0, bool(p.causal), seed, seed),
        scale=p.scale,
    )


def efficient_backward(p, do, q, k, v, o, lse):
    if p.sq % 32:
        raise tracker_host.Unsupported("the log-sum-exp of this pass is padded to 32 rows")
    seed = torch.zeros((), dtype=torch.int64, device="cuda")
    return partial(
        torch.ops.aten._scaled_dot_product_efficient_attention_backward,
        *(do, q, k, v, None, o, lse, seed, seed, 0.0, [True, True, True, False], bool(p.causal)),
        scale=p.scale,
    )


def cudnn_backward(p, do, q, k, v, o, lse):
    seed = torch.zeros((), dtype=torch.int64, device="cuda")
    rows = lse.unsqueeze(-1)
    return partial(
        torch.ops.aten._scaled_dot_product_cudnn_attention_backward,
        *(do, q, k, v, o, rows, seed, seed, None, None, None, p.sq, p.skv, 0.0, bool(p.causal)),
        scale=p.scale,
    )


def math_backward(p, do, q, k, v, o, lse):
    """It has no pass of its own: autograd runs the forward pass, too."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    inputs = [x.detach().requires_grad_() for x in (q, k, v)]

    def run():
        with sdpa_kernel(SDPBackend.MATH):
            made = torch.nn.functional.scaled_dot_product_attention(
                *inputs, is_causal=bool(p.causal), scale=p.scale
            )
        return torch.autograd.grad(made, inputs, do)

    return run


def cpu_backward(p, do, q, k, v, o, lse):
    return partial(
        torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward,
        *(do, q, k, v, o, lse, 0.0, bool(p.causal)),
        scale=p.scale,
    )


BACKWARD = {"efficient": efficient_backward, "cudnn": cudnn_backward, "math": math_backward}


def backward(p, t, config):
    """The pass itself, with O and the log-sum-exp that the tracker gives: autograd would run the
    forward pass, too."""
    q, k, v, o, do = (heads_first(t[name]) for name in ("Q", "K", "V", "O", "dO"))
    make = BACKWARD.get(config, flash_backward if ON_CUDA else cpu_backward)
    call = make(p, do, q, k, v, o, t["lse"])
    return lambda: tuple(x.transpose(1, 2) for x in call()[:3])


class Captured:
    """The work of one call as a CUDA graph, and the result that each replay writes."""

    def __init__(self, run):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):  # loads, tunes, compiles
                run()
        torch.cuda.synchronize()
        self.run = run  # holds the tensors
        self.captured = torch.cuda.CUDAGraph(keep_graph=True)
        with torch.cuda.graph(self.captured, stream=stream):
            self.result = run()
        self.graph = self.captured.raw_cuda_graph()


def plan(p, config, tensors, stream):
    t = {name: share(tensor) for name, tensor in tensors.items()}
    if p.op == "gemm":
        run = gemm(p, t, config)
    else:
        run = backward(p, t, config) if p.backward else attention(p, t, config)
    return Captured(run) if ON_CUDA else run


def fetch(result, output):
    """matmul has written the tracker's output already; lse is computed only here."""
    if callable(result):
        result = result()
    if result is not None and result.data_ptr() != output.pointer:
        share(output).copy_(result)
        if ON_CUDA:
            torch.cuda.synchronize()
