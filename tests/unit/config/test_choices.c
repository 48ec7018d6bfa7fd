/* What a night takes from a configuration: the modes of a kind of devices, upstreams by name, and
 * how the type of a key is described; and files of accepted changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/file.h"
#include "config/acks.h"
#include "config/config.h"
#include "config/keys.h"
#include "config/value.h"

static struct tk_config *load(const char *text)
{
	struct tk_config *c = NULL;
	struct tk_error err = {0};

	if (tk_config_load_text("/srv/bench", "tracker.yml", text, strlen(text), &c, &err))
		fail_msg("%s\n%s", text, err.message);
	return c;
}

/* ---- modes ----------------------------------------------------------------------------------- */

/* The modes of a kind, with blanks between them. */
static void expect_modes(const struct tk_config *c, const char *kind, const char *expected)
{
	const char *modes[TK_CONFIG_MODES_MAX];
	const size_t count = tk_config_list_modes(c, kind, modes);
	char text[1024] = "";

	for (size_t i = 0; i < count; i++) {
		strcat(text, i ? " " : "");
		strcat(text, modes[i]);
	}
	if (strcmp(text, expected))
		fail_msg("%s has the modes %s, not %s", kind, text, expected);
}

static void modes_of_a_kind_of_devices(void **state)
{
	struct tk_config *c = load("");

	(void)state;
	expect_modes(c, "cpu", "cold");
	expect_modes(c, "cuda", "paced sustained");
	expect_modes(c, "hip", "paced sustained");
	tk_config_free(c);
	c = load("measure: {modes: [cuda:hot, cpu:hot, cuda:cold, cuda:loaded, cu:paced]}\n");
	expect_modes(c, "cuda", "hot cold contended"); /* by their names of today */
	expect_modes(c, "cpu", "hot");
	expect_modes(c, "hip", "paced"); /* not listed: that of the kind */
	expect_modes(c, "cu", "paced");
	expect_modes(c, "cud", "cold");
	tk_config_free(c);
	c = load("measure: {modes: [cuda:paced, 'cuda:sequence:llama3-8b-prefill']}\n");
	expect_modes(c, "cuda", "paced sequence:llama3-8b-prefill");
	expect_modes(c, "cpu", "cold");
	tk_config_free(c);
	c = load("measure: {modes: []}\n");
	expect_modes(c, "cuda", "paced");
	tk_config_free(c);
}

static void expect_refused(const char *text, const char *words)
{
	struct tk_config *c = NULL;
	struct tk_error err = {0};

	if (tk_config_load_text("/srv", "tracker.yml", text, strlen(text), &c, &err) !=
	                TK_ECONFIG ||
	        !strstr(err.message, words))
		fail_msg("%s: \"%s\", not \"%s\"", text, err.message, words);
	assert_null(c);
}

static void as_many_modes_as_there_may_be(void **state)
{
	char text[2048] = "measure: {modes: [a:hot";
	struct tk_config *c;

	(void)state;
	for (int i = 1; i < TK_CONFIG_MODES_MAX; i++)
		sprintf(text + strlen(text), ", k%d:hot", i);
	strcat(text, "]}\n");
	c = load(text);
	expect_modes(c, "k31", "hot");
	tk_config_free(c);
	strcpy(text + strlen(text) - 3, ", k32:hot]}\n");
	expect_refused(text, "measure.modes: more than 32 modes");
}

static void modes_that_are_none(void **state)
{
	static const char *const wrong[] = {"paced", ":paced", "cuda:", "cuda:PACED",
	        "cuda:paced:x", "cuda::paced", "cuda:sequence", "cuda:sequence:"};
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		snprintf(text, sizeof text, "measure: {modes: [cuda:hot, '%s']}\n", wrong[i]);
		expect_refused(text, "tracker.yml:1:29: measure.modes: ");
	}
	expect_refused("measure: {modes: ['cuda:sequence:a']}\n",
	        "1:19: measure.modes: a sequence is the first mode of its kind");
	expect_refused("measure: {modes: [cpu:hot, 'cuda:sequence:a', cuda:hot]}\n",
	        "1:28: measure.modes: a sequence is the first mode of its kind");
	expect_refused("measure: {modes: [cuda:hot, 'cuda:sequence:a@1234']}\n",
	        "is not a name; expected letters");
	expect_refused("measure: {modes: [cuda:hot, 'cuda:sequence:a', 'cuda:sequence:a']}\n",
	        "duplicate mode \"cuda:sequence:a\"");
}

/* ---- upstreams ------------------------------------------------------------------------------- */

static void upstreams_by_their_name(void **state)
{
	struct tk_config *c = load("upstreams:\n"
	                           "  - {name: openblas, kind: git, url: x, adapter: openblas}\n"
	                           "  - {name: blis, kind: git, url: y, adapter: blis}\n");
	char hint[TK_SUGGEST_HINT_SIZE];

	(void)state;
	assert_ptr_equal(tk_config_find_upstream(c, "blis"), &c->upstreams[1]);
	assert_null(tk_config_find_upstream(c, "Blis"));
	assert_null(tk_config_find_upstream(c, ""));
	assert_null(tk_config_find_upstream(c, "builtin")); /* need not be listed */
	assert_string_equal(tk_config_suggest_upstream(c, "openblsa", NULL, NULL, hint),
	        "; did you mean \"openblas\"?");
	assert_string_equal(tk_config_suggest_upstream(c, "zzzzzzz", NULL, NULL, hint),
	        "; expected one of openblas, blis");
	assert_string_equal(tk_config_suggest_upstream(c, "zzzzzzz", "builtin", NULL, hint),
	        "; expected one of openblas, blis, builtin");
	assert_string_equal(tk_config_suggest_upstream(c, "bulitin", "builtin", "; x", hint),
	        "; did you mean \"builtin\"?");
	assert_string_equal(
	        tk_config_suggest_upstream(c, "zzzzzzz", "builtin", "; x", hint), "; x");
	tk_config_free(c);
	const struct tk_config none = {0};

	assert_string_equal(
	        tk_config_suggest_upstream(&none, "a", NULL, NULL, hint), "; none is configured");
	assert_null(tk_config_find_upstream(&none, "a"));
}

/* ---- types ----------------------------------------------------------------------------------- */

/* What the reference says of a key is what its reader does. */
static void types_are_described_with_their_range(void **state)
{
	static const struct {
		const char *section, *key, *type;
	} cases[] = {{"", "machine", "text"}, {"", "devices", "list"}, {"", "sandbox", "word"},
	        {"budgets", "night", "duration, 1s to 7d"},
	        {"budgets", "measure", "duration, 1ms to 1h"},
	        {"budgets", "confirm", "duration, 0 to 1d"},
	        {"budgets", "build_memory", "size, 64MiB to 1024TiB"},
	        {"measure", "precision", "percentage, 0.01% to 50%"},
	        {"measure", "min_samples", "number, 1 to 100000"}, {"measure", "pin", "yes or no"},
	        {"thresholds", "min_effect_time", "time, 0 to 1s"},
	        {"thresholds", "stale", "duration, 1d to 3650d"}, {"paths", "db", "path"},
	        {"control", "problem", "problem"}, {"notify", "webhook", "URL"},
	        {"upstreams", "url", "URL or path"}, {"upstreams", "name", "name"}};
	size_t found = 0;

	(void)state;
	for (const struct tk_config_section *s = tk_config_sections; s->name; s++)
		for (const struct tk_config_key *key = s->keys; key->name; key++)
			for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
				char out[TK_CONFIG_TYPE_SIZE];

				if (strcmp(cases[i].section, s->name) ||
				        strcmp(cases[i].key, key->name))
					continue;
				assert_string_equal(
				        tk_config_describe_type(key, out), cases[i].type);
				found++;
			}
	assert_int_equal(found, sizeof cases / sizeof *cases);
}

/* ---- acks.yml -------------------------------------------------------------------------------- */

static const char *const ack_keys[] = {"backend", "machine", "series", NULL};

static void acks_are_read_from_a_file(void **state)
{
	char dir[] = "/tmp/tracker-acks-XXXXXX", path[64], *large = malloc((1 << 20) + 2);
	static const char entry[] = "- {series: a, note: n}\n#";
	struct tk_acks *acks = NULL;
	struct tk_error err = {0};

	(void)state;
	assert_true(large && mkdtemp(dir));
	snprintf(path, sizeof path, "%s/acks.yml", dir);
	assert_int_equal(tk_acks_load(path, ack_keys, &acks, &err), TK_ENOTFOUND);
	assert_non_null(strstr(err.message, path));
	/* as large as a file may be, and one byte more */
	memset(large, 'x', (1 << 20) + 1);
	memcpy(large, entry, sizeof entry - 1);
	assert_int_equal(tk_file_write_nosync(path, large, 1 << 20, &err), TK_OK);
	if (tk_acks_load(path, ack_keys, &acks, &err))
		fail_msg("%s", err.message);
	assert_int_equal(acks->count, 1);
	assert_int_equal(acks->at[0].action, TK_ACTION_ACK);
	tk_acks_free(acks);
	assert_int_equal(tk_file_write_nosync(path, large, (1 << 20) + 1, &err), TK_OK);
	assert_int_equal(tk_acks_load(path, ack_keys, &acks, &err), TK_EDATA);
	assert_int_equal(tk_dir_remove(dir, &err), TK_OK);
	tk_acks_free(NULL);
	free(large);
}

static void entries_that_are_wrong(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
	        {"- &a {series: x, note: n}\n- *a\n", "acks.yml:2:3: alias"},
	        {"- {series: x, series: y, note: n}\n", "acks.yml:1:15: "},
	        {"- {series: \"a\\0b\", note: n}\n", "acks.yml:1:12: text with a NUL"},
	        {"- {series: x, note: ''}\n", "acks.yml:1:3: this entry has no note"},
	        {"- {series: x, note: ~}\n", "acks.yml:1:3: this entry has no note"},
	        {"- {series: '', note: n}\n", "acks.yml:1:12: series is "},
	        {"- {series: [a, ''], note: n}\n", "acks.yml:1:16: series is "},
	        {"- {series: [a, [b]], note: n}\n", "acks.yml:1:16: series is a list"},
	        {"- {series: [], note: n}\n", "acks.yml:1:3: this entry selects every series"},
	        {"- {series: x, note: n, until: [2027-01-01]}\n", "acks.yml:1:31: until: "},
	        {"- {series: x, note: n, until: 2027-02-30}\n",
	                "acks.yml:1:31: until: \"2027-02-30\" is not a day"},
	        {"- {series: x, note: n, action: [ack]}\n", "acks.yml:1:32: action is a list"},
	        {"- {series: x, note: n, action: reopen}\n", "acks.yml:1:32: unknown action"},
	        {"- {series: x, note: n}\n- 5\n", "acks.yml:2:3: an entry is a single value"},
	        {"5\n", "acks.yml:1:1: the file is a single value"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tk_acks *acks = NULL;
		struct tk_error err = {0};

		if (tk_acks_load_text("acks.yml", cases[i].text, strlen(cases[i].text), ack_keys,
		            &acks, &err) != TK_ECONFIG ||
		        !strstr(err.message, cases[i].message))
			fail_msg("%s: \"%s\", not \"%s\"", cases[i].text, err.message,
			        cases[i].message);
		assert_null(acks);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(modes_of_a_kind_of_devices),
	        cmocka_unit_test(as_many_modes_as_there_may_be),
	        cmocka_unit_test(modes_that_are_none),
	        cmocka_unit_test(upstreams_by_their_name),
	        cmocka_unit_test(types_are_described_with_their_range),
	        cmocka_unit_test(acks_are_read_from_a_file),
	        cmocka_unit_test(entries_that_are_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
