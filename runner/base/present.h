/* Values as people read them, on the terminal, in Markdown and on pages: four significant digits
 * and the unit that suits. Every function returns `out`. templates/assets/format.js has the same
 * rules; tests hold both against one table of cases. */
#ifndef TK_BASE_PRESENT_H
#define TK_BASE_PRESENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_buf;

#define TK_FORMAT_SIZE 48

/* The unit in which a value reads well: {1e3, "µs"} for 41200 ns. Units: ns, gflop_per_s, gb_per_s,
 * J, bytes, ratio (without a unit); others stay as they are. */
struct tk_format_scale {
	double divisor;
	const char *unit;
};
struct tk_format_scale tk_format_choose_scale(double value, const char *unit);

const char *tk_format_value(
        double value, const char *unit, char out[TK_FORMAT_SIZE]); /* "41.20 µs"; "–" for NAN */
const char *tk_format_scaled(double value, struct tk_format_scale scale,
        char out[TK_FORMAT_SIZE]); /* "41.20", without the unit */
const char *tk_format_change(
        double ratio, char out[TK_FORMAT_SIZE]); /* 0.031: "+3.1 %"; 2.5: "3.5×" */
/* Two changes in one notation: both as factors where one is at least 2×. */
void tk_format_change_pair(
        double a, double b, char out_a[TK_FORMAT_SIZE], char out_b[TK_FORMAT_SIZE]);
/* The interval of a change, in the notation of the change: "1.9× to 2.5×", "+2.9 to +4.1 %". */
const char *tk_format_change_range(double change, double lo, double hi, char out[TK_FORMAT_SIZE]);
/* "+3.0 % (+2.9 to +3.1 %)": a change with its interval; "" for NAN. */
#define TK_FORMAT_ESTIMATE_SIZE (2 * TK_FORMAT_SIZE + 8)
const char *tk_format_estimate(
        double change, double lo, double hi, char out[TK_FORMAT_ESTIMATE_SIZE]);
const char *tk_format_half_width(
        double value, double lo, double hi, char out[TK_FORMAT_SIZE]); /* "±0.4 %" */
const char *tk_format_percent(double ratio, char out[TK_FORMAT_SIZE]); /* 0.62: "62 %" */
/* In percent, for texts with one decimal digit: what they round to zero is 0, without a sign. */
double tk_percent_tenths(double ratio);
const char *tk_format_count(int64_t n, char out[TK_FORMAT_SIZE]);    /* "12,345" */
const char *tk_format_minute(int64_t t_s, char out[TK_FORMAT_SIZE]); /* "2026-11-21 09:42" */
const char *tk_format_digits(
        double v, int digits, char out[TK_FORMAT_SIZE]); /* like "%.*g", faster */

/* "35 us", "4.2 s", "3 min 20 s", "2 h 5 min", "5 d 1 h"; "?" for NAN. */
const char *tk_duration_format(double seconds, char *out, size_t size);

#define TK_FORMAT_INT 24
/* Decimal, at most TK_FORMAT_INT characters, without a NUL; returns their number. */
size_t tk_format_int(char *out, int64_t v);
void tk_buf_add_int(
        struct tk_buf *b, int64_t v); /* decimal; printf is too slow for a million integers */
void tk_buf_add_ints(struct tk_buf *b, const int64_t *v, size_t count); /* separated by commas */

#endif
