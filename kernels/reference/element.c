/* See element.h. Small formats go through one pair of functions that knows exponent and mantissa
 * widths; nothing depends on the compiler's or the processor's support of half precision. */
#include "element.h"
#include <math.h>
#include <string.h>

struct format {
	int exponent_bits, mantissa_bits;
	int finite_only; /* no infinity, all-ones is NaN (e4m3) */
	int saturate;
};

static const struct format f16 = {5, 10, 0, 0};
static const struct format bf16 = {8, 7, 0, 0};
static const struct format e4m3 = {4, 3, 1, 1};
static const struct format e5m2 = {5, 2, 0, 1};

static double decode(const struct format *f, uint32_t bits)
{
	int width = f->exponent_bits + f->mantissa_bits;
	uint32_t mantissa = bits & ((1u << f->mantissa_bits) - 1);
	uint32_t top = (1u << f->exponent_bits) - 1;
	uint32_t exponent = (bits >> f->mantissa_bits) & top;
	int bias = (1 << (f->exponent_bits - 1)) - 1;
	double sign = bits >> width & 1 ? -1.0 : 1.0;
	if (exponent == top && (!f->finite_only || mantissa == (1u << f->mantissa_bits) - 1))
		return mantissa ? NAN : sign * INFINITY;
	if (exponent == 0)
		return sign * ldexp(mantissa, 1 - bias - f->mantissa_bits);
	return sign * ldexp((double)(mantissa | 1u << f->mantissa_bits),
	                      (int)exponent - bias - f->mantissa_bits);
}

/* Largest finite value. */
static double largest(const struct format *f)
{
	int bias = (1 << (f->exponent_bits - 1)) - 1;
	double full = 2.0 - ldexp(1.0, -f->mantissa_bits);
	if (f->finite_only) /* the all-ones pattern is NaN, so the largest has one bit less */
		return ldexp(
		        full - ldexp(1.0, -f->mantissa_bits), (1 << f->exponent_bits) - 1 - bias);
	return ldexp(full, (1 << f->exponent_bits) - 2 - bias);
}

/* The common case: a value that is normal in the small format is rounded on the bits of the double.
 * false: not that case. */
static int encode_normal(const struct format *f, double value, uint32_t *out)
{
	int shift = 52 - f->mantissa_bits, bias = (1 << (f->exponent_bits - 1)) - 1;
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	uint64_t a = bits & ~(1ull << 63);
	a = (a + (1ull << (shift - 1)) - 1 + (a >> shift & 1)) >> shift;
	int64_t exponent = (int64_t)(a >> f->mantissa_bits) - 1023 + bias;
	if (exponent < 2 || exponent > (1 << f->exponent_bits) - 3)
		return 0;
	uint32_t sign = (uint32_t)(bits >> 63) << (f->exponent_bits + f->mantissa_bits);
	*out = sign | (uint32_t)exponent << f->mantissa_bits |
	       ((uint32_t)a & ((1u << f->mantissa_bits) - 1));
	return 1;
}

static uint32_t encode(const struct format *f, double value)
{
	uint32_t quick;
	if (encode_normal(f, value, &quick))
		return quick;
	int width = f->exponent_bits + f->mantissa_bits, bias = (1 << (f->exponent_bits - 1)) - 1;
	uint32_t sign = signbit(value) ? 1u << width : 0;
	uint32_t top = ((1u << f->exponent_bits) - 1) << f->mantissa_bits;
	double a = fabs(value);
	if (isnan(value))
		return sign | top | ((1u << f->mantissa_bits) - 1);
	if (a == 0)
		return sign;
	int e = 0;
	frexp(a, &e);
	int exponent = e - 1 < 1 - bias ? 1 - bias : e - 1;
	double steps = a == INFINITY ? INFINITY : nearbyint(ldexp(a, f->mantissa_bits - exponent));
	double rounded = a == INFINITY ? INFINITY : ldexp(steps, exponent - f->mantissa_bits);
	if (rounded > largest(f)) {
		if (!f->saturate)
			return sign | top;
		return sign | (f->finite_only ? top + (1u << f->mantissa_bits) - 2 : top - 1);
	}
	/* Adding the steps to the biased exponent carries into it by itself, from subnormal to
	 * normal too. */
	uint32_t field = (uint32_t)steps;
	return sign | (field + ((uint32_t)(exponent + bias - 1) << f->mantissa_bits));
}

static float round_tf32(double value)
{
	/* Straight from the double: rounding to f32 first would round twice. */
	if (!isfinite(value) || value == 0)
		return (float)value;
	int e = 0;
	frexp(value, &e);
	if (e < -125) /* subnormal: all have the same distance, 2^-136 */
		e = -125;
	return (float)ldexp(nearbyint(ldexp(value, 11 - e)), e - 11);
}

/* Beyond the range of the type, a conversion in C is undefined. The bounds are powers of two. */
static int64_t round_integer(double value, int64_t least, int64_t most)
{
	double rounded = nearbyint(value);
	if (!(rounded >= (double)least)) /* NaN as well */
		return least;
	return rounded >= -(double)least ? most : (int64_t)rounded;
}

double tk_element_load(uint32_t dtype, const void *data, int64_t i)
{
	switch (dtype) {
	case TK_F64:
		return ((const double *)data)[i];
	case TK_F32:
	case TK_TF32:
		return ((const float *)data)[i];
	case TK_F16:
		return decode(&f16, ((const uint16_t *)data)[i]);
	case TK_BF16: {
		uint32_t bits = (uint32_t)((const uint16_t *)data)[i] << 16;
		float v;
		memcpy(&v, &bits, sizeof v);
		return v;
	}
	case TK_E4M3:
		return decode(&e4m3, ((const uint8_t *)data)[i]);
	case TK_E5M2:
		return decode(&e5m2, ((const uint8_t *)data)[i]);
	case TK_I32:
		return ((const int32_t *)data)[i];
	case TK_I64:
		return (double)((const int64_t *)data)[i];
	default:
		return NAN;
	}
}

void tk_element_store(uint32_t dtype, void *data, int64_t i, double value)
{
	switch (dtype) {
	case TK_F64:
		((double *)data)[i] = value;
		break;
	case TK_F32:
		((float *)data)[i] = (float)value;
		break;
	case TK_TF32:
		((float *)data)[i] = round_tf32(value);
		break;
	case TK_F16:
		((uint16_t *)data)[i] = (uint16_t)encode(&f16, value);
		break;
	case TK_BF16:
		((uint16_t *)data)[i] = (uint16_t)encode(&bf16, value);
		break;
	case TK_E4M3:
		((uint8_t *)data)[i] = (uint8_t)encode(&e4m3, value);
		break;
	case TK_E5M2:
		((uint8_t *)data)[i] = (uint8_t)encode(&e5m2, value);
		break;
	case TK_I32:
		((int32_t *)data)[i] = (int32_t)round_integer(value, INT32_MIN, INT32_MAX);
		break;
	case TK_I64:
		((int64_t *)data)[i] = round_integer(value, INT64_MIN, INT64_MAX);
		break;
	default:
		break;
	}
}

/* f16 is the common case of long rows: the exponent is moved by a multiplication, which is
 * exact. */
static double half_to_double(uint16_t h)
{
	uint32_t bits = (uint32_t)(h & 0x7fff) << 13;
	if ((h & 0x7c00) == 0x7c00 || (h & 0x7c00) == 0)
		return decode(&f16, h);
	float v;
	memcpy(&v, &bits, sizeof v);
	v *= 0x1p112f;
	return h & 0x8000 ? -v : v;
}

void tk_elements_load(uint32_t dtype, const void *data, int64_t first, int64_t n, double *out)
{
	switch (dtype) {
	case TK_F64:
		memcpy(out, (const double *)data + first, (size_t)n * sizeof *out);
		return;
	case TK_F32:
	case TK_TF32:
		for (int64_t i = 0; i < n; i++)
			out[i] = ((const float *)data)[first + i];
		return;
	case TK_F16:
		for (int64_t i = 0; i < n; i++)
			out[i] = half_to_double(((const uint16_t *)data)[first + i]);
		return;
	default:
		for (int64_t i = 0; i < n; i++)
			out[i] = tk_element_load(dtype, data, first + i);
	}
}

/* Bytes of an element, and its unit roundoff. */
static const struct {
	uint8_t bytes;
	double roundoff;
} types[] = {[TK_F64] = {8, 0x1p-53},
        [TK_F32] = {4, 0x1p-24},
        [TK_TF32] = {4, 0x1p-11},
        [TK_F16] = {2, 0x1p-11},
        [TK_BF16] = {2, 0x1p-8},
        [TK_E4M3] = {1, 0x1p-4},
        [TK_E5M2] = {1, 0x1p-3},
        [TK_I32] = {4, 0},
        [TK_I64] = {8, 0}};
enum { TYPES = sizeof types / sizeof *types };

size_t tk_element_bytes(uint32_t dtype)
{
	return dtype < TYPES ? types[dtype].bytes : 0;
}

double tk_element_roundoff(uint32_t dtype)
{
	return dtype < TYPES ? types[dtype].roundoff : 0;
}
