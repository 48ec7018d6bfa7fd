/* The machine code that a series ran with a version. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "core/measurement_fields.h"
#include "site_gen/pages/version_code.h"

/* What the backend chose in the run of a point; "": unknown. */
static int read_config(struct tk_site *site, const struct tk_version_series *s,
        const struct tk_point *p, char **out, struct tk_error *err)
{
	AUTO(tk_rows) runs = {0};
	TRY(tk_store_list(site->model.store, TK_TABLE_run,
	        "series_id=?1 AND as_of_s=?2 ORDER BY id", TK_ARGS(s->series->row->id, p->as_of_s),
	        &runs, err));
	for (size_t i = runs.count; !*out && i-- > 0;) {
		const struct tk_run_row *run = TK_ROWS_AT(&runs, struct tk_run_row, i);
		if (run->build_id != p->build_id)
			continue;
		json_auto_t *a = json_loads(run->attributes, 0, NULL);
		const char *text = json_string_value(
		        tk_measurement_get_field(tk_measurement_get_field(a, TK_MEASUREMENT_PLAN),
		                TK_MEASUREMENT_PLAN_ALGORITHM));
		*out = tk_strdup(text ? text : "");
	}
	*out = *out ? *out : tk_strdup("");
	return 0;
}

/* The configuration that ran: of the series, else of the run. */
static int find_config(struct tk_site *site, const struct tk_version_series *s, size_t version,
        const char **out, struct tk_error *err)
{
	bool named = *s->series->row->config;
	if (!named && !s->configs[version])
		TRY(read_config(site, s, &s->at[version], &s->configs[version], err));
	*out = named ? s->series->row->config : s->configs[version];
	return 0;
}

static int64_t count_instructions(const struct tk_kernel_row *k)
{
	const char *total = strstr(k->instructions, "total=");
	return total ? strtoll(total + strlen("total="), NULL, 10) : -1;
}

static int64_t max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t add(int64_t sum, int64_t value)
{
	return value < 0 ? sum : value + (sum < 0 ? 0 : sum);
}

int tk_version_code_find(struct tk_site *site, const struct tk_version_series *s, size_t version,
        struct tk_version_code *out, struct tk_error *err)
{
	const struct tk_rows *rows;
	const struct tk_kernel_row *k;
	const char *config;
	size_t i = 0;
	*out = (struct tk_version_code){{NULL}, 0, -1, -1, -1, -1};
	TRY(tk_code_cache_list(
	        &site->codes, site->model.store, s->at[version].build_id, &rows, err));
	if (!rows->count)
		return 0;
	TRY(find_config(site, s, version, &config, err));
	const struct tk_kernel_use use = {
	        s->series->row->backend, s->series->problem->text, config};
	struct tk_version_code found = *out;
	while ((k = tk_kernel_rows_next(rows, &use, &i))) {
		if (found.count == TK_VERSION_KERNELS_MAX)
			return 0;
		found.kernels[found.count++] = k;
		found.registers = max(found.registers, k->registers);
		found.shared_bytes = max(found.shared_bytes, k->shared_bytes);
		found.spill_bytes = add(found.spill_bytes, k->spill_bytes);
		found.instructions = add(found.instructions, count_instructions(k));
	}
	*out = found;
	return 0;
}

/* The first kernel that differs; the count if none does. */
static size_t find_difference(const struct tk_version_code *a, const struct tk_version_code *b)
{
	size_t i = 0;
	while (i < a->count && i < b->count &&
	        !strcmp(a->kernels[i]->code_hash, b->kernels[i]->code_hash))
		i++;
	return i;
}

bool tk_version_code_differs(const struct tk_version_code *a, const struct tk_version_code *b)
{
	return a->count && b->count && (a->count != b->count || find_difference(a, b) < a->count);
}

const char *tk_version_code_format_change(const struct tk_version_code *before,
        const struct tk_version_code *after, char out[TK_CODE_CHANGE_SIZE])
{
	*out = '\0';
	if (!before->count || !after->count)
		return out;
	size_t i = find_difference(before, after);
	if (!tk_version_code_differs(before, after))
		snprintf(out, TK_CODE_CHANGE_SIZE, "same code");
	else if (before->count != after->count)
		snprintf(out, TK_CODE_CHANGE_SIZE, "kernels %zu -> %zu", before->count,
		        after->count);
	else if (!*tk_kernel_row_format_change(before->kernels[i], after->kernels[i], out))
		snprintf(out, TK_CODE_CHANGE_SIZE, "other code");
	return out;
}
