/* Pictures draw what the charts have, and leave out what they do not know. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/error.h"
#include "site_gen/render/picture.h"
#include "site_gen/render/picture_svg.h"

static const struct tk_picture_box box = {10, 20, 200, 100};

/* Whether a markup draws anything; its length must be all of it. */
static bool draws(const char *svg)
{
	struct tk_picture *p = tk_picture_new(), *blank = tk_picture_new();
	assert_non_null(p);
	assert_non_null(blank);
	assert_int_equal(tk_picture_draw_svg(p, svg, &box), strlen(svg));
	bool drawn = !tk_picture_equals(p, blank);
	tk_picture_free(p);
	tk_picture_free(blank);
	return drawn;
}

static void draws_elements_of_charts(void **state)
{
	assert_true(draws(
	        "<svg viewBox=\"0 0 100 50\"><path class=\"line\" d=\"M1 2l3-4 5 6\"/></svg>"));
	assert_true(
	        draws("<svg viewBox=\"0 0 100 50\"><path class=\"band\" d=\"M1 2L40 2L40 30z\"/>"
	              "</svg>"));
	assert_true(draws(
	        "<svg class=\"y-labels\"><text x=\"100%\" y=\"50%\">1.5 \xc2\xb5s</text></svg>"));
	assert_true(draws("<svg viewBox=\"0 0 9 9\"><rect class=\"does-load\" x=\"1\" y=\"1\" "
	                  "width=\"2\" height=\"2\"/></svg>"));
	assert_true(draws("<svg viewBox=\"0 0 100 50\"><path class=\"mark mark-3\" "
	                  "d=\"M9 9m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z\"/></svg>"));
	assert_false(draws(
	        "<svg viewBox=\"0 0 100 50\"><path class=\"unknown\" d=\"M1 2l3-4\"/></svg>"));
	assert_false(draws("<svg></svg>"));
}

static void survives_anything(void **state)
{
	static const char *const texts[] = {"", "<", "<svg", "<svg>", "<p></p>", "<svg><path</svg>",
	        "<svg viewBox=\"0 0 0 0\"><path class=\"line\" d=\"M1e999 1l-1e999 3\"/></svg>",
	        "<svg viewBox=\"0 0 1 1\"><path class=\"line\" d=\"M1\"/></svg>",
	        "<svg viewBox=\"0 0 1 1\"><path class=\"ceiling-cache\" d=\"M0 "
	        "0H1e300V1e9\"/></svg>",
	        "<svg viewBox=\"0 0 1 1\"><path class=\"band\" d=\"M0 0L-1e9 5L1e9 1e9z\"/></svg>",
	        "<svg><text x=\"1e300\" y=\"-1e300%\" dy=\"q\">\xf0\xc3&amp</text></svg>",
	        "<svg><rect class=\"does-idle\" x=\"-1e99\" width=\"1e99\" "
	        "height=\"1e99\"/></svg>"};
	struct tk_picture *p = tk_picture_new();
	assert_non_null(p);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_true(tk_picture_draw_svg(p, texts[i], &box) <= strlen(texts[i]));
	tk_picture_free(p);
}

static void encodes(void **state)
{
	struct tk_picture *p = tk_picture_new();
	struct tk_buf png = TK_BUF_INIT;
	struct tk_error err = {0};
	assert_non_null(p);
	int status = tk_picture_encode(p, &png, &err);
	assert_int_equal(status, tk_picture_is_supported() ? TK_OK : TK_EUNSUPPORTED);
	if (!status)
		assert_memory_equal(png.data, "\x89PNG\r\n\x1a\n", 8);
	tk_buf_free(&png);
	tk_picture_free(p);
}

static void measures_texts(void **state)
{
	double one = tk_picture_text_width("a", 1, 20), two = tk_picture_text_width("ab", 2, 20);
	assert_true(one > 5 && one < 20 && two > one);
	/* one letter, whatever its bytes */
	assert_true(tk_picture_text_width("\xc3\x97", 2, 20) == tk_picture_text_width("x", 1, 20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(draws_elements_of_charts),
	        cmocka_unit_test(survives_anything), cmocka_unit_test(encodes),
	        cmocka_unit_test(measures_texts)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
