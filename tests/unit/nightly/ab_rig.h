/* An upstream whose commits have times that the test says: builds and A/B pairs of them take no
 * process. The history is a real one. A test links with --wrap of the functions below that begin
 * with __wrap_. */
#ifndef TK_TEST_AB_RIG_H
#define TK_TEST_AB_RIG_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../store/history.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/rng.h"
#include "detect/rules/ab_result.h"
#include "nightly/bisect/bisect.h"
#include "nightly/confirm/ab_test.h"
#include "nightly/night.h"
#include "nightly/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMITS_MAX 40
#define PAIR_S 10 /* what a pair takes of the budget */

struct commit {
	double ns;        /* of a run; NAN: it has no timing */
	int build_status; /* of a build that cannot even be tried; 0: none */
	bool is_broken;   /* it does not build */
	bool lacks_backend;
	const char *code; /* hash of its machine code; NULL: not known */
	int64_t build_id;
	int requests; /* for its build */
};

static struct {
	struct commit commits[COMMITS_MAX]; /* the oldest first */
	size_t count;
	size_t merged;   /* this one is not in the first-parent history; 0: all are */
	double noise;    /* of a run, a ratio */
	int pair_status; /* the next pair fails with it */
	int adapter_status;
	uint64_t random;
	int64_t now_ns;
	size_t stored; /* pairs of each test that an earlier part of it measured */
	size_t pairs, open_tests, open_sessions, detections;
	int64_t order[512];             /* series of each pair */
	int64_t last_night_id;          /* that the last test stores its pairs with */
	enum tk_better better;          /* of all series */
	const struct tk_diff_row *rows; /* what the analysis of the night says */
	size_t row_count;
	struct history *h;
	struct tk_night *night; /* of a session */
} ab_world;

static inline size_t commit_number(const char *id)
{
	const size_t number = *id == 'c' ? strtoul(id + 1, NULL, 10) : COMMITS_MAX;

	return number < ab_world.count ? number : COMMITS_MAX;
}

static inline struct tk_revision commit_revision(size_t number)
{
	struct tk_revision r = {.position = (int64_t)number + 1,
	        .commit_time_s = 1000 * (int64_t)number,
	        .author_time_s = 1000 * (int64_t)number + 7};

	snprintf(r.id, sizeof r.id, "c%02zu", number);
	snprintf(r.subject, sizeof r.subject, "change %zu", number);
	snprintf(r.author, sizeof r.author, "author %zu", number);
	return r;
}

static inline struct commit *commit_of_build(int64_t build_id)
{
	for (size_t i = 0; i < ab_world.count; i++)
		if (ab_world.commits[i].build_id == build_id)
			return &ab_world.commits[i];
	return NULL;
}

/* ---- in place of repositories, builds, clocks and workers ---- */

int __wrap_tk_recipe_check_adapter(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_error *err);
int __wrap_tk_repo_find_revision(
        const struct tk_repo *s, const char *rev, struct tk_revision *out, struct tk_error *err);
int __wrap_tk_repo_list_revisions(const struct tk_repo *s, size_t limit, size_t every,
        int64_t since_s, struct tk_revision **out, size_t *count, struct tk_error *err);
int __wrap_tk_night_build_revision(struct tk_night *n, const struct tk_upstream_config *u,
        const struct tk_revision *r, struct tk_revision_build *out, struct tk_error *err);
int __wrap_tk_ab_test_open(struct tk_night *n, const struct tk_ab_test_spec *spec,
        struct tk_ab_test *t, struct tk_error *err);
int __wrap_tk_ab_test_run_pair(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err);
void __wrap_tk_ab_test_close(struct tk_ab_test *t);
int64_t __wrap_tk_clock_monotonic_ns(void);
int __wrap_tk_session_open(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err);
void __wrap_tk_session_close(struct tk_session *s);
int __wrap_tk_night_rerun_detection(
        struct tk_night *n, int64_t night_id, struct tk_diff_report *report, struct tk_error *err);
int __wrap_tk_night_detect(struct tk_night *n, struct tk_error *err);
int __wrap_tk_detect_preview(struct tk_store *s, int64_t night_id,
        const struct tk_detect_options *options, struct tk_diff_report *report,
        struct tk_error *err);

int __wrap_tk_recipe_check_adapter(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_error *err)
{
	return ab_world.adapter_status ? tk_fail(err, ab_world.adapter_status, "no adapter") : 0;
}

int __wrap_tk_repo_find_revision(
        const struct tk_repo *s, const char *rev, struct tk_revision *out, struct tk_error *err)
{
	const size_t number = commit_number(rev);

	if (number == COMMITS_MAX)
		return tk_fail(err, TK_ENOTFOUND, "no revision %s", rev);
	*out = commit_revision(number);
	return 0;
}

int __wrap_tk_repo_list_revisions(const struct tk_repo *s, size_t limit, size_t every,
        int64_t since_s, struct tk_revision **out, size_t *count, struct tk_error *err)
{
	*out = calloc(ab_world.count, sizeof **out);
	assert_non_null(*out);
	*count = 0;
	for (size_t i = ab_world.count; i-- > 0;)
		if (!ab_world.merged || i != ab_world.merged)
			(*out)[(*count)++] = commit_revision(i);
	return 0;
}

static inline void put_commit_build(struct commit *c, const struct tk_revision *r)
{
	struct tk_revision_row revision = {.upstream_id = ab_world.h->upstream,
	        .rev = r->id,
	        .parent = "",
	        .author = r->author,
	        .subject = r->subject};
	struct tk_build_row build = {.artifact_key = r->id,
	        .adapter = "",
	        .toolchain = "",
	        .flags = "",
	        .arch = "",
	        .status = TK_BUILD_OK,
	        .message = "",
	        .log = ""};
	int64_t id;

	MUST(tk_store_put_revision(ab_world.h->store, &revision, &build.revision_id, &err));
	MUST(tk_store_put_build(ab_world.h->store, &build, &c->build_id, &err));
	if (!c->code)
		return;
	const struct tk_kernel_row kernel = {.build_id = c->build_id,
	        .backend = "blas",
	        .name = "",
	        .code_hash = c->code,
	        .instructions = ""};
	MUST(tk_store_put_kernel(ab_world.h->store, &kernel, &id, &err));
}

int __wrap_tk_night_build_revision(struct tk_night *n, const struct tk_upstream_config *u,
        const struct tk_revision *r, struct tk_revision_build *out, struct tk_error *err)
{
	struct commit *c = &ab_world.commits[commit_number(r->id)];

	c->requests++;
	*out = (struct tk_revision_build){0};
	if (c->build_status)
		return tk_fail(err, c->build_status, "cannot try %s", r->id);
	put_commit_build(c, r);
	out->build_id = c->build_id;
	out->ok = !c->is_broken;
	if (c->is_broken)
		strcpy(out->message, "error: broken");
	return 0;
}

static inline double measured_ns(const struct commit *c)
{
	ab_world.random = tk_splitmix64(ab_world.random);
	return c->ns * (1 + ab_world.noise * ((double)(ab_world.random >> 11) * 0x1p-53 - 0.5) * 2);
}

static inline void append_pair(struct tk_ab_test *t)
{
	const struct commit *good = commit_of_build(t->good.build_id),
	                    *bad = commit_of_build(t->bad.build_id);

	assert_non_null(good);
	assert_non_null(bad);
	assert_true(t->count < t->cap);
	struct tk_ab_pair_row *row = &t->rows[t->count++];
	*row = (struct tk_ab_pair_row){
	        .wall_s = PAIR_S, .good_median = measured_ns(good), .bad_median = measured_ns(bad)};
	row->good_min = row->good_median * 0.99;
	row->bad_min = row->bad_median * 0.99;
	const bool timed = tk_ab_pair_is_timed(row);
	t->timed += timed;
	t->failed_in_a_row = timed ? 0 : t->failed_in_a_row + 1;
}

int __wrap_tk_ab_test_open(struct tk_night *n, const struct tk_ab_test_spec *spec,
        struct tk_ab_test *t, struct tk_error *err)
{
	*t = (struct tk_ab_test){.night_id = spec->night_id,
	        .good = {.build_id = spec->good_build_id},
	        .bad = {.build_id = spec->bad_build_id}};
	ab_world.last_night_id = spec->night_id;
	t->series.id = spec->series_id;
	t->series.better = ab_world.better;
	const struct commit *bad = commit_of_build(spec->bad_build_id);
	if (bad && bad->lacks_backend)
		return tk_fail(err, TK_ENOTFOUND, "build has no backend blas");
	t->cap = TK_AB_PAIRS_MAX + 8;
	t->rows = calloc(t->cap, sizeof *t->rows);
	assert_non_null(t->rows);
	ab_world.open_tests++;
	for (size_t i = 0; i < ab_world.stored; i++)
		append_pair(t);
	t->failed_in_a_row = 0;
	return 0;
}

int __wrap_tk_ab_test_run_pair(struct tk_night *n, struct tk_ab_test *t, struct tk_error *err)
{
	if (ab_world.pair_status)
		return tk_fail(err, ab_world.pair_status, "no worker");
	append_pair(t);
	t->wall_s += PAIR_S;
	ab_world.order[ab_world.pairs++ % 512] = t->series.id;
	ab_world.now_ns += PAIR_S * INT64_C(1000000000);
	return 0;
}

void __wrap_tk_ab_test_close(struct tk_ab_test *t)
{
	ab_world.open_tests -= t->rows != NULL;
	free(t->rows);
	*t = (struct tk_ab_test){0};
}

int64_t __wrap_tk_clock_monotonic_ns(void)
{
	return ab_world.now_ns;
}

int __wrap_tk_session_open(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err)
{
	*s = (struct tk_session){.night = *ab_world.night};
	ab_world.open_sessions++;
	return 0;
}

void __wrap_tk_session_close(struct tk_session *s)
{
	*s = (struct tk_session){0};
	ab_world.open_sessions--;
}

int __wrap_tk_night_rerun_detection(
        struct tk_night *n, int64_t night_id, struct tk_diff_report *report, struct tk_error *err)
{
	ab_world.detections++;
	return __wrap_tk_detect_preview(n->store, night_id, NULL, report, err);
}

int __wrap_tk_night_detect(struct tk_night *n, struct tk_error *err)
{
	ab_world.detections++;
	return 0;
}

int __wrap_tk_detect_preview(struct tk_store *s, int64_t night_id,
        const struct tk_detect_options *options, struct tk_diff_report *report,
        struct tk_error *err)
{
	*report = (struct tk_diff_report){.count = ab_world.row_count};
	report->rows = calloc(ab_world.row_count + 1, sizeof *report->rows);
	assert_non_null(report->rows);
	if (ab_world.row_count)
		memcpy(report->rows, ab_world.rows, ab_world.row_count * sizeof *report->rows);
	return 0;
}

/* ---- a night ---- */

static char blas_name[] = "blas", blas_url[] = "u";

struct ab_rig {
	struct history h;
	struct tk_config config;
	struct tk_upstream_config upstream;
	struct tk_night_options options;
	struct tk_night_report report;
	struct tk_night night;
};

/* `count` commits; those from `step` on take `change` more time. */
static inline void make_commits(size_t count, size_t step, double change)
{
	memset(ab_world.commits, 0, sizeof ab_world.commits);
	ab_world.count = count;
	ab_world.pairs = 0;
	for (size_t i = 0; i < count; i++)
		ab_world.commits[i].ns = i < step ? 1000 : 1000 * (1 + change);
}

/* Builds them all, as a night before would have. */
static inline void build_commits(void)
{
	for (size_t i = 0; i < ab_world.count; i++) {
		const struct tk_revision revision = commit_revision(i);
		put_commit_build(&ab_world.commits[i], &revision);
	}
}

static inline int ab_set_up(void **state)
{
	struct ab_rig *r = calloc(1, sizeof *r);
	int64_t id;

	assert_non_null(r);
	memset(&ab_world, 0, sizeof ab_world);
	history_new(&r->h);
	history_fill(&r->h);
	MUST(history_put_run(&r->h, 0, 1000, 3, &id, &err));
	r->upstream = (struct tk_upstream_config){
	        .name = blas_name, .kind = TK_UPSTREAM_GIT, .url = blas_url, .enabled = true};
	r->config = (struct tk_config){.root = r->h.dir, .upstreams = &r->upstream};
	r->config.upstream_count = 1;
	r->config.thresholds.min_effect = 0.01;
	r->night = (struct tk_night){.config = &r->config,
	        .store = r->h.store,
	        .options = &r->options,
	        .report = &r->report,
	        .night_id = r->h.night};
	ab_world.h = &r->h;
	ab_world.night = &r->night;
	ab_world.noise = 0.002;
	ab_world.better = TK_BETTER_LOWER;
	ab_world.now_ns = 1;
	*state = r;
	return 0;
}

static inline int ab_tear_down(void **state)
{
	struct ab_rig *r = *state;

	assert_int_equal(ab_world.open_tests, 0);
	assert_int_equal(ab_world.open_sessions, 0);
	history_free(&r->h);
	free(r);
	return 0;
}

#define AB_TEST(f) cmocka_unit_test_setup_teardown(f, ab_set_up, ab_tear_down)

#endif
