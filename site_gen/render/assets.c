/* Reads the assets of the templates and of npm, joins those that pages load together, and writes
 * them into a site. */
#include "site_gen/render/assets.h"

#include <unistd.h>

#include "base/base.h"
#include "site_gen/model/model.h"
#include "site_gen/render/output.h"

#define FILE_BYTES_MAX ((size_t)8 << 20)
#define FONT_FILE "inter-latin-wght-normal.woff2" /* as in templates/assets/font.css */
#define CHARTS_FILE "chart.umd.min.js"

/* Files that pages load as one: every request costs a browser about a millisecond. */
static const struct bundle {
	const char *name;
	const char *parts[12]; /* in the order in which a browser runs them */
} bundles[] = {
        {"style.css", {"base.css", "font.css", "cards.css", "overview.css", "tables.css",
                              "comparison.css", "details.css", "charts.css", "small_screens.css",
                              "print.css"}},
        {"head.js", {"theme.js", "font.js", "keys.js"}},
        {"core.js", {"dom.js", "format.js", "state.js", "data.js"}},
        {CHARTS_FILE, {CHARTS_FILE}},
        {"chart_plugins.min.js", {"hammer.min.js", "chartjs-plugin-zoom.min.js",
                                         "chartjs-plugin-annotation.min.js"}},
        {"charting.js", {"series_style.js", "time_axis.js", "value_axis.js"}},
        {"series.js", {"interval_band.js", "trend_view.js", "trend_chart.js", "csv.js",
                              "night_panel.js", "trend.js"}},
};

/* The first line of a script: Chromium then compiles all its functions while it loads, beside the
 * main thread, and not one by one when they are called. Other browsers ignore it. */
static const char compile_hint[] = "//# allFunctionsCalledOnLoad\n";

struct tk_asset_file {
	char *name;
	struct tk_buf text;
	bool is_part; /* of a bundle, and not written itself */
};

static char *program_folder(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	if (n <= 0)
		return NULL;
	path[n] = 0;
	char *slash = strrchr(path, '/');
	return slash ? tk_strndup(path, (size_t)(slash - path)) : NULL;
}

/* NULL: none. */
static char *find_third_party(void)
{
	const char *given = getenv("TRACKER_ASSETS");
	if (given)
		return *given ? tk_strdup(given) : NULL;
	char *folder = program_folder();
	static const char *const places[] = {"assets", "../share/tracker/assets"};
	char *found = NULL;
	for (size_t i = 0; folder && !found && i < sizeof places / sizeof *places; i++) {
		char *path = tk_path_join(folder, places[i]);
		if (path && tk_dir_exists(path))
			found = path;
		else
			free(path);
	}
	free(folder);
	return found;
}

static struct tk_asset_file *find(const struct tk_assets *assets, const char *name)
{
	for (size_t i = 0; i < assets->count; i++)
		if (!strcmp(assets->files[i].name, name))
			return &assets->files[i];
	return NULL;
}

/* Its text is empty. */
static struct tk_asset_file *add(struct tk_assets *assets, const char *name)
{
	assets->files = tk_reallocarray(assets->files, assets->count + 1, sizeof *assets->files);
	struct tk_asset_file *file = &assets->files[assets->count++];
	*file = (struct tk_asset_file){.name = tk_strdup(name), .text = TK_BUF_INIT};
	return file;
}

static bool is_asset(const char *name)
{
	static const char *const suffixes[] = {".css", ".js", ".svg", ".txt", ".woff2"};
	const char *dot = strrchr(name, '.');
	for (size_t i = 0; dot && dot != name && i < sizeof suffixes / sizeof *suffixes; i++)
		if (!strcmp(dot, suffixes[i]))
			return true;
	return false;
}

static int read_folder(struct tk_assets *assets, const char *dir, struct tk_error *err)
{
	char **names = NULL;
	size_t count = 0;
	int status = tk_dir_list(dir, &names, &count, err);
	for (size_t i = 0; !status && i < count; i++) {
		AUTO_TEXT path = tk_path_join(dir, names[i]);
		if (is_asset(names[i]))
			status = tk_file_read(
			        path, FILE_BYTES_MAX, &add(assets, names[i])->text, err);
	}
	tk_names_free(names, count);
	return status;
}

/* The width of bars in percent, the colours of backends, and the shades of maps. */
static void add_numbered_classes(struct tk_buf *css)
{
	for (int i = 0; i <= 100; i += 2)
		tk_buf_add_printf(css, ".w%d{--w:%d%%}\n", i, i);
	for (int i = 0; i < TK_STYLES; i++)
		tk_buf_add_printf(css, ".mark-%d{color:var(--c%d)}\n", i, i + 1);
	for (int i = 0; i < 16; i++)
		tk_buf_add_printf(css,
		        ".map-%d-%d{background:color-mix(in srgb,var(--c%d) %d%%,var(--bg))}\n",
		        i / 4, i % 4, i / 4 + 1, (const int[]){8, 18, 30, 42}[i % 4]);
}

/* Without the font's file, its sheet and script are of no use. */
static void add_bundle(struct tk_assets *assets, const struct bundle *bundle)
{
	bool is_script = strstr(bundle->name, ".js"), has_font = find(assets, FONT_FILE),
	     has_part = false;
	struct tk_buf all = TK_BUF_INIT;
	if (is_script)
		tk_buf_add_str(&all, compile_hint);
	for (const char *const *name = bundle->parts; *name; name++) {
		struct tk_asset_file *part = find(assets, *name);
		if (!part)
			continue;
		part->is_part = true;
		if (!has_font && !strncmp(*name, "font.", 5))
			continue;
		if (is_script && has_part)
			tk_buf_add_str(&all, ";\n"); /* minified scripts may end without one */
		tk_buf_add(&all, tk_buf_cstr(&part->text), part->text.len);
		tk_buf_add_char(&all, '\n');
		has_part = true;
	}
	if (!is_script)
		add_numbered_classes(&all);
	if (has_part)
		add(assets, bundle->name)->text = all;
	else
		tk_buf_free(&all);
}

static void hash_files(struct tk_assets *assets)
{
	struct tk_hash *hash = tk_hash_new();
	for (size_t i = 0; i < assets->count; i++) {
		const struct tk_asset_file *file = &assets->files[i];
		if (file->is_part)
			continue;
		tk_hash_add_str(hash, file->name);
		tk_hash_add(hash, tk_buf_cstr(&file->text), file->text.len);
	}
	tk_hash_finish(hash, assets->hash);
}

int tk_assets_read(const char *templates_dir, const char *third_party, struct tk_assets *assets,
        struct tk_error *err)
{
	AUTO_TEXT own = tk_path_join(templates_dir, "assets");
	AUTO_TEXT others = !third_party   ? find_third_party()
	                   : *third_party ? tk_strdup(third_party)
	                                  : NULL;
	*assets = (struct tk_assets){0};
	TRY(read_folder(assets, own, err));
	if (others)
		TRY(read_folder(assets, others, err));
	assets->has_charts = find(assets, CHARTS_FILE) != NULL;
	for (size_t i = 0; i < sizeof bundles / sizeof *bundles; i++)
		add_bundle(assets, &bundles[i]);
	hash_files(assets);
	return 0;
}

int tk_assets_put(const struct tk_assets *assets, struct tk_output *out, struct tk_error *err)
{
	for (size_t i = 0; i < assets->count; i++) {
		if (assets->files[i].is_part)
			continue;
		char to[300];
		snprintf(to, sizeof to, "assets/%s", assets->files[i].name);
		TRY(tk_output_put(out, to, &assets->files[i].text, err));
	}
	return TK_OK;
}

void tk_assets_free(struct tk_assets *assets)
{
	for (size_t i = 0; i < assets->count; i++) {
		free(assets->files[i].name);
		tk_buf_free(&assets->files[i].text);
	}
	free(assets->files);
	*assets = (struct tk_assets){0};
}
