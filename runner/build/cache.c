/* The artifact cache: <cache>/artifacts/<key>/, published by rename, evicted by least recent use.
 *
 * The modification time of manifest.json is the time of last use. Builders of one key wait for each
 * other with a lock in artifacts/locks/. */
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "build/build_internal.h"
#include "build/manifest.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STALE_S (2 * 24 * 3600)

bool tk_build_key_is_valid(const char *key)
{
	return strlen(key) == TK_HASH_HEX_SIZE - 1 &&
	       strspn(key, "0123456789abcdef") == TK_HASH_HEX_SIZE - 1;
}

char *tk_cache_artifacts_dir(const char *cache_dir)
{
	return tk_path_join(cache_dir, "artifacts");
}

int tk_cache_lock(const char *cache_dir, const char *key, double wait_s, struct tk_lock **out,
        struct tk_error *err)
{
	AUTO_TEXT dir = tk_path_join3(cache_dir, "artifacts", "locks");
	AUTO_TEXT path = dir ? tk_path_join(dir, key) : NULL;
	TRY(tk_dir_create(dir, err));
	return tk_lock_wait(path, wait_s, out, err);
}

/* Renamed before it is removed: a reader sees the whole artifact or none. */
static int remove_artifact(const char *artifacts, const char *dir, struct tk_error *err)
{
	char *trash = NULL, *inside = NULL;
	int status = tk_dir_create_temp(artifacts, ".old-", &trash, err);
	if (status)
		return status;
	inside = tk_path_join(trash, "a");
	if (rename(dir, inside) && errno != ENOENT)
		status = tk_fail_errno(err, "cannot remove %s", dir);
	const int removed = tk_dir_remove(trash, status ? NULL : err);
	free(inside);
	free(trash);
	return status ? status : removed;
}

int tk_cache_publish(const char *cache_dir, const char *key, const char *from, struct tk_error *err)
{
	AUTO_TEXT artifacts = tk_cache_artifacts_dir(cache_dir);
	AUTO_TEXT to = artifacts ? tk_path_join(artifacts, key) : NULL;
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
	struct tk_artifact *a = NULL;
	int status = TK_OK;
	if (!tk_file_exists(manifest))
		status = tk_fail(err, TK_ENOTFOUND, "the cache has no artifact %s", key);
	if (!status)
		status = tk_manifest_read(dir, &a, err);
	if (!status && strcmp(a->key, key))
		status = tk_fail(
		        err, TK_EDATA, "%s: the manifest is of the artifact %s", dir, a->key);
	if (status) {
		tk_artifact_free(a);
	} else {
		(void)utimensat(
		        AT_FDCWD, manifest, NULL, 0); /* fails harmlessly in a read-only cache */
		a->cached = true;
		*out = a;
	}
	return status;
}

int tk_artifact_list_keys(const char *cache_dir, char ***keys, size_t *count, struct tk_error *err)
{
	char **names = NULL;
	size_t n = 0, kept = 0;
	AUTO_TEXT dir = tk_cache_artifacts_dir(cache_dir);
	if (tk_dir_exists(dir))
		TRY(tk_dir_list(dir, &names, &n, err));
	for (size_t i = 0; i < n; i++) {
		if (tk_build_key_is_valid(names[i]))
			names[kept++] = names[i];
		else
			free(names[i]);
	}
	*keys = names;
	*count = kept;
	return TK_OK;
}

/* ---- eviction ---- */

struct entry {
	const char *key;
	struct timespec used;
	uint64_t bytes;
	bool keep;
};

static int least_recent_first(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	if (x->used.tv_nsec != y->used.tv_nsec)
		return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
	return strcmp(x->key, y->key);
}

static void read_entry(const char *artifacts, const char *key, struct entry *e)
{
	struct stat st;
	char *dir = tk_path_join(artifacts, key);
	AUTO_TEXT manifest = tk_path_join(dir, "manifest.json");
	e->key = key;
	if (!stat(manifest, &st))
		e->used = st.st_mtim; /* without a manifest: oldest of all */
	e->bytes = (uint64_t)tk_dir_size(dir);
	free(dir);
}

/* Removes temporary folders of killed processes. */
static void remove_stale_temps(const char *artifacts)
{
	DIR *d = opendir(artifacts);
	const struct dirent *e;
	while (d && (e = readdir(d))) {
		struct stat st;
		if (strncmp(e->d_name, ".new-", 5) && strncmp(e->d_name, ".old-", 5))
			continue;
		char *path = tk_path_join(artifacts, e->d_name);
		if (path && !lstat(path, &st) && st.st_mtime < tk_clock_now_s() - STALE_S)
			tk_dir_remove(path, NULL);
		free(path);
	}
	if (d)
		closedir(d);
}

static int evict_one(const char *cache_dir, const char *artifacts, const char *key, bool *gone,
        struct tk_error *err)
{
	struct tk_lock *lock = NULL;
	AUTO_TEXT dir = tk_path_join(artifacts, key);
	int status = tk_cache_lock(cache_dir, key, 0, &lock, err);
	*gone = false;
	if (!status) {
		status = remove_artifact(artifacts, dir, err);
		*gone = !status;
	} else if (status == TK_EBUSY) {
		status = TK_OK; /* in use */
	}
	tk_lock_release(lock);
	return status;
}

static bool is_kept(const char *key, const char *const *keep, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (keep[i] && !strcmp(keep[i], key))
			return true;
	}
	return false;
}

int tk_artifact_evict(const char *cache_dir, uint64_t max_bytes, const char *const *keep,
        size_t keep_count, struct tk_error *err)
{
	char **keys = NULL;
	size_t n = 0;
	uint64_t total = 0;
	struct entry *entries = NULL;
	AUTO_TEXT artifacts = tk_cache_artifacts_dir(cache_dir);
	int status = tk_artifact_list_keys(cache_dir, &keys, &n, err);
	if (!status)
		entries = tk_calloc(n + 1, sizeof(*entries));
	for (size_t i = 0; !status && i < n; i++) {
		read_entry(artifacts, keys[i], &entries[i]);
		entries[i].keep = is_kept(keys[i], keep, keep_count);
		total += entries[i].bytes;
	}
	if (!status && n)
		qsort(entries, n, sizeof(*entries), least_recent_first);
	for (size_t i = 0; !status && i < n && total > max_bytes; i++) {
		bool gone = false;
		if (!entries[i].keep)
			status = evict_one(cache_dir, artifacts, entries[i].key, &gone, err);
		if (gone)
			total -= entries[i].bytes;
	}
	if (!status)
		remove_stale_temps(artifacts);
	free(entries);
	tk_names_free(keys, n);
	return status;
}
