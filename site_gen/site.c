/* Writes a site: loads the history, renders the pages, publishes the folder. */
#include "site_gen/site.h"

#include "base/base.h"
#include "site_gen/data/data.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/assets.h"
#include "site_gen/report/report.h"

/* A row is the path and the text of a file. */
static int put_file(void *user, const struct tk_query_row *row, struct tk_error *err)
{
	struct tk_site *site = user;
	tk_buf_clear(&site->page);
	tk_buf_add_str(&site->page, row->values[1].text);
	return tk_output_put(site->out, row->values[0].text, &site->page, err);
}

static int write_shared_data(struct tk_site *site, struct tk_error *err)
{
	TRY(tk_store_query(site->model.store, tk_page_find_sql(site, "api", "data"), TK_NO_ARGS,
	        put_file, site, err));
	tk_buf_clear(&site->page);
	tk_data_add_manifest(&site->page, &site->data);
	TRY(tk_output_put(site->out, "data/manifest.js", &site->page, err));
	if (site->sitemap.len)
		TRY(tk_output_put(site->out, "sitemap.txt", &site->sitemap, err));
	tk_buf_clear(&site->page);
	return tk_output_put(
	        site->out, ".nojekyll", &site->page, err); /* GitHub Pages: publish as it is */
}

static int render_all(struct tk_site *site, const struct tk_assets *assets, struct tk_error *err)
{
	site->has_charts = assets->has_charts;
	snprintf(site->version, sizeof site->version, "%.8s", assets->hash);
	tk_totals_plan(&site->model, &site->totals);
	site->data = (struct tk_chart_data){
	        .model = &site->model, .out = site->out, .totals = &site->totals};
	TRY(tk_chart_data_write(&site->data, err));
	TRY(tk_assets_put(assets, site->out, err));
	TRY(tk_page_write_all(site, err));
	return write_shared_data(site, err);
}

static void site_free(struct tk_site *site)
{
	tk_chart_data_free(&site->data);
	tk_totals_free(&site->totals);
	tk_output_free(site->out);
	tk_page_free_queries(site);
	tk_templates_free(site->templates);
	tk_arena_free(site->arena);
	tk_buf_free(&site->page);
	tk_buf_free(&site->sitemap);
	tk_buf_free(&site->markup);
	tk_model_free(&site->model);
}

int tk_report_write(struct tk_store *store, const struct tk_site_options *options,
        enum tk_document_format format, struct tk_buf *out, struct tk_error *err)
{
	struct tk_site site = {.options = options, .arena = tk_arena_new()};
	TRY(tk_store_begin_read(store, err));
	int status = tk_page_add_functions(store, err);
	if (!status)
		status = tk_model_load(store, &site.model, err);
	if (!status)
		status = tk_page_load_queries(&site, err);
	if (!status)
		status = tk_report_add(&site, format, false, out, err);
	tk_store_end_read(store);
	site_free(&site);
	return status;
}

int tk_site_write(struct tk_store *store, const struct tk_site_options *options,
        struct tk_site_report *report, struct tk_error *err)
{
	struct tk_site site = {.options = options};
	struct tk_assets assets = {0};
	int64_t start_ns = tk_clock_monotonic_ns();
	site.templates = tk_templates_new();
	site.arena = tk_arena_new();
	int status = tk_templates_load(site.templates, options->templates_dir, err);
	if (!status)
		status = tk_output_open(options->out_dir, &site.out, err);
	if (!status)
		status = tk_assets_read(options->templates_dir, options->assets_dir, &assets, err);
	if (!status)
		status = tk_page_add_functions(store, err);
	bool reading = !status && !(status = tk_store_begin_read(store, err));
	if (!status)
		status = tk_model_load(store, &site.model, err);
	if (!status)
		status = tk_page_load_queries(&site, err);
	if (!status)
		status = render_all(&site, &assets, err);
	if (reading)
		tk_store_end_read(store);
	if (!status)
		status = tk_output_commit(site.out, err);
	if (!status) {
		struct tk_output_counts counts = tk_output_counts(site.out);
		*report = (struct tk_site_report){site.pages, counts.files, counts.written,
		        counts.bytes, (double)(tk_clock_monotonic_ns() - start_ns) * 1e-9};
	}
	tk_assets_free(&assets);
	site_free(&site);
	return status;
}
