/* Host tensors of a problem for the tests of measure/, filled with seeded inputs. */
#ifndef TEST_MEASURE_HOST_H
#define TEST_MEASURE_HOST_H
#include "core/problem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct host {
	struct tk_problem_spec problem;
	struct tk_tensor t[TK_T_MAX];
	uint32_t count;
};

static inline void host_free(struct host *h)
{
	for (uint32_t i = 0; i < h->count; i++)
		free(h->t[i].data);
	h->count = 0;
}

static inline void host_shape(struct host *h, const char *text)
{
	struct tk_error err = {0};
	memset(h, 0, sizeof *h);
	if (tk_problem_parse(&h->problem, text, &err) ||
	        tk_problem_list_tensors(&h->problem, h->t, &h->count, &err))
		fail_msg("%s: %s", text, err.message);
	for (uint32_t i = 0; i < h->count; i++) {
		h->t[i].data = malloc(h->t[i].bytes);
		memset(h->t[i].data, 0xff, h->t[i].bytes);
	}
}
#endif
