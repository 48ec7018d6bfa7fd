/* machines/, environment.html, upstreams/ and method.html: what surrounds the measurements. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "site_lab.h"

#include "base/error.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void begin(struct site_lab *lab, const char *name, const char *template)
{
	lab_set_template(lab, name, template);
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
}

/* Three series, so that an environment is dated. */
static void measure(struct site_lab *lab, int day)
{
	world_night(&lab->w, day, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
	world_point(&lab->w, "b", "p2", 1000);
	world_point(&lab->w, "b", "p3", 1000);
}

/* ---- machines ---- */

static void machines_are_listed_with_their_devices(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "machines",
	        "{{#machines}}{{name}} {{href}} {{series}} {{night}}:{{#devices}} "
	        "{{device}}{{/devices}}\n{{/machines}}");
	measure(lab, 0);
	world_machine(&lab->w, "idle", "gpu");
	lab_expect(lab, "machines/index.html",
	        "box box.html 3 2026-01-01 00:00: cpu\nidle idle.html 0 –: gpu\n");
}

/* Cards of one model are one line. */
static void devices_of_one_model_are_counted(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "machines",
	        "{{#machines}}{{name}}:{{#devices}} {{#several}}{{count}} × {{/several}}{{device}}"
	        "{{/devices}}\n{{/machines}}");
	measure(lab, 0);
	world_machine(&lab->w, "cluster", "gpu");
	struct tk_device_row more = {.machine_id = lab->w.machine,
	        .kind = "cpu",
	        .name = "gpu",
	        .uuid = "second",
	        .arch = "x86-64",
	        .slug = "gpu-1"};
	int64_t id;
	assert_int_equal(tk_store_put_device(lab->w.store, &more, &id, &lab->w.err), 0);
	more.name = "other";
	more.uuid = "third";
	more.slug = "gpu-2";
	assert_int_equal(tk_store_put_device(lab->w.store, &more, &id, &lab->w.err), 0);
	lab_expect(lab, "machines/index.html", "box: cpu\ncluster: 2 × gpu other\n");
}

static void a_machine_has_its_attributes(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "machine", "{{title}}{{#attributes}} {{key}}={{value}};{{/attributes}}");
	measure(lab, 0);
	world_end_night(&lab->w);
	lab_run_sql(lab, "UPDATE machine SET attributes = '{\"cores\":2,\"load\":0.123456789,"
	                 "\"memory_bytes\":8000000000,\"_bytes\":7,\"name\":\"x<y\",\"smt\":true,"
	                 "\"some_bytes\":\"many\"}'");
	lab_build(lab);
	const char *page = "machines/box.html";
	lab_assert_has(lab, page, "box ");
	lab_assert_has(lab, page, " cores=2;");
	lab_assert_has(lab, page, " load=0.123457;");
	lab_assert_has(lab, page, " memory_bytes=8.000 GB;");
	lab_assert_has(lab, page, " _bytes=7;"); /* has no name before the unit */
	lab_assert_has(lab, page, " name=x&lt;y;");
	lab_assert_has(lab, page, " smt=true;");
	lab_assert_has(lab, page, " some_bytes=many;");
}

static void at_most_sixty_attributes_are_shown(void **state)
{
	struct site_lab *lab = *state;
	struct tk_buf sql = TK_BUF_INIT;

	begin(lab, "machine", "{{#attributes}}x{{/attributes}}");
	measure(lab, 0);
	world_end_night(&lab->w);
	tk_buf_add_str(&sql, "UPDATE machine SET attributes = '{\"a\":1");
	for (int i = 0; i < 60; i++)
		tk_buf_add_printf(&sql, ",\"k%d\":1", i);
	tk_buf_add_str(&sql, "}'");
	lab_run_sql(lab, tk_buf_cstr(&sql));
	tk_buf_free(&sql);
	lab_build(lab);
	assert_int_equal(strlen(lab_read(lab, "machines/box.html")), 60);
}

static void a_device_has_ceilings_and_its_newest_environment(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "machine",
	        "{{#devices}}{{slug}} {{name}} {{kind}} {{arch}} {{roofline_href}}:"
	        "{{#environment}} {{key}}={{value}}{{/environment}};{{#ceilings}} "
	        "{{name}} {{source}} {{value}}{{/ceilings}};{{#changes}} "
	        "{{#dated}}{{since}} {{/dated}}{{text}}{{/changes}}\n{{/devices}}");
	measure(lab, 0);
	world_environment(w, "{\"driver\":\"555\"}");
	measure(lab, 1);
	const struct tk_ceiling_row row = {
	        w->night, w->device, "f32", TK_CEILING_MEASURED, "gflop_per_s", 2e3};
	assert_int_equal(tk_store_put_ceiling(w->store, &row, &w->err), 0);
	lab_expect(lab, "machines/box.html",
	        "cpu cpu cpu x86-64 ../roofline/box.cpu.html: driver=555; f32 measured 2.000 "
	        "TFLOP/s; "
	        "2026-01-02 00:00 driver 550 → 555\n");
}

static void a_machine_links_its_last_night(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "machine",
	        "{{#has_night}}{{night}} {{night_state}} {{night_tone}} {{night_href}}"
	        "{{/has_night}}{{^has_night}}none{{/has_night}}");
	measure(lab, 0);
	world_machine(&lab->w, "idle", "gpu");
	lab_build(lab);
	assert_string_equal(lab_read(lab, "machines/idle.html"), "none");
	lab_assert_has(lab, "machines/box.html",
	        "2026-01-01 00:00 complete good ../nights/2026-01-01-box-");
}

/* ---- environment.html ---- */

#define ENVIRONMENT \
	"{{#devices}}{{device}} {{machine_href}}{{#none}} none{{/none}}\n{{#changes}}" \
	"{{#dated}}{{since}}{{/dated}}{{#first}} first{{/first}} {{text}}" \
	"{{#nothing_listed}} nothing listed{{/nothing_listed}} w{{worse}} b{{better}}:" \
	"{{#change_points}} {{title}} {{change}}{{/change_points}}" \
	"{{#change_points_cut}} {{more}} more{{/change_points_cut}}\n{{/changes}}{{/devices}}"

static void environments_are_listed_newest_first(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "environment", ENVIRONMENT);
	measure(lab, 0);
	world_environment(&lab->w, "{\"driver\":\"555\"}");
	measure(lab, 1);
	world_machine(&lab->w, "idle", "gpu");
	lab_expect(lab, "environment.html",
	        "box/cpu machines/box.html\n"
	        "2026-01-02 00:00 driver 550 → 555 w0 b0:\n"
	        "2026-01-01 00:00 first  w0 b0:\n"
	        "idle/gpu machines/idle.html none\n");
}

/* Those at its start whose commit did not change. */
static void change_points_of_an_environment(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "environment", ENVIRONMENT);
	measure(lab, 0);
	world_environment(&lab->w, "{\"driver\":\"555\"}");
	measure(lab, 1);
	lab_put_change_point(lab, 1, 4, 1, 1000, 1100, TK_CAUSE_ENVIRONMENT);
	lab_put_change_point(lab, 2, 5, 2, 1000, 900, TK_CAUSE_ENVIRONMENT);
	lab_build_now(lab);
	lab_assert_has(lab, "environment.html", "driver 550 → 555 w1 b1: ");
	lab_assert_has(lab, "environment.html", " p1 +10.0 %");
	lab_assert_has(lab, "environment.html", " p2 −10.0 %");
	/* within an environment it is not one of its start */
	lab_assert_has(lab, "environment.html", "first  w0 b0:\n");
}

/* A commit that came on the same night may be the cause as well. */
static void change_points_of_a_new_commit_are_left_out(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "environment", ENVIRONMENT);
	measure(lab, 0);
	world_environment(&lab->w, "{\"driver\":\"555\"}");
	world_build(&lab->w, "r2", 2, "b", NULL, "second");
	measure(lab, 1);
	lab_put_change_point(lab, 1, 4, 1, 1000, 1100, TK_CAUSE_ENVIRONMENT);
	lab_build(lab);
	lab_assert_has(lab, "environment.html", "driver 550 → 555 w0 b0:\n");
}

static void at_most_eight_change_points_are_shown(void **state)
{
	struct site_lab *lab = *state;
	char name[16];

	begin(lab, "environment", ENVIRONMENT);
	for (int day = 0; day < 2; day++) {
		if (day)
			world_environment(&lab->w, "{\"driver\":\"555\"}");
		world_night(&lab->w, day, "nightly");
		for (int i = 0; i < 10; i++) {
			snprintf(name, sizeof name, "p%d", i);
			world_point(&lab->w, "b", name, day ? 1100 : 1000);
		}
	}
	for (int i = 0; i < 8; i++)
		lab_put_change_point(lab, i + 1, i + 11, i + 1, 1000, 1100, TK_CAUSE_ENVIRONMENT);
	lab_build_now(lab);
	lab_assert_has(lab, "environment.html", " w8 b0:");
	lab_assert_lacks(lab, "environment.html", "more");
	for (int i = 8; i < 10; i++)
		lab_put_change_point(lab, i + 1, i + 11, i + 1, 1000, 1100, TK_CAUSE_ENVIRONMENT);
	lab_build(lab);
	lab_assert_has(lab, "environment.html", " w10 b0:");
	lab_assert_has(lab, "environment.html", " 2 more\n");
}

/* ---- upstreams ---- */

static void upstreams_are_counted(void **state)
{
	struct site_lab *lab = *state;

	begin(lab, "upstreams",
	        "{{#list}}{{name}} {{kind}} {{href}} {{series}} {{revisions}} {{rev}} "
	        "{{subject}} {{commit_time}} w{{worse}} b{{better}}\n{{/list}}");
	measure(lab, 0);
	world_build(&lab->w, "r2", 2, "b", NULL, "second");
	measure(lab, 1);
	world_upstream(&lab->w, "index");
	lab_expect(lab, "upstreams/index.html",
	        "index git index_.html 0 0   – w0 b0\n"
	        "self git self.html 3 2 r2 second 2026-01-01 00:00 w0 b0\n");
}

static void revisions_of_an_upstream_are_listed_newest_first(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	begin(lab, "upstream",
	        "{{#upstream}}{{name}} {{revisions}}{{/upstream}}{{#cut}} cut{{/cut}}\n"
	        "{{#list}}{{rev}} {{author}} {{commit_time}} {{#built}}{{build_state}} "
	        "{{build_tone}}{{/built}} w{{worse}} b{{better}}\n{{/list}}");
	measure(lab, 0);
	world_build(w, "r2", 2, "b", NULL, "second");
	measure(lab, 1);
	lab_put_change_point(lab, 1, 4, 1, 1000, 1100, TK_CAUSE_ENVIRONMENT);
	lab_put_change_point(lab, 2, 5, 2, 1000, 900, TK_CAUSE_ENVIRONMENT);
	lab_put_change_point(lab, 3, 6, 3, 1000, 1200, TK_CAUSE_ENVIRONMENT);
	lab_expect(lab, "upstreams/self.html",
	        "self 2\n"
	        "r2 A 2026-01-01 00:00 ok good w2 b1\n"
	        "r1 A 2026-01-01 00:00 ok good w0 b0\n");
}

/* A good build of a revision counts, whatever came after it; else the newest. */
static void a_revision_has_its_newest_good_build(void **state)
{
	static const struct {
		enum tk_build_status status;
		const char *shown;
	} builds[] = {{TK_BUILD_FAILED, "failed bad"}, {TK_BUILD_TIMEOUT, "timeout bad"},
	        {TK_BUILD_OK, "ok good"}, {TK_BUILD_FAILED, "ok good"}};
	struct site_lab *lab = *state;
	struct world *w = &lab->w;
	int64_t id;
	const struct tk_revision_row r = {.upstream_id = w->upstream,
	        .rev = "r9",
	        .parent = "",
	        .position = 9,
	        .author = "",
	        .subject = ""};
	struct tk_build_row b = {
	        .adapter = "", .toolchain = "", .flags = "", .arch = "", .message = "", .log = ""};

	lab_set_template(lab, "upstream", "{{#list}}{{build_state}} {{build_tone}}{{/list}}");
	assert_int_equal(tk_store_put_revision(w->store, &r, &b.revision_id, &w->err), 0);
	for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
		b.artifact_key = (const char *const[]){"k0", "k1", "k2", "k3"}[i];
		b.status = builds[i].status;
		assert_int_equal(tk_store_put_build(w->store, &b, &id, &w->err), 0);
		lab->options.full = true;
		lab_expect(lab, "upstreams/self.html", builds[i].shown);
	}
}

/* ---- method.html ---- */

static void every_verdict_and_outcome_is_explained(void **state)
{
	struct site_lab *lab = *state;

	lab_set_template(lab, "method",
	        "{{#verdicts}}{{word}}/{{tone}} {{/verdicts}}\n"
	        "{{#outcomes}}{{word}}/{{tone}} {{/outcomes}}");
	lab_build(lab);
	lab_assert_has(lab, "method.html", "regressed/bad ");
	lab_assert_has(lab, "method.html", "improved/good ");
	lab_assert_has(lab, "method.html", "same/quiet ");
	lab_assert_has(lab, "method.html", "unsure/note ");
	lab_assert_has(lab, "method.html", "ok/good throttled/note unstable/note wrong/bad ");
	lab_assert_has(lab, "method.html", "unsupported/quiet out_of_memory/bad ");
	lab_assert_has(lab, "method.html", "skipped/note ");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, lab_setup, lab_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(machines_are_listed_with_their_devices),
	        TEST(devices_of_one_model_are_counted),
	        TEST(a_machine_has_its_attributes),
	        TEST(at_most_sixty_attributes_are_shown),
	        TEST(a_device_has_ceilings_and_its_newest_environment),
	        TEST(a_machine_links_its_last_night),
	        TEST(environments_are_listed_newest_first),
	        TEST(change_points_of_an_environment),
	        TEST(change_points_of_a_new_commit_are_left_out),
	        TEST(at_most_eight_change_points_are_shown),
	        TEST(upstreams_are_counted),
	        TEST(revisions_of_an_upstream_are_listed_newest_first),
	        TEST(a_revision_has_its_newest_good_build),
	        TEST(every_verdict_and_outcome_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
