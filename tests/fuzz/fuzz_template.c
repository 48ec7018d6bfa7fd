/* Any bytes as a template with a partial that is itself: an error with a place, or a page in which
 * no text of others is markup. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "fuzz.h"
#include "site_gen/render/template.h"
#include "site_gen/render/value.h"

static struct tk_value *make_data(struct tk_arena *a, const char *text, size_t len)
{
	struct tk_value *root = tk_value_object(a), *list = tk_value_add_list(root, "list");
	tk_value_set_len(root, "x", text, len);
	tk_value_set_flag(root, "yes", true);
	tk_value_add_list(root, "none");
	for (int i = 0; i < 3; i++)
		tk_value_set_int(tk_value_append(list), "n", i);
	tk_value_set(tk_value_add_object(root, "o"), "name", "a<b");
	struct tk_buf svg = TK_BUF_INIT;
	tk_buf_add_str(&svg, "<svg/>");
	tk_value_set_markup(root, "a_markup", &svg);
	tk_buf_free(&svg);
	return root;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tk_error err = {0};
	struct tk_templates *set = tk_templates_new();
	struct tk_arena *arena = tk_arena_new();
	struct tk_buf out = {.max = 1 << 20};
	if (set && arena) {
		struct tk_value *root =
		        make_data(arena, (const char *)data, size < 4096 ? size : 4096);
		const char *shown = "{{x}}";
		if (tk_templates_add(set, "page", (const char *)data, size, &err) == 0)
			tk_templates_render(set, "page", root, &out, &err);
		if (err.status && !err.message[0])
			abort();
		tk_buf_clear(&out);
		if (tk_templates_add(set, "shown", shown, strlen(shown), &err) ||
		        tk_templates_render(set, "shown", root, &out, &err) ||
		        strpbrk(tk_buf_cstr(&out), "<>\"'"))
			abort();
	}
	tk_buf_free(&out);
	tk_arena_free(arena);
	tk_templates_free(set);
	return 0;
}
