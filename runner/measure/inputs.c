/* Seeded inputs: value i of a tensor is a function of (seed, tensor, i, distribution) alone, so
 * that every backend, machine and order of calls sees the same bits. Only correctly rounded IEEE
 * operations are used (this file is compiled without contraction to fma), never libm's sin, log or
 * erf, whose last bits differ between systems. */
#include "base/base.h"
#include "element.h"
#include "measure/measure.h"
#include <math.h>

#define BINS 4096
#define GRAIN 65536  /* values that justify a thread */
#define TAIL 0x1p-20 /* probability of the outermost node: |x| <= 4.76 */

/* Natural logarithm for x > 0 by 2 atanh((m - 1) / (m + 1)). */
static double plain_log(double x)
{
	int e = 0;
	double m = frexp(x, &e), sum = 0;
	if (m < 0x1.6a09e667f3bcdp-1) {
		m *= 2;
		e--;
	}
	double s = (m - 1) / (m + 1), s2 = s * s;
	for (int i = 23; i >= 1; i -= 2)
		sum = sum * s2 + 1.0 / i;
	return 2 * s * sum + e * 0x1.62e42fefa39efp-1;
}

static double rational(const double *num, const double *den, double r)
{
	double a = 0, b = 0;
	for (int i = 7; i >= 0; i--) {
		a = a * r + num[i];
		b = b * r + den[i];
	}
	return a / b;
}

/* Quantile of the standard normal distribution: Wichura (1988), algorithm AS 241, PPND16. */
static double normal_quantile(double p)
{
	/* clang-format off */
	static const double a[] = {3.3871328727963666080e0, 1.3314166789178437745e2,
		1.9715909503065514427e3, 1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4,
			2.5090809287301226727e3};
	static const double b[] = {1.0, 4.2313330701600911252e1, 6.8718700749205790830e2,
		5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
			5.2264952788528545610e3};
	static const double c[] = {1.42343711074968357734e0, 4.63033784615654529590e0,
		5.76949722146069140550e0, 3.64784832476320460504e0,
		1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2,
			7.74545014278341407640e-4};
	static const double d[] = {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0,
		6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
			1.05075007164441684324e-9};
	/* clang-format on */
	double q = p - 0.5, r;
	if (fabs(q) <= 0.425)
		return q * rational(a, b, 0.180625 - q * q);
	/* r is at most 3.73 here: the far tail of AS 241 is not reached */
	r = sqrt(-plain_log(q < 0 ? p : 1 - p));
	return (q < 0 ? -1 : 1) * rational(c, d, r - 1.6);
}

static double quantile_node(int i)
{
	double p = (double)i / BINS;
	return normal_quantile(p < TAIL ? TAIL : p > 1 - TAIL ? 1 - TAIL : p);
}

/* NULL: the table costs more than so many values. Free with free(). */
static double *make_nodes(uint64_t values)
{
	double *nodes = values > BINS ? tk_malloc((BINS + 1) * sizeof *nodes) : NULL;
	for (int i = 0; nodes && i <= BINS; i++)
		nodes[i] = quantile_node(i);
	return nodes;
}

/* A value of the standard normal distribution from random bits; `nodes`: a table of quantiles, or
 * NULL, which gives the same value more slowly. Twelve bits choose a bin of equal probability,
 * forty interpolate in it. */
static double to_normal(uint64_t bits, const double *nodes)
{
	int bin = (int)(bits >> 52);
	double at = (double)(bits >> 12 & 0xffffffffffull) * 0x1p-40;
	double lo = nodes ? nodes[bin] : quantile_node(bin),
	       hi = nodes ? nodes[bin + 1] : quantile_node(bin + 1);
	return lo + at * (hi - lo);
}

/* sin of `turn` / 2^64 of a full turn: exact reduction on integers, then the Taylor polynomial to
 * x^15 on [-pi/2, pi/2]. */
static double turn_sine(uint64_t turn)
{
	int64_t t = (int64_t)turn; /* -1/2 .. 1/2 of a turn */
	if (t > INT64_MAX / 2)
		t = INT64_MAX - t;
	else if (t < -(INT64_MAX / 2))
		t = INT64_MIN - t;
	double x = (double)t * (0x1.921fb54442d18p+2 * 0x1p-64), x2 = x * x, sum = 0;
	for (int i = 15; i >= 3; i -= 2)
		sum = (sum + 1) * (-x2 / (i * (i - 1)));
	return x + x * sum;
}

static double draw_value(
        enum tk_dist dist, uint64_t base, uint32_t tensor, uint64_t i, const double *nodes)
{
	uint64_t h;
	switch (dist) {
	case TK_DIST_UNIFORM:
		return (double)(tk_splitmix64(base + i) >> 11) * 0x1p-52 - 1;
	case TK_DIST_TRIG: /* sin(i), cos(i), ... by operand; 2^64 / (2 pi) is one radian */
		return turn_sine(i * 2935890503282001226ull + tensor * (1ull << 62));
	case TK_DIST_ZEROS:
		return 0;
	case TK_DIST_OUTLIERS: /* one value of 1024 is 32 times as large */
		h = tk_splitmix64(base + i);
		return to_normal(h, nodes) * ((h & 1023) == 0 ? 32 : 1);
	default:
		return to_normal(tk_splitmix64(base + i), nodes);
	}
}

/* ---- texts ---- */

/* Inputs that follow a text (dist=text:NAME): each row of A, or of Q, K and V, belongs to a token,
 * which has an embedding of random values of its own. The state after a token is its embedding plus
 * half of the state before it, scaled to a mean square of 1, as layers of models do: neighbours in
 * a text are alike, and a word that occurs again gives a similar row. A seeded matrix projects the
 * state to the columns of a tensor. All of it is a function of (tokens, seed, tensor, row, column),
 * in correctly rounded operations of fixed order. */

#define STATE 64 /* values of an embedding and of a state */
#define EMBEDDING_SEED UINT64_C(0x7465787400000000)
#define MEMORY 0.5f  /* share of the state before */
#define SCALE 0.125f /* 1 / sqrt(STATE): projected values have a variance of 1 */
#define COLUMNS 256  /* that are summed at once */
#define GRAIN_VALUES 65536

/* The text that was set last. */
static struct {
	char name[TK_TEXT_NAME_SIZE];
	float *states; /* [count][STATE] */
	size_t count;
} text;

static void embed(uint16_t token, const double *nodes, float *out)
{
	uint64_t base = tk_splitmix64(EMBEDDING_SEED + token);
	for (int j = 0; j < STATE; j++)
		out[j] = (float)to_normal(tk_splitmix64(base + (uint64_t)j), nodes);
}

/* sum is the state before scaling; an end of a document forgets it. */
static void add_state(uint16_t token, const double *nodes, float *sum, float *out)
{
	float embedding[STATE], squares = 0;
	embed(token, nodes, embedding);
	for (int j = 0; j < STATE; j++) {
		sum[j] = embedding[j] + (token ? MEMORY * sum[j] : 0);
		squares += sum[j] * sum[j];
	}
	float scale = SCALE / sqrtf(squares / STATE);
	for (int j = 0; j < STATE; j++)
		out[j] = sum[j] * scale;
}

int tk_text_inputs_set(const char *name, const uint16_t *tokens, size_t count, struct tk_error *err)
{
	float sum[STATE] = {0};
	if (strcmp(name, text.name) == 0)
		return TK_OK;
	if (count == 0 || strlen(name) >= sizeof text.name)
		return tk_fail(err, TK_EDATA, "text:%.64s has no tokens", name);
	float *states = tk_malloc(count * STATE * sizeof *states);
	double *nodes = make_nodes(count * STATE);
	for (size_t i = 0; i < count; i++)
		add_state(tokens[i], nodes, sum, states + i * STATE);
	free(nodes);
	free(text.states);
	text.states = states;
	text.count = count;
	strcpy(text.name, name);
	return TK_OK;
}

static bool is_from_text(const struct tk_problem_spec *p, uint32_t tensor)
{
	if (p->dist != TK_DIST_TEXT)
		return false;
	return p->abi.op == TK_OP_GEMM ? tensor == TK_T_A : tensor <= TK_T_V;
}

/* A tensor as a matrix: rows belong to tokens. */
struct matrix {
	uint32_t dtype;
	int64_t rows, columns;
	int64_t block_rows; /* of a batch; its elements follow those of the batch before */
	int64_t row_stride, column_stride;
	const float *projection; /* [STATE][columns] */
	void *data;
};

static void describe(const struct tk_problem_spec *p, const struct tk_tensor *t, struct matrix *m)
{
	const struct tk_gemm *g = &p->gemm;
	bool is_gemm = p->abi.op == TK_OP_GEMM, is_transposed = is_gemm && g->ta;
	*m = (struct matrix){.dtype = t->dtype};
	if (is_gemm) {
		m->block_rows = g->m;
		m->rows = g->batch * g->m;
		m->columns = g->k;
	} else { /* [b][s][heads][d] */
		m->block_rows = t->dim[1];
		m->rows = t->dim[0] * t->dim[1];
		m->columns = t->dim[2] * t->dim[3];
	}
	m->row_stride = is_transposed ? 1 : m->columns;
	m->column_stride = is_transposed ? m->block_rows : 1;
}

static void fill_columns(const struct matrix *m, int64_t row, int64_t first, int64_t count)
{
	const float *state = text.states + (size_t)row % text.count * STATE;
	int64_t block = row / m->block_rows, in_block = row % m->block_rows;
	int64_t at = block * m->block_rows * m->columns + in_block * m->row_stride;
	float sum[COLUMNS] = {0};
	for (int j = 0; j < STATE; j++) {
		const float *weights = m->projection + j * m->columns + first;
		for (int64_t c = 0; c < count; c++)
			sum[c] += state[j] * weights[c];
	}
	for (int64_t c = 0; c < count; c++)
		tk_element_store(m->dtype, m->data, at + (first + c) * m->column_stride, sum[c]);
}

static void fill_rows(void *arg, int64_t first, int64_t count)
{
	const struct matrix *m = arg;
	for (int64_t row = first; row < first + count; row++)
		for (int64_t c = 0; c < m->columns; c += COLUMNS)
			fill_columns(
			        m, row, c, m->columns - c < COLUMNS ? m->columns - c : COLUMNS);
}

static float *make_projection(int64_t columns, uint64_t base)
{
	uint64_t count = (uint64_t)columns * STATE;
	float *w = tk_malloc(count * sizeof *w);
	double *nodes = make_nodes(count);
	for (uint64_t i = 0; i < count; i++)
		w[i] = (float)to_normal(tk_splitmix64(base + i), nodes);
	free(nodes);
	return w;
}

static int fill_from_text(const struct tk_problem_spec *p, uint32_t tensor, uint64_t seed,
        void *data, struct tk_error *err)
{
	struct tk_tensor tensors[TK_T_MAX];
	uint32_t count = 0;
	struct matrix m;
	TRY(tk_problem_list_tensors(p, tensors, &count, err));
	if (strcmp(text.name, p->dist_text) != 0)
		return tk_fail(err, TK_EDATA,
		        "the tokens of text:%s are missing; expected inputs/%s.tokens",
		        p->dist_text, p->dist_text);
	describe(p, &tensors[tensor], &m);
	float *projection =
	        make_projection(m.columns, tk_splitmix64(seed ^ tk_splitmix64(tensor + 1)));
	m.projection = projection;
	m.data = data;
	tk_parallel_for(m.rows, GRAIN_VALUES / m.columns + 1, fill_rows, &m);
	free(projection);
	return TK_OK;
}

/* ---- tensors ---- */

static int compare_i32(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

static bool contains(const int32_t *list, int64_t n, int32_t value)
{
	for (int64_t i = 0; i < n; i++)
		if (list[i] == value)
			return true;
	return false;
}

/* The blocks of one query: the first, its own and the one before it, as trained models choose them,
 * the rest at random without repetition (Floyd's sampling), ascending; -1 where there are too
 * few visible ones. */
static void choose_blocks(const struct tk_nsa *p, uint64_t key, int64_t query, int32_t *list)
{
	int64_t all = (p->s + p->block_size - 1) / p->block_size;
	int64_t visible = p->causal ? query / p->block_size + 1 : all,
	        diagonal = query / p->block_size, n = 0;
	int64_t want = p->selected_blocks < visible ? p->selected_blocks : visible;
	const int64_t fixed[] = {diagonal, 0, diagonal - 1};
	for (int i = 0; i < 3 && n < want; i++)
		if (fixed[i] >= 0 && !contains(list, n, (int32_t)fixed[i]))
			list[n++] = (int32_t)fixed[i];
	for (int64_t top = visible - (want - n); n < want; top++) {
		int32_t pick = (int32_t)(tk_splitmix64(key + (uint64_t)top) % (uint64_t)(top + 1));
		while (contains(list, n, pick))
			pick = (pick + 1) % (int32_t)visible;
		list[n++] = pick;
	}
	tk_sort(list, (size_t)n, sizeof *list, compare_i32);
	for (; n < p->selected_blocks; n++)
		list[n] = -1;
}

static void fill_blocks(const struct tk_nsa *p, uint64_t base, int32_t *data)
{
	for (int64_t row = 0; row < p->b * p->s * p->hkv; row++)
		choose_blocks(p, tk_splitmix64(base + (uint64_t)row), row / p->hkv % p->s,
		        data + row * p->selected_blocks);
}

struct fill_job {
	uint32_t dtype, tensor;
	enum tk_dist dist;
	uint64_t base, from; /* from: first element to fill */
	const double *nodes;
	void *data;
};

static void fill_part(void *arg, int64_t first, int64_t count)
{
	const struct fill_job *f = arg;
	first += (int64_t)f->from;
	for (int64_t i = first; i < first + count; i++)
		tk_element_store(f->dtype, f->data, i,
		        draw_value(f->dist, f->base, f->tensor, (uint64_t)i, f->nodes));
}

int tk_inputs_fill(const struct tk_problem_spec *problem, uint32_t tensor, uint64_t seed,
        void *data, struct tk_error *err)
{
	return tk_inputs_fill_from(problem, tensor, seed, 0, data, err);
}

int tk_inputs_fill_from(const struct tk_problem_spec *problem, uint32_t tensor, uint64_t seed,
        size_t filled, void *data, struct tk_error *err)
{
	struct tk_tensor t[TK_T_MAX];
	uint32_t count = 0;
	TRY(tk_problem_list_tensors(problem, t, &count, err));
	if (tensor >= count)
		return tk_fail(err, TK_EINTERNAL, "%s has no tensor %u", problem->text, tensor);
	uint64_t base = tk_splitmix64(seed ^ tk_splitmix64(tensor + 1));
	uint64_t n = t[tensor].bytes / tk_element_bytes(t[tensor].dtype);
	if (problem->abi.op == TK_OP_NSA && tensor == TK_T_BLOCKS) {
		fill_blocks(&problem->nsa, base, data);
		return TK_OK;
	}
	if (is_from_text(problem, tensor))
		return fill_from_text(problem, tensor, seed, data, err);
	uint64_t first = filled / tk_element_bytes(t[tensor].dtype);
	if (first >= n)
		return TK_OK;
	double *nodes = make_nodes(n);
	struct fill_job job = {t[tensor].dtype, tensor, problem->dist, base, first, nodes, data};
	tk_parallel_for((int64_t)(n - first), GRAIN, fill_part, &job);
	free(nodes);
	return TK_OK;
}
