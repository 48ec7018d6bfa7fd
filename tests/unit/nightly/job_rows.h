/* Rows of a small job catalog: problems 21 and 22, build 31, and how to write series. */
#ifndef TEST_JOB_ROWS_H
#define TEST_JOB_ROWS_H
#include "nightly/schedule/job_catalog.h"

static struct tk_problem_row problems[] = {{.id = 21}, {.id = 22}};
static struct tk_build_row builds[] = {{.id = 31}};

#define SERIES(number, device, problem) \
	{ \
		.id = (number), .device_id = (device), .problem_id = (problem), \
		.role = TK_ROLE_SUITE, .backend = "b", .config = "", .mode = "cold", \
		.metric = "time" \
	}
#define ROWS(array) \
	{ \
		.rows = (array), .count = sizeof(array) / sizeof *(array) \
	}

#endif
