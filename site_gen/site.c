/* Writes a site: loads the history, renders the pages, publishes the folder. */
#include "site_gen/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/hash.h"
#include "site_gen/data/shard.h"
#include "site_gen/pages/page.h"
#include "site_gen/render/assets.h"
#include "site_gen/render/picture.h"

/* Raise it when the same history gives other files: old sites are then rebuilt. */
#define SITE_FORMAT 26

/* A hash of everything besides the history that affects the output. */
static int hash_inputs(const struct tk_site *site, const char *assets_hex,
        char hex[TK_HASH_HEX_SIZE], struct tk_error *err)
{
	struct tk_hash *h = tk_hash_new();
	if (!h)
		return tk_fail(err, TK_ENOMEM, "out of memory");
	tk_hash_add_i64(h, SITE_FORMAT);
	tk_hash_add_str(h, assets_hex);
	tk_hash_add_str(h, site->options->title);
	tk_hash_add_str(h, site->options->base_url);
	tk_hash_add_i64(h, site->picture != NULL);
	tk_hash_add_i64(h, (int64_t)(site->options->tie * 1e9));
	/* the navigation, which every page repeats */
	tk_hash_add_str(h, site->model.device_count ? site->model.devices[0].file : "");
	tk_hash_add_str(h, site->model.series_count ? site->model.series[0].op_file : "");
	tk_hash_add_i64(h, (int64_t)site->data.group_count);
	tk_hash_add_i64(h, (int64_t)site->model.series_count);
	for (size_t i = 0; i < site->model.series_count; i++) {
		tk_hash_add_i64(h, site->model.series[i].row->id);
		tk_hash_add_str(h, site->model.series[i].label);
	}
	for (size_t i = 0; i < site->model.upstream_rows.count; i++)
		tk_hash_add_str(
		        h, TK_ROWS_AT(&site->model.upstream_rows, struct tk_upstream_row, i)->url);
	int status = tk_hash_add_tree(h, site->options->templates_dir, err);
	if (status)
		tk_hash_free(h);
	else
		tk_hash_finish(h, hex);
	return status;
}

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
	tk_shard_add_nights(&site->page, m);
	int status = put_shared(site, "data/nights.js", err);
	if (!status) {
		tk_shard_add_environments(&site->page, m);
		status = put_shared(site, "data/environments.js", err);
	}
	for (size_t i = 0; !status && i < m->upstream_rows.count; i++) {
		const struct tk_upstream_row *u =
		        TK_ROWS_AT(&m->upstream_rows, struct tk_upstream_row, i);
		char path[64];
		snprintf(path, sizeof path, "data/revisions-%lld.js", (long long)u->id);
		tk_shard_add_revisions(&site->page, m, u);
		status = put_shared(site, path, err);
	}
	if (!status) {
		tk_shard_add_manifest(&site->page, site);
		status = put_shared(site, "data/manifest.js", err);
	}
	if (!status && site->sitemap.len)
		status = tk_output_put(site->out, "sitemap.txt", &site->sitemap, err);
	return status ? status
	              : put_shared(site, ".nojekyll", err); /* GitHub Pages: publish as it is */
}

/* Whether the old site can be updated in place. */
static int plan(struct tk_site *site, const char *assets_hex, char digest[TK_HASH_HEX_SIZE],
        struct tk_error *err)
{
	struct tk_model *m = &site->model;
	struct tk_reuse *reuse = &site->reuse;
	int status = tk_chart_data_plan(m, &site->data, err);
	if (!status)
		status = hash_inputs(site, assets_hex, digest, err);
	if (!status)
		status = tk_reuse_plan(m, site->out, digest, site->options->full, reuse, err);
	if (!status)
		status = tk_state_new(&site->state, m->series_count, site->data.shard_count,
		        site->data.group_count, err);
	if (!status)
		status = tk_totals_plan(m, &site->totals, err);
	for (size_t i = 0; !status && i < m->series_count; i++)
		m->series[i].trace = &site->state.series[i].trace;
	if (!status && reuse->usable)
		reuse->usable = tk_state_read(&site->state, site->out, reuse->build) &&
		                tk_totals_read(&site->totals, site->out, reuse->build);
	if (!status && reuse->usable)
		status = tk_reuse_find_backfilled(m, &site->state, reuse, err);
	if (!status && reuse->usable)
		tk_output_resume(site->out, reuse->files, reuse->bytes);
	else if (!status) {
		tk_state_clear(&site->state);
		tk_totals_clear(&site->totals);
	}
	return status;
}

static int render_all(struct tk_site *site, const struct tk_assets *assets, struct tk_error *err)
{
	static int (*const pages[])(struct tk_site *, struct tk_error *) = {tk_chart_data_write,
	        tk_page_write_overview, tk_page_write_trends, tk_page_write_kernels,
	        tk_page_write_rooflines, tk_page_write_lists, tk_page_write_nights,
	        tk_page_write_upstreams, tk_page_write_versions, tk_page_write_revisions,
	        tk_page_write_machines, tk_page_write_environment, tk_page_write_alerts,
	        tk_page_write_method, tk_page_write_compare, tk_page_write_kernel_traces,
	        tk_page_write_tunings, tk_page_write_api, tk_page_write_badges};
	char digest[TK_HASH_HEX_SIZE], path[TK_PAGE_PATH_SIZE];
	site->has_charts = assets->has_charts;
	snprintf(site->version, sizeof site->version, "%.8s", assets->hash);
	int status = plan(site, assets->hash, digest, err); /* which depends on the assets */
	if (!status)
		status = tk_assets_put(assets, site->out, err);
	for (size_t i = 0; !status && i < site->model.series_count; i++) {
		tk_page_series_path(&site->model.series[i], path);
		tk_page_register(site, path);
	}
	for (size_t i = 0; !status && i < sizeof pages / sizeof *pages; i++)
		status = pages[i](site, err);
	if (!status)
		status = write_shared_data(site, err);
	if (!status)
		status = tk_reuse_retire_pages(
		        &site->model, site->out, site->state.build, &site->reuse, err);
	if (!status && site->state.is_changed)
		status = tk_state_write(&site->state, site->out, err);
	if (!status && site->state.is_changed)
		status = tk_totals_write(&site->totals, site->out, site->state.build, err);
	return status ? status
	              : tk_reuse_write_state(&site->model, site->out, digest, site->state.build,
	                        &site->reuse, err);
}

static void site_free(struct tk_site *site)
{
	tk_reuse_free(&site->reuse);
	tk_chart_data_free(&site->data);
	tk_state_free(&site->state);
	tk_totals_free(&site->totals);
	tk_code_cache_free(&site->codes);
	tk_page_free_revision_texts(site);
	tk_output_free(site->out);
	tk_templates_free(site->templates);
	tk_arena_free(site->arena);
	tk_buf_free(&site->page);
	tk_picture_free(site->picture);
	tk_buf_free(&site->chart);
	tk_buf_free(&site->keys);
	tk_buf_free(&site->sitemap);
	tk_buf_free(&site->markup);
	tk_model_free(&site->model);
}

int tk_site_write(struct tk_store *store, const struct tk_site_options *options,
        struct tk_site_report *report, struct tk_error *err)
{
	struct tk_site site = {.options = options};
	struct tk_assets assets = {0};
	int64_t start_ns = tk_clock_monotonic_ns();
	site.templates = tk_templates_new();
	site.arena = tk_arena_new();
	bool pictures = options->base_url && *options->base_url && tk_picture_is_supported();
	if (pictures)
		site.picture = tk_picture_new();
	int status = site.templates && site.arena && (site.picture || !pictures)
	                     ? 0
	                     : tk_fail(err, TK_ENOMEM, "out of memory");
	if (!status)
		status = tk_templates_load(site.templates, options->templates_dir, err);
	if (!status)
		status = tk_output_open(options->out_dir, &site.out, err);
	if (!status)
		status = tk_assets_read(options->templates_dir, options->assets_dir, &assets, err);
	bool reading = !status && !(status = tk_store_begin_read(store, err));
	if (!status)
		status = tk_model_load(store, &site.model, err);
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
