#include "cli/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Every row that has an id has it as its first member. */
static int64_t row_id(const void *row)
{
	int64_t id;

	memcpy(&id, row, sizeof id);
	return id;
}

static int compare_ids(const void *a, const void *b)
{
	int64_t x = row_id(a), y = row_id(b);

	return (x > y) - (x < y);
}

static const void *find(const struct tk_rows *list, size_t size, int64_t id)
{
	return list->count ? bsearch(&id, list->rows, list->count, size, compare_ids) : NULL;
}

#define LOOKUP(name, list) \
	const struct tk_##name##_row *tk_lookup_##name(const struct tk_lookup *l, int64_t id) \
	{ \
		return find(&l->list, sizeof(struct tk_##name##_row), id); \
	}
LOOKUP(machine, machines)
LOOKUP(device, devices)
LOOKUP(environment, environments)
LOOKUP(upstream, upstreams)
LOOKUP(revision, revisions)
LOOKUP(build, builds)
LOOKUP(problem, problems)
LOOKUP(series, series)

const struct tk_revision_row *tk_lookup_build_revision(const struct tk_lookup *l, int64_t build_id)
{
	const struct tk_build_row *build = tk_lookup_build(l, build_id);

	return build ? tk_lookup_revision(l, build->revision_id) : NULL;
}

int tk_lookup_load(struct tk_store *s, struct tk_lookup *out, struct tk_error *err)
{
	struct tk_lookup l = {0};
	const struct {
		int (*read)(struct tk_store *, struct tk_rows *, struct tk_error *);
		struct tk_rows *list;
		size_t size;
	} tables[] = {
	        {tk_store_list_machines, &l.machines, sizeof(struct tk_machine_row)},
	        {tk_store_list_devices, &l.devices, sizeof(struct tk_device_row)},
	        {tk_store_list_environments, &l.environments, sizeof(struct tk_environment_row)},
	        {tk_store_list_upstreams, &l.upstreams, sizeof(struct tk_upstream_row)},
	        {tk_store_list_revisions, &l.revisions, sizeof(struct tk_revision_row)},
	        {tk_store_list_builds, &l.builds, sizeof(struct tk_build_row)},
	        {tk_store_list_problems, &l.problems, sizeof(struct tk_problem_row)},
	        {tk_store_list_series, &l.series, sizeof(struct tk_series_row)},
	};

	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		int status = tables[i].read(s, tables[i].list, err);

		if (status) {
			tk_lookup_free(&l);
			return status;
		}
		if (tables[i].list->count)
			qsort(tables[i].list->rows, tables[i].list->count, tables[i].size,
			        compare_ids);
	}
	*out = l;
	return 0;
}

void tk_lookup_free(struct tk_lookup *l)
{
	tk_rows_free(&l->machines);
	tk_rows_free(&l->devices);
	tk_rows_free(&l->environments);
	tk_rows_free(&l->upstreams);
	tk_rows_free(&l->revisions);
	tk_rows_free(&l->builds);
	tk_rows_free(&l->problems);
	tk_rows_free(&l->series);
}

int tk_lookup_find_night(const struct tk_rows *nights, const char *text,
        const struct tk_night_row **out, struct tk_error *err)
{
	char *end;
	long long id = strtoll(text, &end, 10);
	size_t found = 0;

	if (!strcmp(text, "last")) {
		if (!nights->count)
			return tk_fail(err, TK_EUSAGE,
			        "no night \"%s\": the history has no nights yet", text);
		*out = TK_ROWS_AT(nights, struct tk_night_row, 0);
		return 0;
	}
	for (size_t i = 0; i < nights->count && !*end; i++)
		if (TK_ROWS_AT(nights, struct tk_night_row, i)->id == id && *text) {
			*out = TK_ROWS_AT(nights, struct tk_night_row, i);
			return 0;
		}
	for (size_t i = 0; i < nights->count; i++)
		if (*text && !strncmp(TK_ROWS_AT(nights, struct tk_night_row, i)->uid, text,
		                     strlen(text))) {
			*out = TK_ROWS_AT(nights, struct tk_night_row, i);
			found++;
		}
	if (found == 1)
		return 0;
	return tk_fail(err, TK_EUSAGE,
	        found ? "\"%s\" is ambiguous: %zu nights start with it"
	              : "no night \"%s\"; `tracker log` lists the nights",
	        text, found);
}
