/* The control: a GEMM that never changes, so that a change of its time comes from the machine,
 * never from code.
 *
 * One thread, no instruction set beyond the baseline, its own compiler flags (CMakeLists.txt): what
 * it compiles to depends on this file and control.h alone. Do not improve it: an edit here breaks
 * the history of every machine. */
#define CONTROL_NAME "control"
#define CONTROL_KIND "cpu"
#define CONTROL_TEXT \
	"a GEMM whose code never changes: tells the machine's drift from a kernel's change"
#define CONTROL_CAPTURABLE 0
#include "../control.h"

static const char *control_reject_reason(const struct tk_gemm *g)
{
	return NULL;
}

static int control_run(const struct tk_gemm *g, const struct control_operands *t, void *stream,
        struct tk_abi_error *err)
{
	const int64_t a_row = g->ta ? 1 : g->k, a_step = g->ta ? g->m : 1,
	              b_step = g->tb ? 1 : g->n, b_column = g->tb ? g->k : 1;
	for (int64_t x = 0; x < g->batch; x++) {
		const float *a = t->a + x * g->m * g->k, *b = t->b + x * g->k * g->n;
		float *c = t->c + x * g->m * g->n;
		for (int64_t i = 0; i < g->m; i++, c += g->n) {
			memset(c, 0, (size_t)g->n * sizeof(*c));
			for (int64_t p = 0; p < g->k; p++) {
				const float factor = a[i * a_row + p * a_step];
				for (int64_t j = 0; j < g->n; j++)
					c[j] += factor * b[p * b_step + j * b_column];
			}
		}
	}
	return TK_ABI_OK;
}
