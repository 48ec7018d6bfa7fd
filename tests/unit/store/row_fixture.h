/* A filled history for each test of rows, and reading the one row of a list. */
#ifndef TK_TEST_ROW_FIXTURE_H
#define TK_TEST_ROW_FIXTURE_H
#include "base/base.h"
#include "history.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_ONE(type, row, call) \
	struct tk_rows row##_list = {0}; \
	{ \
		struct tk_rows *out = &row##_list; \
		MUST(call); \
	} \
	assert_int_equal(row##_list.count, 1); \
	const struct type *row = TK_ROWS_AT(&row##_list, struct type, 0)

#define TEST(f) cmocka_unit_test_setup_teardown(f, history_set_up, history_tear_down)

#endif
