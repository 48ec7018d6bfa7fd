/* Numbers with units as people write them in tracker.yml. Each returns 0, or TK_EDATA where the
 * text is not one. */
#ifndef TK_CONFIG_UNITS_H
#define TK_CONFIG_UNITS_H
#include <stdbool.h>
#include <stdint.h>

int tk_units_parse_duration(const char *text,
        double *seconds); /* 200ns 50us 1.5ms 30s 15m 2h 7d 2w; a plain number is seconds */
int tk_units_parse_size(
        const char *text, uint64_t *bytes); /* 512MiB 4GiB 100GB; a plain number is bytes */
int tk_units_parse_fraction(const char *text, double *fraction); /* 2% or 0.02: both 0.02 */
int tk_units_parse_count(const char *text, uint32_t *count);     /* a whole number */
int tk_units_parse_bool(const char *text, bool *value);          /* yes no true false on off */

#endif
