/* Texts of others in Markdown, in CSV, in workflow commands and on a terminal: nothing in them is
 * taken for markup. */
#include "capture.h"

#include <locale.h>
#include <math.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "cli/markup.h"
#include "core/outcome.h"

/* ---- Markdown ---- */

static void markdown_is_text(void **state)
{
	static const struct {
		const char *text, *markdown;
	} cases[] = {
	        {"plain, 1.5 (x)", "plain, 1.5 (x)"},
	        {"a|b", "a\\|b"},
	        {"[a](b)", "\\[a\\](b)"},
	        {"*a* _b_ `c` ~d~ $e$ \\", "\\*a\\* \\_b\\_ \\`c\\` \\~d\\~ \\$e\\$ \\\\"},
	        {"<b>&amp;", "&#60;b&#62;&#38;amp;"},
	        {"@ada fixes #12", "&#64;ada fixes &#35;12"},
	        {"https://a.b", "https&#58;//a.b"},
	        {"a: b", "a: b"},
	        {"www.a.b", "www&#46;a.b"},
	        {"line\nbreak\ttab\033[31m", "line break tab \\[31m"},
	        {"µs ×", "µs ×"},
	        {"", ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_buf b = TK_BUF_INIT;
		tk_markdown_put_text(&b, cases[i].text);
		assert_string_equal(tk_buf_cstr(&b), cases[i].markdown);
		tk_buf_free(&b);
	}
}

/* ---- workflow commands ---- */

static void workflow_commands_stay_one_line(void **state)
{
	static const struct {
		const char *text;
		bool property;
		const char *escaped;
	} cases[] = {
	        {"100 %\r\n::error::x", false, "100 %25%0D%0A::error::x"},
	        {"a: b, c", true, "a%3A b%2C c"},
	        {"a: b, c", false, "a: b, c"},
	        {"a\033b µ", false, "a b µ"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct capture c;
		tk_github_put_escaped(capture_open(&c), cases[i].text, cases[i].property);
		assert_string_equal(capture_text(&c), cases[i].escaped);
		capture_free(&c);
	}
}

static void files_of_a_job_are_appended_to(void **state)
{
	char path[] = "/tmp/tracker-markup-XXXXXX";
	struct tk_error err = {0};
	FILE *f = stdout;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "before\n", 7), 7);
	close(fd);
	unsetenv("TK_TEST_FILE");
	assert_int_equal(tk_github_open("TK_TEST_FILE", &f, &err), TK_OK);
	assert_null(f);
	setenv("TK_TEST_FILE", "", 1);
	assert_int_equal(tk_github_open("TK_TEST_FILE", &f, &err), TK_OK);
	assert_null(f);
	setenv("TK_TEST_FILE", path, 1);
	assert_int_equal(tk_github_open("TK_TEST_FILE", &f, &err), TK_OK);
	fputs("after\n", f);
	assert_int_equal(tk_github_close("TK_TEST_FILE", f, TK_OK, &err), TK_OK);
	char *text = read_whole_file(path);
	assert_string_equal(text, "before\nafter\n");
	free(text);
	unlink(path);
}

/* The error of what was written comes first, that of the file itself else. */
static void files_of_a_job_report_the_first_error(void **state)
{
	struct tk_error err = {0};
	FILE *f;

	setenv("TK_TEST_FILE", "/dev/full", 1);
	assert_int_equal(tk_github_open("TK_TEST_FILE", &f, &err), TK_OK);
	fputs("text", f);
	assert_int_equal(tk_github_close("TK_TEST_FILE", f, TK_OK, &err), TK_ENOSPC);
	expect_contains(err.message, "$TK_TEST_FILE: /dev/full");
	assert_int_equal(tk_github_open("TK_TEST_FILE", &f, &err), TK_OK);
	fputs("text", f);
	assert_int_equal(tk_github_close("TK_TEST_FILE", f, TK_ENOMEM, &err), TK_ENOMEM);
	setenv("TK_TEST_FILE", "/nonexistent/file", 1);
	assert_int_equal(tk_github_open("TK_TEST_FILE", &f, &err), TK_ENOTFOUND);
	assert_null(f);
}

/* ---- CSV ---- */

static void csv_numbers(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{1.5, ",1.5"}, {0, ",0"}, {-2e-9, ",-2e-09"}, {1234567890, ",1234567890"},
	        {0.1 + 0.2, ",0.3"}, {NAN, ","}, {INFINITY, ","}, {-INFINITY, ","}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct capture c;
		tk_csv_put_number(capture_open(&c), cases[i].value);
		assert_string_equal(capture_text(&c), cases[i].text);
		capture_free(&c);
	}
}

static void csv_texts_are_no_formulas(void **state)
{
	static const char *const formulas[] = {"=1+1", "+1", "-1", "@a"};

	for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
		struct capture c;
		tk_csv_put_text(capture_open(&c), formulas[i]);
		assert_memory_equal(capture_text(&c), "\"'", 2);
		capture_free(&c);
	}
}

/* ---- JSON ---- */

static void json_counts_have_all_words(void **state)
{
	size_t counts[TK_OUTCOME_COUNT] = {[TK_OUTCOME_OK] = 7, [TK_OUTCOME_SKIPPED] = 2};
	json_t *o = tk_json_counts(&tk_outcome_words, counts);

	assert_int_equal(json_object_size(o), TK_OUTCOME_COUNT);
	assert_int_equal(json_integer_value(json_object_get(o, "ok")), 7);
	assert_int_equal(json_integer_value(json_object_get(o, "skipped")), 2);
	assert_int_equal(json_integer_value(json_object_get(o, "wrong")), 0);
	json_decref(o);
}

static void json_is_written_with_a_newline(void **state)
{
	struct tk_error err = {0};
	struct capture c;
	FILE *out = capture_open(&c);

	assert_int_equal(tk_json_write(json_pack("{s:i}", "a", 1), JSON_COMPACT, out, &err), TK_OK);
	assert_string_equal(capture_text(&c), "{\"a\":1}\n");
	assert_int_equal(tk_json_write(NULL, 0, out, &err), TK_ENOMEM);
	assert_string_equal(capture_text(&c), "{\"a\":1}\n");
	capture_free(&c);
}

static void documents_report_a_full_disk(void **state)
{
	struct tk_error err = {0};
	struct tk_buf b = TK_BUF_INIT;
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(tk_json_write(json_true(), JSON_ENCODE_ANY, full, &err), TK_ENOSPC);
	expect_contains(err.message, "No space left");
	tk_buf_add_str(&b, "text");
	assert_int_equal(tk_markup_write(&b, full, &err), TK_ENOSPC);
	tk_buf_free(&b);
	fclose(full);
}

static void what_memory_did_not_suffice_for_is_not_written(void **state)
{
	struct tk_buf b = {.status = TK_ENOMEM};
	struct tk_error err = {0};
	struct capture c;

	capture_open(&c);
	assert_int_equal(tk_markup_write(&b, c.out, &err), TK_ENOMEM);
	assert_string_equal(capture_text(&c), "");
	capture_free(&c);
}

/* ---- terminals with one byte per character ---- */

static void signs_have_a_plain_form(void **state)
{
	static const struct {
		const char *text, *plain;
	} cases[] = {
	        {"±1.0 %", "+-1.0 %"}, /* as long as the sign: nothing after it is lost */
	        {"41.20\u00a0µs ±0.5\u00a0%", "41.20 us +-0.5 %"},
	        {"−3.0\u00a0% (−3.1 to −2.9\u00a0%)", "-3.0 % (-3.1 to -2.9 %)"},
	        {"2.5× – none", "2.5x - none"},
	        {"±", "+-"},
	        {"plain", "plain"},
	        {"", ""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[64];
		snprintf(text, sizeof text, "%s", cases[i].text);
		assert_ptr_equal(tk_text_to_plain(text), text);
		assert_string_equal(text, cases[i].plain);
	}
}

static void other_terminals_show_the_signs(void **state)
{
	char text[] = "±1.0 µs";

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	assert_string_equal(tk_text_to_plain(text), "±1.0 µs");
	setlocale(LC_CTYPE, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(markdown_is_text),
	        cmocka_unit_test(workflow_commands_stay_one_line),
	        cmocka_unit_test(files_of_a_job_are_appended_to),
	        cmocka_unit_test(files_of_a_job_report_the_first_error),
	        cmocka_unit_test(csv_numbers),
	        cmocka_unit_test(csv_texts_are_no_formulas),
	        cmocka_unit_test(json_counts_have_all_words),
	        cmocka_unit_test(json_is_written_with_a_newline),
	        cmocka_unit_test(documents_report_a_full_disk),
	        cmocka_unit_test(what_memory_did_not_suffice_for_is_not_written),
	        cmocka_unit_test(signs_have_a_plain_form),
	        cmocka_unit_test(other_terminals_show_the_signs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
