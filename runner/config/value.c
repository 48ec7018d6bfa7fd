#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/internal.h"
#include "core/problem.h"

#define TEXT_MAX 4096
#define ITEM_MAX 1024
#define NAME_MAX_LEN 80
#define DEFAULT_ITEMS_MAX 16
#define NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

/* A text on its way into a field. */
struct setting {
	const struct tk_config_key *key;
	const char *text, *root;
	void *field;
	struct tk_error *err;
};

static int mismatch(const struct setting *s, const char *what, const char *expected)
{
	char shown[TK_TEXT_EXCERPT_SIZE];

	return tk_fail(s->err, TK_ECONFIG, "\"%s\" is not %s; expected %s",
	        tk_text_format_excerpt(s->text, shown), what, expected);
}

/* Takes `value`. */
static int store_text(const struct setting *s, char *value)
{
	char **field = s->field;

	free(*field);
	*field = value;
	return TK_OK;
}

static bool is_printable(const char *text)
{
	size_t n = 0;

	for (; text[n]; n++)
		if (iscntrl((unsigned char)text[n]))
			return false;
	return n > 0 && n <= TEXT_MAX;
}

static int set_text(const struct setting *s)
{
	return is_printable(s->text) ? store_text(s, tk_strdup(s->text))
	                             : mismatch(s, "a text", "1 to 4096 printable bytes");
}

static int set_name(const struct setting *s)
{
	size_t len = strspn(s->text, NAME_CHARS);
	bool dots = strcmp(s->text, ".") == 0 || strcmp(s->text, "..") == 0;

	if (!len || len > NAME_MAX_LEN || s->text[len] || dots)
		return mismatch(
		        s, "a name", "at most 80 letters, digits, dots, dashes and underscores");
	return store_text(s, tk_strdup(s->text));
}

static int set_path(const struct setting *s)
{
	return is_printable(s->text) ? store_text(s, tk_path_resolve(s->root, s->text))
	                             : mismatch(s, "a path", "a path");
}

static int set_repository(const struct setting *s)
{
	/* Git reads what has a colon as a URL or as host:path. */
	bool path =
	        strchr("/.", s->text[0]) || strncmp(s->text, "~/", 2) == 0 || !strchr(s->text, ':');

	if (!is_printable(s->text) || s->text[0] == '-' || (!path && strchr(s->text, ' ')))
		return mismatch(
		        s, "a repository", "a path, or a URL without blanks, that git clones from");
	return store_text(s, path ? tk_path_resolve(s->root, s->text) : tk_strdup(s->text));
}

static int set_url(const struct setting *s)
{
	bool web = strncmp(s->text, "https://", 8) == 0 || strncmp(s->text, "http://", 7) == 0;

	if (!web || !is_printable(s->text) || strpbrk(s->text, " \t\"<>\\^`"))
		return mismatch(s, "a URL", "https://... or http://...");
	return store_text(s, tk_strdup(s->text));
}

static int set_problem(const struct setting *s)
{
	struct tk_problem_spec p;
	TRY(tk_problem_parse(&p, s->text, s->err));
	return store_text(s, tk_strdup(p.text));
}

/* `words` ends with NULL. */
static int mismatch_word(const struct setting *s, const char *kind, const char *const *words)
{
	char text[2 * TK_SUGGEST_HINT_SIZE], list[TK_SUGGEST_HINT_SIZE], hint[TK_SUGGEST_HINT_SIZE];

	snprintf(text, sizeof text, "%s%s", tk_suggest_list(words, list),
	        tk_suggest_hint(s->text, words, "", hint));
	return mismatch(s, kind, text);
}

static int set_upstream_kind(const struct setting *s)
{
#define WORD(id, name, ...) name,
	static const char *const words[] = {TK_UPSTREAM_KINDS(WORD) NULL};
#undef WORD

	return !tk_upstream_kind_parse(s->text, s->field)
	               ? TK_OK
	               : mismatch_word(s, "a kind of upstream", words);
}

static int set_tuned(const struct setting *s)
{
	static const char *const words[] = {"default", TK_TUNE_CONFIG, NULL};
	bool is_tuned = !strcmp(s->text, TK_TUNE_CONFIG);

	if (!is_tuned && strcmp(s->text, words[0]))
		return mismatch_word(s, "a choice of configuration", words);
	*(bool *)s->field = is_tuned;
	return TK_OK;
}

static int set_sandbox_mode(const struct setting *s)
{
	static const char *const words[] = {"required", "auto", "off", NULL};

	enum tk_sandbox_mode *mode = s->field;
	const char *ci = getenv("CI");

	if (!tk_sandbox_mode_parse(s->text, mode))
		return mismatch_word(s, "a mode of the sandbox", words);
	/* Nobody reads the warnings of continuous integration. */
	if (*mode == TK_SANDBOX_AUTO && ci && *ci)
		*mode = TK_SANDBOX_REQUIRED;
	return TK_OK;
}

/* A number in the range of the key, divided by the `unit` of its field. */
static int set_number(const struct setting *s);

static int set_bool(const struct setting *s)
{
	return tk_units_parse_bool(s->text, s->field, s->err);
}

/* How the field holds it. */
enum storage { OTHER, TEXT, DOUBLE, UINT32, UINT64, LIST };

static const struct {
	const char *name;
	int (*set)(const struct setting *s); /* NULL: a list */
	enum storage storage;
	enum tk_quantity quantity; /* of a number */
	double unit;
} types[] = {
        [TK_CONFIG_TEXT] = {"text", set_text, TEXT},
        [TK_CONFIG_NAME] = {"name", set_name, TEXT},
        [TK_CONFIG_PATH] = {"path", set_path, TEXT},
        [TK_CONFIG_REPOSITORY] = {"URL or path", set_repository, TEXT},
        [TK_CONFIG_URL] = {"URL", set_url, TEXT},
        [TK_CONFIG_PROBLEM] = {"problem", set_problem, TEXT},
        [TK_CONFIG_UPSTREAM_KIND] = {"word", set_upstream_kind},
        [TK_CONFIG_SANDBOX_MODE] = {"word", set_sandbox_mode},
        [TK_CONFIG_TUNED] = {"word", set_tuned},
        [TK_CONFIG_DURATION] = {"duration", set_number, DOUBLE, TK_QUANTITY_DURATION, 1},
        [TK_CONFIG_TIME_NS] = {"time", set_number, DOUBLE, TK_QUANTITY_TIME, 1e-9},
        [TK_CONFIG_DAYS] = {"duration", set_number, UINT32, TK_QUANTITY_DURATION, 86400},
        [TK_CONFIG_SIZE] = {"size", set_number, UINT64, TK_QUANTITY_SIZE, 1},
        [TK_CONFIG_FRACTION] = {"percentage", set_number, DOUBLE, TK_QUANTITY_FRACTION, 1},
        [TK_CONFIG_COUNT] = {"number", set_number, UINT32, TK_QUANTITY_COUNT, 1},
        [TK_CONFIG_BOOL] = {"yes or no", set_bool},
        [TK_CONFIG_NAMES] = {"list", NULL, LIST},
        [TK_CONFIG_TEXTS] = {"list", NULL, LIST},
        [TK_CONFIG_PATHS] = {"yes, no, recursive or list", NULL, LIST},
};

static int set_number(const struct setting *s)
{
	const enum tk_config_type type = s->key->type;
	double v = NAN;
	if (!s->key->has_auto || strcmp(s->text, "auto") != 0)
		TRY(tk_units_parse(
		        types[type].quantity, s->text, s->key->min, s->key->max, &v, s->err));
	v = types[type].unit < 1 ? v * round(1 / types[type].unit) : v / types[type].unit;
	if (types[type].storage == UINT32)
		*(uint32_t *)s->field = (uint32_t)v;
	else if (types[type].storage == UINT64)
		*(uint64_t *)s->field = (uint64_t)v;
	else
		*(double *)s->field = v;
	return TK_OK;
}

const char *tk_config_describe_type(const struct tk_config_key *key, char out[TK_CONFIG_TYPE_SIZE])
{
	char low[TK_UNITS_TEXT_SIZE], high[TK_UNITS_TEXT_SIZE];
	const enum tk_quantity quantity = types[key->type].quantity;

	if (types[key->type].unit > 0)
		snprintf(out, TK_CONFIG_TYPE_SIZE, "%s, %s to %s%s", types[key->type].name,
		        tk_units_format(quantity, key->min, low),
		        tk_units_format(quantity, key->max, high),
		        key->has_auto ? ", or auto" : "");
	else
		snprintf(out, TK_CONFIG_TYPE_SIZE, "%s", types[key->type].name);
	return out;
}

bool tk_config_is_list(const struct tk_config_key *key)
{
	return !types[key->type].set;
}

int tk_config_set(const struct tk_config_key *key, const char *text, const char *root, void *base,
        struct tk_error *err)
{
	const struct setting s = {key, text, root, (char *)base + key->offset, err};

	return types[key->type].set(&s);
}

static void free_items(char **items)
{
	for (size_t i = 0; items && items[i]; i++)
		free(items[i]);
	free(items);
}

static bool is_item(enum tk_config_type type, const char *text)
{
	size_t len = strlen(text);

	return len > 0 && len <= ITEM_MAX &&
	       (type != TK_CONFIG_NAMES || strspn(text, NAME_CHARS ":") == len);
}

/* "no" is a list of none, other words for "yes" become that one. */
static size_t normalize_paths(const char **items, size_t count)
{
	bool is_on;

	if (count != 1 || tk_units_parse_bool(items[0], &is_on, NULL))
		return count;
	items[0] = "yes";
	return is_on;
}

int tk_config_set_list(const struct tk_config_key *key, const char **items, size_t count,
        void *base, size_t *bad, struct tk_error *err)
{
	char **list, ***field = (char ***)((char *)base + key->offset);

	for (size_t i = 0; i < count; i++)
		if (!is_item(key->type, items[i])) {
			*bad = i;
			return mismatch(&(struct setting){.text = items[i], .err = err}, "a name",
			        key->type != TK_CONFIG_NAMES
			                ? "1 to 1024 bytes"
			                : "letters, digits, dots, dashes, underscores and colons");
		}
	if (key->type == TK_CONFIG_PATHS)
		count = normalize_paths(items, count);
	list = tk_calloc(count + 1, sizeof *list);
	for (size_t i = 0; i < count; i++)
		list[i] = tk_strdup(items[i]);
	free_items(*field);
	*field = list;
	return TK_OK;
}

/* "a, b" */
static int set_default_list(const struct tk_config_key *key, void *base, struct tk_error *err)
{
	const char *items[DEFAULT_ITEMS_MAX];
	AUTO_TEXT copy = tk_strdup(key->fallback);
	char *rest = copy, *item;
	size_t count = 0, bad;

	while (count < DEFAULT_ITEMS_MAX && (item = strtok_r(rest, ", ", &rest)))
		items[count++] = item;
	return tk_config_set_list(key, items, count, base, &bad, err);
}

int tk_config_set_default(
        const struct tk_config_key *key, const char *root, void *base, struct tk_error *err)
{
	if (!key->fallback)
		return TK_OK;
	if (tk_config_is_list(key))
		return set_default_list(key, base, err);
	return tk_config_set(key, key->fallback, root, base, err);
}

void tk_config_clear(const struct tk_config_key *key, void *base)
{
	void *field = (char *)base + key->offset;

	if (types[key->type].storage == TEXT)
		free(*(char **)field);
	else if (tk_config_is_list(key))
		free_items(*(char ***)field);
}
