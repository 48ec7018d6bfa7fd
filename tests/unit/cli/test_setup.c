/* The commands of runner/cli/setup: suite, inputs, init, help, completion, manual. */
#include "command_rig.h"

#include <sys/stat.h>
#include <unistd.h>

#include "cli/setup/completion_names.h"
#include "cli/setup/manual.h"

static int set_up(void **state)
{
	setenv("TRACKER_DATADIR", TK_SOURCE_ROOT, 1);
	setenv("TRACKER_BACKENDS", TK_MODULES, 1);
	return command_folder_open(state);
}

static json_t *run_json(const char *line)
{
	struct ran r = run_line(line);
	json_error_t why;
	json_t *root = json_loads(r.out, 0, &why);
	if (r.code || !root)
		fail_msg("%s: exit code %d: %s\n%.500s\n%.500s", line, r.code, why.text, r.out,
		        r.err);
	ran_free(&r);
	return root;
}

static const char *text_of(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

/* ---- suite ---- */

#define SUITE \
	"title: Mine\nsource: here\nproblems:\n" \
	"  - gemm: { m: [16, 32], n: 8, k: 4 }\n    group: small\n"

static void suites_are_listed_with_what_is_wrong(void **state)
{
	mkdir("suites", 0755);
	write_command_file("suites/mine.yml", SUITE);
	json_t *list = run_json("suite list --format=json"), *s;
	size_t i, found = 0;
	json_array_foreach (list, i, s) {
		if (strcmp(text_of(s, "name"), "mine") == 0) {
			assert_string_equal(text_of(s, "title"), "Mine");
			assert_int_equal(json_integer_value(json_object_get(s, "problems")), 2);
			assert_true(json_is_false(json_object_get(s, "sequence")));
			assert_int_equal(strlen(text_of(s, "hash")), 64);
			expect_contains(text_of(s, "path"), "suites/mine.yml");
			found++;
		}
		found += strcmp(text_of(s, "name"), "smoke") == 0; /* the tracker's */
	}
	assert_int_equal(found, 2);
	json_decref(list);
	write_command_file("suites/broken.yml", "problems: 7\n");
	struct ran r = run_line("suite list");
	assert_int_equal(r.code, TK_EXIT_USAGE);
	expect_contains(r.out, "cannot be read");
	expect_contains(r.out, "Mine"); /* the others are there all the same */
	expect_contains(r.err, "tracker suite list: ");
	expect_contains(r.err, "broken.yml:1:");
	ran_free(&r);
	r = run_line("suite list --format=json");
	assert_int_equal(r.code, TK_EXIT_USAGE);
	expect_contains(r.out, "\"broken\": true");
	ran_free(&r);
}

static void suites_are_checked(void **state)
{
	mkdir("suites", 0755);
	write_command_file("suites/mine.yml", SUITE);
	write_command_file(
	        "one.yml", "title: t\nsource: s\nproblems:\n  - gemm: {m: 1, n: 1, k: 1}\n");
	expect_line("suite check mine ./one.yml", 0, "mine.yml: 2 problems\n", NULL);
	expect_line("suite check ./one.yml", 0, "one.yml: 1 problem\n", NULL);
	expect_line("suite check ./one.yml --quiet", 0, NULL, NULL);
	expect_line("suite check", 0, "smoke.yml: 13 problems", NULL); /* all of them */
	write_command_file(
	        "bad.yml", "title: t\nsource: s\nproblems:\n  - gemm: {m: 0, n: 1, k: 1}\n");
	expect_line("suite check ./bad.yml mine", 2, "mine.yml: 2 problems", "bad.yml:4:");
	expect_line("suite check ./bad.yml", 2, NULL, "tracker suite check: ");
	expect_line("suite check mien", 2, NULL, "unknown suite \"mien\"; did you mean \"mine\"?");
	expect_line("suite check ./none.yml", 2, NULL, "none.yml");
	write_command_file("empty.yml", "");
	expect_line("suite check ./empty.yml", 2, NULL, "empty.yml");
	mkdir("folder.yml", 0755);
	struct ran r = run_line("suite check ./folder.yml mine");
	assert_int_not_equal(r.code, 0);
	expect_contains(r.out, "mine.yml: 2 problems");
	expect_contains(r.err, "folder.yml");
	ran_free(&r);
}

static void a_suite_is_shown(void **state)
{
	write_command_file("mine.yml", SUITE);
	json_t *s = run_json("suite show ./mine.yml --format=json");
	const json_t *p = json_array_get(json_object_get(s, "problems"), 1);
	assert_string_equal(text_of(s, "title"), "Mine");
	assert_int_equal(json_array_size(json_object_get(s, "problems")), 2);
	expect_contains(text_of(p, "problem"), "m=32,n=8");
	assert_string_equal(text_of(p, "title"), "gemm f32 32x8x4 nn");
	assert_string_equal(text_of(p, "op"), "gemm");
	assert_string_equal(text_of(p, "dtype"), "f32");
	assert_string_equal(text_of(p, "source"), "here");
	assert_true(json_number_value(json_object_get(p, "flops")) == 2.0 * 32 * 8 * 4);
	assert_true(
	        json_number_value(json_object_get(p, "bytes")) == 4.0 * (32 * 4 + 4 * 8 + 32 * 8));
	json_decref(s);
	struct ran r = run_line("suite show ./mine.yml");
	assert_int_equal(r.code, 0);
	expect_contains(r.out, "GFLOP");
	expect_contains(r.out, "gemm f32 16x8x4 nn");
	expect_contains(r.out, "1.024e-06"); /* 1,024 FLOP */
	ran_free(&r);
}

/* Names are searched beside the configuration; paths start from the current folder. */
static void suites_belong_to_their_configuration(void **state)
{
	mkdir("other", 0755);
	mkdir("other/suites", 0755);
	write_command_file("other/suites/mine.yml", SUITE);
	write_command_file("other/tracker.yml", "machine: m\n");
	expect_line("suite check mine", 2, NULL, "unknown suite \"mine\"");
	expect_line("suite check mine --config=other/tracker.yml", 0, "2 problems", NULL);
	expect_line("suite show mine --config=other/tracker.yml", 0, "16x8x4", NULL);
	expect_line("suite list --config=other/tracker.yml", 0, "mine", NULL);
	expect_line("suite check other/suites/mine.yml --config=other/tracker.yml", 0, "2 problems",
	        NULL);
	expect_line("suite check suites/mine.yml --config=other/tracker.yml", 2, NULL, "mine.yml");
	expect_line("suite check mine -C other", 0, "2 problems", NULL);
}

static void actions_take_their_arguments_alone(void **state)
{
	expect_usage("suite", "missing action; expected list, check or show");
	expect_usage("suite chek", "unknown action \"chek\"");
	expect_usage("suite ", "unknown action \"\"");
	expect_usage("suite list smoke", "list: unexpected argument \"smoke\"");
	expect_usage("suite show", "expected one NAME or FILE");
	expect_usage("suite show smoke first-gpu", "expected one NAME or FILE");
	expect_usage("suite --format=json", "missing action");
	expect_usage("inputs", "missing action; expected import or list");
	expect_usage("inputs export", "unknown action \"export\"");
	expect_usage("inputs list book", "list: unexpected argument \"book\"");
	expect_usage("inputs import", "expected a NAME and at least one FILE");
	expect_usage("inputs import book", "expected a NAME and at least one FILE");
	/* the last of an option that is given twice counts */
	expect_line("suite list --format=json --format=text", 0, "SUITE", NULL);
	expect_line("suite --format=text list --format=json", 0, "\"name\": \"smoke\"", NULL);
}

/* ---- inputs ---- */

static void texts_are_imported_and_listed(void **state)
{
	write_command_file("a.txt", "one two, one");
	write_command_file("b.txt", "three");
	json_t *first = run_json("inputs import book a.txt b.txt --format=json");
	assert_int_equal(strncmp(text_of(first, "name"), "book-", 5), 0);
	assert_int_equal(strncmp(text_of(first, "dist"), "text:book-", 10), 0);
	assert_int_equal(json_integer_value(json_object_get(first, "documents")), 2);
	json_t *again = run_json("inputs import book a.txt b.txt --format=json");
	assert_true(json_equal(first, again));
	json_decref(again);
	json_t *list = run_json("inputs list --format=json"), *t;
	size_t i, found = 0;
	json_array_foreach (list, i, t)
		found += json_equal(t, first);
	assert_int_equal(found, 1);
	json_decref(list);
	expect_line("inputs list", 0, text_of(first, "dist"), NULL);
	expect_line("inputs import book a.txt", 0, ", of 1 document\n", NULL);
	json_decref(first);
}

static void texts_that_cannot_be_imported(void **state)
{
	write_command_file("blank.txt", " \n");
	write_command_file("a.txt", "word");
	write_command_file("a.parquet", "not one");
	expect_line("inputs import book none.txt", 4, NULL, "none.txt");
	expect_line("inputs import book blank.txt", 4, NULL, "the files have no words");
	expect_line("inputs import b/k a.txt", 2, NULL, "tracker inputs: ");
	expect_line("inputs import  a.txt", 2, NULL, "tracker inputs: "); /* an empty name */
	expect_line("inputs import book a.txt .", 4, NULL, "tracker inputs: ");
	struct ran r = run_line("inputs import book a.parquet");
	assert_int_equal(r.code, TK_EXIT_FAILED);
	expect_contains(r.err, "a.parquet");
	ran_free(&r);
	assert_int_not_equal(access("inputs", F_OK), 0); /* nothing was written */
	expect_line("inputs import long a.txt --config=none.yml", 2, NULL, "none.yml");
}

/* 65,536 tokens are kept, and the command says that there were more. */
static void long_texts_are_cut(void **state)
{
	char *text = malloc(70000 * 2 + 1);
	for (size_t i = 0; i < 70000; i++)
		memcpy(text + 2 * i, i % 2 ? "a " : "b ", 2);
	text[140000] = '\0';
	write_command_file("long.txt", text);
	text[60000] = '\0';
	write_command_file("short.txt", text);
	free(text);
	expect_line("inputs import long long.txt", 0, "65536 tokens, ", NULL);
	expect_line("inputs import long long.txt", 0, "; the rest was left out\n", NULL);
	struct ran r = run_line("inputs import short short.txt");
	assert_int_equal(r.code, 0);
	expect_lacks(r.out, "left out");
	ran_free(&r);
}

/* ---- init ---- */

static void a_configuration_is_written_once(void **state)
{
	expect_line("init", 0, "tracker.yml: written", NULL);
	char *written = read_whole_file("tracker.yml");
	struct ran r = run_line("init --print");
	assert_string_equal(r.out, written);
	assert_string_equal(r.err, "");
	ran_free(&r);
	write_command_file("tracker.yml", "machine: mine\n");
	expect_usage("init", "tracker.yml already exists; --force overwrites it");
	expect_usage("init --quiet", "already exists");
	free(written);
	written = read_whole_file("tracker.yml");
	assert_string_equal(written, "machine: mine\n");
	free(written);
	expect_line("init --print", 0, "# tracker.yml", NULL); /* writes nothing */
	expect_line("init --force --quiet", 0, NULL, NULL);
	expect_line("init --config=sub.yml", 0, "sub.yml: written", NULL);
	assert_int_equal(access("sub.yml", F_OK), 0);
	expect_line("init --config=none/x.yml", 4, NULL, "none/x.yml");
	expect_usage("init tracker.yml", "--config=FILE names the file");
	expect_line("suite check smoke", 0, "13 problems", NULL); /* it can be read */
}

/* ---- help ---- */

static void help_is_that_of_the_command(void **state)
{
	expect_line("help", 0, "nightly", NULL);
	expect_usage("help dif", "unknown command \"dif\"; did you mean \"diff\"?");
	expect_usage("help ", "unknown command \"\"");
	expect_usage("help diff log", "expected one command");
	for (const struct tk_command *c = tk_commands; c->name; c++) {
		char line[64];
		snprintf(line, sizeof line, "help %s", c->name);
		struct ran r = run_line(line);
		assert_int_equal(r.code, 0);
		assert_string_equal(r.err, "");
		snprintf(line, sizeof line, "Usage: tracker %s ", c->name);
		expect_contains(r.out, line);
		expect_contains(r.out, "--help");
		expect_contains(r.out, "--version");
		ran_free(&r);
	}
}

/* ---- completion ---- */

/* Words, the last of which is being typed, and what bash offers. */
static const char *const completions[][2] = {{"tracker ni", "nightly"},
        {"tracker --c", "--color= --config="}, {"tracker suite ", "list check show"},
        {"tracker suite sh", "show"}, {"tracker --config file.yml suite sh", "show"},
        {"tracker -C folder suite sh", "show"}, {"tracker -q suite sh", "show"},
        {"tracker suite --for", "--format="}, {"tracker suite --format ", "text json"},
        {"tracker suite --format = j", "json"}, {"tracker suite --color = n", "never"},
        {"tracker suite --config = fi", "file.yml"}, {"tracker init --fo", "--force"},
        {"tracker init --q", "--quiet"}, {"tracker help compl", "completion"}, {"tracker wor", ""},
        /* hidden */ {"tracker init --zz", ""}};

static void bash_offers_what_the_tables_have(void **state)
{
	struct ran r = run_line("completion bash");
	char line[4096];
	assert_int_equal(r.code, 0);
	write_command_file("tracker.bash", r.out);
	ran_free(&r);
	mkdir("folder", 0755);
	write_command_file("file.yml", "");
	FILE *f = fopen("ask.bash", "w");
	fputs("source ./tracker.bash\n", f);
	for (size_t i = 0; i < sizeof completions / sizeof *completions; i++) {
		const char *words = completions[i][0];
		bool is_new = words[strlen(words) - 1] == ' ';
		fprintf(f, "COMP_WORDS=(%s%s) COMPREPLY=()\n", words, is_new ? "''" : "");
		fputs("COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tracker; echo \"${COMPREPLY[*]}\"\n",
		        f);
	}
	fclose(f);
	f = popen("bash ask.bash 2>&1", "r");
	for (size_t i = 0; i < sizeof completions / sizeof *completions; i++) {
		assert_non_null(fgets(line, sizeof line, f));
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, completions[i][1]) != 0)
			fail_msg("%s: \"%s\", expected \"%s\"", completions[i][0], line,
			        completions[i][1]);
	}
	pclose(f);
}

static void names_are_printed_for_the_completion(void **state)
{
	mkdir("suites", 0755);
	write_command_file("suites/mine.yml", SUITE);
	write_command_file("suites/$(touch pwned).yml", SUITE);
	write_command_file("tracker.yml", "upstreams:\n  - {name: up, kind: git, url: /tmp/x, "
	                                  "adapter: openblas, backends: [openblas]}\n");
	struct ran r = run_line("completion --names=suites");
	assert_int_equal(r.code, 0);
	expect_contains(r.out, "\nmine\n");
	expect_contains(r.out, "smoke\n");
	expect_lacks(r.out, "pwned");
	ran_free(&r);
	r = run_line("completion --names=upstreams");
	assert_string_equal(r.out, "up\n");
	ran_free(&r);
	expect_line("completion --names=backends", 0, "null\n", NULL);
	for (size_t i = 0; tk_completion_kinds[i].kind; i++) { /* never an error: bash shows it */
		char line[64];
		snprintf(line, sizeof line, "completion --names=%s", tk_completion_kinds[i].kind);
		r = run_line(line);
		assert_int_equal(r.code, 0);
		assert_string_equal(r.err, "");
		ran_free(&r);
	}
	expect_line("completion --names=colours", 2, NULL, NULL);
	write_command_file("tracker.yml", "broken: [");
	expect_line("completion --names=upstreams", 0, NULL, NULL);
	expect_usage("completion zsh", "unknown shell \"zsh\"; expected bash");
	expect_usage("completion bash bash", "expected bash");
}

/* ---- manual ---- */

static void the_manual_has_every_command(void **state)
{
	struct ran r = run_line("manual markdown");
	char line[64], page[64];
	assert_int_equal(r.code, 0);
	mkdir("man", 0755);
	expect_line("manual man man", 0, NULL, NULL);
	for (const struct tk_command *c = tk_commands; c->name; c++) {
		snprintf(line, sizeof line, "## `tracker %s`\n", c->name);
		assert_int_equal(strstr(r.out, line) != NULL, !c->hidden);
		snprintf(page, sizeof page, "man/tracker-%s.1", c->name);
		assert_int_equal(access(page, F_OK) == 0, !c->hidden);
		if (c->hidden)
			continue;
		char *text = read_whole_file(page);
		expect_contains(text, ".TH ");
		expect_contains(text, ".SH NAME\n");
		free(text);
	}
	for (size_t i = 0; tk_manual_environment[i].name; i++)
		expect_contains(r.out, tk_manual_environment[i].name);
	ran_free(&r);
	assert_int_equal(access("man/tracker.1", F_OK), 0);
	assert_int_equal(access("man/tracker.yml.5", F_OK), 0);
	expect_line("manual configuration", 0, "budgets", NULL);
	struct ran none = run_line("manual man /dev/null/man");
	assert_int_equal(none.code, TK_EXIT_FAILED);
	expect_contains(none.err, "/dev/null");
	ran_free(&none);
}

static void the_manual_is_one_of_three(void **state)
{
	static const char *const lines[] = {"manual", "manual man", "manual html",
	        "manual markdown x", "manual configuration x", "manual man a b"};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct ran r = run_line(lines[i]);
		assert_int_equal(r.code, TK_EXIT_USAGE);
		assert_string_equal(r.out, "");
		ran_free(&r);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, command_folder_close)
	const struct CMUnitTest tests[] = {T(suites_are_listed_with_what_is_wrong),
	        T(suites_are_checked), T(a_suite_is_shown), T(suites_belong_to_their_configuration),
	        T(actions_take_their_arguments_alone), T(texts_are_imported_and_listed),
	        T(texts_that_cannot_be_imported), T(long_texts_are_cut),
	        T(a_configuration_is_written_once), T(help_is_that_of_the_command),
	        T(bash_offers_what_the_tables_have), T(names_are_printed_for_the_completion),
	        T(the_manual_has_every_command), T(the_manual_is_one_of_three)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
