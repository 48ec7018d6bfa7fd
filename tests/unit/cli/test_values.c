/* Values on the command line and in CSV files: what is understood, and what a wrong one is told. */
#include "capture.h"

#include <argp.h>
#include <jansson.h>
#include <math.h>

#include "base/csv.h"
#include "base/error.h"
#include "cli/ab/ab_options.h"
#include "cli/action_options.h"
#include "cli/history/csv_value.h"
#include "cli/history/name_table.h"
#include "cli/options.h"
#include "cli/range_options.h"
#include "cli/rate.h"

/* ---- options: a state of argp that notes the message instead of ending the program ---- */

struct parser {
	struct argp argp;
	struct argp_state state;
	struct capture capture;
};

static void parser_open(struct parser *p, void *input)
{
	static char name[] = "tracker test";

	*p = (struct parser){0};
	p->state = (struct argp_state){.root_argp = &p->argp,
	        .flags = ARGP_NO_EXIT,
	        .name = name,
	        .input = input,
	        .err_stream = capture_open(&p->capture),
	        .out_stream = p->capture.out};
}

static void expect_message(struct parser *p, const char *message)
{
	if (*message)
		expect_contains(capture_text(&p->capture), message);
	else
		assert_string_equal(capture_text(&p->capture), "");
	capture_free(&p->capture);
}

static void words_have_a_position(void **state)
{
	static const struct {
		const char *arg, *message;
		size_t position;
	} cases[] = {
	        {"text", "", 0},
	        {"json", "", 1},
	        {"csv", "", 2},
	        {"jsn", "--format=jsn: expected text, json or csv; did you mean \"json\"?", 0},
	        {"TEXT", "--format=TEXT: expected text, json or csv", 0},
	        {"", "--format=: expected", 0},
	        {"text|json", "expected text, json or csv", 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct parser p;
		parser_open(&p, NULL);
		assert_int_equal(
		        tk_option_parse_choice(cases[i].arg, "format", "text|json|csv", &p.state),
		        cases[i].position);
		expect_message(&p, cases[i].message);
	}
}

static void json_is_the_second_word(void **state)
{
	struct parser p;

	parser_open(&p, NULL);
	assert_true(tk_option_parse_json("json", &p.state));
	assert_false(tk_option_parse_json("text", &p.state));
	expect_message(&p, "");
}

static void modes_have_former_names(void **state)
{
	struct parser p;

	parser_open(&p, NULL);
	for (int m = 0; m < TK_MODE_COUNT; m++)
		assert_int_equal(tk_option_parse_mode(tk_mode_name((enum tk_mode)m), &p.state), m);
	assert_string_equal(capture_text(&p.capture), "");
	assert_int_equal(tk_option_parse_mode("warm", &p.state), TK_MODE_COUNT);
	expect_message(&p, "--mode=warm: expected cold, hot");
}

static void quantities_have_units_and_limits(void **state)
{
	static const struct {
		enum tk_quantity kind;
		const char *arg;
		double min, max, value;
		const char *message;
	} cases[] = {
	        {TK_QUANTITY_DURATION, "2m", 0, 1e6, 120, ""},
	        {TK_QUANTITY_FRACTION, "2%", 0, 10, 0.02, ""},
	        {TK_QUANTITY_FRACTION, "0.02", 0, 10, 0.02, ""},
	        {TK_QUANTITY_SIZE, "1KiB", 0, 1e9, 1024, ""},
	        {TK_QUANTITY_COUNT, "5", 1, 4, 1, "--x: "},
	        {TK_QUANTITY_COUNT, "-1", 0, 4, 0, "--x: "},
	        {TK_QUANTITY_DURATION, "soon", 3, 9, 3, "\"soon\""},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct parser p;
		parser_open(&p, NULL);
		assert_float_equal(tk_option_parse_quantity(cases[i].kind, cases[i].arg, "x",
		                           cases[i].min, cases[i].max, &p.state),
		        cases[i].value, 1e-12);
		expect_message(&p, cases[i].message);
	}
}

static void counts_are_whole(void **state)
{
	struct parser p;

	parser_open(&p, NULL);
	assert_int_equal(tk_option_parse_count("0", "limit", &p.state), 0);
	assert_int_equal(tk_option_parse_count("12", "limit", &p.state), 12);
	assert_string_equal(capture_text(&p.capture), "");
	tk_option_parse_count("1.5", "limit", &p.state);
	expect_message(&p, "--limit: ");
}

static void devices_are_a_list(void **state)
{
	char text[] = "cpu,,cuda:1,", more[] = "hip", none[] = ",";
	struct tk_device_names names = {0};
	struct parser p;

	parser_open(&p, NULL);
	tk_option_parse_devices(text, &names, &p.state);
	tk_option_parse_devices(more, &names, &p.state); /* appended */
	assert_int_equal(names.count, 3);
	assert_string_equal(names.names[1], "cuda:1");
	assert_string_equal(names.names[2], "hip");
	assert_null(names.names[3]);
	assert_string_equal(capture_text(&p.capture), "");
	names = (struct tk_device_names){0};
	tk_option_parse_devices(none, &names, &p.state);
	expect_message(&p, "--devices: expected a list of devices");
}

static void actions_are_suggested(void **state)
{
	static const char *const known[] = {"list", "show", NULL};
	struct tk_error err = {0};

	assert_int_equal(tk_option_fail_action("lst", known, &err), TK_EUSAGE);
	expect_contains(err.message, "unknown action \"lst\"; did you mean \"list\"?");
}

static void an_action_and_its_names(void **state)
{
	static char action[] = "show", word[] = "a", json[] = "json";
	static char *argv[] = {action, word, word, NULL};
	struct tk_action_options o = {0};
	struct parser p;

	parser_open(&p, &o);
	assert_int_equal(tk_action_options_parse('f', json, "list or show", &p.state), 0);
	assert_true(o.json);
	assert_int_equal(
	        tk_action_options_parse(ARGP_KEY_ARG, action, "list or show", &p.state), 0);
	/* What follows is taken together. */
	assert_int_equal(tk_action_options_parse(ARGP_KEY_ARG, word, "list or show", &p.state),
	        ARGP_ERR_UNKNOWN);
	p.state.argv = argv;
	p.state.argc = 3;
	p.state.next = 1;
	assert_int_equal(tk_action_options_parse(ARGP_KEY_ARGS, NULL, "list or show", &p.state), 0);
	assert_string_equal(o.action, "show");
	assert_int_equal(o.name_count, 2);
	assert_ptr_equal(o.names, argv + 1);
	assert_int_equal(tk_action_options_parse(ARGP_KEY_END, NULL, "list or show", &p.state), 0);
	assert_string_equal(capture_text(&p.capture), "");
	o.action = NULL;
	tk_action_options_parse(ARGP_KEY_END, NULL, "list or show", &p.state);
	assert_int_equal(
	        tk_action_options_parse('x', NULL, "list or show", &p.state), ARGP_ERR_UNKNOWN);
	expect_message(&p, "missing action; expected list or show");
}

static void a_range_and_its_series(void **state)
{
	static char good[] = "v1", bad[] = "v2", rev[] = "HEAD", budget[] = "10m", wrong[] = "10x",
	            series[] = "box/cpu";
	struct tk_range_options o = {0};
	struct parser p;

	parser_open(&p, &o);
	assert_int_equal(tk_range_options_parse(TK_OPT_GOOD, good, &p.state), 0);
	assert_int_equal(tk_range_options_parse(TK_OPT_BAD, bad, &p.state), 0);
	assert_int_equal(tk_range_options_parse(TK_OPT_REV, rev, &p.state), 0);
	assert_int_equal(tk_range_options_parse(TK_OPT_BUDGET, budget, &p.state), 0);
	assert_int_equal(tk_range_options_parse(ARGP_KEY_ARG, series, &p.state), 0);
	assert_int_equal(tk_range_options_parse(ARGP_KEY_END, NULL, &p.state), 0);
	assert_int_equal(tk_range_options_parse('x', NULL, &p.state), ARGP_ERR_UNKNOWN);
	assert_string_equal(o.good, "v1");
	assert_string_equal(o.bad, "v2");
	assert_string_equal(o.rev, "HEAD");
	assert_string_equal(o.series, "box/cpu");
	assert_int_equal(o.budget_s, 600);
	assert_string_equal(capture_text(&p.capture), "");
	tk_range_options_parse(ARGP_KEY_ARG, series, &p.state);
	expect_contains(capture_text(&p.capture), "expected one series or alert");
	tk_range_options_parse(TK_OPT_BUDGET, wrong, &p.state);
	expect_contains(capture_text(&p.capture), "--budget: \"10x\"");
	o.series = NULL;
	tk_range_options_parse(ARGP_KEY_END, NULL, &p.state);
	expect_message(&p, "missing SERIES or ALERT");
}

static void options_of_a_comparison(void **state)
{
	static char budget[] = "30s", devices[] = "cuda", mode[] = "hot", sequence[] = "sequence",
	            suite[] = "smoke", threshold[] = "3%", large[] = "2000%";
	struct tk_ab_request q = tk_ab_options_defaults();
	struct tk_device_names names = {0};
	struct parser p;

	assert_int_equal(q.mode, TK_MODE_COUNT);
	assert_true(isnan(q.min_effect));
	assert_float_equal(q.budget_s, 300, 0);
	parser_open(&p, NULL);
	assert_int_equal(tk_ab_options_parse(TK_AB_OPT_BUDGET, budget, &q, &names, &p.state), 0);
	assert_int_equal(tk_ab_options_parse(TK_AB_OPT_DEVICES, devices, &q, &names, &p.state), 0);
	assert_int_equal(tk_ab_options_parse(TK_AB_OPT_MODE, mode, &q, &names, &p.state), 0);
	assert_int_equal(tk_ab_options_parse(TK_AB_OPT_SUITE, suite, &q, &names, &p.state), 0);
	assert_int_equal(
	        tk_ab_options_parse(TK_AB_OPT_THRESHOLD, threshold, &q, &names, &p.state), 0);
	assert_float_equal(q.budget_s, 30, 0);
	assert_float_equal(q.min_effect, 0.03, 1e-12);
	assert_int_equal(q.mode, TK_MODE_HOT);
	assert_string_equal(q.suite, "smoke");
	assert_int_equal(names.count, 1);
	assert_int_equal(tk_ab_options_parse('x', NULL, &q, &names, &p.state), ARGP_ERR_UNKNOWN);
	assert_string_equal(capture_text(&p.capture), "");
	tk_ab_options_parse(TK_AB_OPT_MODE, sequence, &q, &names, &p.state);
	expect_contains(capture_text(&p.capture), "do not measure within a sequence");
	tk_ab_options_parse(TK_AB_OPT_THRESHOLD, large, &q, &names, &p.state);
	expect_message(&p, "--threshold: ");
}

/* ---- fields of CSV files ---- */

static const struct tk_csv at_line_7 = {.path = "f.csv", .line = 7};

static void days_are_numbers_or_dates(void **state)
{
	static const struct {
		const char *text;
		int64_t day;
		bool is_date;
	} cases[] = {
	        {"0", 0},
	        {"20779", 20779},
	        {"-3", -3},
	        {"999999999999999", 999999999999999},
	        {"1234567890123456", 1234567890123456}, /* more digits than the fast way takes */
	        {"1970-01-02", 1, true},
	        {"1969-12-31", -1, true},
	        {"2026-11-21T23:59:59Z", 20778, true},
	        {"2.9", 2},
	        {"-0.5", -1},
	        {"1e3", 1000},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_error err = {0};
		int64_t day = 4711;
		bool is_date;
		if (tk_csv_read_day(&at_line_7, cases[i].text, &day, &is_date, &err))
			fail_msg("%s", err.message);
		assert_int_equal(is_date, cases[i].is_date);
		if (day != cases[i].day)
			fail_msg("%s: %lld", cases[i].text, (long long)day);
	}
}

static void other_days_are_refused(void **state)
{
	static const char *const texts[] = {
	        "", "x", "12a", "1e400", "nan", "2026-13-01", "1e15", "99999999999999999999"};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct tk_error err = {0};
		int64_t day;
		bool is_date;
		if (!tk_csv_read_day(&at_line_7, texts[i], &day, &is_date, &err))
			fail_msg("\"%s\" is day %lld", texts[i], (long long)day);
		assert_int_equal(err.status, TK_EDATA);
		expect_contains(err.message, "f.csv:7: day: \"");
	}
}

/* The fast way for plain numbers gives the same bits as strtod(). */
static void values_are_read_to_the_last_bit(void **state)
{
	static const char *const texts[] = {"0", "1", "1.5", ".5", "5.", "1e22", "1e-22", "1e23",
	        "123456789012345", "1234567890123456", "0.000000000000001",
	        "1.7976931348623157e308", "5e-324", "12345678901234.5e-3", "1E+5", "-2.5", "+3",
	        "0x1p-3", "inf", "1e9999"};
	uint64_t random = 1;
	char text[40];

	for (size_t i = 0; i < sizeof texts / sizeof *texts + 2000; i++) {
		const char *t = i < sizeof texts / sizeof *texts ? texts[i] : text;
		struct tk_error err = {0};
		double value;
		random = random * 6364136223846793005u + 1442695040888963407u;
		if (t == text)
			snprintf(text, sizeof text, "%llu.%03lluE%d",
			        (unsigned long long)(random >> 40),
			        (unsigned long long)(random >> 20) % 1000, (int)(random >> 8) % 24);
		if (tk_csv_read_value(&at_line_7, t, &value, &err))
			fail_msg("%s", err.message);
		const double expected = strtod(t, NULL);
		if (memcmp(&value, &expected, sizeof value) != 0)
			fail_msg("%s: %.17g, expected %.17g", t, value, expected);
	}
}

static void other_values_are_refused(void **state)
{
	static const char *const texts[] = {"", ".", "e5", "1e", "1e+", "1.2.3", "12 ns", "x"};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct tk_error err = {0};
		double value;
		if (!tk_csv_read_value(&at_line_7, texts[i], &value, &err))
			fail_msg("\"%s\" is %g", texts[i], value);
		assert_int_equal(err.status, TK_EDATA);
		expect_contains(err.message, "f.csv:7: value: \"");
	}
}

static void names_have_the_number_of_their_first_appearance(void **state)
{
	struct tk_name_table t = {0};
	char name[24];
	size_t number;

	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < 3000; i++) {
			const int len = snprintf(name, sizeof name, "series %zu", i);
			assert_true(tk_name_table_add(&t, name, (size_t)len, &number));
			assert_int_equal(number, i);
		}
	assert_int_equal(t.count, 3000);
	for (size_t i = 3000; i--;) { /* against the order of the table's guess */
		const int len = snprintf(name, sizeof name, "series %zu", i);
		assert_true(tk_name_table_add(&t, name, (size_t)len, &number));
		assert_int_equal(number, i);
	}
	assert_string_equal(t.at[17], "series 17");
	assert_true(2 * t.count <= t.slot_count);
	assert_true(tk_name_table_add(&t, "", 0, &number));
	assert_int_equal(number, 3000);
	tk_name_table_free(&t);
}

/* ---- rates ---- */

static void a_rate_is_work_by_time(void **state)
{
	struct tk_rate r = tk_rate_compute(2e9, 4000, 1e6);

	assert_float_equal(r.gflop_per_s, 2000, 1e-9);
	assert_float_equal(r.peak_share, 0.5, 1e-12);
	r = tk_rate_compute(2e9, 0, 1e6);
	assert_float_equal(r.gflop_per_s, 2000, 1e-9);
	assert_true(isnan(r.peak_share));
	assert_true(isnan(tk_rate_compute(0, 4000, 1e6).gflop_per_s));
	assert_true(isnan(tk_rate_compute(0, 4000, 1e6).peak_share));
	assert_true(isnan(tk_rate_compute(2e9, 4000, 0).gflop_per_s));
	assert_true(isnan(tk_rate_compute(2e9, 4000, NAN).gflop_per_s));
}

/* Only times have a rate; the peak needs a known device and a problem of this tracker. */
static void the_peak_is_that_of_the_data_sheet(void **state)
{
	const char *gemm = "gemm:a=bf16,k=512,m=512,n=512", *h100 = "NVIDIA H100 80GB HBM3";

	assert_true(tk_rate_from_problem(gemm, 1e9, h100, 1e6, "ns").peak_share > 0);
	assert_true(isnan(tk_rate_from_problem(gemm, 1e9, h100, 1e6, "J").gflop_per_s));
	struct tk_rate r = tk_rate_from_problem(gemm, 1e9, "Some CPU", 1e6, "ns");
	assert_float_equal(r.gflop_per_s, 1000, 1e-9);
	assert_true(isnan(r.peak_share));
	r = tk_rate_from_problem("another language", 1e9, h100, 1e6, "ns");
	assert_float_equal(r.gflop_per_s, 1000, 1e-9);
	assert_true(isnan(r.peak_share));
}

static void unknown_rates_are_null(void **state)
{
	json_t *o = json_object();

	tk_rate_set_members(o, &(struct tk_rate){5, NAN});
	assert_float_equal(json_real_value(json_object_get(o, "gflop_per_s")), 5, 0);
	assert_true(json_is_null(json_object_get(o, "peak_share")));
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(words_have_a_position),
	        cmocka_unit_test(json_is_the_second_word),
	        cmocka_unit_test(modes_have_former_names),
	        cmocka_unit_test(quantities_have_units_and_limits),
	        cmocka_unit_test(counts_are_whole),
	        cmocka_unit_test(devices_are_a_list),
	        cmocka_unit_test(actions_are_suggested),
	        cmocka_unit_test(an_action_and_its_names),
	        cmocka_unit_test(a_range_and_its_series),
	        cmocka_unit_test(options_of_a_comparison),
	        cmocka_unit_test(days_are_numbers_or_dates),
	        cmocka_unit_test(other_days_are_refused),
	        cmocka_unit_test(values_are_read_to_the_last_bit),
	        cmocka_unit_test(other_values_are_refused),
	        cmocka_unit_test(names_have_the_number_of_their_first_appearance),
	        cmocka_unit_test(a_rate_is_work_by_time),
	        cmocka_unit_test(the_peak_is_that_of_the_data_sheet),
	        cmocka_unit_test(unknown_rates_are_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
