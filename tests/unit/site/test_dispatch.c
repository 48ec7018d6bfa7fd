/* Standings of a problem, and the choice of a backend for each problem. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "site_gen/model/dispatch.h"
#include "site_gen/model/model.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TIE 0.01
#define SERIES_MAX 64

/* A history of one device: one night, series of problems 0, 1, ... */
struct lab {
	struct tk_device_row device_row;
	struct tk_site_device device;
	struct tk_problem_row problems[4];
	struct tk_series_row row;
	struct tk_site_series series[SERIES_MAX];
	struct tk_model model;
};

static void lab_init(struct lab *lab)
{
	*lab = (struct lab){.device_row = {.kind = "gpu"},
	        .row = {.mode = "paced", .role = TK_ROLE_SUITE, .backend = "b"}};
	lab->device = (struct tk_site_device){.row = &lab->device_row, .mode = "paced"};
	for (size_t i = 0; i < 4; i++)
		lab->problems[i] = (struct tk_problem_row){.op = i < 3 ? "gemm" : "nsa"};
	lab->model = (struct tk_model){.series = lab->series};
}

/* half: of the interval, relative to the time. Problems in rising order. */
static void lab_add(
        struct lab *lab, size_t problem, const char *variant, double time_ns, double half)
{
	assert_true(lab->model.series_count < SERIES_MAX);
	lab->series[lab->model.series_count++] = (struct tk_site_series){.row = &lab->row,
	        .device = &lab->device,
	        .problem = &lab->problems[problem],
	        .variant = (char *)variant,
	        .metric = TK_METRIC_TIME,
	        .unit = TK_UNIT_NS,
	        .newest = {{.value = time_ns,
	                .lo = time_ns * (1 - half),
	                .hi = time_ns * (1 + half),
	                .n = 9}},
	        .newest_count = 1};
}

static void load(const struct lab *lab, struct tk_dispatch *d)
{
	assert_int_equal(tk_dispatch_load(&lab->model, &lab->device, "gemm", TIE, d, NULL), 0);
}

static void the_fastest_is_chosen(void **state)
{
	struct lab lab;
	struct tk_dispatch d;
	lab_init(&lab);
	lab_add(&lab, 0, "slow", 200, 0.001);
	lab_add(&lab, 0, "fast", 100, 0.001);
	lab_add(&lab, 1, "slow", 80, 0.001);
	lab_add(&lab, 3, "other kernel", 1, 0.001);
	load(&lab, &d);
	assert_int_equal(d.count, 2);
	assert_int_equal(d.contested, 1);
	assert_int_equal(d.used, 2);
	assert_string_equal(d.at[0].chosen->variant, "fast");
	assert_int_equal(d.at[0].standing.first_count, 1);
	assert_string_equal(tk_dispatch_next(&d.at[0])->variant, "slow");
	assert_true(fabs(tk_dispatch_lead(&d.at[0]) - 2) < 1e-9);
	assert_string_equal(d.at[1].chosen->variant, "slow");
	assert_null(tk_dispatch_next(&d.at[1]));
	assert_true(isnan(tk_dispatch_lead(&d.at[1])));
	/* it has both problems: twice the time in one, the fastest in the other */
	assert_string_equal(d.single->variant, "slow");
	assert_int_equal(d.single_count, 2);
	assert_true(fabs(d.single_ratio - sqrt(2)) < 1e-9);
	tk_dispatch_free(&d);
}

/* "b" is 0.5 % slower than "a" in one problem, and clearly faster in two. */
static void of_a_tie_the_usual_one_is_chosen(void **state)
{
	struct lab lab;
	struct tk_dispatch d;
	lab_init(&lab);
	lab_add(&lab, 0, "a", 100, 0.0001);
	lab_add(&lab, 0, "b", 100.5, 0.0001);
	for (size_t i = 1; i < 3; i++) {
		lab_add(&lab, i, "a", 100, 0.0001);
		lab_add(&lab, i, "b", 50, 0.0001);
	}
	load(&lab, &d);
	assert_int_equal(d.count, 3);
	assert_int_equal(d.at[0].standing.first_count, 2);
	assert_string_equal(d.at[0].standing.at[0]->variant, "a");
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(d.at[i].chosen->variant, "b");
	assert_int_equal(d.used, 1);
	tk_dispatch_free(&d);
}

/* The interval of the slowest reaches that of the fastest; that of the middle one does not. */
static void contenders_of_a_tie_come_first(void **state)
{
	struct lab lab;
	struct tk_standing standing;
	lab_init(&lab);
	lab_add(&lab, 0, "wide", 130, 0.4);
	lab_add(&lab, 0, "fast", 100, 0.001);
	lab_add(&lab, 0, "middle", 110, 0.001);
	assert_int_equal(tk_standing_load(&lab.model, 0, &lab.device, TIE, &standing), 3);
	assert_int_equal(standing.count, 3);
	assert_int_equal(standing.first_count, 2);
	assert_string_equal(standing.at[0]->variant, "fast");
	assert_string_equal(standing.at[1]->variant, "wide");
	assert_string_equal(standing.at[2]->variant, "middle");
}

static void failures_do_not_contend(void **state)
{
	struct lab lab;
	struct tk_run_row failed = {0};
	struct tk_dispatch d;
	lab_init(&lab);
	lab_add(&lab, 0, "a", 100, 0.001);
	lab_add(&lab, 0, "b", 50, 0.001);
	lab.series[1].failure = &failed;
	load(&lab, &d);
	assert_string_equal(d.at[0].chosen->variant, "a");
	assert_int_equal(d.contested, 0);
	tk_dispatch_free(&d);
	lab.series[0].failure = &failed;
	load(&lab, &d);
	assert_int_equal(d.count, 0);
	assert_null(d.single);
	tk_dispatch_free(&d);
}

static void the_slowest_of_too_many_are_left_out(void **state)
{
	struct lab lab;
	struct tk_standing standing;
	char names[SERIES_MAX][16];
	lab_init(&lab);
	for (int i = 0; i < TK_STANDING_BACKENDS + 8; i++) { /* the fastest come last */
		snprintf(names[i], sizeof names[i], "b%d", i);
		lab_add(&lab, 0, names[i], 1000 - i * 20, 0.001);
	}
	tk_standing_load(&lab.model, 0, &lab.device, TIE, &standing);
	assert_int_equal(standing.count, TK_STANDING_BACKENDS);
	assert_string_equal(standing.at[0]->variant, names[TK_STANDING_BACKENDS + 7]);
	assert_string_equal(standing.at[TK_STANDING_BACKENDS - 1]->variant, names[8]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_fastest_is_chosen),
	        cmocka_unit_test(of_a_tie_the_usual_one_is_chosen),
	        cmocka_unit_test(contenders_of_a_tie_come_first),
	        cmocka_unit_test(failures_do_not_contend),
	        cmocka_unit_test(the_slowest_of_too_many_are_left_out)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
