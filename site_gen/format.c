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
	snprintf(out, TK_FORMAT_SIZE, fabs(v) < 1e15 ? "%.*f" : "%.*e", digits, v);
	return out;
}

const char *tk_format_value(double value, const char *unit, char out[TK_FORMAT_SIZE])
{
	struct tk_scale scale = tk_scale_for(value, unit);
	tk_format_scaled(value, scale, out);
	size_t len = strlen(out);
	if (isfinite(value))
		snprintf(out + len, TK_FORMAT_SIZE - len, NBSP "%s", scale.unit);
	return out;
}

const char *tk_format_change(double ratio, char out[TK_FORMAT_SIZE])
{
	if (!isfinite(ratio))
		return strcpy(out, "–");
	double percent = fabs(ratio) * 100;
	if (ratio >= 1)
		snprintf(out, TK_FORMAT_SIZE, "%.*f×", ratio < 9 ? 1 : 0, ratio + 1);
	else
		snprintf(out, TK_FORMAT_SIZE, "%s%.1f" NBSP "%%",
		        percent < 0.05 ? "±"
		        : ratio < 0    ? MINUS
		                       : "+",
		        percent);
	return out;
}

const char *tk_format_half_width(double value, double lo, double hi, char out[TK_FORMAT_SIZE])
{
	double half = (hi - lo) / 2 / value;
	if (!isfinite(half) || half < 0)
		return strcpy(out, "");
	snprintf(out, TK_FORMAT_SIZE, "±%.*f" NBSP "%%", half < 0.0995 ? 1 : 0, half * 100);
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
	snprintf(out, TK_FORMAT_SIZE, "%.10s %.5s", iso, strlen(iso) > 16 ? iso + 11 : "");
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
