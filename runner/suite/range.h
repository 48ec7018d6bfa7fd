/* Generated values of a key in a suite: { from: 16, to: 4096, step: 16 } or, with `times`, a
 * geometric walk. And what a suite takes of many combinations. Private to suite/. */
#ifndef TK_SUITE_RANGE_H
#define TK_SUITE_RANGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;
struct tk_yaml;

#define TK_SUITE_NUMBER_MAX INT64_C(1000000000000)

struct tk_suite_range {
	int64_t from, step, times; /* step 0: each value is `times` the one before */
	size_t count;
};

/* Digits at *at, which is moved behind them. False: there are none, or the number is too large. */
bool tk_suite_read_number(const char **at, int64_t *out);
/* The whole number that a mapping has under a key; `missing` without it. TK_ECONFIG: another
 * value, or one below `least`. */
int tk_suite_find_number(const struct tk_yaml *y, int map, const char *key, int64_t least,
        int64_t missing, int64_t *out, struct tk_error *err);

int tk_suite_range_read(
        const struct tk_yaml *y, int map, struct tk_suite_range *out, struct tk_error *err);
int64_t tk_suite_range_value(const struct tk_suite_range *r, size_t index);

/* `count` different numbers below `total`, ascending, which depend on the seed alone. count <=
 * total. New array; NULL: out of memory. */
uint64_t *tk_suite_pick(uint64_t total, size_t count, uint64_t seed);

#endif
