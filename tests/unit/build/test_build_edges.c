/* Builds that misbehave, objects of other machines, and a cache that is cut off: a real compiler
 * and real files. */
#include "base/process.h"
#include "build/build_internal.h"
#include "build/manifest.h"
#include "project.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void expect_failed(struct project *p, const char *script, const char *message)
{
	write_adapter(p, script);
	struct tk_artifact *a = build_newest(p);
	if (a->status != TK_BUILD_FAILED || !strstr(a->message, message))
		fail_msg("%s: %s \"%s\"", script, tk_build_status_name(a->status), a->message);
	assert_int_equal(a->backend_count, 0);
	assert_true(tk_file_exists(a->log_path));
	tk_artifact_free(a);
}

/* There was no attempt that says anything of the revision: an error, and nothing in the cache. */
static void expect_error(struct project *p, const char *script, int status, const char *message)
{
	struct tk_revision r;
	struct tk_artifact *a = NULL;
	struct tk_error err = {0};
	write_adapter(p, script);
	assert_int_equal(tk_repo_find_newest(&p->repo, &r, NULL), 0);
	p->spec.revision = r.id;
	int got = tk_artifact_build(&p->spec, &a, &err);
	p->spec.revision = "";
	if (got != status || !strstr(err.message, message))
		fail_msg("%s: status %d, \"%s\"", script, got, err.message);
	assert_null(a);
	sh(p->s, "test -z \"$(ls -A cache/artifacts | grep -v locks)\" && test -z \"$(ls "
	         "cache/work)\"");
}

static void expect_ok(struct project *p, const char *script)
{
	write_adapter(p, script);
	struct tk_artifact *a = build_newest(p);
	if (a->status != TK_BUILD_OK)
		fail_msg("%s: %s", script, a->message);
	tk_artifact_free(a);
}

/* ---- how a build ends ---- */

static void megabytes_of_output_are_kept(void **state)
{
	struct project *p = *state;
	write_adapter(p, "yes 'a line of the log' | head -c 3000000\necho\n"
	                 "echo 'toy.c:1:2: error: at last' >&2\nyes x | head -c 1000000\nexit 1");
	struct tk_artifact *a = build_newest(p);
	assert_int_equal(a->status, TK_BUILD_FAILED);
	assert_string_equal(a->message, "toy.c:1:2: error: at last");
	sh(p->s, "test $(wc -c <'%s') -gt 4000000", a->log_path);
	assert_true(a->size_bytes > 4000000);
	tk_artifact_free(a);
}

static void a_flood_of_output_ends_the_build(void **state)
{
	struct project *p = *state;
	expect_failed(p, "yes | head -c 70000000\nsleep 600",
	        "the build printed more than 64 MiB: killed");
}

/* A signal that a compiler sends itself is the revision's fault; others are the machine's. */
static void signals_of_the_system_are_no_failed_builds(void **state)
{
	struct project *p = *state;
	static const char *const killed[] = {"kill -TERM $$", "sh -c 'kill -KILL $$'; exit 137",
	        "echo 'collect2: fatal error: ld terminated with signal 9 [Killed]'; exit 1"};
	for (size_t i = 0; i < COUNT(killed); i++)
		expect_error(p, killed[i], TK_ECRASH, "toy: infrastructure failure: ");
	expect_error(p, "echo 'cc: No space left on device'; exit 1", TK_ENOSPC,
	        "toy: no space left on the disk during the build");
	expect_failed(p, "kill -ABRT $$", "signal");
	expect_failed(p, "echo 'a process was Killed by hand'; exit 3", "Killed by hand");
	expect_ok(p, COMPILE);
}

/* The build is over when its program is, and what it left behind is ended. */
static void children_do_not_outlive_the_build(void **state)
{
	struct project *p = *state;
	char pid[32];
	expect_ok(p, COMPILE "\nsleep 600 & echo $! >\"${TK_SRC%/cache/*}/pid\"");
	ask(p->s, pid, sizeof pid, "cat pid");
	assert_true(atoi(pid) > 1);
	sh(p->s,
	        "for i in $(seq 1000); do grep -qs sleep /proc/%s/cmdline || exit 0; sleep 0.01; "
	        "done; exit 1",
	        pid);
}

/* ---- what a build leaves ---- */

/* What is made of the folder left/ after a line of sh in it; left/lib has the object of the toy. */
static int scan(struct project *p, const char *line, struct tk_artifact **out, struct tk_error *err)
{
	char *dir = tk_path_join(p->s->dir, "left");
	sh(p->s,
	        "rm -rf left && mkdir -p left/lib && cp toy.so left/lib/tk_backend_toy.so && cd "
	        "left && %s",
	        line);
	*out = calloc(1, sizeof **out);
	int status = tk_artifact_scan_backends(*out, dir, err);
	free(dir);
	return status;
}

static void compile_toy(struct project *p)
{
	sh(p->s, "cc -O2 -fPIC -shared -fvisibility=hidden -o toy.so up/toy.c");
}

#define OBJECT "lib/tk_backend_toy.so"
/* Overwrites one byte of the object. */
#define PATCH(at, byte) \
	"printf '\\" byte "' | dd of=" OBJECT " bs=1 seek=" at " conv=notrunc 2>/dev/null"

static void objects_that_are_none(void **state)
{
	struct project *p = *state;
	static const char *const cases[][2] = {
	        {"mkdir lib/deep; mv " OBJECT " lib/deep", "the build left no lib/tk_backend_*.so"},
	        {"mv " OBJECT " lib/tk_backend_.so", "the build left no lib/tk_backend_*.so"},
	        {"mv " OBJECT " tk_backend_toy.so", "the build left no lib/tk_backend_*.so"},
	        {"mv " OBJECT " lib/tk_backend_toy.so.1", "the build left no lib/tk_backend_*.so"},
	        {"rm -r lib", "the build left no lib/tk_backend_*.so"},
	        {": >" OBJECT, "not a 64-bit ELF shared object"},
	        {"echo 'int f(void){return 1;}' | cc -xc -c -fPIC -o " OBJECT " -",
	                "not a 64-bit ELF shared object"},
	        {"echo 'int main(void){return 0;}' | cc -xc -no-pie -o " OBJECT " -",
	                "not a 64-bit ELF shared object"},
	        {PATCH("4", "001"), "not a 64-bit ELF shared object"}, /* of 32 bits */
	        {PATCH("0", "000"), "not a 64-bit ELF shared object"},
	        {"truncate -s 40 " OBJECT, "not a 64-bit ELF shared object"},
	        {"truncate -s 3000 " OBJECT, OBJECT},
	        {"echo 'int tk_backend_entry = 1; int f(void){return 1;}' | cc -xc -shared -fPIC "
	         "-o " OBJECT " -",
	                "does not export tk_backend_entry"},
	        {"echo 'int tk_backend_entry(void){return 1;}' | cc -xc -shared -fPIC "
	         "-fvisibility=hidden -o " OBJECT " -",
	                "does not export tk_backend_entry"},
	        {"cp " OBJECT " lib/tk_backend_A.so", "\"A\" is not a backend's name"},
	        {"cp " OBJECT " lib/tk_backend_$(printf 'a%.0s' $(seq 64)).so",
	                "expected [a-z0-9_-]+ of at most 63"},
	        {"for i in $(seq 65); do ln " OBJECT " lib/tk_backend_$i.so; done",
	                "there are more than 64 backends"},
	};
	compile_toy(p);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tk_artifact *a;
		struct tk_error err = {0};
		int status = scan(p, cases[i][0], &a, &err);
		if (status != TK_EDATA || !strstr(err.message, cases[i][1]))
			fail_msg("%s: status %d, \"%s\"", cases[i][0], status, err.message);
		tk_artifact_free(a);
	}
}

static void objects_that_are_right(void **state)
{
	struct project *p = *state;
	static const struct {
		const char *line, *first;
		size_t count;
	} cases[] = {{"true", "toy", 1}, {"cp " OBJECT " lib/tk_backend_b-2.so", "b-2", 2},
	        {"echo x >lib/other.txt; mkdir lib/tk_backend_d; ln -s x lib/y", "toy", 1},
	        {"mv " OBJECT " lib/tk_backend_$(printf 'a%.0s' $(seq 63)).so", NULL, 1},
	        {"cp ../run_path.so " OBJECT, "toy", 1}};
	compile_toy(p);
	sh(p->s, "cc -O2 -fPIC -shared -fvisibility=hidden -o run_path.so up/toy.c "
	         "'-Wl,-rpath,$ORIGIN/../lib:${ORIGIN}'");
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tk_artifact *a;
		struct tk_error why = {0};
		if (scan(p, cases[i].line, &a, &why))
			fail_msg("%s: %s", cases[i].line, why.message);
		assert_int_equal(a->backend_count, cases[i].count);
		if (cases[i].first)
			assert_string_equal(a->backends[0].name, cases[i].first);
		else
			assert_int_equal(strlen(a->backends[0].name), 63);
		for (size_t k = 1; k < a->backend_count; k++)
			assert_string_equal(a->backends[0].code_hash, a->backends[k].code_hash);
		tk_artifact_free(a);
	}
}

/* ---- the variables of an adapter ---- */

#define EXPECT_VARIABLE(name, value) \
	"test \"$" name "\" = '" value "' || { echo \"error: " name " is $" name "\"; exit 1; }\n"

static void adapters_get_the_documented_variables(void **state)
{
	struct project *p = *state;
	char text[4][16] = {"TOY_SECRET", "TOY_UNSET", "TK_JOBS", "TK_OUT"};
	char *const names[] = {text[0], text[1], text[2], text[3], NULL};
	setenv("TOY_SECRET", "a b 'c'", 1);
	setenv("TOY_OTHER", "leaked", 1);
	setenv("TK_JOBS", "99", 1);
	setenv("TK_OUT", "/nonexistent", 1);
	p->spec.env = names;
	p->spec.flags = "-O1 -g";
	p->spec.arch = "";
	p->spec.jobs = 3;
	expect_ok(p, EXPECT_VARIABLE("TK_FLAGS", "-O1 -g") EXPECT_VARIABLE("TK_ARCH",
	                     "native") EXPECT_VARIABLE("TK_JOBS", "3") EXPECT_VARIABLE("TOY_SECRET",
	                     "a b '\\''c'\\''") EXPECT_VARIABLE("{TOY_OTHER-none}", "none")
	                     EXPECT_VARIABLE("{TOY_UNSET-none}", "none") EXPECT_VARIABLE(
	                             "{DISPLAY-none}", "none") EXPECT_VARIABLE("SOURCE_DATE_EPOCH",
	                             "315532800") "test -f \"$TK_SRC/toy.c\"; test -d \"$TK_OUT\"; "
	                                          "test -d \"$TMPDIR\"\n"
	                                          "test -f \"$TK_ADAPTER/build\"; test -f "
	                                          "\"$TK_KERNELS/abi/tracker_abi.h\"\n"
	                                          "test -z \"$(ls -A)\"; grep -q '\"problems\"' "
	                                          "$TK_PROBLEMS\n" COMPILE);
	unsetenv("TOY_SECRET");
	unsetenv("TOY_OTHER");
	unsetenv("TK_JOBS");
	unsetenv("TK_OUT");
}

static void too_many_variables_are_refused(void **state)
{
	struct project *p = *state;
	char text[64][16], *names[65] = {0};
	for (size_t i = 0; i < 64; i++) {
		snprintf(text[i], sizeof text[i], "TOY_%zu", i);
		setenv(text[i], "1", 1);
		names[i] = text[i];
	}
	p->spec.env = names;
	expect_error(p, COMPILE, TK_ECONFIG, "more than 63 variables in `env`");
	for (size_t i = 0; i < 64; i++)
		unsetenv(text[i]);
}

/* ---- the cache ---- */

/* Power that fails while an artifact is written leaves files cut off, or empty. */
static void artifacts_that_are_cut_off_are_built_again(void **state)
{
	struct project *p = *state;
	static const char *const damages[] = {"truncate -s 300 manifest.json",
	        "rm lib/tk_backend_toy.so", "truncate -s 2000 lib/tk_backend_toy.so",
	        "sed -i 's/\"key\": \"..../\"key\": \"0000/' manifest.json"};
	struct tk_artifact *first = build_newest(p);
	for (size_t i = 0; i < COUNT(damages); i++) {
		sh(p->s, "cd cache/artifacts/%s && %s", first->key, damages[i]);
		struct tk_artifact *a = build_newest(p);
		if (a->cached)
			fail_msg("%s: taken from the cache", damages[i]);
		assert_int_equal(a->status, TK_BUILD_OK);
		assert_string_equal(a->key, first->key);
		assert_string_equal(a->backends[0].code_hash, first->backends[0].code_hash);
		tk_artifact_free(a);
	}
	tk_artifact_free(first);
}

/* Without a build: what is read of a manifest that is there. */
static void a_damaged_artifact_is_not_loaded(void **state)
{
	struct project *p = *state;
	static const char *const damages[][2] = {{": >manifest.json", "manifest.json:"},
	        {"echo '[]' >manifest.json", "manifest.json: "},
	        {"sed -i 's/\"format\": 1/\"format\": 2/' manifest.json",
	                "was made by a newer tracker (format 2, this one knows 1)"},
	        {"sed -i 's/\"status\": \"ok\"/\"status\": \"fine\"/' manifest.json",
	                "\"status\" is missing or none of ok, failed, timeout"},
	        {"sed -i 's/\"wall_s\": /\"wall_s\": -/' manifest.json", "\"wall_s\" is missing"},
	        {"sed -i 's/\"built_s\": /\"built_s\": -/' manifest.json", "\"built_s\""},
	        {"sed -i 's/\"name\": \"toy\"/\"name\": \"..\"/' manifest.json",
	                "a backend's \"name\" is missing or not [a-z0-9_-]+"},
	        {"rm lib/tk_backend_toy.so", "lib/tk_backend_toy.so is not there"},
	        {"ln -sf /etc/passwd lib/tk_backend_toy.so", "lib/tk_backend_toy.so is not there"}};
	static const char *const changes[] = {": >lib/tk_backend_toy.so",
	        "printf x | dd of=lib/tk_backend_toy.so bs=1 seek=5000 conv=notrunc 2>/dev/null",
	        "printf x >>lib/tk_backend_toy.so"};
	struct tk_artifact *whole = build_newest(p), *a = NULL;
	struct tk_error why = {0};
	char before[32], after[32];
	const char *changed = "stat -c %Y.%s cache/artifacts/*/manifest.json";
	sh(p->s, "cp -r '%s' whole && touch -d '9 days ago' '%s/manifest.json'", whole->dir,
	        whole->dir);
	ask(p->s, before, sizeof before, changed);
	assert_int_equal(tk_artifact_load(p->s->cache, whole->key, &a, &why), 0);
	ask(p->s, after, sizeof after, changed);
	assert_string_not_equal(before, after); /* counts as a use */
	tk_artifact_free(a);
	for (size_t i = 0; i < COUNT(damages); i++) {
		sh(p->s, "rm -rf '%s' && cp -r whole '%s' && cd '%s' && %s", whole->dir, whole->dir,
		        whole->dir, damages[i][0]);
		a = NULL;
		int status = tk_artifact_load(p->s->cache, whole->key, &a, &why);
		if (!status || a || !strstr(why.message, damages[i][1]))
			fail_msg("%s: status %d, \"%s\"", damages[i][0], status, why.message);
	}
	for (size_t i = 0; i < COUNT(changes); i++) {
		sh(p->s, "rm -rf '%s' && cp -r whole '%s' && cd '%s' && %s", whole->dir, whole->dir,
		        whole->dir, changes[i]);
		assert_int_equal(tk_manifest_verify(whole->dir, false, &why), TK_EDATA);
		assert_non_null(strstr(why.message, "does not match the file hash"));
	}
	sh(p->s, "rm -rf '%s' && cp -r whole '%s'", whole->dir, whole->dir);
	assert_int_equal(tk_manifest_verify(whole->dir, true, &why), 0);
	tk_artifact_free(whole);
}

static void keys_are_hashes(void **state)
{
	struct project *p = *state;
	static const char *const invalid[] = {"", "abc", "../../etc", "locks",
	        "0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
	        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0"};
	const char *none = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct tk_artifact *a = NULL;
	struct tk_error why = {0};
	char **keys = NULL;
	size_t n = 77;
	for (size_t i = 0; i < COUNT(invalid); i++) {
		assert_int_equal(tk_artifact_load(p->s->cache, invalid[i], &a, &why), TK_EUSAGE);
		assert_non_null(strstr(why.message, "is not an artifact's key"));
	}
	assert_int_equal(tk_artifact_load(p->s->cache, none, &a, &why), TK_ENOTFOUND);
	assert_non_null(strstr(why.message, "the cache has no artifact 0123"));
	OK(tk_artifact_list_keys(p->s->cache, &keys, &n, err)); /* there is no folder yet */
	assert_int_equal(n, 0);
	tk_names_free(keys, n);
	sh(p->s, "mkdir -p cache/artifacts/%s cache/artifacts/abc cache/artifacts/.new-1", none);
	OK(tk_artifact_list_keys(p->s->cache, &keys, &n, err));
	assert_int_equal(n, 1);
	assert_string_equal(keys[0], none);
	tk_names_free(keys, n);
}

/* One that is being built is not removed, one without a manifest goes first, and what killed
 * trackers left goes after two days. */
static void eviction_leaves_what_is_in_use(void **state)
{
	struct project *p = *state;
	struct tk_artifact *a = build_newest(p);
	struct tk_lock *lock = NULL;
	const char *half = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	sh(p->s,
	        "cd cache/artifacts && mkdir %s .new-old .new-young .old-old other-old && head -c "
	        "100000 /dev/zero >%s/f && touch -d '49 hours ago' .new-old .old-old other-old",
	        half, half);
	OK(tk_artifact_evict(p->s->cache, (uint64_t)a->size_bytes + 50000, NULL, 0, err));
	sh(p->s,
	        "cd cache/artifacts && test ! -e %s && test ! -e .new-old && test ! -e .old-old && "
	        "test -d .new-young && test -d other-old && test -d %s",
	        half, a->key);
	OK(tk_cache_lock(p->s->cache, a->key, 1, &lock, err));
	pid_t other = fork(); /* another tracker */
	if (!other)
		_exit(tk_artifact_evict(p->s->cache, 0, NULL, 0, NULL) != 0);
	int how = 0;
	waitpid(other, &how, 0);
	assert_int_equal(how, 0);
	assert_true(tk_dir_exists(a->dir));
	tk_lock_release(lock);
	OK(tk_artifact_evict(p->s->cache, 0, NULL, 0, err));
	assert_false(tk_dir_exists(a->dir));
	OK(tk_artifact_evict("/nonexistent/cache", 0, NULL, 0, err)); /* nothing to do */
	tk_artifact_free(a);
}

/* A tracker that is killed in a build leaves no lock, and the next one builds. */
static void a_killed_tracker_can_be_followed(void **state)
{
	struct project *p = *state;
	write_adapter(p, "echo $$ >\"${TK_SRC%/cache/*}/started\"\n"
	                 "test -e \"${TK_SRC%/cache/*}/again\" || sleep 600\n" COMPILE);
	struct tk_revision r;
	OK(tk_repo_find_newest(&p->repo, &r, err));
	pid_t first = fork();
	if (!first) {
		struct tk_artifact *a = NULL;
		p->spec.revision = r.id;
		_exit(tk_artifact_build(&p->spec, &a, NULL) != 0);
	}
	sh(p->s, "for i in $(seq 3000); do test -s started && break; sleep 0.01; done; test -s "
	         "started");
	kill(first, SIGKILL);
	waitpid(first, NULL, 0);
	sh(p->s, "touch again; kill -KILL $(cat started) || true");
	struct tk_artifact *a = build_newest(p);
	assert_int_equal(a->status, TK_BUILD_OK);
	assert_false(a->cached);
	tk_artifact_free(a);
}

/* ---- collecting ---- */

/* In a child whose files may have at most so many bytes, as on a full disk. */
static int collect_with_limit(const char *from, const char *to, rlim_t bytes)
{
	pid_t child = fork();
	int how = 0;
	if (!child) {
		struct tk_error err = {0};
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes});
		int status = tk_build_collect(from, to, 1 << 20, &err);
		_exit(!status ? 0 : status == TK_EDATA ? 2 : *err.message ? 3 : 4);
	}
	waitpid(child, &how, 0);
	return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

static void a_full_disk_is_no_fault_of_the_build(void **state)
{
	struct project *p = *state;
	char *from = tk_path_join(p->s->dir, "from"), *to = tk_path_join(p->s->dir, "to");
	sh(p->s, "mkdir from to && head -c 10000 /dev/zero >from/f");
	assert_int_equal(collect_with_limit(from, to, 4096), 3);
	sh(p->s, "rm -r to && mkdir to");
	assert_int_equal(collect_with_limit(from, to, 10000), 0);
	sh(p->s, "cmp from/f to/f");
	free(from);
	free(to);
}

static void limits_of_what_is_collected(void **state)
{
	struct project *p = *state;
	struct tk_error err = {0};
	char *from = tk_path_join(p->s->dir, "from"), *to = tk_path_join(p->s->dir, "to"),
	     *log = tk_path_join(p->s->dir, "from/f"), *copy = tk_path_join(p->s->dir, "copy");
	sh(p->s, "mkdir -p from/d to && head -c 600 /dev/zero >from/f && head -c 400 /dev/zero "
	         ">from/d/g && ln -s g from/d/link && chmod 4775 from/f && touch from/build.log "
	         "from/d/build.log from/manifest.json");
	assert_int_equal(tk_build_collect(from, to, 1000, &err), 0);
	sh(p->s, "test $(stat -c %%a to/f) = 755 && test $(readlink to/d/link) = g && cmp from/d/g "
	         "to/d/g && test ! -e to/build.log && test ! -e to/manifest.json && test -e "
	         "to/d/build.log && rm -r to && mkdir to");
	assert_int_equal(tk_build_collect(from, to, 999, &err), TK_EDATA);
	assert_string_equal(err.message, "the build left too much in TK_OUT");
	assert_int_equal(tk_build_collect_log(log, copy, 600, &err), 0);
	assert_int_not_equal(tk_build_collect_log(log, copy, 600, &err), 0); /* is there */
	sh(p->s, "rm copy");
	assert_int_equal(tk_build_collect_log(log, copy, 599, &err), TK_EDATA);
	static const char *const links[] = {"..", ".", "/etc", "d/g", "../from/f"};
	for (size_t i = 0; i < COUNT(links); i++) {
		sh(p->s, "rm -rf to from/link copy && mkdir to && ln -s '%s' from/link", links[i]);
		assert_int_equal(tk_build_collect(from, to, 1 << 20, &err), TK_EDATA);
		assert_non_null(strstr(err.message, "expected a name of the same folder"));
	}
	assert_int_not_equal(tk_build_collect("/nonexistent", to, 1, &err), 0);
	assert_int_not_equal(tk_build_collect_log("/nonexistent", copy, 1, &err), 0);
	free(from);
	free(to);
	free(log);
	free(copy);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, project_open, project_close)
	const struct CMUnitTest tests[] = {T(megabytes_of_output_are_kept),
	        T(a_flood_of_output_ends_the_build), T(signals_of_the_system_are_no_failed_builds),
	        T(children_do_not_outlive_the_build), T(objects_that_are_none),
	        T(objects_that_are_right), T(a_damaged_artifact_is_not_loaded),
	        T(adapters_get_the_documented_variables), T(too_many_variables_are_refused),
	        T(artifacts_that_are_cut_off_are_built_again), T(keys_are_hashes),
	        T(eviction_leaves_what_is_in_use), T(a_killed_tracker_can_be_followed),
	        T(a_full_disk_is_no_fault_of_the_build), T(limits_of_what_is_collected)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
