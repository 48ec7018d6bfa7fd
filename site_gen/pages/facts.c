/* What the model knows and SQL does not, as tables for the queries of pages. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/try.h"
#include "site_gen/model/model.h"
#include "site_gen/pages/page.h"

static struct tk_arg id_or_null(bool is_known, int64_t id)
{
	return is_known ? tk_arg_int(id) : (struct tk_arg){.kind = TK_ARG_NULL};
}

static struct tk_arg night_id(const struct tk_night_row *n)
{
	return id_or_null(n != NULL, n ? n->id : 0);
}

static int make_table(
        struct tk_store *s, const char *columns, const char *name, struct tk_error *err)
{
	AUTO_TEXT drop = tk_sprintf("DROP TABLE IF EXISTS temp.%s", name);
	AUTO_TEXT create =
	        tk_sprintf("CREATE TEMP TABLE %s(id INTEGER PRIMARY KEY, %s)", name, columns);
	TRY(tk_store_run(s, drop, TK_NO_ARGS, err));
	return tk_store_run(s, create, TK_NO_ARGS, err);
}

static int store_machines(const struct tk_model *m, struct tk_error *err)
{
	TRY(make_table(m->store, "name, last_night_id, analysed_night_id", "page_machine", err));
	for (size_t i = 0; i < m->machine_count; i++) {
		const struct tk_site_machine *machine = &m->machines[i];
		const struct tk_arg row[] = {tk_arg_int(machine->row->id),
		        tk_arg_text(machine->row->name), night_id(machine->last_night),
		        night_id(machine->analysed_night), {0}};
		TRY(tk_store_run(
		        m->store, "INSERT INTO page_machine VALUES (?1, ?2, ?3, ?4)", row, err));
	}
	return 0;
}

static int store_nights(const struct tk_model *m, struct tk_error *err)
{
	TRY(make_table(
	        m->store, "file, as_of_s, started_s, finished_s, status", "page_night", err));
	TRY(tk_store_run(m->store,
	        "INSERT INTO page_night SELECT id, NULL, as_of_s, started_s, finished_s, status"
	        " FROM night",
	        TK_NO_ARGS, err));
	for (size_t i = 0; i < m->night_count; i++)
		if (m->nights[i].file)
			TRY(tk_store_run(m->store, "UPDATE page_night SET file = ?2 WHERE id = ?1",
			        TK_ARGS(m->nights[i].row->id, m->nights[i].file), err));
	return 0;
}

/* Roofline efficiency of a series that was measured in the last night; NAN: it was not. */
static double find_efficiency(const struct tk_model *m, const struct tk_site_series *s)
{
	const struct tk_point *last = tk_series_last_point(s);
	const struct tk_night_row *night = s->device->machine->last_night;
	struct tk_ceiling_set ceilings;
	if (!last || !night || !tk_series_is_ranked(s) || last->night_id != night->id)
		return NAN;
	tk_ceiling_set_load(m, s->device, &ceilings);
	return tk_ceiling_set_efficiency(&ceilings, s, last->value);
}

#define SERIES_COLUMNS \
	"place, op_id, op, op_file, device_id, variant, word, tone, verdict_night_id, " \
	"is_unplanned," \
	" is_skipped, is_unsupported, fails, has_result, is_suite_time, has_rate, efficiency," \
	" waiting_nights"
#define SERIES_SQL \
	"INSERT INTO page_series VALUES" \
	" (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)"

static int store_series(const struct tk_model *m, struct tk_error *err)
{
	size_t op = 0; /* the first of its operation */
	const char *unit;
	TRY(make_table(m->store, SERIES_COLUMNS, "page_series", err));
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		op = s->op_file == m->series[op].op_file ? op : i;
		double efficiency = find_efficiency(m, s);
		const struct tk_arg row[] = {tk_arg_int(s->row->id), tk_arg_int((int64_t)i),
		        tk_arg_int((int64_t)op), tk_arg_text(tk_op_title(s->problem->op)),
		        tk_arg_text(s->op_file), tk_arg_int(s->device->row->id),
		        tk_arg_text(s->variant), tk_arg_text(tk_series_status_word(s)),
		        tk_arg_text(tk_tone_name(tk_series_tone(s))),
		        tk_arg_int(s->verdict ? s->verdict->night_id : 0),
		        tk_arg_int(s->is_unplanned), tk_arg_int(tk_series_is_skipped(s)),
		        tk_arg_int(tk_series_is_unsupported(s)), tk_arg_int(s->failure != NULL),
		        tk_arg_int(tk_series_has_result(s)), tk_arg_int(tk_series_is_suite_time(s)),
		        tk_arg_int(isfinite(tk_series_rate(s, 1, &unit))),
		        isfinite(efficiency) ? tk_arg_real(efficiency) : id_or_null(false, 0),
		        tk_arg_int(tk_series_count_waiting_nights(m, s)), {0}};
		TRY(tk_store_run(m->store, SERIES_SQL, row, err));
	}
	return 0;
}

int tk_page_store_facts(const struct tk_model *m, struct tk_error *err)
{
	TRY(store_machines(m, err));
	TRY(store_nights(m, err));
	return store_series(m, err);
}
