/* Which devices of one model are comparable, and how they rank against each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_model.h"

#include "base/buf.h"
#include "base/error.h"
#include "site_gen/model/card_ranking.h"
#include "site_gen/model/cards.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_S 86400
#define TIE 0.01

struct lab {
	struct made_model made;
	const struct tk_upstream_row *upstream;
	const struct tk_problem_row *problem;
	struct tk_cards cards;
};

static int setup(void **state)
{
	struct lab *lab = calloc(1, sizeof *lab);

	assert_non_null(lab);
	made_init(&lab->made);
	lab->upstream = made_add_upstream(&lab->made, "lib", "git");
	lab->problem = made_add_problem(&lab->made, "gemm", "f16", 1e9, 1e6);
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;

	tk_cards_free(&lab->cards);
	made_free(&lab->made);
	free(lab);
	return 0;
}

static void load(struct lab *lab)
{
	struct tk_error err = {0};

	made_join(&lab->made);
	if (tk_cards_load(&lab->made.model, &lab->cards, &err))
		fail_msg("%s", err.message);
}

/* A device with one series that was measured in an environment of these attributes. */
static const struct tk_site_device *add_measured(struct lab *lab, const char *kind,
        const char *name, const char *arch, const char *attributes)
{
	struct tk_site_device *d = made_add_device(&lab->made, kind, name, arch);
	int64_t environment = made_add_environment(&lab->made, d, attributes);
	struct tk_site_series *s =
	        made_add_series(&lab->made, d, lab->upstream, lab->problem, "lib");

	made_add_point(s, DAY_S, 1000, 0.001, 0, environment);
	return d;
}

/* Whether two GPUs with these attributes are comparable; the obstacle is copied. */
static bool are_comparable(const char *kind, const char *a, const char *b, char obstacle[256])
{
	struct lab *lab;
	void *state;
	struct tk_buf text = TK_BUF_INIT;

	setup(&state);
	lab = state;
	add_measured(lab, kind, "card", "sm_90", a);
	add_measured(lab, kind, "card", "sm_90", b);
	load(lab);
	assert_int_equal(lab->cards.count, 1);
	assert_int_equal(lab->cards.at[0].count, 2);
	const bool same = lab->cards.at[0].group_count == 1;
	const struct tk_card_member *members = lab->cards.at[0].members;
	tk_card_add_obstacles(&text, &members[1], &members[0]);
	snprintf(obstacle, 256, "%s", tk_buf_cstr(&text));
	tk_buf_free(&text);
	teardown(&state);
	return same;
}

/* The rules: which recorded facts must agree, how closely, and on which kind of device. */
static void rules_decide_what_is_comparable(void **state)
{
	static const struct {
		const char *kind, *a, *b, *obstacle; /* "": comparable */
	} cases[] = {
	        {"gpu", "{}", "{}", ""},
	        {"gpu", "{\"driver\":\"570.12\"}", "{\"driver\":\"570.86\"}", ""},
	        {"gpu", "{\"driver\":\"570.12\"}", "{\"driver\":\"560.12\"}",
	                "driver 560.12 instead of 570.12"},
	        {"gpu", "{\"driver\":\"57.1\"}", "{\"driver\":\"570.1\"}",
	                "driver 570.1 instead of 57.1"},
	        {"gpu", "{\"driver\":\"570\"}", "{}", ""}, /* unknown is no obstacle */
	        {"gpu", "{\"max_clock_mhz\":1980}", "{\"max_clock_mhz\":1999}", ""},
	        {"gpu", "{\"max_clock_mhz\":1980}", "{\"max_clock_mhz\":2010}",
	                "maximum clock 2010 MHz instead of 1980 MHz"},
	        {"gpu", "{\"max_clock_mhz\":2010}", "{\"max_clock_mhz\":1980}",
	                "maximum clock 1980 MHz instead of 2010 MHz"},
	        {"gpu", "{\"power_cap_w\":700}", "{\"power_cap_w\":686}", ""},
	        {"gpu", "{\"power_cap_w\":700}", "{\"power_cap_w\":500}",
	                "power cap 500 W instead of 700 W"},
	        {"gpu", "{\"ecc\":true}", "{\"ecc\":false}", "ECC off instead of on"},
	        {"gpu", "{\"mig\":false}", "{\"mig\":true}", "MIG on instead of off"},
	        {"gpu", "{\"governor\":\"a\"}", "{\"governor\":\"b\"}", ""}, /* of CPUs only */
	        {"cpu", "{\"governor\":\"performance\"}", "{\"governor\":\"powersave\"}",
	                "governor powersave instead of performance"},
	        {"cpu", "{\"power_cap_w\":700}", "{\"power_cap_w\":100}", ""}, /* of GPUs only */
	        {"cpu", "{\"compute_units\":8}", "{\"compute_units\":9}",
	                "number of compute units 9 instead of 8"},
	        {"gpu", "{\"ecc\":true,\"power_cap_w\":700}", "{\"ecc\":false,\"power_cap_w\":1}",
	                "power cap 1 W instead of 700 W, ECC off instead of on"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char obstacle[256];
		bool same = are_comparable(cases[i].kind, cases[i].a, cases[i].b, obstacle);

		assert_string_equal(obstacle, cases[i].obstacle);
		assert_int_equal(same, !*cases[i].obstacle);
	}
}

static void another_architecture_is_not_comparable(void **state)
{
	struct lab *lab = *state;
	struct tk_buf text = TK_BUF_INIT;

	add_measured(lab, "gpu", "card", "sm_90", "{\"ecc\":true}");
	add_measured(lab, "gpu", "card", "sm_90a", "{\"ecc\":false}");
	load(lab);
	assert_int_equal(lab->cards.at[0].group_count, 2);
	tk_card_add_obstacles(&text, &lab->cards.at[0].members[1], &lab->cards.at[0].members[0]);
	assert_string_equal(
	        tk_buf_cstr(&text), "architecture sm_90a instead of sm_90, ECC off instead of on");
	tk_buf_free(&text);
}

static void settings_name_what_was_not_recorded(void **state)
{
	struct lab *lab = *state;
	struct tk_buf text = TK_BUF_INIT;

	add_measured(lab, "cpu", "cpu", "x86-64", "{\"driver\":\"6.1\",\"smt\":\"off\"}");
	add_measured(lab, "cpu", "cpu", "x86-64", "{}");
	load(lab);
	tk_card_add_settings(&text, &lab->cards.at[0].members[0]);
	assert_string_equal(tk_buf_cstr(&text),
	        "driver 6.1, SMT off; not recorded: number of compute units, governor");
	tk_buf_clear(&text);
	tk_card_add_settings(&text, &lab->cards.at[0].members[1]);
	assert_string_equal(
	        tk_buf_cstr(&text), "not recorded: driver, number of compute units, governor, SMT");
	tk_buf_free(&text);
}

static void a_card_needs_two_measured_devices_of_its_model(void **state)
{
	struct lab *lab = *state;
	const struct tk_site_device *alone = add_measured(lab, "gpu", "one", "sm_90", "{}"),
	                            *first = add_measured(lab, "gpu", "two", "sm_90", "{}"),
	                            *second = add_measured(lab, "gpu", "two", "sm_90", "{}"),
	                            *cpu = add_measured(lab, "cpu", "two", "x86", "{}"),
	                            *idle = made_add_device(&lab->made, "gpu", "two", "sm_90");

	load(lab);
	assert_int_equal(lab->cards.count, 1);
	assert_string_equal(lab->cards.at[0].name, "two");
	assert_int_equal(lab->cards.at[0].count, 2);
	assert_ptr_equal(tk_cards_find(&lab->cards, first), lab->cards.at);
	assert_ptr_equal(tk_cards_find(&lab->cards, second), lab->cards.at);
	assert_null(tk_cards_find(&lab->cards, alone));
	assert_null(tk_cards_find(&lab->cards, cpu));
	assert_null(tk_cards_find(&lab->cards, idle));
}

static void the_largest_group_is_first(void **state)
{
	struct lab *lab = *state;
	const char *const ecc[] = {"{\"ecc\":true}", "{\"ecc\":false}", "{\"ecc\":false}"};
	const struct tk_site_device *d[3];
	size_t count;

	for (int i = 0; i < 3; i++)
		d[i] = add_measured(lab, "gpu", "card", "sm_90", ecc[i]);
	load(lab);
	const struct tk_card *card = lab->cards.at;
	assert_int_equal(card->group_count, 2);
	const struct tk_card_member *group = tk_card_group(card, 0, &count);
	assert_int_equal(count, 2);
	assert_ptr_equal(group[0].device, d[1]);
	assert_ptr_equal(group[1].device, d[2]);
	group = tk_card_group(card, 1, &count);
	assert_int_equal(count, 1);
	assert_ptr_equal(group->device, d[0]);
	assert_null(tk_card_group(card, 2, &count));
	assert_int_equal(count, 0);
}

static void a_group_has_at_most_sixteen_devices(void **state)
{
	struct lab *lab = *state;
	size_t count;

	for (int i = 0; i < TK_CARD_GROUP_MAX + 1; i++)
		add_measured(lab, "gpu", "card", "sm_90", "{}");
	load(lab);
	assert_int_equal(lab->cards.at[0].group_count, 2);
	tk_card_group(lab->cards.at, 0, &count);
	assert_int_equal(count, TK_CARD_GROUP_MAX);
	tk_card_group(lab->cards.at, 1, &count);
	assert_int_equal(count, 1);
}

/* The environment of a device is the one of its newest time of a suite. */
static void the_newest_environment_counts(void **state)
{
	struct lab *lab = *state;
	struct tk_site_device *d = made_add_device(&lab->made, "gpu", "card", "sm_90");
	int64_t old = made_add_environment(&lab->made, d, "{\"ecc\":false}"),
	        newest = made_add_environment(&lab->made, d, "{\"ecc\":true}"),
	        control = made_add_environment(&lab->made, d, "{\"ecc\":null}");
	struct tk_site_series *s[3];

	for (int i = 0; i < 3; i++)
		s[i] = made_add_series(&lab->made, d, lab->upstream, lab->problem, "lib");
	lab->made.series_rows[2].role = TK_ROLE_CONTROL;
	made_add_point(s[0], 2 * DAY_S, 1, 0, 0, newest);
	made_add_point(s[1], 1 * DAY_S, 1, 0, 0, old);
	made_add_point(s[2], 3 * DAY_S, 1, 0, 0, control);
	add_measured(lab, "gpu", "card", "sm_90", "{\"ecc\":true}");
	load(lab);
	const struct tk_card_member *a = lab->cards.at[0].members;
	assert_int_equal(a->environment_id, newest);
	assert_true(tk_card_environment_agrees(&lab->made.model, a, newest));
	assert_false(tk_card_environment_agrees(&lab->made.model, a, old));
	assert_false(tk_card_environment_agrees(&lab->made.model, a, 99));
}

/* ---- ranking ---- */

struct rig {
	struct lab *lab;
	const struct tk_site_device *devices[3];
	int64_t environments[3], builds[3];
};

static struct rig make_rig(struct lab *lab)
{
	struct rig r = {.lab = lab};

	for (int i = 0; i < 3; i++) {
		r.devices[i] = made_add_device(&lab->made, "gpu", "card", "sm_90");
		r.environments[i] = made_add_environment(&lab->made, r.devices[i], "{}");
	}
	r.builds[0] = made_add_build(&lab->made, lab->upstream, "r1");
	r.builds[1] = made_add_build(&lab->made, lab->upstream, "r2");
	r.builds[2] = made_add_build(&lab->made, lab->upstream, "r3");
	return r;
}

/* half: of the interval. */
static struct tk_site_series *add_time(struct rig *r, const struct tk_problem_row *p,
        const char *backend, int device, double ns, double half, int64_t build)
{
	struct tk_site_series *s =
	        made_add_series(&r->lab->made, r->devices[device], r->lab->upstream, p, backend);

	made_add_point(s, DAY_S, ns, half, build, r->environments[device]);
	return s;
}

static struct tk_card_ranking rank(struct rig *r)
{
	struct tk_card_ranking out;
	struct tk_error err = {0};

	load(r->lab);
	assert_int_equal(r->lab->cards.count, 1);
	if (tk_card_ranking_load(&r->lab->made.model, r->lab->cards.at, 0, TIE, &out, &err))
		fail_msg("%s", err.message);
	return out;
}

static const struct tk_card_row *row_of(const struct tk_card_ranking *r, const char *backend)
{
	for (size_t i = 0; i < r->row_count; i++)
		if (!strcmp(r->rows[i].best->row->backend, backend))
			return &r->rows[i];
	return NULL;
}

static void devices_are_ordered_by_their_times(void **state)
{
	struct rig r = make_rig(*state);
	const double ns[] = {1100, 1000, 1210};

	for (int i = 0; i < 3; i++)
		add_time(&r, r.lab->problem, "lib", i, ns[i], 0.001, r.builds[0]);
	struct tk_card_ranking out = rank(&r);
	assert_int_equal(out.row_count, 1);
	assert_float_equal(out.rows[0].spread, 0.21, 1e-9);
	assert_int_equal(out.order[0], 1);
	assert_int_equal(out.order[1], 0);
	assert_int_equal(out.order[2], 2);
	assert_int_equal(out.pairs[2][1].count, 1);
	assert_float_equal(out.pairs[2][1].log_sum, log(1.21), 1e-9);
	assert_float_equal(out.pairs[1][2].lo, 1 / 1.21, 1e-9);
	assert_int_equal(out.pairs[0][0].count, 0);
	assert_true(out.rows[0].is_counted[0] && out.rows[0].is_counted[2]);
	free(out.rows);
}

static void pairs_hold_the_extremes_of_their_ratios(void **state)
{
	struct rig r = make_rig(*state);
	const struct tk_problem_row *other =
	        made_add_problem(&r.lab->made, "attention", "f16", 1, 1);

	add_time(&r, r.lab->problem, "lib", 0, 100, 0, r.builds[0]);
	add_time(&r, r.lab->problem, "lib", 1, 200, 0, r.builds[0]);
	add_time(&r, other, "lib", 0, 300, 0, r.builds[0]);
	add_time(&r, other, "lib", 1, 330, 0, r.builds[0]);
	struct tk_card_ranking out = rank(&r);
	const struct tk_card_pair *pair = &out.pairs[1][0];
	assert_int_equal(out.row_count, 2);
	assert_int_equal(pair->count, 2);
	assert_float_equal(pair->lo, 1.1, 1e-9);
	assert_float_equal(pair->hi, 2, 1e-9);
	assert_float_equal(pair->log_sum, log(2) + log(1.1), 1e-9);
	/* what differs most is first; a device without a time is no member */
	assert_float_equal(out.rows[0].spread, 1, 1e-9);
	assert_float_equal(out.rows[1].spread, 0.1, 1e-9);
	assert_int_equal(out.member_count, 2);
	assert_int_equal(out.order[0], 0);
	assert_int_equal(out.order[1], 1);
	free(out.rows);
}

static void only_the_revision_of_most_devices_is_compared(void **state)
{
	struct rig r = make_rig(*state);

	add_time(&r, r.lab->problem, "lib", 0, 500, 0.001, r.builds[2]);
	add_time(&r, r.lab->problem, "lib", 1, 1000, 0.001, r.builds[1]);
	add_time(&r, r.lab->problem, "lib", 2, 1100, 0.001, r.builds[1]);
	struct tk_card_ranking out = rank(&r);
	assert_false(out.rows[0].is_counted[0]);
	assert_true(out.rows[0].is_counted[1] && out.rows[0].is_counted[2]);
	assert_float_equal(out.rows[0].spread, 0.1, 1e-9);
	assert_ptr_equal(out.rows[0].best->device, r.devices[1]); /* fastest of the compared */
	free(out.rows);
}

static void of_equally_common_revisions_the_newest_is_compared(void **state)
{
	struct rig r = make_rig(*state);

	add_time(&r, r.lab->problem, "lib", 0, 1000, 0.001, r.builds[0]);
	add_time(&r, r.lab->problem, "lib", 1, 1100, 0.001, r.builds[2]);
	add_time(&r, r.lab->problem, "lib", 2, 1200, 0.001, r.builds[1]);
	struct tk_card_ranking out = rank(&r);
	assert_false(out.rows[0].is_counted[0] || out.rows[0].is_counted[2]);
	assert_true(out.rows[0].is_counted[1]);
	assert_true(isnan(out.rows[0].spread));
	free(out.rows);
}

static void a_time_in_another_environment_is_shown_but_not_compared(void **state)
{
	struct rig r = make_rig(*state);
	int64_t other = made_add_environment(&r.lab->made, r.devices[0], "{\"ecc\":false}");
	struct tk_site_series *late;

	r.lab->made.environments[r.environments[0] - 1].attributes = "{\"ecc\":true}";
	r.lab->made.environments[r.environments[1] - 1].attributes = "{\"ecc\":true}";
	struct tk_site_series *early =
	        add_time(&r, r.lab->problem, "early", 0, 900, 0.001, r.builds[0]);
	early->newest[0].environment_id = other;
	late = add_time(&r, r.lab->problem, "late", 0, 1000, 0.001, r.builds[0]);
	late->newest[0].as_of_s = 2 * DAY_S; /* its environment is the device's */
	add_time(&r, r.lab->problem, "late", 1, 1000, 0.001, r.builds[0]);
	struct tk_card_ranking out = rank(&r);
	assert_int_equal(out.row_count, 2);
	assert_false(row_of(&out, "early")->is_ranked);
	assert_int_equal(row_of(&out, "early")->rank, 0);
	assert_true(row_of(&out, "late")->is_ranked);
	assert_int_equal(row_of(&out, "late")->rank, 1);
	free(out.rows);
}

static void backends_that_tie_with_the_fastest_share_its_rank(void **state)
{
	struct rig r = make_rig(*state);
	static const struct {
		const char *backend;
		double ns;
		size_t rank;
		bool tied;
	} cases[] = {{"fast", 1000, 1, true}, {"near", 1005, 1, true}, {"slow", 1100, 3, false},
	        {"slowest", 1101, 4, false}};

	for (size_t i = 0; i < 4; i++)
		add_time(&r, r.lab->problem, cases[3 - i].backend, 0, cases[3 - i].ns, 0.001,
		        r.builds[0]);
	add_time(&r, r.lab->problem, "fast", 1, 1010, 0.001, r.builds[0]);
	struct tk_card_ranking out = rank(&r);
	assert_int_equal(out.row_count, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct tk_card_row *row = row_of(&out, cases[i].backend);
		assert_int_equal(row->rank, cases[i].rank);
		assert_int_equal(row->is_tied, cases[i].tied);
	}
	free(out.rows);
}

static void failures_and_other_modes_have_no_row(void **state)
{
	struct rig r = make_rig(*state);
	struct tk_site_series *failed =
	        add_time(&r, r.lab->problem, "failed", 0, 1, 0, r.builds[0]);

	made_fail(&r.lab->made, failed, TK_OUTCOME_CRASHED, "crashed");
	add_time(&r, r.lab->problem, "hot", 0, 1, 0, r.builds[0]);
	r.lab->made.series_rows[1].mode = "hot";
	add_time(&r, r.lab->problem, "good", 0, 1, 0, r.builds[0]);
	add_time(&r, r.lab->problem, "good", 1, 1, 0, r.builds[0]);
	struct tk_card_ranking out = rank(&r);
	assert_int_equal(out.row_count, 1);
	assert_non_null(row_of(&out, "good"));
	free(out.rows);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(rules_decide_what_is_comparable),
	        TEST(another_architecture_is_not_comparable),
	        TEST(settings_name_what_was_not_recorded),
	        TEST(a_card_needs_two_measured_devices_of_its_model),
	        TEST(the_largest_group_is_first),
	        TEST(a_group_has_at_most_sixteen_devices),
	        TEST(the_newest_environment_counts),
	        TEST(devices_are_ordered_by_their_times),
	        TEST(pairs_hold_the_extremes_of_their_ratios),
	        TEST(only_the_revision_of_most_devices_is_compared),
	        TEST(of_equally_common_revisions_the_newest_is_compared),
	        TEST(a_time_in_another_environment_is_shown_but_not_compared),
	        TEST(backends_that_tie_with_the_fastest_share_its_rank),
	        TEST(failures_and_other_modes_have_no_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
