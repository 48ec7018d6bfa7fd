/* The look of every backend in charts: a colour and a shape that are the same on all pages. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "site_gen/model/model_internal.h"

/* Vendors have a colour that readers expect: NVIDIA green, Intel blue, AMD red. A look that is
 * taken goes to the first name. */
static const struct {
	const char *prefix;
	size_t look;
} vendors[] = {{"cublas", 2}, {"cudnn", 0}, {"onednn", 0}, {"mkl", 0}, {"rocblas", 1},
        {"hipblas", 1}, {"openblas", 1}};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t find_preferred(const char *name)
{
	for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
		if (!strncmp(name, vendors[i].prefix, strlen(vendors[i].prefix)))
			return vendors[i].look;
	return SIZE_MAX;
}

/* Vendors first, then the others by name into the looks that are left. */
static void choose_looks(const char *const *names, size_t count, size_t *looks, bool *is_taken)
{
	for (size_t i = 0; i < count; i++) {
		size_t wanted = find_preferred(names[i]);
		looks[i] = wanted != SIZE_MAX && !is_taken[wanted] ? wanted : SIZE_MAX;
		if (looks[i] != SIZE_MAX)
			is_taken[wanted] = true;
	}
	for (size_t i = 0, next = 0; i < count; i++) {
		while (looks[i] == SIZE_MAX && is_taken[next])
			next++;
		if (looks[i] == SIZE_MAX) {
			looks[i] = next;
			is_taken[next] = true;
		}
	}
}

/* Controls and ceilings are in no chart with others. */
static bool is_drawn(const struct tk_site_series *s)
{
	return tk_series_is_suite_time(s) && tk_series_has_result(s);
}

static size_t remove_repeated(const char **names, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (!kept || strcmp(names[kept - 1], names[i]))
			names[kept++] = names[i];
	return kept;
}

int tk_model_assign_looks(struct tk_model *m, struct tk_error *err)
{
	size_t count = 0, all = m->series_count + 1;
	const char **names = tk_malloc(all * sizeof *names);
	size_t *looks = tk_malloc(all * sizeof *looks);
	bool *is_taken = tk_calloc(all + TK_STYLES, sizeof *is_taken);
	int status = 0;
	for (size_t i = 0; !status && i < m->series_count; i++)
		if (is_drawn(&m->series[i]))
			names[count++] = m->series[i].variant;
	if (count)
		qsort(names, count, sizeof *names, compare_names);
	count = remove_repeated(names, count);
	if (!status)
		choose_looks(names, count, looks, is_taken);
	for (size_t i = 0; !status && i < m->series_count; i++) {
		const char *key = m->series[i].variant;
		const char **found = bsearch(&key, names, count, sizeof *names, compare_names);
		m->series[i].look = found ? looks[found - names] : 0;
	}
	free(names);
	free(looks);
	free(is_taken);
	return status;
}
