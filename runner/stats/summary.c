/* Order statistics of a sample: see summary.h. */
#include <math.h>

#include "base/base.h"
#include "stats/summary.h"

#define SORTED 8 /* up to this many, sorting is faster than selecting */

/* ---- selection ---- */

static void swap(double *x, size_t i, size_t j)
{
	const double keep = x[i];

	x[i] = x[j];
	x[j] = keep;
}

/* Moves the values below the pivot to the front, and returns how many there are. Without a branch:
 * nobody could predict it. */
static size_t move_smaller(double *x, size_t n, double pivot)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		const double v = x[i];

		x[i] = x[count];
		x[count] = v;
		count += v < pivot;
	}
	return count;
}

static size_t move_equal(double *x, size_t n, double pivot)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (x[i] == pivot)
			swap(x, i, count++);
	return count;
}

static double median_of_three(double a, double b, double c)
{
	/* by a < b, b < c and a < c; of these eight two cannot be */
	static const unsigned char middle[] = {1, 0, 2, 0, 0, 2, 0, 1};
	const double values[] = {a, b, c};

	return values[middle[(a < b) << 2 | (b < c) << 1 | (a < c)]];
}

static void sort_few(double *x, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t j = i; j > 0 && x[j - 1] > x[j]; j--)
			swap(x, j - 1, j);
}

/* x[k] becomes the k-th smallest (from 0) of the finite x, values before it are not larger, values
 * after it not smaller. This holds for x[0 .. from) already; from <= k. */
static void select_kth(double *x, size_t n, size_t from, size_t k)
{
	size_t lo = from, hi = n;

	while (hi - lo > SORTED) {
		const double pivot = median_of_three(x[lo], x[lo + (hi - lo) / 2], x[hi - 1]);
		const size_t smaller = move_smaller(x + lo, hi - lo, pivot);

		if (k - lo < smaller) {
			hi = lo + smaller;
			continue;
		}
		/* The pivot is the least of the rest. */
		lo += smaller ? smaller : move_equal(x + lo, hi - lo, pivot);
		if (k < lo)
			return;
	}
	sort_few(x + lo, hi - lo);
}

/* Quantile of the finite x, as select_kth. */
static double select_at(double *x, size_t n, size_t from, double at)
{
	double next = INFINITY;
	size_t k = (size_t)at;

	select_kth(x, n, from, k);
	if (k + 1 >= n || at == (double)k)
		return x[k];
	for (size_t i = k + 1; i < n; i++)
		next = x[i] < next ? x[i] : next;
	return x[k] + (at - (double)k) * (next - x[k]);
}

void tk_quantile_select_many(double *x, size_t n, const double *p, size_t count, double *out)
{
	size_t from = 0; /* what is before it is not larger, by the quantiles so far */

	for (size_t i = 0; i < count; i++) {
		const double at = p[i] * (double)(n - 1);

		from = (size_t)at < from ? 0 : from;
		out[i] = select_at(x, n, from, at);
		from = (size_t)at;
	}
}

double tk_quantile_select(double *x, size_t n, double p)
{
	double out;

	tk_quantile_select_many(x, n, &p, 1, &out);
	return out;
}

/* ---- summary ---- */

/* Ascending; NaN sorts last, so that the order stays total. */
static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	if (isnan(x) || isnan(y))
		return !!isnan(x) - !!isnan(y);
	return (x > y) - (x < y);
}

void tk_sort_values(double *x, size_t n)
{
	tk_sort(x, n, sizeof *x, compare_doubles);
}

double tk_quantile_sorted(const double *sorted, size_t n, double p)
{
	double at = p * (double)(n - 1);
	size_t i = (size_t)at;

	if (i + 1 >= n)
		return sorted[n - 1];
	return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

double tk_median(double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isnan(x[i])) { /* sorts last */
			tk_sort_values(x, n);
			return tk_quantile_sorted(x, n, 0.5);
		}
	return n ? tk_quantile_select(x, n, 0.5) : NAN;
}

/* Welford (1962): one pass, no cancellation. */
static void set_moments(const double *x, size_t n, struct tk_summary *out)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		double d = x[i] - mean;

		mean += d / (double)(i + 1);
		squares += d * (x[i] - mean);
	}
	out->mean = mean;
	out->stddev = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}

int tk_summary_compute(const double *x, size_t n, struct tk_summary *out)
{
	struct tk_summary s = {.n = n};
	double *work;

	if (n == 0)
		return TK_EDATA;
	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return TK_EDATA;
	work = tk_malloc(n * sizeof *work);
	memcpy(work, x, n * sizeof *work);
	tk_sort_values(work, n);
	s.min = work[0];
	s.p05 = tk_quantile_sorted(work, n, 0.05);
	s.q25 = tk_quantile_sorted(work, n, 0.25);
	s.median = tk_quantile_sorted(work, n, 0.5);
	s.q75 = tk_quantile_sorted(work, n, 0.75);
	s.p95 = tk_quantile_sorted(work, n, 0.95);
	s.max = work[n - 1];
	set_moments(x, n, &s);
	for (size_t i = 0; i < n; i++)
		work[i] = fabs(x[i] - s.median);
	s.mad = tk_median(work, n);
	free(work);
	*out = s;
	return TK_OK;
}

/* ---- interval ---- */

/* ln of the probability that a fair coin shows k heads in n throws. */
static double log_binomial_half(size_t n, size_t k)
{
	int sign;

	return lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
	       lgamma_r((double)(n - k) + 1, &sign) - (double)n * M_LN2;
}

bool tk_median_ranks(size_t n, double confidence, size_t *lo, size_t *hi)
{
	double half_alpha = (1 - confidence) / 2, tail = 0;
	double first = (double)n / 2 -
	               6 * sqrt((double)n); /* below 12 standard deviations the tail is nothing */
	size_t k = first > 0 ? (size_t)first : 0, found = 0;
	bool any = false;

	/* x_(k+1) is below the median's interval as long as P(fewer than k + 1 samples lie below
	 * the median) fits in half of alpha. */
	for (; k < n / 2; k++) {
		tail += exp(log_binomial_half(n, k));
		if (!(tail <= half_alpha))
			break;
		found = k;
		any = true;
	}
	if (!any)
		return false;
	*lo = found;
	*hi = n - 1 - found;
	return true;
}

bool tk_median_interval(const double *sorted, size_t n, double confidence, double *lo, double *hi)
{
	size_t i, j;
	bool reached = tk_median_ranks(n, confidence, &i, &j);

	if (n == 0) {
		*lo = *hi = NAN;
		return false;
	}
	*lo = sorted[reached ? i : 0];
	*hi = sorted[reached ? j : n - 1];
	return reached;
}

/* ---- stopping ---- */

static int is_tight(const struct tk_stop_rule *rule, const double *sorted, size_t n)
{
	double lo, hi;

	if (n < rule->min_samples || !tk_median_interval(sorted, n, rule->confidence, &lo, &hi))
		return 0;
	return (hi - lo) / 2 <=
	       rule->relative_half_width * fabs(tk_quantile_sorted(sorted, n, 0.5));
}

enum tk_stop tk_stop_check(
        const struct tk_stop_rule *rule, const double *sorted, size_t n, double spent_s)
{
	if (is_tight(rule, sorted, n))
		return TK_STOP_TIGHT;
	if (n >= rule->max_samples)
		return TK_STOP_MAX_SAMPLES;
	if (spent_s >= rule->budget_s)
		return TK_STOP_BUDGET;
	return TK_STOP_CONTINUE;
}

const char *tk_stop_name(enum tk_stop s)
{
	static const char *const words[] = {
	        [TK_STOP_CONTINUE] = "continue",
	        [TK_STOP_TIGHT] = "tight",
	        [TK_STOP_MAX_SAMPLES] = "max_samples",
	        [TK_STOP_BUDGET] = "budget",
	};

	return (size_t)s < sizeof words / sizeof *words ? words[s] : "continue";
}

/* ---- student ---- */

#define KNOWN 256

/* Continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22). */
static double beta_fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m <= 500; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		f *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		step = d * c;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f;
}

static double incomplete_beta(double x, double a, double b)
{
	int sign;
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) +
	            b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double tk_student_p(double t, double df)
{
	if (isinf(t))
		return 0;
	return incomplete_beta(df / (df + t * t), df / 2, 0.5);
}

/* The t of a two-sided p, by bisection. */
static double solve(double p, double df)
{
	double lo = 0, hi = 1;

	for (; tk_student_p(hi, df) > p && hi < 1e100; hi *= 2)
		lo = hi;
	for (int i = 0; i < 60; i++) {
		const double mid = (lo + hi) / 2;

		*(tk_student_p(mid, df) > p ? &lo : &hi) = mid;
	}
	return (lo + hi) / 2;
}

/* The series of a night have few different numbers of points, and ask for each again and again. */
double tk_student_t(double p, double df)
{
	static _Thread_local struct known {
		double p, df, t;
	} known[KNOWN];
	struct known *k = &known[df > 0 && df < 1e9 ? (size_t)(df * 5) % KNOWN : 0];

	if (k->p != p || k->df != df)
		*k = (struct known){p, df, solve(p, df)};
	return k->t;
}
