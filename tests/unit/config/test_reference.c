/* The documents that are made from the table of keys. */
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
#include "config/keys.h"
#include "config/reference.h"

#define REFERENCE TK_SOURCE_ROOT "/docs/reference/configuration.md"

static void the_committed_reference(void **state)
{
	struct tk_buf made = TK_BUF_INIT, committed = TK_BUF_INIT;
	struct tk_error err = {0};

	tk_config_write_reference(&made);
	assert_int_equal(tk_file_read(REFERENCE, 1 << 20, &committed, &err), 0);
	if (strcmp(tk_buf_cstr(&made), tk_buf_cstr(&committed)) != 0)
		fail_msg("outdated: run `tracker manual configuration "
		         ">docs/reference/configuration.md`");
	tk_buf_free(&made);
	tk_buf_free(&committed);
}

/* With and without the file of `tracker init` everything is the same. */
static void the_default_file(void **state)
{
	struct tk_buf text = TK_BUF_INIT;
	struct tk_config *written = NULL, *none = NULL;
	struct tk_error err = {0};

	tk_config_write_default_file(&text, NULL);
	if (tk_config_load_text("/srv", "default", text.data, text.len, &written, &err))
		fail_msg("%s\n%s", text.data, err.message);
	assert_int_equal(tk_config_load_text("/srv", "none", "", 0, &none, &err), 0);
	assert_string_equal(written->hash, none->hash);
	assert_string_equal(written->site_title, none->site_title);
	assert_string_equal(written->db, none->db);
	assert_int_equal(written->keep_samples_days, none->keep_samples_days);
	assert_true(written->thresholds.min_effect_ns == none->thresholds.min_effect_ns);
	for (char *line = strtok(text.data, "\n"); line; line = strtok(NULL, "\n"))
		if (strlen(line) > 100)
			fail_msg("longer than 100 characters: %s", line);
	tk_config_free(written);
	tk_config_free(none);
	tk_buf_free(&text);
}

/* Every value of the default file is there, and each example loads when it is no comment. */
static void every_key_in_the_default_file(void **state)
{
	struct tk_buf text = TK_BUF_INIT;

	tk_config_write_default_file(&text, NULL);
	for (const struct tk_config_section *s = tk_config_sections; s->name; s++)
		for (const struct tk_config_key *key = s->keys; key->name; key++) {
			char line[160];

			assert_non_null(key->summary);
			assert_true(key->fallback || key->fallback_note);
			if (strcmp(s->name, "upstreams") == 0 || (!key->fallback && !key->example))
				continue;
			snprintf(line, sizeof line, "%s: ", key->name);
			if (!strstr(text.data, line))
				fail_msg("no line for %s.%s", s->name, key->name);
		}
	tk_buf_free(&text);
}

/* Every key has a paragraph, no Markdown is left, and no text is taken for a request. */
static void the_man_page(void **state)
{
	struct tk_buf text = TK_BUF_INIT;

	tk_config_write_man_page(&text);
	assert_int_equal(tk_buf_status(&text, NULL), 0);
	assert_null(strchr(text.data, '`'));
	assert_null(strstr(text.data, "]("));
	assert_non_null(strstr(text.data, ".B min_effect\n"));
	assert_non_null(strstr(text.data, "Type: duration, 1s to 7d. Default: 4h.\n"));
	tk_buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_committed_reference),
	        cmocka_unit_test(the_default_file),
	        cmocka_unit_test(the_man_page),
	        cmocka_unit_test(every_key_in_the_default_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
