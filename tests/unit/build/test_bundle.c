/* Exporting, importing and evicting artifacts. */
#include "project.h"

static void other_machine(void **state)
{
	struct project *p = *state;
	struct tk_artifact *a = build_newest(p), *b = NULL;
	char *file = tk_path_join(p->s->dir, "b.tar.zst"),
	     *there = tk_path_join(p->s->dir, "cache2");
	size_t n = 99;
	OK(tk_artifact_export(p->s->cache, (const char *const[]){a->key}, 1, file, err));
	OK(tk_artifact_import(there, file, &n, NULL, NULL, err));
	assert_int_equal(n, 1);
	OK(tk_artifact_load(there, a->key, &b, err));
	assert_int_equal(strncmp(b->backends[0].path, there, strlen(there)), 0);
	assert_string_equal(b->backends[0].code_hash, a->backends[0].code_hash);
	assert_string_equal(b->toolchain, a->toolchain);
	assert_string_equal(b->revision, a->revision);
	OK(tk_artifact_import(there, file, &n, NULL, NULL, err));
	assert_int_equal(n, 0); /* it was there already */
	p->spec.cache_dir = there;
	tk_artifact_free(b);
	b = build_newest(p);
	assert_true(b->cached); /* the measuring host builds nothing */
	tk_artifact_free(b);
	tk_artifact_free(a);
	free(file);
	free(there);
}

static void export_refuses(void **state)
{
	struct project *p = *state;
	struct tk_error err = {0};
	char *file = tk_path_join(p->s->dir, "b.tar.zst");
	const char *unknown = "0000000000000000000000000000000000000000000000000000000000000000";
	assert_int_equal(tk_artifact_export(p->s->cache, NULL, 0, file, &err), TK_EUSAGE);
	assert_string_equal(err.message, "nothing to export");
	assert_int_equal(tk_artifact_export(p->s->cache, &unknown, 1, file, &err), TK_ENOTFOUND);
	const char *odd = "../../etc";
	assert_int_equal(tk_artifact_export(p->s->cache, &odd, 1, file, &err), TK_EUSAGE);
	assert_string_equal(err.message, "\"../../etc\" is not an artifact's key");
	write_adapter(p, "exit 1");
	struct tk_artifact *a = build_newest(p);
	const char *key = a->key;
	assert_int_equal(tk_artifact_export(p->s->cache, &key, 1, file, &err), TK_EUSAGE);
	assert_non_null(strstr(err.message, "is of a failed build"));
	assert_false(tk_file_exists(file));
	tk_artifact_free(a);
	free(file);
}

static void expect_refused(const struct project *p, const char *message)
{
	struct tk_error err = {0};
	size_t n = 0;
	char *file = tk_path_join(p->s->dir, "bad.tar.zst"),
	     *there = tk_path_join(p->s->dir, "cache3");
	const int status = tk_artifact_import(there, file, &n, NULL, NULL, &err);
	assert_int_not_equal(status, TK_OK);
	if (!strstr(err.message, message))
		fail_msg("\"%s\" does not contain \"%s\"", err.message, message);
	sh(p->s, "test -z \"$(ls cache3/artifacts 2>/dev/null | grep -v locks)\" && test ! -e "
	         "escaped");
	free(file);
	free(there);
}

/* Packs the folder x after a change to it. */
static void repack(const struct project *p, const char *key, const char *change)
{
	sh(p->s,
	        "rm -rf x bad.tar.zst && mkdir x && cp -r cache/artifacts/%s x/ && cd x/%s && %s "
	        "&& cd .. && tar -cf - "
	        "* | zstd -q -o ../bad.tar.zst",
	        key, key, change);
}

static void hostile_bundles(void **state)
{
	struct project *p = *state;
	struct tk_artifact *a = build_newest(p);
	if (system("command -v zstd >/dev/null 2>&1"))
		skip();
	repack(p, a->key, "rm manifest.json");
	expect_refused(p, "has no manifest.json");
	repack(p, a->key, "echo '{' >manifest.json");
	expect_refused(p, "manifest.json:");
	repack(p, a->key, "echo '[]' >manifest.json");
	expect_refused(p, "\"format\" is missing or not a whole number");
	repack(p, a->key, "sed -i 's/\"format\": 1/\"format\": 9/' manifest.json");
	expect_refused(p, "was made by a newer tracker (format 9, this one knows 1)");
	repack(p, a->key,
	        "sed -i 's/\"name\": \"toy\"/\"name\": \"..\\/..\\/..\\/x\"/' manifest.json");
	expect_refused(p, "a backend's \"name\" is missing or not [a-z0-9_-]+");
	repack(p, a->key, "sed -i 's/\"status\": \"ok\"/\"status\": \"fine\"/' manifest.json");
	expect_refused(p, "\"status\" is missing or none of ok, failed, timeout");
	repack(p, a->key, "sed -i 's/\"wall_s\": [0-9.]*/\"wall_s\": \"x\"/' manifest.json");
	expect_refused(p, "\"wall_s\" is missing or not a number of seconds");
	repack(p, a->key,
	        "sed -i 's/\"commit_time_s\": [0-9]*/\"commit_time_s\": \"soon\"/' manifest.json");
	expect_refused(p, "\"commit_time_s\" is missing or not a whole number");
	repack(p, a->key,
	        "sed -i '/\"commit\"/,/}/s/\"id\": \"[0-9a-f]*\"/\"id\": \"nothing\"/' "
	        "manifest.json");
	expect_refused(p, "an id or a parent that is no commit's hash");
	repack(p, a->key,
	        "sed -i '/\"commit\"/,/}/s/\"id\": \"[0-9a-f]*\"/\"id\": "
	        "\"0123456789012345678901234567890123456789\"/' manifest.json");
	expect_refused(p, "\"commit\" is not the revision");
	repack(p, a->key, "sed -i 's/\"registers\": -1/\"registers\": -7/' manifest.json");
	expect_refused(p, "\"registers\" is missing or not a whole number of at least -1");
	repack(p, a->key, "rm lib/tk_backend_toy.so");
	expect_refused(p, "lib/tk_backend_toy.so is not there");
	repack(p, a->key, "printf x >>lib/tk_backend_toy.so");
	expect_refused(p, "does not match the file hash");
	repack(p, a->key,
	        "sed -i '0,/code_hash\": \"[0-9a-f]\\{8\\}/s//code_hash\": \"00000000/' "
	        "manifest.json");
	expect_refused(p, "does not match the code hash");
	repack(p, a->key, "cd .. && mv * y && cd y");
	expect_refused(p, "expected folders named by an artifact's key");
	repack(p, a->key,
	        "cd .. && mv * 1111111111111111111111111111111111111111111111111111111111111111 && "
	        "cd 111*");
	expect_refused(p, "has the manifest of");
	sh(p->s, "rm -f bad.tar.zst && echo escaped >e && tar "
	         "--transform='s:^e$:../../../escaped:' -P -cf - e | zstd "
	         "-q -o bad.tar.zst");
	expect_refused(p, "");
	sh(p->s,
	        "rm -f bad.tar.zst && head -c 3000 cache/artifacts/%s/lib/tk_backend_toy.so "
	        ">bad.tar.zst",
	        a->key);
	expect_refused(p, "");
	sh(p->s, "rm -f bad.tar.zst && mkdir -p empty && tar -C empty -cf - . | zstd -q -o "
	         "bad.tar.zst");
	expect_refused(p, "contains no artifact");
	sh(p->s, "rm -f bad.tar.zst");
	expect_refused(p, "bad.tar.zst");
	tk_artifact_free(a);
}

static void age(const struct project *p, const char *key, int days)
{
	sh(p->s, "touch -d '%d days ago' cache/artifacts/%s/manifest.json", days, key);
}

static void eviction(void **state)
{
	struct project *p = *state;
	struct tk_artifact *a[3];
	for (size_t i = 0; i < 3; i++) {
		char body[32];
		snprintf(body, sizeof(body), "s += %zu * x[i]", i + 2);
		commit_toy(p, "1", body, "next");
		a[i] = build_newest(p);
	}
	age(p, a[0]->key, 1);
	age(p, a[1]->key, 3);
	age(p, a[2]->key, 2);
	char **keys = NULL;
	size_t n = 0;
	const char *keep[] = {a[1]->key};
	OK(tk_artifact_evict(p->s->cache, (uint64_t)1 << 40, NULL, 0, err));
	OK(tk_artifact_list_keys(p->s->cache, &keys, &n, err));
	assert_int_equal(n, 3);
	tk_names_free(keys, n);
	/* room for two: the oldest is kept, so that the next oldest goes */
	OK(tk_artifact_evict(p->s->cache,
	        (uint64_t)(tk_dir_size(a[0]->dir) * 2 + tk_dir_size(a[0]->dir) / 2), keep, 1, err));
	assert_true(tk_dir_exists(a[0]->dir));
	assert_true(tk_dir_exists(a[1]->dir));
	assert_false(tk_dir_exists(a[2]->dir));
	OK(tk_artifact_evict(p->s->cache, 0, keep, 1, err));
	OK(tk_artifact_list_keys(p->s->cache, &keys, &n, err));
	assert_int_equal(n, 1);
	assert_string_equal(keys[0], a[1]->key);
	tk_names_free(keys, n);
	for (size_t i = 0; i < 3; i++)
		tk_artifact_free(a[i]);
	struct tk_artifact *b = build_newest(p); /* and can be built again */
	assert_false(b->cached);
	tk_artifact_free(b);
}

/* A damaged artifact is built again, not trusted. */
static void damaged(void **state)
{
	struct project *p = *state;
	struct tk_artifact *a = build_newest(p), *b = NULL;
	struct tk_error err = {0};
	sh(p->s, "echo '{}' >cache/artifacts/%s/manifest.json", a->key);
	assert_int_equal(tk_artifact_load(p->s->cache, a->key, &b, &err), TK_EDATA);
	b = build_newest(p);
	assert_false(b->cached);
	assert_int_equal(b->status, TK_BUILD_OK);
	tk_artifact_free(b);
	tk_artifact_free(a);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, project_open, project_close)
	const struct CMUnitTest tests[] = {
	        T(other_machine), T(export_refuses), T(hostile_bundles), T(eviction), T(damaged)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
