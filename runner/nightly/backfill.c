/* Past revisions, oldest first, each as a separate night. A stopped backfill can be repeated:
 * revisions that were measured are skipped. */
#include "base/base.h"
#include "build/build.h"
#include "nightly/night.h"
#include "nightly/stages/upstream_build.h"

/* Of a night that was stopped and never resumed, the jobs that are left were not run. */
static int is_measured(struct tk_store *store, const struct tk_config *config, const char *upstream,
        const char *rev, bool *out, struct tk_error *err)
{
	int64_t found;
	TRY(tk_store_select_int(store,
	        "SELECT 1 FROM resolution_v r JOIN night_v n ON n.id=r.night_id"
	        " WHERE n.machine=?1 AND r.upstream=?2 AND r.rev=?3 AND r.build_id IS NOT NULL"
	        " AND ifnull(n.finished_s, 0)<>0 AND n.status<>'failed'"
	        " AND NOT (json_valid(n.summary) AND ifnull(n.summary ->> '$.abandoned', 0))"
	        " LIMIT 1",
	        TK_ARGS(config->machine, upstream, rev), 0, &found, err));
	*out = found;
	return TK_OK;
}

/* ---- nights of past revisions ---- */

static void add_report(struct tk_night_report *sum, const struct tk_night_report *one)
{
#define COUNT(member) offsetof(struct tk_night_report, member)
	static const size_t counts[] = {COUNT(builds), COUNT(builds_failed), COUNT(builds_cached),
	        COUNT(upstreams_unreachable), COUNT(jobs), COUNT(measured), COUNT(verified),
	        COUNT(wrong), COUNT(implausible), COUNT(failed), COUNT(unsupported), COUNT(skipped),
	        COUNT(stages_failed), COUNT(unstable)};
#undef COUNT
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
		*(size_t *)((char *)sum + counts[i]) += *(size_t *)((char *)one + counts[i]);
	memcpy(sum->by_status, one->by_status, sizeof sum->by_status);
	memcpy(sum->site_index, one->site_index, sizeof sum->site_index);
	memcpy(sum->uid, one->uid, sizeof sum->uid);
	sum->night_id = one->night_id;
	sum->complete &= one->complete;
	sum->nights++;
}

/* TK_EUSAGE: it is not configured, or it is not built from a repository. */
static int find_upstream(const struct tk_config *config, const char *name,
        const struct tk_upstream_config **out, struct tk_error *err)
{
	const struct tk_upstream_config *u = tk_config_find_upstream(config, name);
	char hint[TK_SUGGEST_HINT_SIZE];
	if (!u)
		return tk_fail(err, TK_EUSAGE, "unknown upstream \"%s\"%s", name,
		        tk_config_suggest_upstream(config, name, NULL, NULL, hint));
	if (!tk_upstream_kind_is_built(u->kind))
		return tk_fail(err, TK_EUSAGE,
		        "upstream \"%s\" has no past revisions; only the kinds git, package and "
		        "self have",
		        u->name);
	*out = u;
	return TK_OK;
}

/* Newest first. */
static int list_revisions(const struct tk_config *config, const struct tk_upstream_config *u,
        const struct tk_backfill_options *backfill, struct tk_revision **out, size_t *count,
        struct tk_error *err)
{
	struct tk_repo repo;
	if (tk_upstream_check_adapter(config, u, err))
		return tk_error_add_context(err, "%s", u->name);
	tk_upstream_init_repo(config, u, &repo);
	return tk_repo_list_revisions(&repo, backfill->commits,
	        backfill->every ? backfill->every : 1, backfill->since_s, out, count, err);
}

struct backfill {
	const struct tk_backfill_options *request;
	const struct tk_config *config;
	struct tk_store *store;
	const struct tk_night_options *options;
	const struct tk_upstream_config *upstream;
	struct tk_revision *revisions; /* newest first */
	size_t count;
	size_t last; /* index of the last one that is measured */
	struct tk_night_report *report;
};

static int run_night(struct backfill *b, size_t index, int64_t as_of_s, struct tk_error *err)
{
	const struct tk_revision *r = &b->revisions[index];
	struct tk_night_options options = *b->options;
	struct tk_night_report report;
	tk_log(TK_LOG_INFO, "backfill", NULL, "%s %.12s %s", b->upstream->name, r->id, r->subject);
	options.only_upstream = b->upstream->name;
	options.backfill_revision = r->id;
	options.backfill_as_of_s = as_of_s;
	if (index > b->last) /* the site is written once, after the last night */
		options.publisher = NULL;
	int status = tk_night_run(b->config, b->store, &options, &report, err);
	add_report(b->report, &report);
	return status;
}

/* ---- revisions with the machine code of the one before ---- */

/* "": the revision does not build. */
static int hash_code(struct backfill *b, const struct tk_revision *r, char out[TK_HASH_HEX_SIZE],
        struct tk_error *err)
{
	AUTO_PTR(tk_artifact) a = NULL;
	const char *file = b->options->import_file;
	TRY(file ? tk_upstream_load_bundled(b->config, b->upstream, file, r->id, &a, err)
	         : tk_upstream_build(b->config, b->upstream, r->id, NULL, &a, err));
	struct tk_hash *h = tk_hash_new();
	for (size_t i = 0; i < a->backend_count; i++) {
		tk_hash_add_str(h, a->backends[i].name);
		tk_hash_add_str(h, a->backends[i].code_hash);
	}
	tk_hash_finish(h, out);
	if (a->status != TK_BUILD_OK)
		*out = '\0';
	return TK_OK;
}

struct last_code {
	char hash[TK_HASH_HEX_SIZE];
	const char *revision; /* the first one with this code; NULL: none yet */
};

/* *same: `r` has the code of the newest revision before it that builds. */
static int compare_code(struct backfill *b, const struct tk_revision *r, struct last_code *last,
        bool *same, struct tk_error *err)
{
	char hash[TK_HASH_HEX_SIZE] = "";
	*same = false;
	if (b->request->changed_code)
		TRY(hash_code(b, r, hash, err));
	if (!*hash)
		return TK_OK;
	*same = last->revision && strcmp(hash, last->hash) == 0;
	if (!*same) {
		memcpy(last->hash, hash, sizeof hash);
		last->revision = r->id;
	}
	return TK_OK;
}

/* left_out: gets whether each revision is not measured. All of them are built for it. */
static int choose(struct backfill *b, bool *left_out, struct tk_error *err)
{
	struct last_code last = {.revision = NULL};
	for (size_t i = b->count; i-- > 0;) {
		const struct tk_revision *r = &b->revisions[i];
		bool same;
		TRY(is_measured(b->store, b->config, b->upstream->name, r->id, &left_out[i], err));
		TRY(compare_code(b, r, &last, &same, err));
		if (left_out[i])
			tk_log(TK_LOG_INFO, "measured", NULL, "%s %.12s is measured already",
			        b->upstream->name, r->id);
		else if (same)
			tk_log(TK_LOG_INFO, "same_code", NULL,
			        "%s %.12s is not measured: it has the machine code of %.12s",
			        b->upstream->name, r->id, last.revision);
		b->report->same_code += same && !left_out[i];
		left_out[i] |= same;
		if (!left_out[i])
			b->last = i;
	}
	return TK_OK;
}

/* Commits of the same second get different times, so that their order is kept. */
static int run_nights(struct backfill *b, struct tk_error *err)
{
	bool *left_out = tk_calloc(b->count + 1, sizeof *left_out);
	int64_t as_of_s = INT64_MIN;
	int status = choose(b, left_out, err);
	for (size_t i = b->count; !status && i-- > 0;) {
		const struct tk_revision *r = &b->revisions[i];
		as_of_s = r->commit_time_s > as_of_s ? r->commit_time_s : as_of_s + 1;
		if (!left_out[i])
			status = run_night(b, i, as_of_s, err);
	}
	free(left_out);
	return status;
}

static int run_backfill(struct backfill *b, struct tk_error *err)
{
	const char *file = b->options->import_file;
	TRY(find_upstream(b->config, b->request->upstream, &b->upstream, err));
	TRY(file ? tk_upstream_list_bundle(
	                   b->config, b->upstream, file, &b->revisions, &b->count, err)
	         : list_revisions(
	                   b->config, b->upstream, b->request, &b->revisions, &b->count, err));
	return run_nights(b, err);
}

int tk_backfill_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_backfill_options *backfill,
        struct tk_night_report *report, struct tk_error *err)
{
	struct backfill b = {.request = backfill,
	        .config = config,
	        .store = store,
	        .options = options,
	        .report = report};
	int64_t started_ns = tk_clock_monotonic_ns();
	*report = (struct tk_night_report){.complete = true};
	int status = run_backfill(&b, err);
	report->wall_s = (double)(tk_clock_monotonic_ns() - started_ns) / 1e9;
	free(b.revisions);
	return status;
}

/* ---- builds for another machine ---- */

static int build_revision(const struct tk_config *config, const struct tk_upstream_config *u,
        const char *arch, const struct tk_revision *r, char key[TK_HASH_HEX_SIZE],
        struct tk_backfill_build_report *out, struct tk_error *err)
{
	AUTO_PTR(tk_artifact) a = NULL;
	tk_log(TK_LOG_INFO, "build", NULL, "%s %.12s %s", u->name, r->id, r->subject);
	TRY(tk_upstream_build(config, u, r->id, arch, &a, err));
	if (a->status == TK_BUILD_OK) {
		memcpy(key, a->key, TK_HASH_HEX_SIZE);
		out->built++;
		out->cached += a->cached;
	} else {
		tk_log(TK_LOG_WARN, "build_failed", NULL, "%s %.12s: %s (log: %s)", u->name, r->id,
		        a->message, a->log_path);
		out->failed++;
	}
	return TK_OK;
}

int tk_backfill_export(const struct tk_config *config, const struct tk_backfill_options *backfill,
        const char *file, struct tk_backfill_build_report *out, struct tk_error *err)
{
	const struct tk_upstream_config *u = NULL;
	struct tk_revision *history = NULL;
	size_t count = 0, n = 0;
	*out = (struct tk_backfill_build_report){0};
	TRY(find_upstream(config, backfill->upstream, &u, err));
	TRY(list_revisions(config, u, backfill, &history, &count, err));
	char(*keys)[TK_HASH_HEX_SIZE] = tk_calloc(count + 1, sizeof *keys);
	const char **named = tk_calloc(count + 1, sizeof *named);
	int status = TK_OK;
	out->revisions = count;
	for (size_t i = count; !status && i-- > 0;) {
		status = build_revision(config, u, backfill->arch, &history[i], keys[i], out, err);
		if (!status && *keys[i])
			named[n++] = keys[i];
	}
	if (!status && !n)
		status = tk_fail(err, TK_ENOTFOUND, "none of %zu revisions of %s could be built",
		        count, u->name);
	if (!status)
		status = tk_artifact_export(config->cache_dir, named, file, err);
	if (!status)
		status = tk_signature_write(config->signing.key, file, err);
	free(named);
	free(keys);
	free(history);
	return status;
}
