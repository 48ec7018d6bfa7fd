/* Attention and native sparse attention, one query row at a time: list the visible keys, score,
 * softmax, sum. */
#include "reference.h"
#include <math.h>
#include <stdlib.h>

int tk_reference_row_init(struct tk_reference_row *row, int64_t keys, int64_t width)
{
	size_t n = keys > 0 ? (size_t)keys : 1, w = width > 0 ? (size_t)width : 1;
	*row = (struct tk_reference_row){.key = calloc(n, sizeof *row->key),
	        .score = calloc(n, sizeof(double)),
	        .weight = calloc(n, sizeof(double)),
	        .out = calloc(w, sizeof(double)),
	        .vector = calloc(w, sizeof(double)),
	        .query = calloc(w, sizeof(double))};
	if (row->key && row->score && row->weight && row->out && row->vector && row->query)
		return 0;
	tk_reference_row_free(row);
	return -1;
}

void tk_reference_row_free(struct tk_reference_row *row)
{
	if (!row)
		return;
	free(row->key);
	free(row->score);
	free(row->weight);
	free(row->out);
	free(row->vector);
	free(row->query);
	*row = (struct tk_reference_row){0};
}

/* Where row s of head h of batch b starts in a tensor [b][rows][heads][width]. */
static int64_t row_start(
        int64_t b, int64_t rows, int64_t s, int64_t heads, int64_t h, int64_t width)
{
	return ((b * rows + s) * heads + h) * width;
}

struct heads {
	uint32_t dtype;
	int64_t b, kv_rows, kv_heads, kv_head, d, dv;
	double scale;
};

/* row->key[0 .. count-1] and row->query are set. The maximum is subtracted before exp, so that exp
 * cannot overflow. */
static void attend(const struct heads *s, const struct tk_tensor *t, struct tk_reference_row *row)
{
	double top = -INFINITY, sum = 0;
	for (int64_t x = 0; x < s->dv; x++)
		row->out[x] = 0;
	row->lse = -INFINITY;
	for (int64_t j = 0; j < row->count; j++) {
		double dot = 0;
		tk_elements_load(s->dtype, t[TK_T_K].data,
		        row_start(s->b, s->kv_rows, row->key[j], s->kv_heads, s->kv_head, s->d),
		        s->d, row->vector);
		for (int64_t x = 0; x < s->d; x++)
			dot += row->query[x] * row->vector[x];
		row->score[j] = dot * s->scale;
		top = fmax(top, row->score[j]);
	}
	for (int64_t j = 0; j < row->count; j++)
		sum += row->weight[j] = exp(row->score[j] - top);
	if (row->count == 0)
		return;
	row->lse = top + log(sum);
	for (int64_t j = 0; j < row->count; j++) {
		row->weight[j] /= sum;
		tk_elements_load(s->dtype, t[TK_T_V].data,
		        row_start(s->b, s->kv_rows, row->key[j], s->kv_heads, s->kv_head, s->dv),
		        s->dv, row->vector);
		for (int64_t x = 0; x < s->dv; x++)
			row->out[x] += row->weight[j] * row->vector[x];
	}
}

void tk_reference_attention_row(const struct tk_attention *p, const struct tk_tensor *t, int64_t b,
        int64_t h, int64_t i, struct tk_reference_row *row)
{
	struct heads s = {p->dtype, b, p->skv, p->hkv, h / (p->h / p->hkv), p->d, p->dv, p->scale};
	int64_t visible = p->causal ? i + p->skv - p->sq + 1 : p->skv;
	row->count = visible < 0 ? 0 : visible;
	for (int64_t j = 0; j < row->count; j++)
		row->key[j] = j;
	tk_elements_load(
	        p->dtype, t[TK_T_Q].data, row_start(b, p->sq, i, p->h, h, p->d), p->d, row->query);
	attend(&s, t, row);
}

int tk_reference_attention(const struct tk_attention *p, const struct tk_tensor *t)
{
	struct tk_reference_row row;
	if (tk_reference_row_init(&row, p->skv, p->d > p->dv ? p->d : p->dv))
		return -1;
	for (int64_t b = 0; b < p->b; b++)
		for (int64_t h = 0; h < p->h; h++)
			for (int64_t i = 0; i < p->sq; i++) {
				tk_reference_attention_row(p, t, b, h, i, &row);
				for (int64_t x = 0; x < p->dv; x++)
					tk_element_store(t[TK_T_O].dtype, t[TK_T_O].data,
					        row_start(b, p->sq, i, p->h, h, p->dv) + x,
					        row.out[x]);
				if (t[TK_T_LSE].data)
					tk_element_store(t[TK_T_LSE].dtype, t[TK_T_LSE].data,
					        (b * p->h + h) * p->sq + i, row.lse);
			}
	tk_reference_row_free(&row);
	return 0;
}

int64_t tk_reference_nsa_max_keys(const struct tk_nsa *p)
{
	int64_t selected = p->selected_blocks * p->block_size,
	        window = p->window < p->s ? p->window : p->s;
	return selected > window ? selected : window;
}

static void list_selected(const struct tk_nsa *p, const struct tk_tensor *t, int64_t b,
        int64_t kv_head, int64_t i, struct tk_reference_row *row)
{
	int64_t list = ((b * p->s + i) * p->hkv + kv_head) * p->selected_blocks;
	int64_t end = p->causal ? i + 1 : p->s;
	for (int64_t n = 0; n < p->selected_blocks; n++) {
		int64_t block = (int64_t)tk_element_load(TK_I32, t[TK_T_BLOCKS].data, list + n);
		if (block < 0)
			continue;
		for (int64_t j = block * p->block_size; j < (block + 1) * p->block_size && j < end;
		        j++)
			row->key[row->count++] = j;
	}
}

void tk_reference_nsa_row(const struct tk_nsa *p, const struct tk_tensor *t, int64_t b, int64_t h,
        int64_t i, enum tk_reference_branch branch, struct tk_reference_row *row)
{
	struct heads s = {p->dtype, b, p->s, p->hkv, h / (p->h / p->hkv), p->d, p->d, p->scale};
	row->count = 0;
	if (branch == TK_REFERENCE_SELECTED)
		list_selected(p, t, b, s.kv_head, i, row);
	else
		for (int64_t j = i + 1 > p->window ? i + 1 - p->window : 0; j <= i && p->window > 0;
		        j++)
			row->key[row->count++] = j;
	tk_elements_load(
	        p->dtype, t[TK_T_Q].data, row_start(b, p->s, i, p->h, h, p->d), p->d, row->query);
	attend(&s, t, row);
}

static void nsa_store(const struct tk_nsa *p, const struct tk_tensor *t, int64_t b, int64_t h,
        int64_t i, const struct tk_reference_row *selected, const struct tk_reference_row *window)
{
	for (int64_t x = 0; x < p->d; x++)
		tk_element_store(t[TK_T_NSA_O].dtype, t[TK_T_NSA_O].data,
		        row_start(b, p->s, i, p->h, h, p->d) + x,
		        selected->out[x] + window->out[x]);
}

int tk_reference_nsa(const struct tk_nsa *p, const struct tk_tensor *t)
{
	struct tk_reference_row selected = {0}, window = {0};
	int64_t keys = tk_reference_nsa_max_keys(p);
	int status = tk_reference_row_init(&selected, keys, p->d) ||
	                             tk_reference_row_init(&window, keys, p->d)
	                     ? -1
	                     : 0;
	for (int64_t b = 0; !status && b < p->b; b++)
		for (int64_t h = 0; h < p->h; h++)
			for (int64_t i = 0; i < p->s; i++) {
				tk_reference_nsa_row(
				        p, t, b, h, i, TK_REFERENCE_SELECTED, &selected);
				tk_reference_nsa_row(p, t, b, h, i, TK_REFERENCE_WINDOW, &window);
				nsa_store(p, t, b, h, i, &selected, &window);
			}
	tk_reference_row_free(&selected);
	tk_reference_row_free(&window);
	return status;
}
