/* A night whose repositories, builds and notifications answer as the test says; the history is a
 * real one. A test links with --wrap of the functions below that begin with __wrap_. */
#ifndef TK_TEST_STAGES_RIG_H
#define TK_TEST_STAGES_RIG_H
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

/* What the world around a night answers, and the requests that it got. */
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

static char lib_name[] = "lib", other_name[] = "other", off_name[] = "off", url[] = "u";

struct rig {
	struct history h;
	struct tk_config config;
	struct tk_upstream_config upstreams[3];
	struct tk_night_options options;
	struct tk_night_report report;
	struct tk_modules modules; /* none */
	struct tk_night night;
};

static inline int setup(void **state)
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

static inline void free_upstreams(struct rig *r)
{
	for (size_t i = 0; i < r->night.upstream_count; i++)
		for (size_t k = 0; k < r->night.upstreams[i].artifact_count; k++)
			tk_artifact_free(r->night.upstreams[i].artifacts[k]);
	free(r->night.upstreams);
	r->night.upstreams = NULL;
	r->night.upstream_count = 0;
}

static inline int teardown(void **state)
{
	struct rig *r = *state;

	free_upstreams(r);
	history_free(&r->h);
	free(r);
	return 0;
}

static inline void resolve(struct rig *r)
{
	free_upstreams(r);
	MUST(tk_night_resolve(&r->night, &err));
}

/* The next night of the machine. */
static inline void next_night(struct rig *r, enum tk_night_kind kind)
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
static inline void expect_upstreams(const struct rig *r, const char *expected)
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
