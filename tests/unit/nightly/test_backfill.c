/* Past revisions of an upstream as nights of their own. Repository and history are real ones; a
 * night stores what it would, and builds answer as the test says. */
#include "../store/history.h"
#include "../upstream/scratch.h"
#include "build/build.h"
#include "config/config.h"
#include "nightly/nightly.h"
#include "nightly/stages/recipe.h"

#include <math.h>

#define COMMITS 6
#define FIRST_S INT64_C(1700000000)

struct night_of {
	char upstream[32], rev[64];
	int64_t as_of_s;
	bool publishes;
};

static struct {
	struct history *h;
	char revs[COMMITS][64]; /* the oldest first */
	struct night_of nights[32];
	size_t count;
	int status; /* of the night with this number, from 1 on */
	size_t fails_at;
	enum tk_night_status night_status;
	const char *summary; /* of nights */
	bool is_unfinished, has_no_build;
	const char *codes[COMMITS]; /* of their builds; NULL: they do not build */
	size_t builds;
	int build_status, adapter_status, export_status;
	struct tk_night_report report; /* of each night */
	char exported[1200], arch[32];
} world;

static size_t commit_number(const char *rev)
{
	for (size_t i = 0; i < COMMITS; i++)
		if (strcmp(world.revs[i], rev) == 0)
			return i;
	fail_msg("no commit %s", rev);
	return 0;
}

/* ---- in place of nights and builds ---- */

int __wrap_tk_night_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, struct tk_night_report *report,
        struct tk_error *err);
int __wrap_tk_recipe_check_adapter(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_error *err);
int __wrap_tk_recipe_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, struct tk_artifact **out, struct tk_error *err);
int __wrap_tk_artifact_export(const char *cache_dir, const char *const *keys, size_t count,
        const char *file, struct tk_error *err);

/* A night of a machine that resolved a revision, and built it. */
static void put_night(int64_t machine, const char *upstream, const char *rev, int64_t as_of_s)
{
	const struct tk_night_row night = {.machine_id = machine,
	        .kind = TK_NIGHT_BACKFILL,
	        .as_of_s = as_of_s,
	        .started_s = as_of_s,
	        .status = TK_NIGHT_RUNNING,
	        .config_hash = "",
	        .tracker_version = "",
	        .summary = "{}"};
	const struct tk_upstream_row u = {.name = upstream, .kind = "git", .url = ""};
	struct tk_resolution_row r = {.message = ""};

	MUST(tk_store_put_upstream(world.h->store, &u, &r.upstream_id, &err));
	const int64_t build =
	        history_put_build_of(world.h, r.upstream_id, rev, rev, &r.revision_id);

	r.build_id = world.has_no_build ? 0 : build;
	MUST(tk_store_begin_night(world.h->store, &night, &r.night_id, &err));
	MUST(tk_store_put_resolution(world.h->store, &r, &err));
	if (!world.is_unfinished)
		MUST(tk_store_finish_night(world.h->store, r.night_id, world.night_status,
		        world.summary, as_of_s + 1, &err));
}

int __wrap_tk_night_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *o, struct tk_night_report *report, struct tk_error *err)
{
	struct night_of *n = &world.nights[world.count++];

	snprintf(n->upstream, sizeof n->upstream, "%s", o->only_upstream);
	snprintf(n->rev, sizeof n->rev, "%s", o->backfill_revision);
	n->as_of_s = o->backfill_as_of_s;
	n->publishes = o->publisher != NULL;
	*report = world.report;
	report->night_id = (int64_t)world.count;
	report->by_status[TK_VERDICT_SAME] = world.count;
	if (world.fails_at == world.count)
		return tk_fail(err, world.status, "the night failed");
	put_night(world.h->machine, o->only_upstream, o->backfill_revision, o->backfill_as_of_s);
	return 0;
}

int __wrap_tk_recipe_check_adapter(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_error *err)
{
	return world.adapter_status ? tk_fail(err, world.adapter_status, "no adapter") : 0;
}

int __wrap_tk_recipe_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, struct tk_artifact **out, struct tk_error *err)
{
	const size_t number = commit_number(revision);
	const char *code = world.codes[number];

	world.builds++;
	snprintf(world.arch, sizeof world.arch, "%s", arch ? arch : "-");
	if (world.build_status)
		return tk_fail(err, world.build_status, "cannot build");
	struct tk_artifact *a = calloc(1, sizeof *a);
	assert_non_null(a);
	a->status = code ? TK_BUILD_OK : TK_BUILD_FAILED;
	a->cached = number % 2;
	a->message = strdup("");
	a->log_path = strdup("log");
	memset(a->key, (int)('a' + number), TK_HASH_HEX_SIZE - 1);
	if (code) {
		a->backends = calloc(1, sizeof *a->backends);
		assert_non_null(a->backends);
		a->backend_count = 1;
		strcpy(a->backends[0].name, "blas");
		snprintf(a->backends[0].code_hash, sizeof a->backends[0].code_hash, "%s", code);
	}
	*out = a;
	return 0;
}

int __wrap_tk_artifact_export(const char *cache_dir, const char *const *keys, size_t count,
        const char *file, struct tk_error *err)
{
	for (size_t i = 0; i < count; i++) {
		const char digit[] = {keys[i][0], 0};
		strcat(world.exported, digit);
	}
	return world.export_status ? tk_fail(err, world.export_status, "no space") : 0;
}

/* ---- a repository of six commits, a day apart ---- */

static char blas_name[] = "blas", system_name[] = "system", box[] = "box";

struct rig {
	struct scratch *s;
	struct history h;
	char url[300];
	struct tk_upstream_config upstreams[2];
	struct tk_config config;
	struct tk_night_options options;
	struct tk_night_publisher publisher;
	struct tk_backfill_options backfill;
	struct tk_night_report report;
};

static void make_repository(struct rig *r, int64_t apart_s)
{
	char stream[400];
	FILE *out;

	snprintf(stream, sizeof stream, "%s/stream", r->s->dir);
	out = fopen(stream, "w");
	assert_non_null(out);
	for (int i = 0; i < COMMITS; i++)
		fprintf(out,
		        "commit refs/heads/main\ncommitter A <a@example.invalid> %lld +0000\n"
		        "data <<END\nchange %d\nEND\nM 100644 inline file\n"
		        "data <<END\n%d\nEND\n\n",
		        (long long)(FIRST_S + i * apart_s), i, i);
	fclose(out);
	sh(r->s, "rm -rf up cache && git init -q up && git -C up fast-import --quiet <stream");
	snprintf(stream, sizeof stream, "git -C '%s' rev-list --reverse main", r->url);
	out = popen(stream, "r");
	assert_non_null(out);
	for (size_t i = 0; i < COMMITS; i++)
		assert_int_equal(fscanf(out, "%63s", world.revs[i]), 1);
	pclose(out);
}

static int setup(void **state)
{
	static const char *const codes[COMMITS] = {"0", "1", "2", "3", "4", "5"};
	struct rig *r = calloc(1, sizeof *r);
	void *scratch;

	assert_non_null(r);
	memset(&world, 0, sizeof world);
	assert_int_equal(scratch_open(&scratch), 0);
	r->s = scratch;
	history_new(&r->h);
	history_fill(&r->h);
	world.h = &r->h;
	world.night_status = TK_NIGHT_COMPLETE;
	world.summary = "{}";
	world.report.complete = true;
	memcpy(world.codes, codes, sizeof codes);
	snprintf(r->url, sizeof r->url, "%s/up", r->s->dir);
	r->upstreams[0] = (struct tk_upstream_config){
	        .name = blas_name, .kind = TK_UPSTREAM_GIT, .url = r->url, .enabled = true};
	r->upstreams[1] =
	        (struct tk_upstream_config){.name = system_name, .kind = TK_UPSTREAM_SYSTEM};
	r->config = (struct tk_config){.machine = box,
	        .root = r->s->dir,
	        .cache_dir = r->s->cache,
	        .upstreams = r->upstreams,
	        .upstream_count = 2};
	r->config.budgets.fetch_s = 60;
	r->options.publisher = &r->publisher;
	r->backfill.upstream = "blas";
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;
	void *scratch = r->s;

	history_free(&r->h);
	free(r);
	return scratch_close(&scratch);
}

static int backfill(struct rig *r, struct tk_error *err)
{
	world.count = 0;
	return tk_backfill_run(&r->config, r->h.store, &r->options, &r->backfill, &r->report, err);
}

/* The numbers of the commits of the nights, in their order; "!": it publishes. */
static void expect_nights(struct rig *r, const char *expected)
{
	char text[200] = "";

	MUST(backfill(r, &err));
	for (size_t i = 0; i < world.count; i++) {
		assert_string_equal(world.nights[i].upstream, "blas");
		sprintf(text + strlen(text), "%zu%s", commit_number(world.nights[i].rev),
		        world.nights[i].publishes ? "!" : "");
	}
	assert_string_equal(text, expected);
	assert_int_equal(r->report.nights, world.count);
}

static void forget_nights(struct rig *r)
{
	history_run_sql(&r->h, "DELETE FROM resolution; DELETE FROM night");
}

/* ---- which revisions ---- */

/* Each at the time of its commit; the site is written once, after the last one. */
static void revisions_are_measured_oldest_first(void **state)
{
	struct rig *r = *state;

	make_repository(r, 86400);
	expect_nights(r, "012345!");
	for (size_t i = 0; i < COMMITS; i++)
		assert_int_equal(world.nights[i].as_of_s, FIRST_S + (int64_t)i * 86400);
	assert_int_equal(world.builds, 0); /* the nights build them */
	expect_nights(r, "");              /* all are measured */
}

static void commits_of_one_second_keep_their_order(void **state)
{
	struct rig *r = *state;

	make_repository(r, 0);
	expect_nights(r, "012345!");
	for (size_t i = 0; i < COMMITS; i++)
		assert_int_equal(world.nights[i].as_of_s, FIRST_S + (int64_t)i);
}

static void some_of_the_revisions_are_chosen(void **state)
{
	struct rig *r = *state;
	static const struct {
		size_t commits, every;
		int64_t since_s;
		const char *nights;
	} cases[] = {{2, 0, 0, "45!"}, {2, 1, 0, "45!"}, {0, 2, 0, "135!"}, {2, 3, 0, "25!"},
	        {0, 0, FIRST_S + 3 * 86400, "345!"}, {1, 0, FIRST_S + 3 * 86400, "5!"},
	        {0, 0, FIRST_S + 10 * 86400, ""}};

	make_repository(r, 86400);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		forget_nights(r);
		r->backfill.commits = cases[i].commits;
		r->backfill.every = cases[i].every;
		r->backfill.since_s = cases[i].since_s;
		expect_nights(r, cases[i].nights);
	}
}

/* ---- revisions measured before ---- */

static void a_stopped_backfill_goes_on(void **state)
{
	struct rig *r = *state;

	make_repository(r, 86400);
	world.fails_at = 3;
	world.status = TK_ECANCELED;
	MUST_FAIL(TK_ECANCELED, "the night failed", backfill(r, &err));
	assert_int_equal(world.count, 3);
	world.fails_at = 0;
	expect_nights(r, "2345!");
}

/* The last one that is left publishes, whatever comes after it. */
static void the_last_night_publishes(void **state)
{
	struct rig *r = *state;

	make_repository(r, 86400);
	put_night(r->h.machine, "blas", world.revs[5], FIRST_S);
	put_night(r->h.machine, "blas", world.revs[1], FIRST_S);
	expect_nights(r, "0234!");
}

/* What does not count as measured: another machine's, failed, abandoned and unfinished nights, and
 * nights without a build. */
static void only_finished_nights_of_this_machine_count(void **state)
{
	struct rig *r = *state;
	const struct tk_machine_row other = {.name = "other", .attributes = "{}"};
	int64_t machine;

	make_repository(r, 86400);
	r->backfill.commits = 1;
	MUST(tk_store_put_machine(r->h.store, &other, &machine, &err));
	put_night(machine, "blas", world.revs[5], FIRST_S);
	expect_nights(r, "5!");
	forget_nights(r);
	world.night_status = TK_NIGHT_FAILED;
	expect_nights(r, "5!");
	world.night_status = TK_NIGHT_INCOMPLETE;
	world.summary = "{\"abandoned\":true}";
	expect_nights(r, "5!");
	world.is_unfinished = true;
	expect_nights(r, "5!");
	world.is_unfinished = false;
	world.has_no_build = true;
	world.summary = "{}";
	expect_nights(r, "5!");
	world.has_no_build = false;
	world.summary = "no JSON";
	expect_nights(r, "5!"); /* incomplete, but it measured what it could */
	expect_nights(r, "");
}

/* Versions of packages are short: another upstream's "1.0" is not this one's. */
static void a_revision_of_another_upstream_does_not_count(void **state)
{
	struct rig *r = *state;

	make_repository(r, 86400);
	r->backfill.commits = 1;
	put_night(r->h.machine, "other", world.revs[5], FIRST_S);
	expect_nights(r, "5!");
	expect_nights(r, "");
}

static void a_machine_without_nights_measures_all(void **state)
{
	static char unknown[] = "new-box";
	struct rig *r = *state;

	make_repository(r, 86400);
	r->config.machine = unknown;
	put_night(r->h.machine, "blas", world.revs[5], FIRST_S);
	expect_nights(r, "012345!");
}

/* ---- revisions with the machine code of the one before ---- */

static void set_codes(const char *const codes[COMMITS])
{
	memcpy(world.codes, codes, sizeof world.codes);
}

/* Of each run of equal code the first one, without those that do not build. */
static void equal_code_is_measured_once(void **state)
{
	static const struct {
		const char *codes[COMMITS];
		const char *nights;
		size_t same;
	} cases[] = {{{"a", "b", "c", "d", "e", "f"}, "012345!", 0},
	        {{"a", "a", "a", "a", "a", "a"}, "0!", 5},
	        {{"a", "a", "b", "b", "a", "a"}, "024!", 3},
	        {{"a", NULL, "a", "b", NULL, "b"}, "0134!", 2},
	        {{NULL, NULL, "a", "a", "a", "b"}, "0125!", 2},
	        {{NULL, NULL, NULL, NULL, NULL, NULL}, "012345!", 0}};
	struct rig *r = *state;

	make_repository(r, 86400);
	r->backfill.changed_code = true;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		forget_nights(r);
		set_codes(cases[i].codes);
		world.builds = 0;
		expect_nights(r, cases[i].nights);
		assert_int_equal(r->report.same_code, cases[i].same);
		assert_int_equal(world.builds, COMMITS);
	}
}

/* A revision that was measured is not measured again, and its code is known. */
static void measured_code_is_not_measured_again(void **state)
{
	static const char *const codes[COMMITS] = {"a", "a", "b", "b", "c", "c"};
	struct rig *r = *state;

	make_repository(r, 86400);
	set_codes(codes);
	r->backfill.changed_code = true;
	put_night(r->h.machine, "blas", world.revs[0], FIRST_S);
	put_night(r->h.machine, "blas", world.revs[3], FIRST_S);
	expect_nights(r, "24!");
	assert_int_equal(r->report.same_code, 2); /* 1 and 5; 3 was measured */
}

static void a_build_that_cannot_start_ends_the_choice(void **state)
{
	struct rig *r = *state;

	make_repository(r, 86400);
	r->backfill.changed_code = true;
	world.build_status = TK_ENOSPC;
	MUST_FAIL(TK_ENOSPC, "cannot build", backfill(r, &err));
	assert_int_equal(world.count, 0);
}

/* ---- the sum ---- */

static void counts_are_added_and_verdicts_are_the_last_ones(void **state)
{
	struct rig *r = *state;

	make_repository(r, 86400);
	world.report = (struct tk_night_report){.builds = 1,
	        .builds_failed = 2,
	        .builds_cached = 3,
	        .upstreams_unreachable = 4,
	        .jobs = 5,
	        .measured = 6,
	        .verified = 7,
	        .wrong = 8,
	        .implausible = 9,
	        .failed = 10,
	        .unsupported = 11,
	        .skipped = 12,
	        .stages_failed = 13,
	        .unstable = 14,
	        .complete = true,
	        .uid = "u",
	        .site_index = "index.html"};
	expect_nights(r, "012345!");
	const size_t sums[] = {r->report.builds, r->report.builds_failed, r->report.builds_cached,
	        r->report.upstreams_unreachable, r->report.jobs, r->report.measured,
	        r->report.verified, r->report.wrong, r->report.implausible, r->report.failed,
	        r->report.unsupported, r->report.skipped, r->report.stages_failed,
	        r->report.unstable};
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
		assert_int_equal(sums[i], COMMITS * (i + 1));
	assert_int_equal(r->report.by_status[TK_VERDICT_SAME], COMMITS);
	assert_int_equal(r->report.night_id, COMMITS);
	assert_string_equal(r->report.uid, "u");
	assert_string_equal(r->report.site_index, "index.html");
	assert_true(r->report.complete);
}

static void one_incomplete_night_makes_it_incomplete(void **state)
{
	struct rig *r = *state;

	make_repository(r, 86400);
	world.report.complete = false;
	expect_nights(r, "012345!");
	assert_false(r->report.complete);
	expect_nights(r, "");
	assert_true(r->report.complete); /* nothing was left to do */
}

/* ---- what is refused ---- */

static void other_upstreams_have_no_past(void **state)
{
	struct rig *r = *state;

	make_repository(r, 86400);
	r->backfill.upstream = "blsa";
	MUST_FAIL(TK_EUSAGE, "did you mean \"blas\"", backfill(r, &err));
	r->backfill.upstream = "system";
	MUST_FAIL(TK_EUSAGE, "has no past revisions", backfill(r, &err));
	r->backfill.upstream = "blas";
	world.adapter_status = TK_ENOTFOUND;
	MUST_FAIL(TK_ENOTFOUND, "blas: no adapter", backfill(r, &err));
	world.adapter_status = 0;
	sh(r->s, "rm -rf up cache");
	struct tk_error failure = {0};
	assert_int_not_equal(backfill(r, &failure), 0);
	assert_int_equal(world.count, 0);
}

/* ---- builds for another machine ---- */

static struct tk_backfill_build_report build_all(struct rig *r)
{
	struct tk_backfill_build_report out;

	world.exported[0] = 0;
	world.builds = 0;
	MUST(tk_backfill_export(&r->config, &r->backfill, "out.tar.zst", &out, &err));
	return out;
}

/* All that build, the oldest first; nothing is measured. */
static void builds_are_packed_for_another_machine(void **state)
{
	struct rig *r = *state;
	struct tk_backfill_build_report out;

	make_repository(r, 86400);
	r->backfill.arch = "sm_90a";
	world.codes[2] = NULL;
	out = build_all(r);
	assert_string_equal(world.exported, "abdef");
	assert_string_equal(world.arch, "sm_90a");
	assert_int_equal(out.revisions, 6);
	assert_int_equal(out.built, 5);
	assert_int_equal(out.cached, 3);
	assert_int_equal(out.failed, 1);
	assert_int_equal(world.count, 0);
	r->backfill = (struct tk_backfill_options){.upstream = "blas", .commits = 2};
	assert_int_equal(build_all(r).revisions, 2);
	assert_string_equal(world.exported, "ef");
	assert_string_equal(world.arch, "-");
}

static void failures_of_packing(void **state)
{
	static const char *const none[COMMITS] = {NULL};
	struct tk_backfill_build_report out;
	struct rig *r = *state;

	make_repository(r, 86400);
	world.export_status = TK_ENOSPC;
	MUST_FAIL(TK_ENOSPC, "no space",
	        tk_backfill_export(&r->config, &r->backfill, "out", &out, &err));
	world.build_status = TK_ECANCELED;
	world.builds = 0;
	MUST_FAIL(TK_ECANCELED, "cannot build",
	        tk_backfill_export(&r->config, &r->backfill, "out", &out, &err));
	assert_int_equal(world.builds, 1);
	world.build_status = 0;
	set_codes(none);
	MUST_FAIL(TK_ENOTFOUND, "none of 6 revisions of blas could be built",
	        tk_backfill_export(&r->config, &r->backfill, "out", &out, &err));
	assert_int_equal(out.failed, 6);
	r->backfill.upstream = "nobody";
	MUST_FAIL(TK_EUSAGE, "unknown upstream",
	        tk_backfill_export(&r->config, &r->backfill, "out", &out, &err));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(revisions_are_measured_oldest_first),
	        TEST(commits_of_one_second_keep_their_order),
	        TEST(some_of_the_revisions_are_chosen),
	        TEST(a_stopped_backfill_goes_on),
	        TEST(the_last_night_publishes),
	        TEST(only_finished_nights_of_this_machine_count),
	        TEST(a_revision_of_another_upstream_does_not_count),
	        TEST(a_machine_without_nights_measures_all),
	        TEST(equal_code_is_measured_once),
	        TEST(measured_code_is_not_measured_again),
	        TEST(a_build_that_cannot_start_ends_the_choice),
	        TEST(counts_are_added_and_verdicts_are_the_last_ones),
	        TEST(one_incomplete_night_makes_it_incomplete),
	        TEST(other_upstreams_have_no_past),
	        TEST(builds_are_packed_for_another_machine),
	        TEST(failures_of_packing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
