/* When a build updates the old site in place, when it makes all anew, and when pages without
 * references leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "site_lab.h"

#include "base/error.h"
#include "base/file.h"
#include "site_gen/data/reuse.h"
#include "site_gen/model/model.h"
#include "site_gen/render/output.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OLD_FILE "data/000.2025.js"
#define STATE "site-state.json"

/* Nights of 2025-11-02 and 2026-01-01, and a site of them. */
static void build_first(struct site_lab *lab)
{
	world_build(&lab->w, "r1", 1, "b", NULL, "first");
	world_night(&lab->w, -60, "nightly");
	world_point(&lab->w, "b", "p1", 500);
	world_night(&lab->w, 0, "nightly");
	world_point(&lab->w, "b", "p1", 1000);
	lab_build(lab);
}

/* Builds again: does that keep the file of a year that is over? A night has come meanwhile. */
static bool is_kept_by_the_next_build(struct site_lab *lab)
{
	lab_overwrite(lab, OLD_FILE, "as it was");
	world_night(&lab->w, 1, "nightly");
	world_point(&lab->w, "b", "p1", 1010);
	lab_build(lab);
	return strcmp(lab_read(lab, OLD_FILE), "as it was") == 0;
}

static json_int_t state_number(struct site_lab *lab, const char *key)
{
	json_t *state = json_loads(lab_read(lab, STATE), 0, NULL), *value;

	assert_non_null(state);
	value = json_object_get(state, key);
	assert_true(json_is_integer(value));
	json_int_t number = json_integer_value(value);
	json_decref(state);
	return number;
}

/* Replaces the value of a key of the state file. */
static void set_state(struct site_lab *lab, const char *key, json_t *value)
{
	json_t *state = json_loads(lab_read(lab, STATE), 0, NULL);

	assert_non_null(state);
	assert_int_equal(json_object_set_new(state, key, value), 0);
	char *text = json_dumps(state, JSON_COMPACT);
	assert_non_null(text);
	lab_overwrite(lab, STATE, text);
	free(text);
	json_decref(state);
}

/* ---- the state file ---- */

static void the_state_describes_what_was_built(void **state)
{
	struct site_lab *lab = *state;

	build_first(lab);
	assert_int_equal(state_number(lab, "format"), 3);
	assert_int_equal(state_number(lab, "build"), 1);
	assert_int_equal(state_number(lab, "last_night_id"), 2);
	assert_int_equal(state_number(lab, "newest_night_id"), 2);
	assert_int_equal(state_number(lab, "last_run_id"), 2);
	assert_int_equal(state_number(lab, "verdict_version"), 0);
	assert_int_equal(state_number(lab, "files"), lab->report.files);
	assert_int_equal(state_number(lab, "bytes"),
	        lab->report.bytes - (int64_t)strlen(lab_read(lab, STATE)));
	lab_assert_has(lab, STATE, "\"retiring\":{}");
}

static void the_state_follows_the_history(void **state)
{
	struct site_lab *lab = *state;

	build_first(lab);
	assert_true(is_kept_by_the_next_build(lab));
	assert_int_equal(state_number(lab, "build"), 2);
	assert_int_equal(state_number(lab, "last_night_id"), 3);
	assert_int_equal(state_number(lab, "newest_night_id"), 3);
	assert_int_equal(state_number(lab, "last_run_id"), 3);
	assert_int_equal(state_number(lab, "files"), lab->report.files);
}

/* Nights before the first that has not ended count as finished. */
static void a_night_under_way_is_not_finished(void **state)
{
	struct site_lab *lab = *state;

	build_first(lab);
	world_night(&lab->w, 1, "nightly");
	world_point(&lab->w, "b", "p1", 1010);
	lab_build_now(lab);
	assert_int_equal(state_number(lab, "last_night_id"), 2);
	assert_int_equal(state_number(lab, "newest_night_id"), 3);
	lab_overwrite(lab, OLD_FILE, "as it was");
	world_point(&lab->w, "b", "p2", 10); /* a new series, so that the next is built anew */
	lab_build_now(lab);
	assert_string_not_equal(lab_read(lab, OLD_FILE), "as it was");
	lab_overwrite(lab, OLD_FILE, "as it was");
	lab_build(lab); /* the night ends */
	assert_string_equal(lab_read(lab, OLD_FILE), "as it was");
	assert_int_equal(state_number(lab, "last_night_id"), 3);
}

/* A night is published stage by stage: its later results come into the same site. */
static void results_of_a_night_under_way_are_added(void **state)
{
	struct site_lab *lab = *state;

	build_first(lab);
	world_night(&lab->w, 1, "nightly");
	lab_build_now(lab);
	lab_overwrite(lab, OLD_FILE, "as it was");
	world_point(&lab->w, "b", "p1", 1010);
	lab_build(lab);
	assert_string_equal(lab_read(lab, OLD_FILE), "as it was");
	lab_assert_has(lab, "data/000.recent.js", "\"value\":[10000,100]");
}

/* ---- what makes a build write all ---- */

static void the_options_are_part_of_the_site(void **state)
{
	struct site_lab *lab = *state;

	build_first(lab);
	lab_overwrite(lab, OLD_FILE, "as it was");
	lab_build(lab);
	assert_string_equal(lab_read(lab, OLD_FILE), "as it was");
	for (int i = 0; i < 4; i++) {
		if (i == 0)
			lab->options.title = "another title";
		else if (i == 1)
			lab->options.base_url = "https://example.org/";
		else if (i == 2)
			lab->options.tie = 0.02;
		else
			lab_set_template(lab, "method", "new\n");
		lab_build(lab);
		assert_string_not_equal(lab_read(lab, OLD_FILE), "as it was");
		assert_int_equal(state_number(lab, "build"), 1);
		lab_overwrite(lab, OLD_FILE, "as it was");
		lab_build(lab);
		assert_string_equal(lab_read(lab, OLD_FILE), "as it was");
	}
}

static void a_new_series_makes_the_site_anew(void **state)
{
	struct site_lab *lab = *state;

	build_first(lab);
	world_night(&lab->w, 1, "nightly");
	world_point(&lab->w, "b", "p2", 10);
	assert_false(is_kept_by_the_next_build(lab));
}

static void another_address_of_an_upstream_makes_the_site_anew(void **state)
{
	struct site_lab *lab = *state;

	build_first(lab);
	lab_run_sql(lab, "UPDATE upstream SET url = 'https://example.org/x.git'");
	assert_false(is_kept_by_the_next_build(lab));
}

static void a_broken_state_file_is_ignored(void **state)
{
	static const char *const texts[] = {"", "{", "[]", "null", "{}", "{\"format\":3}",
	        "{\"build\":1,\"digest\":1,\"nights\":2}", TK_SITE_UNFINISHED};
	struct site_lab *lab = *state;

	build_first(lab);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		lab_overwrite(lab, OLD_FILE, "as it was");
		lab_overwrite(lab, STATE, texts[i]);
		lab_build(lab);
		assert_string_not_equal(lab_read(lab, OLD_FILE), "as it was");
		assert_int_equal(state_number(lab, "build"), 1);
	}
}

/* A state whose fields do not fit the history or the files. */
static void a_state_of_something_else_is_ignored(void **state)
{
	static const struct {
		const char *key;
		int value;
	} cases[] = {{"build", 0}, {"build", 2}, {"last_night_id", 0}, {"last_night_id", 1},
	        {"verdict_version", 1}, {"last_run_id", 1}};
	struct site_lab *lab = *state;

	build_first(lab);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		lab_overwrite(lab, OLD_FILE, "as it was");
		set_state(lab, cases[i].key, json_integer(cases[i].value));
		lab_build(lab);
		if (strcmp(lab_read(lab, OLD_FILE), "as it was") == 0)
			fail_msg("the site was kept with %s %d", cases[i].key, cases[i].value);
	}
	set_state(lab, "nights", json_string("0123"));
	lab_overwrite(lab, OLD_FILE, "as it was");
	lab_build(lab);
	assert_string_not_equal(lab_read(lab, OLD_FILE), "as it was");
}

static void a_missing_or_cut_data_file_of_the_state_makes_the_site_anew(void **state)
{
	static const char *const files[] = {"site-state.bin", "site-state.totals.bin"};
	struct site_lab *lab = *state;

	build_first(lab);
	for (size_t i = 0; i < 2; i++) {
		lab_overwrite(lab, OLD_FILE, "as it was");
		lab_overwrite(lab, files[i], "short");
		lab_build(lab);
		assert_string_not_equal(lab_read(lab, OLD_FILE), "as it was");
	}
}

/* After a power failure a file that was just written may be empty: where the machine was started
 * since, empty files are looked for. */
static void empty_files_matter_after_a_restart_only(void **state)
{
	struct site_lab *lab = *state;

	build_first(lab);
	lab_overwrite(lab, OLD_FILE, "");
	lab_build(lab);
	assert_string_equal(lab_read(lab, OLD_FILE), "");
	set_state(lab, "boot", json_string("of another start"));
	lab_build(lab);
	assert_string_not_equal(lab_read(lab, OLD_FILE), "");
	lab_overwrite(lab, OLD_FILE, "as it was");
	set_state(lab, "boot", json_string("of another start"));
	lab_build(lab);
	assert_string_equal(lab_read(lab, OLD_FILE), "as it was");
	set_state(lab, "boot", json_null());
	lab_build(lab);
	assert_string_equal(lab_read(lab, OLD_FILE), "as it was");
}

static void verdicts_of_a_finished_night_make_the_site_anew(void **state)
{
	struct site_lab *lab = *state;
	const struct tk_verdict_row verdict = {.night_id = 2,
	        .series_id = 1,
	        .status = TK_VERDICT_SAME,
	        .before_value = 1000,
	        .after_value = 1000,
	        .change = 0,
	        .reason = "",
	        .detail = "{}"};

	build_first(lab);
	assert_int_equal(tk_store_replace_verdicts(lab->w.store, 2, &verdict, 1, &lab->w.err), 0);
	assert_false(is_kept_by_the_next_build(lab));
	assert_true(state_number(lab, "verdict_version") > 0);
}

static void a_run_merged_into_a_finished_night_makes_the_site_anew(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	build_first(lab);
	const struct tk_run_row run = {.night_id = 2,
	        .seq = 9,
	        .series_id = 1,
	        .build_id = w->build,
	        .environment_id = w->environment,
	        .as_of_s = WORLD_START,
	        .started_s = WORLD_START,
	        .outcome = TK_OUTCOME_CRASHED,
	        .message = "",
	        .attributes = "{}"};
	int64_t id;
	assert_int_equal(tk_store_put_run(w->store, &run, NULL, NULL, NULL, 0, &id, &w->err), 0);
	assert_false(is_kept_by_the_next_build(lab));
}

/* An imported run has points of many series: which are older than those known is not looked up. */
static void an_imported_run_makes_the_site_anew(void **state)
{
	struct site_lab *lab = *state;
	struct world *w = &lab->w;

	build_first(lab);
	world_night(w, -5, "import");
	const struct tk_run_row run = {.night_id = w->night,
	        .build_id = w->build,
	        .environment_id = w->environment,
	        .as_of_s = w->as_of_s,
	        .started_s = w->as_of_s,
	        .outcome = TK_OUTCOME_OK,
	        .message = "",
	        .attributes = "{}"};
	const struct tk_point point = {.series_id = 1,
	        .value = 800,
	        .lo = 799,
	        .hi = 801,
	        .min = 799,
	        .q25 = 799,
	        .q75 = 801,
	        .p95 = 801,
	        .n = 3};
	const double *none = NULL;
	const size_t no_samples = 0;
	int64_t id;
	assert_int_equal(
	        tk_store_put_run(w->store, &run, &point, &none, &no_samples, 1, &id, &w->err), 0);
	assert_false(is_kept_by_the_next_build(lab));
	lab_assert_has(lab, "data/000.recent.js", "\"exp\":-2,\"value\":[80000,20000,1000]");
}

static void a_night_that_changed_makes_the_site_anew(void **state)
{
	struct site_lab *lab = *state;

	build_first(lab);
	assert_true(is_kept_by_the_next_build(lab));
	lab_run_sql(lab, "UPDATE night SET finished_s = finished_s + 1 WHERE id = 1");
	lab_overwrite(lab, OLD_FILE, "as it was");
	lab_build(lab);
	assert_string_not_equal(lab_read(lab, OLD_FILE), "as it was");
}

/* ---- pages of finished nights ---- */

static void pages_of_finished_nights_are_kept(void **state)
{
	static const struct {
		bool usable;
		int64_t last, night;
		bool keeps;
	} cases[] = {{true, 5, 4, true}, {true, 5, 5, true}, {true, 5, 6, false},
	        {false, 5, 4, false}, {false, 0, 0, false}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_reuse r = {
		        .usable = cases[i].usable, .last_night_id = cases[i].last};
		assert_int_equal(tk_reuse_can_keep_night(&r, cases[i].night), cases[i].keeps);
	}
}

/* ---- pages that leave ---- */

struct old_pages {
	char *root, *site;
	struct tk_output *out;
	struct tk_reuse r;
};

static void put(struct tk_output *o, const char *path, const char *text)
{
	struct tk_error err;
	struct tk_buf b = TK_BUF_INIT;

	tk_buf_add_str(&b, text);
	assert_int_equal(tk_output_put(o, path, &b, &err), 0);
	tk_buf_free(&b);
}

static int setup_pages(void **state)
{
	static const char *const files[] = {TK_SITE_MARKER, "nights/index.html", "nights/a.html",
	        "nights/b.html", "nights/c.html", "nights/notes.txt", "revisions/r1.html",
	        "revisions/r2.html"};
	struct old_pages *p = calloc(1, sizeof *p);
	struct tk_error err = {0};

	assert_non_null(p);
	assert_int_equal(tk_dir_create_temp("/tmp", "tk-site-", &p->root, &err), 0);
	p->site = tk_path_join(p->root, "site");
	assert_int_equal(tk_output_open(p->site, &p->out, &err), 0);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		put(p->out, files[i], "x");
	assert_int_equal(tk_output_commit(p->out, &err), 0);
	tk_output_free(p->out);
	assert_int_equal(tk_output_open(p->site, &p->out, &err), 0);
	tk_output_resume(p->out, 8, 8);
	p->r = (struct tk_reuse){.usable = true, .retiring = json_object()};
	*state = p;
	return 0;
}

static int teardown_pages(void **state)
{
	struct old_pages *p = *state;

	tk_reuse_free(&p->r);
	tk_output_free(p->out);
	tk_dir_remove(p->root, NULL);
	free(p->root);
	free(p->site);
	free(p);
	return 0;
}

/* Nights a and c have pages, the revision r2 has one. */
static void retire(struct old_pages *p, int64_t build)
{
	struct tk_site_night nights[] = {{.file = (char *)"c"}, {0}, {.file = (char *)"a"}};
	struct tk_site_revision revisions[] = {{0}, {.file = (char *)"r2"}};
	const struct tk_model m = {.nights = nights,
	        .night_count = 3,
	        .revision_changes = {.revisions = revisions, .revision_count = 2}};
	struct tk_error err = {0};

	if (tk_reuse_retire_pages(&m, p->out, build, &p->r, &err))
		fail_msg("%s", err.message);
}

static void assert_retiring(const struct old_pages *p, const char *expected)
{
	char *text = json_dumps(p->r.retiring, JSON_COMPACT | JSON_SORT_KEYS);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static bool page_exists(const struct old_pages *p, const char *name)
{
	char *path = tk_path_join(p->site, name);
	bool exists = tk_file_exists(path);

	free(path);
	return exists;
}

static void pages_without_a_night_or_revision_begin_to_leave(void **state)
{
	struct old_pages *p = *state;

	retire(p, 7);
	assert_retiring(p, "{\"nights/b.html\":7,\"revisions/r1.html\":7}");
	retire(p, 9); /* since when is remembered */
	assert_retiring(p, "{\"nights/b.html\":7,\"revisions/r1.html\":7}");
}

/* As long as a page of a night (100) or of a series (32 builds, twice) may refer to it. */
static void pages_leave_after_164_builds(void **state)
{
	struct old_pages *p = *state;
	struct tk_error err;

	json_object_set_new(p->r.retiring, "nights/b.html", json_integer(5));
	retire(p, 169);
	assert_retiring(p, "{\"nights/b.html\":5,\"revisions/r1.html\":169}");
	retire(p, 170);
	assert_retiring(p, "{\"revisions/r1.html\":169}");
	assert_int_equal(tk_output_commit(p->out, &err), 0);
	assert_false(page_exists(p, "nights/b.html"));
	assert_true(page_exists(p, "nights/a.html"));
	assert_true(page_exists(p, "nights/c.html"));
	assert_true(page_exists(p, "nights/index.html"));
	assert_true(page_exists(p, "nights/notes.txt"));
	assert_true(page_exists(p, "revisions/r1.html"));
}

/* A page that is linked again starts anew when it is not linked later. */
static void a_page_that_is_back_does_not_leave(void **state)
{
	struct old_pages *p = *state;

	json_object_set_new(p->r.retiring, "nights/a.html", json_integer(1));
	json_object_set_new(p->r.retiring, "nights/gone.html", json_integer(1));
	retire(p, 200);
	assert_retiring(p, "{\"nights/b.html\":200,\"revisions/r1.html\":200}");
}

static void a_site_that_is_made_anew_has_no_old_pages(void **state)
{
	struct old_pages *p = *state;

	p->r.usable = false;
	json_object_set_new(p->r.retiring, "nights/b.html", json_integer(5));
	retire(p, 200);
	assert_retiring(p, "{}");
}

#define LAB(f) cmocka_unit_test_setup_teardown(f, lab_setup, lab_teardown)
#define PAGES(f) cmocka_unit_test_setup_teardown(f, setup_pages, teardown_pages)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        LAB(the_state_describes_what_was_built),
	        LAB(the_state_follows_the_history),
	        LAB(a_night_under_way_is_not_finished),
	        LAB(results_of_a_night_under_way_are_added),
	        LAB(the_options_are_part_of_the_site),
	        LAB(a_new_series_makes_the_site_anew),
	        LAB(another_address_of_an_upstream_makes_the_site_anew),
	        LAB(a_broken_state_file_is_ignored),
	        LAB(a_state_of_something_else_is_ignored),
	        LAB(a_missing_or_cut_data_file_of_the_state_makes_the_site_anew),
	        LAB(empty_files_matter_after_a_restart_only),
	        LAB(verdicts_of_a_finished_night_make_the_site_anew),
	        LAB(a_run_merged_into_a_finished_night_makes_the_site_anew),
	        LAB(an_imported_run_makes_the_site_anew),
	        LAB(a_night_that_changed_makes_the_site_anew),
	        cmocka_unit_test(pages_of_finished_nights_are_kept),
	        PAGES(pages_without_a_night_or_revision_begin_to_leave),
	        PAGES(pages_leave_after_164_builds),
	        PAGES(a_page_that_is_back_does_not_leave),
	        PAGES(a_site_that_is_made_anew_has_no_old_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
