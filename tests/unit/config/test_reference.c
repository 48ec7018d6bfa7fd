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

static char *write_file(const struct tk_config_host *host)
{
	struct tk_buf text = TK_BUF_INIT;

	tk_config_write_default_file(&text, host);
	char *file = tk_buf_detach(&text, NULL);

	assert_non_null(file);
	return file;
}

static void expect_part(const char *file, const char *part)
{
	if (!strstr(file, part))
		fail_msg("\"%s\" is not in the file", part);
}

/* What a reader sees: comments before or beside their key, examples commented out, and keys of a
 * section below it. */
static void the_layout_of_the_default_file(void **state)
{
	char *file = write_file(NULL), *rest = file, *line, *before = (char *)"";
	char *whole = strdup(file);

	(void)state;
	expect_part(whole,
	        "\n# Problems to measure: names of suites (`tracker suite list`), or paths; "
	        "KIND:NAME for one kind of\n# device\nsuites: ");
	expect_part(whole, "\n# machine: bench-01\n\n");
	expect_part(whole, "\ndevices: [all]\n\n");
	expect_part(whole, "\nmeasure:\n  precision: 1%               # target half-width of ");
	expect_part(whole, "\n  fetch: 5m                   # one git fetch\n");
	expect_part(whole, "\n  # Region-by-region comparison of regressed kernels that record; 0: "
	                   "none\n  trace: 5m\n");
	expect_part(
	        whole, "\n  # cache: ~/.cache/tracker   # clones, work trees and cached builds\n");
	expect_part(whole, "\n  # NVIDIA's library, if the tracker was built with it\n"
	                   "  # - name: cublas\n  #   kind: system\n");
	while ((line = strsep(&rest, "\n")) && (rest || *line)) {
		const size_t len = strlen(line), indent = strspn(line, " ");

		if (len && line[len - 1] == ' ')
			fail_msg("a blank at the end of: %s", line);
		if (!len && !*before && before != file)
			fail_msg("two empty lines");
		/* one level of keys; a list of upstreams has two */
		assert_true(indent == 0 || indent == 2 || indent == 4 || indent == 6);
		before = line;
	}
	free(whole);
	free(file);
}

static void suites_of_a_machine(void **state)
{
	static const struct {
		struct tk_config_host_device devices[4];
		const char *line;
	} cases[] = {
	        {{{"cpu", "x86-64-v4"}, {NULL, NULL}}, "\nsuites: [smoke]\n"},
	        {{{NULL, NULL}}, "\nsuites: [smoke]\n"},
	        {{{"cpu", ""}, {"cuda", "sm_90"}, {NULL, NULL}},
	                "\nsuites: [cpu:smoke, cuda:first-gpu]\n"},
	        {{{"hip", "gfx942"}, {"cpu", ""}, {NULL, NULL}},
	                "\nsuites: [cpu:smoke, hip:first-gpu]\n"},
	        {{{"hip", "gfx942"}, {"cuda", "sm_90"}, {"cuda", "sm_90"}, {NULL, NULL}},
	                "\nsuites: [cuda:first-gpu, hip:first-gpu]\n"},
	        {{{"hip", "gfx942"}, {NULL, NULL}}, "\nsuites: [hip:first-gpu]\n"},
	};
	static const char *const no_backends[] = {NULL};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_config_host host = {
		        .devices = cases[i].devices, .backends = no_backends};
		char *file = write_file(&host);
		struct tk_config *c = NULL;
		struct tk_error err = {0};

		expect_part(file, cases[i].line);
		if (tk_config_load_text("/srv", "default", file, strlen(file), &c, &err))
			fail_msg("%s", err.message);
		tk_config_free(c);
		free(file);
	}
}

/* They are examples: a night would download them. */
static void packages_of_a_machine(void **state)
{
	static const struct tk_config_host_device devices[] = {{"cpu", ""}, {NULL, NULL}};
	static const struct tk_config_host_package packages[] = {{"numpy", "numpy", "2.4.6", false},
	        {"iree", "iree-base-compiler", "3.11.0", true}, {NULL, NULL, NULL, false}};
	static const char *const no_backends[] = {NULL};
	const struct tk_config_host host = {
	        .devices = devices, .backends = no_backends, .packages = packages};
	char *file = write_file(&host);

	(void)state;
	expect_part(file, "  # - name: numpy                # 2.4.6 is here\n  #   kind: package\n"
	                  "  # - name: iree                 # 3.11.0 is here\n  #   kind: package\n"
	                  "  #   package: iree-base-compiler\n  # More examples:\n");
	assert_null(strstr(file, "package: numpy"));
	free(file);
}

/* Bold text of the man page ends where it ends in Markdown. */
static void code_in_the_man_page(void **state)
{
	struct tk_buf text = TK_BUF_INIT;
	size_t bold = 0;

	(void)state;
	tk_config_write_man_page(&text);
	for (char *at = text.data; (at = strstr(at, "\\fB")); bold++) {
		char *end = strstr(at, "\\fR"), *line = strchr(at, '\n'),
		     *again = strstr(at + 3, "\\fB");

		assert_true(end && line && end < line && (!again || end < again));
		assert_true(end > at + 3); /* something is bold */
		at = end;
	}
	assert_true(bold > 20);
	expect_part(text.data, "\\fBconfig: tuned\\fR");
	tk_buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_committed_reference),
	        cmocka_unit_test(the_default_file),
	        cmocka_unit_test(the_man_page),
	        cmocka_unit_test(the_layout_of_the_default_file),
	        cmocka_unit_test(suites_of_a_machine),
	        cmocka_unit_test(packages_of_a_machine),
	        cmocka_unit_test(code_in_the_man_page),
	        cmocka_unit_test(every_key_in_the_default_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
