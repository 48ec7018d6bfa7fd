/* From the configuration to repositories, adapters, the problems that they compile for, and the
 * policy of detection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "config/config.h"
#include "nightly/stages/detect_policy.h"
#include "nightly/stages/recipe.h"
#include "upstream/repo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct folder {
	char *root;
	struct tk_config config;
	struct tk_upstream_config upstream;
};

static char lib_name[] = "lib", url[] = "https://example.org/lib.git", branch[] = "dev",
            path[] = "src", package[] = "wheel", index_url[] = "https://index",
            extra[] = "https://x", python[] = "python3.12", adapter[] = "mine";

static int setup(void **state)
{
	struct folder *f = calloc(1, sizeof *f);
	struct tk_error err;

	assert_non_null(f);
	assert_int_equal(tk_dir_create_temp("/tmp", "tk-recipe-", &f->root, &err), 0);
	f->config.root = f->root;
	f->config.cache_dir = f->root;
	f->config.budgets.fetch_s = 77;
	f->upstream = (struct tk_upstream_config){
	        .name = lib_name, .kind = TK_UPSTREAM_GIT, .url = url, .enabled = true};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct folder *f = *state;

	tk_dir_remove(f->root, NULL);
	free(f->root);
	free(f);
	return 0;
}

static char *put_file(struct folder *f, const char *name, const char *text, bool executable)
{
	char *full = tk_path_join(f->root, name), *slash = strrchr(full, '/');
	struct tk_error err = {0};

	*slash = 0;
	assert_int_equal(tk_dir_create(full, &err), 0);
	*slash = '/';
	if (tk_file_write(full, text, strlen(text), &err))
		fail_msg("%s", err.message);
	assert_int_equal(chmod(full, executable ? 0755 : 0644), 0);
	return full;
}

/* ---- repositories ---- */

static void a_repository_of_git(void **state)
{
	struct folder *f = *state;
	struct tk_repo repo;

	f->upstream.branch = branch;
	f->upstream.path = path;
	f->upstream.submodules = true;
	tk_recipe_init_repo(&f->config, &f->upstream, &repo);
	assert_int_equal(repo.kind, TK_REPO_GIT);
	assert_string_equal(repo.name, "lib");
	assert_string_equal(repo.url, url);
	assert_string_equal(repo.branch, "dev");
	assert_string_equal(repo.path, "src");
	assert_true(repo.submodules && !repo.pre);
	assert_string_equal(repo.cache_dir, f->root);
	assert_true(repo.deadline_s == 77);
	assert_null(repo.requirements);
}

/* The repository that the tracker's own kernels are in, unless another one is named. */
static void a_repository_of_self(void **state)
{
	struct folder *f = *state;
	struct tk_repo repo;

	f->upstream.kind = TK_UPSTREAM_SELF;
	tk_recipe_init_repo(&f->config, &f->upstream, &repo);
	assert_int_equal(repo.kind, TK_REPO_SELF);
	assert_string_equal(repo.url, url);
	f->upstream.url = NULL;
	tk_recipe_init_repo(&f->config, &f->upstream, &repo);
	assert_string_equal(repo.url, tk_path_data_dir());
}

static void a_package_of_an_index(void **state)
{
	struct folder *f = *state;
	struct tk_repo repo;

	f->upstream.kind = TK_UPSTREAM_PACKAGE;
	f->upstream.package = package;
	f->upstream.index = index_url;
	f->upstream.extra_index = extra;
	f->upstream.python = python;
	f->upstream.pre = true;
	tk_recipe_init_repo(&f->config, &f->upstream, &repo);
	assert_int_equal(repo.kind, TK_REPO_PACKAGE);
	assert_string_equal(repo.url, index_url);
	assert_string_equal(repo.package, "wheel");
	assert_string_equal(repo.extra_index, extra);
	assert_string_equal(repo.python, "python3.12");
	assert_true(repo.pre);
}

/* ---- adapters ---- */

static void expect_adapter(struct folder *f, int expected, const char *text)
{
	struct tk_error err = {0};

	assert_int_equal(tk_recipe_check_adapter(&f->config, &f->upstream, &err), expected);
	if (!strstr(err.message, text))
		fail_msg("`%s` is not in `%s`", text, err.message);
}

static void an_adapter_of_the_user_comes_first(void **state)
{
	struct folder *f = *state;
	char *program = put_file(f, "adapters/mine/build", "#!/bin/sh\n", true);

	f->upstream.adapter = adapter;
	expect_adapter(f, TK_ENOTFOUND, "unknown adapter \"mine\"");
	f->config.adapter_path = tk_path_join(f->root, "adapters");
	expect_adapter(f, 0, "");
	f->upstream.adapter = NULL; /* the name of the upstream */
	expect_adapter(f, TK_ENOTFOUND, "unknown adapter \"lib\"");
	assert_int_equal(chmod(program, 0644), 0);
	f->upstream.adapter = adapter;
	expect_adapter(f, TK_ENOTFOUND, "build is not executable");
	free(program);
	free(f->config.adapter_path);
}

/* An adapter that comes with the tracker; a misspelt name gets a suggestion. */
static void an_adapter_of_the_tracker(void **state)
{
	struct folder *f = *state;
	char openblas[] = "openblas", typo[] = "openblsa", mien[] = "mien";

	f->upstream.adapter = openblas;
	expect_adapter(f, 0, "");
	f->upstream.adapter = typo;
	expect_adapter(f, TK_ENOTFOUND, "did you mean \"openblas\"?");
	free(put_file(f, "adapters/mine/build", "", true));
	f->config.adapter_path = tk_path_join(f->root, "adapters");
	f->upstream.adapter = mien;
	expect_adapter(f, TK_ENOTFOUND, "did you mean \"mine\"?");
	expect_adapter(f, TK_ENOTFOUND, "(paths.adapters)");
	free(f->config.adapter_path);
}

/* ---- the problems of an adapter ---- */

static const char suite[] = "title: T\nsource: s\nproblems:\n"
                            "  - gemm: { m: 16, n: 32, k: 64, a: f32 }\n"
                            "  - gemm: { m: 32, n: 32, k: 64, a: f32 }\n"
                            "  - attention: { b: 1, h: 2, sq: 64, d: 64, dtype: f32 }\n";

/* "gemm 2 attention 1": how many problems of each operation. */
static void expect_problems(struct folder *f, const char *wanted, size_t gemm, size_t attention)
{
	char *dir = tk_path_join(f->root, "adapters/mine"), **list;
	size_t counts[2] = {0};
	struct tk_error err = {0};

	free(put_file(f, "adapters/mine/problems", wanted, false));
	if (tk_recipe_list_problems(&f->config, dir, &list, &err))
		fail_msg("%s", err.message);
	assert_non_null(list);
	for (char **p = list; *p; p++)
		counts[strncmp(*p, "gemm:", 5) != 0]++;
	assert_int_equal(counts[0], gemm);
	assert_int_equal(counts[1], attention);
	tk_recipe_free_problems(list);
	free(dir);
}

static void an_adapter_names_the_operations_that_it_compiles(void **state)
{
	struct folder *f = *state;
	char first[] = "suites/one.yml", second[] = "suites/two.yml";
	char *suites[] = {first, second, NULL};

	free(put_file(f, first, suite, false));
	free(put_file(f, second, suite, false)); /* the same problems, once */
	f->config.suites = suites;
	expect_problems(f, "gemm\n", 2, 0);
	expect_problems(f, "gemm", 2, 0);
	expect_problems(f, "attention\ngemm\n", 2, 1);
	expect_problems(f, "gem\ngemmm\n\n", 0, 0);
	expect_problems(f, "", 0, 0);
}

static void an_adapter_without_the_file_gets_no_problems(void **state)
{
	struct folder *f = *state;
	char **list = &f->root;
	struct tk_error err;

	assert_int_equal(tk_recipe_list_problems(&f->config, f->root, &list, &err), 0);
	assert_null(list);
	tk_recipe_free_problems(list);
}

static void a_missing_suite_is_an_error(void **state)
{
	struct folder *f = *state;
	char none[] = "suites/none.yml", *suites[] = {none, NULL}, **list = &f->root;
	struct tk_error err;

	free(put_file(f, "problems", "gemm\n", false));
	f->config.suites = suites;
	assert_int_not_equal(tk_recipe_list_problems(&f->config, f->root, &list, &err), 0);
	assert_non_null(strstr(err.message, "none.yml"));
	assert_null(list);
}

/* ---- the policy of detection ---- */

static void thresholds_are_those_of_the_configuration(void **state)
{
	struct folder *f = *state;
	const int64_t before_s = tk_clock_now_s();

	f->config.thresholds = (struct tk_threshold_config){.min_effect = 0.03,
	        .min_effect_ns = 40,
	        .fdr = 0.07,
	        .window = 21,
	        .stale_days = 9,
	        .missing_data_nights = 4};
	const struct tk_detect_options o = tk_detect_policy_thresholds(&f->config);
	assert_true(o.min_effect == 0.03 && o.min_effect_ns == 40 && o.fdr == 0.07);
	assert_int_equal(o.window, 21);
	assert_int_equal(o.stale_days, 9);
	assert_int_equal(o.missing_data_nights, 4);
	assert_in_range(o.now_s, before_s, before_s + 60);
	assert_null(o.acks);
}

static const char acks[] = "- backend: b\n  rev: abc\n  action: expect\n  by: ann\n"
                           "  note: wanted\n";

static void acknowledgements_lie_beside_the_configuration(void **state)
{
	struct folder *f = *state;
	struct tk_detect_policy policy;
	struct tk_error err = {0};

	if (tk_detect_policy_load(&f->config, NULL, &policy, &err)) /* without a file */
		fail_msg("%s", err.message);
	assert_int_equal(policy.options.ack_count, 0);
	tk_detect_policy_free(&policy);
	free(put_file(f, "acks.yml", acks, false));
	if (tk_detect_policy_load(&f->config, NULL, &policy, &err))
		fail_msg("%s", err.message);
	assert_int_equal(policy.options.ack_count, 1);
	assert_string_equal(policy.options.acks[0].rev, "abc");
	assert_string_equal(policy.options.acks[0].author, "ann");
	assert_string_equal(policy.options.acks[0].note, "wanted");
	assert_int_equal(policy.options.acks[0].action, TK_ACTION_EXPECT);
	assert_int_equal(policy.options.acks[0].until_s, 0);
	assert_string_equal(policy.options.acks[0].filters[0], "backend:b");
	tk_detect_policy_free(&policy);
	assert_null(policy.acks);
}

/* A file that is named must be there; one that is broken is not used in part. */
static void a_named_file_must_exist(void **state)
{
	struct folder *f = *state;
	struct tk_detect_policy policy;
	struct tk_error err = {0};
	char *named = tk_path_join(f->root, "mine.yml");

	free(put_file(f, "acks.yml", acks, false)); /* is not looked at */
	assert_int_equal(tk_detect_policy_load(&f->config, named, &policy, &err), TK_ECONFIG);
	assert_non_null(strstr(err.message, "no file "));
	tk_detect_policy_free(&policy);
	f->config.acks_path = named;
	assert_int_equal(tk_detect_policy_load(&f->config, NULL, &policy, &err), TK_ECONFIG);
	tk_detect_policy_free(&policy);
	free(put_file(f, "mine.yml", "- nonsense", false));
	assert_int_equal(tk_detect_policy_load(&f->config, NULL, &policy, &err), TK_ECONFIG);
	assert_int_equal(policy.options.ack_count, 0);
	tk_detect_policy_free(&policy);
	free(put_file(f, "mine.yml", acks, false));
	assert_int_equal(tk_detect_policy_load(&f->config, NULL, &policy, &err), 0);
	assert_int_equal(policy.options.ack_count, 1);
	tk_detect_policy_free(&policy);
	free(named);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_repository_of_git),
	        TEST(a_repository_of_self),
	        TEST(a_package_of_an_index),
	        TEST(an_adapter_of_the_user_comes_first),
	        TEST(an_adapter_of_the_tracker),
	        TEST(an_adapter_names_the_operations_that_it_compiles),
	        TEST(an_adapter_without_the_file_gets_no_problems),
	        TEST(a_missing_suite_is_an_error),
	        TEST(thresholds_are_those_of_the_configuration),
	        TEST(acknowledgements_lie_beside_the_configuration),
	        TEST(a_named_file_must_exist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
