/* Loading a suite: its file, its problems, its hash. yaml.c and json.c read the two formats. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "base/yaml.h"
#include "core/problem.h"
#include "suite/builder.h"
#include "suite/find.h"

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

	*found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(b->suite->problems[b->by_text[middle]].text, text);

		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
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
	s->title = s->name ? tk_strdup(s->name) : NULL;
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
	int status = b.merge ? check_json(name, text->data, text->len, err) : TK_OK;

	if (!status)
		status = tk_yaml_parse(name, tk_buf_cstr(text), text->len, &y, err);
	b.y = y;
	if (!status)
		status = b.merge ? tk_suite_read_json(&b) : tk_suite_read_yaml(&b);
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

	if (!status)
		hash_problems(s);
	if (status)
		tk_suite_free(s);
	else
		*out = s;
	return status;
}

int tk_suite_load(const char *root, const char *name, struct tk_suite **out, struct tk_error *err)
{
	AUTO(tk_buf) text = TK_BUF_INIT;
	AUTO_TEXT path = NULL;
	TRY(tk_suite_find_file(root, name, &path, err));
	TRY(tk_file_read(path, FILE_MAX, &text, err));
	return tk_suite_load_text(path, tk_suite_name_is_path(name) ? name : path, &text, out, err);
}
