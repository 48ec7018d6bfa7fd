/* What the model knows and SQL does not, as tables for the queries of pages. */
#include <math.h>

#include "base/base.h"
#include "site_gen/pages/page.h"

static struct tk_arg id_or_null(bool is_known, int64_t id)
{
	return is_known ? tk_arg_int(id) : (struct tk_arg){.kind = TK_ARG_NULL};
}

static struct tk_arg night_id(const struct tk_night_row *n)
{
	return id_or_null(n != NULL, n ? n->id : 0);
}

int tk_page_make_table(
        struct tk_store *s, const char *columns, const char *name, struct tk_error *err)
{
	AUTO_TEXT drop = tk_sprintf("DROP TABLE IF EXISTS temp.%s", name);
	AUTO_TEXT create =
	        tk_sprintf("CREATE TEMP TABLE %s(id INTEGER PRIMARY KEY, %s)", name, columns);
	TRY(tk_store_run(s, drop, TK_NO_ARGS, err));
	return tk_store_run(s, create, TK_NO_ARGS, err);
}

int tk_page_insert(
        struct tk_store *s, const char *table, const struct tk_arg *row, struct tk_error *err)
{
	AUTO(tk_buf) sql = TK_BUF_INIT;
	tk_buf_add_printf(&sql, "INSERT INTO %s VALUES (?1", table);
	for (int i = 2; row[i - 1].kind != TK_ARG_END; i++)
		tk_buf_add_printf(&sql, ", ?%d", i);
	tk_buf_add_char(&sql, ')');
	return tk_store_run(s, tk_buf_cstr(&sql), row, err);
}

static int store_machines(const struct tk_model *m, struct tk_error *err)
{
	TRY(tk_page_make_table(
	        m->store, "place, name, last_night_id, analysed_night_id", "page_machine", err));
	for (size_t i = 0; i < m->machine_count; i++) {
		const struct tk_site_machine *machine = &m->machines[i];
		const struct tk_arg row[] = {tk_arg_int(machine->row->id), tk_arg_int((int64_t)i),
		        tk_arg_text(machine->row->name), night_id(machine->last_night),
		        night_id(machine->analysed_night), {0}};
		TRY(tk_page_insert(m->store, "page_machine", row, err));
	}
	return 0;
}

static int store_nights(const struct tk_model *m, struct tk_error *err)
{
	TRY(tk_page_make_table(
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

static struct tk_arg real_or_null(double v)
{
	return isfinite(v) ? tk_arg_real(v) : (struct tk_arg){.kind = TK_ARG_NULL};
}

/* The newest point is NULL where there is none. `efficiency`: of the roofline, of a series that was
 * measured in the last night; NULL: it was not. `outcome`: of a last night without timing. */
#define SERIES_COLUMNS \
	"place, op_id, op, op_file, device_id, variant, label, file, word, tone, " \
	"verdict_night_id," \
	" outcome, is_unplanned, is_skipped, is_unsupported, fails, has_result, is_suite_time," \
	" waiting_nights, night_s, build_id, n, value, lo, hi, has_rate, rate, rate_unit," \
	" efficiency, measured_share, datasheet_share, is_ranked, environment_id, style," \
	" ceiling_share, limited_by, p95, run_id, last_run_id"

static const char *find_limit(const struct tk_ceiling_set *c, const struct tk_problem_row *p)
{
	return p->flops > 0 && p->bytes > 0
	               ? tk_ceiling_set_limiting(c, p->dtype, p->flops / p->bytes)
	               : "–";
}

static int store_series(const struct tk_model *m, struct tk_error *err)
{
	static const struct tk_point none = {.value = NAN, .lo = NAN, .hi = NAN, .p95 = NAN};
	size_t op = 0; /* the first of its operation */
	TRY(tk_page_make_table(m->store, SERIES_COLUMNS, "page_series", err));
	for (size_t i = 0; i < m->series_count; i++) {
		const struct tk_site_series *s = &m->series[i];
		const struct tk_point *last = tk_series_last_point(s), *p = last ? last : &none;
		const struct tk_night_row *night = s->device->machine->last_night;
		const char *unit = "";
		struct tk_ceiling_set ceilings;
		op = s->op_file == m->series[op].op_file ? op : i;
		double rate = tk_series_rate(s, p->value, &unit);
		bool is_new = last && night && tk_series_is_ranked(s) && p->night_id == night->id;
		tk_ceiling_set_load(m, s->device, &ceilings);
		const struct tk_arg row[] = {tk_arg_int(s->row->id), tk_arg_int((int64_t)i),
		        tk_arg_int((int64_t)op), tk_arg_text(tk_op_title(s->problem->op)),
		        tk_arg_text(s->op_file), tk_arg_int(s->device->row->id),
		        tk_arg_text(s->variant), tk_arg_text(s->label), tk_arg_text(s->file),
		        tk_arg_text(tk_series_status_word(s)),
		        tk_arg_text(tk_tone_name(tk_series_tone(s))),
		        tk_arg_int(s->verdict ? s->verdict->night_id : 0),
		        tk_arg_text(s->failure ? tk_outcome_name(s->failure->outcome) : ""),
		        tk_arg_int(s->is_unplanned), tk_arg_int(tk_series_is_skipped(s)),
		        tk_arg_int(tk_series_is_unsupported(s)), tk_arg_int(s->failure != NULL),
		        tk_arg_int(tk_series_has_result(s)), tk_arg_int(tk_series_is_suite_time(s)),
		        tk_arg_int(tk_series_count_waiting_nights(m, s)),
		        id_or_null(last, p->as_of_s), id_or_null(last, p->build_id),
		        tk_arg_int(p->n), real_or_null(p->value), real_or_null(p->lo),
		        real_or_null(p->hi),
		        tk_arg_int(isfinite(tk_series_rate(s, 1, &(const char *){NULL}))),
		        real_or_null(rate), tk_arg_text(isfinite(rate) ? unit : ""),
		        real_or_null(
		                is_new ? tk_ceiling_set_efficiency(&ceilings, s, p->value) : NAN),
		        real_or_null(tk_ceiling_set_efficiency_by_source(
		                &ceilings, TK_CEILING_MEASURED, s, p->value)),
		        real_or_null(tk_ceiling_set_efficiency_by_source(
		                &ceilings, TK_CEILING_DATASHEET, s, p->value)),
		        tk_arg_int(tk_series_is_ranked(s)),
		        id_or_null(p->environment_id, p->environment_id),
		        tk_arg_int((int64_t)s->style),
		        real_or_null(tk_ceiling_set_efficiency(&ceilings, s, p->value)),
		        tk_arg_text(find_limit(&ceilings, s->problem)), real_or_null(p->p95),
		        tk_arg_int(p->run_id), tk_arg_int(s->last_run ? s->last_run->id : 0), {0}};
		TRY(tk_page_insert(m->store, "page_series", row, err));
	}
	return 0;
}

/* The words of lists with their meanings and tones. */
static int store_words(struct tk_store *s, struct tk_error *err)
{
	TRY(tk_page_make_table(s, "list, value, word, meaning, tone", "page_word", err));
	for (const struct tk_tone_list *list = tk_tone_lists; list->name; list++)
		for (int i = 0; i < list->words->count; i++)
			TRY(tk_page_insert(s, "page_word",
			        TK_ARGS((const char *)NULL, list->name, i,
			                tk_vocabulary_name(list->words, i),
			                tk_vocabulary_meaning(list->words, i),
			                tk_tone_name(list->tones ? list->tones[i] : TK_TONE_QUIET)),
			        err));
	return 0;
}

static int store_site(struct tk_store *s, const struct tk_site_options *o, struct tk_error *err)
{
	TRY(tk_page_make_table(
	        s, "title, base_url, now_s, tie, night_id, since_s", "page_site", err));
	return tk_page_insert(s, "page_site",
	        TK_ARGS(1, tk_text_or(o->title, "tracker"), o->base_url ? o->base_url : "",
	                o->now_s, o->tie, o->night_id, o->since_s),
	        err);
}

int tk_page_store_facts(
        const struct tk_model *m, const struct tk_site_options *options, struct tk_error *err)
{
	TRY(store_site(m->store, options, err));
	TRY(store_words(m->store, err));
	TRY(store_machines(m, err));
	TRY(store_nights(m, err));
	TRY(tk_page_store_tunings(m, err));
	/* trends.c fills it */
	TRY(tk_page_make_table(
	        m->store, "device_id, op, as_of_s, compared", "page_index_night", err));
	return store_series(m, err);
}
