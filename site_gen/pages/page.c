/* The frame of every page: title, navigation, site map. */
#include "site_gen/pages/page.h"

#include "base/base.h"
#include "site_gen/charts/charts.h"
#include "site_gen/render/escape.h"

static void section_path(struct tk_buf *out, const struct tk_model *m, enum tk_section section)
{
	static const char *const plain[] = {"index.html", "", "", "lists/index.html",
	        "compare.html", "", "nights/index.html", "upstreams/index.html",
	        "machines/index.html", "alerts.html", "method.html"};
	tk_buf_add_str(out, plain[section]);
	if (section == TK_SECTION_TRENDS && m->series_count)
		tk_buf_add_str(out, "trends/index.html");
	if (section == TK_SECTION_ROOFLINE && m->device_count)
		tk_buf_add_printf(out, "roofline/%s.html", m->devices[0].file);
	for (size_t i = 0; section == TK_SECTION_KERNELS && i < m->series_count && !out->len; i++)
		if (tk_series_is_suite_time(&m->series[i]) && tk_series_has_result(&m->series[i]))
			tk_buf_add_printf(out, "kernels/%s.html", m->series[i].op_file);
}

/* The public address of a page; false and nothing where the site's is unknown. */
static bool add_address(struct tk_buf *out, const struct tk_site *site, const char *path)
{
	const char *base = site->options->base_url;
	if (!base || !*base)
		return false;
	tk_buf_add_str(out, base);
	tk_buf_add_str(out, base[strlen(base) - 1] == '/' ? "" : "/");
	tk_buf_add_str(out, path);
	return true;
}

struct tk_value *tk_page_begin(
        struct tk_site *site, const char *path, const char *title, enum tk_section section)
{
	static const char *const titles[] = {
#define TITLE(id, name) name,
	        TK_SECTIONS(TITLE)
#undef TITLE
	};
	tk_arena_reset(site->arena);
	struct tk_arena *a = site->arena;
	struct tk_value *page = tk_value_object(a);
	site->frame = page;
	const char *root = strchr(path, '/') ? "../" : "";
	site->root = root;
	tk_value_set(page, "root", root);
	tk_value_set_clip(page, "title", title, 200);
	tk_value_set_clip(page, "site",
	        site->options->title && *site->options->title ? site->options->title : "tracker",
	        80);
	tk_value_set_fmt(page, "description", "%.*s: performance of kernels, measured every night.",
	        (int)tk_utf8_clip_len(title, 200), title);
	struct tk_buf address = TK_BUF_INIT;
	bool has_address = add_address(&address, site, path);
	tk_value_set(page, "address", tk_buf_cstr(&address));
	tk_buf_free(&address);
	tk_value_set(page, "version", site->version);
	tk_value_set_flag(page, "charts", site->has_charts);
	tk_value_set_flag(page, "feed", has_address);
	struct tk_value *nav = tk_value_add_list(page, "nav");
	for (int i = 0; i < TK_SECTION_COUNT; i++) {
		struct tk_buf target = TK_BUF_INIT;
		section_path(&target, &site->model, (enum tk_section)i);
		if (target.len) {
			struct tk_value *item = tk_value_append(nav);
			tk_value_set_joined(item, "href", root, target.data, "");
			tk_value_set(item, "name", titles[i]);
			tk_value_set_flag(item, "current", i == (int)section);
		}
		tk_buf_free(&target);
	}
	return page;
}

int tk_page_finish(
        struct tk_site *site, const char *template_name, const char *path, struct tk_error *err)
{
	const char *suffix = strrchr(path, '.');
	site->pages++;
	if (suffix && !strcmp(suffix, ".html") && add_address(&site->sitemap, site, path))
		tk_buf_add_char(&site->sitemap, '\n');
	tk_buf_clear(&site->page);
	int status =
	        tk_templates_render(site->templates, template_name, site->frame, &site->page, err);
	if (!status)
		status = tk_output_put(site->out, path, &site->page, err);
	return status ? tk_error_add_context(err, "page %s", path) : 0;
}

void tk_page_set_markup(struct tk_site *site, struct tk_value *o, const char *key)
{
	tk_value_set_markup(o, key, &site->markup);
	tk_buf_clear(&site->markup);
}

void tk_page_set_key(struct tk_site *site, struct tk_value *o, size_t style, const char *label)
{
	tk_value_set_clip(o, "label", label, 60);
	tk_mark_draw_key(&site->markup, style);
	tk_page_set_markup(site, o, "mark_markup");
}
