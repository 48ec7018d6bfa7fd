/* The stages after the measurements: tidy, detect and publish. */
#include "stages_rig.h"

/* ---- tidy ---- */

static void put_build(struct rig *r, const char *key, enum tk_build_status status, int64_t built_s)
{
	const struct tk_build_row row = {.revision_id = r->h.revision,
	        .artifact_key = key,
	        .adapter = "",
	        .toolchain = "",
	        .flags = "",
	        .arch = "",
	        .status = status,
	        .message = "",
	        .log = "",
	        .built_s = built_s};
	int64_t id;

	MUST(tk_store_put_build(r->h.store, &row, &id, &err));
}

/* The newest good build of each upstream is what changes are compared with. */
static void the_newest_good_builds_are_kept(void **state)
{
	struct rig *r = *state;
	struct tk_revision_row revision = {.rev = "x", .parent = "", .author = "", .subject = ""};
	const struct tk_upstream_row upstream = {.name = "second", .kind = "git", .url = ""};

	put_build(r, "older", TK_BUILD_OK, 250);
	put_build(r, "newest", TK_BUILD_OK, 400); /* that of history_fill() is of 300 */
	put_build(r, "failed", TK_BUILD_FAILED, 500);
	MUST(tk_store_put_upstream(r->h.store, &upstream, &revision.upstream_id, &err));
	MUST(tk_store_put_revision(r->h.store, &revision, &r->h.revision, &err));
	put_build(r, "of second", TK_BUILD_OK, 1);
	r->config.budgets.cache_bytes = 4711;
	MUST(tk_night_tidy(&r->night, &err));
	assert_int_equal(world.evictions, 1);
	assert_int_equal(world.max_bytes, 4711);
	assert_true(strcmp(world.kept, "newest of second ") == 0 ||
	            strcmp(world.kept, "of second newest ") == 0);
}

static void an_unlimited_cache_is_left_alone(void **state)
{
	struct rig *r = *state;

	MUST(tk_night_tidy(&r->night, &err));
	assert_int_equal(world.evictions, 0);
}

/* Samples of runs older than the configured days; 0: all are kept. */
static void old_samples_are_dropped(void **state)
{
	struct rig *r = *state;
	int64_t id;
	char sql[120];

	MUST(history_put_run(&r->h, 1, 100, 5, &id, &err));
	MUST(history_put_run(&r->h, 2, 100, 5, &id, &err));
	snprintf(sql, sizeof sql, "UPDATE run SET started_s=%lld WHERE seq=2",
	        (long long)tk_clock_now_s() - 86400);
	history_run_sql(&r->h, sql);
	MUST(tk_night_tidy(&r->night, &err));
	assert_int_equal(history_count(&r->h, "sample"), 2);
	r->config.keep_samples_days = 2;
	MUST(tk_night_tidy(&r->night, &err));
	assert_int_equal(history_count(&r->h, "sample"), 1);
	assert_int_equal(history_count(&r->h, "measurement"), 2);
}

/* ---- detect ---- */

static void the_night_counts_its_verdicts(void **state)
{
	struct rig *r = *state;
	struct tk_rows rows;
	int64_t id;

	MUST(history_put_run(&r->h, 0, 100, 5, &id, &err));
	MUST(tk_night_detect(&r->night, &err));
	for (int i = 0; i < TK_VERDICT_STATUS_COUNT; i++)
		assert_int_equal(r->report.by_status[i], i == TK_VERDICT_NEW);
	MUST(tk_store_list_verdicts(r->h.store, r->h.night, &rows, &err));
	assert_int_equal(rows.count, 1);
	assert_int_equal(TK_ROWS_AT(&rows, struct tk_verdict_row, 0)->status, TK_VERDICT_NEW);
	tk_rows_free(&rows);
}

/* After a command that has stored its own result, the error adds that the result is kept. */
static void a_detection_that_fails_names_what_is_kept(void **state)
{
	struct rig *r = *state;
	struct tk_diff_report report = {0};
	int64_t id;

	MUST(history_put_run(&r->h, 1, 100, 5, &id, &err));
	history_reopen(&r->h, TK_STORE_READ);
	r->night.store = r->h.store;
	struct tk_error failure = {0};
	assert_int_not_equal(tk_night_rerun_detection(&r->night, r->h.night, &report, &failure), 0);
	assert_non_null(strstr(failure.message, "A/B pairs are stored"));
	failure.message[0] = 0;
	assert_int_not_equal(tk_night_run_detection(&r->night, r->h.night, &report, &failure), 0);
	assert_null(strstr(failure.message, "A/B pairs are stored"));
}

/* ---- publish ---- */

static int publish_status;

static int publish(void *arg, struct tk_store *store, char *index_path, struct tk_error *err)
{
	assert_ptr_equal(arg, &world);
	assert_non_null(store);
	if (publish_status)
		return tk_fail(err, publish_status, "cannot publish");
	strcpy(index_path, "site/index.html");
	return 0;
}

static void pages_are_published_and_alerts_sent(void **state)
{
	struct rig *r = *state;
	const struct tk_night_publisher publisher = {.arg = &world, .publish = publish};

	publish_status = 0;
	r->config.webhook_url = url;
	MUST(tk_night_publish(&r->night, &err)); /* without a publisher */
	assert_string_equal(r->report.site_index, "");
	assert_int_equal(world.notifications, 1);
	assert_string_equal(world.notify.webhook_url, "u");
	assert_null(world.notify.site_url);
	assert_int_equal(world.notify.night_id, r->h.night);
	r->options.publisher = &publisher;
	MUST(tk_night_publish(&r->night, &err));
	assert_string_equal(r->report.site_index, "site/index.html");
}

/* Neither keeps the other from being done; a notification that fails is tried again next time. */
static void failures_of_publishing(void **state)
{
	struct rig *r = *state;
	const struct tk_night_publisher publisher = {.arg = &world, .publish = publish};

	r->options.publisher = &publisher;
	publish_status = TK_EIO;
	MUST_FAIL(TK_EIO, "cannot publish", tk_night_publish(&r->night, &err));
	assert_int_equal(world.notifications, 1);
	publish_status = 0;
	world.notify_status = TK_EIO;
	MUST(tk_night_publish(&r->night, &err));
	assert_int_equal(world.notifications, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(the_newest_good_builds_are_kept),
	        TEST(an_unlimited_cache_is_left_alone),
	        TEST(old_samples_are_dropped),
	        TEST(the_night_counts_its_verdicts),
	        TEST(a_detection_that_fails_names_what_is_kept),
	        TEST(pages_are_published_and_alerts_sent),
	        TEST(failures_of_publishing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
