/* Stage "resolve": queries the newest revision of every upstream. An upstream that does not answer
 * keeps its last known revision. */
#include "base/base.h"
#include "nightly/night.h"
#include "nightly/stages/upstream_build.h"
#include "worker/worker.h"

/* ---- rows of the history ---- */

/* The repository that pages link commits to. That of `self` is the part of site.commit_url before
 * /commit/, which the configuration has checked. */
static void format_public_url(
        const struct tk_night *n, const struct tk_upstream_config *u, char *out, size_t size)
{
	const char *commit = u->kind == TK_UPSTREAM_SELF ? n->config->commit_url : NULL;
	const char *end = commit ? strstr(commit, "/commit/") : NULL;
	char forge[1024];
	if (!end) {
		tk_repo_redact_url(u->url ? u->url : "", out, size);
		return;
	}
	if (end - commit > 2 && strncmp(end - 2, "/-", 2) == 0) /* GitLab */
		end -= 2;
	snprintf(forge, sizeof forge, "%.*s", (int)(end - commit), commit);
	tk_repo_redact_url(forge, out, size);
}

static int put_upstream(struct tk_night *n, struct tk_night_upstream *u, struct tk_error *err)
{
	char url[4200];
	format_public_url(n, u->config, url, sizeof url);
	struct tk_upstream_row row = {.name = u->config->name,
	        .kind = tk_upstream_kind_name(u->config->kind),
	        .url = url};
	return tk_store_put(n->store, TK_TABLE_upstream, &row, &u->upstream_id, err);
}

int tk_night_put_revision(struct tk_night *n, struct tk_night_upstream *u,
        const struct tk_revision *r, struct tk_error *err)
{
	struct tk_revision_row row = {.rev = r->id,
	        .parent = r->parent,
	        .position = r->position,
	        .author_time_s = r->author_time_s,
	        .commit_time_s = r->commit_time_s,
	        .author = r->author,
	        .subject = r->subject};
	TRY(put_upstream(n, u, err));
	row.upstream_id = u->upstream_id;
	snprintf(u->rev, sizeof u->rev, "%s", r->id);
	return tk_store_put(n->store, TK_TABLE_revision, &row, &u->revision_id, err);
}

static int put_resolution(
        struct tk_night *n, const struct tk_night_upstream *u, struct tk_error *err)
{
	struct tk_resolution_row row = {.night_id = n->night_id,
	        .upstream_id = u->upstream_id,
	        .revision_id = u->revision_id,
	        .build_id = u->build_id,
	        .status = u->status,
	        .message = u->message};
	return tk_store_put(n->store, TK_TABLE_resolution, &row, NULL, err);
}

/* ---- the last known revision ---- */

/* Of the newest night that resolved this upstream; 0: none has. */
static int64_t find_last_revision(struct tk_night *n, int64_t upstream_id)
{
	int64_t id = 0;
	tk_store_select_int(n->store,
	        "SELECT r.revision_id FROM resolution r JOIN night n ON n.id=r.night_id"
	        " WHERE r.upstream_id=?1 AND r.night_id<>?2 AND n.kind='nightly'"
	        " AND r.revision_id IS NOT NULL ORDER BY n.as_of_s DESC, n.id DESC LIMIT 1",
	        TK_ARGS(upstream_id, n->night_id), 0, &id, NULL);
	return id;
}

/* ---- positions of versions ---- */

/* A version is stored with its place in the index; a late release of an older line (1.9.5 after
 * 1.10) moves the places after it. Without the index the night goes on with those that it knows. */
static int renumber_versions(
        struct tk_night *n, const struct tk_night_upstream *u, struct tk_error *err)
{
	AUTO(tk_rows) revisions = {0};
	struct tk_repo repo;
	struct tk_error reason = {0};
	int status = TK_OK;
	tk_upstream_init_repo(n->config, u->config, &repo);
	TRY(tk_store_list(n->store, TK_TABLE_revision, "upstream_id=?1", TK_ARGS(u->upstream_id),
	        &revisions, err));
	struct tk_revision_row *rows = revisions.rows;
	const char **names = tk_calloc(revisions.count + 1, sizeof *names);
	int64_t *positions = tk_calloc(revisions.count + 1, sizeof *positions);
	for (size_t i = 0; i < revisions.count; i++) {
		names[i] = rows[i].rev;
		positions[i] = rows[i].position;
	}
	if (tk_repo_number_versions(&repo, names, revisions.count, positions, &reason))
		tk_log(TK_LOG_WARN, "index", NULL, "%s", reason.message);
	else
		for (size_t i = 0; !status && i < revisions.count; i++) {
			if (rows[i].position == positions[i])
				continue;
			rows[i].position = positions[i];
			status = tk_store_put(n->store, TK_TABLE_revision, &rows[i], NULL, err);
		}
	free(positions);
	free(names);
	return status;
}

/* ---- the newest revision ---- */

/* The revision of a library is the version that it reports; that of the builtin modules is the
 * tracker's. */
static int query_version(struct tk_night *n, const struct tk_upstream_config *u,
        struct tk_revision *out, struct tk_error *err)
{
	const char *name = u->adapter ? u->adapter : u->name;
	const struct tk_module *m = tk_modules_find_backend(n->modules, name);
	if (u->kind == TK_UPSTREAM_BUILTIN) {
		snprintf(out->id, sizeof out->id, "%s", TK_VERSION);
		return TK_OK;
	}
	if (!m)
		return tk_fail(err, TK_ENOTFOUND,
		        "no backend \"%s\" in %s; was its library installed when the tracker was "
		        "built?",
		        name, n->modules->dir);
	json_auto_t *info = NULL;
	TRY(tk_worker_query_backend(n->devices[0].worker, m->path, &info, err));
	const char *version = json_string_value(json_object_get(info, "version"));
	snprintf(out->id, sizeof out->id, "%s", tk_text_or(version, "unknown"));
	return TK_OK;
}

/* u->rev if a past revision is measured, else the newest of the branch. */
static int query_repo(struct tk_night *n, const struct tk_night_upstream *u,
        struct tk_revision *out, struct tk_error *err)
{
	struct tk_repo repo;
	TRY(tk_upstream_check_adapter(n->config, u->config, err)); /* before a long fetch */
	tk_upstream_init_repo(n->config, u->config, &repo);
	return *u->rev ? tk_repo_find_revision(&repo, u->rev, out, err)
	               : tk_repo_find_newest(&repo, out, err);
}

static int query_revision(struct tk_night *n, const struct tk_night_upstream *u,
        struct tk_revision *out, struct tk_error *err)
{
	if (u->config->kind == TK_UPSTREAM_SYSTEM || u->config->kind == TK_UPSTREAM_BUILTIN)
		return query_version(n, u->config, out, err);
	if (!u->artifact_count)
		return query_repo(n, u, out, err);
	*out = u->artifacts[0]->commit; /* a bundle of an older tracker has only the revision */
	snprintf(out->id, sizeof out->id, "%s", u->artifacts[0]->revision);
	return TK_OK;
}

static int use_revision(struct tk_night *n, struct tk_night_upstream *u,
        const struct tk_revision *revision, int64_t last_id, struct tk_error *err)
{
	TRY(tk_night_put_revision(n, u, revision, err));
	u->status =
	        last_id && last_id == u->revision_id ? TK_RESOLUTION_UNCHANGED : TK_RESOLUTION_NEW;
	if (u->config->kind == TK_UPSTREAM_PACKAGE && !u->artifact_count)
		TRY(renumber_versions(n, u, err));
	if (revision->dirty)
		tk_log(TK_LOG_WARN, "dirty", NULL,
		        "%s: the work tree has uncommitted changes; the commit %.12s is measured "
		        "without them",
		        u->config->name, revision->id);
	return TK_OK;
}

static void use_last_revision(
        struct tk_night *n, struct tk_night_upstream *u, int64_t last_id, const char *reason)
{
	struct tk_revision_row last;
	u->status = TK_RESOLUTION_UNREACHABLE;
	u->revision_id = last_id;
	snprintf(u->message, sizeof u->message, "%.*s", (int)sizeof u->message - 1, reason);
	n->report->upstreams_unreachable++;
	if (last_id && !tk_store_get(n->store, TK_TABLE_revision, last_id, &last, NULL))
		snprintf(u->rev, sizeof u->rev, "%s", last.rev);
	tk_log(TK_LOG_WARN, "unreachable", NULL, "upstream %s: %s%s%.12s", u->config->name, reason,
	        last_id ? "; using its last known revision " : "", last_id ? u->rev : "");
}

static int resolve_upstream(struct tk_night *n, struct tk_night_upstream *u, struct tk_error *err)
{
	struct tk_revision revision = {0};
	struct tk_error reason = {0};
	TRY(put_upstream(n, u, err));
	int64_t last_id = find_last_revision(n, u->upstream_id);
	int status = query_revision(n, u, &revision, &reason);
	if (tk_night_is_fatal(status))
		return tk_fail(err, status, "%s", reason.message);
	if (status)
		use_last_revision(n, u, last_id, reason.message);
	else
		TRY(use_revision(n, u, &revision, last_id, err));
	return put_resolution(n, u, err);
}

/* ---- upstreams of this night ---- */

/* The upstream that takes an artifact of the bundle; NULL: none does. */
static struct tk_night_upstream *find_upstream(struct tk_night *n, const struct tk_artifact *a)
{
	for (size_t i = 0; i < n->upstream_count; i++) {
		struct tk_night_upstream *u = &n->upstreams[i];
		if (!u->artifact_count && strcmp(u->config->name, a->upstream) == 0)
			return u;
	}
	return NULL;
}

static int import_artifact(struct tk_night *n, const char *key, struct tk_error *err)
{
	struct tk_artifact *a = NULL;
	TRY(tk_artifact_load(n->config->cache_dir, key, &a, err));
	struct tk_night_upstream *u = find_upstream(n, a);
	if (u) {
		u->artifacts[u->artifact_count++] = a;
		return TK_OK;
	}
	tk_log(TK_LOG_WARN, "import", NULL,
	        "build %.12s ignored: upstream %s is not configured, or has another build in the "
	        "bundle",
	        key, a->upstream);
	tk_artifact_free(a);
	return TK_OK;
}

/* Upstreams that are built from source and are not in the bundle are left out of this night. */
static int import_bundle(struct tk_night *n, struct tk_error *err)
{
	char **keys = NULL;
	size_t count = 0, kept = 0;
	int status =
	        tk_upstream_import_bundle(n->config, n->options->import_file, &keys, &count, err);
	for (size_t i = 0; !status && i < count; i++)
		status = import_artifact(n, keys[i], err);
	for (size_t i = 0; !status && i < n->upstream_count; i++)
		if (!tk_upstream_kind_is_built(n->upstreams[i].config->kind) ||
		        n->upstreams[i].artifact_count)
			n->upstreams[kept++] = n->upstreams[i];
	if (!status)
		n->upstream_count = kept;
	tk_names_free(keys, count);
	return status;
}

/* The control and the ceilings come with the tracker: they are measured without a line in the
 * configuration. */
static char builtin_name[] = "builtin";
static const struct tk_upstream_config builtin = {
        .name = builtin_name, .kind = TK_UPSTREAM_BUILTIN, .enabled = true};

static void list_upstreams(struct tk_night *n)
{
	const char *only = n->options->only_upstream;
	n->upstreams = tk_calloc(n->config->upstream_count + 1, sizeof *n->upstreams);
	n->upstreams[n->upstream_count++].config = &builtin;
	for (size_t i = 0; i < n->config->upstream_count; i++) {
		const struct tk_upstream_config *config = &n->config->upstreams[i];
		if (!config->enabled || config->kind == TK_UPSTREAM_BUILTIN ||
		        (only && strcmp(only, config->name) != 0))
			continue;
		struct tk_night_upstream *u = &n->upstreams[n->upstream_count++];
		u->config = config;
		if (n->options->backfill_revision && only)
			snprintf(u->rev, sizeof u->rev, "%s", n->options->backfill_revision);
	}
}

int tk_night_resolve(struct tk_night *n, struct tk_error *err)
{
	list_upstreams(n);
	if (n->options->import_file)
		TRY(import_bundle(n, err));
	if (n->options->backfill_key)
		TRY(import_artifact(n, n->options->backfill_key, err));
	for (size_t i = 0; i < n->upstream_count; i++) {
		tk_night_announce_stage(n, "resolve", n->upstreams[i].config->name);
		TRY(resolve_upstream(n, &n->upstreams[i], err));
	}
	return TK_OK;
}

/* ---- stage "build" ---- */

/* Turns revisions into backends. A build that fails is a row with its log, and
 * its jobs get the outcome `build_failed`. */

#define LOG_TAIL_BYTES ((size_t)64 << 10)

/* Modules that measure the machine, not a kernel: the control and the ceilings. Optional ones
 * depend on how the tracker was built. */
static const struct builtin_module {
	const char *name;
	bool optional;
} builtin_modules[] = {
        {"control", false},
        {"ceiling", false},
        {"control_cuda", true},
        {"ceiling_cuda", true},
        {"cublaslt", true},
        {"control_hip", true},
        {"ceiling_hip", true},
        {"hipblaslt", true},
};

_Static_assert(sizeof builtin_modules / sizeof *builtin_modules <= TK_NIGHT_ARTIFACTS_MAX,
        "an upstream has room for all builtin modules");

static int use_module(
        struct tk_night *n, struct tk_night_upstream *u, const char *name, struct tk_error *err)
{
	const struct tk_module *m = tk_modules_find_backend(n->modules, name);
	if (!m)
		return tk_fail(err, TK_ENOTFOUND, "no backend \"%s\" in %s", name, n->modules->dir);
	TRY(tk_artifact_load_installed(m->path, m->name, &u->artifacts[u->artifact_count], err));
	u->artifact_count++;
	return TK_OK;
}

static int build_source(struct tk_night *n, struct tk_night_upstream *u, struct tk_error *err)
{
	if (u->artifact_count)
		return TK_OK; /* of a bundle */
	TRY(tk_upstream_build(n->config, u->config, u->rev, NULL, &u->artifacts[0], err));
	u->artifact_count = 1;
	return TK_OK;
}

static int make_artifacts(struct tk_night *n, struct tk_night_upstream *u, struct tk_error *err)
{
	if (u->config->kind == TK_UPSTREAM_SYSTEM)
		return use_module(
		        n, u, u->config->adapter ? u->config->adapter : u->config->name, err);
	if (u->config->kind != TK_UPSTREAM_BUILTIN)
		return build_source(n, u, err);
	for (size_t i = 0; i < sizeof builtin_modules / sizeof *builtin_modules; i++)
		if (!builtin_modules[i].optional ||
		        tk_modules_find_backend(n->modules, builtin_modules[i].name))
			TRY(use_module(n, u, builtin_modules[i].name, err));
	return TK_OK;
}

/* The code of a system library is not in our module, so its version is part of the hash. */
static void hash_code(
        const struct tk_night_upstream *u, const char *code_hash, char out[TK_HASH_HEX_SIZE])
{
	snprintf(out, TK_HASH_HEX_SIZE, "%s", code_hash);
	if (u->config->kind != TK_UPSTREAM_SYSTEM)
		return;
	struct tk_hash *h = tk_hash_new();
	tk_hash_add_str(h, code_hash);
	tk_hash_add_str(h, u->rev);
	tk_hash_finish(h, out);
}

static int put_kernels(struct tk_night *n, const struct tk_night_upstream *u,
        const struct tk_artifact_backend *b, struct tk_error *err)
{
	char hash[TK_HASH_HEX_SIZE];
	int64_t id;
	hash_code(u, b->code_hash, hash);
	struct tk_kernel_row whole = {.build_id = u->build_id,
	        .backend = b->name,
	        .name = "",
	        .code_hash = hash,
	        .registers = -1,
	        .spill_bytes = -1,
	        .shared_bytes = -1,
	        .threads = -1,
	        .occupancy_percent = -1};
	TRY(tk_store_put(n->store, TK_TABLE_kernel, &whole, &id, err));
	for (size_t i = 0; i < b->kernel_count; i++) {
		const struct tk_kernel_symbol *k = &b->kernels[i];
		struct tk_kernel_row row = {.build_id = u->build_id,
		        .backend = b->name,
		        .name = k->name,
		        .code_hash = k->code_hash,
		        .size_bytes = k->size_bytes,
		        .registers = k->registers,
		        .spill_bytes = k->spill_bytes,
		        .shared_bytes = k->shared_bytes,
		        .threads = k->threads,
		        .occupancy_percent = k->occupancy_percent,
		        .instructions = k->instructions};
		TRY(tk_store_put(n->store, TK_TABLE_kernel, &row, &id, err));
	}
	return TK_OK;
}

/* The end of a failed or partial build's log: its page must outlive the cache. "" of another one,
 * and of an upstream that may have printed what it should not have read. */
static char *read_log_tail(const struct tk_upstream_config *u, const struct tk_artifact *a)
{
	AUTO(tk_buf) log = TK_BUF_INIT;
	if ((!u->trusted && u->kind != TK_UPSTREAM_SELF) || a->status == TK_BUILD_OK ||
	        !a->log_path || !*a->log_path ||
	        tk_file_read(a->log_path, (size_t)64 << 20, &log, NULL))
		return tk_strdup("");
	size_t skip = log.len > LOG_TAIL_BYTES ? log.len - LOG_TAIL_BYTES : 0;
	return tk_strdup(tk_buf_cstr(&log) + skip);
}

static int put_build(struct tk_night *n, struct tk_night_upstream *u, struct tk_error *err)
{
	const struct tk_artifact *a = u->artifacts[0];
	AUTO_TEXT tail = read_log_tail(u->config, a);
	struct tk_build_row row = {.revision_id = u->revision_id,
	        .artifact_key = a->key,
	        .adapter = u->config->adapter ? u->config->adapter : u->config->name,
	        .toolchain = a->toolchain ? a->toolchain : "",
	        .flags = u->config->cmake_args ? u->config->cmake_args : "",
	        .arch = tk_text_or(a->arch, "native"),
	        .status = a->status,
	        .message = a->message ? a->message : "",
	        .log = tail,
	        .wall_s = a->wall_s,
	        .size_bytes = a->size_bytes,
	        .built_s = tk_clock_now_s()};
	TRY(tk_store_put(n->store, TK_TABLE_build, &row, &u->build_id, err));
	for (size_t i = 0; i < u->artifact_count; i++)
		for (size_t k = 0; k < u->artifacts[i]->backend_count; k++)
			TRY(put_kernels(n, u, &u->artifacts[i]->backends[k], err));
	return TK_OK;
}

int tk_night_build_upstream(struct tk_night *n, struct tk_night_upstream *u, struct tk_error *err)
{
	TRY(make_artifacts(n, u, err));
	return put_build(n, u, err);
}

static void count_build(struct tk_night *n, struct tk_night_upstream *u)
{
	const struct tk_artifact *a = u->artifacts[0];
	if (u->config->kind == TK_UPSTREAM_BUILTIN || u->config->kind == TK_UPSTREAM_SYSTEM)
		return;
	n->report->builds++;
	n->report->builds_cached += a->cached && a->status == TK_BUILD_OK;
	u->failed = !tk_build_status_is_usable(a->status);
	n->report->builds_failed += u->failed;
	n->report->builds_partial += a->status == TK_BUILD_PARTIAL;
	if (a->status != TK_BUILD_OK) {
		AUTO_TEXT why = tk_artifact_explain_failure(a);
		tk_log(TK_LOG_WARN, "build_failed", NULL, "%s %.12s: build %s: %s", u->config->name,
		        u->rev, tk_build_status_name(a->status), why);
	}
}

/* A build that could not be started fails this upstream only. */
static int record_failure(struct tk_night *n, struct tk_night_upstream *u,
        const struct tk_error *reason, struct tk_error *err)
{
	if (tk_night_is_fatal(reason->status))
		return tk_fail(err, reason->status, "%s", reason->message);
	tk_log(TK_LOG_WARN, "build_failed", NULL, "%s: %s", u->config->name, reason->message);
	if (u->status != TK_RESOLUTION_UNREACHABLE)
		u->status = TK_RESOLUTION_FAILED;
	snprintf(
	        u->message, sizeof u->message, "%.*s", (int)sizeof u->message - 1, reason->message);
	n->report->builds++;
	n->report->builds_failed++;
	u->failed = true;
	return TK_OK;
}

static int build_and_record(struct tk_night *n, struct tk_night_upstream *u, struct tk_error *err)
{
	struct tk_error reason = {0};
	if (!u->revision_id)
		return TK_OK; /* unreachable and never seen before */
	if (make_artifacts(n, u, &reason)) {
		TRY(record_failure(n, u, &reason, err));
	} else {
		TRY(put_build(n, u, err));
		count_build(n, u);
	}
	return put_resolution(n, u, err);
}

int tk_night_build(struct tk_night *n, struct tk_error *err)
{
	for (size_t i = 0; i < n->upstream_count; i++) {
		char what[200];
		snprintf(what, sizeof what, "%s %.12s", n->upstreams[i].config->name,
		        n->upstreams[i].rev);
		tk_night_announce_stage(n, "build", what);
		TRY(build_and_record(n, &n->upstreams[i], err));
	}
	return TK_OK;
}
