/* See site_lab.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "site_lab.h"

#include "base/error.h"
#include "base/file.h"
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void lab_set_template(struct site_lab *lab, const char *name, const char *text)
{
	char path[300];
	struct tk_error err = {0};

	snprintf(path, sizeof path, "%s/%s.html", lab->templates, name);
	if (tk_file_write(path, text, strlen(text), &err))
		fail_msg("%s", err.message);
}

static void write_templates(struct site_lab *lab)
{
	char **names, *assets = tk_path_join(lab->templates, "assets");
	size_t count;
	struct tk_error err = {0};

	assert_int_equal(tk_dir_create(assets, &err), 0);
	free(assets);
	assert_int_equal(tk_dir_list(TK_SOURCE_ROOT "/templates", &names, &count, &err), 0);
	for (size_t i = 0; i < count; i++) {
		char *dot = strstr(names[i], ".html");
		if (!dot)
			continue;
		*dot = 0;
		lab_set_template(lab, names[i], "-\n");
	}
	tk_names_free(names, count);
}

int lab_setup(void **state)
{
	struct site_lab *lab = calloc(1, sizeof *lab);
	struct tk_error err = {0};

	assert_non_null(lab);
	world_open(&lab->w, NULL);
	assert_int_equal(tk_dir_create_temp(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
	                         "tk-site-", &lab->root, &err),
	        0);
	lab->templates = tk_path_join(lab->root, "templates");
	lab->out = tk_path_join(lab->root, "site");
	assert_true(lab->templates && lab->out);
	write_templates(lab);
	lab->options = (struct tk_site_options){.out_dir = lab->out,
	        .templates_dir = lab->templates,
	        .title = "lab",
	        .base_url = "",
	        .assets_dir = "",
	        .tie = 0.01};
	*state = lab;
	return 0;
}

int lab_teardown(void **state)
{
	struct site_lab *lab = *state;

	if (lab->w.open) /* the test failed */
		tk_store_rollback(lab->w.store);
	lab->w.open = false;
	lab->w.night = 0;
	world_close(&lab->w);
	tk_dir_remove(lab->root, NULL);
	free(lab->root);
	free(lab->templates);
	free(lab->out);
	tk_buf_free(&lab->text);
	free(lab);
	return 0;
}

void lab_build(struct site_lab *lab)
{
	world_end_night(&lab->w);
	lab_build_now(lab);
}

void lab_build_now(struct site_lab *lab)
{
	struct tk_error err = {0};

	if (lab->w.open)
		assert_int_equal(tk_store_commit(lab->w.store, &err), 0);
	lab->w.open = false;
	lab->options.now_s = lab->w.as_of_s + WORLD_DAY;
	if (tk_site_write(lab->w.store, &lab->options, &lab->report, &err))
		fail_msg("%s", err.message);
}

struct tk_verdict_row lab_verdict(
        int64_t series_id, enum tk_verdict_status status, double before, double after)
{
	return (struct tk_verdict_row){.series_id = series_id,
	        .status = status,
	        .before_value = before,
	        .after_value = after,
	        .change = after / before - 1,
	        .change_lo = NAN,
	        .change_hi = NAN,
	        .threshold = 0.02,
	        .p = 0.001,
	        .q = 0.001,
	        .reason = "because",
	        .detail = "{}"};
}

struct tk_bisection_row lab_bisection(enum tk_bisect_outcome outcome)
{
	return (struct tk_bisection_row){.uid = "b1",
	        .series_id = 1,
	        .night_id = 2,
	        .outcome = outcome,
	        .good_rev = "r1",
	        .bad_rev = "r2",
	        .first_bad_rev = "r15",
	        .last_good_rev = "r14",
	        .subject = "unroll",
	        .author = "Ann",
	        .author_time_s = WORLD_START,
	        .change = 0.5,
	        .change_lo = 0.48,
	        .change_hi = 0.52,
	        .confidence = 0.9987,
	        .build_count = 5,
	        .pair_count = 40};
}

void lab_put_verdicts(struct site_lab *lab, struct tk_verdict_row *rows, size_t count)
{
	struct tk_error err = {0};

	for (size_t i = 0; i < count; i++)
		rows[i].night_id = lab->w.night;
	if (tk_store_replace_verdicts(lab->w.store, lab->w.night, rows, count, &err))
		fail_msg("%s", err.message);
}

void lab_put_change_point(struct site_lab *lab, int64_t series_id, int64_t run_id,
        int64_t previous_run_id, double before, double after, enum tk_cause cause)
{
	const struct tk_change_point_row row = {.series_id = series_id,
	        .as_of_s = lab->w.as_of_s,
	        .run_id = run_id,
	        .previous_run_id = previous_run_id,
	        .before_value = before,
	        .after_value = after,
	        .change_lo = 0.01,
	        .change_hi = 0.02,
	        .p = 0.001,
	        .cause = cause,
	        .confidence = 0.9,
	        .detail = "{}"};
	struct tk_error err = {0};

	if (tk_store_replace_change_points(lab->w.store, series_id, &row, 1, &err))
		fail_msg("%s", err.message);
}

void lab_put_point(struct site_lab *lab, const struct tk_series_row *series, double value,
        const char *attributes)
{
	struct world *w = &lab->w;
	struct tk_series_row s = *series;
	struct tk_point p = {.value = value,
	        .lo = NAN,
	        .hi = NAN,
	        .min = NAN,
	        .q25 = NAN,
	        .q75 = NAN,
	        .p95 = NAN,
	        .n = 1};
	struct tk_run_row run = {.night_id = w->night,
	        .seq = w->seq++,
	        .build_id = w->build,
	        .environment_id = w->environment,
	        .as_of_s = w->as_of_s,
	        .started_s = w->as_of_s,
	        .outcome = TK_OUTCOME_OK,
	        .message = "",
	        .attributes = attributes};
	const double *none = NULL;
	const size_t no_samples = 0;
	int64_t id;

	s.device_id = w->device;
	s.upstream_id = w->upstream;
	assert_int_equal(tk_store_put_series(w->store, &s, &p.series_id, &w->err), 0);
	run.series_id = p.series_id;
	assert_int_equal(
	        tk_store_put_run(w->store, &run, &p, &none, &no_samples, 1, &id, &w->err), 0);
}

void lab_run_sql(struct site_lab *lab, const char *sql)
{
	char *why = NULL;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(lab->w.path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s: %s", sql, why);
	sqlite3_close(db);
}

bool lab_has(struct site_lab *lab, const char *path)
{
	char *full = tk_path_join(lab->out, path);
	bool exists = tk_file_exists(full);

	free(full);
	return exists;
}

const char *lab_read(struct site_lab *lab, const char *path)
{
	char *full = tk_path_join(lab->out, path);
	struct tk_error err = {0};

	tk_buf_clear(&lab->text);
	if (tk_file_read(full, 1 << 20, &lab->text, &err))
		fail_msg("%s", err.message);
	free(full);
	for (char *at = lab->text.data; at && (at = strstr(at, "\u00a0"));) {
		*at = ' ';
		memmove(at + 1, at + 2, strlen(at + 2) + 1);
	}
	return tk_buf_cstr(&lab->text);
}

void lab_expect(struct site_lab *lab, const char *path, const char *text)
{
	lab_build(lab);
	assert_string_equal(lab_read(lab, path), text);
}

void lab_overwrite(struct site_lab *lab, const char *path, const char *text)
{
	char *full = tk_path_join(lab->out, path);
	struct tk_error err = {0};

	if (tk_file_write(full, text, strlen(text), &err))
		fail_msg("%s", err.message);
	free(full);
}

void lab_assert_has(struct site_lab *lab, const char *path, const char *text)
{
	if (!strstr(lab_read(lab, path), text))
		fail_msg("%s lacks `%s`: %s", path, text, tk_buf_cstr(&lab->text));
}

void lab_assert_lacks(struct site_lab *lab, const char *path, const char *text)
{
	if (strstr(lab_read(lab, path), text))
		fail_msg("%s has `%s`: %s", path, text, tk_buf_cstr(&lab->text));
}
