/* Several threads ask for the kernels of builds: each build is read once, and all get the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/parallel.h"
#include "detect/history/build_code.h"
#include "world.h"

#define BUILDS 12
#define QUESTIONS 4800

struct questions {
	struct tk_store *store;
	struct tk_build_code *code;
	const int64_t *builds;
	const struct tk_rows **answers;
	_Atomic int status;
};

static void ask_part(void *arg, int64_t first, int64_t count)
{
	struct questions *q = arg;

	for (int64_t i = first; i < first + count; i++) {
		const int status = tk_build_code_find(
		        q->code, q->store, q->builds[i % BUILDS], &q->answers[i], NULL);

		if (status)
			q->status = status;
	}
}

static void builds_are_read_once(void **state)
{
	int64_t builds[BUILDS];
	struct world w;
	struct questions q = {.code = tk_build_code_new(), .builds = builds};

	(void)state;
	world_open(&w, NULL);
	for (int i = 0; i < BUILDS; i++) {
		char rev[16], hash[16];

		snprintf(rev, sizeof rev, "r%d", i);
		snprintf(hash, sizeof hash, "h%d", i);
		world_build(&w, rev, i + 1, "b", hash, "");
		builds[i] = w.build;
	}
	q.store = w.store;
	q.answers = calloc(QUESTIONS, sizeof *q.answers);
	assert_non_null(q.code);
	assert_non_null(q.answers);
	for (int round = 0; round < 2; round++) {
		tk_parallel_for(QUESTIONS, 1, ask_part, &q);
		assert_int_equal(q.status, TK_OK);
		for (int i = 0; i < QUESTIONS; i++) {
			char hash[16];

			snprintf(hash, sizeof hash, "h%d", i % BUILDS);
			assert_ptr_equal(q.answers[i], q.answers[i % BUILDS]);
			assert_int_equal(q.answers[i]->count, 1);
			assert_string_equal(
			        TK_ROWS_AT(q.answers[i], struct tk_kernel_row, 0)->code_hash, hash);
		}
		tk_build_code_clear(q.code);
	}
	tk_build_code_free(q.code);
	free(q.answers);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(builds_are_read_once),
	};

	return cmocka_run_group_tests_name("detect build code", tests, NULL, NULL);
}
