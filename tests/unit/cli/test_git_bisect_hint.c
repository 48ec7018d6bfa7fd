/* The commands that continue a search with git: quoted for the shell, complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/commands.h"
#include "cli/night/git_bisect_hint.h"
#include "config/config.h"

static char *print_hint(const char *series, const char *config_path)
{
	struct tk_upstream_config upstream = {
	        .name = (char[]){"lib"}, .url = (char[]){"https://example.org/lib"}};
	struct tk_config config = {.upstreams = &upstream,
	        .upstream_count = 1,
	        .path = (char *)config_path,
	        .root = (char[]){"/root folder"},
	        .db = (char[]){"/h.db"}};
	const struct tk_globals globals = {.program = (char[]){"/bin/tracker"}};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	tk_git_bisect_hint_print(
	        f, "  ", &globals, &config, "lib", series, "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb");
	fclose(f);
	return text;
}

static void both_commands_are_complete(void **state)
{
	char *text = print_hint("box.gemm-512", "/t.yml");

	assert_string_equal(text,
	        "  git log --first-parent --oneline aaaaaaaaaaaa..bbbbbbbbbbbb   # in a clone of "
	        "https://example.org/lib\n"
	        "  git bisect start --first-parent bbbbbbbbbbbb aaaaaaaaaaaa && git bisect run "
	        "/bin/tracker --config=/t.yml --db=/h.db bisect-step box.gemm-512 "
	        "--good=aaaaaaaaaaaaaaaa --bad=bbbbbbbbbbbbbbbb\n");
	free(text);
}

static void names_are_quoted_for_the_shell(void **state)
{
	char *text = print_hint("a'b $(x)", NULL);

	assert_non_null(strstr(text, " -C '/root folder' "));
	assert_non_null(strstr(text, " bisect-step 'a'\\''b $(x)' "));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(both_commands_are_complete),
	        cmocka_unit_test(names_are_quoted_for_the_shell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
