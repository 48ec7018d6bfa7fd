/* The artifact cache: <cache>/artifacts/<key>/, published by rename, evicted by least recent use;
 * and artifacts as one .tar.zst, from a machine that builds to machines that measure.
 *
 * The modification time of manifest.json is the time of last use. Builders of one key wait for each
 * other with a lock in artifacts/locks/. */
#include "base/base.h"
#include "build/build_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define STALE_S (2 * 24 * 3600)
#define BUNDLE_MAX ((size_t)16 << 30) /* unpacked bytes that an import may write */

bool tk_build_key_is_valid(const char *key)
{
	return strlen(key) == TK_HASH_HEX_SIZE - 1 &&
	       strspn(key, "0123456789abcdef") == TK_HASH_HEX_SIZE - 1;
}

static char *artifacts_dir(const char *cache_dir)
{
	return tk_path_join(cache_dir, "artifacts");
}

int tk_cache_lock(const char *cache_dir, const char *key, double wait_s, struct tk_lock **out,
        struct tk_error *err)
{
	AUTO_TEXT dir = tk_path_join3(cache_dir, "artifacts", "locks");
	AUTO_TEXT path = tk_path_join(dir, key);
	TRY(tk_dir_create(dir, err));
	return tk_lock_wait(path, wait_s, out, err);
}

/* Renamed before it is removed: a reader sees the whole artifact or none. */
static int remove_artifact(const char *artifacts, const char *dir, struct tk_error *err)
{
	AUTO_TEXT trash = NULL;
	TRY(tk_dir_create_temp(artifacts, ".old-", &trash, err));
	AUTO_TEXT inside = tk_path_join(trash, "a");
	const bool is_moved = !rename(dir, inside) || errno == ENOENT;
	const int status = is_moved ? TK_OK : tk_fail_errno(err, "cannot remove %s", dir);
	const int removed = tk_dir_remove(trash, status ? NULL : err);
	return status ? status : removed;
}

int tk_cache_publish(const char *cache_dir, const char *key, const char *from, struct tk_error *err)
{
	AUTO_TEXT artifacts = artifacts_dir(cache_dir);
	AUTO_TEXT to = tk_path_join(artifacts, key);
	if (tk_dir_exists(to))
		TRY(remove_artifact(artifacts, to, err));
	if (rename(from, to))
		return tk_fail_errno(err, "cannot put the artifact into %s", to);
	return TK_OK;
}

int tk_artifact_load(
        const char *cache_dir, const char *key, struct tk_artifact **out, struct tk_error *err)
{
	if (!tk_build_key_is_valid(key))
		return tk_fail(err, TK_EUSAGE, "\"%.80s\" is not an artifact's key", key);
	AUTO_TEXT dir = tk_path_join3(cache_dir, "artifacts", key);
	AUTO_TEXT manifest = tk_path_join(dir, "manifest.json");
	if (!tk_file_exists(manifest))
		return tk_fail(err, TK_ENOTFOUND, "the cache has no artifact %s", key);
	TRY(tk_manifest_read(dir, out, err));
	if (strcmp((*out)->key, key)) {
		const int status = tk_fail(
		        err, TK_EDATA, "%s: the manifest is of the artifact %s", dir, (*out)->key);
		tk_artifact_free(*out);
		*out = NULL;
		return status;
	}
	(void)utimensat(AT_FDCWD, manifest, NULL, 0); /* fails harmlessly in a read-only cache */
	(*out)->cached = true;
	return TK_OK;
}

int tk_artifact_list_keys(const char *cache_dir, char ***keys, size_t *count, struct tk_error *err)
{
	char **names = NULL;
	size_t n = 0, kept = 0;
	AUTO_TEXT dir = artifacts_dir(cache_dir);
	if (tk_dir_exists(dir))
		TRY(tk_dir_list(dir, &names, &n, err));
	for (size_t i = 0; i < n; i++)
		if (tk_build_key_is_valid(names[i]))
			names[kept++] = names[i];
		else
			free(names[i]);
	*keys = names;
	*count = kept;
	return TK_OK;
}

/* ---- eviction ---- */

struct entry {
	const char *key;
	int64_t used_ns; /* without a manifest: oldest of all */
	uint64_t bytes;
};

static int least_recent_first(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->used_ns != y->used_ns)
		return x->used_ns < y->used_ns ? -1 : 1;
	return strcmp(x->key, y->key);
}

static struct entry read_entry(const char *artifacts, const char *key)
{
	struct stat st;
	AUTO_TEXT dir = tk_path_join(artifacts, key);
	AUTO_TEXT manifest = tk_path_join(dir, "manifest.json");
	struct entry e = {.key = key, .bytes = (uint64_t)tk_dir_size(dir)};
	if (!stat(manifest, &st))
		e.used_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return e;
}

/* Removes temporary folders of killed processes. */
static void remove_stale_temps(const char *artifacts)
{
	char **names = NULL;
	size_t count = 0;
	if (tk_dir_list(artifacts, &names, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++) {
		struct stat st;
		AUTO_TEXT path = tk_path_join(artifacts, names[i]);
		if ((!strncmp(names[i], ".new-", 5) || !strncmp(names[i], ".old-", 5)) &&
		        !lstat(path, &st) && st.st_mtime < tk_clock_now_s() - STALE_S)
			tk_dir_remove(path, NULL);
	}
	tk_names_free(names, count);
}

/* *bytes becomes 0 where it is in use. */
static int evict_one(const char *cache_dir, const char *artifacts, const char *key, uint64_t *bytes,
        struct tk_error *err)
{
	AUTO_PTR(tk_lock) lock = NULL;
	AUTO_TEXT dir = tk_path_join(artifacts, key);
	const int status = tk_cache_lock(cache_dir, key, 0, &lock, err);
	if (status == TK_EBUSY)
		*bytes = 0;
	return status == TK_EBUSY ? TK_OK : status ? status : remove_artifact(artifacts, dir, err);
}

static bool is_listed(const char *key, const char *const *keys, size_t count)
{
	while (count && (!keys[count - 1] || strcmp(keys[count - 1], key)))
		count--;
	return count > 0;
}

int tk_artifact_evict(const char *cache_dir, uint64_t max_bytes, const char *const *keep,
        size_t keep_count, struct tk_error *err)
{
	char **keys = NULL;
	size_t n = 0;
	uint64_t total = 0;
	AUTO_TEXT artifacts = artifacts_dir(cache_dir);
	TRY(tk_artifact_list_keys(cache_dir, &keys, &n, err));
	struct entry *entries = tk_calloc(n, sizeof *entries);
	for (size_t i = 0; i < n; i++) {
		entries[i] = read_entry(artifacts, keys[i]);
		total += entries[i].bytes;
	}
	tk_sort(entries, n, sizeof *entries, least_recent_first);
	int status = TK_OK;
	for (size_t i = 0; !status && i < n && total > max_bytes; i++) {
		if (is_listed(entries[i].key, keep, keep_count))
			continue;
		status = evict_one(cache_dir, artifacts, entries[i].key, &entries[i].bytes, err);
		total -= status ? 0 : entries[i].bytes;
	}
	if (!status)
		remove_stale_temps(artifacts);
	free(entries);
	tk_names_free(keys, n);
	return status;
}

/* ---- bundles ---- */

int tk_artifact_export(
        const char *cache_dir, const char *const *keys, const char *file, struct tk_error *err)
{
	AUTO_TEXT artifacts = artifacts_dir(cache_dir);
	if (!*keys)
		return tk_fail(err, TK_EUSAGE, "nothing to export");
	for (const char *const *key = keys; *key; key++) {
		AUTO_PTR(tk_artifact) a = NULL;
		TRY(tk_artifact_load(cache_dir, *key, &a, err));
		if (!tk_build_status_is_usable(a->status))
			return tk_fail(err, TK_EUSAGE,
			        "the artifact %.12s is of a failed build, which is not exported",
			        *key);
	}
	return tk_archive_write(file, artifacts, keys, err);
}

static int check_folder(const char *temp, const char *key, struct tk_error *err)
{
	struct tk_artifact *a = NULL;
	if (!tk_build_key_is_valid(key))
		return tk_fail(err, TK_EDATA,
		        "contains \"%.80s\"; expected folders named by an artifact's key", key);
	AUTO_TEXT dir = tk_path_join(temp, key);
	int status = tk_manifest_read(dir, &a, err);
	if (status == TK_ENOTFOUND)
		return tk_fail(err, TK_EDATA, "%.12s has no manifest.json", key);
	if (!status)
		status = tk_manifest_verify(a, true, err);
	if (!status && strcmp(a->key, key))
		status = tk_fail(
		        err, TK_EDATA, "the folder %.12s has the manifest of %.12s", key, a->key);
	if (!status && !tk_build_status_is_usable(a->status))
		status = tk_fail(err, TK_EDATA, "%.12s is of a failed build", key);
	tk_artifact_free(a);
	return status;
}

/* A good artifact that is already in the cache is kept. */
static int import_folder(const char *cache_dir, const char *temp, const char *key, size_t *imported,
        struct tk_error *err)
{
	struct tk_artifact *there = NULL;
	AUTO_PTR(tk_lock) lock = NULL;
	AUTO_TEXT from = tk_path_join(temp, key);
	TRY(tk_cache_lock(cache_dir, key, 3600, &lock, err));
	const bool is_there = !tk_artifact_load(cache_dir, key, &there, NULL) &&
	                      tk_build_status_is_usable(there->status);
	tk_artifact_free(there);
	if (is_there)
		return TK_OK;
	++*imported;
	return tk_cache_publish(cache_dir, key, from, err);
}

/* All folders are checked before the first is moved: a bundle is imported whole or not at all. */
static int import_all(const char *cache_dir, const char *temp, size_t *imported, char ***keys,
        size_t *count, struct tk_error *err)
{
	char **names = NULL;
	size_t n = 0, done = 0;
	TRY(tk_dir_list(temp, &names, &n, err));
	int status = n ? TK_OK : tk_fail(err, TK_EDATA, "contains no artifact");
	for (size_t i = 0; !status && i < n; i++)
		status = check_folder(temp, names[i], err);
	for (size_t i = 0; !status && i < n; i++)
		status = import_folder(cache_dir, temp, names[i], &done, err);
	if (!status)
		*imported = done;
	if (!status && keys) {
		*keys = names;
		*count = n;
	} else {
		tk_names_free(names, n);
	}
	return status;
}

int tk_artifact_import(const char *cache_dir, const char *file, size_t *imported, char ***keys,
        size_t *count, struct tk_error *err)
{
	AUTO_TEXT temp = NULL;
	AUTO_TEXT artifacts = artifacts_dir(cache_dir);
	TRY(tk_dir_create(artifacts, err));
	TRY(tk_dir_create_temp(artifacts, ".new-", &temp, err));
	int status = tk_archive_extract(file, temp, BUNDLE_MAX, err);
	if (!status && (status = import_all(cache_dir, temp, imported, keys, count, err)))
		tk_error_add_context(err, "%s", file);
	tk_dir_remove(temp, NULL);
	return status;
}
