/* Style sheets and scripts that pages load as one file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "site_gen/render/assets.h"
#include "site_gen/render/output.h"

struct lab {
	char *root, *third_party, *out;
};

static int setup(void **state)
{
	struct lab *lab = calloc(1, sizeof *lab);
	struct tk_error err = {0};
	assert_non_null(lab);
	assert_int_equal(tk_dir_create_temp("/tmp", "tk-assets-", &lab->root, &err), 0);
	lab->third_party = tk_path_join(lab->root, "npm");
	lab->out = tk_path_join(lab->root, "site");
	assert_int_equal(tk_dir_create(lab->third_party, &err), 0);
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;
	struct tk_error err = {0};
	tk_dir_remove(lab->root, &err);
	free(lab->root);
	free(lab->third_party);
	free(lab->out);
	free(lab);
	return 0;
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char *path = tk_path_join(dir, name);
	struct tk_error err = {0};
	assert_int_equal(tk_file_write(path, text, strlen(text), &err), 0);
	free(path);
}

static struct tk_assets read_all(const struct lab *lab)
{
	struct tk_assets assets;
	struct tk_error err = {0};
	assert_int_equal(
	        tk_assets_read(TK_SOURCE_ROOT "/templates", lab->third_party, &assets, &err), 0);
	return assets;
}

static void put_all(const struct lab *lab, const struct tk_assets *assets)
{
	struct tk_output *out = NULL;
	struct tk_error err = {0};
	struct tk_buf marker = TK_BUF_INIT;
	tk_buf_add_str(&marker, "{}");
	assert_int_equal(tk_output_open(lab->out, &out, &err), 0);
	assert_int_equal(tk_assets_put(assets, out, &err), 0);
	assert_int_equal(tk_output_put(out, TK_SITE_MARKER, &marker, &err), 0);
	assert_int_equal(tk_output_commit(out, &err), 0);
	tk_output_free(out);
	tk_buf_free(&marker);
}

/* Copies the assets of the tree and those of npm into a site; returns whether it has charts. */
static bool copy(struct lab *lab, char hex[TK_HASH_HEX_SIZE])
{
	struct tk_assets assets = read_all(lab);
	bool has_charts = assets.has_charts;
	put_all(lab, &assets);
	memcpy(hex, assets.hash, TK_HASH_HEX_SIZE);
	tk_assets_free(&assets);
	return has_charts;
}

/* The text of an asset of the site, "" if there is none. */
static char *read_asset(const struct lab *lab, const char *name)
{
	struct tk_buf text = TK_BUF_INIT;
	struct tk_error err = {0};
	char *assets = tk_path_join(lab->out, "assets"), *path = tk_path_join(assets, name);
	if (tk_file_exists(path))
		assert_int_equal(tk_file_read(path, 0, &text, &err), 0);
	char *copy = strdup(tk_buf_cstr(&text));
	tk_buf_free(&text);
	free(assets);
	free(path);
	return copy;
}

/* Fails unless the asset has the texts in this order. */
static void assert_in_order(const struct lab *lab, const char *name, const char *const texts[])
{
	char *all = read_asset(lab, name);
	const char *at = all;
	for (; *texts; texts++) {
		const char *found = strstr(at, *texts);
		if (!found)
			fail_msg("%s has no \"%s\" at its place", name, *texts);
		at = found + strlen(*texts);
	}
	free(all);
}

static void joins_what_pages_load_together(void **state)
{
	struct lab *lab = *state;
	char hex[TK_HASH_HEX_SIZE];
	assert_false(copy(lab, hex));
	assert_in_order(lab, "style.css",
	        (const char *const[]){"--card", ".board", "@media print {", "body {", NULL});
	assert_in_order(lab, "core.js",
	        (const char *const[]){"//# allFunctionsCalledOnLoad\n",
	                "window.tracker.dom =", "window.tracker.format =", "window.tracker.state =",
	                "window.tracker.data =", NULL});
	assert_in_order(lab, "series.js",
	        (const char *const[]){"window.tracker.intervalBand =", "window.tracker.TrendView =",
	                "window.tracker.trendChart =", "new Trend(figure, series).start()", NULL});
	char *part = read_asset(lab, "dom.js"), *alone = read_asset(lab, "sort.js");
	assert_string_equal(part, "");
	assert_string_not_equal(alone, "");
	free(part);
	free(alone);
}

static void leaves_out_what_npm_did_not_get(void **state)
{
	struct lab *lab = *state;
	char hex[TK_HASH_HEX_SIZE], with_font[TK_HASH_HEX_SIZE];
	assert_false(copy(lab, hex));
	char *charts = read_asset(lab, "chart.umd.min.js"),
	     *plugins = read_asset(lab, "chart_plugins.min.js"),
	     *style = read_asset(lab, "style.css"), *head = read_asset(lab, "head.js");
	assert_string_equal(charts, "");
	assert_string_equal(plugins, "");
	assert_null(strstr(style, "@font-face"));
	assert_null(strstr(head, "document.fonts"));
	free(charts);
	free(plugins);
	free(style);
	free(head);

	write_file(lab->third_party, "inter-latin-wght-normal.woff2", "font");
	assert_false(copy(lab, with_font));
	assert_string_not_equal(hex, with_font);
	assert_in_order(
	        lab, "style.css", (const char *const[]){":root", "@font-face", ".board", NULL});
	assert_in_order(lab, "head.js",
	        (const char *const[]){"tracker-theme", "document.fonts", "tracker.keys", NULL});
}

static void separates_minified_scripts(void **state)
{
	struct lab *lab = *state;
	char hex[TK_HASH_HEX_SIZE];
	write_file(lab->third_party, "chart.umd.min.js", "charts()");
	write_file(lab->third_party, "hammer.min.js", "(hammer)()");
	write_file(lab->third_party, "chartjs-plugin-zoom.min.js", "(zoom)()//# map");
	write_file(lab->third_party, "chartjs-plugin-annotation.min.js", "(annotation)()");
	assert_true(copy(lab, hex));
	char *charts = read_asset(lab, "chart.umd.min.js"),
	     *plugins = read_asset(lab, "chart_plugins.min.js");
	assert_string_equal(charts, "//# allFunctionsCalledOnLoad\ncharts()\n");
	assert_string_equal(plugins, "//# allFunctionsCalledOnLoad\n(hammer)()\n;\n"
	                             "(zoom)()//# map\n;\n(annotation)()\n");
	free(charts);
	free(plugins);
}

/* The names of the files in the pages have the hash of what was read, so nothing else is written,
 * though the folder changes meanwhile. */
static void writes_what_it_has_hashed(void **state)
{
	struct lab *lab = *state;
	write_file(lab->third_party, "a.css", "before");
	struct tk_assets assets = read_all(lab);
	write_file(lab->third_party, "a.css", "after");
	put_all(lab, &assets);
	char *written = read_asset(lab, "a.css");
	assert_string_equal(written, "before");
	free(written);

	struct tk_assets later = read_all(lab);
	assert_string_not_equal(assets.hash, later.hash);
	assert_int_equal(assets.count, later.count);
	tk_assets_free(&assets);
	tk_assets_free(&later);
}

static void needs_the_templates(void **state)
{
	struct lab *lab = *state;
	struct tk_assets assets;
	struct tk_error err = {0};
	assert_int_not_equal(tk_assets_read(lab->root, "", &assets, &err), 0);
	assert_non_null(strstr(err.message, "assets"));
	assert_int_equal(assets.count, 0);
	assert_null(assets.files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(joins_what_pages_load_together, setup, teardown),
	        cmocka_unit_test_setup_teardown(leaves_out_what_npm_did_not_get, setup, teardown),
	        cmocka_unit_test_setup_teardown(separates_minified_scripts, setup, teardown),
	        cmocka_unit_test_setup_teardown(writes_what_it_has_hashed, setup, teardown),
	        cmocka_unit_test_setup_teardown(needs_the_templates, setup, teardown)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
