/* Every allocation that fails while a night is planned or scheduled is reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alloc_sweep.h"
#include "base/file.h"
#include "job_rows.h"
#include "nightly/night.h"
#include "nightly/plan/job_list.h"
#include "nightly/plan/modules.h"
#include "nightly/plan/night_request.h"
#include "nightly/schedule/scheduler.h"

/* ---- jobs ------------------------------------------------------------------------------------ */

static int fill(struct tk_job_list *list, int64_t first, size_t count, struct tk_error *err)
{
	int status = TK_OK;

	for (size_t i = 0; i < count && !status; i++)
		status = tk_job_list_add(list, first + (int64_t)i, 1, "path", "a=1", err);
	return status;
}

static int order_jobs(void *arg, struct tk_error *err)
{
	struct tk_job_list suite = {0}, ceilings = {0}, controls = {0}, out = {0};
	int status = fill(&suite, 1, 20, err);

	if (!status)
		status = fill(&ceilings, 100, 2, err);
	if (!status)
		status = fill(&controls, 200, 1, err);
	if (!status)
		status = tk_plan_order_jobs(&suite, &ceilings, &controls, 10, 7, &out, err);
	if (!status)
		assert_int_equal(out.count, 20 + 2 + 3);
	for (size_t i = 0; i < out.count; i++) /* also of a list that is not complete */
		assert_string_equal(out.rows[i].backend_path, "path");
	tk_job_list_free(&suite);
	tk_job_list_free(&ceilings);
	tk_job_list_free(&controls);
	tk_job_list_free(&out);
	return status;
}

static void an_order_of_jobs(void **state)
{
	alloc_sweep(&(struct alloc_sweep){.name = "job_list", .call = order_jobs});
}

/* ---- schedules ------------------------------------------------------------------------------- */

static char layer_name[] = "cuda";
static const struct tk_module layer = {.name = layer_name};
static struct tk_series_row series[] = {SERIES(41, 11, 21), SERIES(42, 12, 22)};
static struct tk_job_row jobs[] = {
        {.seq = 1, .series_id = 41, .build_id = 31}, {.seq = 2, .series_id = 42, .build_id = 31}};

static int schedule(void *arg, struct tk_error *err)
{
	const struct tk_job_catalog catalog = {.jobs = ROWS(jobs),
	        .series = ROWS(series),
	        .problems = ROWS(problems),
	        .builds = ROWS(builds)};
	struct tk_scheduler *scheduler;
	int status = tk_job_catalog_schedule(arg, &catalog, &scheduler, err);

	if (status)
		return status;
	assert_int_equal(tk_scheduler_next(scheduler).kind, TK_ACTION_RUN);
	assert_int_equal(tk_scheduler_next(scheduler).kind, TK_ACTION_RUN);
	assert_int_equal(tk_scheduler_next(scheduler).kind, TK_ACTION_WAIT);
	tk_scheduler_free(scheduler);
	return TK_OK;
}

static void a_schedule(void **state)
{
	struct tk_night_device devices[2] = {
	        {.layer = &layer, .device_id = 11}, {.layer = &layer, .device_id = 12}};
	struct tk_night_options options = {0};
	struct tk_night night = {.options = &options, .devices = devices, .device_count = 2};

	for (int d = 0; d < 2; d++)
		devices[d].info = json_pack("{s:s, s:s}", "name", "card", "arch", "sm_90");
	alloc_sweep(&(struct alloc_sweep){.name = "schedule", .call = schedule, .arg = &night});
	for (int d = 0; d < 2; d++)
		json_decref(devices[d].info);
}

/* ---- options of a night ---------------------------------------------------------------------- */

/* What is stored is what was asked for: a resume continues with it. */
static int store_and_restore(void *arg, struct tk_error *err)
{
	static char first[] = "null:0", second[] = "null:1";
	static char *const devices[] = {first, second, NULL};
	const struct tk_night_options asked = {.devices = devices,
	        .split = true,
	        .part = 2,
	        .parts = 14,
	        .import_file = "/srv/builds.tar.zst",
	        .only_upstream = "openblas"};
	struct tk_night_options restored = {0};
	char **names = NULL;
	json_t *request;
	int status = tk_night_request_encode(&asked, &request, err);

	if (status)
		return status;
	status = tk_night_request_restore(request, &restored, &names, err);
	if (!status) {
		assert_true(restored.split);
		assert_int_equal(restored.part, 2);
		assert_int_equal(restored.parts, 14);
		assert_string_equal(restored.import_file, asked.import_file);
		assert_string_equal(restored.only_upstream, "openblas");
		assert_string_equal(names[0], "null:0");
		assert_string_equal(names[1], "null:1");
		assert_null(names[2]);
	}
	free(names);
	json_decref(request);
	return status;
}

static void a_request(void **state)
{
	alloc_sweep(&(struct alloc_sweep){.name = "night_request", .call = store_and_restore});
}

/* ---- modules --------------------------------------------------------------------------------- */

static int list_modules(void *arg, struct tk_error *err)
{
	struct tk_modules *modules;
	int status = tk_modules_load("/nowhere/tracker", &modules, err);

	if (status)
		return status;
	assert_non_null(tk_modules_find_backend(modules, "one"));
	assert_non_null(tk_modules_find_backend(modules, "two"));
	assert_non_null(tk_modules_find_device(modules, "cpu"));
	tk_modules_free(modules);
	return TK_OK;
}

static void modules(void **state)
{
	static const char *const names[] = {
	        "tk_backend_one.so", "tk_backend_two.so", "tk_device_cpu.so"};
	char folder[] = "/tmp/tracker-modules-XXXXXX", path[80];

	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/%s", folder, names[i]);
		assert_int_equal(tk_file_write(path, "", 0, NULL), TK_OK);
	}
	setenv("TRACKER_BACKENDS", folder, 1);
	alloc_sweep(&(struct alloc_sweep){.name = "modules", .call = list_modules});
	unsetenv("TRACKER_BACKENDS");
	assert_int_equal(tk_dir_remove(folder, NULL), TK_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(an_order_of_jobs),
	        cmocka_unit_test(a_schedule),
	        cmocka_unit_test(a_request),
	        cmocka_unit_test(modules),
	};

	alloc_sweep_add_jansson();
	return cmocka_run_group_tests_name("nightly out of memory", tests, NULL, NULL);
}
