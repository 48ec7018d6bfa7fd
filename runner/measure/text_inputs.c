/* See text_inputs.h. A token has an embedding of random values of its own. The state after a token
 * is its embedding plus half of the state before it, scaled to a mean square of 1, as layers of
 * models do: neighbours in a text are alike, and a word that occurs again gives a similar row. A
 * seeded matrix projects the state to the columns of a tensor. All of it is a function of (tokens,
 * seed, tensor, row, column), in correctly rounded operations of fixed order (this file is compiled
 * without contraction to fma). */
#include "measure/text_inputs.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/try.h"
#include "element.h"
#include "measure/measure.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
		out[j] = (float)tk_inputs_normal(tk_splitmix64(base + (uint64_t)j), nodes);
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
	double *nodes = tk_inputs_make_nodes(count * STATE);
	for (size_t i = 0; i < count; i++)
		add_state(tokens[i], nodes, sum, states + i * STATE);
	free(nodes);
	free(text.states);
	text.states = states;
	text.count = count;
	strcpy(text.name, name);
	return TK_OK;
}

bool tk_text_inputs_cover(const struct tk_problem_spec *p, uint32_t tensor)
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
	double *nodes = tk_inputs_make_nodes(count);
	for (uint64_t i = 0; w && i < count; i++)
		w[i] = (float)tk_inputs_normal(tk_splitmix64(base + i), nodes);
	free(nodes);
	return w;
}

int tk_text_inputs_fill(const struct tk_problem_spec *p, uint32_t tensor, uint64_t seed, void *data,
        struct tk_error *err)
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
