/* The template engine: what it shows, what it escapes, and the place and words of every error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "site_gen/render/template.h"
#include "site_gen/render/value.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
	struct tk_arena *arena;
	struct tk_templates *set;
	struct tk_value *root;
	struct tk_buf out;
	struct tk_error err;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof *w);
	w->arena = tk_arena_new();
	w->set = tk_templates_new();
	w->root = tk_value_object(w->arena);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	tk_arena_free(w->arena);
	tk_templates_free(w->set);
	tk_buf_free(&w->out);
	free(w);
	return 0;
}

static const char *render(struct world *w, const char *text)
{
	assert_int_equal(tk_templates_add(w->set, "page", text, strlen(text), &w->err), 0);
	if (tk_templates_render(w->set, "page", w->root, &w->out, &w->err))
		return w->err.message;
	return tk_buf_cstr(&w->out);
}

static void escapes_text(void **state)
{
	struct world *w = *state;
	tk_value_set(w->root, "x", "<script>alert('1')</script> & \"q\"");
	assert_string_equal(render(w, "a {{x}} b"),
	        "a &lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;q&quot; b");
}

static void replaces_control_and_malformed(void **state)
{
	struct world *w = *state;
	tk_value_set_len(
	        w->root, "x", "a\0b\x1b\xc0\xaf\xe2\x80\xae\xed\xa0\x80\xff\tz\n\xc3\xa9", 18);
	assert_string_equal(render(w, "{{x}}"),
	        "a\uFFFDb\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\tz\n\u00e9");
}

static void shows_sections(void **state)
{
	struct world *w = *state;
	struct tk_value *list = tk_value_add_list(w->root, "list");
	for (int i = 1; i < 4; i++)
		tk_value_set_int(tk_value_append(list), "n", i);
	struct tk_value *names = tk_value_add_list(w->root, "names");
	tk_value_append_text(names, "u");
	tk_value_append_text(names, "v<");
	tk_value_add_list(w->root, "none");
	tk_value_set_flag(w->root, "yes", true);
	tk_value_set_flag(w->root, "no", false);
	tk_value_set(tk_value_add_object(w->root, "who"), "name", "me");
	assert_string_equal(
	        render(w,
	                "{{#list}}[{{n}}]{{/list}}{{#none}}x{{/none}}{{^none}}none{{/"
	                "none}}{{#yes}}Y{{/"
	                "yes}}{{#no}}N{{/no}}"
	                "{{^no}}!{{/no}}{{#names}}({{.}}){{/names}}{{who.name}}{{#who}}={{name}}{{/"
	                "who}}{{^missing}}-{{/missing}}"),
	        "[1][2][3]noneY!(u)(v&lt;)me=me-");
}

static void frames_lists_once(void **state)
{
	struct world *w = *state;
	struct tk_value *list = tk_value_add_list(w->root, "list");
	tk_value_append_text(list, "a");
	tk_value_append_text(list, "b");
	tk_value_add_list(w->root, "none");
	assert_string_equal(
	        render(w, "{{#list?}}<{{#list}}{{.}}{{/list}}>{{/list?}}{{#none?}}x{{/none?}}"),
	        "<ab>");
}

static void takes_lines_of_lone_tags(void **state)
{
	struct world *w = *state;
	tk_value_set_flag(w->root, "on", true);
	assert_string_equal(
	        render(w, "a\n  {{#on}}  \nb\n{{/on}}\n{{! note }}\nc {{#on}}d{{/on}}\n"),
	        "a\nb\nc d\n");
}

static void takes_markup_only_raw(void **state)
{
	struct world *w = *state;
	struct tk_buf svg = TK_BUF_INIT;
	tk_buf_add_str(&svg, "<svg/>");
	tk_value_set_markup(w->root, "a_markup", &svg);
	tk_buf_free(&svg);
	assert_string_equal(render(w, "{{{a_markup}}}"), "<svg/>");
}

static void refuses_raw_text(void **state)
{
	struct world *w = *state;
	tk_value_set(w->root, "a_markup", "<b>");
	assert_string_equal(
	        render(w, "\n {{{a_markup}}}"), "page.html:2:2: not markup: `a_markup`");
}

static void includes_partials(void **state)
{
	struct world *w = *state;
	tk_value_set(w->root, "x", "1");
	assert_int_equal(tk_templates_add(w->set, "part", "<{{x}}>", 7, &w->err), 0);
	assert_string_equal(render(w, "{{>part}}{{> part }}"), "<1><1>");
}

static void stops_endless_partials(void **state)
{
	struct world *w = *state;
	assert_string_equal(
	        render(w, "{{>page}}"), "page.html:1:1: partials are nested too deep at `page`");
}

static void tells_missing_names(void **state)
{
	struct world *w = *state;
	assert_string_equal(render(w, "ab\ncd {{nope}}"), "page.html:2:4: no value for `nope`");
}

static void tells_missing_partial(void **state)
{
	struct world *w = *state;
	assert_string_equal(render(w, "{{>nope}}"), "page.html:1:1: no template named `nope`");
}

static void refuses_list_as_text(void **state)
{
	struct world *w = *state;
	tk_value_add_list(w->root, "l");
	assert_string_equal(render(w, "{{l}}"), "page.html:1:1: not a text: `l`");
}

static void refuses_bad_syntax(void **state)
{
	struct world *w = *state;
	static const struct {
		const char *text, *message;
	} bad[] = {
	        {"a {{x", "t.html:1:3: unterminated tag"},
	        {"{{}}", "t.html:1:1: invalid name ``"},
	        {"{{a?}}", "t.html:1:1: invalid name `a?`"},
	        {"{{#?}}", "t.html:1:1: invalid name `?`"},
	        {"{{a b}}", "t.html:1:1: invalid name `a b`"},
	        {"{{a..b}}", "t.html:1:1: invalid name `a..b`"},
	        {"{{{x}}}",
	                "t.html:1:1: {{{ }}} takes markup, whose name must end in _markup: `x`"},
	        {"{{{_markup}}}", "t.html:1:1: {{{ }}} takes markup, whose name must end in "
	                          "_markup: `_markup`"},
	        {"\n{{#a}}", "t.html:2:1: unclosed section `a`"},
	        {"{{/a}}", "t.html:1:1: no open section to close with `a`"},
	        {"{{#a}}{{#b}}{{/a}}", "t.html:1:13: expected the end of section `b`"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(
		        tk_templates_add(w->set, "t", bad[i].text, strlen(bad[i].text), &w->err),
		        TK_EDATA);
		assert_string_equal(w->err.message, bad[i].message);
	}
}

static void limits_depth_and_size(void **state)
{
	struct world *w = *state;
	struct tk_buf deep = TK_BUF_INIT;
	for (int i = 0; i < TK_TEMPLATE_DEPTH_MAX + 1; i++)
		tk_buf_add_str(&deep, "{{#a}}");
	assert_int_equal(tk_templates_add(w->set, "t", deep.data, deep.len, &w->err), TK_EDATA);
	assert_string_equal(w->err.message, "t.html:1:193: sections are nested too deep at `a`");
	tk_buf_free(&deep);
	char *huge = calloc(1, TK_TEMPLATE_BYTES_MAX + 1);
	assert_int_equal(
	        tk_templates_add(w->set, "t", huge, TK_TEMPLATE_BYTES_MAX + 1, &w->err), TK_EDATA);
	assert_string_equal(w->err.message, "t.html: larger than 1048576 bytes");
	free(huge);
}

static void ends_exponential_pages(void **state)
{
	struct world *w = *state;
	const char *bomb = "{{>t}}{{>t}}";
	assert_int_equal(
	        tk_templates_add(w->set, "t", "{{#go}}{{/go}}{{>u}}{{>u}}", 26, &w->err), 0);
	assert_int_equal(tk_templates_add(w->set, "u", bomb, strlen(bomb), &w->err), 0);
	const char *message = render(w, "{{>t}}");
	assert_non_null(strstr(message, "nested too deep"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	        T(escapes_text),
	        T(replaces_control_and_malformed),
	        T(shows_sections),
	        T(frames_lists_once),
	        T(takes_lines_of_lone_tags),
	        T(takes_markup_only_raw),
	        T(refuses_raw_text),
	        T(includes_partials),
	        T(stops_endless_partials),
	        T(tells_missing_names),
	        T(tells_missing_partial),
	        T(refuses_list_as_text),
	        T(refuses_bad_syntax),
	        T(limits_depth_and_size),
	        T(ends_exponential_pages),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
