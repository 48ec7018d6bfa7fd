/* Artifacts as one .tar.zst, from a machine that builds to machines that measure. */
#include "base/archive.h"
#include "base/error.h"
#include "base/file.h"
#include "base/try.h"
#include "build/build_internal.h"
#include "build/manifest.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUNDLE_MAX ((size_t)16 << 30) /* unpacked bytes that an import may write */

static int copy_artifact(
        const char *cache_dir, const char *key, const char *to, struct tk_error *err)
{
	struct tk_artifact *a = NULL;
	int status = tk_artifact_load(cache_dir, key, &a, err);
	if (status)
		return status;
	AUTO_TEXT target = tk_path_join(to, key);
	if (a->status != TK_BUILD_OK)
		status = tk_fail(err, TK_EUSAGE,
		        "the artifact %.12s is of a failed build, which is not exported", key);
	if (!status)
		status = tk_dir_copy(a->dir, target, err);
	tk_artifact_free(a);
	return status;
}

int tk_artifact_export(const char *cache_dir, const char *const *keys, size_t count,
        const char *file, struct tk_error *err)
{
	AUTO_TEXT artifacts = tk_cache_artifacts_dir(cache_dir);
	AUTO_TEXT temp = NULL;
	int status = TK_OK;
	if (!status && !count)
		status = tk_fail(err, TK_EUSAGE, "nothing to export");
	if (!status)
		status = tk_dir_create(artifacts, err);
	if (!status)
		status = tk_dir_create_temp(artifacts, ".new-", &temp, err);
	for (size_t i = 0; !status && i < count; i++)
		status = copy_artifact(cache_dir, keys[i], temp, err);
	if (!status)
		status = tk_archive_write(file, temp, err);
	if (temp)
		tk_dir_remove(temp, NULL);
	return status;
}

/* ---- import ---- */

/* All folders are checked before the first is moved: a bundle is imported whole or not at all. */
static int check_folder(const char *temp, const char *key, struct tk_error *err)
{
	struct tk_artifact *a = NULL;
	if (!tk_build_key_is_valid(key))
		return tk_fail(err, TK_EDATA,
		        "contains \"%.80s\"; expected folders named by an artifact's key", key);
	AUTO_TEXT dir = tk_path_join(temp, key);
	int status = tk_manifest_verify(dir, true, err);
	if (status == TK_ENOTFOUND)
		status = tk_fail(err, TK_EDATA, "%.12s has no manifest.json", key);
	if (!status)
		status = tk_manifest_read(dir, &a, err);
	if (!status && strcmp(a->key, key))
		status = tk_fail(
		        err, TK_EDATA, "the folder %.12s has the manifest of %.12s", key, a->key);
	if (!status && a->status != TK_BUILD_OK)
		status = tk_fail(err, TK_EDATA, "%.12s is of a failed build", key);
	tk_artifact_free(a);
	return status;
}

/* A good artifact that is already in the cache is kept. */
static int import_folder(const char *cache_dir, const char *temp, const char *key, size_t *imported,
        struct tk_error *err)
{
	struct tk_artifact *there = NULL;
	struct tk_lock *lock = NULL;
	AUTO_TEXT from = tk_path_join(temp, key);
	int status = tk_cache_lock(cache_dir, key, 3600, &lock, err);
	if (!status &&
	        (tk_artifact_load(cache_dir, key, &there, NULL) || there->status != TK_BUILD_OK)) {
		status = tk_cache_publish(cache_dir, key, from, err);
		*imported += !status;
	}
	tk_artifact_free(there);
	tk_lock_release(lock);
	return status;
}

static int import_all(const char *cache_dir, const char *temp, size_t *imported, char ***keys,
        size_t *count, struct tk_error *err)
{
	char **names = NULL;
	size_t n = 0, done = 0;
	int status = tk_dir_list(temp, &names, &n, err);
	if (!status && !n)
		status = tk_fail(err, TK_EDATA, "contains no artifact");
	for (size_t i = 0; !status && i < n; i++)
		status = check_folder(temp, names[i], err);
	for (size_t i = 0; !status && i < n; i++)
		status = import_folder(cache_dir, temp, names[i], &done, err);
	if (!status && keys) {
		*keys = names;
		*count = n;
	} else {
		tk_names_free(names, n);
	}
	if (!status)
		*imported = done;
	return status;
}

int tk_artifact_import(const char *cache_dir, const char *file, size_t *imported, char ***keys,
        size_t *count, struct tk_error *err)
{
	AUTO_TEXT artifacts = tk_cache_artifacts_dir(cache_dir);
	AUTO_TEXT temp = NULL;
	int status = tk_dir_create(artifacts, err);
	if (!status)
		status = tk_dir_create_temp(artifacts, ".new-", &temp, err);
	if (!status)
		status = tk_archive_extract(file, temp, BUNDLE_MAX, err);
	if (!status && (status = import_all(cache_dir, temp, imported, keys, count, err)))
		tk_error_add_context(err, "%s", file);
	if (temp)
		tk_dir_remove(temp, NULL);
	return status;
}
