/* A commit that changes nothing of what a build of another commit read has the machine code of that
 * one: its artifact is made without a checkout. */
#include "build/build_internal.h"
#include "upstream/repo.h"
#include <unistd.h>

#define TRIES 4 /* builds that are compared with a commit, the nearest first */
#define LIB_MAX_BYTES ((uint64_t)8 << 30)
#define LOG_MAX_BYTES ((size_t)128 << 20)

#define NOT_BUILT "not built: "

struct candidate {
	struct tk_artifact *artifact;
	int64_t distance; /* commits between them */
};

static int nearest_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	return x->distance != y->distance ? (x->distance > y->distance ? 1 : -1)
	                                  : strcmp(x->artifact->key, y->artifact->key);
}

/* Builds of other revisions by the same recipe that would be remembered for this one; the caller
 * frees them and the list. */
static int find_candidates(const char *cache_dir, const struct tk_build_key *key,
        const struct tk_revision *head, struct candidate **out, size_t *count, struct tk_error *err)
{
	char **keys = NULL;
	size_t n = 0;
	TRY(tk_artifact_list_keys(cache_dir, &keys, &n, err));
	*out = tk_calloc(n + 1, sizeof **out);
	for (size_t i = 0; i < n; i++) {
		AUTO_TEXT dir = tk_path_join3(cache_dir, "artifacts", keys[i]);
		AUTO_TEXT list = tk_reads_path(dir);
		struct tk_artifact *a = NULL;
		if (!tk_reads_has_recipe(list, key->recipe) || tk_manifest_read(dir, &a, NULL))
			continue;
		const int64_t distance = llabs((long long)(a->commit.position - head->position));
		const bool is_valid = a->status == TK_BUILD_OK ||
		                      (tk_build_status_is_usable(a->status) &&
		                              !strcmp(a->environment, key->environment));
		if (is_valid && strcmp(a->key, key->hex) != 0)
			(*out)[(*count)++] = (struct candidate){a, distance};
		else
			tk_artifact_free(a);
	}
	tk_names_free(keys, n);
	tk_sort(*out, *count, sizeof **out, nearest_first);
	return TK_OK;
}

/* Whether the commit changes nothing that the build of `a` read. False also where one of them is
 * not in the clone, or the artifact is damaged. */
static bool is_same(
        const struct tk_build_spec *spec, const struct tk_artifact *a, const char *revision)
{
	const struct tk_repo *repo = spec->repo;
	AUTO(tk_changes) changes = {.count = 0};
	AUTO_TEXT list = tk_reads_path(a->dir);
	const struct tk_change *found = NULL;
	struct tk_error why = {0};
	if (tk_repo_list_changes(repo, a->revision, revision, &changes, &why) ||
	        tk_reads_find_change(list, &changes, &found, &why) ||
	        tk_manifest_verify(a, false, &why)) {
		tk_log(TK_LOG_DEBUG, "same_code_unknown", NULL, "%s: %s", repo->name, why.message);
		return false;
	}
	if (found && spec->changed && !*spec->changed)
		snprintf(spec->changed, TK_CHANGED_SIZE, "%s", found->path);
	if (found)
		tk_log(TK_LOG_DEBUG, "reads_changed", NULL, "%s %.12s: the build of %.12s reads %s",
		        repo->name, revision, a->revision, found->path);
	return !found;
}

/* The artifact `a`, which is changed, as one of this key and commit. */
static int publish(struct tk_artifact *a, const char *cache_dir, const struct tk_build_key *key,
        const struct tk_revision *head, const char *temp, struct tk_error *err)
{
	AUTO_TEXT from = tk_reads_path(a->dir);
	AUTO_TEXT to = tk_reads_path(temp);
	AUTO_TEXT log = tk_path_join(temp, "build.log");
	AUTO(tk_buf) text = TK_BUF_INIT;
	AUTO(tk_buf) theirs = TK_BUF_INIT;
	if (!*a->same_as) {
		free(a->same_as);
		a->same_as = tk_strdup(a->revision);
	}
	tk_buf_add_printf(&text,
	        NOT_BUILT "no file that the build of %s read is another one at %s; its log:\n",
	        a->same_as, head->id);
	TRY(tk_file_read(a->log_path, LOG_MAX_BYTES, &theirs, err));
	/* of a copy without the line above */
	const char *start = tk_buf_cstr(&theirs);
	if (!strncmp(start, NOT_BUILT, strlen(NOT_BUILT)))
		start += strcspn(start, "\n") + 1;
	tk_buf_add_str(&text, start);
	TRY(tk_build_collect(a->dir, temp, LIB_MAX_BYTES, err));
	if (link(from, to))
		return tk_fail_errno(err, "cannot link %s to %s", from, to);
	TRY(tk_file_write_nosync(log, text.data, text.len, err));
	memcpy(a->key, key->hex, sizeof a->key);
	free(a->revision);
	a->revision = tk_strdup(head->id);
	a->commit = *head;
	a->built_s = tk_clock_now_s();
	a->wall_s = a->cpu_s = 0;
	TRY(tk_manifest_write(a, temp, err));
	return tk_cache_publish(cache_dir, key->hex, temp, err);
}

static int make_copy(struct tk_artifact *a, const char *cache_dir, const struct tk_build_key *key,
        const struct tk_revision *head, struct tk_error *err)
{
	AUTO_TEXT artifacts = tk_path_join(cache_dir, "artifacts");
	AUTO_TEXT temp = NULL;
	TRY(tk_dir_create_temp(artifacts, ".new-", &temp, err));
	AUTO_TEXT inside = tk_path_join(temp, "artifact");
	int status = tk_dir_create(inside, err);
	if (!status)
		status = publish(a, cache_dir, key, head, inside, err);
	tk_dir_remove(temp, NULL);
	return status;
}

int tk_build_reuse(const struct tk_build_spec *spec, const struct tk_build_key *key,
        struct tk_artifact **out, struct tk_error *err)
{
	struct tk_revision head;
	struct candidate *list = NULL;
	struct tk_artifact *same = NULL;
	size_t count = 0;
	if (spec->repo->kind == TK_REPO_PACKAGE ||
	        tk_repo_find_revision(spec->repo, spec->revision, &head, NULL))
		return TK_OK;
	int status = find_candidates(spec->cache_dir, key, &head, &list, &count, err);
	for (size_t i = 0; !status && !same && i < count && i < TRIES; i++)
		if (is_same(spec, list[i].artifact, head.id))
			same = list[i].artifact;
	if (!status && same)
		status = make_copy(same, spec->cache_dir, key, &head, err);
	if (!status && same)
		status = tk_artifact_load(spec->cache_dir, key->hex, out, err);
	if (*out) {
		(*out)->cached = false;
		tk_log(TK_LOG_INFO, "same_code", NULL,
		        "%s %.12s has the machine code of %.12s: nothing that its build read is "
		        "changed",
		        spec->repo->name, head.id, (*out)->same_as);
	}
	for (size_t i = 0; i < count; i++)
		tk_artifact_free(list[i].artifact);
	free(list);
	return status;
}
