/* Builds of a real upstream with a real compiler: the cache, the failures, the limits. */
#include "project.h"
#include <sys/wait.h>

static void builds_once(void **state)
{
	struct project *p = *state;
	struct tk_artifact *a = build_newest(p);
	assert_int_equal(a->status, TK_BUILD_OK);
	assert_false(a->cached);
	assert_string_equal(a->message, "");
	assert_int_equal(a->backend_count, 1);
	assert_string_equal(a->backends[0].name, "toy");
	assert_true(tk_file_exists(a->backends[0].path));
	assert_true(tk_file_exists(a->log_path));
	assert_int_equal(strncmp(a->dir, p->s->cache, strlen(p->s->cache)), 0);
	assert_true(a->size_bytes > 0);
	assert_string_equal(a->upstream, "toy");
	assert_string_equal(a->adapter, "toy");
	assert_true(!strncmp(a->toolchain, "gcc ", 4) || !strncmp(a->toolchain, "clang ", 6));
	assert_null(strchr(a->toolchain, ',')); /* cc is the only tool */
	bool found = false;
	for (size_t i = 0; i < a->backends[0].kernel_count; i++)
		found |= !strcmp(a->backends[0].kernels[i].name, "tk_backend_entry");
	assert_true(found);
	struct tk_artifact *again = build_newest(p);
	assert_true(again->cached);
	assert_string_equal(again->key, a->key);
	assert_string_equal(again->backends[0].code_hash, a->backends[0].code_hash);
	assert_int_equal(again->backends[0].kernel_count, a->backends[0].kernel_count);
	sh(p->s, "test -z \"$(ls cache/work)\" && test -z \"$(ls -A cache/artifacts | grep "
	         "'^[.]')\""); /* nothing is
	                          left lying
	                          about */
	tk_artifact_free(again);
	tk_artifact_free(a);
}

/* The key depends on everything that decides the content. */
static void key_changes(void **state)
{
	struct project *p = *state;
	struct tk_artifact *base = build_newest(p), *other;
	p->spec.flags = "-O1";
	other = build_newest(p);
	assert_string_not_equal(other->key, base->key);
	tk_artifact_free(other);
	p->spec.flags = NULL;
	p->spec.arch = "x86-64-v3";
	other = build_newest(p);
	assert_string_not_equal(other->key, base->key);
	tk_artifact_free(other);
	p->spec.arch = "native";
	sh(p->s, "echo changed >kernels/abi/tracker_abi.h");
	other = build_newest(p);
	assert_string_not_equal(other->key, base->key);
	tk_artifact_free(other);
	sh(p->s, "echo abi >kernels/abi/tracker_abi.h && echo '# a comment' >adapters/toy/inputs "
	         "&& echo in.c "
	         ">>adapters/toy/inputs && echo 1 >kernels/in.c");
	struct tk_artifact *one = build_newest(p);
	sh(p->s, "echo 2 >kernels/in.c");
	struct tk_artifact *two = build_newest(p);
	assert_string_not_equal(one->key, two->key);
	tk_artifact_free(one);
	tk_artifact_free(two);
	sh(p->s, "rm adapters/toy/inputs");
	other = build_newest(p);
	assert_string_equal(other->key, base->key);
	assert_true(other->cached);
	tk_artifact_free(other);
	tk_artifact_free(base);
}

/* A changed commit or string keeps the code hash; a changed function changes its own hash only. */
static void same_code_other_commit(void **state)
{
	struct project *p = *state;
	struct tk_artifact *one = build_newest(p);
	commit_toy(p, "2.17.4-with-a-much-longer-version-string", "s += x[i]", "a release");
	struct tk_artifact *two = build_newest(p);
	assert_string_not_equal(one->key, two->key);
	assert_string_equal(one->backends[0].code_hash, two->backends[0].code_hash);
	commit_toy(p, "3", "s += x[i] * x[i]", "another kernel");
	struct tk_artifact *three = build_newest(p);
	assert_string_not_equal(two->backends[0].code_hash, three->backends[0].code_hash);
	size_t same = 0, other = 0;
	for (size_t i = 0; i < three->backends[0].kernel_count; i++) {
		const struct tk_kernel_symbol *k = &three->backends[0].kernels[i];
		for (size_t j = 0; j < two->backends[0].kernel_count; j++) {
			const struct tk_kernel_symbol *old = &two->backends[0].kernels[j];
			if (strcmp(k->name, old->name))
				continue;
			same += !strcmp(k->code_hash, old->code_hash);
			other += strcmp(k->code_hash, old->code_hash) != 0;
		}
	}
	assert_true(same >= 1 && other == 1);
	tk_artifact_free(one);
	tk_artifact_free(two);
	tk_artifact_free(three);
}

static void expect_failure(
        struct project *p, const char *script, enum tk_build_status status, const char *message)
{
	write_adapter(p, script);
	struct tk_artifact *a = build_newest(p);
	assert_int_equal(a->status, status);
	if (!strstr(a->message, message))
		fail_msg("\"%s\" does not contain \"%s\"", a->message, message);
	assert_int_equal(a->backend_count, 0);
	assert_true(tk_file_exists(a->log_path));
	tk_artifact_free(a);
	a = build_newest(p);
	assert_true(a->cached); /* failures are remembered */
	assert_int_equal(a->status, status);
	tk_artifact_free(a);
}

static void failures(void **state)
{
	struct project *p = *state;
	expect_failure(p,
	        "echo fine; echo 'toy.c:3:1: error: no <such> \"thing\"'; echo 'later: error: "
	        "two'; exit 1",
	        TK_BUILD_FAILED, "toy.c:3:1: error: no <such> \"thing\"");
	expect_failure(p, "echo 'only this line'; exit 7", TK_BUILD_FAILED, "only this line");
	expect_failure(p, "exit 7", TK_BUILD_FAILED, "exit code 7");
	expect_failure(p, "kill -SEGV $$", TK_BUILD_FAILED, "signal");
	expect_failure(p, "printf 'bad \\033[31m\\377 error: x\\n'; exit 1", TK_BUILD_FAILED,
	        "bad  [31m\xef\xbf\xbd error: x");
	expect_failure(p, "true", TK_BUILD_FAILED, "the build left no lib/tk_backend_*.so");
	expect_failure(p, "mkdir $TK_OUT/lib; echo x >$TK_OUT/lib/tk_backend_a.so", TK_BUILD_FAILED,
	        "lib/tk_backend_a.so: not a 64-bit ELF shared object");
	expect_failure(p, "mkdir $TK_OUT/lib; ln -s /etc/passwd $TK_OUT/lib/tk_backend_a.so",
	        TK_BUILD_FAILED, "tk_backend_a.so links to \"/etc/passwd\"");
	expect_failure(p, "mkdir $TK_OUT/lib; mkfifo $TK_OUT/lib/tk_backend_a.so", TK_BUILD_FAILED,
	        "tk_backend_a.so is not a regular file");
	expect_failure(p, "ln -s /usr/lib $TK_OUT/lib", TK_BUILD_FAILED, "lib links to");
	expect_failure(p, "mkfifo $TK_OUT/other", TK_BUILD_FAILED, "other is not a regular file");
	expect_failure(p,
	        COMPILE "\nmv $TK_OUT/lib/tk_backend_toy.so \"$TK_OUT/lib/tk_backend_<b>.so\"",
	        TK_BUILD_FAILED, "\"<b>\" is not a backend's name");
	expect_failure(p,
	        "mkdir $TK_OUT/lib; echo 'int x(void){return 1;}' | $CC -xc -shared -fPIC -o "
	        "$TK_OUT/lib/tk_backend_a.so -",
	        TK_BUILD_FAILED, "does not export tk_backend_entry");
	expect_failure(p, COMPILE " -Wl,-rpath,$PWD", TK_BUILD_FAILED, "has the run path ");
	expect_failure(p, "sed -i s/float/flaot/ $TK_SRC/toy.c\n" COMPILE, TK_BUILD_FAILED,
	        "error: unknown type name");
}

/* Nothing of what an adapter leaves under the names of the tracker's own files is used, and no
 * file outside is written through a link. */
static void own_files_are_safe(void **state)
{
	struct project *p = *state;
	sh(p->s, "echo untouched >outside");
	write_adapter(p, "ln -s \"${TK_SRC%/cache/*}/outside\" $TK_OUT/build.log\n"
	                 "ln -s \"${TK_SRC%/cache/*}/outside\" $TK_OUT/manifest.json\n"
	                 "echo said\n" COMPILE "\nln -s tk_backend_toy.so $TK_OUT/lib/link.so");
	struct tk_artifact *a = build_newest(p);
	assert_int_equal(a->status, TK_BUILD_OK);
	assert_int_equal(a->backend_count, 1);
	sh(p->s, "grep -qx untouched outside");
	sh(p->s, "grep -qx said '%s' && test ! -L '%s'", a->log_path, a->log_path);
	tk_artifact_free(a);
}

static void limits(void **state)
{
	struct project *p = *state;
	p->spec.deadline_s = 1;
	expect_failure(
	        p, "echo working; sleep 600", TK_BUILD_TIMEOUT, "the build did not end within 1 s");
	p->spec.deadline_s = 60;
	p->spec.memory_limit_bytes = (uint64_t)256 << 20;
	expect_failure(
	        p, "dd if=/dev/zero of=/dev/null bs=1G count=1", TK_BUILD_FAILED, "exhausted");
	p->spec.disk_limit_bytes = (uint64_t)16 << 20;
	expect_failure(p, "dd if=/dev/zero of=\"$TK_OUT/large\" bs=1M count=40; sleep 600",
	        TK_BUILD_FAILED, "more than 0.0 GiB");
}

/* A day later a failed build is tried again. */
static void failed_is_retried(void **state)
{
	struct project *p = *state;
	setenv("TRACKER_NOW", "2026-03-02T00:00:00Z", 1);
	write_adapter(p, "test -e \"${TK_SRC%/cache/*}/repaired\" || { echo 'error: the disk was "
	                 "bad'; exit 1; }\n" COMPILE);
	struct tk_artifact *a = build_newest(p);
	assert_int_equal(a->status, TK_BUILD_FAILED);
	tk_artifact_free(a);
	sh(p->s, "touch repaired");
	a = build_newest(p);
	assert_int_equal(a->status, TK_BUILD_FAILED);
	tk_artifact_free(a);
	setenv("TRACKER_NOW", "2026-03-03T00:00:01Z", 1);
	a = build_newest(p);
	unsetenv("TRACKER_NOW");
	assert_int_equal(a->status, TK_BUILD_OK);
	assert_false(a->cached);
	tk_artifact_free(a);
}

static void not_even_tried(void **state)
{
	struct project *p = *state;
	struct tk_artifact *a = NULL;
	struct tk_error err = {0};
	struct tk_revision newest;
	assert_int_equal(tk_repo_find_newest(&p->repo, &newest, &err), TK_OK);
	p->spec.revision = "no-such-branch";
	assert_int_equal(tk_artifact_build(&p->spec, &a, &err), TK_ENOTFOUND);
	assert_string_equal(err.message, "toy has no revision \"no-such-branch\"");
	p->spec.revision = newest.id;
	sh(p->s, "echo no-such-tool-here >adapters/toy/tools");
	assert_int_equal(tk_artifact_build(&p->spec, &a, &err), TK_ENOTFOUND);
	assert_non_null(
	        strstr(err.message, "the program no-such-tool-here is needed and not installed"));
	sh(p->s, "echo 'x; touch pwned' >adapters/toy/tools");
	assert_int_equal(tk_artifact_build(&p->spec, &a, &err), TK_ECONFIG);
	assert_non_null(strstr(err.message, "\"x; touch pwned\" is not a program's name"));
	sh(p->s, "printf 'cc\\n?no-such-tool-here\\n' >adapters/toy/tools");
	assert_int_equal(tk_artifact_build(&p->spec, &a, &err), TK_OK);
	assert_null(strstr(a->toolchain, "no-such-tool-here"));
	tk_artifact_free(a);
	a = NULL;
	sh(p->s, "echo cc >adapters/toy/tools && echo ../../secret >adapters/toy/inputs");
	assert_int_equal(tk_artifact_build(&p->spec, &a, &err), TK_ECONFIG);
	assert_non_null(
	        strstr(err.message, "\"../../secret\" is not a path below the tracker's kernels"));
	sh(p->s, "rm adapters/toy/inputs && chmod -x adapters/toy/build");
	if (geteuid() != 0) {
		assert_int_equal(tk_artifact_build(&p->spec, &a, &err), TK_ECONFIG);
		assert_non_null(strstr(err.message, "is not executable"));
	}
	sh(p->s, "rm adapters/toy/build");
	assert_int_equal(tk_artifact_build(&p->spec, &a, &err), TK_ENOTFOUND);
	assert_non_null(strstr(err.message, "toy: no such adapter: "));
	assert_null(a);
}

/* Two processes want the same artifact: one builds, the other waits and finds it. */
static void concurrent(void **state)
{
	struct project *p = *state;
	write_adapter(p, "echo built >>\"${TK_SRC%/cache/*}/builds\"\nsleep 0.3\n" COMPILE);
	pid_t pids[3];
	for (size_t i = 0; i < 3; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			struct tk_revision r;
			struct tk_artifact *a = NULL;
			if (tk_repo_find_newest(&p->repo, &r, NULL))
				_exit(1);
			p->spec.revision = r.id;
			_exit(tk_artifact_build(&p->spec, &a, NULL) || a->status != TK_BUILD_OK);
		}
	}
	for (size_t i = 0; i < 3; i++) {
		int how = 0;
		waitpid(pids[i], &how, 0);
		assert_true(WIFEXITED(how) && !WEXITSTATUS(how));
	}
	sh(p->s, "test \"$(wc -l <builds)\" = 1");
}

static void installed(void **state)
{
	struct project *p = *state;
	struct tk_artifact *built = build_newest(p), *a = NULL;
	OK(tk_artifact_load_installed(built->backends[0].path, "toy", &a, err));
	assert_int_equal(a->status, TK_BUILD_OK);
	assert_true(a->cached);
	assert_string_equal(a->backends[0].code_hash, built->backends[0].code_hash);
	assert_string_equal(a->message, "");
	tk_artifact_free(a);
	tk_artifact_free(built);
	struct tk_error err = {0};
	assert_int_equal(
	        tk_artifact_load_installed("/nonexistent.so", "toy", &a, &err), TK_ENOTFOUND);
	assert_int_equal(
	        tk_artifact_load_installed("/nonexistent.so", "../toy", &a, &err), TK_ECONFIG);
}

/* An artifact works without its build folder and without the repository. */
static void relocatable(void **state)
{
	struct project *p = *state;
	struct tk_artifact *a = build_newest(p);
	sh(p->s,
	        "cp '%s' here.so && rm -rf cache up && echo 'const void *tk_backend_entry(void); "
	        "int main(void) { "
	        "return !tk_backend_entry(); }' >m.c && "
	        "cc -o m m.c ./here.so && ./m",
	        a->backends[0].path);
	tk_artifact_free(a);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, project_open, project_close)
	const struct CMUnitTest tests[] = {T(builds_once), T(key_changes),
	        T(same_code_other_commit), T(failures), T(own_files_are_safe), T(limits),
	        T(failed_is_retried), T(not_even_tried), T(concurrent), T(installed),
	        T(relocatable)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
