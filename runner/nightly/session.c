/* See session.h. */
#include "nightly/session.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/rng.h"
#include "base/try.h"
#include "store/store.h"
#include "worker/worker.h"
#include <stdio.h>

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

int tk_session_open_unstored(const struct tk_config *config, const char *db_path,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err)
{
	begin(config, NULL, options, s);
	s->options.devices = options->devices;
	TRY(tk_file_exists(db_path) ? tk_store_lock(db_path, &s->lock, err) : TK_OK);
	TRY(tk_modules_load(options->program, &s->night.modules, err));
	return tk_night_probe(&s->night, err);
}

int tk_session_open(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err)
{
	begin(config, store, options, s);
	TRY(tk_store_lock(tk_store_path(store), &s->lock, err));
	TRY(tk_modules_load(options->program, &s->night.modules, err));
	TRY(tk_night_put_machine(&s->night, err));
	return tk_night_probe(&s->night, err);
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
