/* The examples of the reference load. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "config/config.h"
#include "suite/builder.h"

static char *read_document(const char *name)
{
	struct tk_buf b = TK_BUF_INIT;
	struct tk_error err = {0};
	char path[512];

	snprintf(path, sizeof path, "%s/docs/reference/%s", TK_SOURCE_ROOT, name);
	if (tk_file_read(path, 1 << 20, &b, &err))
		fail_msg("%s", err.message);
	return tk_buf_detach(&b, NULL);
}

static int load_config(const char *text, size_t len, struct tk_error *err)
{
	struct tk_config *c = NULL;
	int status = tk_config_load_text(TK_SOURCE_ROOT, "example", text, len, &c, err);

	tk_config_free(c);
	return status;
}

static int load_suite(const char *path, const char *text, size_t len, struct tk_error *err)
{
	struct tk_suite *s = NULL;
	struct tk_buf b = TK_BUF_INIT;
	int status;

	tk_buf_add(&b, text, len);
	status = tk_suite_load_text(path, "example", &b, &s, err);
	tk_suite_free(s);
	tk_buf_free(&b);
	return status;
}

static int load_suite_yaml(const char *text, size_t len, struct tk_error *err)
{
	return load_suite("example.yml", text, len, err);
}

static int load_suite_json(const char *text, size_t len, struct tk_error *err)
{
	return load_suite("example.json", text, len, err);
}

/* Every block that begins with ```LANGUAGE loads. */
static void check_examples(const char *document, const char *language,
        int (*load)(const char *text, size_t len, struct tk_error *err), size_t at_least)
{
	char *text = read_document(document), fence[32];
	size_t found = 0;

	snprintf(fence, sizeof fence, "\n```%s\n", language);
	for (char *at = text; (at = strstr(at, fence)); found++) {
		struct tk_error err = {0};
		char *end;

		at += strlen(fence);
		end = strstr(at, "\n```");
		assert_non_null(end);
		if (load(at, (size_t)(end + 1 - at), &err))
			fail_msg("docs/%s: %s\n%.*s", document, err.message, (int)(end - at), at);
		at = end;
	}
	assert_true(found >= at_least);
	free(text);
}

static void examples_load(void **state)
{
	check_examples("configuration.md", "yaml", load_config, 4);
	check_examples("suites.md", "yaml", load_suite_yaml, 4);
	check_examples("suites.md", "json", load_suite_json, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(examples_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
