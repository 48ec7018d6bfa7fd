/* Every small format against a search for the nearest value: an encoder that is written in another
 * way. */
#include "base/base.h"
#include "element.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static double load8(uint32_t dtype, unsigned code)
{
	uint8_t byte = (uint8_t)code;
	return tk_element_load(dtype, &byte, 0);
}

static unsigned store8(uint32_t dtype, double value)
{
	uint8_t byte = 0;
	tk_element_store(dtype, &byte, 0, value);
	return byte;
}

static unsigned store16(uint32_t dtype, double value)
{
	uint16_t word = 0;
	tk_element_store(dtype, &word, 0, value);
	return word;
}

static double load16(uint32_t dtype, unsigned code)
{
	uint16_t word = (uint16_t)code;
	return tk_element_load(dtype, &word, 0);
}

static void values_of_the_standards(void **state)
{
	assert_float_equal(load8(TK_E4M3, 0x7e), 448, 0);
	assert_float_equal(load8(TK_E4M3, 0x01), 0x1p-9, 0);
	assert_float_equal(load8(TK_E4M3, 0x38), 1, 0);
	assert_true(isnan(load8(TK_E4M3, 0x7f)));
	assert_float_equal(load8(TK_E5M2, 0x7b), 57344, 0);
	assert_float_equal(load8(TK_E5M2, 0x01), 0x1p-16, 0);
	assert_true(isinf(load8(TK_E5M2, 0x7c)));
	assert_true(isnan(load8(TK_E5M2, 0x7d)));
	assert_float_equal(load16(TK_F16, 0x7bff), 65504, 0);
	assert_float_equal(load16(TK_F16, 0x0001), 0x1p-24, 0);
	assert_float_equal(load16(TK_F16, 0xc000), -2, 0);
	assert_float_equal(load16(TK_BF16, 0x3f80), 1, 0);
	assert_float_equal(load16(TK_BF16, 0x7f7f), 0x1.fep127, 0);
}

static void every_code_survives(void **state)
{
	for (unsigned i = 0; i < 256; i++)
		for (uint32_t t = TK_E4M3; t <= TK_E5M2; t++) {
			double v = load8(t, i);
			if (isfinite(v))
				assert_int_equal(store8(t, v), i);
		}
	for (unsigned i = 0; i < 65536; i++) {
		double half = load16(TK_F16, i), brain = load16(TK_BF16, i), row;
		uint16_t word = (uint16_t)i;
		if (!isnan(half))
			assert_int_equal(store16(TK_F16, half), i);
		if (!isnan(brain))
			assert_int_equal(store16(TK_BF16, brain), i);
		tk_elements_load(TK_F16, &word, 0, 1, &row);
		assert_true(row == half || isnan(half));
	}
}

/* Nearest by trying all codes, ties to the even code. */
static unsigned nearest8(uint32_t dtype, double v)
{
	unsigned best = 0;
	double distance = INFINITY;
	for (unsigned i = 0; i < 256; i++) {
		double x = load8(dtype, i), d = fabs(x - v);
		if (!isfinite(x) || signbit(x) != signbit(v))
			continue;
		if (d < distance || (d == distance && i % 2 == 0)) {
			best = i;
			distance = d;
		}
	}
	return best;
}

static void rounding_is_to_nearest_even(void **state)
{
	struct tk_rng rng;
	tk_rng_seed(&rng, 7);
	for (int i = 0; i < 20000; i++) {
		double v = tk_rng_normal(&rng) * ldexp(1, (int)tk_rng_below(&rng, 30) - 18);
		assert_int_equal(store8(TK_E4M3, v), nearest8(TK_E4M3, v));
		assert_int_equal(store8(TK_E5M2, v), nearest8(TK_E5M2, v));
	}
	for (unsigned i = 0x3c00; i < 0x3c40; i++) {
		double middle = (load16(TK_F16, i) + load16(TK_F16, i + 1)) / 2;
		assert_int_equal(store16(TK_F16, middle), i + i % 2);
		assert_int_equal(store16(TK_F16, nextafter(middle, 4)), i + 1);
	}
	assert_int_equal(store16(TK_F16, 0x1p-25), 0);
	assert_int_equal(store16(TK_F16, nextafter(0x1p-25, 1)), 1);
	assert_int_equal(store16(TK_F16, 0x1.ffcp-15 + 0x1p-25), 0x0400);
}

static void overflow_and_nan(void **state)
{
	assert_int_equal(store16(TK_F16, 65519.99), 0x7bff);
	assert_int_equal(store16(TK_F16, 65520), 0x7c00);
	assert_int_equal(store16(TK_BF16, 1e39), 0x7f80);
	assert_int_equal(store8(TK_E4M3, 1e9), 0x7e);
	assert_int_equal(store8(TK_E4M3, -INFINITY), 0xfe);
	assert_int_equal(store8(TK_E5M2, 1e9), 0x7b);
	assert_true(isnan(load8(TK_E4M3, store8(TK_E4M3, NAN))));
	assert_true(isnan(load8(TK_E5M2, store8(TK_E5M2, NAN))));
	assert_true(isnan(load16(TK_F16, store16(TK_F16, NAN))));
	assert_int_equal(store16(TK_F16, -0.0), 0x8000);
}

static void tf32_keeps_ten_bits(void **state)
{
	float f = 0;
	uint32_t bits;
	tk_element_store(TK_TF32, &f, 0, 1 + 0x1p-11);
	assert_true(f == 1);
	tk_element_store(TK_TF32, &f, 0, 1 + 3 * 0x1p-11);
	assert_true(f == 1 + 0x1p-9f);
	tk_element_store(TK_TF32, &f, 0, M_PI);
	memcpy(&bits, &f, sizeof bits);
	assert_int_equal(bits & 0x1fff, 0);
	assert_true(fabs(f - M_PI) <= 0x1p-10);
}

/* What is below the smallest normal number has fewer bits, and its 13 low bits are zero too. */
static void small_and_special_tf32(void **state)
{
	static const double cases[][2] = {{0x1p-126, 0x1p-126}, {0x1p-136, 0x1p-136}, {0x1p-137, 0},
	        {0x1.8p-137, 0x1p-136}, {0x1p-149, 0}, {0x1.8p-136, 0x1p-135},
	        {-0x1.4p-135, -0x1p-135}, {0x1.ffep-127, 0x1p-126}, {0, 0}, {1e39, INFINITY},
	        {-INFINITY, -INFINITY}};
	float f = 0;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint32_t bits;

		tk_element_store(TK_TF32, &f, 0, cases[i][0]);
		memcpy(&bits, &f, sizeof bits);
		assert_true(tk_element_load(TK_TF32, &f, 0) == cases[i][1]);
		assert_int_equal(bits & 0x1fff, 0);
	}
	tk_element_store(TK_TF32, &f, 0, NAN);
	assert_true(isnan(f));
}

static void integers_round_and_saturate(void **state)
{
	static const struct {
		double value;
		int64_t i32, i64;
	} cases[] = {
	        {0, 0, 0},
	        {1.5, 2, 2},
	        {2.5, 2, 2},
	        {-0.75, -1, -1},
	        {2147483647, INT32_MAX, INT32_MAX},
	        {2147483648, INT32_MAX, 2147483648},
	        {-2147483649.0, INT32_MIN, -2147483649},
	        {9.3e18, INT32_MAX, INT64_MAX},
	        {-9.3e18, INT32_MIN, INT64_MIN},
	        {INFINITY, INT32_MAX, INT64_MAX},
	        {-INFINITY, INT32_MIN, INT64_MIN},
	        {NAN, INT32_MIN, INT64_MIN},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int32_t small[2] = {7, 7};
		int64_t large[2] = {7, 7};

		tk_element_store(TK_I32, small, 1, cases[i].value);
		tk_element_store(TK_I64, large, 1, cases[i].value);
		assert_true(small[0] == 7 && small[1] == cases[i].i32);
		assert_true(large[0] == 7 && large[1] == cases[i].i64);
		assert_true(tk_element_load(TK_I32, small, 1) == (double)small[1]);
		assert_true(tk_element_load(TK_I64, large, 1) == (double)large[1]);
	}
}

/* The roundoff is half the distance from 1 to the next value; a type takes its bytes, no more. */
static void sizes_and_roundoff(void **state)
{
	for (uint32_t t = TK_F64; t <= TK_I64; t++) {
		unsigned char room[3][8] = {{0}}, untouched[8];
		size_t bytes = tk_element_bytes(t);
		double u = tk_element_roundoff(t);

		memset(room, 0xa5, sizeof room);
		memset(untouched, 0xa5, sizeof untouched);
		assert_in_range(bytes, 1, 8);
		tk_element_store(t, room[1], 0, 1);
		assert_true(tk_element_load(t, room[1], 0) == 1);
		assert_memory_equal(room[0], untouched, 8);
		assert_memory_equal(room[1] + bytes, untouched, 8 - bytes);
		tk_element_store(t, room[1], 0, 1 + u);
		assert_true(tk_element_load(t, room[1], 0) == 1);
		tk_element_store(t, room[1], 0, 1 + 2 * u);
		assert_true(tk_element_load(t, room[1], 0) == 1 + 2 * u);
		if (!u)
			continue;
		tk_element_store(t, room[1], 0, nextafter(1 + u, 2));
		assert_true(tk_element_load(t, room[1], 0) == 1 + 2 * u);
	}
}

static void an_unknown_type(void **state)
{
	double x = 3;

	for (uint32_t t = 0; t <= TK_I64 + 1; t += TK_I64 + 1) {
		assert_true(isnan(tk_element_load(t, &x, 0)));
		tk_element_store(t, &x, 0, 1);
		assert_true(x == 3);
		assert_int_equal(tk_element_bytes(t), 0);
		assert_true(tk_element_roundoff(t) == 0);
	}
}

/* Many at once, from any first one on, are those one by one. */
static void rows_are_elements(void **state)
{
	struct tk_rng rng;
	uint64_t data[32];
	double out[32];

	tk_rng_seed(&rng, 3);
	for (uint32_t t = TK_F64; t <= TK_I64; t++) {
		for (int64_t i = 0; i < 32; i++)
			tk_element_store(t, data, i, 100 * tk_rng_normal(&rng));
		for (int64_t first = 0; first < 32; first++) {
			tk_elements_load(t, data, first, 32 - first, out);
			for (int64_t i = first; i < 32; i++)
				assert_true(out[i - first] == tk_element_load(t, data, i));
		}
	}
}

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_the_standards), cmocka_unit_test(every_code_survives),
		cmocka_unit_test(rounding_is_to_nearest_even), cmocka_unit_test(overflow_and_nan),
		cmocka_unit_test(tf32_keeps_ten_bits), cmocka_unit_test(small_and_special_tf32),
		cmocka_unit_test(integers_round_and_saturate), cmocka_unit_test(sizes_and_roundoff),
		cmocka_unit_test(an_unknown_type), cmocka_unit_test(rows_are_elements),
	};
	/* clang-format on */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
