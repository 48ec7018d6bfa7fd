/* What the comparison of two builds found inside a kernel, from a stored result that another
 * program may have written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "../quoted_json.h"
#include "core/kernel_report.h"

/* Numbers and units are joined by a space that does not break. */
static const char *with_plain_spaces(char *text)
{
	for (char *c; (c = strstr(text, "\xc2\xa0"));) {
		*c = ' ';
		memmove(c + 1, c + 2, strlen(c + 2) + 1);
	}
	return text;
}

#define CHANGE(base, head, by) \
	"'change':{'base_ns':" base ",'head_ns':" head ",'change_ns':" by ",'changed':true}"
#define SAME "'change':{'base_ns':1000,'head_ns':1001,'change_ns':1,'changed':false}"
#define REGION(name, change, exposed) \
	"{'name':'" name "','change':{'change_ns':" change \
	"},'exposed_change':{'change_ns':" exposed "}}"

static void a_sentence_of_the_kernel_that_changed_most(void **state)
{
	static const struct {
		const char *result, *sentence;
	} cases[] = {
	        {"{'kernels':[{'name':'k'," CHANGE("1000", "1100", "100") "}]}", "k: 10 % slower"},
	        {"{'kernels':[{'name':'k'," CHANGE("1000", "750", "-250") "}]}", "k: 25 % faster"},
	        {"{'kernels':[{'name':'k'," SAME "}]}",
	                "k: no change of its time (1.001 µs against 1.000 µs)"},
	        /* in nanoseconds, not in percent; of equal ones the first */
	        {"{'kernels':[{'name':'a'," CHANGE("1000", "1500", "500") "},{'name':'b'," CHANGE(
	                 "100000", "101000", "1000") "}]}",
	                "b: 1.0 % slower"},
	        {"{'kernels':[{'name':'a'," SAME "},{'name':'b'," SAME "}]}",
	                "a: no change of its time (1.001 µs against 1.000 µs)"},
	        {"{'kernels':[{'name':'k','cause':'softmax'," CHANGE(
	                 "1000", "1100", "100") ",'regions':[" REGION("load", "5",
	                 "5") "," REGION("softmax", "80", "60") "]}]}",
	                "k: 10 % slower; softmax +80.00 ns, of which +60.00 ns are exposed"},
	        {"{'kernels':[{'name':'k','cause':'softmax'," CHANGE(
	                 "1000", "1100", "100") ",'regions':[" REGION("softmax", "-80", "0") "]}]}",
	                "k: 10 % slower; softmax -80.00 ns, none of it exposed"},
	        /* a cause that is no region */
	        {"{'kernels':[{'name':'k','cause':'other'," CHANGE(
	                 "1000", "1100", "100") ",'regions':[" REGION("softmax", "80", "60") "]}]}",
	                "k: 10 % slower"},
	        {"{'kernels':[]}", ""},
	        {"{}", ""},
	        {"[]", ""},
	        {"not JSON", ""},
	};
	char out[TK_KERNEL_CHANGE_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		memset(out, 'x', sizeof out);
		assert_ptr_equal(tk_kernel_report_summarize(quoted(cases[i].result), out), out);
		assert_string_equal(with_plain_spaces(out), cases[i].sentence);
	}
}

static void values_that_are_absurd_are_none(void **state)
{
	json_t *o = read_quoted("{'n':5,'f':-2.5,'text':'t','huge':1e300,'list':[1]}");

	(void)state;
	assert_float_equal(tk_kernel_report_number(o, "n"), 5, 0);
	assert_float_equal(tk_kernel_report_number(o, "f"), -2.5, 0);
	assert_true(isnan(tk_kernel_report_number(o, "text")));
	assert_true(isnan(tk_kernel_report_number(o, "huge")));
	assert_true(isnan(tk_kernel_report_number(o, "none")));
	assert_string_equal(tk_kernel_report_text(o, "text"), "t");
	assert_string_equal(tk_kernel_report_text(o, "n"), "");
	assert_string_equal(tk_kernel_report_text(o, "none"), "");
	json_decref(o);
}

static void a_change_without_a_base_is_none(void **state)
{
	static const char *const kernels[] = {"{'name':'k'," CHANGE("0", "0", "0") "}",
	        "{'name':'k','change':{'changed':true}}", "{'name':'k'}", "7"};

	(void)state;
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
		struct tk_kernel_change c;
		json_t *kernel = read_quoted(kernels[i]);

		tk_kernel_change_read(kernel, &c);
		assert_float_equal(c.share, 0, 0);
		assert_string_equal(c.cause, "");
		json_decref(kernel);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_sentence_of_the_kernel_that_changed_most),
	        cmocka_unit_test(values_that_are_absurd_are_none),
	        cmocka_unit_test(a_change_without_a_base_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
