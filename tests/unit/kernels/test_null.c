/* The null backend: its options and simulated times. */
#include "core/problem.h"
#include "null_options.h"
#include "null_time.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- options --------------------------------------------------------------------------------- */

static struct null_options parse(const char *text)
{
	struct null_options o;
	struct tk_abi_error err = {.size = sizeof err};

	null_options_default(&o);
	if (null_options_parse(&o, text, &err))
		fail_msg("%s: %s", text, err.message);
	return o;
}

static void invalid_options_are_named(void **state)
{
	/* clang-format off */
	static const char *const cases[][2] = {{"nosie=1", "there is no option \"nosie\""},
		{"noise", "\"noise\" is not key=value"},
		{"noise=x", "noise cannot be \"x\""}, {"noise=-1", "noise cannot be \"-1\""},
		{"noise=nan", "noise cannot be \"nan\""}, {"noise=", "noise cannot be \"\""},
		{"slow=inf", "slow cannot be \"inf\""}, {"slow=1.5x", "slow cannot be \"1.5x\""},
		{"fail=sing", "fail cannot be \"sing\""}, {"fail=", "fail cannot be \"\""},
		{"step=3", "step cannot be \"3\""}, {"step=3:", "step cannot be \"3:\""},
		{"step=3:0", "step cannot be \"3:0\""}, {"step=3:-1", "step cannot be \"3:-1\""},
		{"step=3:1x", "step cannot be \"3:1x\""}, {"step=:2", "step cannot be \":2\""},
		{"step=-1:2", "step cannot be \"-1:2\""}, {"step= 3:2", "step cannot be \" 3:2\""},
		{"step=3:inf", "step cannot be \"3:inf\""},
		{"step=18446744073709551616:2", "step cannot be \"18446744073709551616:2\""},
		{"seed=-1", "seed cannot be \"-1\""}, {"seed= 1", "seed cannot be \" 1\""},
		{"after=18446744073709551616", "after cannot be \"18446744073709551616\""},
		{"seed=", "seed cannot be \"\""}, {"seed=1.5", "seed cannot be \"1.5\""},
		{"any_size=2", "any_size cannot be \"2\""},
		{"space=yes", "space cannot be \"yes\""},
		{"at=home", "at cannot be \"home\""},
		{"seed=1,,at=home", "at cannot be \"home\""}};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct null_options o;
		struct tk_abi_error err = {.size = sizeof err};
		null_options_default(&o);
		assert_int_equal(null_options_parse(&o, cases[i][0], &err), TK_ABI_INVALID);
		if (!strstr(err.message, cases[i][1]))
			fail_msg("%s: %s", cases[i][0], err.message);
	}
}

static void options_have_their_values(void **state)
{
	(void)state;
	struct null_options o = parse("seed=7,revision=18446744073709551615,run=3,after=2,slow=1.5,"
	                              "drift=0.01,noise=0,outliers=0.25,late_s=0.5,any_size=1,"
	                              "throttle=1,capturable=1,space=1,only=m=512,alone=/tmp/lock,"
	                              "wrong=best,at=fetch,fail=lie,step=10:2.5");

	assert_int_equal(o.seed, 7);
	assert_true(o.revision == UINT64_MAX);
	assert_int_equal(o.run, 3);
	assert_int_equal(o.after, 2);
	assert_float_equal(o.slow, 1.5, 0);
	assert_float_equal(o.drift, 0.01, 0);
	assert_float_equal(o.noise, 0, 0);
	assert_float_equal(o.outliers, 0.25, 0);
	assert_float_equal(o.late_s, 0.5, 0);
	assert_true(o.any_size && o.throttle && o.capturable && o.space);
	assert_string_equal(o.only, "m=512"); /* a value may have an equals sign */
	assert_string_equal(o.alone, "/tmp/lock");
	assert_string_equal(o.wrong, "best");
	assert_int_equal(o.at, NULL_AT_FETCH);
	assert_int_equal(o.fault, NULL_FAULT_LIE);
	assert_int_equal(o.step_at, 10);
	assert_float_equal(o.step, 2.5, 0);
}

static void options_not_named_are_kept(void **state)
{
	(void)state;
	struct null_options o = parse(NULL);

	assert_float_equal(o.slow, 1, 0);
	assert_float_equal(o.step, 1, 0);
	assert_float_equal(o.noise, 0.005, 0);
	assert_float_equal(o.late_s, 1, 0);
	assert_int_equal(o.at, NULL_AT_LAUNCH);
	assert_int_equal(o.fault, NULL_FAULT_NONE);
	o = parse(",,seed=1,,space=0,"); /* empty ones are skipped */
	assert_int_equal(o.seed, 1);
	assert_int_equal(o.space, 0);
	assert_float_equal(o.noise, 0.005, 0);
	o = parse("seed=1,seed=2"); /* the last one counts */
	assert_int_equal(o.seed, 2);
}

static void each_fault_and_stage_has_its_word(void **state)
{
	/* clang-format off */
	static const char *const faults[] = {
#define FAULT_OPTION(id, word) "fail=" word,
		NULL_FAULTS(FAULT_OPTION)
	};
	/* clang-format on */
	static const char *const stages[] = {
	        "at=open", "at=supports", "at=plan", "at=bind", "at=launch", "at=fetch"};

	(void)state;
	for (size_t i = 0; i < NULL_FAULT_COUNT; i++)
		assert_int_equal(parse(faults[i]).fault, i);
	for (size_t i = 0; i < NULL_STAGES; i++)
		assert_int_equal(parse(stages[i]).at, i);
}

static void texts_have_a_limit(void **state)
{
	(void)state;
	for (size_t len = NULL_TEXT - 1; len <= NULL_TEXT; len++) {
		struct null_options o;
		struct tk_abi_error err = {.size = sizeof err};
		char text[NULL_TEXT + 16] = "only=";

		memset(text + 5, 'x', len);
		text[5 + len] = '\0';
		null_options_default(&o);
		assert_int_equal(null_options_parse(&o, text, &err),
		        len < NULL_TEXT ? TK_ABI_OK : TK_ABI_INVALID);
	}
}

/* ---- work ------------------------------------------------------------------------------------ */

static void work_of_each_operation(void **state)
{
	static const struct {
		const char *text;
		double work, bytes;
	} cases[] = {
	        {"gemm:m=2,n=3,k=5", 30, 4 * (10 + 15 + 6)},
	        {"gemm:m=2,n=3,k=5,batch=4", 120, 16 * (10 + 15 + 6)},
	        {"gemm:m=2,n=3,k=5,a=f16,c=f32", 30, 2 * (10 + 15) + 4 * 6},
	        {"attention:b=2,h=4,sq=8,skv=16,d=32", 64. * 16 * 64, 2. * (64 + 128) * 64},
	        {"attention:b=2,h=4,sq=16,d=32,causal=1", 128. * 16 * 64 / 2, 2. * 256 * 64},
	        {"attention:b=2,h=4,sq=16,d=32,dir=bwd", 128. * 16 * 64 * 2.5, 2. * 256 * 64},
	        {"attention:b=1,h=4,hkv=2,sq=8,d=32,dv=16", 32. * 8 * 48, 2. * (32 + 16) * 48},
	        {"nsa:b=2,h=4,hkv=1,s=128,d=64,selected_blocks=4,block_size=16,window=8",
	                256. * 4 * 72 * 128, 2. * 256 * 10 * 64},
	        {"copy:bytes=1024", 0, 2048},
	        {"read:bytes=1024,passes=3", 0, 3072},
	        {"fma:count=1000", 1000, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_problem_spec p;
		double bytes = -1;

		assert_int_equal(tk_problem_parse(&p, cases[i].text, NULL), 0);
		double work = null_problem_work(&p.abi, &bytes);

		if (work != cases[i].work || bytes != cases[i].bytes)
			fail_msg("%s: %g, %g", cases[i].text, work, bytes);
	}
}

/* ---- times ----------------------------------------------------------------------------------- */

static double time_of(
        const struct null_options *o, const char *text, double config, uint64_t launch)
{
	struct tk_problem_spec p;

	assert_int_equal(tk_problem_parse(&p, text, NULL), 0);
	return null_time_ns(o, &p.abi, config, launch);
}

static void times_step_and_drift(void **state)
{
	struct null_options o;

	(void)state;
	null_options_default(&o);
	o.noise = 0;
	double base = time_of(&o, "gemm:m=512,n=512,k=512", 1, 0);
	o.step_at = 5;
	o.step = 1.5;
	o.revision = 4;
	assert_float_equal(time_of(&o, "gemm:m=512,n=512,k=512", 1, 7) / base, 1, 1e-12);
	o.revision = 5;
	assert_float_equal(time_of(&o, "gemm:m=512,n=512,k=512", 1, 7) / base, 1.5, 1e-12);
	o.drift = 0.01;
	assert_float_equal(
	        time_of(&o, "gemm:m=512,n=512,k=512", 1, 7) / base, 1.5 * pow(1.01, 5), 1e-9);
	o.seed = 9;
	assert_true(fabs(time_of(&o, "gemm:m=512,n=512,k=512", 1, 7) / base - 1.5 * pow(1.01, 5)) >
	            1e-6);
}

/* 2 us and the slower of arithmetic and memory, within a quarter by the seed. */
static void times_follow_the_work(void **state)
{
	static const struct {
		const char *text;
		double ns;
	} cases[] = {{"gemm:m=1000,n=1000,k=1000", 2000 + 2e6}, {"copy:bytes=1000000", 2000 + 2e4},
	        {"fma:count=1000000", 2000 + 2000}, {"read:bytes=4", 2000.04}};
	struct null_options o;

	(void)state;
	null_options_default(&o);
	o.noise = 0;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (o.seed = 0; o.seed < 20; o.seed++) {
			double ratio = time_of(&o, cases[i].text, 1, 0) / cases[i].ns;

			if (!(ratio >= 0.75 && ratio < 1.25))
				fail_msg("%s: %g", cases[i].text, ratio);
		}
	double plain = time_of(&o, "copy:bytes=1000000", 1, 0);

	o.slow = 3;
	assert_float_equal(time_of(&o, "copy:bytes=1000000", 0.9, 0) / plain, 2.7, 1e-12);
}

/* A pure function: equal arguments give equal times, and each of them matters. */
static void times_can_be_repeated(void **state)
{
	struct null_options o;
	const char *const text = "gemm:m=64,n=64,k=64";

	(void)state;
	null_options_default(&o);
	double first = time_of(&o, text, 1, 3);

	assert_true(time_of(&o, text, 1, 3) == first);
	assert_true(time_of(&o, text, 1, 4) != first);
	assert_true(time_of(&o, "gemm:m=64,n=64,k=65", 1, 3) != first);
	o.run = 1;
	assert_true(time_of(&o, text, 1, 3) != first);
	o.run = 0;
	o.revision = 1;
	assert_true(time_of(&o, text, 1, 3) != first);
	o.revision = 0;
	o.seed = 1;
	assert_true(time_of(&o, text, 1, 3) != first);
}

/* The logarithms of many times have the mean and the spread that `noise` names. */
static void noise_is_log_normal(void **state)
{
	enum { LAUNCHES = 20000 };
	struct null_options o;
	double sum = 0, squares = 0;

	(void)state;
	null_options_default(&o);
	o.noise = 0;
	double base = time_of(&o, "copy:bytes=4096", 1, 0);

	o.noise = 0.05;
	for (uint64_t i = 0; i < LAUNCHES; i++) {
		double z = log(time_of(&o, "copy:bytes=4096", 1, i) / base) / 0.05;

		sum += z;
		squares += z * z;
	}
	assert_true(fabs(sum / LAUNCHES) < 0.03);
	assert_true(fabs(squares / LAUNCHES - 1) < 0.05);
}

static void outliers_are_a_share_of_the_launches(void **state)
{
	enum { LAUNCHES = 20000 };
	struct null_options o;
	int slow = 0;

	(void)state;
	null_options_default(&o);
	o.noise = 0;
	double base = time_of(&o, "copy:bytes=4096", 1, 0);

	o.outliers = 0.1;
	for (uint64_t i = 0; i < LAUNCHES; i++) {
		double ratio = time_of(&o, "copy:bytes=4096", 1, i) / base;

		assert_true(ratio >= 1 - 1e-12 && ratio < 4);
		slow += ratio > 1 + 1e-9;
	}
	assert_true(slow > LAUNCHES / 10 - 200 && slow < LAUNCHES / 10 + 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(invalid_options_are_named),
	        cmocka_unit_test(options_have_their_values),
	        cmocka_unit_test(options_not_named_are_kept),
	        cmocka_unit_test(each_fault_and_stage_has_its_word),
	        cmocka_unit_test(texts_have_a_limit),
	        cmocka_unit_test(work_of_each_operation),
	        cmocka_unit_test(times_step_and_drift),
	        cmocka_unit_test(times_follow_the_work),
	        cmocka_unit_test(times_can_be_repeated),
	        cmocka_unit_test(noise_is_log_normal),
	        cmocka_unit_test(outliers_are_a_share_of_the_launches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
