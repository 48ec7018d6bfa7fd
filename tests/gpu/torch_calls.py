"""The same calls as gpu_runs.PROBLEMS by PyTorch, for triton.testing.do_bench and CUPTI."""

import torch


def numbers(problem):
    out = {}
    for pair in problem.split(":", 1)[1].split(","):
        key, value = pair.split("=")
        out[key] = int(value) if value.isdigit() else value
    return out


def gemm(p):
    m, n, k = p["m"], p["n"], p["k"]
    if p["a"] == "e4m3":
        a = torch.randn(m, k, device="cuda").to(torch.float8_e4m3fn)
        b = torch.randn(n, k, device="cuda").to(torch.float8_e4m3fn).t()
        one = torch.ones((), device="cuda")
        return lambda: torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16)
    dtype = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[p["a"]]
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = torch.randn(m, k, device="cuda", dtype=dtype), torch.randn(
        k, n, device="cuda", dtype=dtype
    )
    return lambda: torch.matmul(a, b)


def attention(p):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    shape = (p["b"], p["sq"], p["h"], p["d"])
    q, k, v = (
        torch.randn(shape, device="cuda", dtype=torch.bfloat16).transpose(1, 2) for _ in range(3)
    )

    def call():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v)

    return call


def call_of(problem):
    return (gemm if problem.startswith("gemm:") else attention)(numbers(problem))
