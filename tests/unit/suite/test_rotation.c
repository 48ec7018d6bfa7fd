/* Rotation: K nights in a row measure every problem once, in about equal shares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/night.h"
#include "suite/rotation.h"

#define PROBLEMS 2030

static void write_text(unsigned i, char text[64])
{
	snprintf(text, 64, "gemm:m=%u,n=%u,k=512", 16 + i, 128 + 3 * i);
}

static unsigned count_due(const char *text, uint32_t nights, uint64_t first)
{
	unsigned due = 0;

	for (uint32_t night = 0; night < nights; night++)
		due += tk_rotation_is_due(tk_rotation_key(text), nights, first + night);
	return due;
}

/* From any night on, also across the end of a round. */
static void every_problem_is_due_once(void **state)
{
	static const uint32_t rounds[] = {1, 2, 3, 7, 30, TK_ROTATION_NIGHTS_MAX};
	char text[64];

	(void)state;
	for (size_t r = 0; r < sizeof rounds / sizeof *rounds; r++)
		for (unsigned i = 0; i < 40; i++) {
			write_text(i, text);
			assert_int_equal(count_due(text, rounds[r], 0), 1);
			assert_int_equal(count_due(text, rounds[r], 5), 1);
			assert_int_equal(count_due(text, rounds[r], UINT64_C(1) << 40), 1);
		}
}

static void every_night_is_due_without_rotation(void **state)
{
	(void)state;
	for (uint64_t night = 0; night < 20; night++)
		assert_true(tk_rotation_is_due(tk_rotation_key("gemm:m=1,n=2,k=3"), 1, night));
}

/* A night of a seventh of 2,030 problems has 290; the standard deviation of a hash is 16. */
static void shares_are_about_equal(void **state)
{
	char text[64];

	(void)state;
	for (uint64_t night = 0; night < 7; night++) {
		unsigned due = 0;

		for (unsigned i = 0; i < PROBLEMS; i++) {
			write_text(i, text);
			due += tk_rotation_is_due(tk_rotation_key(text), 7, night);
		}
		assert_in_range(due, PROBLEMS / 7 - 64, PROBLEMS / 7 + 64);
	}
}

/* The slots are part of a history: another hash would measure some problems late. */
static void slots_stay_as_they_are(void **state)
{
	static const struct {
		const char *text;
		uint64_t night;
	} cases[] = {{"gemm:m=512,n=512,k=512", 4}, {"copy:bytes=1048576", 5}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_true(tk_rotation_is_due(tk_rotation_key(cases[i].text), 7, cases[i].night));
}

/* So are the parts: another machine would start a history of its own. */
static void parts_stay_as_they_are(void **state)
{
	static const struct {
		const char *text;
		uint32_t parts, part;
	} cases[] = {{"gemm:m=512,n=512,k=512", 4, 4}, {"gemm:m=512,n=512,k=512", 7, 6},
	        {"copy:bytes=1048576", 4, 3}, {"copy:bytes=1048576", 7, 7}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_true(tk_rotation_is_in_part(
		        tk_rotation_key(cases[i].text), cases[i].part, cases[i].parts));
}

static void every_problem_is_in_one_part(void **state)
{
	static const uint32_t counts[] = {1, 2, 4, 7, TK_NIGHT_PARTS_MAX};
	char text[64];

	(void)state;
	for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
		for (unsigned i = 0; i < 40; i++) {
			unsigned in = 0;

			write_text(i, text);
			for (uint32_t part = 1; part <= counts[c]; part++)
				in += tk_rotation_is_in_part(
				        tk_rotation_key(text), part, counts[c]);
			assert_int_equal(in, 1);
		}
	assert_true(tk_rotation_is_in_part(tk_rotation_key("copy:bytes=8"), 0, 0));
}

/* Each night has work for each machine. */
static void a_part_has_its_share_of_every_slot(void **state)
{
	unsigned in[4][4] = {{0}};
	char text[64];

	(void)state;
	for (unsigned i = 0; i < PROBLEMS; i++) {
		write_text(i, text);
		for (uint32_t night = 0; night < 4; night++)
			for (uint32_t part = 1; part <= 4; part++)
				in[night][part - 1] +=
				        tk_rotation_is_due(tk_rotation_key(text), 4, night) &&
				        tk_rotation_is_in_part(tk_rotation_key(text), part, 4);
	}
	for (size_t i = 0; i < 16; i++)
		assert_in_range(in[i / 4][i % 4], PROBLEMS / 16 - 45, PROBLEMS / 16 + 45);
}

static void a_part_is_two_numbers(void **state)
{
	static const struct {
		const char *text;
		uint32_t part, parts; /* 0: not a part */
	} cases[] = {{"1/1", 1, 1}, {"1/2", 1, 2}, {"2/2", 2, 2}, {"02/14", 2, 14},
	        {"1000/1000", 1000, 1000}, {"1/1000", 1, 1000}, {"1/1001", 0, 0}, {"3/2", 0, 0},
	        {"0/2", 0, 0}, {"0/0", 0, 0}, {"1/0", 0, 0}, {"", 0, 0}, {"1", 0, 0}, {"1/", 0, 0},
	        {"/2", 0, 0}, {"1/2/3", 0, 0}, {"1/2 ", 0, 0}, {" 1/2", 0, 0}, {"1 /2", 0, 0},
	        {"1/ 2", 0, 0}, {"+1/2", 0, 0}, {"1/+2", 0, 0}, {"-1/2", 0, 0}, {"a/b", 0, 0},
	        {"1/4294967297", 0, 0}, {"18446744073709551617/18446744073709551617", 0, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint32_t part = 7, parts = 8;
		const bool is_valid = tk_part_parse(cases[i].text, &part, &parts);
		if (is_valid != (cases[i].part > 0))
			fail_msg("\"%s\"", cases[i].text);
		assert_int_equal(part, is_valid ? cases[i].part : 7);
		assert_int_equal(parts, is_valid ? cases[i].parts : 8);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	        cmocka_unit_test(parts_stay_as_they_are),
	        cmocka_unit_test(every_problem_is_due_once),
	        cmocka_unit_test(every_night_is_due_without_rotation),
	        cmocka_unit_test(shares_are_about_equal),
	        cmocka_unit_test(slots_stay_as_they_are),
	        cmocka_unit_test(every_problem_is_in_one_part),
	        cmocka_unit_test(a_part_has_its_share_of_every_slot),
	        cmocka_unit_test(a_part_is_two_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
