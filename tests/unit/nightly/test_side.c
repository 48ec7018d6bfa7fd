/* One side of `tracker ab`: revisions and work trees of a real repository, shared objects that a
 * compiler made, and what the user wrote behind a colon. Workers and adapters answer as the test
 * says. */
#include "side_rig.h"

static int resolve(struct rig *r, int upstream, const char *spec, struct tk_error *err)
{
	begin_side(r);
	return tk_ab_side_resolve(&r->night, &r->upstreams[upstream], spec, &r->side, err);
}

static void expect_revision(struct rig *r, const char *spec, const char *id)
{
	MUST(resolve(r, 0, spec, &err));
	assert_string_equal(r->report.revision.id, id);
	assert_string_equal(r->report.spec, spec);
	assert_false(r->report.is_worktree);
	assert_null(r->side.snapshot);
}

/* ---- upstreams ---- */

static void an_upstream_must_have_revisions(void **state)
{
	const struct tk_upstream_config *u = NULL;
	struct rig *r = *state;

	MUST(tk_ab_find_upstream(&r->config, "lib", &u, &err));
	assert_ptr_equal(u, &r->upstreams[0]);
	MUST(tk_ab_find_upstream(&r->config, "package", &u, &err));
	MUST_FAIL(TK_EUSAGE, "\"lbi\" is neither an upstream of tracker.yml nor a problem; did you",
	        tk_ab_find_upstream(&r->config, "lbi", &u, &err));
	MUST_FAIL(TK_EUSAGE, "installed library and has no revisions",
	        tk_ab_find_upstream(&r->config, "system", &u, &err));
}

/* ---- revisions ---- */

static void a_revision_is_named_as_in_git(void **state)
{
	struct rig *r = *state;
	char prefix[9];

	make_repository(r);
	expect_revision(r, r->head, r->head);
	expect_revision(r, "main", r->head);
	expect_revision(r, "v1", r->first);
	snprintf(prefix, sizeof prefix, "%.8s", r->first);
	expect_revision(r, prefix, r->first);
	assert_string_equal(r->report.revision.subject, "one");
}

/* Messages name the option, and count as a wrong command line whatever layer found it. */
static void an_unknown_revision_is_wrong_usage(void **state)
{
	struct rig *r = *state;

	make_repository(r);
	MUST_FAIL(TK_EUSAGE, "--base=nowhere: ", resolve(r, 0, "nowhere", &err));
	r->report.option = "--head=";
	world.adapter_status = TK_ENOTFOUND;
	MUST_FAIL(TK_EUSAGE, "--base=v1: no adapter", resolve(r, 0, "v1", &err));
	world.adapter_status = TK_ECANCELED;
	MUST_FAIL(TK_ECANCELED, "no adapter", resolve(r, 0, "v1", &err));
}

/* ---- work trees ---- */

static void expect_worktree(struct rig *r, const char *spec, bool is_dirty)
{
	MUST(resolve(r, 0, spec, &err));
	assert_true(r->report.is_worktree);
	assert_int_equal(r->report.revision.dirty, is_dirty);
	if (!is_dirty)
		assert_string_equal(r->report.revision.id, r->head);
	else
		assert_string_not_equal(r->report.revision.id, r->head);
	assert_non_null(r->side.snapshot);
	assert_true(tk_dir_exists(r->side.snapshot));
}

/* By its word, as a folder, and through a URL of a file. */
static void a_work_tree_is_taken_as_it_is(void **state)
{
	struct rig *r = *state;
	char url[320], before[64], after[64], *snapshot;

	make_repository(r);
	expect_worktree(r, "worktree", false);
	expect_worktree(r, r->url, false);
	snprintf(url, sizeof url, "file://%s", r->url);
	r->upstreams[0].url = url;
	expect_worktree(r, "worktree", false);
	ask(r->s, before, sizeof before, "git -C up status --porcelain | sha256sum");
	sh(r->s, "echo 3 >up/file && echo new >up/added");
	expect_worktree(r, "worktree", true);
	snapshot = strdup(r->side.snapshot);
	assert_non_null(snapshot);
	begin_side(r);
	assert_false(tk_dir_exists(snapshot)); /* removed on closing */
	free(snapshot);
	sh(r->s, "git -C up checkout -q file && rm up/added");
	ask(r->s, after, sizeof after, "git -C up status --porcelain | sha256sum");
	assert_string_equal(before, after); /* nothing was committed or staged in it */
}

static void a_folder_is_one_by_its_first_characters(void **state)
{
	struct rig *r = *state;

	make_repository(r);
	sh(r->s, "mkdir empty");
	for (int i = 0; i < 4; i++) {
		static const char *const specs[] = {
		        "/nowhere", "./nowhere", "../nowhere", "~/nowhere"};
		struct tk_error err = {0};
		assert_int_not_equal(resolve(r, 0, specs[i], &err), 0);
		assert_true(r->report.is_worktree);
	}
	struct tk_error err = {0};
	assert_int_not_equal(resolve(r, 0, "nowhere/x", &err), 0); /* a branch may have a slash */
	assert_false(r->report.is_worktree);
}

static void some_upstreams_have_no_work_tree(void **state)
{
	static char remote[] = "https://example.invalid/r.git", gone[] = "/nowhere/at/all";
	struct rig *r = *state;

	make_repository(r);
	MUST_FAIL(TK_EUSAGE, "is a Python package and has no work tree",
	        resolve(r, 2, "worktree", &err));
	MUST_FAIL(TK_EUSAGE, "has no work tree", resolve(r, 2, "./folder", &err));
	r->upstreams[0].url = remote;
	MUST_FAIL(TK_EUSAGE, "is not on this machine", resolve(r, 0, "worktree", &err));
	r->upstreams[0].url = gone;
	MUST_FAIL(TK_EUSAGE, "for instance --base=./FOLDER", resolve(r, 0, "worktree", &err));
}

/* ---- builds ---- */

static int build(struct rig *r, struct tk_error *err)
{
	return tk_ab_side_build(&r->night, &r->upstreams[0], &r->side, err);
}

static void a_side_knows_its_build(void **state)
{
	static char options[] = "threads=2";
	struct rig *r = *state;

	make_repository(r);
	world.backends[1] = "other";
	r->upstreams[0].options = options;
	MUST(resolve(r, 0, "v1", &err));
	MUST(build(r, &err));
	assert_string_equal(world.built, r->first);
	assert_int_equal(world.source.kind, TK_UPSTREAM_GIT);
	assert_string_equal(world.url, r->url);
	assert_string_equal(world.adapter, "lib");
	assert_true(r->report.built);
	assert_false(r->report.cached);
	assert_string_equal(r->report.toolchain, "cc 12");
	assert_string_equal(r->side.options, "threads=2");
	assert_int_equal(r->side.kind_count, 2);
	assert_string_equal(r->side.kinds[1], "cpu");
	assert_int_equal(world.queries, 2);
	assert_null(r->side.file); /* nobody replaces a build */
	MUST(tk_ab_side_check_file(&r->side, &err));
	world.is_cached = true;
	MUST(resolve(r, 0, "main", &err));
	r->upstreams[0].options = NULL;
	MUST(build(r, &err));
	assert_true(r->report.cached);
	assert_string_equal(r->side.options, "");
}

/* Its commit is in the clone that it was made in. */
static void a_work_tree_is_built_from_its_snapshot(void **state)
{
	static char adapter[] = "special";
	struct rig *r = *state;

	make_repository(r);
	sh(r->s, "echo 3 >up/file");
	r->upstreams[0].adapter = adapter;
	MUST(resolve(r, 0, "worktree", &err));
	MUST(build(r, &err));
	assert_int_equal(world.source.kind, TK_UPSTREAM_SELF);
	assert_string_equal(world.url, r->side.snapshot);
	assert_string_equal(world.built, r->report.revision.id);
	assert_string_equal(world.adapter, "special");
}

static void failures_of_a_build_name_the_side(void **state)
{
	struct rig *r = *state;

	make_repository(r);
	MUST(resolve(r, 0, "v1", &err));
	world.artifact_status = TK_BUILD_FAILED;
	MUST_FAIL(TK_EDATA, "does not build (failed): no compiler (log: /cache/build.log)",
	        build(r, &err));
	assert_false(r->report.built);
	MUST(resolve(r, 0, "v1", &err));
	world.build_status = TK_ENOSPC;
	MUST_FAIL(TK_ENOSPC, "--base=v1: cannot build", build(r, &err));
	world.build_status = world.artifact_status = 0;
	world.query_status = TK_EDATA;
	MUST_FAIL(TK_EDATA, "--base=v1: no backend", build(r, &err));
	MUST(resolve(r, 0, "v1", &err));
	world.worker_status = TK_EIO;
	MUST_FAIL(TK_EIO, "no worker", build(r, &err));
}

/* ---- shared objects ---- */

static void compile(struct rig *r, const char *file, int value)
{
	sh(r->s,
	        "mkdir -p \"$(dirname '%s')\" && echo 'int f(int x); int f(int x) { return x * %d; "
	        "}' "
	        ">f.c && cc -shared -fPIC -O1 -o '%s' f.c",
	        file, value, file);
}

static int load(struct rig *r, const char *spec, struct tk_error *err)
{
	begin_side(r);
	return tk_ab_side_load(&r->night, spec, &r->side, err);
}

/* A file of the scratch folder, and what follows it. */
static const char *in_scratch(const struct rig *r, const char *rest)
{
	static char path[600];

	snprintf(path, sizeof path, "%s/%s", r->s->dir, rest);
	return path;
}

static void a_shared_object_is_a_side(void **state)
{
	struct rig *r = *state;
	char hash[TK_HASH_HEX_SIZE];

	compile(r, "a.so", 3);
	MUST(load(r, in_scratch(r, "a.so"), &err));
	MUST(tk_backend_file_hash(in_scratch(r, "a.so"), hash, &err));
	assert_string_equal(r->side.artifact->key, hash);
	assert_int_equal(r->side.artifact->backend_count, 1);
	assert_string_equal(r->side.kinds[0], "cpu");
	assert_string_equal(r->report.backend, "toy"); /* as it reports itself */
	assert_string_equal(r->side.options, "");
	assert_null(r->side.config);
	assert_int_equal(r->side.threads, 0);
	assert_false(r->report.built);
}

static void options_follow_a_colon(void **state)
{
	static const struct {
		const char *text, *options, *config;
		uint32_t threads;
	} cases[] = {{"", "", NULL, 0}, {":threads=4", "", NULL, 4},
	        {":threads=65536", "", NULL, 65536}, {":config=tile=8", "", "tile=8", 0},
	        {":a=1,b=2", "a=1,b=2", NULL, 0},
	        {":a=1,threads=2,b=2,config=x,c=3", "a=1,b=2,c=3", "x", 2},
	        {":,a=1,,b=2,", "a=1,b=2", NULL, 0}, {":path=/x/y.so", "path=/x/y.so", NULL, 0},
	        {":config=x,config=y", "", "y", 0}, {":a=", "a=", NULL, 0}};
	struct rig *r = *state;
	char rest[100];

	compile(r, "a.so", 3);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(rest, sizeof rest, "a.so%s", cases[i].text);
		MUST(load(r, in_scratch(r, rest), &err));
		assert_string_equal(r->side.options, cases[i].options);
		assert_int_equal(r->side.threads, cases[i].threads);
		if (cases[i].config)
			assert_string_equal(r->side.config, cases[i].config);
		else
			assert_null(r->side.config);
		assert_string_equal(r->report.spec, in_scratch(r, rest));
	}
}

static void wrong_options_are_named(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {{":threads=0", "threads=0: expected a number from 1 to 65536"},
	        {":threads=65537", "threads=65537: expected"}, {":threads=", "threads=: expected"},
	        {":threads=2x", "threads=2x: expected"}, {":threads=-1", "threads=-1: expected"},
	        {":threads=99999999999999999999", "expected a number"},
	        {":a=1,nothing", "\"nothing\": expected KEY=VALUE"}};
	struct rig *r = *state;
	char rest[100];

	compile(r, "a.so", 3);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(rest, sizeof rest, "a.so%s", cases[i].text);
		MUST_FAIL(TK_EUSAGE, cases[i].message, load(r, in_scratch(r, rest), &err));
		MUST_FAIL(TK_EUSAGE, "--base=/", load(r, in_scratch(r, rest), &err));
	}
}

/* A folder may have a ":" and a "=" in its name: a file that exists is preferred. */
static void a_colon_may_belong_to_the_file(void **state)
{
	static const char *const folders[] = {"v:1", "a=b:c=d", "x:y=z"};
	struct rig *r = *state;
	char rest[100];

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(rest, sizeof rest, "%s/a.so", folders[i]);
		compile(r, rest, 3);
		MUST(load(r, in_scratch(r, rest), &err));
		assert_string_equal(r->side.file, in_scratch(r, rest));
		assert_string_equal(r->side.options, "");
		snprintf(rest, sizeof rest, "%s/a.so:k=v", folders[i]);
		MUST(load(r, in_scratch(r, rest), &err));
		assert_string_equal(r->side.options, "k=v");
	}
}

/* "lib:blas" is a backend that an upstream has built; its colon begins no options. */
static void the_backend_of_an_upstream_has_a_colon(void **state)
{
	struct rig *r = *state;

	MUST_FAIL(TK_EUSAGE, "unknown backend \"lib:blas\"", load(r, "lib:blas", &err));
	MUST_FAIL(TK_EUSAGE, "unknown backend \"lib:blas\"", load(r, "lib:blas:k=v", &err));
	MUST_FAIL(TK_EUSAGE, "\"blas\": expected KEY=VALUE", load(r, "other:blas", &err));
	MUST_FAIL(TK_EUSAGE, "unknown backend \"other\"", load(r, "other:k=v", &err));
}

static void files_that_are_no_backends(void **state)
{
	struct rig *r = *state;

	MUST_FAIL(TK_EUSAGE, "does not exist", load(r, in_scratch(r, "none.so"), &err));
	compile(r, "a.so", 3);
	world.query_status = TK_EDATA; /* the worker could not load it */
	MUST_FAIL(TK_EUSAGE, "no backend", load(r, in_scratch(r, "a.so"), &err));
	world.query_status = TK_ECANCELED;
	MUST_FAIL(TK_ECANCELED, "no backend", load(r, in_scratch(r, "a.so"), &err));
	world.query_status = 0;
	world.name = "No Name";
	MUST_FAIL(TK_EUSAGE, "not a backend's name", load(r, in_scratch(r, "a.so"), &err));
}

/* ---- a file that is replaced meanwhile ---- */

static void a_replaced_file_is_noticed(void **state)
{
	struct rig *r = *state;

	compile(r, "a.so", 3);
	MUST(load(r, in_scratch(r, "a.so"), &err));
	MUST(tk_ab_side_check_file(&r->side, &err));
	sh(r->s, "cp a.so same && mv same a.so"); /* built again, with the same result */
	MUST(tk_ab_side_check_file(&r->side, &err));
	MUST(tk_ab_side_check_file(&r->side, &err));
	sh(r->s, "touch -d 2001-01-01 a.so");
	MUST(tk_ab_side_check_file(&r->side, &err));
	sh(r->s, "touch -r a.so stamp");
	compile(r, "a.so", 5);
	sh(r->s, "touch -r stamp a.so"); /* its time of change says nothing */
	MUST_FAIL(TK_EDATA, "was replaced while it was measured",
	        tk_ab_side_check_file(&r->side, &err));
	compile(r, "a.so", 3);
	MUST(tk_ab_side_check_file(&r->side, &err)); /* it is back */
	sh(r->s, "rm a.so");
	MUST_FAIL(TK_EDATA, "a.so was replaced", tk_ab_side_check_file(&r->side, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(an_upstream_must_have_revisions),
	        TEST(a_revision_is_named_as_in_git),
	        TEST(an_unknown_revision_is_wrong_usage),
	        TEST(a_work_tree_is_taken_as_it_is),
	        TEST(a_folder_is_one_by_its_first_characters),
	        TEST(some_upstreams_have_no_work_tree),
	        TEST(a_side_knows_its_build),
	        TEST(a_work_tree_is_built_from_its_snapshot),
	        TEST(failures_of_a_build_name_the_side),
	        TEST(a_shared_object_is_a_side),
	        TEST(options_follow_a_colon),
	        TEST(wrong_options_are_named),
	        TEST(a_colon_may_belong_to_the_file),
	        TEST(the_backend_of_an_upstream_has_a_colon),
	        TEST(files_that_are_no_backends),
	        TEST(a_replaced_file_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
