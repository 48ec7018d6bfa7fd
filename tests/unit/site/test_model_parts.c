/* Parts of the model that are functions of texts and numbers: axes and sweeps of problems, facts of
 * runs, performance indices, standings, looks of backends, and spaces of tunings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_model.h"

#include "base/buf.h"
#include "base/error.h"
#include "site_gen/data/state.h"
#include "site_gen/model/axes.h"
#include "site_gen/model/model_internal.h"
#include "site_gen/model/perf_index.h"
#include "site_gen/model/run_facts.h"
#include "site_gen/model/standings.h"
#include "site_gen/model/sweeps.h"
#include "site_gen/model/tuning_space.h"
#include "site_gen/render/overview_svg.h"
#include "store/tuning.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S 86400

/* ---- nights ---- */

/* Backfills of old days, even if they started last, hide no night. */
static void squares_are_the_nights_of_the_last_days(void **state)
{
	static struct made_model m;
	struct tk_buf out = TK_BUF_INIT;

	(void)state;
	made_init(&m);
	struct tk_site_machine *machine = made_add_machine(&m, "box");
	const struct tk_site_machine *other = made_add_machine(&m, "other");
	for (int64_t day = 105; day > 99; day--)
		made_add_night(&m, day == 101 ? other : machine, day * DAY_S);
	m.night_rows[1].kind = TK_NIGHT_BACKFILL;
	m.night_rows[1].as_of_s = 3 * (int64_t)DAY_S;
	for (size_t i = 0; i < 6; i++)
		m.night_rows[i].status = i == 3 ? TK_NIGHT_FAILED : TK_NIGHT_COMPLETE;
	machine->last_night = &m.night_rows[0];
	tk_svg_draw_nights(&out, &m.model, machine);
	const char *text = tk_buf_cstr(&out);
	assert_non_null(strstr(text, "30 days: 3 complete nights, 1 others, 26 without one"));
	assert_non_null(strstr(text, "1970-04-16: complete"));
	assert_non_null(strstr(text, "1970-04-15: no night"));
	assert_non_null(strstr(text, "1970-04-14: complete"));
	assert_non_null(strstr(text, "1970-04-13: failed"));
	assert_non_null(strstr(text, "1970-04-12: no night"));
	assert_non_null(strstr(text, "1970-04-11: complete"));
	tk_buf_free(&out);
	made_free(&m);
}

/* ---- axes ---- */

static void numbers_of_a_problem(void **state)
{
	static const struct {
		const char *text, *key;
		double number;
	} cases[] = {{"gemm:k=512,m=16,n=32", "k", 512}, {"gemm:k=512,m=16,n=32", "m", 16},
	        {"gemm:k=512,m=16,n=32", "n", 32}, {"gemm:k=512", "m", 0}, {"gemm", "m", 0},
	        {"gemm:mm=7,m=8", "m", 8}, {"gemm:ratio=0.5", "ratio", 0.5}, {"gemm:m=8", "", 0},
	        {"gemm:m=x", "m", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_true(tk_problem_text_number(cases[i].text, cases[i].key) == cases[i].number);
}

static void a_problem_is_a_point_of_a_sweep(void **state)
{
	static const struct {
		const char *op, *text;
		bool known;
		double x, row_order, column_order;
		const char *row, *column, *rest, *sweep;
	} cases[] = {{"gemm", "gemm:a=f16,k=64,m=32,n=128", true, 32, 128e7 + 64, 32, "128 × 64",
	                     "32", "a=f16", "n=128 k=64 a=f16"},
	        {"gemm", "gemm:a=f16,k=64,m=64,n=64", true, 64, 64e7 + 64, 64, "64 × 64", "64",
	                "a=f16", "m = n = k a=f16"},
	        {"gemm", "gemm:a=f16,k=64,n=64", false, 0, 64e7 + 64, 0, "64 × 64", "0", "a=f16",
	                "n=64 k=64 a=f16"},
	        {"attention", "attention:b=2,d=64,h=8,skv=512,sq=512", true, 512, 512, 2, "512",
	                "2", "d=64 h=8", "d=64 h=8"},
	        {"attention", "attention:b=2,d=64,h=8,skv=1024,sq=512", true, 512, 512, 2, "512",
	                "2", "d=64 h=8 skv=1024", "d=64 h=8 skv=1024"},
	        {"nsa", "nsa:b=1,block_size=32,s=256", true, 256, 256, 1, "256", "1",
	                "block_size=32", "block_size=32"},
	        {"conv", "conv:n=1", false, 0, 0, 0, "", "", "", ""}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_problem_row p = {.op = cases[i].op, .text = cases[i].text};
		struct tk_axes at;
		assert_int_equal(tk_axes_from_problem(&p, &at), cases[i].known);
		assert_true(at.x == cases[i].x);
		assert_true(at.row_order == cases[i].row_order);
		assert_true(at.column_order == cases[i].column_order);
		assert_string_equal(at.row, cases[i].row);
		assert_string_equal(at.column, cases[i].column);
		assert_string_equal(at.rest, cases[i].rest);
		assert_string_equal(at.sweep, cases[i].sweep);
	}
	assert_string_equal(tk_axes_names("gemm")->x, "m");
	assert_string_equal(tk_axes_names("nsa")->x, "Sequence length");
	assert_null(tk_axes_names("conv"));
}

static void forward_is_before_backward(void **state)
{
	(void)state;
	assert_true(tk_axes_compare_rest("d=64 dir=fwd", "d=64 dir=bwd") < 0);
	assert_true(tk_axes_compare_rest("d=64 dir=bwd", "d=128 dir=fwd") > 0);
	assert_true(tk_axes_compare_rest("d=64", "d=128") < 0); /* as numbers */
	assert_int_equal(tk_axes_compare_rest("d=64", "d=64"), 0);
}

/* ---- sweeps ---- */

/* Attention of a length and batch. */
static struct tk_axes attention(double length, double batch)
{
	struct tk_axes at = {.x = length, .row_order = length, .column_order = batch};

	strcpy(at.sweep, "d=64");
	return at;
}

/* "b8: 0 1 2;": what is constant, and the members. */
static void expect_sweeps(
        const struct tk_axes *axes, size_t count, bool over_batch, size_t max, const char *expected)
{
	struct tk_sweeps sweeps;
	struct tk_error err;
	char text[400] = "";

	assert_int_equal(tk_sweeps_find(axes, count, over_batch, max, &sweeps, &err), 0);
	for (size_t i = 0; i < sweeps.count; i++) {
		const struct tk_sweep *s = &sweeps.at[i];
		size_t len = strlen(text);
		len += (size_t)snprintf(text + len, sizeof text - len, "%c%g:",
		        s->tokens > 0   ? 't'
		        : s->batch > 0  ? 'b'
		        : s->length > 0 ? 'l'
		                        : '-',
		        fmax(s->tokens, fmax(s->batch, s->length)));
		for (size_t k = 0; k < s->count; k++)
			len += (size_t)snprintf(
			        text + len, sizeof text - len, " %zu", s->members[k]);
		snprintf(text + len, sizeof text - len, ";");
	}
	assert_string_equal(text, expected);
	tk_sweeps_free(&sweeps);
	assert_null(sweeps.at);
}

static void problems_of_one_batch_are_a_line(void **state)
{
	const struct tk_axes axes[] = {
	        attention(2048, 1), attention(512, 1), attention(1024, 1), attention(4096, 1)};

	(void)state;
	expect_sweeps(axes, 4, false, 9, "-0: 1 2 0 3;");
	expect_sweeps(axes, 4, false, 0, "");
	expect_sweeps(axes, 2, false, 9, ""); /* two points are no line */
}

/* With several of one length: a line for each number of tokens and each batch, and where it is
 * asked for, over the batch. */
static void problems_of_several_batches_are_lines(void **state)
{
	const struct tk_axes axes[] = {attention(512, 1), attention(1024, 1), attention(2048, 1),
	        attention(512, 2), attention(1024, 2), attention(2048, 2), attention(512, 4)};

	(void)state;
	expect_sweeps(axes, 7, false, 9, "b1: 0 1 2;b2: 3 4 5;t2048: 6 4 2;");
	expect_sweeps(axes, 7, true, 9, "b1: 0 1 2;l512: 0 3 6;b2: 3 4 5;t2048: 6 4 2;");
	expect_sweeps(axes, 7, true, 1, "b1: 0 1 2;");
}

static void sweeps_of_other_keys_are_apart(void **state)
{
	struct tk_axes axes[6];

	(void)state;
	for (int i = 0; i < 6; i++) {
		axes[i] = attention(512 << i / 2, 1);
		if (i % 2)
			strcpy(axes[i].sweep, "d=128");
	}
	expect_sweeps(axes, 6, false, 9, "-0: 0 2 4;-0: 1 3 5;");
	axes[0].x = 0; /* no size */
	expect_sweeps(axes, 6, false, 9, "-0: 1 3 5;");
}

static void titles_of_sweeps(void **state)
{
	static const struct {
		const char *keys, *title;
	} cases[] = {{"causal=1 d=256 dir=fwd dtype=f16 h=16 hkv=16",
	                     "Forward, causal, head dimension 256, f16, 16 heads"},
	        {"causal=0 d=64 dir=bwd dtype=bf16 h=16 hkv=2 window=128",
	                "Backward, full, head dimension 64, bf16, 16 heads, 2 key-value heads, "
	                "window 128"},
	        {"window=0 h=8", "8 heads"}, {"a=f16 b=f16 c=f16 ta=n tb=t", "f16, nt"},
	        {"a=f16 b=f8 c=f32", "f16 × f8, result f32"},
	        {"a=f16 b=f16 c=f16 split=2", "f16, split=2"}, {"", ""}};
	char title[TK_SWEEP_TITLE_SIZE];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(tk_sweep_format_title(cases[i].keys, title), cases[i].title);
}

static void the_place_on_a_line(void **state)
{
	const struct tk_axes at = attention(512, 4);

	(void)state;
	assert_true(tk_sweep_place(&(struct tk_sweep){.batch = 4}, &at) == 512);
	assert_true(tk_sweep_place(&(struct tk_sweep){.length = 512}, &at) == 4);
}

/* ---- facts of runs ---- */

static void facts_are_read_from_two_levels(void **state)
{
	static const struct {
		const char *attributes;
		double energy, workspace; /* NAN: unknown */
	} cases[] = {{"{\"energy_j\":0.5,\"plan\":{\"workspace_bytes\":64}}", 0.5, 64},
	        {"{\"plan\":{\"energy_j\":1,\"workspace_bytes\":64},\"workspace_bytes\":7}", NAN,
	                64},
	        {"{\"other\":{\"energy_j\":1,\"plan\":{\"workspace_bytes\":64}}}", NAN, NAN},
	        {"{ \"energy_j\" : -2.5e1 }", -25, NAN}, {"{\"energy_j\":null}", NAN, NAN},
	        {"{\"energy_j\":\"5\"}", NAN, NAN}, {"{\"x\":\"\\\"energy_j\\\":5\"}", NAN, NAN},
	        {"{\"list\":[{\"energy_j\":5}],\"energy_j\":6}", 6, NAN}, {"", NAN, NAN},
	        {"{\"energy_j", NAN, NAN}, {"{\"energy_j\":", NAN, NAN},
	        {"{\"energy_jx\":5,\"xenergy_j\":6}", NAN, NAN}};
	static const enum tk_measurement_field fields[] = {
	        TK_MEASUREMENT_ENERGY_J, TK_MEASUREMENT_PLAN_WORKSPACE_BYTES};
	double values[2];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const double wanted[] = {cases[i].energy, cases[i].workspace};
		tk_run_facts_parse(cases[i].attributes, fields, 2, values);
		for (int k = 0; k < 2; k++)
			if (!(values[k] == wanted[k] || (isnan(values[k]) && isnan(wanted[k]))))
				fail_msg("%s: %g", cases[i].attributes, values[k]);
	}
}

/* ---- performance indices ---- */

struct indexed {
	struct made_model made;
	struct tk_trace traces[3];
};

/* A series with a trace of one value a day from `first` on; 0: none that day. */
static void add_trace(struct indexed *x, size_t i, int first, const double *values, size_t count)
{
	static const char *const names[] = {"a", "b", "c"};
	struct tk_site_series *s = made_add_series(
	        &x->made, x->made.devices, x->made.upstreams, x->made.problems, names[i]);

	s->trace = &x->traces[i];
	for (size_t k = 0; k < count; k++)
		tk_trace_add_point(s->trace, &(struct tk_point){.as_of_s = (first + (int)k) * DAY_S,
		                                     .value = values[k],
		                                     .lo = NAN,
		                                     .hi = NAN,
		                                     .n = 1});
}

static void an_index_is_chained_over_series(void **state)
{
	struct indexed *x = calloc(1, sizeof *x);
	struct tk_perf_index index;
	struct tk_error err;

	(void)state;
	assert_non_null(x);
	made_init(&x->made);
	made_add_device(&x->made, "gpu", "g", "sm_90");
	made_add_upstream(&x->made, "lib", "git");
	made_add_problem(&x->made, "gemm", "f16", 1e9, 1e6);
	add_trace(x, 0, 0, (const double[]){400, 200, 200}, 3);
	add_trace(x, 1, 1, (const double[]){900, 100}, 2); /* its first night moves nothing */
	add_trace(x, 2, 0, (const double[]){100, 100, 100}, 3);
	made_join(&x->made);
	assert_int_equal(
	        tk_perf_index_load(&x->made.model, x->made.devices, "gemm", &index, &err), 0);
	assert_int_equal(index.count, 3);
	assert_int_equal(index.series, 3);
	assert_float_equal(index.at[0].value, 1, 1e-12);
	assert_float_equal(index.at[1].value, sqrt(2), 1e-6);           /* of a and c: 2 and 1 */
	assert_float_equal(index.at[2].value, sqrt(2) * cbrt(9), 1e-5); /* 1, 9 and 1 */
	assert_int_equal(index.at[2].as_of_s, 2 * DAY_S);
	assert_true(index.lo < index.at[2].value && index.hi > index.at[2].value);
	assert_float_equal(index.lo * index.hi, index.at[2].value * index.at[2].value, 1e-6);
	assert_int_equal(
	        tk_perf_index_load(&x->made.model, x->made.devices, "conv", &index, &err), 0);
	assert_int_equal(index.count, 0);
	assert_true(isnan(index.lo));
	made_free(&x->made);
	free(x);
}

static void the_change_within_days(void **state)
{
	const struct tk_perf_index index = {
	        .at = {{0, 1}, {3 * DAY_S, 1.1}, {10 * DAY_S, 1.21}}, .count = 3};
	const struct tk_perf_index one = {.at = {{0, 1}}, .count = 1};

	(void)state;
	assert_float_equal(tk_perf_index_change(&index, 7), 0.1, 1e-12);
	assert_float_equal(tk_perf_index_change(&index, 8), 0.21, 1e-12);
	assert_float_equal(tk_perf_index_change(&index, 10), 0.21, 1e-12);
	assert_true(isnan(tk_perf_index_change(&index, 11)));
	assert_true(isnan(tk_perf_index_change(&one, 0)));
}

/* ---- standings and looks ---- */

static void vendors_are_known_by_name(void **state)
{
	static const struct {
		const char *backend;
		bool vendor;
	} cases[] = {{"cublaslt", true}, {"cublas_native", false}, {"cudnn", true},
	        {"onednn", true}, {"openblas", false}, {"triton", false}, {"hipblaslt", true},
	        {"mycublas", false}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_series_row row = {.backend = cases[i].backend};
		const struct tk_site_series s = {.row = &row};
		assert_int_equal(tk_series_is_vendor(&s), cases[i].vendor);
	}
}

static void standings_compare_with_the_vendor(void **state)
{
	static const double times[][3] = {{100, 200, 400}, {300, 100, 0}};
	static const char *const names[] = {"cublas", "triton", "mine"};
	struct made_model *m = calloc(1, sizeof *m);
	struct tk_standings standings;
	struct tk_error err;
	size_t problems;

	(void)state;
	assert_non_null(m);
	made_init(m);
	const struct tk_site_device *cpu = made_add_device(m, "cpu", "c", "x"),
	                            *gpu = made_add_device(m, "cuda", "g", "sm_90");
	const struct tk_upstream_row *u = made_add_upstream(m, "lib", "git");
	for (int i = 0; i < 2; i++) {
		const struct tk_problem_row *p =
		        made_add_problem(m, "gemm", "f16", 1e9 * (i + 1), 1e6);
		for (int k = 0; k < 3; k++)
			if (times[i][k] > 0)
				made_add_point(made_add_series(m, gpu, u, p, names[k]), DAY_S,
				        times[i][k], 0.001, 1, 1);
	}
	made_join(m);
	assert_ptr_equal(tk_model_ordered_device(&m->model, 0), gpu);
	assert_ptr_equal(tk_model_ordered_device(&m->model, 1), cpu);
	assert_null(tk_model_ordered_device(&m->model, 2));
	assert_int_equal(tk_standings_load(&m->model, 0.01, &standings, &err), 0);
	/* one kernel and type: the problem that most backends have */
	assert_int_equal(standings.count, 1);
	assert_int_equal(standings.at[0].count, 3);
	assert_int_equal(standings.at[0].first_count, 1);
	for (int k = 0; k < 3; k++)
		assert_string_equal(standings.at[0].at[k]->variant, names[k]);
	free(standings.at);
	/* half the vendor's speed in one, three times in the other */
	assert_float_equal(
	        tk_standing_against_vendor(&m->model, gpu, "gemm", &problems), sqrt(1.5), 1e-9);
	assert_int_equal(problems, 2);
	assert_true(isnan(tk_standing_against_vendor(&m->model, cpu, "gemm", &problems)));
	assert_int_equal(problems, 0);
	made_free(m);
	free(m);
}

/* Vendors have their colours; others take what is left, by name. */
static void backends_have_one_look_everywhere(void **state)
{
	static const struct {
		const char *name;
		size_t look;
	} cases[] = {{"cublas", 2}, {"cublaslt", 3}, {"cudnn", 0}, {"a", 1}, {"z", 4}};
	struct made_model *m = calloc(1, sizeof *m);
	struct tk_error err;

	(void)state;
	assert_non_null(m);
	made_init(m);
	made_add_device(m, "cuda", "g", "sm_90");
	made_add_upstream(m, "lib", "git");
	for (int problem = 0; problem < 2; problem++) {
		const struct tk_problem_row *p = made_add_problem(m, "gemm", "f16", 1e9, 1e6);
		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
			made_add_point(
			        made_add_series(m, m->devices, m->upstreams, p, cases[i].name),
			        DAY_S, 100, 0.01, 1, 1);
	}
	made_join(m);
	assert_int_equal(tk_model_assign_looks(&m->model, &err), 0);
	for (size_t i = 0; i < m->model.series_count; i++)
		assert_int_equal(m->series[i].look, cases[i % 5].look);
	made_free(m);
	free(m);
}

/* ---- spaces of tunings ---- */

static void read_space(const char *candidates, struct tk_tuning_space *space)
{
	const struct tk_tuning_row row = {.candidates = candidates};
	struct tk_error err;

	assert_int_equal(tk_tuning_space_read(&row, space, &err), 0);
}

static void candidates_that_make_no_sense_are_left_out(void **state)
{
	static const struct {
		const char *candidates;
		size_t count;
		double best; /* NAN: none */
	} cases[] = {{"[{\"config\":\"a=1\",\"outcome\":\"ok\",\"median_ns\":5}]", 1, 5},
	        {"[{\"config\":\"\",\"outcome\":\"ok\",\"median_ns\":5}]", 0, NAN},
	        {"[{\"config\":\"a=1\",\"median_ns\":5}]", 0, NAN},
	        {"[{\"config\":\"a=1\",\"outcome\":\"unheard\"}]", 0, NAN},
	        {"[{\"config\":\"a=1\",\"outcome\":\"crashed\",\"median_ns\":-5}]", 1, NAN},
	        {"[7,null]", 0, NAN}, {"{}", 0, NAN}, {"", 0, NAN}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_tuning_space space;
		read_space(cases[i].candidates, &space);
		assert_int_equal(space.count, cases[i].count);
		if (isnan(cases[i].best))
			assert_true(isnan(space.best_ns));
		else
			assert_true(space.best_ns == cases[i].best);
		tk_tuning_space_free(&space);
	}
}

/* a decides (10 or 20 to 22 ns), b hardly; c has one value, d is in one candidate alone. */
static void parameters_are_ordered_by_their_effect(void **state)
{
	struct tk_tuning_space space;

	(void)state;
	read_space("[{\"config\":\"a=1,b=1,c=7\",\"outcome\":\"ok\",\"median_ns\":10},"
	           "{\"config\":\"a=2,b=1,c=7\",\"outcome\":\"ok\",\"median_ns\":20},"
	           "{\"config\":\"a=2,b=2,c=7\",\"outcome\":\"ok\",\"median_ns\":22},"
	           "{\"config\":\"a=3,b=2,c=7,d=5\",\"outcome\":\"crashed\"}]",
	        &space);
	tk_tuning_space_find_parameters(&space);
	assert_int_equal(space.parameter_count, 3);
	const struct tk_tuning_parameter *a = &space.parameters[0], *b = &space.parameters[1],
	                                 *d = &space.parameters[2];
	assert_string_equal(a->name, "a");
	assert_string_equal(b->name, "b");
	assert_string_equal(d->name, "d");
	assert_int_equal(a->count, 3);
	assert_true(a->values[0] == 1 && a->values[2] == 3);
	assert_int_equal(d->count, 2);
	assert_true(d->values[0] == 5 && isnan(d->values[1])); /* most do not have it */
	assert_true(a->effect > b->effect && d->effect == 0);
	assert_string_equal(
	        tk_tuning_space_find_best(&space, a, 2, NULL, 0)->config, "a=2,b=1,c=7");
	assert_string_equal(tk_tuning_space_find_best(&space, a, 2, b, 2)->config, "a=2,b=2,c=7");
	assert_null(tk_tuning_space_find_best(&space, a, 3, NULL, 0)); /* has no time */
	assert_null(tk_tuning_space_find_best(&space, a, 1, b, 2));
	tk_tuning_space_free(&space);
	assert_true(tk_tuning_is_value(NAN, NAN) && tk_tuning_is_value(1, 1));
	assert_false(tk_tuning_is_value(1, NAN) || tk_tuning_is_value(NAN, 1) ||
	             tk_tuning_is_value(1, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(squares_are_the_nights_of_the_last_days),
	        cmocka_unit_test(numbers_of_a_problem),
	        cmocka_unit_test(a_problem_is_a_point_of_a_sweep),
	        cmocka_unit_test(forward_is_before_backward),
	        cmocka_unit_test(problems_of_one_batch_are_a_line),
	        cmocka_unit_test(problems_of_several_batches_are_lines),
	        cmocka_unit_test(sweeps_of_other_keys_are_apart),
	        cmocka_unit_test(titles_of_sweeps),
	        cmocka_unit_test(the_place_on_a_line),
	        cmocka_unit_test(facts_are_read_from_two_levels),
	        cmocka_unit_test(an_index_is_chained_over_series),
	        cmocka_unit_test(the_change_within_days),
	        cmocka_unit_test(vendors_are_known_by_name),
	        cmocka_unit_test(standings_compare_with_the_vendor),
	        cmocka_unit_test(backends_have_one_look_everywhere),
	        cmocka_unit_test(candidates_that_make_no_sense_are_left_out),
	        cmocka_unit_test(parameters_are_ordered_by_their_effect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
