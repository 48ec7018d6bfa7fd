/* Numbers with units as people write them: one reader and one writer for tracker.yml and for
 * options.
 *
 * A blank may stand between number and unit. There are no signs and no exponents, and the decimal
 * point is "." in every locale. */
#ifndef TK_BASE_UNITS_H
#define TK_BASE_UNITS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;

enum tk_quantity {
	TK_QUANTITY_COUNT,    /* a whole number */
	TK_QUANTITY_DURATION, /* seconds: 200ns 50us 1.5ms 30s 15m 2h 7d 2w; no unit: seconds */
	/* 2% and 0.02 are both 0.02; a number without % is a fraction below 1 */
	TK_QUANTITY_FRACTION,
	TK_QUANTITY_TIME, /* seconds, the unit is required: 500ns 10us 1ms 1s, or 0 */
	TK_QUANTITY_SIZE, /* bytes: 512MiB 4GiB 100GB; no unit: bytes; at most 2^53 */
};

/* A value from min to max (INFINITY: no limit). TK_EDATA with *value unchanged if the text is not
 * such a value; the message quotes the text and says what was expected. `err` may be NULL. */
int tk_units_parse(enum tk_quantity unit, const char *text, double min, double max, double *value,
        struct tk_error *err);

/* A duration of any length, in whole seconds, rounded up. */
int tk_units_parse_seconds(const char *text, int64_t *seconds, struct tk_error *err);

/* yes no true false on off */
int tk_units_parse_bool(const char *text, bool *value, struct tk_error *err);

/* The value with its largest unit, as tk_units_parse() reads it: "1.5h", "2%", "64MiB". A whole
 * number is read as the same one, others to six digits. Returns out. */
#define TK_UNITS_TEXT_SIZE 32
const char *tk_units_format(enum tk_quantity unit, double value, char out[TK_UNITS_TEXT_SIZE]);

#endif
