/* Suites: their files, by name in <root>/suites first, then among those that come with the tracker;
 * their problems and hash. suite_yaml.c and suite_json.c read the two formats. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "config/suite_internal.h"
#include "core/night.h"

/* ---- finding a file -------------------------------------------------------------------------- */

static const char *const endings[] = {".yml", ".yaml", ".json"};

static const char *find_ending(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
		size_t n = strlen(endings[i]);

		if (len > n && strcmp(name + len - n, endings[i]) == 0)
			return endings[i];
	}
	return NULL;
}

/* <folder>/suites/<name>.<ending>; NULL if there is no such file. */
static char *find_in_folder(const char *folder, const char *name)
{
	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
		AUTO_TEXT file = tk_sprintf("%s%s", name, endings[i]);
		char *path = tk_path_join3(folder, "suites", file);

		if (tk_file_exists(path))
			return path;
		free(path);
	}
	return NULL;
}

static int unknown_suite(const char *root, const char *name, struct tk_error *err)
{
	char **names = NULL, shown[TK_TEXT_EXCERPT_SIZE], hint[TK_SUGGEST_HINT_SIZE];
	size_t count = 0;

	if (tk_suite_list_names(root, &names, &count, NULL))
		names = tk_calloc(1, sizeof *names);
	tk_suggest_hint(name, (const char *const *)names, NULL, hint);
	tk_fail(err, TK_ENOTFOUND, "unknown suite \"%s\"%s%s", tk_text_format_excerpt(name, shown),
	        hint, strstr(hint, "expected") ? ", or a path" : "");
	tk_names_free(names, count);
	return TK_ENOTFOUND;
}

bool tk_suite_name_is_path(const char *name)
{
	return strchr(name, '/') || find_ending(name);
}

int tk_suite_find_file(const char *root, const char *name, char **path, struct tk_error *err)
{
	char *found;

	if (tk_suite_name_is_path(name)) {
		found = tk_path_resolve(root, name);
		if (!tk_file_exists(found)) {
			free(found);
			return tk_fail(err, TK_ENOTFOUND, "no such suite file: %s", name);
		}
	} else {
		found = find_in_folder(root, name);
		if (!found)
			found = find_in_folder(tk_path_data_dir(), name);
		if (!found)
			return unknown_suite(root, name, err);
	}
	*path = found;
	return TK_OK;
}

static bool cut_ending(char *file)
{
	const char *ending = find_ending(file);

	if (ending)
		file[strlen(file) - strlen(ending)] = '\0';
	return ending;
}

int tk_suite_list_names(const char *root, char ***names, size_t *count, struct tk_error *err)
{
	return tk_suite_folder_list_names(root, "suites", cut_ending, names, count, err);
}

/* Appends the names of root/folder. */
static int add_names(const char *root, const char *folder, bool (*shorten)(char *file),
        char ***names, size_t *count, struct tk_error *err)
{
	AUTO_TEXT dir = tk_path_join(root, folder);
	char **files = NULL;
	size_t n = 0;
	if (tk_dir_exists(dir))
		TRY(tk_dir_list(dir, &files, &n, err));
	*names = tk_reallocarray(*names, *count + n + 1, sizeof **names);
	for (size_t i = 0; i < n; i++)
		if (shorten(files[i]))
			(*names)[(*count)++] = tk_strdup(files[i]);
	(*names)[*count] = NULL;
	tk_names_free(files, n);
	return TK_OK;
}

int tk_suite_folder_list_names(const char *root, const char *folder, bool (*shorten)(char *file),
        char ***names, size_t *count, struct tk_error *err)
{
	char **all = NULL;
	size_t n = 0, kept = 0;
	int status = add_names(root, folder, shorten, &all, &n, err);

	if (!status)
		status = add_names(tk_path_data_dir(), folder, shorten, &all, &n, err);
	if (status) {
		tk_names_free(all, n);
		return status;
	}
	tk_names_sort((const char **)all, n);
	for (size_t i = 0; i < n; i++) {
		if (kept && strcmp(all[kept - 1], all[i]) == 0)
			free(all[i]);
		else
			all[kept++] = all[i];
	}
	all[kept] = NULL;
	*names = all;
	*count = kept;
	return TK_OK;
}

/* ---- building -------------------------------------------------------------------------------- */

#define FILE_MAX ((size_t)8 << 20)

void tk_suite_free(struct tk_suite *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++) {
		free(s->problems[i].text);
		free(s->problems[i].source);
		free(s->problems[i].group);
	}
	free(s->problems);
	free(s->launches);
	free(s->name);
	free(s->title);
	free(s->path);
	free(s);
}

static void grow(struct tk_suite_builder *b)
{
	if (b->suite->count < b->capacity)
		return;
	b->capacity = b->capacity ? 2 * b->capacity : 64;
	b->suite->problems =
	        tk_reallocarray(b->suite->problems, b->capacity, sizeof *b->suite->problems);
	b->lines = tk_reallocarray(b->lines, b->capacity, sizeof *b->lines);
	b->by_text = tk_reallocarray(b->by_text, b->capacity, sizeof *b->by_text);
}

/* The place of `text` in by_text, or where it belongs. */
static size_t find_place(const struct tk_suite_builder *b, const char *text, bool *found)
{
	size_t low = 0, high = b->suite->count;

	for (*found = false; low < high && !*found;) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(b->suite->problems[b->by_text[middle]].text, text);

		*found = order == 0;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return *found ? high : low;
}

static void append(struct tk_suite_builder *b, const char *text, size_t place, size_t line,
        const char *source, const char *group)
{
	struct tk_suite *s = b->suite;

	memmove(b->by_text + place + 1, b->by_text + place,
	        (s->count - place) * sizeof *b->by_text);
	b->by_text[place] = s->count;
	b->lines[s->count] = line;
	s->problems[s->count++] =
	        (struct tk_suite_problem){tk_strdup(text), tk_strdup(source), tk_strdup(group)};
}

/* A sequence may launch a problem more than once. */
static void add_launch(struct tk_suite_builder *b, size_t problem)
{
	struct tk_suite *s = b->suite;

	if (!s->is_sequence)
		return;
	s->launches = tk_reallocarray(s->launches, s->launch_count + 1, sizeof *s->launches);
	s->launches[s->launch_count++] = (uint32_t)problem;
}

int tk_suite_add_problem(
        struct tk_suite_builder *b, const char *text, int at, const char *source, const char *group)
{
	struct tk_problem_spec p;
	struct tk_error why = {0};
	size_t place;
	bool found;

	if (tk_problem_parse(&p, text, &why))
		return tk_yaml_fail(b->y, at, b->err, "%s", why.message);
	place = find_place(b, p.text, &found);
	if (found && b->merge)
		return TK_OK;
	if (found && b->suite->is_sequence) {
		add_launch(b, b->by_text[place]);
		return TK_OK;
	}
	if (found)
		return tk_yaml_fail(b->y, at, b->err, "duplicate problem %s (first in line %zu)",
		        p.text, b->lines[b->by_text[place]]);
	if (b->suite->count >= TK_SUITE_PROBLEMS_MAX)
		return tk_yaml_fail(b->y, at, b->err, "the suite has more than %d problems",
		        TK_SUITE_PROBLEMS_MAX);
	grow(b);
	append(b, p.text, place, tk_yaml_line(b->y, at), source, group);
	add_launch(b, b->suite->count - 1);
	return TK_OK;
}

/* ---- the file ---- */

static bool is_json(const char *path)
{
	size_t len = strlen(path);

	return len > 5 && strcmp(path + len - 5, ".json") == 0;
}

/* jansson checks that the file is JSON. Then it is read as YAML, where tabs between values have to
 * be blanks. */
static int check_json(const char *name, char *text, size_t len, struct tk_error *err)
{
	json_error_t why;
	json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	bool quoted = false;

	if (!json)
		return tk_fail(err, TK_ECONFIG, "%s:%d:%d: not valid JSON: %s", name,
		        why.line > 0 ? why.line : 1, why.column > 0 ? why.column : 1, why.text);
	json_decref(json);
	for (size_t i = 0; i < len; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && text[i] == '\t')
			text[i] = ' ';
	}
	return TK_OK;
}

static void name_from_path(struct tk_suite *s, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path,
	           *dot = strrchr(base, '.');

	s->path = tk_strdup(path);
	s->name = dot && dot != base ? tk_strndup(base, (size_t)(dot - base)) : tk_strdup(base);
	s->title = tk_strdup(s->name);
}

static void hash_problems(struct tk_suite *s)
{
	struct tk_hash *h = tk_hash_new();

	for (size_t i = 0; i < s->count; i++)
		tk_hash_add_str(h, s->problems[i].text);
	for (size_t i = 0; i < s->launch_count; i++)
		tk_hash_add_i64(h, s->launches[i]);
	tk_hash_finish(h, s->hash);
}

static int read_text(
        struct tk_suite *s, const char *name, struct tk_buf *text, struct tk_error *err)
{
	struct tk_suite_builder b = {.suite = s, .err = err, .merge = is_json(s->path)};
	struct tk_yaml *y = NULL;
	if (b.merge)
		TRY(check_json(name, text->data, text->len, err));
	TRY(tk_yaml_parse(name, tk_buf_cstr(text), text->len, &y, err));
	b.y = y;
	int status = b.merge ? tk_suite_read_json(&b) : tk_suite_read_yaml(&b);
	if (!status && !s->count)
		status = tk_fail(err, TK_ECONFIG,
		        "%s:1:1: the suite has no problems; expected at least one", name);
	tk_yaml_free(y);
	free(b.lines);
	free(b.by_text);
	return status;
}

int tk_suite_load_text(const char *path, const char *name, struct tk_buf *text,
        struct tk_suite **out, struct tk_error *err)
{
	struct tk_suite *s = tk_calloc(1, sizeof *s);
	name_from_path(s, path);
	int status = read_text(s, name, text, err);

	if (status) {
		tk_suite_free(s);
		return status;
	}
	hash_problems(s);
	*out = s;
	return TK_OK;
}

int tk_suite_load(const char *root, const char *name, struct tk_suite **out, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	AUTO_TEXT path = NULL;
	TRY(tk_suite_find_file(root, name, &path, err));
	TRY(tk_file_read(path, FILE_MAX, &text, err));
	return tk_suite_load_text(path, tk_suite_name_is_path(name) ? name : path, &text, out, err);
}

/* ---- sequences and shares -------------------------------------------------------------------- */

int tk_suite_load_sequence(
        const char *root, const char *name, struct tk_suite_sequence *out, struct tk_error *err)
{
	struct tk_suite *suite;
	int status = tk_suite_load(root, name, &suite, err);
	if (status)
		return status;
	*out = (struct tk_suite_sequence){.suite = suite, .count = suite->launch_count};
	out->kernels = tk_calloc(out->count, sizeof *out->kernels);
	for (size_t i = 0; i < out->count; i++)
		out->kernels[i] = suite->problems[suite->launches[i]].text;
	status = suite->is_sequence
	                 ? tk_mode_format_sequence(suite->name, suite->hash, out->mode, err)
	                 : tk_fail(err, TK_ECONFIG,
	                           "%s:1:1: this suite is no sequence; expected \"sequence: yes\" "
	                           "and the kernels of a layer in the order of their launches",
	                           suite->path);
	if (status)
		tk_suite_free_sequence(out);
	return status;
}

void tk_suite_free_sequence(struct tk_suite_sequence *s)
{
	free(s->kernels);
	tk_suite_free(s->suite);
	*s = (struct tk_suite_sequence){.count = 0};
}

/* The first 8 of the 64 digits of the hash: enough for an even spread over a few hundred slots. */
uint32_t tk_rotation_key(const char *text)
{
	char hex[TK_HASH_HEX_SIZE];

	tk_hash_bytes(text, strlen(text), hex);
	hex[8] = '\0';
	return (uint32_t)strtoul(hex, NULL, 16);
}

bool tk_rotation_is_due(uint32_t key, uint32_t nights, uint64_t night_number)
{
	return nights <= 1 || key % nights == night_number % nights;
}

/* The number that `end` follows; 0: none. */
static unsigned long parse_count(const char *text, const char *end)
{
	const size_t digits = strspn(text, "0123456789");

	return digits && text + digits == end ? strtoul(text, NULL, 10) : 0;
}

bool tk_part_parse(const char *text, uint32_t *part, uint32_t *parts)
{
	const char *slash = strchr(text, '/');
	const unsigned long k = slash ? parse_count(text, slash) : 0,
	                    n = slash ? parse_count(slash + 1, text + strlen(text)) : 0;

	if (k < 1 || k > n || n > TK_NIGHT_PARTS_MAX)
		return false;
	*part = (uint32_t)k;
	*parts = (uint32_t)n;
	return true;
}

/* The slot of a rotation depends on the lower bits. */
bool tk_rotation_is_in_part(uint32_t key, uint32_t part, uint32_t parts)
{
	return parts <= 1 || (key >> 16) % parts == part - 1;
}
