/* Seeded, portable random numbers (splitmix64 and xoshiro256**, Blackman and Vigna 2018): orders,
 * fake times, tests. */
#ifndef TK_BASE_RNG_H
#define TK_BASE_RNG_H
#include <stddef.h>
#include <stdint.h>

struct tk_rng {
	uint64_t s[4];
};

uint64_t tk_splitmix64(uint64_t x); /* a stateless mixer: one 64-bit value per input */
void tk_rng_seed(struct tk_rng *r, uint64_t seed);
uint64_t tk_rng_next(struct tk_rng *r);
double tk_rng_uniform(struct tk_rng *r);             /* [0, 1) */
double tk_rng_normal(struct tk_rng *r);              /* mean 0, variance 1 */
uint64_t tk_rng_below(struct tk_rng *r, uint64_t n); /* [0, n), without modulo bias; n > 0 */
void tk_rng_shuffle(struct tk_rng *r, void *items, size_t n, size_t item_size);

#endif
