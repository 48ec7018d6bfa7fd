/* Kernels of kernels/gpu that are no product and no attention, on emulated lanes: the ceilings,
 * the softmax of native attention, and the comparison of results. */
#include "ceiling_kernels.h"
#include "device_compare.h"
#include "gpu_runtime.h"
#include "softmax.h"
#include "tracker_abi.h"
#include <cstdio>
#include <cstdlib>
#include <vector>

extern long emulated_multiply_adds;
static int bad;

static void expect(bool good, const char *what, double got, double want)
{
	if (!good && bad++ < 20)
		printf("%s: %g, expected %g\n", what, got, want);
}

static float draw(void)
{
	return (float)((double)rand() / RAND_MAX - 0.5) * 2;
}

/* ---- ceilings -------------------------------------------------------------------------------- */

static void copies(size_t bytes)
{
	std::vector<float4> in(bytes / 16 + 2), out(bytes / 16 + 2);
	unsigned char *from = (unsigned char *)in.data(), *to = (unsigned char *)out.data();
	for (size_t i = 0; i < bytes; i++)
		from[i] = (unsigned char)(rand() >> 7);
	memset(to, 0x55, bytes + 16);
	ceiling_copy(from, to, bytes, NULL);
	expect(memcmp(from, to, bytes) == 0, "copied bytes", 0, (double)bytes);
	expect(to[bytes] == 0x55, "byte behind the end", to[bytes], 0x55);
}

static void sums(size_t n, unsigned blocks)
{
	std::vector<float4> in(n / 4 + 1);
	std::vector<float> partial(CEILING_BLOCKS_MAX);
	float *x = (float *)in.data(), first = NAN, again = NAN;
	unsigned ticket = 0;
	double want = 0;
	for (size_t i = 0; i < n; i++)
		want += x[i] = draw();
	ceiling_read(x, n, &first, partial.data(), &ticket, blocks, NULL);
	ceiling_read(x, n, &again, partial.data(), &ticket, blocks, NULL);
	expect(fabs(first - want) < 1e-3, "sum", first, want);
	expect(first == again, "the same sum again", again, first);
	expect(ticket == 0, "ticket", ticket, 0);
}

static void sums_again(size_t pieces, int64_t passes, int own, unsigned blocks)
{
	size_t n = pieces * (CEILING_CHUNK_BYTES / sizeof(float));
	std::vector<float4> in(n / 4);
	std::vector<float> partial(CEILING_BLOCKS_MAX);
	float *x = (float *)in.data(), got = NAN;
	unsigned ticket = 0;
	double want = 0;
	for (size_t i = 0; i < n; i++)
		want += x[i] = draw();
	ceiling_read_passes(x, n, passes, own, &got, partial.data(), &ticket, blocks, NULL);
	expect(fabs(got - want * (double)passes) < 1e-3 * (double)passes,
		own ? "own sum" : "shared sum", got, want * (double)passes);
	expect(ticket == 0, "ticket", ticket, 0);
}

template <typename T> static void multiplies(uint32_t dtype, int64_t count, unsigned units)
{
	T in[CEILING_VALUES], out[CEILING_VALUES], again[CEILING_VALUES];
	double different = 0;
	for (T &x : in)
		x = gpu_round(draw(), T());
	memset(out, 0xff, sizeof out);
	emulated_multiply_adds = 0;
	ceiling_rate(dtype, in, out, count, units, NULL);
	if (dtype != TK_F32)
		expect(emulated_multiply_adds >= count &&
			emulated_multiply_adds < count + units * (1 << 22),
		        "multiply-adds", (double)emulated_multiply_adds, (double)count);
	ceiling_rate(dtype, in, again, count, units, NULL);
	for (int i = 0; i < CEILING_VALUES; i++) {
		float x = gpu_float(out[i]);
		expect(x == gpu_float(again[i]) && fabsf(x) < 1e4f, "rate's result", x,
			gpu_float(again[i]));
		different += x != gpu_float(out[0]);
	}
	expect(different > 0, "results that differ", different, 1);
}

/* ---- softmax --------------------------------------------------------------------------------- */

template <typename T>
static void softmax(uint32_t dtype, int64_t heads, int64_t sq, int64_t skv, int causal,
	double tolerance)
{
	int64_t rows = heads * sq;
	std::vector<float> scores(rows * skv), lse(rows, NAN);
	std::vector<T> weights(rows * skv);
	for (float &s : scores)
		s = draw() * 20;
	softmax_rows(scores.data(), weights.data(), lse.data(), rows, sq, skv, causal, dtype, NULL);
	for (int64_t r = 0; r < rows; r++) {
		int64_t seen = causal ? r % sq + skv - sq + 1 : skv;
		double sum = 0;
		for (int64_t j = 0; j < seen; j++)
			sum += exp((double)scores[r * skv + j]);
		expect(seen > 0 ? fabs(lse[r] - log(sum)) < 1e-4 : lse[r] == -INFINITY,
			"log-sum-exp", lse[r],
		        log(sum));
		for (int64_t j = 0; j < skv; j++) {
			double want = j < seen ? exp((double)scores[r * skv + j]) / sum : 0;
			double got = gpu_float(weights[r * skv + j]);
			expect(fabs(got - want) <= tolerance * want + 1e-7, /* f16 has no less */
			        "weight", got, want);
		}
	}
}

/* ---- comparison of results ------------------------------------------------------------------- */

static unsigned differ(const unsigned char *a, const unsigned char *b, size_t bytes)
{
	unsigned differs = 0;
	device_compare_enqueue(a, b, bytes, &differs, NULL);
	return differs;
}

/* Ranges that begin `x` and `y` bytes after an aligned address. One bit more or less shows wherever
 * it is, and never outside of the ranges. */
static void comparisons(size_t x, size_t y, size_t bytes)
{
	std::vector<float4> in(bytes / 16 + 3), out(bytes / 16 + 3);
	unsigned char *a = (unsigned char *)in.data() + x, *b = (unsigned char *)out.data() + y;
	for (size_t i = 0; i < bytes; i++)
		a[i] = b[i] = (unsigned char)(rand() >> 7);
	a[bytes] = 1;
	b[bytes] = 2;
	expect(!differ(a, b, bytes), "equal ranges that differ", (double)x, (double)y);
	size_t step = bytes > 48 ? bytes / 5 : 1;
	for (size_t i = 0; i < bytes; i += step) {
		a[i] ^= 0x10;
		expect(differ(a, b, bytes), "a change that is not found", (double)i, (double)bytes);
		a[i] ^= 0x10;
	}
}

int main(void)
{
	for (size_t x : {0, 1, 2, 8})
		for (size_t y : {0, 2, 4, 8, 15})
			for (size_t bytes : {0, 1, 14, 16, 48, 5000})
				comparisons(x, y, bytes);
	comparisons(4, 4, 5000000); /* more than one step of the largest grid */

	for (size_t bytes : {1, 15, 16, 4096, 4113, 70000})
		copies(bytes);
	for (size_t n : {1, 3, 4, 2047, 8192, 20001})
		sums(n, 3);
	sums(6, 1);
	for (int own : {0, 1})
		for (size_t pieces : {1, 4, 5})
			for (int64_t passes : {1, 3})
				for (unsigned blocks : {2, 4, 9})
					sums_again(pieces, passes, own, blocks);
	multiplies<gpu_bf16>(TK_BF16, 1, 1);
	multiplies<gpu_f16>(TK_F16, 5000000, 1);
	multiplies<float>(TK_F32, 300000, 2);
	for (int64_t skv : {1, 63, 64, 257, 700}) {
		softmax<float>(TK_F32, 2, 3, skv, 0, 1e-5);
		softmax<gpu_f16>(TK_F16, 2, 5, skv, 1, 1e-2);
		softmax<gpu_bf16>(TK_BF16, 3, 2, skv, 1, 1e-2);
	}
	printf("%d bad\n", bad);
	return bad != 0;
}
