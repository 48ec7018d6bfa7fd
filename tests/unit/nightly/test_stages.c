/* The stages before the measurements: resolve and build. */
#include "stages_rig.h"

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

/* Nights of other kinds measure other revisions. */
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

static char adapter_name[] = "adapter", flags_text[] = "-O3";

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
	/* an upstream that is not reachable keeps that status */
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
