/* How a night starts: as a new row of the history, or as the newest one that was stopped. */
#include "../store/history.h"
#include "config/config.h"
#include "nightly/night_start.h"
#include "nightly/plan/night_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char box[] = "box", other_box[] = "other", hash[] = "config-hash";

struct rig {
	struct history h;
	struct tk_config config;
	struct tk_night_options options;
	struct tk_night_report report;
	struct tk_night night;
};

/* As tk_night_run() begins. */
static void begin_night(struct rig *r)
{
	json_decref(r->night.request);
	free(r->night.request_devices);
	r->report = (struct tk_night_report){0};
	r->night = (struct tk_night){.config = &r->config,
	        .store = r->h.store,
	        .options = &r->options,
	        .report = &r->report,
	        .started_s = 5000};
}

/* Without the night of history_fill(). */
static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof *r);

	assert_non_null(r);
	history_new(&r->h);
	history_fill(&r->h);
	history_run_sql(&r->h, "DELETE FROM night");
	r->config = (struct tk_config){.machine = box};
	strcpy(r->config.hash, hash);
	begin_night(r);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	begin_night(r);
	history_free(&r->h);
	free(r);
	return 0;
}

static int start(struct rig *r, struct tk_error *err)
{
	begin_night(r);
	return tk_night_start(&r->night, &r->options, err);
}

static void must_start(struct rig *r)
{
	MUST(start(r, &err));
}

/* Its texts belong to `rows`. */
static struct tk_night_row find_night(struct rig *r, int64_t id, struct tk_rows *rows)
{
	tk_rows_free(rows);
	MUST(tk_store_list_nights(r->h.store, rows, &err));
	for (size_t i = 0; i < rows->count; i++)
		if (TK_ROWS_AT(rows, struct tk_night_row, i)->id == id)
			return *TK_ROWS_AT(rows, struct tk_night_row, i);
	fail_msg("no night %d", (int)id);
	return (struct tk_night_row){0};
}

/* A night of a machine that is not finished. */
static int64_t put_night(struct rig *r, const char *machine, enum tk_night_kind kind,
        int64_t as_of_s, const char *summary)
{
	const struct tk_machine_row m = {.name = machine, .attributes = "{}"};
	struct tk_night_row row = {.kind = kind,
	        .as_of_s = as_of_s,
	        .started_s = as_of_s + 1,
	        .status = TK_NIGHT_RUNNING,
	        .seed = 77,
	        .config_hash = "",
	        .tracker_version = "",
	        .summary = summary};
	int64_t id;

	MUST(tk_store_put_machine(r->h.store, &m, &row.machine_id, &err));
	MUST(tk_store_begin_night(r->h.store, &row, &id, &err));
	return id;
}

static enum tk_night_status status_of(struct rig *r, int64_t id)
{
	struct tk_rows rows = {0};
	const enum tk_night_status status = find_night(r, id, &rows).status;

	tk_rows_free(&rows);
	return status;
}

/* ---- a new night ---- */

static void a_night_begins_with_its_row(void **state)
{
	struct rig *r = *state;
	struct tk_rows rows = {0};

	r->options = (struct tk_night_options){.seed = 42, .only_upstream = "blas"};
	must_start(r);
	const struct tk_night_row row = find_night(r, r->night.night_id, &rows);
	assert_int_equal(row.kind, TK_NIGHT_NIGHTLY);
	assert_int_equal(row.status, TK_NIGHT_RUNNING);
	assert_int_equal(row.as_of_s, 5000);
	assert_int_equal(row.started_s, 5000);
	assert_int_equal(row.finished_s, 0);
	assert_int_equal(row.seed, 42);
	assert_string_equal(row.config_hash, hash);
	assert_string_equal(row.summary, "{\"request\":{\"upstream\":\"blas\"}}");
	assert_true(*row.tracker_version);
	assert_int_equal(row.machine_id, r->night.machine_id);
	assert_string_equal(r->report.uid, row.uid);
	assert_true(*row.uid);
	assert_int_equal(r->report.night_id, row.id);
	assert_int_equal(r->night.as_of_s, 5000);
	tk_rows_free(&rows);
}

/* At the time of its commit, however late it is measured. */
static void a_backfill_has_its_own_time(void **state)
{
	struct rig *r = *state;
	struct tk_rows rows = {0};

	r->options = (struct tk_night_options){
	        .backfill_revision = "abc", .backfill_as_of_s = 123, .only_upstream = "blas"};
	must_start(r);
	const struct tk_night_row row = find_night(r, r->night.night_id, &rows);
	assert_int_equal(row.kind, TK_NIGHT_BACKFILL);
	assert_int_equal(row.as_of_s, 123);
	assert_int_equal(row.started_s, 5000);
	tk_rows_free(&rows);
}

/* The history stores 63 bits: the order is repeated with the seed that is shown. */
static void the_seed_is_requested_or_random(void **state)
{
	struct rig *r = *state;
	uint64_t seeds[3];

	r->options.seed = UINT64_MAX;
	must_start(r);
	assert_true(r->night.seed == INT64_MAX);
	r->options.seed = 0;
	for (int i = 0; i < 3; i++) {
		must_start(r);
		seeds[i] = r->night.seed;
		assert_true(seeds[i] > 0 && seeds[i] <= INT64_MAX);
	}
	assert_true(seeds[0] != seeds[1] && seeds[1] != seeds[2]);
}

/* A stopped night that was not resumed ends when the next one begins; its results stay. */
static void abandoned_nights_are_closed(void **state)
{
	struct rig *r = *state;
	struct tk_rows rows = {0};
	const int64_t nightly = put_night(r, box, TK_NIGHT_NIGHTLY, 100, "{}"),
	              backfill = put_night(r, box, TK_NIGHT_BACKFILL, 200, "{}"),
	              elsewhere = put_night(r, other_box, TK_NIGHT_NIGHTLY, 300, "{}"),
	              complete = put_night(r, box, TK_NIGHT_NIGHTLY, 400, "{}");

	MUST(tk_store_finish_night(
	        r->h.store, complete, TK_NIGHT_COMPLETE, "{\"jobs\":3}", 450, &err));
	must_start(r);
	assert_int_equal(status_of(r, nightly), TK_NIGHT_INCOMPLETE);
	assert_int_equal(status_of(r, backfill), TK_NIGHT_INCOMPLETE);
	assert_int_equal(status_of(r, elsewhere), TK_NIGHT_RUNNING);
	assert_int_equal(status_of(r, complete), TK_NIGHT_COMPLETE);
	assert_int_equal(status_of(r, r->night.night_id), TK_NIGHT_RUNNING);
	const struct tk_night_row row = find_night(r, nightly, &rows);
	assert_string_equal(row.summary, "{\"abandoned\":true}");
	assert_int_equal(row.finished_s, 5000);
	assert_string_equal(find_night(r, complete, &rows).summary, "{\"jobs\":3}");
	tk_rows_free(&rows);
}

/* ---- resume ---- */

static void the_newest_stopped_night_is_resumed(void **state)
{
	struct rig *r = *state;

	r->options.resume = true;
	MUST_FAIL(TK_ENOTFOUND, "no unfinished night of machine box to resume", start(r, &err));
	put_night(r, other_box, TK_NIGHT_NIGHTLY, 900, "{}");
	put_night(r, box, TK_NIGHT_BACKFILL, 800, "{}");
	MUST_FAIL(TK_ENOTFOUND, "no unfinished night", start(r, &err));
	const int64_t older = put_night(r, box, TK_NIGHT_NIGHTLY, 100, "{}"),
	              newer = put_night(r, box, TK_NIGHT_NIGHTLY, 200, "{}");
	must_start(r);
	assert_int_equal(r->night.night_id, newer);
	assert_int_equal(r->report.night_id, newer);
	assert_int_equal(r->night.as_of_s, 200);
	assert_int_equal(r->night.started_s, 201);
	assert_int_equal(r->night.seed, 77);
	assert_true(*r->report.uid);
	assert_int_equal(status_of(r, older), TK_NIGHT_RUNNING); /* a resume closes nothing */
	MUST(tk_store_finish_night(r->h.store, newer, TK_NIGHT_FAILED, "{}", 300, &err));
	must_start(r);
	assert_int_equal(r->night.night_id, older);
	assert_int_equal(history_count(&r->h, "night"), 4); /* and begins none */
}

/* A backfill that is run again goes on with its own kind of night. */
static void a_backfill_resumes_a_backfill(void **state)
{
	struct rig *r = *state;
	const int64_t backfill = put_night(r, box, TK_NIGHT_BACKFILL, 100, "{}");

	put_night(r, box, TK_NIGHT_NIGHTLY, 900, "{}");
	r->options.resume = true;
	r->options.backfill_revision = "abc";
	must_start(r);
	assert_int_equal(r->night.night_id, backfill);
}

static void the_options_of_the_start_are_restored(void **state)
{
	static const char *const keys[] = {"request", "asked"}; /* now, and of an older tracker */
	struct rig *r = *state;
	char summary[200];

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		snprintf(summary, sizeof summary,
		        "{\"%s\":{\"devices\":[\"cuda:1\"],\"part\":\"2/3\",\"split\":true,"
		        "\"upstream\":\"blas\"}}",
		        keys[i]);
		put_night(r, box, TK_NIGHT_NIGHTLY, 100 * (int64_t)(i + 1), summary);
		r->options = (struct tk_night_options){.resume = true};
		must_start(r);
		assert_string_equal(r->options.devices[0], "cuda:1");
		assert_null(r->options.devices[1]);
		assert_int_equal(r->options.part, 2);
		assert_int_equal(r->options.parts, 3);
		assert_true(r->options.split);
		assert_string_equal(r->options.only_upstream, "blas");
	}
	r->options = (struct tk_night_options){.resume = true, .only_upstream = "other"};
	MUST_FAIL(TK_EUSAGE, "other", start(r, &err));
	r->options = (struct tk_night_options){0};
}

/* Of an older tracker, or damaged: the night goes on with what is given now. */
static void a_night_without_a_request_is_resumed(void **state)
{
	static const char *const summaries[] = {"{}", "no JSON", "[]", "{\"jobs\":1}"};
	struct rig *r = *state;

	for (size_t i = 0; i < sizeof summaries / sizeof *summaries; i++) {
		const int64_t id =
		        put_night(r, box, TK_NIGHT_NIGHTLY, 100 + (int64_t)i, summaries[i]);
		r->options = (struct tk_night_options){.resume = true, .only_upstream = "blas"};
		must_start(r);
		assert_int_equal(r->night.night_id, id);
		assert_null(r->night.request);
		assert_string_equal(r->options.only_upstream, "blas");
	}
}

static void another_seed_is_another_order(void **state)
{
	struct rig *r = *state;

	put_night(r, box, TK_NIGHT_NIGHTLY, 100, "{}");
	r->options = (struct tk_night_options){.resume = true, .seed = 78};
	MUST_FAIL(TK_EUSAGE, "--seed=78: the stopped night has the seed 77", start(r, &err));
	r->options.seed = 77;
	must_start(r);
	r->options.seed = 77 | (UINT64_C(1) << 63); /* the bit that is not stored */
	must_start(r);
}

/* ---- the machine ---- */

static void a_machine_is_one_row(void **state)
{
	struct rig *r = *state;
	struct tk_rows rows = {0};
	const struct tk_machine_row *found = NULL;

	MUST(tk_night_put_machine(&r->night, &err));
	const int64_t id = r->night.machine_id;
	MUST(tk_night_put_machine(&r->night, &err));
	assert_int_equal(r->night.machine_id, id);
	MUST(tk_store_list_machines(r->h.store, &rows, &err));
	for (size_t i = 0; i < rows.count; i++)
		if (TK_ROWS_AT(&rows, struct tk_machine_row, i)->id == id)
			found = TK_ROWS_AT(&rows, struct tk_machine_row, i);
	assert_non_null(found);
	assert_string_equal(found->name, "box");
	json_t *attributes = json_loads(found->attributes, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(attributes, "system")), "Linux");
	assert_non_null(json_object_get(attributes, "hostname"));
	assert_non_null(json_object_get(attributes, "arch"));
	json_decref(attributes);
	tk_rows_free(&rows);
}

/* Nothing is half begun where the history cannot be written. */
static void a_history_that_is_read_only_begins_no_night(void **state)
{
	struct rig *r = *state;
	struct tk_error failure = {0};

	history_reopen(&r->h, TK_STORE_READ);
	assert_int_not_equal(start(r, &failure), TK_OK);
	assert_int_equal(r->report.night_id, 0);
	assert_int_equal(history_count(&r->h, "night"), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_night_begins_with_its_row),
	        TEST(a_backfill_has_its_own_time),
	        TEST(the_seed_is_requested_or_random),
	        TEST(abandoned_nights_are_closed),
	        TEST(the_newest_stopped_night_is_resumed),
	        TEST(a_backfill_resumes_a_backfill),
	        TEST(the_options_of_the_start_are_restored),
	        TEST(a_night_without_a_request_is_resumed),
	        TEST(another_seed_is_another_order),
	        TEST(a_machine_is_one_row),
	        TEST(a_history_that_is_read_only_begins_no_night),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
