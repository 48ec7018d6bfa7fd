/* Verification of results: the entry point, the scan for unwritten outputs, and the ceilings'
 * checks. docs/explanation/verification.md derives the tolerances. */
#include "measure/verify.h"
#include "base/base.h"
#include "element.h"
#include <math.h>

#define SCAN_GRAIN 65536 /* values that justify a thread */

double tk_element_get(const struct tk_tensor *t, int64_t i)
{
	return tk_element_load(t->dtype, t->data, i);
}

void tk_element_set(struct tk_tensor *t, int64_t i, double value)
{
	tk_element_store(t->dtype, t->data, i, value);
}

uint64_t tk_verify_next_random(struct tk_verify_state *v)
{
	return tk_splitmix64(v->random++);
}

void tk_verify_add_error(struct tk_verify_state *v, double error, double tolerance, double scale,
        const char *fmt, ...)
{
	double ratio = error == 0 ? 0 : error / tolerance;
	if (!(ratio <= 1))
		v->out->passed = false;
	if (ratio <= v->worst)
		return;
	if (scale <= 0 || !isfinite(scale))
		scale = 1;
	v->worst = isnan(ratio) ? INFINITY : ratio;
	v->out->max_error = error / scale;
	v->out->tolerance = tolerance / scale;
	if (ratio <= 1)
		return;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(v->out->detail, sizeof v->out->detail, fmt, ap);
	va_end(ap);
}

/* "O[0][17][3][5]" */
static void name_element(const struct tk_tensor *t, int64_t i, char *out, size_t size)
{
	int64_t at[5] = {0};
	size_t used = (size_t)snprintf(out, size, "%s", t->name);
	for (uint32_t d = t->ndim; d-- > 0; i /= t->dim[d])
		at[d] = i % t->dim[d];
	for (uint32_t d = 0; d < t->ndim && used < size; d++)
		used += (size_t)snprintf(out + used, size - used, "[%lld]", (long long)at[d]);
}

struct scan {
	const struct tk_tensor *t;
	_Atomic int64_t found; /* index of the first value that is not finite; INT64_MAX: none */
};

static void scan_part(void *arg, int64_t first, int64_t count)
{
	struct scan *s = arg;
	double chunk[512];
	for (int64_t at = first; at < first + count; at += 512) {
		int64_t len = first + count - at < 512 ? first + count - at : 512, i = 0;
		tk_elements_load(s->t->dtype, s->t->data, at, len, chunk);
		while (i < len && isfinite(chunk[i]))
			i++;
		if (i == len)
			continue;
		int64_t known = atomic_load(&s->found);
		while (at + i < known && !atomic_compare_exchange_weak(&s->found, &known, at + i))
			;
		return;
	}
}

/* Outputs are poisoned with NaN before the launch: a value that is not finite is unwritten or
 * wrong. */
static void scan_finite(struct tk_verify_state *v, const struct tk_tensor *t)
{
	char name[128];
	struct scan s = {t, INT64_MAX};
	tk_parallel_for(
	        (int64_t)(t->bytes / tk_element_bytes(t->dtype)), SCAN_GRAIN, scan_part, &s);
	if (s.found == INT64_MAX)
		return;
	name_element(t, s.found, name, sizeof name);
	v->out->passed = false;
	v->out->max_error = INFINITY;
	v->worst = INFINITY;
	snprintf(v->out->detail, sizeof v->out->detail, "%s is %f: not finite or never written",
	        name, tk_element_load(t->dtype, t->data, s.found));
}

bool tk_verify_is_untouched(const struct tk_tensor *t)
{
	for (size_t i = 0; i < t->bytes; i++)
		if (((const unsigned char *)t->data)[i] != 0xff)
			return false;
	return true;
}

static void verify_copy(struct tk_verify_state *v, const struct tk_tensor *t)
{
	const unsigned char *in = t[TK_T_IN].data, *out = t[TK_T_OUT].data;
	size_t element = tk_element_bytes(t->dtype);
	snprintf(v->out->method, sizeof v->out->method, "bits");
	v->out->checked = (int64_t)(t[TK_T_OUT].bytes / element);
	for (size_t i = 0; i < t[TK_T_OUT].bytes; i++)
		if (in[i] != out[i]) {
			tk_verify_add_error(v, 1, 0, 1, "out[%zu] is %g, expected %g", i / element,
			        tk_element_get(&t[TK_T_OUT], (int64_t)(i / element)),
			        tk_element_get(&t[TK_T_IN], (int64_t)(i / element)));
			return;
		}
}

/* The sum of n values in any order, `passes` times. Each of the n * passes additions has an error
 * of u times the partial sum. Signs are random, so partial sums and errors grow like a random walk
 * (Higham 2002, section 4.2, probabilistic form). A bound by the sum of absolute values would be
 * hundreds of times the sum itself: a kernel that adds nothing would pass. */
static void verify_read(struct tk_verify_state *v, const struct tk_tensor *t, double passes)
{
	int64_t n = (int64_t)(t[TK_T_IN].bytes / tk_element_bytes(t[TK_T_IN].dtype));
	double sum = 0, sizes = 0, squares = 0, chunk[512],
	       u = tk_element_roundoff(t[TK_T_OUT].dtype);
	for (int64_t first = 0; first < n; first += 512) {
		int64_t len = n - first < 512 ? n - first : 512;
		tk_elements_load(t[TK_T_IN].dtype, t[TK_T_IN].data, first, len, chunk);
		for (int64_t i = 0; i < len; i++) {
			sum += chunk[i];
			sizes += fabs(chunk[i]);
			squares += chunk[i] * chunk[i];
		}
	}
	double got = tk_element_get(&t[TK_T_OUT], 0);
	snprintf(v->out->method, sizeof v->out->method, "sum");
	v->out->checked = 1;
	sum *= passes;
	tk_verify_add_error(v, fabs(got - sum),
	        4 * sqrt((double)n * passes) * u * (fabs(sum) + 6 * passes * sqrt(squares)) +
	                u * fabs(sum),
	        passes * sizes, "the sum is %g, expected %g", got, sum);
}

static int check_operation(struct tk_verify_state *v, const struct tk_problem_spec *p,
        const struct tk_tensor *t, struct tk_error *err)
{
	switch (p->abi.op) {
	case TK_OP_GEMM:
		tk_verify_gemm(v, &p->gemm, p->dist, t);
		return TK_OK;
	case TK_OP_ATTENTION:
		return p->attention.dir == TK_FWD
		               ? tk_verify_attention(v, &p->attention, t, err)
		               : tk_verify_attention_backward(v, &p->attention, t, err);
	case TK_OP_NSA:
		return tk_verify_nsa(v, &p->nsa, t, err);
	case TK_OP_COPY:
		verify_copy(v, t);
		return TK_OK;
	case TK_OP_READ:
		verify_read(v, t, (double)p->ceiling.passes);
		return TK_OK;
	default: /* fma: the values are unspecified; they only have to be written */
		snprintf(v->out->method, sizeof v->out->method, "finite");
		v->out->checked =
		        (int64_t)(t[TK_T_OUT].bytes / tk_element_bytes(t[TK_T_OUT].dtype));
		return TK_OK;
	}
}

int tk_verify_outputs(const struct tk_problem_spec *problem, const struct tk_tensor *host_tensors,
        uint64_t seed, struct tk_verify_result *out, struct tk_error *err)
{
	struct tk_tensor t[TK_T_MAX] = {0}, shape[TK_T_MAX];
	uint32_t count = 0;
	struct tk_verify_state v = {
	        .out = out, .worst = -1, .random = tk_splitmix64(seed ^ 0x766572696679ull)};
	TRY(tk_problem_list_tensors(problem, shape, &count, err));
	*out = (struct tk_verify_result){.done = true, .passed = true};
	memcpy(t, host_tensors, count * sizeof *t);
	for (uint32_t i = 0; i < count; i++) {
		bool lse = problem->abi.op == TK_OP_ATTENTION && i == TK_T_LSE && t[i].output;
		if (lse && (!t[i].data || tk_verify_is_untouched(&t[i])))
			t[i].data = NULL;
		else if (t[i].output)
			scan_finite(&v, &t[i]);
	}
	return out->passed ? check_operation(&v, problem, t, err) : TK_OK;
}
