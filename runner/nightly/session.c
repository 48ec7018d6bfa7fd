/* See session.h. */
#include "nightly/session.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "worker/worker.h"
#include <stdio.h>
#include <string.h>

static void begin(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, struct tk_session *s)
{
	*s = (struct tk_session){
	        .options = {.program = options->program, .observer = options->observer}};
	s->night = (struct tk_night){.config = config,
	        .store = store,
	        .options = &s->options,
	        .report = &s->report,
	        .started_s = tk_clock_now_s(),
	        .started_mono_ns = tk_clock_monotonic_ns()};
	s->night.seed =
	        options->seed ? options->seed : tk_splitmix64((uint64_t)s->night.started_mono_ns);
}

static int acquire_lock(struct tk_session *s, const char *db_path, struct tk_error *err)
{
	struct tk_buf path = TK_BUF_INIT;
	tk_buf_add_printf(&path, "%s.lock", db_path);
	int status = tk_lock_acquire(tk_buf_cstr(&path), &s->lock, err);
	tk_buf_free(&path);
	return status;
}

int tk_session_open_unstored(const struct tk_config *config, const char *db_path,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err)
{
	begin(config, NULL, options, s);
	s->options.devices = options->devices;
	int status = tk_file_exists(db_path) ? acquire_lock(s, db_path, err) : TK_OK;
	if (!status)
		status = tk_modules_load(options->program, &s->night.modules, err);
	return status ? status : tk_night_probe(&s->night, err);
}

int tk_session_open(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err)
{
	begin(config, store, options, s);
	int status = acquire_lock(s, tk_store_path(store), err);
	if (!status)
		status = tk_modules_load(options->program, &s->night.modules, err);
	if (!status)
		status = tk_night_put_machine(&s->night, err);
	return status == TK_OK ? tk_night_probe(&s->night, err) : status;
}

void tk_session_close(struct tk_session *s)
{
	tk_night_free(&s->night);
	tk_lock_release(s->lock);
	s->lock = NULL;
}

int tk_night_build_revision(struct tk_night *n, const struct tk_upstream_config *u,
        const struct tk_revision *r, struct tk_revision_build *out, struct tk_error *err)
{
	struct tk_night_upstream built = {.config = u};
	*out = (struct tk_revision_build){0};
	int status = tk_night_put_revision(n, &built, r, err);
	if (!status)
		status = tk_night_build_upstream(n, &built, err);
	if (!status) {
		const struct tk_artifact *a = built.artifacts[0];
		*out = (struct tk_revision_build){.build_id = built.build_id,
		        .ok = a->status == TK_BUILD_OK,
		        .cached = a->cached};
		snprintf(out->message, sizeof out->message, "%.*s", (int)sizeof out->message - 1,
		        a->message ? a->message : "");
	}
	for (size_t i = 0; i < built.artifact_count; i++)
		tk_artifact_free(built.artifacts[i]);
	return status;
}

const struct tk_upstream_config *tk_config_find_upstream(
        const struct tk_config *config, const char *name)
{
	for (size_t i = 0; i < config->upstream_count; i++)
		if (strcmp(config->upstreams[i].name, name) == 0)
			return &config->upstreams[i];
	return NULL;
}
