"""PyTorch: matmul, and scaled_dot_product_attention forward and backward, on a CPU and on CUDA,
where the work is captured into a graph. Configurations: the implementations of attention, and
`compile` (torch.compile)."""

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
ATTENTION = {
    "flash": "FLASH_ATTENTION",
    "efficient": "EFFICIENT_ATTENTION",
    "cudnn": "CUDNN_ATTENTION",
    "math": "MATH",
}


def supports(p):
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
    if p.op == "attention" and p.backward:
        return ["default"]
    return ["default"] + (list(ATTENTION) if p.op == "attention" and ON_CUDA else []) + ["compile"]


def kernel(p, config):
    return "torch.matmul" if p.op == "gemm" else "scaled_dot_product_attention"


def share(tensor):
    """A torch tensor in the tracker's memory."""
    if ON_CUDA:
        return torch.as_tensor(tensor, device="cuda").view(
            TYPES[tensor.dtype]
        )  # bf16 comes as integers
    return torch.frombuffer(tensor.buffer, dtype=TYPES[tensor.dtype]).view(tensor.shape)


def heads_first(x):
    return x.transpose(1, 2)  # the tracker's layout is [b][s][heads][d]


def gemm(p, t, config):
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


def attention(p, t, config):
    q, k, v = (heads_first(t[name]) for name in "QKV")
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


def backward(p, t):
    """The pass itself, with O and the log-sum-exp that the tracker gives: autograd would run the
    forward pass, too."""
    q, k, v, o, do = (heads_first(t[name]) for name in ("Q", "K", "V", "O", "dO"))
    lse, causal = t["lse"], bool(p.causal)
    if ON_CUDA:
        seed = torch.zeros(2, dtype=torch.uint64, device="cuda")
        call = partial(
            torch.ops.aten._scaled_dot_product_flash_attention_backward,
            do,
            q,
            k,
            v,
            o,
            lse,
            None,
            None,
            p.sq,
            p.skv,
            0.0,
            causal,
            seed,
            seed,
            scale=p.scale,
        )
    else:
        call = partial(
            torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward,
            do,
            q,
            k,
            v,
            o,
            lse,
            0.0,
            causal,
            scale=p.scale,
        )
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
        run = backward(p, t) if p.backward else attention(p, t, config)
    return Captured(run) if ON_CUDA else run


def fetch(result, output):
    """matmul has written the tracker's output already; lse is computed only here."""
    if callable(result):
        result = result()
    if result is not None and result.data_ptr() != output.pointer:
        share(output).copy_(result)
        if ON_CUDA:
            torch.cuda.synchronize()
