/* The jobs of a night before they are stored. Private to nightly/. */
#ifndef TK_NIGHTLY_JOB_LIST_H
#define TK_NIGHTLY_JOB_LIST_H
#include "store/store.h"
#include <stddef.h>
#include <stdint.h>

struct tk_error;

/* Grows by adding. The strings of the rows belong to the list. Until tk_plan_order_jobs numbers the
 * jobs, `seq` is the problem's `last` (share.h). */
struct tk_job_list {
	struct tk_job_row *rows;
	size_t count, cap;
};

/* An empty backend_path is a failed build: there is nothing to run. options may be NULL. */
int tk_job_list_add(struct tk_job_list *list, int64_t series_id, int64_t build_id,
        const char *backend_path, const char *options, struct tk_error *err);
void tk_job_list_free(struct tk_job_list *list);

/* Appends to *out: the ceilings, then the suite jobs in a random order, those with a `last`
 * after all others and problem by problem. The controls run before the first suite job, after
 * every `every` of them, and at the end. One seed gives one order. */
int tk_plan_order_jobs(const struct tk_job_list *suite, const struct tk_job_list *ceilings,
        const struct tk_job_list *controls, uint32_t every, uint64_t seed, struct tk_job_list *out,
        struct tk_error *err);

#endif
