/* The report: its headline and its tables are queries. */
#include "site_gen/report/report.h"

#include "base/base.h"
#include "site_gen/pages/page.h"
#include "site_gen/report/document.h"

struct table {
	struct tk_document *d;
	const char *title; /* NULL: a paragraph */
	size_t rows;
};

static int add_row(void *user, const struct tk_query_row *row, struct tk_error *err)
{
	struct table *t = user;
	if (!t->title) {
		tk_document_add_paragraph(t->d, row->values[0].text);
		return 0;
	}
	if (!t->rows++)
		tk_document_begin_table(t->d, t->title, row->names, (size_t)row->count);
	for (int i = 0; i < row->count; i++) {
		const struct tk_arg *cell = &row->values[i];
		AUTO_TEXT number = tk_sprintf("%lld", (long long)cell->i);
		tk_document_add_cell(t->d, cell->kind == TK_ARG_INT ? number : cell->text);
	}
	return 0;
}

int tk_report_add(struct tk_site *site, enum tk_document_format format, bool is_brief,
        struct tk_buf *out, struct tk_error *err)
{
	static const struct {
		const char *key, *title;
		bool is_brief;
	} tables[] = {{"headline", NULL, true}, {"changes", "What changed", true},
	        {"alerts", "Open alerts", true}, {"environment", "Environment", false},
	        {"standings", "Best configurations and roofline", false},
	        {"statistics", "Kernels and backends", false}, {"notes", NULL, false}};
	const char *title = site->options->title;
	struct tk_document d;
	int status = 0;
	tk_document_begin(&d, out, format, tk_text_or(title, "tracker"));
	for (size_t i = 0; !status && i < sizeof tables / sizeof *tables; i++) {
		struct table t = {&d, tables[i].title, 0};
		if (is_brief && !tables[i].is_brief)
			continue;
		status = tk_store_query(site->model.store,
		        tk_page_find_sql(site, "report", tables[i].key), TK_NO_ARGS, add_row, &t,
		        err);
		if (t.rows)
			tk_document_end_table(&d);
	}
	tk_document_end(&d);
	return status;
}
