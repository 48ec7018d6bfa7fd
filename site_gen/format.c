/* Formatting of numbers: four significant digits, a no-break space before the unit, a true minus sign. */
#include "site_gen/format.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"

#define NBSP "\xC2\xA0"
#define MINUS "\xE2\x88\x92"

static const struct {
	const char *base;
	double divisor;
	const char *unit;
} scales[] = {
        /* of one base: smallest first */
        {"ns", 1, "ns"},
        {"ns", 1e3, "µs"},
        {"ns", 1e6, "ms"},
        {"ns", 1e9, "s"},
        {"gflop_per_s", 1e-3, "MFLOP/s"},
        {"gflop_per_s", 1, "GFLOP/s"},
        {"gflop_per_s", 1e3, "TFLOP/s"},
        {"gb_per_s", 1e-3, "MB/s"},
        {"gb_per_s", 1, "GB/s"},
        {"gb_per_s", 1e3, "TB/s"},
        {"bytes", 1, "B"},
        {"bytes", 1e3, "kB"},
        {"bytes", 1e6, "MB"},
        {"bytes", 1e9, "GB"},
};

/* As "%.*f" writes it, in a tenth of the time; what is near the middle of two digits is left to it. */
static size_t fixed(char out[TK_FORMAT_SIZE], double v, int digits)
{
	static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
	double size = fabs(v), scaled = digits >= 0 && digits < 10 ? size * powers[digits] : INFINITY;
	double whole = floor(scaled), rest = scaled - whole;
	if (!(scaled < 1e15) || fabs(rest - 0.5) < 1e-5 || !(scaled > 0))
		return (size_t)snprintf(out, TK_FORMAT_SIZE, "%.*f", digits, v);
	uint64_t n = (uint64_t)whole + (rest > 0.5);
	char text[32];
	size_t at = sizeof text, len = 0;
	for (int i = 0; n || i <= digits; i++) {
		text[--at] = (char)('0' + n % 10);
		n /= 10;
		if (i + 1 == digits)
			text[--at] = '.';
	}
	if (v < 0)
		out[len++] = '-';
	memcpy(out + len, text + at, sizeof text - at);
	len += sizeof text - at;
	out[len] = 0;
	return len;
}

static size_t add(char out[TK_FORMAT_SIZE], size_t at, const char *text)
{
	size_t len = strlen(text);
	len = at + len < TK_FORMAT_SIZE ? len : TK_FORMAT_SIZE - 1 - at;
	memcpy(out + at, text, len);
	out[at + len] = 0;
	return at + len;
}

struct tk_scale tk_scale_for(double value, const char *unit)
{
	struct tk_scale best = {1, unit};
	double size = fabs(value);
	bool first = true;
	for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
		if (strcmp(scales[i].base, unit) || (!first && size < scales[i].divisor))
			continue;
		best = (struct tk_scale){scales[i].divisor, scales[i].unit};
		first = false;
	}
	return best;
}

const char *tk_format_scaled(double value, struct tk_scale scale, char out[TK_FORMAT_SIZE])
{
	double v = value / scale.divisor;
	if (!isfinite(v))
		return strcpy(out, "–");
	int digits = fabs(v) >= 999.95 ? 0 : fabs(v) >= 99.995 ? 1 : fabs(v) >= 9.9995 ? 2 : 3;
	if (fabs(v) < 1e15)
		fixed(out, v, digits);
	else
		snprintf(out, TK_FORMAT_SIZE, "%.*e", digits, v);
	return out;
}

const char *tk_format_value(double value, const char *unit, char out[TK_FORMAT_SIZE])
{
	struct tk_scale scale = tk_scale_for(value, unit);
	tk_format_scaled(value, scale, out);
	if (isfinite(value))
		add(out, add(out, strlen(out), NBSP), scale.unit);
	return out;
}

const char *tk_format_change(double ratio, char out[TK_FORMAT_SIZE])
{
	if (!isfinite(ratio))
		return strcpy(out, "–");
	double percent = fabs(ratio) * 100;
	if (ratio >= 1)
		snprintf(out, TK_FORMAT_SIZE, "%.*f×", ratio < 9 ? 1 : 0, ratio + 1);
	else {
		char number[TK_FORMAT_SIZE];
		fixed(number, percent, 1);
		add(out, add(out, add(out, 0, percent < 0.05 ? "±" : ratio < 0 ? MINUS : "+"), number), NBSP "%");
	}
	return out;
}

const char *tk_format_half_width(double value, double lo, double hi, char out[TK_FORMAT_SIZE])
{
	double half = (hi - lo) / 2 / value;
	if (!isfinite(half) || half < 0)
		return strcpy(out, "");
	char number[TK_FORMAT_SIZE];
	fixed(number, half * 100, half < 0.0995 ? 1 : 0);
	add(out, add(out, add(out, 0, "±"), number), NBSP "%");
	return out;
}

const char *tk_format_percent(double ratio, char out[TK_FORMAT_SIZE])
{
	if (!isfinite(ratio))
		return strcpy(out, "–");
	snprintf(out, TK_FORMAT_SIZE, "%.*f" NBSP "%%", fabs(ratio) < 0.0995 ? 1 : 0, ratio * 100);
	return out;
}

const char *tk_format_count(int64_t n, char out[TK_FORMAT_SIZE])
{
	char plain[32];
	int len = snprintf(plain, sizeof plain, "%lld", (long long)n), o = 0;
	for (int i = 0; i < len; i++) {
		if (i && plain[i - 1] != '-' && (len - i) % 3 == 0)
			out[o++] = ',';
		out[o++] = plain[i];
	}
	out[o] = 0;
	return out;
}

const char *tk_format_minute(int64_t t_s, char out[TK_FORMAT_SIZE])
{
	char iso[TK_TIME_ISO_SIZE];
	tk_time_iso(t_s, iso);
	if (strlen(iso) <= 16)
		return strcpy(out, iso);
	memcpy(out, iso, 10); /* 2026-11-21T09:42:00Z */
	out[10] = ' ';
	memcpy(out + 11, iso + 11, 5);
	out[16] = 0;
	return out;
}

static size_t without_zeros(char *text, size_t len)
{
	if (!memchr(text, '.', len))
		return len;
	while (text[len - 1] == '0')
		len--;
	len -= text[len - 1] == '.';
	text[len] = 0;
	return len;
}

const char *tk_format_six(double v, char out[TK_FORMAT_SIZE])
{
	double size = fabs(v);
	if (!(size >= 0.1 && size < 1e15) || (size >= 999999 && size < 1e6)) {
		snprintf(out, TK_FORMAT_SIZE, "%.6g", v);
		return out;
	}
	int exponent = size >= 1 ? (int)floor(log10(size)) : -1;
	if (size < 999999) {
		without_zeros(out, fixed(out, v, 5 - exponent));
		return out;
	}
	double mantissa = v / pow(10, exponent), steps = fabs(mantissa) * 1e5;
	bool near_middle = fabs(steps - floor(steps) - 0.5) < 1e-5;
	size_t len = without_zeros(out, fixed(out, mantissa, 5));
	const char *digits = out + (v < 0);
	if (near_middle || digits[0] == '0' || (digits[0] == '1' && digits[1] == '0')) /* or at the border of powers */
		snprintf(out, TK_FORMAT_SIZE, "%.6g", v);
	else
		snprintf(out + len, TK_FORMAT_SIZE - len, "e+%02d", exponent);
	return out;
}

void tk_buf_int(struct tk_buf *b, int64_t v)
{
	char digits[24];
	size_t at = sizeof digits;
	uint64_t rest = v < 0 ? -(uint64_t)v : (uint64_t)v;
	do {
		digits[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (v < 0)
		digits[--at] = '-';
	tk_buf_add(b, digits + at, sizeof digits - at);
}
