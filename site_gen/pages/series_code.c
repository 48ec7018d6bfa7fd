/* Algorithm and resources of the newest run, and what was recorded inside its kernels. */
#include <math.h>

#include "base/base.h"
#include "core/measurement_fields.h"
#include "site_gen/pages/page.h"
#include "store/query/code_facts.h"
#include "store/store.h"

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
	AUTO(tk_rows) rows = {0};
	size_t i = 0;
	TRY(tk_store_list(site->model.store, TK_TABLE_kernel,
	        "build_id=?1 AND backend=?2 AND (name=?3 OR instr(name, ?4) OR name NOT GLOB '* * "
	        "*')",
	        TK_ARGS(run->build_id, s->row->backend, function ? function : "", s->problem->text),
	        &rows, err));
	for (size_t k = 0; function && *function && k < rows.count; k++)
		if (!strcmp(TK_ROWS_AT(&rows, struct tk_kernel_row, k)->name, function))
			row = TK_ROWS_AT(&rows, struct tk_kernel_row, k);
	if (!row) {
		row = tk_kernel_rows_next(&rows, &use, &i);
		if (row && tk_kernel_rows_next(&rows, &use, &i))
			row = NULL;
	}
	if (row)
		add_kernel_facts(list, row);
	return 0;
}

int tk_page_set_run_facts(struct tk_site *site, struct tk_value *page,
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
