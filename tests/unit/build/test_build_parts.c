/* Parts of a build without building: the line of a log that says why, the key of an artifact, how
 * many processes run at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "build/build_internal.h"
#include "upstream/repo.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static char folder[40]; /* of each test */

static const char *in_folder(const char *name)
{
	static char path[4][120];
	static int next;
	char *out = path[next++ % 4];

	snprintf(out, sizeof path[0], "%s/%s", folder, name);
	return out;
}

static void write_text(const char *name, const char *text)
{
	FILE *f = fopen(in_folder(name), "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int set_up(void **state)
{
	strcpy(folder, "/tmp/tracker-parts-XXXXXX");
	if (!mkdtemp(folder) || mkdir(in_folder("abi"), 0755) || mkdir(in_folder("adapter"), 0755))
		return -1;
	write_text("abi/tracker_abi.h", "/* 1 */");
	write_text("adapter/build", "#!/bin/sh");
	write_text("adapter/tools", "# none\n");
	return 0;
}

static int tear_down(void **state)
{
	return tk_dir_remove(folder, NULL);
}

/* ---- logs ---- */

static void a_log_says_why_a_build_failed(void **state)
{
	static const struct {
		const char *log, *line;
	} cases[] = {
	        {"", ""},
	        {"\n \t\n", ""},
	        {"compiling\ndone\n", "done"}, /* nothing better: the last line */
	        {"one\n  a.c:3: error: no such file\nerror: later\n", "a.c:3: error: no such file"},
	        {"x.o: undefined reference to `f'\r\nlast\r\n", "x.o: undefined reference to `f'"},
	        {"make: *** No rule to make target 'a'\n", "make: *** No rule to make target 'a'"},
	        {"sh: 1: cmake: not found\n", "sh: 1: cmake: not found"},
	        {"FATAL ERROR\n", "FATAL ERROR"},
	        {"a\033[31m error: b\n", "a [31m error: b"},
	        {"no newline at the end, error: x", "no newline at the end, error: x"},
	        {"CMake Error at a.txt:3 (find_package):\n\n  Could not find X\n  more\n",
	                "CMake Error at a.txt:3 (find_package): Could not find X"},
	        {"CMake Error at a.txt:3 (try):\n  The compiler\n  t.c:1: error: bad\n  more\n",
	                "CMake Error at a.txt:3 (try): t.c:1: error: bad"},
	        {"CMake Error at a.txt:3 (find_package):\n",
	                "CMake Error at a.txt:3 (find_package):"},
	        {"CMake Error: no generator\nnext\n", "CMake Error: no generator"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		write_text("log", cases[i].log);
		char *line = tk_build_log_find_error(in_folder("log"));
		assert_string_equal(line, cases[i].line);
		free(line);
	}
}

static void a_log_that_is_not_there_says_nothing(void **state)
{
	char *line = tk_build_log_find_error(in_folder("none"));

	assert_string_equal(line, "");
	free(line);
	assert_false(tk_build_log_has_disk_full(in_folder("none")));
	/* A fifo would block: an adapter may have replaced the log. */
	assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
	line = tk_build_log_find_error(in_folder("fifo"));
	assert_string_equal(line, "");
	free(line);
	assert_false(tk_build_log_has_killed_tool(in_folder("fifo")));
}

static void long_lines_are_cut(void **state)
{
	char text[2000] = "error: ";

	memset(text + 7, 'x', sizeof text - 8);
	write_text("log", text);
	char *line = tk_build_log_find_error(in_folder("log"));
	assert_true(strlen(line) < 400);
	assert_memory_equal(line, "error: xxx", 10);
	free(line);
}

/* Such a build is not the commit's failure. */
static void logs_tell_failures_of_the_machine(void **state)
{
	static const struct {
		const char *log;
		bool is_killed, is_disk_full;
	} cases[] = {
	        {"gcc: fatal error: Killed signal terminated program cc1\n", true, false},
	        {"nvcc error : 'cicc' died due to signal 9 (Kill signal)\n", true, false},
	        {"collect2: fatal error: ld terminated with signal 9 [Killed]\n", true, false},
	        {"cc1plus: out of memory allocating 65536 bytes\n", true, false},
	        {"LLVM ERROR: out of memory\n", true, false},
	        {"terminate called after throwing an instance of 'std::bad_alloc'\n", true, false},
	        {"make: *** [a.o] Killed\r\n", true, false},
	        {"Killed", true, false},
	        {"Killed it in time\n", false, false},
	        {"illed\n", false, false},
	        {"cp: No space left on device\n", false, true},
	        {"ld: final link failed: Disk quota exceeded\n", false, true},
	        {"a.c:1: error: out of memory\n", false, false}, /* of the code */
	        {"", false, false},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		write_text("log", cases[i].log);
		if (tk_build_log_has_killed_tool(in_folder("log")) != cases[i].is_killed ||
		        tk_build_log_has_disk_full(in_folder("log")) != cases[i].is_disk_full)
			fail_msg("%s", cases[i].log);
	}
}

/* ---- keys ---- */

static int compute(const struct tk_build_spec *spec, struct tk_build_key *key, struct tk_error *err)
{
	return tk_build_key_compute(spec, folder, key, err);
}

static struct tk_build_spec new_spec(const struct tk_repo *repo)
{
	static char adapter[60];

	snprintf(adapter, sizeof adapter, "%s/adapter", folder);
	return (struct tk_build_spec){
	        .repo = repo, .revision = "0123", .adapter_dir = adapter, .arch = "sm_90"};
}

static void expect_other_key(const struct tk_build_spec *spec, const char first[TK_HASH_HEX_SIZE])
{
	struct tk_build_key key;
	struct tk_error err = {0};

	if (compute(spec, &key, &err))
		fail_msg("%s", err.message);
	assert_string_not_equal(key.hex, first);
	free(key.toolchain);
}

/* Everything that decides the content of an artifact, and nothing else. */
static void a_key_depends_on_what_is_built(void **state)
{
	static char variable[] = "TK_TEST_VARIABLE";
	static char *env[] = {variable, NULL};
	struct tk_repo repo = {.kind = TK_REPO_GIT, .name = "blas", .url = "u"};
	const struct tk_build_spec spec = new_spec(&repo);
	struct tk_build_key first, again;
	struct tk_build_spec other = spec;
	struct tk_error err = {0};

	assert_int_equal(compute(&spec, &first, &err), TK_OK);
	assert_string_equal(first.toolchain, "none");
	free(first.toolchain);
	other.jobs = 7; /* decides nothing */
	other.deadline_s = 9;
	repo.url = "v"; /* a mirror */
	assert_int_equal(compute(&other, &again, &err), TK_OK);
	assert_string_equal(again.hex, first.hex);
	free(again.toolchain);
	other = spec;
	other.revision = "0124";
	expect_other_key(&other, first.hex);
	other = spec;
	other.flags = "-O3";
	expect_other_key(&other, first.hex);
	other = spec;
	other.arch = "sm_80";
	expect_other_key(&other, first.hex);
	other = spec;
	setenv("TK_TEST_VARIABLE", "1", 1);
	other.env = env;
	expect_other_key(&other, first.hex);
	repo.submodules = true;
	expect_other_key(&spec, first.hex);
	repo.submodules = false;
	repo.name = "blas2";
	expect_other_key(&spec, first.hex);
	repo.name = "blas";
	write_text("abi/tracker_abi.h", "/* 2 */");
	expect_other_key(&spec, first.hex);
	write_text("abi/tracker_abi.h", "/* 1 */");
	write_text("adapter/build", "#!/bin/bash");
	expect_other_key(&spec, first.hex);
	write_text("adapter/build", "#!/bin/sh");
	assert_int_equal(compute(&spec, &again, &err), TK_OK);
	assert_string_equal(again.hex, first.hex);
	free(again.toolchain);
}

static void inputs_are_part_of_the_key(void **state)
{
	const struct tk_repo repo = {.kind = TK_REPO_GIT, .name = "blas", .url = "u"};
	const struct tk_build_spec spec = new_spec(&repo);
	struct tk_build_key first;
	struct tk_error err = {0};

	write_text("adapter/inputs", "  shared.h   # of the kernels\n\n");
	write_text("shared.h", "1");
	assert_int_equal(compute(&spec, &first, &err), TK_OK);
	free(first.toolchain);
	write_text("shared.h", "2");
	expect_other_key(&spec, first.hex);
	write_text("adapter/inputs", "/etc/passwd\n");
	assert_int_equal(compute(&spec, &first, &err), TK_ECONFIG);
	assert_non_null(strstr(err.message, "adapter/inputs: \"/etc/passwd\" is not a path below"));
	write_text("adapter/inputs", "a/../../x\n");
	assert_int_equal(compute(&spec, &first, &err), TK_ECONFIG);
	write_text("adapter/inputs", "none.h\n");
	assert_int_not_equal(compute(&spec, &first, &err), TK_OK);
}

/* ---- toolchains ---- */

static void write_tool(const char *name, const char *version)
{
	char text[300];

	snprintf(text, sizeof text, "#!/bin/sh\ncat <<'END'\n%s\nmore\nEND\n", version);
	write_text(name, text);
	assert_int_equal(chmod(in_folder(name), 0755), 0);
}

static void compilers_are_named_with_their_version(void **state)
{
	static const struct {
		const char *answer, *toolchain;
	} cases[] = {
	        {"cc (Debian 12.2.0-14) 12.2.0", "gcc 12.2.0"},
	        {"gcc (GCC) 14.1.0 20240507", "gcc 14.1.0"},
	        {"Debian clang version 17.0.6 (1)", "clang 17.0.6"},
	        {"Intel(R) oneAPI DPC++/C++ Compiler 2024.1.0 (2024.1.0.20240308)",
	                "cc 2024.1.0.20240308"},
	        {"a compiler without a number", "cc"},
	};
	const struct tk_repo repo = {.kind = TK_REPO_GIT, .name = "blas", .url = "u"};
	const struct tk_build_spec spec = new_spec(&repo);
	char first[TK_HASH_HEX_SIZE] = "";

	write_text("adapter/tools", "cc\n?no-such-tool-of-this-machine\n");
	setenv("CC", in_folder("tool"), 1);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tk_build_key key;
		struct tk_error err = {0};
		write_tool("tool", cases[i].answer);
		if (compute(&spec, &key, &err))
			fail_msg("%s", err.message);
		assert_string_equal(key.toolchain, cases[i].toolchain);
		assert_string_not_equal(key.hex, first);
		strcpy(first, key.hex);
		free(key.toolchain);
	}
	unsetenv("CC");
}

static void tools_must_be_programs_that_exist(void **state)
{
	static const struct {
		const char *tools, *message;
		int status;
	} cases[] = {
	        {"no-such-tool-of-this-machine\n", "is needed and not installed", TK_ENOTFOUND},
	        {"-rf\n", "\"-rf\" is not a program's name", TK_ECONFIG},
	        {"a b\n", "\"a b\" is not a program's name", TK_ECONFIG},
	        {"?/bin/sh\n", "\"/bin/sh\" is not a program's name", TK_ECONFIG},
	};
	const struct tk_repo repo = {.kind = TK_REPO_GIT, .name = "blas", .url = "u"};
	const struct tk_build_spec spec = new_spec(&repo);

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tk_build_key key;
		struct tk_error err = {0};
		write_text("adapter/tools", cases[i].tools);
		assert_int_equal(compute(&spec, &key, &err), cases[i].status);
		if (!strstr(err.message, cases[i].message))
			fail_msg("%s", err.message);
	}
}

/* ---- processes at once ---- */

static void memory_limits_the_processes_of_a_build(void **state)
{
	static const struct {
		const char *memory_per_job;
		unsigned jobs, limit;
	} cases[] = {
	        {NULL, 8, 8}, {NULL, 0, 1}, {"1\n", 8, 8}, {"999999999\n", 8, 1}, /* at least one */
	};
	const struct tk_repo repo = {.kind = TK_REPO_GIT, .name = "blas"};
	struct tk_build_spec spec = new_spec(&repo);
	struct tk_error err = {0};
	unsigned limit;

	for (size_t i = 0; i < COUNT(cases); i++) {
		if (cases[i].memory_per_job)
			write_text("adapter/memory_per_job", cases[i].memory_per_job);
		spec.jobs = cases[i].jobs;
		assert_int_equal(tk_build_jobs_limit(&spec, &limit, &err), TK_OK);
		assert_int_equal(limit, cases[i].limit);
	}
	write_text("adapter/memory_per_job", "much\n");
	assert_int_equal(tk_build_jobs_limit(&spec, &limit, &err), TK_ECONFIG);
	assert_non_null(strstr(err.message, "expected a number of MiB above 0"));
	write_text("adapter/memory_per_job", "0\n");
	assert_int_equal(tk_build_jobs_limit(&spec, &limit, &err), TK_ECONFIG);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_log_says_why_a_build_failed),
	        TEST(a_log_that_is_not_there_says_nothing),
	        TEST(long_lines_are_cut),
	        TEST(logs_tell_failures_of_the_machine),
	        TEST(a_key_depends_on_what_is_built),
	        TEST(inputs_are_part_of_the_key),
	        TEST(compilers_are_named_with_their_version),
	        TEST(tools_must_be_programs_that_exist),
	        TEST(memory_limits_the_processes_of_a_build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
