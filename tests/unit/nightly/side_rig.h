/* A session whose upstream is a real repository; workers and adapters answer as the test says. A
 * test links with --wrap of the functions below that begin with __wrap_. */
#ifndef TK_TEST_SIDE_RIG_H
#define TK_TEST_SIDE_RIG_H
#include "../store/history.h"
#include "../upstream/scratch.h"
#include "base/file.h"
#include "nightly/ab/revisions.h"
#include "nightly/ab/side.h"
#include "nightly/session.h"
#include "nightly/stages/recipe.h"
#include "worker/worker.h"

#include <math.h>

static struct {
	int adapter_status, build_status, worker_status, query_status, session_status;
	const char *kind, *name; /* of a backend, as it reports them */
	enum tk_build_status artifact_status;
	bool is_cached;
	const char *backends[3]; /* of a build */
	size_t builds, workers, queries, sessions;
	char built[200]; /* the revision that was built last */
	struct tk_upstream_config source;
	char url[300], adapter[32];
	struct tk_night_device device;
} world;

/* ---- in place of workers, adapters and sessions ---- */

int __wrap_tk_recipe_check_adapter(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_error *err);
int __wrap_tk_recipe_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, struct tk_artifact **out, struct tk_error *err);
int __wrap_tk_night_new_worker(struct tk_night *n, const struct tk_night_device *d,
        struct tk_worker **out, struct tk_error *err);
int __wrap_tk_worker_query_backend(
        struct tk_worker *w, const char *backend_path, json_t **out, struct tk_error *err);
void __wrap_tk_worker_free(struct tk_worker *w);
int __wrap_tk_session_open_unstored(const struct tk_config *config, const char *db_path,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err);
void __wrap_tk_session_close(struct tk_session *s);

int __wrap_tk_recipe_check_adapter(
        const struct tk_config *config, const struct tk_upstream_config *u, struct tk_error *err)
{
	return world.adapter_status ? tk_fail(err, world.adapter_status, "no adapter") : 0;
}

int __wrap_tk_recipe_build(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *revision, const char *arch, struct tk_artifact **out, struct tk_error *err)
{
	world.builds++;
	world.source = *u;
	snprintf(world.built, sizeof world.built, "%s", revision);
	snprintf(world.url, sizeof world.url, "%s", u->url);
	snprintf(world.adapter, sizeof world.adapter, "%s", u->adapter);
	if (world.build_status)
		return tk_fail(err, world.build_status, "cannot build");
	struct tk_artifact *a = calloc(1, sizeof *a);
	assert_non_null(a);
	a->status = world.artifact_status;
	a->cached = world.is_cached;
	a->message = strdup("no compiler");
	a->log_path = strdup("/cache/build.log");
	a->toolchain = strdup("cc 12");
	a->backends = calloc(3, sizeof *a->backends);
	assert_non_null(a->backends);
	for (; world.backends[a->backend_count]; a->backend_count++) {
		struct tk_artifact_backend *b = &a->backends[a->backend_count];
		snprintf(b->name, sizeof b->name, "%s", world.backends[a->backend_count]);
		if (asprintf(&b->path, "/cache/%.8s/%s", revision, b->name) < 0)
			fail();
	}
	*out = a;
	return 0;
}

int __wrap_tk_night_new_worker(struct tk_night *n, const struct tk_night_device *d,
        struct tk_worker **out, struct tk_error *err)
{
	if (world.worker_status)
		return tk_fail(err, world.worker_status, "no worker");
	*out = (struct tk_worker *)(void *)&world;
	world.workers++;
	return 0;
}

int __wrap_tk_worker_query_backend(
        struct tk_worker *w, const char *backend_path, json_t **out, struct tk_error *err)
{
	world.queries++;
	if (world.query_status)
		return tk_fail(err, world.query_status, "no backend");
	*out = json_pack("{s:s,s:s}", "device_kind", world.kind, "name", world.name);
	return 0;
}

void __wrap_tk_worker_free(struct tk_worker *w)
{
	world.workers -= w != NULL;
}

int __wrap_tk_session_open_unstored(const struct tk_config *config, const char *db_path,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err)
{
	*s = (struct tk_session){.options = *options};
	world.sessions++;
	if (world.session_status)
		return tk_fail(err, world.session_status, "no session");
	s->night = (struct tk_night){.config = config,
	        .options = &s->options,
	        .devices = &world.device,
	        .device_count = 1};
	return 0;
}

void __wrap_tk_session_close(struct tk_session *s)
{
	world.sessions--;
}

/* ---- a repository and a session ---- */

static char lib_name[] = "lib", system_name[] = "system", package_name[] = "package";

struct rig {
	struct scratch *s;
	char url[300], head[64], first[64];
	struct tk_upstream_config upstreams[3];
	struct tk_config config;
	struct tk_night_options options;
	struct tk_modules modules;
	struct tk_night night;
	struct tk_ab_side_report report;
	struct tk_ab_side side;
};

static inline void begin_side(struct rig *r)
{
	tk_ab_side_close(&r->side);
	r->report = (struct tk_ab_side_report){.name = "base", .option = "--base="};
	r->side = (struct tk_ab_side){.report = &r->report};
}

static inline int setup(void **state)
{
	struct rig *r = calloc(1, sizeof *r);
	void *scratch;

	assert_non_null(r);
	memset(&world, 0, sizeof world);
	world.kind = "cpu";
	world.name = "toy";
	world.backends[0] = "blas";
	assert_int_equal(scratch_open(&scratch), 0);
	r->s = scratch;
	snprintf(r->url, sizeof r->url, "%s/up", r->s->dir);
	r->upstreams[0] = (struct tk_upstream_config){
	        .name = lib_name, .kind = TK_UPSTREAM_GIT, .url = r->url, .enabled = true};
	r->upstreams[1] =
	        (struct tk_upstream_config){.name = system_name, .kind = TK_UPSTREAM_SYSTEM};
	r->upstreams[2] =
	        (struct tk_upstream_config){.name = package_name, .kind = TK_UPSTREAM_PACKAGE};
	r->config = (struct tk_config){.root = r->s->dir,
	        .cache_dir = r->s->cache,
	        .upstreams = r->upstreams,
	        .upstream_count = 3};
	r->config.budgets.fetch_s = 60;
	r->night = (struct tk_night){.config = &r->config,
	        .options = &r->options,
	        .modules = &r->modules,
	        .devices = &world.device,
	        .device_count = 1};
	begin_side(r);
	*state = r;
	return 0;
}

static inline int teardown(void **state)
{
	struct rig *r = *state;
	void *scratch = r->s;

	tk_ab_side_close(&r->side);
	assert_int_equal(world.workers, 0);
	assert_int_equal(world.sessions, 0);
	free(r);
	return scratch_close(&scratch);
}

static inline void make_repository(struct rig *r)
{
	sh(r->s, "git init -q up && cd up && echo 1 >file && git add file && git commit -q -m one "
	         "&& "
	         "git tag v1 && echo 2 >file && git commit -q -a -m two");
	ask(r->s, r->head, sizeof r->head, "git -C up rev-parse HEAD");
	ask(r->s, r->first, sizeof r->first, "git -C up rev-parse HEAD^");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
