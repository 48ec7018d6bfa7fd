/* Past revisions, oldest first, each a night of its own. What was measured already is left out, so
 * that a stopped backfill goes on. */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "build/build.h"
#include "nightly/night.h"
#include "nightly/session.h"
#include "nightly/stages/bundle_revisions.h"
#include "nightly/stages/recipe.h"
#include <stdlib.h>
#include <string.h>

static const struct tk_revision_row *revision_of(const struct tk_rows *revisions, int64_t id)
{
	for (size_t i = 0; i < revisions->count; i++) {
		const struct tk_revision_row *r = TK_ROWS_AT(revisions, struct tk_revision_row, i);
		if (r->id == id)
			return r;
	}
	return NULL;
}

/* A night that was stopped, never resumed and closed by the next one: what is missing in it was not
 * measured. */
static bool was_abandoned(const struct tk_night_row *night)
{
	json_t *summary = json_loads(night->summary, 0, NULL);
	bool abandoned = json_is_true(json_object_get(summary, "abandoned"));
	json_decref(summary);
	return abandoned;
}

/* Whether a finished night of this machine has measured this revision. */
static int measured_already(struct tk_store *store, const struct tk_config *config, const char *rev,
        bool *yes, struct tk_error *err)
{
	struct tk_rows nights = {0}, revisions = {0}, machines = {0};
	int64_t machine_id = 0;
	int status = tk_store_list_nights(store, &nights, err);
	*yes = false;
	if (status == TK_OK)
		status = tk_store_list_revisions(store, &revisions, err);
	if (status == TK_OK)
		status = tk_store_list_machines(store, &machines, err);
	for (size_t i = 0; i < machines.count; i++)
		if (strcmp(TK_ROWS_AT(&machines, struct tk_machine_row, i)->name,
		            config->machine) == 0)
			machine_id = TK_ROWS_AT(&machines, struct tk_machine_row, i)->id;
	for (size_t i = 0; status == TK_OK && i < nights.count && !*yes; i++) {
		const struct tk_night_row *night = TK_ROWS_AT(&nights, struct tk_night_row, i);
		struct tk_rows answers = {0};
		if (night->machine_id != machine_id || !night->finished_s ||
		        night->status == TK_NIGHT_FAILED || was_abandoned(night))
			continue;
		status = tk_store_list_resolutions(store, night->id, &answers, err);
		for (size_t k = 0; k < answers.count; k++) {
			const struct tk_resolution_row *a =
			        TK_ROWS_AT(&answers, struct tk_resolution_row, k);
			const struct tk_revision_row *r = revision_of(&revisions, a->revision_id);
			*yes |= r && a->build_id && strcmp(r->rev, rev) == 0;
		}
		tk_rows_free(&answers);
	}
	tk_rows_free(&nights);
	tk_rows_free(&revisions);
	tk_rows_free(&machines);
	return status;
}

static void add_report(struct tk_night_report *sum, const struct tk_night_report *one)
{
	size_t *to[] = {&sum->builds, &sum->builds_failed, &sum->builds_cached,
	        &sum->upstreams_unreachable, &sum->jobs, &sum->measured, &sum->verified,
	        &sum->wrong, &sum->failed, &sum->unsupported, &sum->skipped, &sum->stages_failed,
	        &sum->unstable};
	const size_t from[] = {one->builds, one->builds_failed, one->builds_cached,
	        one->upstreams_unreachable, one->jobs, one->measured, one->verified, one->wrong,
	        one->failed, one->unsupported, one->skipped, one->stages_failed, one->unstable};
	for (size_t i = 0; i < sizeof to / sizeof *to; i++)
		*to[i] += from[i];
	memcpy(sum->by_status, one->by_status, sizeof sum->by_status);
	memcpy(sum->site_index, one->site_index, sizeof sum->site_index);
	memcpy(sum->uid, one->uid, sizeof sum->uid);
	sum->night_id = one->night_id;
	sum->complete &= one->complete;
	sum->nights++;
}

/* The upstream that has a past, or why it has none. */
static int find_upstream(const struct tk_config *config, const char *name,
        const struct tk_upstream_config **out, struct tk_error *err)
{
	const struct tk_upstream_config *u = tk_config_find_upstream(config, name);
	if (!u)
		return tk_fail(
		        err, TK_EUSAGE, "there is no upstream `%s` in the configuration", name);
	if (u->kind != TK_UPSTREAM_GIT && u->kind != TK_UPSTREAM_SELF)
		return tk_fail(err, TK_EUSAGE,
		        "upstream `%s` has no past: only `git` and `self` have revisions to go "
		        "back to",
		        u->name);
	*out = u;
	return TK_OK;
}

/* Newest first, as the repository has them. */
static int history_of(const struct tk_config *config, const struct tk_upstream_config *u,
        const struct tk_backfill_options *backfill, struct tk_revision **history, size_t *count,
        struct tk_error *err)
{
	struct tk_repo source;
	const int status = tk_recipe_check_adapter(config, u, err);
	if (status != TK_OK)
		return tk_error_add_context(err, "%s", u->name);
	tk_recipe_init_source(config, u, &source);
	return tk_repo_list_revisions(&source, backfill->commits,
	        backfill->every ? backfill->every : 1, backfill->since_s, history, count, err);
}

int tk_backfill_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_backfill_options *backfill,
        struct tk_night_report *report, struct tk_error *err)
{
	const struct tk_upstream_config *u = NULL;
	struct tk_revision *history = NULL;
	size_t count = 0;
	int64_t as_of_s = INT64_MIN;
	int64_t started_ns = tk_clock_monotonic_ns();
	*report = (struct tk_night_report){.complete = true};
	int status = find_upstream(config, backfill->upstream, &u, err);
	if (status == TK_OK)
		status = options->import_file
		                 ? tk_bundle_list_revisions(
		                           config, u, options->import_file, &history, &count, err)
		                 : history_of(config, u, backfill, &history, &count, err);
	for (size_t i = count; status == TK_OK && i-- > 0;) {
		struct tk_night_options one = *options;
		struct tk_night_report r;
		bool done;
		if ((status = measured_already(store, config, history[i].id, &done, err)) != TK_OK)
			break;
		/* Commits of the same second still stand one after the other. */
		as_of_s =
		        history[i].commit_time_s > as_of_s ? history[i].commit_time_s : as_of_s + 1;
		if (done) {
			tk_log(TK_LOG_INFO, "measured", NULL, "%s %.12s was measured already",
			        u->name, history[i].id);
			continue;
		}
		tk_log(TK_LOG_INFO, "backfill", NULL, "%s %.12s %s", u->name, history[i].id,
		        history[i].subject);
		one.only_upstream = u->name;
		one.backfill_revision = history[i].id;
		one.backfill_as_of_s = as_of_s;
		if (i > 0) /* the site is written once, after the last of them */
			one.publisher = NULL;
		status = tk_night_run(config, store, &one, &r, err);
		add_report(report, &r);
	}
	report->wall_s = (double)(tk_clock_monotonic_ns() - started_ns) / 1e9;
	free(history);
	return status;
}

/* ---- building only
 * ----------------------------------------------------------------------------------------- */

static int build_revision(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *arch, const struct tk_revision *r, char key[TK_HASH_HEX_SIZE],
        struct tk_backfill_build_report *out, struct tk_error *err)
{
	struct tk_artifact *a = NULL;
	tk_log(TK_LOG_INFO, "build", NULL, "%s %.12s %s", u->name, r->id, r->subject);
	int status = tk_recipe_build(config, u, r->id, arch, &a, err);
	if (status != TK_OK)
		return status;
	key[0] = '\0';
	if (a->status == TK_BUILD_OK) {
		memcpy(key, a->key, TK_HASH_HEX_SIZE);
		out->built++;
		out->cached += a->cached;
	} else {
		tk_log(TK_LOG_WARN, "build_failed", NULL, "%s %.12s: %s (log: %s)", u->name, r->id,
		        a->message, a->log_path);
		out->failed++;
	}
	tk_artifact_free(a);
	return TK_OK;
}

int tk_backfill_export(const struct tk_config *config, const struct tk_backfill_options *backfill,
        const char *file, struct tk_backfill_build_report *out, struct tk_error *err)
{
	const struct tk_upstream_config *u = NULL;
	struct tk_revision *history = NULL;
	char(*keys)[TK_HASH_HEX_SIZE] = NULL;
	const char **named = NULL;
	size_t count = 0, n = 0;
	*out = (struct tk_backfill_build_report){0};
	int status = find_upstream(config, backfill->upstream, &u, err);
	if (status == TK_OK)
		status = history_of(config, u, backfill, &history, &count, err);
	if (status == TK_OK && (!(keys = calloc(count + 1, sizeof *keys)) ||
	                               !(named = calloc(count + 1, sizeof *named))))
		status = tk_fail(err, TK_ENOMEM, "out of memory");
	out->revisions = count;
	for (size_t i = count; status == TK_OK && i-- > 0;) {
		status = build_revision(config, u, backfill->arch, &history[i], keys[i], out, err);
		if (status == TK_OK && *keys[i])
			named[n++] = keys[i];
	}
	if (status == TK_OK && !n)
		status = tk_fail(err, TK_ENOTFOUND, "none of %zu revisions of %s could be built",
		        count, u->name);
	if (status == TK_OK)
		status = tk_artifact_export(config->cache_dir, named, n, file, err);
	free(named);
	free(keys);
	free(history);
	return status;
}
