/* See ab_source.h. */
#include "nightly/compare/ab_source.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/try.h"
#include "base/units.h"
#include "core/kernel_package.h"
#include "nightly/plan/modules.h"
#include "nightly/stages/upstream_build.h"
#include "worker/worker.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKTREE "worktree"
#define THREADS_MAX 65536

/* ---- what the user wrote ---- */

static bool has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool is_folder(const char *spec)
{
	return *spec == '/' || has_prefix(spec, "./") || has_prefix(spec, "../") ||
	       has_prefix(spec, "~/") || strcmp(spec, ".") == 0 || strcmp(spec, "..") == 0;
}

static void name_side(struct tk_ab_source *side, const char *spec)
{
	snprintf(side->report->spec, sizeof side->report->spec, "%s", spec);
}

/* Wrong input of the user, whatever layer found it. */
static int fail_side(
        const struct tk_ab_source *side, const struct tk_error *why, struct tk_error *err)
{
	int status =
	        why->status == TK_ENOTFOUND || why->status == TK_ECONFIG ? TK_EUSAGE : why->status;
	return tk_fail(
	        err, status, "%s%s: %s", side->report->option, side->report->spec, why->message);
}

/* ---- revisions and work trees ---- */

/* The folder of a work tree; NULL: the repository of the upstream is not a local one. */
static char *find_worktree(
        const struct tk_config *config, const struct tk_repo *repo, const char *spec)
{
	if (strcmp(spec, WORKTREE) != 0)
		return tk_path_resolve(".", spec);
	if (strstr(repo->url, "://") && !has_prefix(repo->url, "file://"))
		return NULL;
	const char *path = has_prefix(repo->url, "file://") ? repo->url + 7 : repo->url;
	return tk_dir_exists(path) ? tk_path_resolve(config->root, path) : NULL;
}

static int snapshot_worktree(const struct tk_night *n, const struct tk_repo *repo, const char *spec,
        struct tk_ab_source *side, struct tk_error *err)
{
	AUTO_TEXT folder = find_worktree(n->config, repo, spec);
	if (!folder)
		return tk_fail(err, TK_EUSAGE,
		        "the repository of %s is not on this machine; expected a folder with a "
		        "work "
		        "tree of it, for instance --%s=./FOLDER",
		        repo->name, side->report->name);
	side->report->is_worktree = true;
	return tk_repo_snapshot(repo, folder, &side->snapshot, &side->report->revision, err);
}

static int resolve(const struct tk_night *n, const struct tk_upstream_config *u, const char *spec,
        struct tk_ab_source *side, struct tk_error *err)
{
	struct tk_repo repo;
	TRY(tk_upstream_check_adapter(n->config, u, err));
	tk_upstream_init_repo(n->config, u, &repo);
	if (strcmp(spec, WORKTREE) == 0 || is_folder(spec)) {
		if (repo.kind == TK_REPO_PACKAGE)
			return tk_fail(err, TK_EUSAGE,
			        "%s is a Python package and has no work tree; expected a version",
			        u->name);
		return snapshot_worktree(n, &repo, spec, side, err);
	}
	return tk_repo_find_revision(&repo, spec, &side->report->revision, err);
}

static void describe_build(struct tk_ab_source *side)
{
	const struct tk_artifact *a = side->artifact;
	side->report->built = true;
	side->report->cached = a->cached;
	snprintf(side->report->toolchain, sizeof side->report->toolchain, "%s",
	        a->toolchain ? a->toolchain : "");
}

/* The commit of a snapshot is in the clone that it was made in. */
static int build(struct tk_night *n, const struct tk_upstream_config *u, struct tk_ab_source *side,
        struct tk_error *err)
{
	struct tk_upstream_config source = *u;
	const struct tk_revision *r = &side->report->revision;
	char detail[200];
	if (!source.adapter)
		source.adapter = source.name;
	if (side->snapshot) {
		source.kind = TK_UPSTREAM_SELF;
		source.url = side->snapshot;
	}
	snprintf(detail, sizeof detail, "%s %.12s (%s)", u->name, r->id, side->report->name);
	tk_night_announce_stage(n, "build", detail);
	int status = tk_upstream_build(n->config, &source, r->id, NULL, &side->artifact, err);
	if (status)
		return status;
	const struct tk_artifact *a = side->artifact;
	if (a->status != TK_BUILD_OK)
		return tk_fail(err, TK_EDATA, "%.12s does not build (%s): %s (log: %s)", r->id,
		        tk_build_status_name(a->status), a->message ? a->message : "",
		        a->log_path ? a->log_path : "-");
	describe_build(side);
	return TK_OK;
}

/* ---- backends ---- */

/* Kind and name as the backend itself reports them; new strings. */
static int query_backend(
        struct tk_night *n, const char *path, char **kind, char **name, struct tk_error *err)
{
	struct tk_worker *worker = NULL; /* a new one: a sandbox shows the folder of one backend */
	json_auto_t *info = NULL;
	int status = tk_night_new_worker(n, &n->devices[0], NULL, &worker, err);
	if (!status)
		status = tk_worker_query_backend(worker, path, &info, err);
	const char *k = json_string_value(json_object_get(info, "device_kind")),
	           *s = json_string_value(json_object_get(info, "name"));
	if (!status) {
		*kind = tk_strdup(k ? k : "");
		*name = tk_strdup(s ? s : "");
	}
	tk_worker_free(worker);
	return status;
}

static int query_kinds(struct tk_night *n, struct tk_ab_source *side, struct tk_error *err)
{
	const struct tk_artifact *a = side->artifact;
	side->kinds = tk_calloc(a->backend_count + 1, sizeof *side->kinds);
	side->kind_count = a->backend_count;
	for (size_t i = 0; i < a->backend_count; i++) {
		AUTO_TEXT name = NULL;
		TRY(query_backend(n, a->backends[i].path, &side->kinds[i], &name, err));
	}
	return TK_OK;
}

int tk_ab_find_upstream(const struct tk_config *config, const char *name,
        const struct tk_upstream_config **out, struct tk_error *err)
{
	char hint[TK_SUGGEST_HINT_SIZE];
	*out = tk_config_find_upstream(config, name);
	if (!*out)
		return tk_fail(err, TK_EUSAGE,
		        "\"%s\" is neither an upstream of tracker.yml nor a problem%s", name,
		        tk_config_suggest_upstream(config, name, NULL, "", hint));
	if (!tk_upstream_kind_is_built((*out)->kind))
		return tk_fail(err, TK_EUSAGE,
		        "%s is an installed library and has no revisions; compare two backends: "
		        "tracker ab --base=BACKEND --head=BACKEND",
		        name);
	return TK_OK;
}

static int build_revision(struct tk_night *n, const struct tk_upstream_config *u,
        struct tk_ab_source *side, struct tk_error *err)
{
	TRY(build(n, u, side, err));
	TRY(query_kinds(n, side, err));
	side->options = tk_strdup(u->options ? u->options : "");
	return TK_OK;
}

int tk_ab_sources_build(struct tk_night *n, const struct tk_upstream_config *u,
        const char *const specs[TK_AB_SIDES], struct tk_ab_source sources[TK_AB_SIDES],
        struct tk_error *err)
{
	struct tk_error why = {0};
	/* Both before the first of them is built, which takes minutes: a name may be wrong. */
	for (int k = 0; k < TK_AB_SIDES; k++) {
		name_side(&sources[k], specs[k]);
		if (resolve(n, u, specs[k], &sources[k], &why))
			return fail_side(&sources[k], &why, err);
	}
	for (int k = 0; k < TK_AB_SIDES; k++)
		if (build_revision(n, u, &sources[k], &why))
			return fail_side(&sources[k], &why, err);
	return TK_OK;
}

int tk_ab_source_find_backend(
        const struct tk_ab_source *s, const char *backend, char **path, struct tk_error *err)
{
	const struct tk_artifact *a = s->artifact;
	for (size_t i = 0; i < a->backend_count; i++)
		if (strcmp(a->backends[i].name, backend) == 0) {
			*path = tk_strdup(a->backends[i].path);
			return TK_OK;
		}
	return tk_fail(err, TK_EUSAGE, "%s%s: the build has no backend \"%s\"", s->report->option,
	        s->report->spec, backend);
}

/* ---- shared objects and backends of this tracker ---- */

static int parse_threads(struct tk_ab_source *side, const char *value, struct tk_error *err)
{
	char *end;
	long threads = strtol(value, &end, 10);
	if (!*value || *end || threads < 1 || threads > THREADS_MAX)
		return tk_fail(err, TK_EUSAGE, "threads=%s: expected a number from 1 to %d", value,
		        THREADS_MAX);
	side->threads = (uint32_t)threads;
	return TK_OK;
}

/* "threads=N" and "config=NAME" are the tracker's, all others the backend's. */
static int parse_options(struct tk_ab_source *side, const char *text, struct tk_error *err)
{
	char *copy = tk_strdup(text), *rest = copy;
	int status = TK_OK;
	side->options = tk_calloc(1, strlen(text) + 2);
	for (char *word; !status && rest && (word = strsep(&rest, ","));) {
		if (!*word)
			continue;
		if (!strchr(word, '='))
			status = tk_fail(err, TK_EUSAGE, "\"%s\": expected KEY=VALUE", word);
		else if (has_prefix(word, "threads="))
			status = parse_threads(side, word + strlen("threads="), err);
		else if (has_prefix(word, "config=")) {
			free(side->config);
			side->config = tk_strdup(word + strlen("config="));
		} else {
			if (*side->options)
				strcat(side->options, ",");
			strcat(side->options, word);
		}
	}
	free(copy);
	return status;
}

static bool is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

static int keep_newest(void *arg, const char *relative, const struct stat *st, struct tk_error *err)
{
	struct timespec *newest = arg;
	(void)relative, (void)err;
	if (is_before(*newest, st->st_ctim))
		*newest = st->st_ctim;
	return TK_OK;
}

/* A file that is written in place keeps all but its times, of which a program can set st_mtim. */
static int read_file_state(const char *path, struct tk_ab_file_state *out, struct tk_error *err)
{
	struct tk_ab_file_state state = {0};
	int status = TK_OK;
	if (stat(path, &state.file))
		return tk_fail_errno(err, "%s", path);
	if (S_ISDIR(state.file.st_mode))
		status = tk_dir_walk(path, keep_newest, &state.newest, err);
	if (!status)
		*out = state;
	return status;
}

static int load_module(
        struct tk_night *n, const char *file, struct tk_ab_source *side, struct tk_error *err)
{
	AUTO_TEXT name = NULL;
	struct tk_error why = {0};
	TRY(tk_backend_find(n->config, n->modules, file, &side->file, err));
	/* before it is read: what replaces it from now on is another file */
	TRY(read_file_state(side->file, &side->file_state, err));
	side->kinds = tk_calloc(2, sizeof *side->kinds);
	side->kind_count = 1;
	int status = query_backend(n, side->file, &side->kinds[0], &name, &why);
	if (status)
		return tk_fail(err, status == TK_ECANCELED ? status : TK_EUSAGE, "%s", why.message);
	if (tk_kernel_package_device_kind(side->file) != TK_DEVICE_OTHER) {
		free(name); /* that of what launches it */
		name = tk_check_memory(tk_kernel_package_backend(side->file));
	}
	TRY(tk_artifact_load_installed(side->file, name, &side->artifact, err));
	snprintf(side->report->backend, sizeof side->report->backend, "%s", name);
	return TK_OK;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_same_state(const struct tk_ab_file_state *a, const struct tk_ab_file_state *b)
{
	return a->file.st_dev == b->file.st_dev && a->file.st_ino == b->file.st_ino &&
	       a->file.st_size == b->file.st_size &&
	       is_same_time(a->file.st_mtim, b->file.st_mtim) &&
	       is_same_time(a->file.st_ctim, b->file.st_ctim) && is_same_time(a->newest, b->newest);
}

int tk_ab_source_check_file(struct tk_ab_source *side, struct tk_error *err)
{
	struct tk_ab_file_state now;
	char hash[TK_HASH_HEX_SIZE];
	if (!side->file)
		return TK_OK;
	const bool there = !read_file_state(side->file, &now, NULL);
	if (there && is_same_state(&now, &side->file_state))
		return TK_OK;
	/* built again with the same result is the same file */
	if (there && !tk_backend_file_hash(side->file, hash, NULL) &&
	        strcmp(hash, side->artifact->key) == 0) {
		side->file_state = now;
		return TK_OK;
	}
	return tk_fail(err, TK_EDATA,
	        "%s was replaced while it was measured; measure again, or compare copies",
	        side->file);
}

static bool is_file(const char *spec, const char *end)
{
	AUTO_TEXT path = tk_strndup(spec, (size_t)(end - spec));
	const bool is_package = tk_kernel_package_device_kind(path) != TK_DEVICE_OTHER;
	return is_package ? tk_dir_exists(path) : tk_file_exists(path);
}

/* The first colon before "KEY=": a value may have slashes. The name of a folder may have a ":" and
 * a "=", so that a colon after a file that exists is preferred. */
static const char *find_first_key(const char *spec)
{
	const char *first = NULL;
	if (is_file(spec, spec + strlen(spec)))
		return NULL;
	for (const char *colon = strchr(spec, ':'); colon; colon = strchr(colon + 1, ':')) {
		const size_t key = strcspn(colon + 1, "=/:,");
		if (!key || colon[1 + key] != '=')
			continue;
		if (is_file(spec, colon))
			return colon;
		if (!first)
			first = colon;
	}
	return first;
}

/* The colon before "KEY=VALUE,...": not that of UPSTREAM:BACKEND. NULL: there are no options. */
static const char *find_options(const struct tk_config *config, const char *spec)
{
	const char *key = find_first_key(spec), *slash = strrchr(spec, '/');
	if (key)
		return key;
	const char *colon = strrchr(slash ? slash : spec, ':');
	for (size_t i = 0; colon && !slash && i < config->upstream_count; i++) {
		const char *name = config->upstreams[i].name;
		if (strlen(name) == (size_t)(colon - spec) && has_prefix(spec, name))
			return NULL;
	}
	return colon;
}

static int load(
        struct tk_night *n, const char *spec, struct tk_ab_source *side, struct tk_error *err)
{
	const char *colon = find_options(n->config, spec);
	AUTO_TEXT file = tk_strndup(spec, colon ? (size_t)(colon - spec) : strlen(spec));
	TRY(parse_options(side, colon ? colon + 1 : "", err));
	return load_module(n, file, side, err);
}

int tk_ab_source_load(
        struct tk_night *n, const char *spec, struct tk_ab_source *side, struct tk_error *err)
{
	struct tk_error why = {0};
	name_side(side, spec);
	return load(n, spec, side, &why) ? fail_side(side, &why, err) : TK_OK;
}

void tk_ab_source_init(
        struct tk_ab_source *s, enum tk_ab_side_id side, struct tk_ab_side_report *report)
{
	*s = (struct tk_ab_source){.report = report};
	report->name = side == TK_AB_BASE ? "base" : "head";
	report->option = side == TK_AB_BASE ? "--base=" : "--head=";
}

void tk_ab_source_close(struct tk_ab_source *side)
{
	for (size_t i = 0; i < side->kind_count; i++)
		free(side->kinds[i]);
	free(side->kinds);
	tk_artifact_free(side->artifact);
	if (side->snapshot)
		tk_dir_remove(side->snapshot, NULL);
	free(side->snapshot);
	free(side->options);
	free(side->config);
	free(side->file);
}
