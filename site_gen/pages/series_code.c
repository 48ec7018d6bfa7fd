/* Algorithm and resources of the newest run, what was recorded inside its kernels, and the machine
 * code of the last builds. */
#include <math.h>

#include "base/base.h"
#include "core/measurement_fields.h"
#include "site_gen/pages/page.h"
#include "store/query/code_facts.h"
#include "store/store.h"

#define BUILDS_SHOWN 6

static void add_fact(struct tk_value *list, const char *name, const char *value)
{
	if (!*value)
		return;
	struct tk_value *o = tk_value_append(list);
	tk_value_set(o, "name", name);
	tk_value_set_clip(o, "value", value, 300);
}

static void add_text(struct tk_value *list, const json_t *object, enum tk_measurement_field field)
{
	const char *text = json_string_value(tk_measurement_get_field(object, field));
	add_fact(list, tk_measurement_field_title(field), text ? text : "");
}

static void add_number(struct tk_value *list, const json_t *object, enum tk_measurement_field field)
{
	char text[TK_FORMAT_SIZE];
	const json_t *v = tk_measurement_get_field(object, field);
	double number = json_number_value(v);
	if (json_is_number(v) && number > 0)
		add_fact(list, tk_measurement_field_title(field),
		        tk_format_value(number, tk_measurement_field_unit(field), text));
}

static void add_error(struct tk_value *list, const json_t *verify)
{
	const json_t *error = tk_measurement_get_field(verify, TK_MEASUREMENT_VERIFY_MAX_ERROR);
	char text[96];
	if (!json_is_number(error))
		return;
	snprintf(text, sizeof text, "%.2g, allowed %.2g", json_number_value(error),
	        json_number_value(
	                tk_measurement_get_field(verify, TK_MEASUREMENT_VERIFY_TOLERANCE)));
	add_fact(list, tk_measurement_field_title(TK_MEASUREMENT_VERIFY_MAX_ERROR), text);
}

static void add_count(struct tk_value *list, const char *name, int64_t v)
{
	char text[TK_FORMAT_SIZE];
	if (v >= 0)
		add_fact(list, name, tk_format_count(v, text));
}

static void add_kernel_facts(struct tk_value *list, const struct tk_kernel_row *row)
{
	for (size_t i = 0; i < TK_CODE_FACT_COUNT; i++)
		add_count(list, tk_code_facts[i].title, tk_code_fact_value(&tk_code_facts[i], row));
	add_fact(list, "Instructions", row->instructions);
}

/* Resources of the function that ran: the one with its name, or the only one that may have run. */
static int set_function(struct tk_site *site, struct tk_value *list, const struct tk_site_series *s,
        const struct tk_run_row *run, const json_t *plan, struct tk_error *err)
{
	const char *function = json_string_value(
	                   tk_measurement_get_field(plan, TK_MEASUREMENT_PLAN_KERNEL)),
	           *config = json_string_value(
	                   tk_measurement_get_field(plan, TK_MEASUREMENT_PLAN_ALGORITHM));
	const struct tk_kernel_use use = {
	        s->row->backend, s->problem->text, config ? config : s->row->config};
	const struct tk_kernel_row *row = NULL;
	const struct tk_rows *rows;
	if (function && *function)
		TRY(tk_code_cache_find(&site->codes, site->model.store, run->build_id,
		        s->row->backend, function, &row, err));
	if (!row) {
		size_t i = 0;
		TRY(tk_code_cache_list(&site->codes, site->model.store, run->build_id, &rows, err));
		row = tk_kernel_rows_next(rows, &use, &i);
		if (row && tk_kernel_rows_next(rows, &use, &i))
			row = NULL;
	}
	if (row)
		add_kernel_facts(list, row);
	return 0;
}

static int set_run_facts(struct tk_site *site, struct tk_value *page,
        const struct tk_site_series *s, struct tk_error *err)
{
	struct tk_value *list = tk_value_add_list(page, "run_facts");
	const struct tk_run_row *run = s->last_run;
	json_auto_t *a = run ? json_loads(run->attributes, 0, NULL) : NULL;
	json_t *plan = tk_measurement_get_field(a, TK_MEASUREMENT_PLAN);
	add_text(list, plan, TK_MEASUREMENT_PLAN_KERNEL);
	add_text(list, plan, TK_MEASUREMENT_PLAN_ALGORITHM);
	if (a)
		TRY(set_function(site, list, s, run, plan, err));
	add_number(list, plan, TK_MEASUREMENT_PLAN_WORKSPACE_BYTES);
	add_number(list, a, TK_MEASUREMENT_DEVICE_BYTES);
	add_number(list, a, TK_MEASUREMENT_LAUNCH_NS);
	add_number(list, a, TK_MEASUREMENT_ENERGY_J);
	add_number(list, a, TK_MEASUREMENT_CLOCK_MHZ);
	add_error(list, tk_measurement_get_field(a, TK_MEASUREMENT_VERIFY));
	return 0;
}

/* The last builds, newest first, each compared with the build before. */
static int set_builds(struct tk_site *site, struct tk_value *page, const struct tk_site_series *s,
        struct tk_error *err)
{
	struct tk_value *list = tk_value_add_list(page, "code_builds"), *last = NULL;
	const struct tk_kernel_row *newer = NULL;
	int64_t build_id = 0;
	for (size_t i = s->points.count, n = 0; i-- > 0 && n < BUILDS_SHOWN;) {
		const struct tk_point *p = TK_ROWS_AT(&s->points, struct tk_point, i);
		const struct tk_kernel_row *row = NULL;
		if (p->build_id == build_id)
			continue;
		build_id = p->build_id;
		TRY(tk_code_cache_find(
		        &site->codes, site->model.store, build_id, s->row->backend, "", &row, err));
		if (!row)
			continue;
		if (last)
			tk_value_set(last, "what",
			        strcmp(row->code_hash, newer->code_hash) ? "changed" : "unchanged");
		last = tk_value_append(list);
		newer = row;
		tk_page_set_revision(
		        site, last, tk_model_find_build_revision(&site->model, build_id));
		tk_value_set_clip(last, "code", row->code_hash, 10);
		tk_value_set(last, "what", "");
		n++;
	}
	return 0;
}

int tk_page_set_code(struct tk_site *site, struct tk_value *page, const struct tk_site_series *s,
        struct tk_error *err)
{
	TRY(set_run_facts(site, page, s, err));
	return set_builds(site, page, s, err);
}
