/* Writes a site: loads the history, renders the pages, publishes the folder. */
#include "site_gen/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/try.h"
#include "site_gen/data/data.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/assets.h"
#include "site_gen/report/report.h"

static int put_shared(struct tk_site *site, const char *path, struct tk_error *err)
{
	int status = tk_output_put(site->out, path, &site->page, err);
	tk_buf_clear(&site->page);
	return status;
}

static int write_shared_data(struct tk_site *site, struct tk_error *err)
{
	const struct tk_model *m = &site->model;
	tk_buf_clear(&site->page);
	tk_data_add_nights(&site->page, m);
	int status = put_shared(site, "data/nights.js", err);
	if (!status) {
		tk_data_add_environments(&site->page, m);
		status = put_shared(site, "data/environments.js", err);
	}
	for (size_t i = 0; !status && i < m->upstream_rows.count; i++) {
		const struct tk_upstream_row *u =
		        TK_ROWS_AT(&m->upstream_rows, struct tk_upstream_row, i);
		char path[64];
		snprintf(path, sizeof path, "data/revisions-%lld.js", (long long)u->id);
		tk_data_add_revisions(&site->page, m, u);
		status = put_shared(site, path, err);
	}
	if (!status) {
		tk_data_add_manifest(&site->page, &site->data);
		status = put_shared(site, "data/manifest.js", err);
	}
	if (!status && site->sitemap.len)
		status = tk_output_put(site->out, "sitemap.txt", &site->sitemap, err);
	return status ? status
	              : put_shared(site, ".nojekyll", err); /* GitHub Pages: publish as it is */
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
	tk_code_cache_free(&site->codes);
	tk_page_free_revision_texts(site);
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
	int status = tk_model_load(store, &site.model, err);
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
