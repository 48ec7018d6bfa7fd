/* See space.h. */
#include "space.h"
#include "gpu_backend.h"

static int compare_values(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* The distinct values of parameter `index` in the manifests of the problem, in ascending order. */
static uint32_t list_values(
        const struct launcher_package *p, const char *problem, uint32_t index, int64_t *out)
{
	uint32_t count = 0, distinct = 0;
	for (uint32_t i = 0; i < p->count; i++)
		if (strcmp(p->manifests[i]->problem, problem) == 0)
			out[count++] = p->manifests[i]->parameters[index].value;
	qsort(out, count, sizeof *out, compare_values);
	for (uint32_t i = 0; i < count; i++)
		if (!distinct || out[distinct - 1] != out[i])
			out[distinct++] = out[i];
	return distinct;
}

int launcher_space_make(struct launcher_space *s, const struct launcher_package *p,
        const char *problem, struct tk_abi_error *err)
{
	const struct launcher_manifest *first = NULL;
	for (uint32_t i = 0; i < p->count && !first; i++)
		if (strcmp(p->manifests[i]->problem, problem) == 0)
			first = p->manifests[i];
	if (!first || !first->parameter_count)
		return fail(err, TK_ABI_UNSUPPORTED,
		        "the package names no parameters for this problem");
	launcher_space_free(s);
	s->values = calloc((size_t)first->parameter_count * p->count, sizeof *s->values);
	if (!s->values)
		return fail(err, TK_ABI_NO_MEMORY, "no memory for the space of configurations");
	for (uint32_t i = 0; i < first->parameter_count; i++) {
		int64_t *values = s->values + (size_t)i * p->count;
		s->best[i] = first->parameters[i].value;
		s->parameters[i] = (struct tk_parameter){.name = first->parameters[i].name,
		        .values = values,
		        .count = list_values(p, problem, i, values)};
	}
	s->tk_space = (struct tk_space){.size = sizeof s->tk_space,
	        .count = first->parameter_count,
	        .parameters = s->parameters,
	        .best = s->best};
	return TK_ABI_OK;
}

void launcher_space_free(struct launcher_space *s)
{
	free(s->values);
	s->values = NULL;
}

bool launcher_space_has(
        const struct launcher_package *p, const char *problem, const int64_t *values)
{
	for (uint32_t i = 0; i < p->count; i++) {
		const struct launcher_manifest *m = p->manifests[i];
		uint32_t k = 0;
		if (strcmp(m->problem, problem) != 0)
			continue;
		while (k < m->parameter_count && m->parameters[k].value == values[k])
			k++;
		if (k && k == m->parameter_count)
			return true;
	}
	return false;
}
