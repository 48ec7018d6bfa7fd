/* Virtual environments of a package: what uv or pip is called with, once for each version. Both are
 * scripts that write down how they were called, and leave what the real ones would. */
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "scratch.h"
#include "upstream/package.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#define HASH_A "00000000000000000000000000000000000000000000000000000000000000aa"
#define HASH_B "00000000000000000000000000000000000000000000000000000000000000bb"
#define INDEX "https://index.invalid/simple"

/* `venv ... DIR` makes an environment whose Python is the same script; `download` leaves two
 * wheels. A file fail-STEP beside the scripts makes that step fail. */
static const char script[] =
        "#!/bin/sh\n"
        "echo \"${0##*/} $*\" | sed \"s|$HOME|~|g\" >>\"$HOME/calls\"\n"
        "case \"$*\" in\n"
        "*venv*) step=venv; for dir; do :; done\n"
        "  mkdir -p \"$dir/bin\" && cp \"$HOME/bin/python3\" \"$dir/bin/python\" ;;\n"
        "*download*) step=download; mkdir -p \"$6\"; : >\"$6/b.whl\"; : >\"$6/a.whl\" ;;\n"
        "*) step=install ;;\nesac\n"
        "[ ! -e \"$HOME/fail-$step\" ] || { echo \"no $step today\" >&2; exit 3; }\n";

static char hashes[2][TK_SHA256_SIZE] = {HASH_A, HASH_B};

static struct tk_package_release release(const char *version)
{
	struct tk_package_release r = {.sha256 = hashes, .wheel_count = 2};
	static char index[] = INDEX;
	snprintf(r.text, sizeof r.text, "%s", version);
	r.index = index;
	return r;
}

static struct tk_repo package(const struct scratch *s)
{
	return (struct tk_repo){.kind = TK_REPO_PACKAGE,
	        .name = "up",
	        .package = "Fast_Pkg",
	        .url = INDEX,
	        .cache_dir = s->cache,
	        .deadline_s = 30};
}

static int set_up(void **state)
{
	if (scratch_open(state))
		return -1;
	const struct scratch *s = *state;
	char path[600];
	setenv("HOME", s->dir, 1);
	snprintf(path, sizeof path, "%s/bin:/usr/bin:/bin", s->dir);
	setenv("PATH", path, 1);
	sh(s,
	        "mkdir bin; cat >bin/python3 <<'END'\n%sEND\nchmod +x bin/python3; cp "
	        "bin/python3 bin/uv; cp bin/python3 bin/other-python",
	        script);
	return 0;
}

/* The calls since the last time, each ended by "; ". */
static void take_calls(const struct scratch *s, char *out, size_t size)
{
	ask(s, out, size, "touch calls; tr '\\n' ';' <calls | sed 's/;/; /g'; rm calls");
}

static void expect_calls(const struct scratch *s, const char *dir, const char *expected)
{
	char calls[4096];
	take_calls(s, calls, sizeof calls);
	/* DIR in the expected text is the environment */
	char *text = strdup(expected);
	for (char *at; (at = strstr(text, "DIR"));) {
		char *longer = NULL;
		assert_true(asprintf(&longer, "%.*s~%s%s", (int)(at - text), text,
		                    dir + strlen(s->dir), at + 3) > 0);
		free(text);
		text = longer;
	}
	assert_string_equal(calls, text);
	free(text);
}

static void expect_file(const char *dir, const char *name, const char *content)
{
	struct tk_buf text = TK_BUF_INIT;
	char *path = tk_path_join(dir, name);
	OK(tk_file_read(path, 4096, &text, err));
	assert_string_equal(tk_buf_cstr(&text), content);
	tk_buf_free(&text);
	free(path);
}

static char *install(const struct tk_repo *repo, const char *version)
{
	const struct tk_package_release r = release(version);
	char *dir = NULL;
	OK(tk_package_install(repo, &r, &dir, err));
	assert_non_null(dir);
	return dir;
}

static void uv_installs_a_version_once(void **state)
{
	const struct scratch *s = *state;
	const struct tk_repo repo = package(s);
	char *dir = install(&repo, "1.2"), *prefix = NULL;
	assert_true(asprintf(&prefix, "%s/python/env/fast-pkg-1.2-", s->cache) > 0);
	assert_int_equal(strncmp(dir, prefix, strlen(prefix)), 0);
	assert_int_equal(strlen(dir), strlen(prefix) + 8);
	expect_calls(s, dir,
	        "uv venv --quiet --python python3 DIR; "
	        "uv pip install --quiet --python DIR/bin/python --index-strategy "
	        "unsafe-best-match --no-deps --only-binary :all: --index-url " INDEX
	        " -r DIR/wanted.txt --require-hashes; ");
	expect_file(dir, "wanted.txt",
	        "Fast_Pkg==1.2 --hash=sha256:" HASH_A " --hash=sha256:" HASH_B "\n");
	char *again = install(&repo, "1.2");
	assert_string_equal(again, dir);
	expect_calls(s, dir, "");
	free(again);
	again = install(&repo, "1.3");
	assert_string_not_equal(again, dir);
	free(again);
	free(dir);
	free(prefix);
}

static void what_is_installed_beside_it(void **state)
{
	const struct scratch *s = *state;
	struct tk_repo repo = package(s);
	char *file = tk_path_join(s->dir, "requirements"), *alone = install(&repo, "1.2");
	sh(s, "rm calls; printf 'part=={version}\\n{version}-x {version\\n%%%%s' >requirements");
	repo.requirements = file;
	repo.url = NULL;
	repo.extra_index = "https://extra.invalid";
	char *dir = install(&repo, "1.2");
	assert_string_not_equal(dir, alone);
	/* the companions first: the version itself has the last word */
	expect_calls(s, dir,
	        "uv venv --quiet --python python3 DIR; "
	        "uv pip install --quiet --python DIR/bin/python --index-strategy "
	        "unsafe-best-match --no-deps --only-binary :all: --index-url " TK_PACKAGE_INDEX
	        " -r DIR/companions.txt --extra-index-url https://extra.invalid; "
	        "uv pip install --quiet --python DIR/bin/python --index-strategy "
	        "unsafe-best-match --no-deps --only-binary :all: --index-url " TK_PACKAGE_INDEX
	        " -r DIR/wanted.txt --extra-index-url https://extra.invalid --require-hashes; ");
	expect_file(dir, "companions.txt", "part==1.2\n1.2-x {version\n%s");
	sh(s, "echo more >>requirements");
	char *more = install(&repo, "1.2");
	assert_string_not_equal(more, dir);
	free(more);
	free(dir);
	free(alone);
	sh(s, "rm requirements");
	const struct tk_package_release r = release("1.2");
	struct tk_error why = {0};
	dir = NULL;
	assert_int_equal(tk_package_install(&repo, &r, &dir, &why), TK_ENOTFOUND);
	assert_null(dir);
	free(file);
}

/* pip runs in the environment, where a wheel could start code: all are downloaded before the first
 * is installed. */
static void pip_downloads_first_and_installs_once(void **state)
{
	const struct scratch *s = *state;
	struct tk_repo repo = package(s);
	sh(s, "rm bin/uv");
	repo.python = "other-python";
	char *dir = install(&repo, "2.0");
	expect_calls(s, dir,
	        "other-python -m venv DIR; "
	        "python -m pip download --quiet --dest DIR/wheels --no-deps --only-binary :all: "
	        "--index-url " INDEX " -r DIR/wanted.txt --require-hashes; "
	        "python -m pip install --quiet --no-deps --no-index DIR/wheels/a.whl "
	        "DIR/wheels/b.whl; ");
	char *wheels = tk_path_join(dir, "wheels");
	assert_false(tk_dir_exists(wheels));
	free(wheels);
	free(dir);
}

/* Another Python, index or file is another environment. */
static void environments_are_not_mixed_up(void **state)
{
	const struct scratch *s = *state;
	char *dirs[5];
	struct tk_repo repo = package(s);
	struct tk_package_release r = release("1.2");
	static char index[] = "https://other.invalid";
	dirs[0] = install(&repo, "1.2");
	repo.python = "other-python";
	dirs[1] = install(&repo, "1.2");
	repo.python = NULL;
	r.index = index;
	OK(tk_package_install(&repo, &r, &dirs[2], err));
	r = release("1.2");
	r.wheel_count = 1;
	OK(tk_package_install(&repo, &r, &dirs[3], err));
	repo.package = "other";
	dirs[4] = install(&repo, "1.2");
	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(dirs[i], dirs[k]);
	for (size_t i = 0; i < 5; i++)
		free(dirs[i]);
}

/* Each step may fail; the next attempt begins anew. */
static void a_failed_installation_is_not_kept(void **state)
{
	const struct scratch *s = *state;
	static const struct {
		const char *step;
		bool uv;
	} cases[] = {{"venv", true}, {"install", true}, {"venv", false}, {"download", false},
	        {"install", false}};
	const struct tk_repo repo = package(s);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tk_package_release r = release("3.0");
		struct tk_error why = {0};
		char *dir = NULL, *message = NULL;
		sh(s, "rm -rf cache fail-* bin/uv; touch fail-%s%s", cases[i].step,
		        cases[i].uv ? "; cp bin/python3 bin/uv" : "");
		int status = tk_package_install(&repo, &r, &dir, &why);
		assert_true(asprintf(&message, "no %s today", cases[i].step) > 0);
		if (status != TK_EIO || !strstr(why.message, "up: installing 3.0: ") ||
		        !strstr(why.message, message))
			fail_msg("%s: status %d, \"%s\"", cases[i].step, status, why.message);
		assert_null(dir);
		sh(s, "test -z \"$(find cache -name .complete)\"; touch cache/python/env/*/left || "
		      "true; rm -f fail-* calls");
		dir = install(&repo, "3.0");
		char *left = tk_path_join(dir, "left"), *complete = tk_path_join(dir, ".complete");
		assert_false(tk_file_exists(left));
		assert_true(tk_file_exists(complete));
		free(left);
		free(complete);
		free(message);
		free(dir);
	}
}

static void set_age(const char *dir, int hours)
{
	const time_t then = time(NULL) - hours * 3600;
	const struct timespec t[2] = {{.tv_sec = then}, {.tv_sec = then}};
	char *complete = tk_path_join(dir, ".complete");
	assert_int_equal(utimensat(AT_FDCWD, complete, t, 0), 0);
	free(complete);
}

/* An installation removes what was not used for a day; a use is one, too. */
static void unused_environments_are_removed(void **state)
{
	const struct scratch *s = *state;
	const struct tk_repo repo = package(s);
	char *old = install(&repo, "1.0"), *young = install(&repo, "1.1"),
	     *used = install(&repo, "1.2");
	sh(s, "mkdir cache/python/env/half");
	set_age(old, 25);
	set_age(young, 23);
	set_age(used, 25);
	free(install(&repo, "1.2"));
	assert_true(tk_dir_exists(old)); /* nothing was installed */
	free(install(&repo, "1.3"));
	assert_false(tk_dir_exists(old));
	assert_true(tk_dir_exists(young));
	assert_true(tk_dir_exists(used));
	sh(s, "test -d cache/python/env/half");
	free(old);
	free(young);
	free(used);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, scratch_close)
	const struct CMUnitTest tests[] = {T(uv_installs_a_version_once),
	        T(what_is_installed_beside_it), T(pip_downloads_first_and_installs_once),
	        T(environments_are_not_mixed_up), T(a_failed_installation_is_not_kept),
	        T(unused_environments_are_removed)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
