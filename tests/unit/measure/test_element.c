/* Every small format against a search for the nearest value: an encoder that is written in another
 * way. */
#include "base/rng.h"
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

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_the_standards), cmocka_unit_test(every_code_survives),
		cmocka_unit_test(rounding_is_to_nearest_even), cmocka_unit_test(overflow_and_nan),
		cmocka_unit_test(tf32_keeps_ten_bits),
	};
	/* clang-format on */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
