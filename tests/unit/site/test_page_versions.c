/* versions/: the versions of a package, their steps, and the machine code behind them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "page_groups.h"
#include "site_lab.h"

#include <stdio.h>
#include <string.h>

#define PAGE "versions/lib.html"

/* A version of the package "lib", measured in a night of its own. hash NULL: code unknown. */
static void measure(struct site_lab *lab, int day, const char *rev, const char *hash, double p1_ns,
        double p2_ns)
{
	struct world *w = &lab->w;

	world_build(w, rev, day + 1, "b", NULL, "release");
	if (hash) {
		const struct tk_kernel_row k = {.build_id = w->build,
		        .backend = "b",
		        .name = "sm_90 kernel",
		        .code_hash = hash,
		        .size_bytes = 1,
		        .registers = *hash == 'a' ? 128 : 255,
		        .spill_bytes = *hash == 'a' ? 0 : 48,
		        .shared_bytes = 1024,
		        .threads = -1,
		        .occupancy_percent = -1,
		        .instructions = *hash == 'a' ? "total=800" : "total=816"};
		int64_t id;

		assert_int_equal(tk_store_put_kernel(w->store, &k, &id, &w->err), 0);
	}
	world_night(w, day, "nightly");
	world_point(w, "b", "p1", p1_ns);
	world_point(w, "b", "p2", p2_ns);
}

static void begin(struct site_lab *lab, const char *template)
{
	lab_set_template(lab, "version", template);
	world_upstream(&lab->w, "lib");
	lab_run_sql(lab, "UPDATE upstream SET kind='package' WHERE name='lib'");
}

static const char *page_of(struct site_lab *lab)
{
	lab_build(lab);
	return lab_read(lab, PAGE);
}

static void versions_are_compared_with_the_one_before(void **state)
{
	struct site_lab *lab = *state;

	begin(lab,
	        "{{title}}: {{count}}\n{{#sections}}{{op}} {{device}} {{anchor}}\n{{#versions}}"
	        "{{version_name}} {{measured}} {{change}} {{tone}} {{slower}}/{{faster}} {{code}}\n"
	        "{{/versions}}{{/sections}}");
	measure(lab, 0, "1.9", "a", 1000, 1000);
	measure(lab, 1, "1.10", "b", 2000, 1000); /* a later version, though not by its letters */
	measure(lab, 2, "1.11", "b", 1000, 500);
	assert_string_equal(page_of(lab), "lib: versions: 3\nGEMM box/cpu gemm-box.cpu\n"
	                                  "1.11 2 \u221250.0 % good 0/2 0 of 2\n"
	                                  "1.10 2 +41.4 % bad 1/0 2 of 2\n"
	                                  "1.9 2 – quiet 0/0 –\n");
}

/* Changes within the tie are none. */
static void small_changes_are_no_steps(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#sections}}{{#versions}}{{change}} {{tone}} {{slower}};{{/versions}}"
	           "{{#steps}}step{{/steps}}{{steps_more}}{{/sections}}");
	measure(lab, 0, "1.0", NULL, 1000, 1000);
	measure(lab, 1, "1.1", NULL, 1009, 1009);
	assert_string_equal(page_of(lab), "+0.9 % quiet 0;– quiet 0;");
}

static void steps_are_explained(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#sections}}{{#has_ab}}ab{{/has_ab}}{{#steps}}{{version_name}} < {{older}} "
	           "{{title}} {{label}}: {{before}} -> {{after}} {{change}} {{tone}} {{code}}"
	           "{{#environment}} environment{{/environment}} {{href}} {{ab_pairs}}\n{{/steps}}"
	           "{{/sections}}");
	measure(lab, 0, "1.0", "a", 1000, 1000);
	measure(lab, 1, "1.1", "b", 1500, 3000);
	world_environment(&lab->w, "{\"driver\":\"560\"}");
	measure(lab, 2, "1.2", "b", 1500, 1000);
	assert_string_equal(page_of(lab),
	        "1.2 < 1.1 p2 b: 3.000 µs -> 1.000 µs \u221266.7 % good same code environment "
	        "../series/box.cpu.lib.b.p2.cold.html \n"
	        "1.1 < 1.0 p2 b: 1.000 µs -> 3.000 µs 3.0× bad registers 128 → 255, spills 0 "
	        "→ "
	        "48 "
	        "bytes, instructions 800 → 816 ../series/box.cpu.lib.b.p2.cold.html \n"
	        "1.1 < 1.0 p1 b: 1.000 µs -> 1.500 µs +50.0 % bad registers 128 → 255, spills "
	        "0 → "
	        "48 "
	        "bytes, instructions 800 → 816 ../series/box.cpu.lib.b.p1.cold.html \n");
}

/* A/B runs of both versions, whatever a night measured. */
static void steps_with_ab_runs(void **state)
{
	struct site_lab *lab = *state;
	int64_t old_build;

	begin(lab, "{{#sections}}{{#has_ab}}ab: {{/has_ab}}{{#steps}}{{title}}{{#ab_pairs}} "
	           "{{ab_pairs}} {{ab_change}} {{ab_tone}}{{#ab_open}} open{{/ab_open}}"
	           "{{/ab_pairs}};{{/steps}}{{/sections}}");
	measure(lab, 0, "1.0", NULL, 1000, 1000);
	old_build = lab->w.build;
	measure(lab, 1, "1.1", NULL, 1500, 1600);
	for (int i = 0; i < 8; i++)
		world_pair(&lab->w, "p1", old_build, lab->w.build, i, 1000 + i, 1400 + i);
	assert_string_equal(page_of(lab), "ab: p2;p1 8 +39.9 % bad;");
}

static void every_problem_has_its_versions(void **state)
{
	struct site_lab *lab = *state;

	begin(lab,
	        "{{#sections}}{{#problems}}{{title}}:{{#rows}} {{version_name}} {{time}} {{half}} "
	        "{{rate}} {{change}} {{registers}} {{spills}} {{shared}} {{instructions}} {{code}}"
	        "{{of_vendor}};{{/rows}}\n{{/problems}}{{/sections}}");
	measure(lab, 0, "1.0", "a", 1000, 2000);
	measure(lab, 1, "1.1", "b", 1000, 2000);
	measure(lab, 2, "1.2", NULL, 500, 2000);
	assert_string_equal(page_of(lab),
	        "p1: 1.0 1.000 µs ±0.1 % 1000 TFLOP/s – 128 0 1,024 800 ; "
	        "1.1 1.000 µs ±0.1 % 1000 TFLOP/s ±0.0 % 255 48 1,024 816 changed; "
	        "1.2 500.0 ns ±0.1 % 2000 TFLOP/s \u221250.0 % – – – – ;\n"
	        "p2: 1.0 2.000 µs ±0.1 % 500.0 TFLOP/s – 128 0 1,024 800 ; "
	        "1.1 2.000 µs ±0.1 % 500.0 TFLOP/s ±0.0 % 255 48 1,024 816 changed; "
	        "1.2 2.000 µs ±0.1 % 500.0 TFLOP/s ±0.0 % – – – – ;\n");
}

/* The vendor's library is a system backend of another upstream. */
static void the_vendor_is_beside_them(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#sections}}{{#has_vendor}}vendor: {{/has_vendor}}{{#problems}}{{title}} "
	           "{{vendor}} {{vendor_time}}:{{#rows}} {{of_vendor}}{{/rows}};{{/problems}}"
	           "{{#versions}} {{of_vendor}}{{/versions}}{{/sections}}");
	const int64_t lib = lab->w.upstream;

	world_upstream(&lab->w, "vendor");
	lab_run_sql(lab, "UPDATE upstream SET kind='system' WHERE name='vendor'");
	world_build(&lab->w, "v", 1, "cublas", NULL, "installed");
	world_night(&lab->w, 0, "nightly");
	world_point(&lab->w, "cublas", "p1", 500);
	lab->w.upstream = lib;
	measure(lab, 1, "1.0", NULL, 1000, 1000);
	assert_string_equal(page_of(lab), "vendor: p1 cublas 500.0 ns: 50 %;p2  : ; 50 %");
}

static void one_version_has_a_page_and_no_chart(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "{{#sections}}{{#charts}}{{caption}}{{/charts}}{{#charts_cut}}cut{{/charts_cut}}"
	           "{{#versions}}{{version_name}}{{/versions}}{{/sections}}{{#cut}}cut{{/cut}}");
	measure(lab, 0, "1.0", NULL, 1000, 1000);
	assert_string_equal(page_of(lab), "1.0");
	measure(lab, 1, "1.1", NULL, 1000, 900);
	assert_string_equal(page_of(lab), "Speed1.11.0");
}

/* What is no package has commits, and no page of versions. */
static void a_repository_has_no_versions(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "-");
	lab_run_sql(lab, "UPDATE upstream SET kind='git' WHERE name='lib'");
	measure(lab, 0, "1.0", NULL, 1000, 1000);
	lab_build(lab);
	assert_false(lab_has(lab, PAGE));
}

int page_version_tests(void)
{
	const struct CMUnitTest tests[] = {
	        LAB_TEST(versions_are_compared_with_the_one_before),
	        LAB_TEST(small_changes_are_no_steps),
	        LAB_TEST(steps_are_explained),
	        LAB_TEST(steps_with_ab_runs),
	        LAB_TEST(every_problem_has_its_versions),
	        LAB_TEST(the_vendor_is_beside_them),
	        LAB_TEST(one_version_has_a_page_and_no_chart),
	        LAB_TEST(a_repository_has_no_versions),
	};

	return cmocka_run_group_tests_name("versions", tests, NULL, NULL);
}
