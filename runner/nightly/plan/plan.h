/* The jobs of a night before they are stored: what is measured, in which order. Private to
 * nightly/. */
#ifndef TK_PLAN_H
#define TK_PLAN_H
#include "store/store.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_error;
struct tk_night;
struct tk_problem_spec;

struct tk_plan_problem {
	int64_t id;
	double seconds; /* that it takes, roughly */
	int64_t last;   /* its place among those that are measured at the end, from 1; 0: it is not
	                   one of them */
};

/* A growing list of jobs; `memory` of the strings belongs to the list. `seq` is given by
 * tk_plan_order_jobs; before that it may be the `last` of the problem. */
struct tk_job_list {
	struct tk_job_row *rows;
	size_t count, cap;
};

int tk_job_list_add(struct tk_job_list *list, int64_t series_id, int64_t build_id,
        const char *backend_path, const char *options, struct tk_error *err);
void tk_job_list_free(struct tk_job_list *list);

/* Suite jobs in a seeded random order, those of problems that are `last` after all others and
 * problem by problem; the ceilings first, the control at the start, after every `every` jobs, and
 * at the end. */
int tk_plan_order_jobs(const struct tk_job_list *suite, const struct tk_job_list *ceilings,
        const struct tk_job_list *controls, uint32_t every, uint64_t seed, struct tk_job_list *out,
        struct tk_error *err);

double tk_plan_estimate_seconds(const struct tk_problem_spec *p);
/* Shares the problems among like devices: mine[device * count + problem], false before. What is new
 * and short is `last`, the shortest at the end: one device can still take it over from another when
 * the night is nearly done. */
int tk_plan_share_problems(struct tk_night *n, struct tk_plan_problem *problems, size_t count,
        bool *mine, struct tk_error *err);

#endif
