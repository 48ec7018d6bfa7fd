/* Which folders of the environment a sandboxed program can read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/process.h"
#include "base/sandbox.h"
#include "base/sandbox_internal.h"

static char root[] = "/tmp/tracker-sandbox-XXXXXX";

static const char *folder(const char *name)
{
	static char path[4][128];
	static size_t next;
	char *out = path[next++ % 4];

	snprintf(out, sizeof path[0], "%s/%s", root, name);
	mkdir(out, 0755);
	return out;
}

static bool lists(const char *expected)
{
	char *tools[TK_SANDBOX_TOOLS_MAX + 1];
	bool found = false;

	tk_sandbox_list_tools(tools);
	for (char **t = tools; *t; t++) {
		found = found || strcmp(*t, expected) == 0;
		free(*t);
	}
	return found;
}

static int make_root(void **state)
{
	return mkdtemp(root) && setenv("PATH", "/usr/bin", 1) == 0 ? 0 : -1;
}

static void folders_of_libraries_are_readable(void **state)
{
	setenv("LD_LIBRARY_PATH", folder("lib"), 1);
	assert_true(lists(folder("lib")));
	assert_false(lists(root));
}

static void the_whole_tool_of_a_program_is_readable(void **state)
{
	folder("tool");
	setenv("PATH", folder("tool/bin"), 1);
	assert_true(lists(folder("tool")));
	setenv("PATH", "/tmp", 1);
	assert_false(lists("/tmp"));
	setenv("PATH", "/usr/bin", 1);
	assert_false(lists("/usr"));
}

static bool is_home_listed(const char *path)
{
	setenv("PATH", path, 1);
	return lists(folder("home")) || lists(path);
}

static void the_home_is_never_readable_as_a_whole(void **state)
{
	char *before = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
	char link[128], dots[128];

	snprintf(link, sizeof link, "%s/link", folder("home"));
	assert_int_equal(symlink("..", link), 0);
	assert_int_equal(setenv("HOME", folder("home"), 1), 0);
	assert_false(is_home_listed(folder("home")));
	assert_false(is_home_listed(link));
	snprintf(dots, sizeof dots, "%s/..", folder("home/bin"));
	assert_false(is_home_listed(dots));
	setenv("PATH", folder("home/bin"), 1);
	assert_true(lists(folder("home/bin")));
	assert_false(lists(folder("home")));
	if (before)
		setenv("HOME", before, 1);
	free(before);
	setenv("PATH", "/usr/bin", 1);
}

static void add_link(const char *name, const char *target)
{
	char path[128];

	snprintf(path, sizeof path, "%s/home/.local/bin/%s", root, name);
	assert_int_equal(symlink(target, path), 0);
}

/* ~/.local also has keys and histories, ~/.cargo tokens. */
static void of_local_programs_only_their_own_files_are_readable(void **state)
{
	char *before = getenv("HOME") ? strdup(getenv("HOME")) : NULL, home[64], path[160],
	     shared[160];
	FILE *script;

	snprintf(home, sizeof home, "%s", folder("home"));
	for (const char *const *p = (const char *const[]){"home/.local", "home/.local/bin",
	             "home/.local/share", "home/.local/share/venv", "home/.local/share/venv/bin",
	             "home/.local/share/bin", "home/.local/keys", "home/scripts", "home/.cargo",
	             NULL};
	        *p; p++)
		folder(*p);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s/%s", home,
		        i ? "scripts/own.sh" : ".local/share/venv/bin/tool");
		script = fopen(path, "w");
		assert_non_null(script);
		fclose(script);
		chmod(path, 0755);
	}
	add_link("tool", "../share/venv/bin/tool");
	add_link("own", path);
	add_link("shared", "../share/bin/shared");
	snprintf(shared, sizeof shared, "%s/.local/share/bin/shared", home);
	assert_int_equal(symlink("/usr/bin/true", shared), 0);
	add_link("gone", "../keys/gone");
	add_link("home", "../..");
	add_link("system", "/usr/bin/true");
	setenv("HOME", home, 1);
	setenv("PATH", folder("home/.local/bin"), 1);
	assert_true(lists(folder("home/.local/bin")));
	assert_true(lists(folder("home/.local/share/venv"))); /* a whole tool */
	assert_true(lists(folder("home/.local/share/bin")));
	assert_true(lists(path));
	for (const char *const *p = (const char *const[]){"home", "home/.local",
	             "home/.local/share", "home/.local/keys", "home/scripts", NULL};
	        *p; p++)
		assert_false(lists(folder(*p)));
	assert_false(lists("/usr/bin/true"));
	setenv("PATH", folder("home/.cargo/bin"), 1);
	assert_true(lists(folder("home/.cargo/bin")));
	assert_false(lists(folder("home/.cargo")));
	if (before)
		setenv("HOME", before, 1);
	free(before);
	setenv("PATH", "/usr/bin", 1);
}

static void a_folder_that_does_not_exist_is_left_out(void **state)
{
	char gone[128];

	snprintf(gone, sizeof gone, "%s/gone", root);
	setenv("LD_LIBRARY_PATH", gone, 1);
	assert_false(lists(gone));
}

static void many_folders_stay_within_the_limit(void **state)
{
	char list[32768] = "", name[32];

	for (int i = 0; i < 3 * TK_SANDBOX_TOOLS_MAX; i++) {
		snprintf(name, sizeof name, "lib%d", i);
		snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ":" : "",
		        folder(name));
	}
	setenv("LD_LIBRARY_PATH", list, 1);
	assert_true(lists(folder("lib0")));
	unsetenv("LD_LIBRARY_PATH");
}

/* In Landlock: a program names its threads by a file, and writes to no other process' files. */
static void a_program_names_its_own_threads(void **state)
{
	static const struct tk_sandbox_policy policy;
	char script[160];
	const char *const argv[] = {"sh", "-c", script, NULL};

	setenv("TRACKER_SANDBOX_METHOD", "landlock", 1);
	tk_sandbox_configure(TK_SANDBOX_AUTO);
	if (tk_sandbox_method() != TK_SANDBOX_LANDLOCK)
		skip();
	for (int own = 1; own >= 0; own--) {
		struct tk_process_result result = {0};
		struct tk_process_spec spec = {.argv = argv, .deadline_s = 20};
		struct tk_error err = {0};

		snprintf(script, sizeof script, "echo name >/proc/%s/task/%s/comm",
		        own ? "self" : "1", own ? "$$" : "1");
		assert_int_equal(tk_sandbox_new(&policy, &spec.sandbox, &err), 0);
		assert_int_equal(tk_process_run(&spec, &result, &err), 0);
		assert_int_equal(tk_process_check(&spec, &result, &err) == 0, own);
		tk_process_result_free(&result);
		tk_sandbox_free(spec.sandbox);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(folders_of_libraries_are_readable),
	        cmocka_unit_test(the_whole_tool_of_a_program_is_readable),
	        cmocka_unit_test(the_home_is_never_readable_as_a_whole),
	        cmocka_unit_test(of_local_programs_only_their_own_files_are_readable),
	        cmocka_unit_test(a_folder_that_does_not_exist_is_left_out),
	        cmocka_unit_test(a_program_names_its_own_threads),
	        cmocka_unit_test(many_folders_stay_within_the_limit),
	};

	return cmocka_run_group_tests(tests, make_root, NULL);
}
