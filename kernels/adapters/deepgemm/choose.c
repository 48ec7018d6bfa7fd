/* Chooses the tile of DeepGEMM's Hopper kernels for one problem, as the library does for a GEMM of
 * its kind Normal: csrc/jit_kernels/heuristics/sm90.hpp of version 2.8. It enumerates tiles that
 * fit and takes the one with the fewest estimated cycles of L1 and L2.
 *
 * usage: choose e4m3|bf16 bf16|f32 n|t n|t M N K MULTIPROCESSORS
 *
 * Prints TILE_M TILE_N CLUSTER_M CLUSTER_N STAGES SHARED_BYTES SWIZZLE_A SWIZZLE_B SWIZZLE_C.
 * Swizzles are in bytes. Exit code 1: no tile does it. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct problem {
	int bytes, bytes_c;       /* of an element of A and B, of C */
	int scaled;               /* operands have scales, one for 128 (e4m3) */
	int a_by_rows, b_by_rows; /* rows of k in memory, not of m or n */
	int64_t m, n, k;
	int multiprocessors;
};

struct tile {
	int m, n, cluster_m, cluster_n;
	int stages, shared_bytes;
	int swizzle_a, swizzle_b, swizzle_c; /* bytes */
};

static int64_t ceil_div(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static int64_t align_up(int64_t a, int64_t b)
{
	return ceil_div(a, b) * b;
}

/* 128 bytes of k */
static int depth(const struct problem *p)
{
	return 128 / p->bytes;
}

static int swizzle(int elements, int bytes)
{
	int mode = 128;
	while (elements * bytes % mode)
		mode /= 2;
	return mode;
}

static void set_swizzles(const struct problem *p, struct tile *t)
{
	t->swizzle_a = swizzle(p->a_by_rows ? depth(p) : t->m, p->bytes);
	t->swizzle_b = swizzle(p->b_by_rows ? depth(p) : t->n, p->bytes);
	t->swizzle_c = p->bytes_c == 4 ? 0 : swizzle(t->n, p->bytes_c);
}

static void set_stages(const struct problem *p, struct tile *t)
{
	enum { capacity = 232448, most_stages = 16 };
	const int barriers = most_stages * 8 * 2;
	const int scales_b =
	        p->scaled
	                ? (int)align_up(
	                          ceil_div(p->k, depth(p)) * 4 * (depth(p) % t->n == 0 ? 1 : 2), 8)
	                : 0;
	const int rest = (int)align_up(t->m * t->n * p->bytes_c, 1024) + barriers + scales_b;
	const int stage = (t->m + t->n) * depth(p) * p->bytes +
	                  (p->scaled ? (int)align_up(t->m * 4, 128) : 0);
	t->stages = (capacity - rest) / stage;
	if (t->stages > most_stages)
		t->stages = most_stages;
	t->shared_bytes = rest + t->stages * stage;
}

static int fits(const struct problem *p, const struct tile *t)
{
	const int over = t->n - depth(p);
	if (p->scaled && over > 0 && t->n % over && depth(p) % over)
		return 0; /* its loops are unrolled */
	if (t->m > 128 && t->n > 128)
		return 0; /* registers */
	if (t->swizzle_a % 64 || t->swizzle_b % 64)
		return 0;
	return t->stages >= (t->m * t->n < 128 * 192 ? 4 : 3);
}

static int64_t estimate_cycles(const struct problem *p, const struct tile *t)
{
	const int64_t blocks = ceil_div(p->m, t->m) * ceil_div(p->n, t->n);
	const int64_t waves = ceil_div(blocks, p->multiprocessors);
	if (t->cluster_m * t->cluster_n > 1 && waves <= 1)
		return INT64_MAX;
	const double l2_most = 8e6 / 1.3e3, l2_all = 64. * p->multiprocessors;
	const int l2_per_cycle = (int)(l2_all < l2_most ? l2_all : l2_most);
	const int l1_per_cycle = 128 * p->multiprocessors;
	const int64_t l2_operands = p->k * (t->m / t->cluster_n + t->n / t->cluster_m) * p->bytes;
	const int64_t l1_operands = p->k * (t->m + t->n) * p->bytes;
	const int64_t result = (int64_t)t->m * t->n * p->bytes_c;
	const int64_t l1_tensor = p->k * ((t->m < 64 ? 64 : t->m) + t->n) * p->bytes + result;
	const int64_t l2 = (l2_operands + result) * blocks / l2_per_cycle;
	const int64_t l1 = (l1_operands + l1_tensor + result) * blocks / l1_per_cycle;
	const float efficiency = (float)blocks / (float)(waves * p->multiprocessors);
	return (int64_t)((float)(l1 > l2 ? l1 : l2) / efficiency);
}

/* Keeps in `best` the better one; the first of equals. */
static void try_tile(const struct problem *p, struct tile t, struct tile *best, int64_t *cycles)
{
	set_swizzles(p, &t);
	set_stages(p, &t);
	if (!fits(p, &t))
		return;
	const int64_t c = estimate_cycles(p, &t);
	if (best->m && c >= *cycles)
		return;
	*best = t;
	*cycles = c;
}

static int list_rows(const struct problem *p, int rows[5])
{
	int count = 0;
	rows[count++] = 64;
	rows[count++] = 128;
	if (p->m <= 16)
		rows[count++] = 16;
	if (p->m <= 32)
		rows[count++] = 32;
	if (p->bytes_c != 4)
		rows[count++] = 256;
	return count;
}

static struct tile choose(const struct problem *p)
{
	static const int clusters[][2] = {{1, 1}, {1, 2}, {2, 1}};
	struct tile best = {0};
	int64_t cycles = 0;
	int rows[5];
	const int row_count = list_rows(p, rows);
	for (int c = 0; c < 3; c++) {
		if (p->multiprocessors % (clusters[c][0] * clusters[c][1]))
			continue;
		for (int r = 0; r < row_count; r++)
			for (int n = 16; n <= (p->scaled ? 192 : 256); n += 16)
				try_tile(p,
				        (struct tile){.m = rows[r],
				                .n = n,
				                .cluster_m = clusters[c][0],
				                .cluster_n = clusters[c][1]},
				        &best, &cycles);
	}
	return best;
}

int main(int argc, char **argv)
{
	if (argc != 9) {
		fprintf(stderr, "usage: choose e4m3|bf16 bf16|f32 n|t n|t M N K MULTIPROCESSORS\n");
		return 2;
	}
	const int is_8_bit = !strcmp(argv[1], "e4m3");
	const struct problem p = {.bytes = is_8_bit ? 1 : 2,
	        .bytes_c = !strcmp(argv[2], "f32") ? 4 : 2,
	        .scaled = is_8_bit,
	        .a_by_rows = !strcmp(argv[3], "n"),
	        .b_by_rows = !strcmp(argv[4], "t"),
	        .m = atoll(argv[5]),
	        .n = atoll(argv[6]),
	        .k = atoll(argv[7]),
	        .multiprocessors = atoi(argv[8])};
	if (p.m < 1 || p.n < 1 || p.k < 1 || p.multiprocessors < 1)
		return 1;
	const struct tile t = choose(&p);
	if (!t.m)
		return 1;
	printf("%d %d %d %d %d %d %d %d %d\n", t.m, t.n, t.cluster_m, t.cluster_n, t.stages,
	        t.shared_bytes, t.swizzle_a, t.swizzle_b, t.swizzle_c);
	return 0;
}
