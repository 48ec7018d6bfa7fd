"""Which problems the kernels solve, and with which tiles: problem in the tracker's canonical form
-> calls of the kernels."""

from package import Unsupported, choose_calls, read_attention

# Tile M, N, K; cluster M, N; rows of cluster tiles in a group; stages; estimated speed of a full
# wave, of the fastest tile's.
GEMM_TILES = [
    ((128, 256, 64), (1, 1), 16, 4, 1),
    ((128, 256, 64), (2, 1), 8, 4, 0.99),
    ((128, 256, 64), (1, 2), 8, 4, 0.96),
    ((128, 128, 64), (2, 1), 8, 6, 0.85),
    ((64, 128, 64), (1, 1), 16, 8, 0.7),
    ((64, 64, 64), (1, 1), 16, 8, 0.45),
    ((64, 32, 64), (1, 1), 16, 10, 0.2),
]


def gemm(p):
    m, n, k = (int(p[key]) for key in ("m", "n", "k"))
    if (
        p.get("acc", "f32") != "f32"
        or p["a"] != p["b"]
        or p["a"] not in ("f16", "bf16")
        or p["c"] != p["a"]
        or int(p.get("batch", 1)) > 1
    ):
        raise Unsupported("only f16 and bf16 without a batch, sums in f32")
    if m % 8 and p["ta"] == "t" or n % 8 or k % 8 and not (p["ta"] == "t" and p["tb"] == "n"):
        raise Unsupported("contiguous sides that are no multiples of 8, which TMA needs")

    def estimate(choice):
        (bm, bn, _), (cm, cn), _, _, speed = choice
        clusters = -(-m // (bm * cm)) * -(-n // (bn * cn))
        return (
            -(-clusters // (132 // (cm * cn))) * bm * bn / speed
        )  # waves of the 132 multiprocessors

    for tile, cluster, group, stages, _ in sorted(GEMM_TILES, key=estimate):
        yield "%dx%dx%d-c%dx%d-s%d" % (*tile, *cluster, stages), (
            "gemm",
            (m, n, k, p["ta"], p["tb"], p["a"], tile, cluster, group, stages),
        )


# Keys of a step, warp groups of 64 queries, stages, turns, by the width of a head
ATTENTION_TILES = {
    64: [(128, 2, 2, False), (128, 2, 2, True), (128, 3, 2, True)],
    128: [(128, 2, 2, True), (128, 2, 2, False), (64, 2, 3, True)],
    256: [(64, 2, 2, True), (64, 2, 2, False)],
}


def attention(p):
    b, h, hkv, sq, d, scale = read_attention(p, ATTENTION_TILES)
    for keys, consumers, stages, turns in ATTENTION_TILES[d]:
        if sq % (64 * consumers) == 0:
            yield "%dx%d-s%d%s" % (64 * consumers, keys, stages, "-turns" if turns else ""), (
                "attention",
                (
                    b,
                    h,
                    hkv,
                    sq,
                    d,
                    p["dtype"],
                    scale,
                    p["causal"] == "1",
                    keys,
                    consumers,
                    stages,
                    turns,
                ),
            )


def parameters(call):
    """{name: number} of what the configurations of a problem differ in."""
    kernel, given = call
    if kernel == "attention":
        keys, consumers, stages, turns = given[-4:]
        return {
            "block_m": 64 * consumers,
            "block_n": keys,
            "num_stages": stages,
            "turns": int(turns),
        }
    (m, n, k), (cluster_m, cluster_n), _, stages = given[-4:]
    return {
        "block_m": m,
        "block_n": n,
        "block_k": k,
        "cluster_m": cluster_m,
        "cluster_n": cluster_n,
        "num_stages": stages,
    }


def calls(problem, most):
    """At most `most` (configuration, (kernel, arguments)), the best guess first. Raises
    Unsupported."""
    return choose_calls(problem, {"gemm": gemm, "attention": attention}, most)
