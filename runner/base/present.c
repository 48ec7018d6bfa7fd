/* Formatting of numbers: four significant digits, a no-break space before the unit, a true minus
 * sign. */
#include "base/base.h"

#include <math.h>

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
        {"J", 1e-6, "µJ"},
        {"J", 1e-3, "mJ"},
        {"J", 1, "J"},
        {"bytes", 1, "B"},
        {"bytes", 1e3, "kB"},
        {"bytes", 1e6, "MB"},
        {"bytes", 1e9, "GB"},
        {"ratio", 1, ""},
};

static size_t add(char out[TK_FORMAT_SIZE], size_t at, const char *text)
{
	size_t len = strlen(text);
	len = at + len < TK_FORMAT_SIZE ? len : TK_FORMAT_SIZE - 1 - at;
	memcpy(out + at, text, len);
	out[at + len] = 0;
	return at + len;
}

struct tk_format_scale tk_format_choose_scale(double value, const char *unit)
{
	struct tk_format_scale best = {1, unit};
	double size = fabs(value);
	bool first = true;
	for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
		if (*scales[i].base != *unit || strcmp(scales[i].base, unit) ||
		        (!first && size < scales[i].divisor))
			continue;
		best = (struct tk_format_scale){scales[i].divisor, scales[i].unit};
		first = false;
	}
	return best;
}

/* printf's "%.*f", of at most three digits, without its cost: pages have millions of numbers.
 * Near the middle of two results printf decides. */
static void format_fixed(char out[TK_FORMAT_SIZE], int digits, double v)
{
	static const int powers[] = {1, 10, 100, 1000};
	double scaled = fabs(v) * powers[digits], whole = floor(scaled), rest = scaled - whole;

	if (!(scaled < 1e9) || fabs(rest - 0.5) < 1e-6) {
		snprintf(out, TK_FORMAT_SIZE, "%.*f", digits, v);
		return;
	}
	int64_t n = (int64_t)whole + (rest > 0.5);
	char *at = out;

	if (signbit(v))
		*at++ = '-';
	at += tk_format_int(at, n / powers[digits]);
	if (digits)
		*at++ = '.';
	for (int i = digits; i-- > 0;)
		*at++ = (char)('0' + n / powers[i] % 10);
	*at = 0;
}

const char *tk_format_scaled(double value, struct tk_format_scale scale, char out[TK_FORMAT_SIZE])
{
	double v = value / scale.divisor;
	if (!isfinite(v))
		return strcpy(out, "–");
	int digits = fabs(v) >= 999.95 ? 0 : fabs(v) >= 99.995 ? 1 : fabs(v) >= 9.9995 ? 2 : 3;
	if (fabs(v) < 1e15)
		format_fixed(out, digits, v);
	else
		snprintf(out, TK_FORMAT_SIZE, "%.*e", digits, v);
	return out;
}

const char *tk_format_value(double value, const char *unit, char out[TK_FORMAT_SIZE])
{
	struct tk_format_scale scale = tk_format_choose_scale(value, unit);
	tk_format_scaled(value, scale, out);
	if (isfinite(value) && *scale.unit) {
		size_t at = add(out, strlen(out), NBSP);

		add(out, at, scale.unit);
		tk_text_sanitize(out + at, "", '?'); /* the unit of an import */
	}
	return out;
}

static void format_times(double ratio, char out[TK_FORMAT_SIZE])
{
	if (ratio >= 1e15)
		snprintf(out, TK_FORMAT_SIZE, "%.0e×", ratio + 1);
	else
		snprintf(out, TK_FORMAT_SIZE, "%.*f×", ratio < 9 ? 1 : 0, ratio + 1);
}

/* Adds "+1.2", MINUS "0.3" or "±0.0" after the first `n` bytes; returns the new length. */
static size_t signed_percent(char out[TK_FORMAT_SIZE], size_t n, double ratio)
{
	char number[TK_FORMAT_SIZE];
	double percent = fabs(ratio) * 100;
	format_fixed(number, 1, percent);
	return add(out, add(out, n, percent < 0.05 ? "±" : ratio < 0 ? MINUS : "+"), number);
}

double tk_percent_tenths(double ratio)
{
	return fabs(ratio) < 0.0005 ? 0 : 100 * ratio;
}

const char *tk_format_change(double ratio, char out[TK_FORMAT_SIZE])
{
	if (!isfinite(ratio))
		return strcpy(out, "–");
	if (ratio >= 1)
		format_times(ratio, out);
	else
		add(out, signed_percent(out, 0, ratio), NBSP "%");
	return out;
}

void tk_format_change_pair(
        double a, double b, char out_a[TK_FORMAT_SIZE], char out_b[TK_FORMAT_SIZE])
{
	tk_format_change(a, out_a);
	tk_format_change(b, out_b);
	if (!isfinite(a) || !isfinite(b) || (a >= 1) == (b >= 1))
		return;
	format_times(a, out_a);
	format_times(b, out_b);
}

const char *tk_format_change_range(double change, double lo, double hi, char out[TK_FORMAT_SIZE])
{
	char times[TK_FORMAT_SIZE];
	if (change >= 1) {
		format_times(lo, out);
		format_times(hi, times);
		add(out, add(out, strlen(out), " to "), times);
	} else
		add(out, signed_percent(out, add(out, signed_percent(out, 0, lo), " to "), hi),
		        NBSP "%");
	return out;
}

const char *tk_format_estimate(
        double change, double lo, double hi, char out[TK_FORMAT_ESTIMATE_SIZE])
{
	char value[TK_FORMAT_SIZE], range[TK_FORMAT_SIZE];

	*out = '\0';
	if (!isnan(change))
		snprintf(out, TK_FORMAT_ESTIMATE_SIZE, "%s (%s)", tk_format_change(change, value),
		        tk_format_change_range(change, lo, hi, range));
	return out;
}

const char *tk_format_half_width(double value, double lo, double hi, char out[TK_FORMAT_SIZE])
{
	double half = (hi - lo) / 2 / value;
	if (!isfinite(half) || half < 0)
		return strcpy(out, "");
	char number[TK_FORMAT_SIZE];

	format_fixed(number, half < 0.0995 ? 1 : 0, half * 100);
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
	tk_time_format_iso(t_s, iso);
	if (strlen(iso) <= 16)
		return strcpy(out, iso);
	memcpy(out, iso, 10); /* 2026-11-21T09:42:00Z */
	out[10] = ' ';
	memcpy(out + 11, iso + 11, 5);
	out[16] = 0;
	return out;
}

const char *tk_format_digits(double v, int digits, char out[TK_FORMAT_SIZE])
{
	snprintf(out, TK_FORMAT_SIZE, "%.*g", digits, v);
	return out;
}

size_t tk_format_int(char *out, int64_t v)
{
	char digits[TK_FORMAT_INT];
	uint64_t rest = v < 0 ? -(uint64_t)v : (uint64_t)v;
	size_t at = sizeof digits;

	do
		digits[--at] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (v < 0)
		digits[--at] = '-';
	memcpy(out, digits + at, sizeof digits - at);
	return sizeof digits - at;
}

void tk_buf_add_int(struct tk_buf *b, int64_t v)
{
	char *room = tk_buf_reserve(b, TK_FORMAT_INT);
	if (room)
		tk_buf_commit(b, tk_format_int(room, v));
}

void tk_buf_add_ints(struct tk_buf *b, const int64_t *v, size_t count)
{
	char *room = tk_buf_reserve(b, count * (TK_FORMAT_INT + 1)), *at = room;
	if (!room)
		return;
	for (size_t i = 0; i < count; i++) {
		if (i)
			*at++ = ',';
		at += tk_format_int(at, v[i]);
	}
	tk_buf_commit(b, (size_t)(at - room));
}

const char *tk_duration_format(double seconds, char *out, size_t size)
{
	long long s = isfinite(seconds) && fabs(seconds) < 1e15 ? llround(seconds) : 0;

	if (!isfinite(seconds))
		snprintf(out, size, "?");
	else if (seconds <= 0)
		snprintf(out, size, "0 s");
	else if (seconds < 1e-3)
		snprintf(out, size, "%.3g us", seconds * 1e6);
	else if (seconds < 0.9995)
		snprintf(out, size, "%.3g ms", seconds * 1e3);
	else if (seconds < 9.95)
		snprintf(out, size, "%.1f s", seconds);
	else if (s < 60)
		snprintf(out, size, "%lld s", s);
	else if (s < 3600)
		snprintf(out, size, s % 60 ? "%lld min %lld s" : "%lld min", s / 60, s % 60);
	else if (s < 86400)
		snprintf(out, size, s / 60 % 60 ? "%lld h %lld min" : "%lld h", s / 3600,
		        s / 60 % 60);
	else
		snprintf(out, size, s / 3600 % 24 ? "%lld d %lld h" : "%lld d", s / 86400,
		        s / 3600 % 24);
	return out;
}
