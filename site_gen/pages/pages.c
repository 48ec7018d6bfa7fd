/* Which pages there are. Most are their queries and their template. */
#include "core/vocabulary.h"
#include "site_gen/charts/charts.h"
#include "site_gen/data/data.h"
#include "site_gen/model/model.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/escape.h"
#include "store/store.h"

/* ---- alerts.html: what was measured of them ---- */

/* What a trace found inside the kernel of a member; "": nothing. */
static int find_inside(struct tk_site *site, const struct tk_value *member,
        char text[TK_KERNEL_CHANGE_SIZE], struct tk_error *err)
{
	const struct tk_site_series *s = tk_model_find_series(&site->model, member->id);
	const char *good_rev = tk_value_find_text(member, "good_rev");
	AUTO_TEXT result = NULL;
	if (!s || !*good_rev)
		return 0;
	TRY(tk_store_find_comparison(site->model.store, s->row, s->upstream->name, good_rev,
	        tk_value_find_text(member, "bad_rev"), &result, err));
	if (result)
		tk_kernel_report_summarize(result, text);
	return 0;
}

static int add_groups(
        struct tk_site *site, struct tk_value *page, const char *key, struct tk_error *err)
{
	for (struct tk_value *g = tk_value_find_list(page, key)->first; g; g = g->next) {
		char text[TK_KERNEL_CHANGE_SIZE] = "";
		const char *path = "";
		struct tk_value *m = tk_value_find_list(g, "members")->first;
		for (; m; m = m->next) {
			if (*text)
				continue;
			TRY(find_inside(site, m, text, err));
			path = *text ? tk_value_find_text(m, "trace_path") : "";
		}
		tk_value_set_clip(g, "inside", text, 300);
		tk_value_set(g, "inside_href", path);
	}
	return 0;
}

static int add_measured(
        struct tk_site *site, struct tk_value *page, int64_t unused, struct tk_error *err)
{
	TRY(add_groups(site, page, "open", err));
	return add_groups(site, page, "closed", err);
}

/* ---- all ---- */

struct page {
	const char *name; /* of its template, and of its queries */
	enum tk_section section;
	/* NULL: a page for each row of its query "pages": ?1, path, title, ?2, ?3 */
	const char *path, *title;
	const char *also; /* other queries; NULL: none */
	/* What C adds to the page of ?1; NULL: nothing. */
	int (*add)(struct tk_site *site, struct tk_value *page, int64_t id, struct tk_error *err);
	int (*write)(struct tk_site *site, struct tk_error *err); /* instead of all that */
};

static const struct page pages[] = {
        {.write = tk_page_write_series},
        {"overview", TK_SECTION_OVERVIEW, "index.html", "Overview", "matrix", tk_page_add_overview},
        {"trends", TK_SECTION_TRENDS, .add = tk_page_add_trends},
        {"trend", TK_SECTION_TRENDS, .add = tk_page_add_trend},
        {"kernel", TK_SECTION_KERNELS, .add = tk_page_add_kernel},
        {"roofline", TK_SECTION_ROOFLINE, .add = tk_page_add_roofline},
        {"lists", TK_SECTION_SERIES, .also = "matrix"},
        {"list", TK_SECTION_SERIES},
        {"nights", TK_SECTION_NIGHTS, "nights/index.html", "Nights"},
        {"night", TK_SECTION_NIGHTS},
        {"upstreams", TK_SECTION_UPSTREAMS, "upstreams/index.html", "Upstreams"},
        {"upstream", TK_SECTION_UPSTREAMS},
        {"version", TK_SECTION_UPSTREAMS, .add = tk_page_add_versions},
        {"revision", TK_SECTION_UPSTREAMS},
        {"machines", TK_SECTION_MACHINES, "machines/index.html", "Machines"},
        {"machine", TK_SECTION_MACHINES, .also = "matrix"},
        {"environment", TK_SECTION_MACHINES, "environment.html", "Environment"},
        {"card", TK_SECTION_MACHINES},
        {"alerts", TK_SECTION_ALERTS, "alerts.html", "Alerts", .add = add_measured},
        {"feed", TK_SECTION_ALERTS},
        {"method", TK_SECTION_METHOD, "method.html", "Method"},
        {"compare", TK_SECTION_COMPARE, "compare.html", "Compare", .add = tk_page_add_compare},
        {"kernel_trace", TK_SECTION_KERNELS, .add = tk_page_add_timelines},
        {"kernel_traces", TK_SECTION_KERNELS},
        {"tuning", TK_SECTION_KERNELS},
        {"tunings", TK_SECTION_KERNELS},
        {.write = tk_page_write_api},
};

struct writer {
	struct tk_site *site;
	const struct page *page;
};

static int write_page(struct tk_site *site, const struct page *p, const char *path,
        const char *title, const struct tk_arg *args, struct tk_error *err)
{
	struct tk_value *page = tk_page_begin(site, path, title, p->section);
	TRY(tk_page_add_sql(site, page, p->name, args, err));
	if (p->also)
		TRY(tk_page_add_sql(site, page, p->also, args, err));
	if (p->add)
		TRY(p->add(site, page, args ? args->i : 0, err));
	return tk_page_finish(site, p->name, path, err);
}

static int write_row(void *user, const struct tk_query_row *row, struct tk_error *err)
{
	struct writer *w = user;
	struct tk_arg args[TK_PAGE_ARGS_MAX + 1] = {row->values[0]};
	for (int i = 3; i < row->count; i++)
		args[i - 2] = row->values[i];
	return write_page(w->site, w->page, row->values[1].text, row->values[2].text, args, err);
}

int tk_page_write_all(struct tk_site *site, struct tk_error *err)
{
	for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
		const struct page *p = &pages[i];
		struct writer writer = {site, p};
		if (p->write)
			TRY(p->write(site, err));
		else if (p->path)
			TRY(write_page(site, p, p->path, p->title, TK_NO_ARGS, err));
		else
			TRY(tk_store_query(site->model.store,
			        tk_page_find_sql(site, p->name, "pages"), TK_NO_ARGS, write_row,
			        &writer, err));
	}
	return tk_page_end_queries(site, err);
}
