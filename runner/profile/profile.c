/* Finding a profiler, and sums over what it recorded. */
#include "profile/profile.h"

#include "base/process.h"

#include <math.h>
#include <unistd.h>

const char *const tk_profile_memory_names[TK_PROFILE_MEMORIES] = {"DRAM", "L2", "L1"};

void tk_profile_free(struct tk_profile *p)
{
	free(p->kernels);
	*p = (struct tk_profile){0};
}

static int compare_stalls(const void *a, const void *b)
{
	double x = ((const struct tk_profile_stall *)a)->cycles;
	double y = ((const struct tk_profile_stall *)b)->cycles;
	return (x < y) - (x > y);
}

void tk_profile_sort_stalls(struct tk_profile_kernel *k)
{
	tk_sort(k->stalls, k->stall_count, sizeof *k->stalls, compare_stalls);
}

double tk_profile_sum_time_ns(const struct tk_profile *p)
{
	double sum = p->count ? 0 : NAN;
	for (size_t i = 0; i < p->count; i++)
		sum += p->kernels[i].time_ns;
	return sum;
}

double tk_profile_sum_bytes(const struct tk_profile *p, enum tk_profile_memory memory)
{
	double sum = p->count ? 0 : NAN;
	for (size_t i = 0; i < p->count; i++)
		sum += p->kernels[i].bytes[memory];
	return sum;
}

double tk_profile_mean_tensor_share(const struct tk_profile *p)
{
	double sum = 0;
	for (size_t i = 0; i < p->count; i++)
		sum += p->kernels[i].tensor_share * p->kernels[i].time_ns;
	return sum / tk_profile_sum_time_ns(p);
}

int tk_profiler_find(const struct tk_profiler *p, char **path, struct tk_error *err)
{
	if (tk_process_find_program(p->name, path))
		return TK_OK;
	if (access(p->installed, X_OK) == 0) {
		*path = tk_strdup(p->installed);
		return TK_OK;
	}
	return tk_fail(err, TK_ENOTFOUND, "no %s (%s) in PATH, nor at %s; it comes with %s",
	        p->name, p->product, p->installed, p->toolkit);
}
