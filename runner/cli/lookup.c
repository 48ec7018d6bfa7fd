#include "cli/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define LOOKUP(name, list) \
	const struct tk_##name##_row *tk_lookup_##name(const struct tk_lookup *l, int64_t id) \
	{ \
		return tk_id_table_find(&l->list, id); \
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
		enum tk_table_id id;
		struct tk_id_table *table;
	} tables[] = {
	        {TK_TABLE_machine, &l.machines},
	        {TK_TABLE_device, &l.devices},
	        {TK_TABLE_environment, &l.environments},
	        {TK_TABLE_upstream, &l.upstreams},
	        {TK_TABLE_revision, &l.revisions},
	        {TK_TABLE_build, &l.builds},
	        {TK_TABLE_problem, &l.problems},
	        {TK_TABLE_series, &l.series},
	};

	for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
		int status = tk_id_table_load(tables[i].table, s, tables[i].id, err);

		if (status) {
			tk_lookup_free(&l);
			return status;
		}
	}
	*out = l;
	return 0;
}

void tk_lookup_free(struct tk_lookup *l)
{
	tk_id_table_free(&l->machines);
	tk_id_table_free(&l->devices);
	tk_id_table_free(&l->environments);
	tk_id_table_free(&l->upstreams);
	tk_id_table_free(&l->revisions);
	tk_id_table_free(&l->builds);
	tk_id_table_free(&l->problems);
	tk_id_table_free(&l->series);
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
