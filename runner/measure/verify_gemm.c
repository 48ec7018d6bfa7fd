/* Verifies GEMM with Freivalds' method in double precision and with sampled entries.
 *
 * Freivalds (1977): C = A B is tested by l^T C = (l^T A) B with a random l, which costs three
 * matrix-vector products. The rows are combined in groups, over the shorter side of C, so that a
 * single wrong entry is larger than the rounding of its group. */
#include "base/base.h"
#include "measure/verify.h"
#include "reference.h"
#include <math.h>

#define GROUP_ROWS 256
#define GROUP_COST_MAX 268435456.0 /* multiply-adds on B: 2^28 */
#define ENTRIES 32
#define COLUMNS_GRAIN 64 /* columns that justify a thread */

/* A matrix of rows x cols whose element (r, c) is stored at base + r ld + c, or, transposed, at
 * base + c ld + r. */
struct view {
	const struct tk_tensor *t;
	int64_t base, ld, rows, cols;
	bool transposed;
};

static struct view view_of(
        const struct tk_tensor *t, int64_t batch, int64_t rows, int64_t cols, bool transposed)
{
	return (struct view){t, batch * t->dim[1] * t->dim[2], t->dim[2], rows, cols, transposed};
}

static double load(struct view v, int64_t row, int64_t column)
{
	return tk_element_load(v.t->dtype, v.t->data,
	        v.base + (v.transposed ? column * v.ld + row : row * v.ld + column));
}

static struct view transpose(struct view v)
{
	return (struct view){v.t, v.base, v.ld, v.cols, v.rows, !v.transposed};
}

static struct view rows_of(struct view v, int64_t first, int64_t count)
{
	v.base += v.transposed ? first : first * v.ld;
	v.rows = count;
	return v;
}

static struct view columns_of(struct view v, int64_t first, int64_t count)
{
	v.base += v.transposed ? first * v.ld : first;
	v.cols = count;
	return v;
}

/* Lines of a matrix are read in pieces that fit into the L1 cache. */
#define PIECE 512

struct combination {
	struct view v;
	const double *l;
	double *sum, *square;
};

static void combine_part(void *arg, int64_t first, int64_t count)
{
	const struct combination *k = arg;
	struct view v = columns_of(k->v, first, count);
	double line[PIECE], *sum = k->sum + first, *square = k->square + first;
	for (int64_t c = 0; c < count; c++)
		sum[c] = square[c] = 0;
	for (int64_t s = 0; s < (v.transposed ? v.cols : v.rows); s++) {
		int64_t n = v.transposed ? v.rows : v.cols;
		for (int64_t at = 0; at < n; at += PIECE) {
			int64_t len = n - at < PIECE ? n - at : PIECE;
			tk_elements_load(v.t->dtype, v.t->data, v.base + s * v.ld + at, len, line);
			for (int64_t i = 0; i < len; i++) {
				double x = line[i] * k->l[v.transposed ? at + i : s];
				sum[v.transposed ? s : at + i] += x;
				square[v.transposed ? s : at + i] += x * x;
			}
		}
	}
}

/* sum[c] = sum over r of l[r] M[r][c]; square[c] = sum over r of (l[r] M[r][c])^2 */
static void combine(struct view v, const double *l, double *sum, double *square)
{
	struct combination k = {v, l, sum, square};
	tk_parallel_for(v.cols, COLUMNS_GRAIN, combine_part, &k);
}

struct product {
	struct view v;
	int64_t groups;
	const double *w;
	double *y, *square;
};

static void multiply_piece(const struct product *k, struct view v, int64_t first, int64_t s,
        int64_t at, int64_t n, const double *line)
{
	for (int64_t i = 0; i < n; i++)
		k->square[first + (v.transposed ? s : at + i)] += line[i] * line[i];
	for (int64_t g = 0; g < k->groups; g++) {
		const double *wg = k->w + g * v.rows;
		double *yg = k->y + g * k->v.cols + first, dot = 0;
		if (v.transposed) {
			for (int64_t i = 0; i < n; i++)
				dot += wg[at + i] * line[i];
			yg[s] += dot;
		} else {
			for (int64_t i = 0; i < n; i++)
				yg[at + i] += wg[s] * line[i];
		}
	}
}

static void multiply_part(void *arg, int64_t first, int64_t count)
{
	const struct product *k = arg;
	struct view v = columns_of(k->v, first, count);
	double line[PIECE];
	for (int64_t c = 0; c < count; c++) {
		k->square[first + c] = 0;
		for (int64_t g = 0; g < k->groups; g++)
			k->y[g * k->v.cols + first + c] = 0;
	}
	for (int64_t s = 0; s < (v.transposed ? v.cols : v.rows); s++) {
		int64_t n = v.transposed ? v.rows : v.cols;
		for (int64_t at = 0; at < n; at += PIECE) {
			int64_t len = n - at < PIECE ? n - at : PIECE;
			tk_elements_load(v.t->dtype, v.t->data, v.base + s * v.ld + at, len, line);
			multiply_piece(k, v, first, s, at, len, line);
		}
	}
}

/* y[g][c] = sum over r of w[g][r] M[r][c] for all groups in one pass; square[c] = sum over r of
 * M[r][c]^2 */
static void multiply(struct view v, int64_t groups, const double *w, double *y, double *square)
{
	struct product k = {v, groups, w, y, square};
	tk_parallel_for(v.cols, COLUMNS_GRAIN, multiply_part, &k);
}

/* Relative error of one accumulated product, in units of |A_i| |B_j| (Euclidean norms). */
static double accumulation_error(const struct tk_gemm *p, enum tk_dist dist)
{
	double growth = 8 + (dist == TK_DIST_TRIG ? sqrt((double)p->k) : 0);
	double u = tk_element_roundoff(p->acc);
	bool fp8 = p->a == TK_E4M3 || p->a == TK_E5M2 || p->b == TK_E4M3 || p->b == TK_E5M2;
	bool narrow = fp8 || p->a == TK_F16 || p->a == TK_BF16 || p->a == TK_TF32;
	if (fp8)
		u = fmax(u, 0x1p-13);
	else if (narrow)
		u = fmax(u, 0x1p-22);
	return growth * u;
}

/* Half of the smallest subnormal of the result's type: the error of underflow. */
static double underflow_error(uint32_t dtype)
{
	switch (dtype) {
	case TK_F16:
		return 0x1p-25;
	case TK_E4M3:
		return 0x1p-10;
	case TK_E5M2:
		return 0x1p-17;
	default:
		return 0x1p-134;
	}
}

struct check {
	const struct tk_gemm *p;
	const struct tk_tensor *t;
	struct view a, b,
	        c; /* as checked: combined over the rows of c, which are the shorter side */
	bool swapped;
	int64_t groups, group_rows;
	double u_c, u_acc, tiny;
	double *l;            /* c.rows: random, never near zero */
	double *w;            /* groups x k */
	double *w_norm;       /* groups: Euclidean norm of the combined rows, term by term */
	double *y, *b_square; /* groups x c.cols, c.cols */
	double *sum, *square;
};

static void check_alloc(struct check *k)
{
	size_t longest = (size_t)(k->p->m > k->p->n ? k->p->m : k->p->n),
	       groups = (size_t)k->groups;
	longest = longest > (size_t)k->p->k ? longest : (size_t)k->p->k;
	k->l = tk_calloc((size_t)k->c.rows, sizeof(double));
	k->w = tk_calloc(groups * (size_t)k->p->k, sizeof(double));
	k->w_norm = tk_calloc(groups, sizeof(double));
	k->y = tk_calloc(groups * (size_t)k->c.cols, sizeof(double));
	k->b_square = tk_calloc((size_t)k->c.cols, sizeof(double));
	k->sum = tk_calloc(longest, sizeof(double));
	k->square = tk_calloc(longest, sizeof(double));
}

static void check_free(struct check *k)
{
	free(k->l);
	free(k->w);
	free(k->w_norm);
	free(k->y);
	free(k->b_square);
	free(k->sum);
	free(k->square);
}

static void set_views(struct check *k, int64_t batch)
{
	const struct tk_gemm *p = k->p;
	struct view a = view_of(&k->t[TK_T_A], batch, p->m, p->k, p->ta != 0);
	struct view b = view_of(&k->t[TK_T_B], batch, p->k, p->n, p->tb != 0);
	struct view c = view_of(&k->t[TK_T_C], batch, p->m, p->n, false);
	k->swapped = p->m > p->n;
	k->a = k->swapped ? transpose(b) : a;
	k->b = k->swapped ? transpose(a) : b;
	k->c = k->swapped ? transpose(c) : c;
}

static int64_t rows_in(const struct check *k, int64_t g)
{
	int64_t left = k->c.rows - g * k->group_rows;
	return left < k->group_rows ? left : k->group_rows;
}

/* The combination of A's rows, its product with B, and the norms that the tolerance needs. */
static void compute_expected(struct check *k)
{
	for (int64_t g = 0; g < k->groups; g++) {
		double total = 0;
		combine(rows_of(k->a, g * k->group_rows, rows_in(k, g)), k->l + g * k->group_rows,
		        k->sum, k->square);
		for (int64_t l = 0; l < k->p->k; l++) {
			k->w[g * k->p->k + l] = k->sum[l];
			total += k->square[l];
		}
		k->w_norm[g] = sqrt(total);
	}
	multiply(k->b, k->groups, k->w, k->y, k->b_square);
}

/* Rounding errors of a group's entries are independent of l, so their combination stays below 4
 * times its root of squares (Hoeffding's inequality; the errors are uniform in half a step, which
 * leaves 7 standard deviations). */
static void compare_group(struct tk_verify_state *v, struct check *k, int64_t g, int64_t batch)
{
	int64_t first = g * k->group_rows, rows = rows_in(k, g);
	combine(rows_of(k->c, first, rows), k->l + first, k->sum, k->square);
	for (int64_t j = 0; j < k->c.cols; j++) {
		double size = k->w_norm[g] * sqrt(k->b_square[j]);
		double tolerance = 4 * (k->u_c * sqrt(k->square[j]) + k->u_acc * size +
		                               k->tiny * 1.5 * sqrt((double)rows)) +
		                   0x1p-48 * size;
		double got = k->sum[j], want = k->y[g * k->c.cols + j];
		tk_verify_add_error(v, fabs(got - want), tolerance, size,
		        "%s %lld of C (batch %lld), %s %lld to %lld combined: got %g, expected %g",
		        k->swapped ? "row" : "column", (long long)j, (long long)batch,
		        k->swapped ? "columns" : "rows", (long long)first,
		        (long long)(first + rows - 1), got, want);
	}
}

static void compare_entry(
        struct tk_verify_state *v, const struct check *k, int64_t batch, int64_t i, int64_t j)
{
	const struct tk_gemm *p = k->p;
	int64_t row = k->swapped ? j : i, column = k->swapped ? i : j; /* as the views have them */
	double a2 = 0, b2 = 0, want = tk_reference_gemm_entry(p, k->t, batch, i, j);
	for (int64_t l = 0; l < p->k; l++) {
		double a = load(k->a, row, l), b = load(k->b, l, column);
		a2 += a * a;
		b2 += b * b;
	}
	double got = load(k->c, row, column), size = sqrt(a2 * b2);
	double tolerance = 1.01 * k->u_c * fmax(fabs(got), fabs(want)) + k->u_acc * size + k->tiny +
	                   0x1p-48 * size;
	tk_verify_add_error(v, fabs(got - want), tolerance, size,
	        "C[%lld][%lld][%lld]: got %g, expected %g", (long long)batch, (long long)i,
	        (long long)j, got, want);
}

static void check_batch(struct tk_verify_state *v, struct check *k, int64_t batch)
{
	const struct tk_gemm *p = k->p;
	set_views(k, batch);
	for (int64_t i = 0; i < k->c.rows; i++) {
		uint64_t h = tk_verify_next_random(v);
		k->l[i] = (h & 1 ? 1 : -1) * (0.5 + (double)(h >> 11) * 0x1p-53);
	}
	compute_expected(k);
	for (int64_t g = 0; g < k->groups; g++)
		compare_group(v, k, g, batch);
	for (int n = 0; n < ENTRIES + 4; n++) {
		int64_t i = n < 4 ? (n & 1) * (p->m - 1)
		                  : (int64_t)(tk_verify_next_random(v) % (uint64_t)p->m);
		int64_t j = n < 4 ? (n >> 1) * (p->n - 1)
		                  : (int64_t)(tk_verify_next_random(v) % (uint64_t)p->n);
		compare_entry(v, k, batch, i, j);
	}
	v->out->checked += k->groups * k->c.cols + ENTRIES + 4;
}

/* The engine leaves zeros between the rows of C; a kernel writes nothing there. */
static void check_padding(struct tk_verify_state *v, const struct tk_tensor *c, int64_t columns)
{
	const size_t element = tk_dtype_bytes(c->dtype), row = (size_t)c->dim[2] * element,
	             used = (size_t)columns * element;
	const unsigned char *data = c->data;
	for (size_t at = 0; at < c->bytes; at += row)
		for (size_t i = used; i < row; i++)
			if (data[at + i]) {
				tk_verify_add_error(v, 1, 0, 1,
				        "the kernel wrote into the padding of row %zu of C",
				        at / row);
				return;
			}
}

void tk_verify_gemm(struct tk_verify_state *v, const struct tk_gemm *p, enum tk_dist dist,
        const struct tk_tensor *t)
{
	struct check k = {.p = p,
	        .t = t,
	        .u_c = tk_element_roundoff(p->c),
	        .u_acc = accumulation_error(p, dist),
	        .tiny = underflow_error(p->c)};
	snprintf(v->out->method, sizeof v->out->method, "freivalds+entries");
	set_views(&k, 0);
	k.groups = (k.c.rows + GROUP_ROWS - 1) / GROUP_ROWS;
	while (k.groups > 1 &&
	        (double)k.groups * (double)p->k * (double)k.c.cols * (double)p->batch >
	                GROUP_COST_MAX)
		k.groups = (k.groups + 1) / 2;
	k.group_rows = (k.c.rows + k.groups - 1) / k.groups;
	k.groups = (k.c.rows + k.group_rows - 1) / k.group_rows;
	check_alloc(&k);
	for (int64_t batch = 0; batch < p->batch; batch++)
		check_batch(v, &k, batch);
	check_free(&k);
	check_padding(v, &t[TK_T_C], p->n);
}
