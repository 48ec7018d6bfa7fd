/* Native sparse attention against the reference: lists with gaps and repetitions, cut blocks, the
 * window, groups. */
#include "reference.h"
#include "subject.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct subject *subjects;

/* Every third entry is -1; where `causal`, mostly blocks in the past, but some of the future, which
 * must be cut. */
static void list_blocks(const struct tk_nsa *n, int32_t *list)
{
	int64_t blocks = (n->s + n->block_size - 1) / n->block_size,
	        total = n->b * n->s * n->hkv * n->selected_blocks;
	uint64_t seed = 77;
	for (int64_t i = 0; i < total; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		list[i] = i % 3 == 2 ? -1 : (int32_t)((seed >> 33) % (uint64_t)blocks);
	}
}

static int check(const struct tk_nsa *n, bool nothing_selected)
{
	struct tk_problem p = {.size = sizeof(p), .op = TK_OP_NSA, .text = "nsa:test", .nsa = n};
	int64_t rows = n->b * n->s, ran = 0;
	struct tk_tensor t[5] = {tensor_new(n->dtype, false, rows * n->h * n->d),
	        tensor_new(n->dtype, false, rows * n->hkv * n->d),
	        tensor_new(n->dtype, false, rows * n->hkv * n->d),
	        tensor_new(n->dtype, true, rows * n->h * n->d),
	        tensor_new(TK_I32, false, rows * n->hkv * n->selected_blocks)};
	struct tk_tensor want[5];
	for (int i = 0; i < 3; i++)
		tensor_random(&t[i], (uint64_t)(20 + i));
	list_blocks(n, t[TK_T_BLOCKS].data);
	if (nothing_selected)
		memset(t[TK_T_BLOCKS].data, 0xff, t[TK_T_BLOCKS].bytes);
	memcpy(want, t, sizeof(want));
	want[TK_T_NSA_O] = tensor_new(TK_F64, true, rows * n->h * n->d);
	assert_int_equal(tk_reference_nsa(n, want), 0);
	for (struct subject *s = subjects; s->module; s++) {
		if (subject_run(s, &p, NULL, t, 5))
			continue;
		for (int64_t i = 0; i < rows * n->h * n->d; i++) {
			double x = tk_element_load(n->dtype, t[TK_T_NSA_O].data, i),
			       y = tk_element_load(TK_F64, want[TK_T_NSA_O].data, i);
			if (!(fabs(x - y) <= 8e-6 + 1.01 * tk_element_roundoff(n->dtype) * fabs(y)))
				fail_msg("%s: s=%d d=%d h=%d/%d block=%d window=%d causal=%d: "
				         "element %d is %.9g, "
				         "expected %.9g",
				        s->options, (int)n->s, (int)n->d, (int)n->h, (int)n->hkv,
				        (int)n->block_size, (int)n->window, n->causal, (int)i, x,
				        y);
		}
		ran++;
	}
	for (int i = 0; i < 5; i++)
		tensor_free(&t[i]);
	tensor_free(&want[TK_T_NSA_O]);
	return (int)ran;
}

static struct tk_nsa nsa(int64_t b, int64_t h, int64_t hkv, int64_t s, int64_t d,
        int64_t block_size, int64_t selected, int64_t window)
{
	return (struct tk_nsa){.size = sizeof(struct tk_nsa),
	        .b = b,
	        .h = h,
	        .hkv = hkv,
	        .s = s,
	        .d = d,
	        .block_size = block_size,
	        .selected_blocks = selected,
	        .window = window,
	        .dtype = TK_F32,
	        .causal = 1,
	        .scale = 1 / sqrt((double)d)};
}

static void all_shapes(void **state)
{
	const struct tk_nsa shapes[] = {nsa(1, 1, 1, 1, 1, 1, 1, 0),
	        nsa(1, 16, 1, 100, 24, 16, 4, 0), nsa(2, 8, 2, 67, 16, 32, 3, 20),
	        nsa(1, 20, 1, 150, 40, 64, 2, 70), nsa(1, 40, 2, 33, 8, 7, 5, 1),
	        nsa(1, 2, 2, 140, 16, 100, 2, 200)};
	static const uint32_t types[] = {TK_F32, TK_F16, TK_BF16};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (int causal = 0; causal < 2; causal++)
			for (int type = 0; type < 3; type++) {
				struct tk_nsa n = shapes[i];
				n.causal = causal;
				n.dtype = types[type];
				assert_true(check(&n, false) >= 2);
			}
}

static void nothing_selected(void **state)
{
	struct tk_nsa n = nsa(1, 4, 1, 50, 16, 16, 3, 0);
	assert_true(check(&n, true) >= 2); /* zeros */
	n.window = 9;
	assert_true(check(&n, true) >= 2); /* the window alone */
}

static int open_all(void **state)
{
	subjects = subjects_open();
	return 0;
}

static int close_all(void **state)
{
	subjects_close(subjects);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_shapes),
	        cmocka_unit_test(nothing_selected),
	};
	return cmocka_run_group_tests_name("kernels_nsa", tests, open_all, close_all);
}
