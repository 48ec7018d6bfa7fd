/* splitmix64 (Steele, Lea, Flood 2014) and xoshiro256** (Blackman and Vigna 2018): the same numbers
 * on every machine.
 */
#include "base/base.h"

#include <math.h>

uint64_t tk_splitmix64(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

void tk_rng_seed(struct tk_rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = tk_splitmix64(seed + (uint64_t)i * 0x9e3779b97f4a7c15u);
}

static uint64_t rotate_left(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t tk_rng_next(struct tk_rng *r)
{
	uint64_t *s = r->s, result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

double tk_rng_uniform(struct tk_rng *r)
{
	return (double)(tk_rng_next(r) >> 11) * 0x1p-53;
}

/* Box and Muller 1958, one of the two values: no state besides the generator's. */
double tk_rng_normal(struct tk_rng *r)
{
	double u = 1.0 - tk_rng_uniform(r), v = tk_rng_uniform(r);

	return sqrt(-2.0 * log(u)) * cos(6.283185307179586477 * v);
}

/* Lemire 2019: multiply, and reject the few values that would bias. */
uint64_t tk_rng_below(struct tk_rng *r, uint64_t n)
{
	unsigned __int128 m = (unsigned __int128)tk_rng_next(r) * n;

	if ((uint64_t)m < n) {
		uint64_t threshold = -n % n;

		while ((uint64_t)m < threshold)
			m = (unsigned __int128)tk_rng_next(r) * n;
	}
	return (uint64_t)(m >> 64);
}

void tk_rng_shuffle(struct tk_rng *r, void *items, size_t n, size_t item_size)
{
	for (size_t i = n; i > 1; i--) {
		char *a = (char *)items + tk_rng_below(r, i) * item_size,
		     *b = (char *)items + (i - 1) * item_size;

		for (size_t k = 0; k < item_size; k++) {
			char t = a[k];

			a[k] = b[k];
			b[k] = t;
		}
	}
}
