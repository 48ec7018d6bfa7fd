/* Where a side of `tracker ab` comes from: see ab_session.h. */
#include "base/base.h"
#include "core/kernel_package.h"
#include "nightly/compare/ab_session.h"
#include "nightly/plan/modules.h"
#include "nightly/stages/upstream_build.h"
#include "worker/worker.h"
#include <sys/stat.h>

#define WORKTREE "worktree"
#define THREADS_MAX 65536

/* ---- what the user wrote ---- */

static bool is_folder(const char *spec)
{
	return *spec == '/' || tk_has_prefix(spec, "./") || tk_has_prefix(spec, "../") ||
	       tk_has_prefix(spec, "~/") || strcmp(spec, ".") == 0 || strcmp(spec, "..") == 0;
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
	if (strstr(repo->url, "://") && !tk_has_prefix(repo->url, "file://"))
		return NULL;
	const char *path = tk_has_prefix(repo->url, "file://") ? repo->url + 7 : repo->url;
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
	TRY(tk_upstream_build(n->config, &source, r->id, NULL, &side->artifact, err));
	const struct tk_artifact *a = side->artifact;
	if (!tk_build_status_is_usable(a->status))
		return tk_fail(err, TK_EDATA, "%.12s does not build (%s): %s (log: %s)", r->id,
		        tk_build_status_name(a->status), a->message ? a->message : "",
		        a->log_path ? a->log_path : "-");
	side->report->built = true;
	side->report->cached = a->cached;
	snprintf(side->report->toolchain, sizeof side->report->toolchain, "%s",
	        a->toolchain ? a->toolchain : "");
	return TK_OK;
}

/* ---- backends ---- */

/* Kind and name as the backend itself reports them; new strings. name: may be NULL. */
static int query_backend(
        struct tk_night *n, const char *path, char **kind, char **name, struct tk_error *err)
{
	AUTO_PTR(tk_worker) worker = NULL; /* a sandbox shows the folder of one backend */
	json_auto_t *info = NULL;
	TRY(tk_night_new_worker(n, &n->devices[0], NULL, &worker, err));
	TRY(tk_worker_query_backend(worker, path, &info, err));
	const char *k = json_string_value(json_object_get(info, "device_kind")),
	           *s = json_string_value(json_object_get(info, "name"));
	*kind = tk_strdup(k ? k : "");
	if (name)
		*name = tk_strdup(s ? s : "");
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
	const struct tk_artifact *a = side->artifact;
	side->kinds = tk_calloc(a->backend_count + 1, sizeof *side->kinds);
	side->kind_count = a->backend_count;
	for (size_t i = 0; i < a->backend_count; i++)
		TRY(query_backend(n, a->backends[i].path, &side->kinds[i], NULL, err));
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
		snprintf(sources[k].report->spec, sizeof sources[k].report->spec, "%s", specs[k]);
		if (resolve(n, u, specs[k], &sources[k], &why))
			return fail_side(&sources[k], &why, err);
	}
	for (int k = 0; k < TK_AB_SIDES; k++)
		if (build_revision(n, u, &sources[k], &why))
			return fail_side(&sources[k], &why, err);
	return TK_OK;
}

/* ---- shared objects and backends of this tracker ---- */

/* "threads=N" and "config=NAME" are the tracker's, all others the backend's. */
static int parse_options(struct tk_ab_source *side, const char *text, struct tk_error *err)
{
	AUTO_TEXT copy = tk_strdup(text);
	char *rest = copy, *end;
	side->options = tk_calloc(1, strlen(text) + 2);
	for (char *word; rest && (word = strsep(&rest, ","));) {
		if (!*word)
			continue;
		if (!strchr(word, '='))
			return tk_fail(err, TK_EUSAGE, "\"%s\": expected KEY=VALUE", word);
		char *value = strchr(word, '=') + 1;
		if (tk_has_prefix(word, "threads=")) {
			long threads = strtol(value, &end, 10);
			if (!*value || *end || threads < 1 || threads > THREADS_MAX)
				return tk_fail(err, TK_EUSAGE,
				        "threads=%s: expected a number from 1 to %d", value,
				        THREADS_MAX);
			side->threads = (uint32_t)threads;
		} else if (tk_has_prefix(word, "config=")) {
			free(side->config);
			side->config = tk_strdup(value);
		} else {
			strcat(strcat(side->options, *side->options ? "," : ""), word);
		}
	}
	return TK_OK;
}

/* ---- a file that the user may replace ---- */

static int64_t nanoseconds(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int keep_newest(void *arg, const char *relative, const struct stat *st, struct tk_error *err)
{
	int64_t *newest_ns = arg, changed_ns = nanoseconds(st->st_ctim);
	(void)relative, (void)err;
	if (*newest_ns < changed_ns)
		*newest_ns = changed_ns;
	return TK_OK;
}

/* A file that is written in place keeps all but its times, of which a program can set st_mtim. */
static int read_file_state(const char *path, struct tk_ab_file_state *out, struct tk_error *err)
{
	struct stat st;
	int64_t newest_ns = 0;
	if (stat(path, &st))
		return tk_fail_errno(err, "%s", path);
	if (S_ISDIR(st.st_mode))
		TRY(tk_dir_walk(path, keep_newest, &newest_ns, err));
	*out = (struct tk_ab_file_state){{(int64_t)st.st_dev, (int64_t)st.st_ino,
	        (int64_t)st.st_size, nanoseconds(st.st_mtim), nanoseconds(st.st_ctim), newest_ns}};
	return TK_OK;
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

int tk_ab_source_check_file(struct tk_ab_source *side, struct tk_error *err)
{
	struct tk_ab_file_state now;
	char hash[TK_HASH_HEX_SIZE];
	if (!side->file)
		return TK_OK;
	const bool there = !read_file_state(side->file, &now, NULL);
	if (there && memcmp(&now, &side->file_state, sizeof now) == 0)
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
		if (strlen(name) == (size_t)(colon - spec) && tk_has_prefix(spec, name))
			return NULL;
	}
	return colon;
}

int tk_ab_source_load(
        struct tk_night *n, const char *spec, struct tk_ab_source *side, struct tk_error *err)
{
	const char *colon = find_options(n->config, spec);
	AUTO_TEXT file = tk_strndup(spec, colon ? (size_t)(colon - spec) : strlen(spec));
	struct tk_error why = {0};
	snprintf(side->report->spec, sizeof side->report->spec, "%s", spec);
	if (parse_options(side, colon ? colon + 1 : "", &why) || load_module(n, file, side, &why))
		return fail_side(side, &why, err);
	return TK_OK;
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
