/* How a run was measured: the options of its job, and the configuration that was chosen then. */
#include "../store/history.h"
#include "nightly/confirm/ab_test.h"
#include "nightly/night.h"

#include <stdio.h>
#include <stdlib.h>

static int64_t put_run(struct history *h, int64_t seq, const char *attributes)
{
	int64_t id;
	char sql[200];

	MUST(history_put_run(h, seq, 100, 3, &id, &err));
	snprintf(sql, sizeof sql, "UPDATE run SET attributes='%s' WHERE id=%lld", attributes,
	        (long long)id);
	history_run_sql(h, sql);
	return id;
}

static void expect_setup(struct history *h, int64_t run, const char *options, const char *config)
{
	struct tk_night n = {.store = h->store};
	struct tk_job_setup s;

	MUST(tk_job_setup_load(&n, h->series, run, &s, &err));
	assert_string_equal(s.options, options);
	if (config)
		assert_string_equal(s.config, config);
	else
		assert_null(s.config);
	tk_job_setup_free(&s);
	assert_null(s.options);
}

/* The options of its job, and the configuration that `config: tuned` chose then. */
static void the_setup_of_a_run_is_found(void **state)
{
	struct history *h = *state;
	const struct tk_job_row jobs[] = {{.night_id = h->night,
	                                          .seq = 1,
	                                          .series_id = h->series,
	                                          .build_id = h->build,
	                                          .backend_path = "/b.so",
	                                          .options = "threads=2"},
	        {.night_id = h->night,
	                .seq = 2,
	                .series_id = h->series,
	                .build_id = h->build,
	                .backend_path = "/b.so",
	                .options = "threads=3"}};

	MUST(tk_store_put_jobs(h->store, jobs, 2, &err));
	const int64_t first = put_run(h, 1, "{\"config\":\"tile=8\"}"),
	              second = put_run(h, 2, "{}"), imported = put_run(h, 3, "{}"),
	              damaged = put_run(h, 4, "not JSON");
	expect_setup(h, first, "threads=2", "tile=8");
	expect_setup(h, second, "threads=3", NULL);
	expect_setup(h, imported, "", NULL);
	expect_setup(h, damaged, "", NULL);
	expect_setup(h, 4711, "", NULL);
	expect_setup(h, 0, "", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(
	                the_setup_of_a_run_is_found, history_set_up, history_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
