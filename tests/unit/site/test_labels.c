/* Labels of series, and the drawing of A/B runs: texts that depend on what else is in the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_model.h"

#include "base/buf.h"
#include "base/error.h"
#include "core/metric.h"
#include "site_gen/model/ab_plot.h"
#include "site_gen/model/label.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- labels ---- */

struct label_lab {
	struct made_model m;
	const struct tk_site_device *device;
	const struct tk_problem_row *problem;
};

static struct label_lab *begin(void)
{
	struct label_lab *lab = calloc(1, sizeof *lab);

	assert_non_null(lab);
	made_init(&lab->m);
	lab->device = made_add_device(&lab->m, "cuda", "GPU", "sm_90");
	lab->problem = made_add_problem(&lab->m, "gemm", "f16", 1, 1);
	return lab;
}

/* Returns its index. */
static size_t add(
        struct label_lab *lab, const struct tk_upstream_row *upstream, const char *backend)
{
	return (size_t)(made_add_series(&lab->m, lab->device, upstream, lab->problem, backend) -
	                lab->m.series);
}

static void assign(struct label_lab *lab)
{
	struct tk_error err;

	made_join(&lab->m);
	assert_int_equal(tk_labels_assign(&lab->m.model, &err), 0);
}

static void expect_label(
        const struct label_lab *lab, size_t i, const char *variant, const char *label)
{
	assert_string_equal(lab->m.series[i].variant, variant);
	assert_string_equal(lab->m.series[i].label, label);
}

static void end(struct label_lab *lab)
{
	for (size_t i = 0; i < lab->m.model.series_count; i++) {
		free(lab->m.series[i].label);
		free(lab->m.series[i].variant);
	}
	made_free(&lab->m);
	free(lab);
}

static void a_backend_of_one_upstream_is_its_label(void **state)
{
	struct label_lab *lab = begin();
	const struct tk_upstream_row *u = made_add_upstream(&lab->m, "somewhere", "git");
	const size_t blas = add(lab, u, "blas"), other = add(lab, u, "other");

	(void)state;
	assign(lab);
	expect_label(lab, blas, "blas", "blas");
	expect_label(lab, other, "other", "other");
	end(lab);
}

/* The upstream is named where two have the backend, unless it is called like the backend. */
static void backends_of_two_upstreams_are_told_apart(void **state)
{
	struct label_lab *lab = begin();
	const struct tk_upstream_row *own = made_add_upstream(&lab->m, "blas", "git"),
	                             *debian = made_add_upstream(&lab->m, "debian", "system");
	const size_t first = add(lab, own, "blas"), second = add(lab, debian, "blas"),
	             alone = add(lab, debian, "zlib");

	(void)state;
	assign(lab);
	expect_label(lab, first, "blas", "blas");
	expect_label(lab, second, "blas (debian)", "blas (debian)");
	expect_label(lab, alone, "zlib", "zlib");
	end(lab);
}

/* Two upstreams of one name, as of merged histories: by address, without the password in it, or by
 * kind. */
static void upstreams_of_one_name_are_told_apart(void **state)
{
	struct label_lab *lab = begin();
	const struct tk_upstream_row *one = made_add_upstream(&lab->m, "blas", "git"),
	                             *two = made_add_upstream(&lab->m, "blas", "system");
	const size_t first = add(lab, one, "blas"), second = add(lab, two, "blas");

	(void)state;
	lab->m.upstreams[0].url = "https://user:secret@forge.org/o/blas.git";
	assign(lab);
	expect_label(lab, first, "blas (blas, https://forge.org/o/blas.git)",
	        "blas (blas, https://forge.org/o/blas.git)");
	expect_label(lab, second, "blas (blas, system)", "blas (blas, system)");
	end(lab);
}

/* Rankings compare variants: a configuration is a contender of its own, a mode or metric is not. */
static void configurations_modes_and_metrics_follow(void **state)
{
	struct label_lab *lab = begin();
	const struct tk_upstream_row *u = made_add_upstream(&lab->m, "somewhere", "git");
	const size_t config = add(lab, u, "blas"), mode = add(lab, u, "blas"),
	             metric = add(lab, u, "blas"), all = add(lab, u, "blas");

	(void)state;
	lab->m.series_rows[config].config = "128x256";
	lab->m.series_rows[mode].mode = "hot";
	lab->m.series_rows[metric].metric = "energy";
	lab->m.series[metric].metric = TK_METRIC_TIME + 1;
	lab->m.series_rows[all].config = "64x64";
	lab->m.series_rows[all].mode = "sustained";
	lab->m.series_rows[all].metric = "energy";
	lab->m.series[all].metric = TK_METRIC_TIME + 1;
	assign(lab);
	expect_label(lab, config, "blas · 128x256", "blas · 128x256");
	expect_label(lab, mode, "blas", "blas · hot");
	expect_label(lab, metric, "blas", "blas · energy");
	expect_label(lab, all, "blas · 64x64", "blas · 64x64 · sustained · energy");
	end(lab);
}

/* ---- A/B runs ---- */

static const char *draw(const struct tk_ab_plot *p)
{
	static struct tk_buf out;

	tk_buf_clear(&out);
	tk_ab_plot_draw(&out, p);
	static char text[4096];
	assert_true(out.len < sizeof text);
	memcpy(text, tk_buf_cstr(&out), out.len + 1);
	tk_buf_free(&out);
	return text;
}

static size_t count(const char *text, const char *part)
{
	size_t found = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		found++;
	return found;
}

/* From -0.1 to 0.3 on 152 pixels that begin at 4: no change is a quarter of them. */
static void pairs_lie_on_an_axis_with_no_change(void **state)
{
	double differences[] = {-0.1, 0.3, 0.1, 0, 0.2};
	const struct tk_ab_plot p = {.differences = differences,
	        .count = 5,
	        .median = {expm1(0.1), expm1(-0.1), expm1(0.3)}};
	const char *svg = draw(&p);

	(void)state;
	assert_int_equal(count(svg, "<circle"), 5);
	assert_non_null(strstr(svg, "class=\"zero\" d=\"M42.0 0V24\""));
	assert_non_null(strstr(svg, "class=\"interval\" d=\"M4.0 20H156.0\""));
	/* four rows of dots, from the first again */
	assert_non_null(strstr(svg, "<circle cx=\"4.0\" cy=\"4\" r=\"2\"/>"));
	assert_non_null(strstr(svg, "<circle cx=\"156.0\" cy=\"8\" r=\"2\"/>"));
	assert_non_null(strstr(svg, "<circle cx=\"80.0\" cy=\"12\" r=\"2\"/>"));
	assert_non_null(strstr(svg, "<circle cx=\"42.0\" cy=\"16\" r=\"2\"/>"));
	assert_non_null(strstr(svg, "<circle cx=\"118.0\" cy=\"4\" r=\"2\"/>"));
}

/* No change is on the axis where all pairs are to one side of it. */
static void no_change_is_at_an_end_of_the_axis(void **state)
{
	double slower[] = {0.1, 0.2}, faster[] = {-0.1, -0.2};
	struct tk_ab_plot p = {
	        .differences = slower, .count = 2, .median = {expm1(0.15), expm1(0.1), expm1(0.2)}};

	(void)state;
	assert_non_null(strstr(draw(&p), "class=\"zero\" d=\"M4.0 0V24\""));
	assert_non_null(strstr(draw(&p), "cx=\"80.0\""));
	p.differences = faster;
	p.median = (struct tk_ab_result_compare_level){expm1(-0.15), expm1(-0.2), expm1(-0.1)};
	assert_non_null(strstr(draw(&p), "class=\"zero\" d=\"M156.0 0V24\""));
	assert_non_null(strstr(draw(&p), "class=\"interval\" d=\"M4.0 20H80.0\""));
}

static void nothing_is_drawn_without_a_difference(void **state)
{
	double same[] = {0, 0};
	struct tk_ab_plot p = {.median = {NAN, NAN, NAN}};

	(void)state;
	assert_string_equal(draw(&p), "");
	p.differences = same;
	p.count = 2;
	assert_string_equal(draw(&p), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_backend_of_one_upstream_is_its_label),
	        cmocka_unit_test(backends_of_two_upstreams_are_told_apart),
	        cmocka_unit_test(upstreams_of_one_name_are_told_apart),
	        cmocka_unit_test(configurations_modes_and_metrics_follow),
	        cmocka_unit_test(pairs_lie_on_an_axis_with_no_change),
	        cmocka_unit_test(no_change_is_at_an_end_of_the_axis),
	        cmocka_unit_test(nothing_is_drawn_without_a_difference)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
