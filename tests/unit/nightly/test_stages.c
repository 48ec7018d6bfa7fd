/* The stages around the measurements: resolve, build, tidy, detect and publish. Repositories,
 * builds and notifications answer as the test says; the history is a real one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../store/history.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "nightly/night.h"
#include "nightly/stages/recipe.h"
#include "notify/notify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the world around a night answers, and what it was asked. */
static struct {
	struct tk_revision newest;
	int find_status, build_status, adapter_status, number_status, notify_status;
	char found[128]; /* the revision that was looked for; "": the newest */
	int64_t positions[4];
	struct tk_artifact artifact; /* the answer to a build; texts of the test */
	int builds;
	char kept[200]; /* "key key " */
	uint64_t max_bytes;
	int evictions, notifications;
	struct tk_notify_options notify;
} world;

int __wrap_tk_repo_find_newest(
        const struct tk_repo *s, struct tk_revision *out, struct tk_error *err);
int __wrap_tk_repo_find_revision(
        const struct tk_repo *s, const char *rev, struct tk_revision *out, struct tk_error *err);
int __wrap_tk_repo_number_versions(const struct tk_repo *s, const char *const *versions,
        size_t count, int64_t *positions, struct tk_error *err);
int __wrap_tk_recipe_check_adapter(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_error *err);
int __wrap_tk_recipe_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, struct tk_artifact **out, struct tk_error *err);
int __wrap_tk_artifact_evict(const char *cache_dir, uint64_t max_bytes, const char *const *keep,
        size_t keep_count, struct tk_error *err);
int __wrap_tk_notify_send_alerts(
        struct tk_store *store, const struct tk_notify_options *options, struct tk_error *err);

int __wrap_tk_repo_find_newest(
        const struct tk_repo *s, struct tk_revision *out, struct tk_error *err)
{
	world.found[0] = 0;
	if (world.find_status)
		return tk_fail(err, world.find_status, "no route to %s", s->name);
	*out = world.newest;
	return 0;
}

int __wrap_tk_repo_find_revision(
        const struct tk_repo *s, const char *rev, struct tk_revision *out, struct tk_error *err)
{
	snprintf(world.found, sizeof world.found, "%s", rev);
	*out = world.newest;
	return 0;
}

int __wrap_tk_repo_number_versions(const struct tk_repo *s, const char *const *versions,
        size_t count, int64_t *positions, struct tk_error *err)
{
	if (world.number_status)
		return tk_fail(err, world.number_status, "no index");
	for (size_t i = 0; i < count && i < 4; i++)
		if (world.positions[i])
			positions[i] = world.positions[i];
	return 0;
}

int __wrap_tk_recipe_check_adapter(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_error *err)
{
	return world.adapter_status ? tk_fail(err, world.adapter_status, "no adapter") : 0;
}

static char *copy(const char *text)
{
	return text ? strdup(text) : NULL;
}

int __wrap_tk_recipe_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, struct tk_artifact **out, struct tk_error *err)
{
	world.builds++;
	if (world.build_status)
		return tk_fail(err, world.build_status, "cannot build %s", revision);
	struct tk_artifact *a = calloc(1, sizeof *a);
	assert_non_null(a);
	*a = world.artifact;
	a->message = copy(a->message);
	a->log_path = copy(a->log_path);
	a->toolchain = copy(a->toolchain);
	*out = a;
	return 0;
}

int __wrap_tk_artifact_evict(const char *cache_dir, uint64_t max_bytes, const char *const *keep,
        size_t keep_count, struct tk_error *err)
{
	world.evictions++;
	world.max_bytes = max_bytes;
	for (size_t i = 0; i < keep_count; i++) {
		strcat(world.kept, keep[i]);
		strcat(world.kept, " ");
	}
	return 0;
}

int __wrap_tk_notify_send_alerts(
        struct tk_store *store, const struct tk_notify_options *options, struct tk_error *err)
{
	world.notifications++;
	world.notify = *options;
	return world.notify_status ? tk_fail(err, world.notify_status, "no network") : 0;
}

/* ---- a night ---- */

static char lib_name[] = "lib", other_name[] = "other", off_name[] = "off", url[] = "u",
            adapter_name[] = "adapter", flags_text[] = "-O3";

struct rig {
	struct history h;
	struct tk_config config;
	struct tk_upstream_config upstreams[3];
	struct tk_night_options options;
	struct tk_night_report report;
	struct tk_modules modules; /* none */
	struct tk_night night;
};

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof *r);

	assert_non_null(r);
	memset(&world, 0, sizeof world);
	snprintf(world.newest.id, sizeof world.newest.id, "abc1");
	snprintf(world.newest.subject, sizeof world.newest.subject, "gemm: unroll");
	world.newest.position = 12;
	world.newest.commit_time_s = 5000;
	snprintf(world.artifact.key, sizeof world.artifact.key, "key1");
	history_new(&r->h);
	history_fill(&r->h);
	r->upstreams[0] = (struct tk_upstream_config){
	        .name = lib_name, .kind = TK_UPSTREAM_GIT, .url = url, .enabled = true};
	r->upstreams[1] = (struct tk_upstream_config){
	        .name = other_name, .kind = TK_UPSTREAM_GIT, .url = url, .enabled = true};
	r->upstreams[2] = (struct tk_upstream_config){
	        .name = off_name, .kind = TK_UPSTREAM_GIT, .url = url, .enabled = false};
	r->config.root = r->h.dir;
	r->config.upstreams = r->upstreams;
	r->config.upstream_count = 3;
	r->night = (struct tk_night){.config = &r->config,
	        .store = r->h.store,
	        .options = &r->options,
	        .report = &r->report,
	        .modules = &r->modules,
	        .night_id = r->h.night,
	        .as_of_s = 1000};
	*state = r;
	return 0;
}

static void free_upstreams(struct rig *r)
{
	for (size_t i = 0; i < r->night.upstream_count; i++)
		for (size_t k = 0; k < r->night.upstreams[i].artifact_count; k++)
			tk_artifact_free(r->night.upstreams[i].artifacts[k]);
	free(r->night.upstreams);
	r->night.upstreams = NULL;
	r->night.upstream_count = 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	free_upstreams(r);
	history_free(&r->h);
	free(r);
	return 0;
}

static void resolve(struct rig *r)
{
	free_upstreams(r);
	MUST(tk_night_resolve(&r->night, &err));
}

/* The next night of the machine. */
static void next_night(struct rig *r, enum tk_night_kind kind)
{
	const struct tk_night_row row = {.machine_id = r->h.machine,
	        .kind = kind,
	        .as_of_s = r->night.as_of_s + 86400,
	        .started_s = r->night.as_of_s + 86400,
	        .config_hash = "",
	        .tracker_version = "",
	        .summary = "{}"};

	MUST(tk_store_begin_night(r->h.store, &row, &r->night.night_id, &err));
	r->night.as_of_s = row.as_of_s;
}

/* "name rev status: message;" for each upstream. */
static void expect_upstreams(const struct rig *r, const char *expected)
{
	struct tk_buf text = TK_BUF_INIT;

	for (size_t i = 0; i < r->night.upstream_count; i++) {
		const struct tk_night_upstream *u = &r->night.upstreams[i];
		if (u->config->kind == TK_UPSTREAM_BUILTIN)
			continue;
		tk_buf_add_printf(&text, "%s %s %s%s%s;", u->config->name, u->rev,
		        tk_resolution_status_name(u->status), *u->message ? ": " : "", u->message);
	}
	assert_string_equal(tk_buf_cstr(&text), expected);
	tk_buf_free(&text);
}

/* ---- resolve ---- */

static void the_newest_revision_of_each_upstream(void **state)
{
	struct rig *r = *state;
	struct tk_rows rows;

	resolve(r);
	assert_int_equal(r->night.upstream_count, 3); /* with the tracker's own kernels first */
	assert_string_equal(r->night.upstreams[0].config->name, "builtin");
	assert_true(*r->night.upstreams[0].rev); /* its version */
	expect_upstreams(r, "lib abc1 new;other abc1 new;");
	MUST(tk_store_list_resolutions(r->h.store, r->h.night, &rows, &err));
	assert_int_equal(rows.count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct tk_resolution_row *row =
		        TK_ROWS_AT(&rows, struct tk_resolution_row, i);
		assert_true(row->upstream_id && row->revision_id);
		assert_int_equal(row->status, TK_RESOLUTION_NEW);
	}
	tk_rows_free(&rows);
	assert_int_equal(history_count(&r->h, "revision WHERE rev='abc1' AND position=12"
	                                      " AND commit_time_s=5000"
	                                      " AND subject='gemm: unroll'"),
	        2);
}

static void a_revision_of_the_night_before_is_unchanged(void **state)
{
	struct rig *r = *state;

	resolve(r);
	next_night(r, TK_NIGHT_NIGHTLY);
	resolve(r);
	expect_upstreams(r, "lib abc1 unchanged;other abc1 unchanged;");
	snprintf(world.newest.id, sizeof world.newest.id, "abc2");
	next_night(r, TK_NIGHT_NIGHTLY);
	resolve(r);
	expect_upstreams(r, "lib abc2 new;other abc2 new;");
}

/* Other kinds of nights measure what they like. */
static void only_nightly_nights_are_compared_with(void **state)
{
	struct rig *r = *state;

	next_night(r, TK_NIGHT_RUN);
	resolve(r);
	next_night(r, TK_NIGHT_NIGHTLY);
	resolve(r);
	expect_upstreams(r, "lib abc1 new;other abc1 new;");
}

static void one_upstream_alone(void **state)
{
	struct rig *r = *state;

	r->options.only_upstream = "other";
	resolve(r);
	expect_upstreams(r, "other abc1 new;");
	assert_string_equal(world.found, "");
	r->options.backfill_revision = "v7";
	resolve(r);
	assert_string_equal(world.found, "v7");
}

/* It has no revision before it has answered once. */
static void an_upstream_that_never_answered(void **state)
{
	struct rig *r = *state;
	struct tk_rows rows;

	world.find_status = TK_EIO;
	resolve(r);
	expect_upstreams(
	        r, "lib  unreachable: no route to lib;other  unreachable: no route to other;");
	assert_int_equal(r->report.upstreams_unreachable, 2);
	assert_int_equal(r->night.upstreams[1].revision_id, 0);
	MUST(tk_store_list_resolutions(r->h.store, r->h.night, &rows, &err));
	assert_int_equal(rows.count, 3);
	tk_rows_free(&rows);
}

static void an_upstream_that_does_not_answer_keeps_its_last_revision(void **state)
{
	struct rig *r = *state;

	resolve(r);
	const int64_t revision = r->night.upstreams[1].revision_id;
	next_night(r, TK_NIGHT_NIGHTLY);
	world.find_status = TK_EIO;
	resolve(r);
	expect_upstreams(r, "lib abc1 unreachable: no route to lib;"
	                    "other abc1 unreachable: no route to other;");
	assert_int_equal(r->night.upstreams[1].revision_id, revision);
}

/* An adapter that does not exist is found before the repository is fetched. */
static void a_missing_adapter_is_no_reason_to_fetch(void **state)
{
	struct rig *r = *state;

	world.adapter_status = TK_ENOTFOUND;
	snprintf(world.found, sizeof world.found, "untouched");
	resolve(r);
	expect_upstreams(r, "lib  unreachable: no adapter;other  unreachable: no adapter;");
	assert_string_equal(world.found, "untouched");
}

static void a_request_to_stop_ends_the_stage(void **state)
{
	struct rig *r = *state;

	world.find_status = TK_ECANCELED;
	MUST_FAIL(TK_ECANCELED, "no route", tk_night_resolve(&r->night, &err));
	free_upstreams(r);
	world.find_status = TK_ENOSPC;
	MUST_FAIL(TK_ENOSPC, "no route", tk_night_resolve(&r->night, &err));
}

/* Pages link commits of the tracker itself to the address that the configuration names. */
static void the_public_address_of_self(void **state)
{
	static const struct {
		char commit_url[80];
		const char *stored;
	} cases[] = {{"https://github.com/o/r/commit/{rev}", "https://github.com/o/r"},
	        {"https://gitlab.com/o/r/-/commit/{rev}", "https://gitlab.com/o/r"},
	        {"https://user:secret@example.org/r/commit/{rev}", "https://example.org/r"}};
	char sql[120];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (i) {
			teardown(state);
			setup(state);
		}
		struct rig *r = *state;
		r->upstreams[0].kind = TK_UPSTREAM_SELF;
		r->upstreams[0].url = NULL;
		r->config.commit_url = (char *)cases[i].commit_url;
		resolve(r);
		snprintf(
		        sql, sizeof sql, "upstream WHERE name='lib' AND url='%s'", cases[i].stored);
		assert_int_equal(history_count(&r->h, sql), 1);
	}
}

/* A late release of an older line moves the versions after it. */
static void versions_of_a_package_are_numbered_again(void **state)
{
	struct rig *r = *state;

	r->upstreams[0].kind = TK_UPSTREAM_PACKAGE;
	r->upstreams[1].enabled = false;
	resolve(r);
	snprintf(world.newest.id, sizeof world.newest.id, "abc2");
	world.newest.position = 13;
	world.positions[0] = 20; /* of abc1; the other one keeps its own */
	resolve(r);
	assert_int_equal(history_count(&r->h, "revision WHERE rev='abc1' AND position=20"), 1);
	assert_int_equal(history_count(&r->h, "revision WHERE rev='abc2' AND position=13"), 1);
	world.number_status = TK_EIO; /* costs nothing but the new positions */
	world.positions[0] = 30;
	resolve(r);
	assert_int_equal(history_count(&r->h, "revision WHERE rev='abc1' AND position=20"), 1);
}

/* ---- build ---- */

/* One upstream, resolved. */
static struct tk_night_upstream *resolve_one(struct rig *r)
{
	static struct tk_night_upstream one;
	r->upstreams[1].enabled = false;
	r->upstreams[0].adapter = adapter_name;
	r->upstreams[0].cmake_args = flags_text;
	resolve(r);
	/* without the tracker's own kernels, which are no files here */
	one = r->night.upstreams[1];
	r->night.upstreams[0] = one;
	r->night.upstream_count = 1;
	return &r->night.upstreams[0];
}

static void a_build_is_a_row_with_its_code(void **state)
{
	struct rig *r = *state;
	struct tk_rows rows;
	struct tk_night_upstream *u = resolve_one(r);
	struct tk_artifact_backend *backend = calloc(1, sizeof *backend);

	assert_non_null(backend);
	strcpy(backend->name, "b");
	snprintf(backend->code_hash, sizeof backend->code_hash, "aaaa");
	world.artifact.backends = backend;
	world.artifact.backend_count = 1;
	world.artifact.toolchain = (char *)"gcc 12";
	world.artifact.wall_s = 1.5;
	world.artifact.size_bytes = 4096;
	MUST(tk_night_build(&r->night, &err));
	assert_int_equal(r->report.builds, 1);
	assert_int_equal(r->report.builds_failed, 0);
	assert_int_equal(r->report.builds_cached, 0);
	assert_false(u->failed);
	assert_int_equal(
	        history_count(&r->h, "build WHERE artifact_key='key1' AND adapter='adapter'"
	                             " AND toolchain='gcc 12' AND flags='-O3'"),
	        1);
	MUST(tk_store_list_kernels(r->h.store, u->build_id, &rows, &err));
	assert_int_equal(rows.count, 1);
	assert_string_equal(TK_ROWS_AT(&rows, struct tk_kernel_row, 0)->backend, "b");
	assert_string_equal(TK_ROWS_AT(&rows, struct tk_kernel_row, 0)->code_hash, "aaaa");
	assert_int_equal(TK_ROWS_AT(&rows, struct tk_kernel_row, 0)->registers, -1);
	tk_rows_free(&rows);
	MUST(tk_store_list_resolutions(r->h.store, r->h.night, &rows, &err));
	bool found = false;
	for (size_t i = 0; i < rows.count; i++)
		found = found ||
		        TK_ROWS_AT(&rows, struct tk_resolution_row, i)->build_id == u->build_id;
	assert_true(found);
	tk_rows_free(&rows);
}

static void a_build_from_the_cache_is_counted(void **state)
{
	struct rig *r = *state;

	resolve_one(r);
	world.artifact.cached = true;
	MUST(tk_night_build(&r->night, &err));
	assert_int_equal(r->report.builds, 1);
	assert_int_equal(r->report.builds_cached, 1);
}

/* Its page outlives the cache: the end of the log is kept, 64 KiB of it. */
static void a_failed_build_keeps_the_end_of_its_log(void **state)
{
	struct rig *r = *state;
	struct tk_night_upstream *u = resolve_one(r);
	char path[128], *log = malloc(65537 + 10), *stored = NULL;

	assert_non_null(log);
	memset(log, 'x', 65546);
	log[65546] = 0;
	log[9] = '!'; /* not shown */
	log[10] = 'y';
	snprintf(path, sizeof path, "%s/log", r->h.dir);
	MUST(tk_file_write(path, log, strlen(log), &err));
	world.artifact.status = TK_BUILD_FAILED;
	world.artifact.cached = true; /* failed builds are cached too */
	world.artifact.message = (char *)"no compiler";
	world.artifact.log_path = path;
	MUST(tk_night_build(&r->night, &err));
	assert_true(u->failed);
	assert_int_equal(r->report.builds_failed, 1);
	assert_int_equal(r->report.builds_cached, 0);
	MUST(tk_store_read_build_log(r->h.store, u->build_id, &stored, &err));
	assert_int_equal(strlen(stored), 65536);
	assert_string_equal(stored, log + 10);
	free(stored);
	free(log);
}

/* A build that was not even tried fails its upstream alone. */
static void a_build_that_cannot_start_fails_its_upstream(void **state)
{
	struct rig *r = *state;
	struct tk_night_upstream *u = resolve_one(r);

	world.build_status = TK_ENOTFOUND;
	MUST(tk_night_build(&r->night, &err));
	assert_true(u->failed);
	assert_int_equal(u->status, TK_RESOLUTION_FAILED);
	assert_string_equal(u->message, "cannot build abc1");
	assert_int_equal(r->report.builds, 1);
	assert_int_equal(r->report.builds_failed, 1);
	assert_int_equal(u->build_id, 0);
	assert_int_equal(history_count(&r->h, "resolution WHERE message='cannot build abc1'"), 1);
	/* that it is not reachable says more */
	u->status = TK_RESOLUTION_UNREACHABLE;
	MUST(tk_night_build(&r->night, &err));
	assert_int_equal(u->status, TK_RESOLUTION_UNREACHABLE);
}

static void a_full_disk_ends_the_builds(void **state)
{
	struct rig *r = *state;

	resolve_one(r);
	world.build_status = TK_ENOSPC;
	MUST_FAIL(TK_ENOSPC, "cannot build abc1", tk_night_build(&r->night, &err));
}

static void an_upstream_without_a_revision_is_not_built(void **state)
{
	struct rig *r = *state;

	world.find_status = TK_EIO;
	resolve_one(r);
	MUST(tk_night_build(&r->night, &err));
	assert_int_equal(world.builds, 0);
	assert_int_equal(r->report.builds, 0);
}

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

/* After a command that has stored its own result, the error says that it is kept. */
static void a_detection_that_fails_says_what_is_kept(void **state)
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(the_newest_revision_of_each_upstream),
	        TEST(a_revision_of_the_night_before_is_unchanged),
	        TEST(only_nightly_nights_are_compared_with),
	        TEST(one_upstream_alone),
	        TEST(an_upstream_that_never_answered),
	        TEST(an_upstream_that_does_not_answer_keeps_its_last_revision),
	        TEST(a_missing_adapter_is_no_reason_to_fetch),
	        TEST(a_request_to_stop_ends_the_stage),
	        TEST(the_public_address_of_self),
	        TEST(versions_of_a_package_are_numbered_again),
	        TEST(a_build_is_a_row_with_its_code),
	        TEST(a_build_from_the_cache_is_counted),
	        TEST(a_failed_build_keeps_the_end_of_its_log),
	        TEST(a_build_that_cannot_start_fails_its_upstream),
	        TEST(a_full_disk_ends_the_builds),
	        TEST(an_upstream_without_a_revision_is_not_built),
	        TEST(the_newest_good_builds_are_kept),
	        TEST(an_unlimited_cache_is_left_alone),
	        TEST(old_samples_are_dropped),
	        TEST(the_night_counts_its_verdicts),
	        TEST(a_detection_that_fails_says_what_is_kept),
	        TEST(pages_are_published_and_alerts_sent),
	        TEST(failures_of_publishing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
