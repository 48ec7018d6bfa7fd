/* libyaml's document, with positions; the only file that includes yaml.h. */
#include "base/yaml.h"

#include <yaml.h>

#define BRACKETS_MAX 100
#define TEXT_MAX 1000

struct tk_yaml {
	char *name;
	yaml_document_t doc;
	bool loaded;
};

static yaml_node_t *node_at(const struct tk_yaml *y, int node)
{
	return node > 0 ? yaml_document_get_node((yaml_document_t *)&y->doc, node) : NULL;
}

/* libyaml needs quadratic time for brackets in brackets; no honest file has many. Quotes and
 * comments need no care for that. */
static size_t deepest_bracket(const char *text, size_t len)
{
	size_t depth = 0, deepest = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '[' || text[i] == '{')
			depth++;
		else if ((text[i] == ']' || text[i] == '}') && depth)
			depth--;
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest;
}

/* "name:line:column: fmt"; the mark counts from 0. */
static int fail_at(const struct tk_yaml *y, yaml_mark_t mark, struct tk_error *err, const char *fmt,
        ...) __attribute__((format(printf, 4, 5)));
static int fail_at(
        const struct tk_yaml *y, yaml_mark_t mark, struct tk_error *err, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return tk_fail(
	        err, TK_ECONFIG, "%s:%zu:%zu: %s", y->name, mark.line + 1, mark.column + 1, text);
}

/* libyaml knows only the offset of a byte that is not UTF-8. */
static int reader_failed(
        const struct tk_yaml *y, const yaml_parser_t *p, const char *text, struct tk_error *err)
{
	yaml_mark_t mark = {0};

	for (size_t i = 0; i < p->problem_offset; i++) {
		mark.column = text[i] == '\n' ? 0 : mark.column + 1;
		mark.line += text[i] == '\n';
	}
	return fail_at(y, mark, err, "not valid YAML: %s; expected UTF-8 text",
	        p->problem ? p->problem : "cannot be read");
}

/* libyaml only says that no token can begin with a tab. */
static bool is_tab(const yaml_parser_t *p, const char *text, size_t len)
{
	const char *end = text + len, *at = text;

	if (!p->problem || (!strstr(p->problem, "cannot start any token") &&
	                           !strstr(p->problem, "tab character")))
		return false;
	for (size_t line = p->problem_mark.line; line && at < end; at++)
		line -= *at == '\n';
	for (size_t column = p->problem_mark.column;
	        column && at < end && (*at == ' ' || *at == '\t'); column--)
		at++;
	return at < end && *at == '\t';
}

static int parser_failed(const struct tk_yaml *y, const yaml_parser_t *p, const char *input,
        size_t len, struct tk_error *err)
{
	const char *problem = p->problem ? p->problem : "cannot be read";
	char context[160] = "";

	if (p->error == YAML_MEMORY_ERROR)
		tk_check_memory(NULL);
	if (p->error == YAML_READER_ERROR)
		return reader_failed(y, p, input, err);
	if (is_tab(p, input, len))
		return fail_at(y, p->problem_mark, err, "tab in the indentation; expected spaces");
	if (p->context)
		snprintf(context, sizeof context, " %s that begins in line %zu", p->context,
		        p->context_mark.line + 1);
	return fail_at(y, p->problem_mark, err, "not valid YAML: %s%s", problem, context);
}

/* Loads the first document and refuses a second one. */
static int load_only_document(
        struct tk_yaml *y, yaml_parser_t *p, const char *text, size_t len, struct tk_error *err)
{
	yaml_document_t second;
	yaml_node_t *root;
	int status = TK_OK;

	if (!yaml_parser_load(p, &y->doc))
		return parser_failed(y, p, text, len, err);
	y->loaded = true;
	if (!yaml_document_get_root_node(&y->doc))
		return TK_OK;
	if (!yaml_parser_load(p, &second))
		return parser_failed(y, p, text, len, err);
	root = yaml_document_get_root_node(&second);
	if (root)
		status = fail_at(y, root->start_mark, err, "second document; expected one");
	yaml_document_delete(&second);
	return status;
}

/* "\0" in double quotes: texts are read as C strings, so what follows it would be lost. */
static int reject_nul(const struct tk_yaml *y, struct tk_error *err)
{
	for (const yaml_node_t *n = y->doc.nodes.start; n < y->doc.nodes.top; n++)
		if (n->type == YAML_SCALAR_NODE &&
		        strlen((const char *)n->data.scalar.value) != n->data.scalar.length)
			return fail_at(y, n->start_mark, err,
			        "text with a NUL character; expected printable text");
	return TK_OK;
}

static void start_parser(yaml_parser_t *p, const char *text, size_t len)
{
	if (!yaml_parser_initialize(p))
		tk_check_memory(NULL);
	yaml_parser_set_input_string(p, (const unsigned char *)text, len);
	yaml_parser_set_encoding(p, YAML_UTF8_ENCODING);
}

int tk_yaml_parse(
        const char *name, const char *text, size_t len, struct tk_yaml **out, struct tk_error *err)
{
	struct tk_yaml *y = tk_calloc(1, sizeof *y);
	yaml_parser_t p;
	int status;

	y->name = tk_strdup(name);
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* byte order mark */
		text += 3;
		len -= 3;
	}
	if (deepest_bracket(text, len) > BRACKETS_MAX) {
		status = fail_at(y, (yaml_mark_t){0}, err,
		        "brackets are nested too deeply; expected at most %d levels", BRACKETS_MAX);
	} else {
		start_parser(&p, text, len);
		status = load_only_document(y, &p, text, len, err);
		yaml_parser_delete(&p);
	}
	if (!status)
		status = reject_nul(y, err);
	if (status)
		tk_yaml_free(y);
	else
		*out = y;
	return status;
}

int tk_yaml_reject_aliases(
        const struct tk_yaml *y, const char *text, size_t len, struct tk_error *err)
{
	yaml_event_type_t type = YAML_NO_EVENT;
	yaml_parser_t p;
	int status = TK_OK;

	if (!memchr(text, '*', len))
		return TK_OK;
	start_parser(&p, text, len);
	while (!status && type != YAML_STREAM_END_EVENT) {
		yaml_event_t event;

		if (!yaml_parser_parse(&p, &event)) {
			status = parser_failed(y, &p, text, len, err);
			break;
		}
		type = event.type;
		if (type == YAML_ALIAS_EVENT)
			status = fail_at(y, event.start_mark, err,
			        "alias (*name); expected the value itself");
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&p);
	return status;
}

void tk_yaml_free(struct tk_yaml *y)
{
	if (!y)
		return;
	if (y->loaded)
		yaml_document_delete(&y->doc);
	free(y->name);
	free(y);
}

int tk_yaml_root(const struct tk_yaml *y)
{
	return yaml_document_get_root_node((yaml_document_t *)&y->doc) ? 1 : 0;
}

enum tk_yaml_kind tk_yaml_kind(const struct tk_yaml *y, int node)
{
	const yaml_node_t *n = node_at(y, node);

	switch (n ? n->type : YAML_NO_NODE) {
	case YAML_SCALAR_NODE:
		return TK_YAML_SCALAR;
	case YAML_SEQUENCE_NODE:
		return TK_YAML_LIST;
	case YAML_MAPPING_NODE:
		return TK_YAML_MAP;
	default:
		return TK_YAML_NONE;
	}
}

const char *tk_yaml_kind_name(const struct tk_yaml *y, int node)
{
	static const char *const words[] = {"empty", "a single value", "a list", "a mapping"};

	return tk_yaml_is_empty(y, node) ? "empty" : words[tk_yaml_kind(y, node)];
}

const char *tk_yaml_text(const struct tk_yaml *y, int node)
{
	const yaml_node_t *n = node_at(y, node);

	return n && n->type == YAML_SCALAR_NODE ? (const char *)n->data.scalar.value : "";
}

bool tk_yaml_is_empty(const struct tk_yaml *y, int node)
{
	const yaml_node_t *n = node_at(y, node);
	const char *text = tk_yaml_text(y, node);

	return !n ||
	       (n->type == YAML_SCALAR_NODE && n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	               (!*text || strcmp(text, "~") == 0));
}

size_t tk_yaml_count(const struct tk_yaml *y, int node)
{
	const yaml_node_t *n = node_at(y, node);

	if (n && n->type == YAML_SEQUENCE_NODE)
		return (size_t)(n->data.sequence.items.top - n->data.sequence.items.start);
	if (n && n->type == YAML_MAPPING_NODE)
		return (size_t)(n->data.mapping.pairs.top - n->data.mapping.pairs.start);
	return 0;
}

int tk_yaml_item(const struct tk_yaml *y, int node, size_t i)
{
	const yaml_node_t *n = node_at(y, node);

	if (i >= tk_yaml_count(y, node))
		return 0;
	return n->type == YAML_SEQUENCE_NODE ? n->data.sequence.items.start[i]
	                                     : n->data.mapping.pairs.start[i].value;
}

int tk_yaml_key(const struct tk_yaml *y, int node, size_t i)
{
	const yaml_node_t *n = node_at(y, node);

	return n && n->type == YAML_MAPPING_NODE && i < tk_yaml_count(y, node)
	               ? n->data.mapping.pairs.start[i].key
	               : 0;
}

int tk_yaml_find(const struct tk_yaml *y, int node, const char *key)
{
	for (size_t i = 0; i < tk_yaml_count(y, node); i++)
		if (tk_yaml_key(y, node, i) &&
		        strcmp(tk_yaml_text(y, tk_yaml_key(y, node, i)), key) == 0)
			return tk_yaml_item(y, node, i);
	return 0;
}

size_t tk_yaml_line(const struct tk_yaml *y, int node)
{
	const yaml_node_t *n = node_at(y, node);

	return n ? n->start_mark.line + 1 : 1;
}

int tk_yaml_fail(const struct tk_yaml *y, int node, struct tk_error *err, const char *fmt, ...)
{
	const yaml_node_t *n = node_at(y, node);
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	return fail_at(y, n ? n->start_mark : (yaml_mark_t){0}, err, "%s", text);
}

int tk_yaml_find_text(
        const struct tk_yaml *y, int map, const char *key, const char **out, struct tk_error *err)
{
	int node = tk_yaml_find(y, map, key);

	if (tk_yaml_is_empty(y, node))
		return TK_OK;
	if (tk_yaml_kind(y, node) != TK_YAML_SCALAR)
		return tk_yaml_fail(
		        y, node, err, "%s is %s; expected text", key, tk_yaml_kind_name(y, node));
	if (strlen(tk_yaml_text(y, node)) > TEXT_MAX)
		return tk_yaml_fail(y, node, err, "%s is longer than %d bytes", key, TEXT_MAX);
	*out = tk_yaml_text(y, node);
	return TK_OK;
}

static int unknown_key(const struct tk_yaml *y, int key, const char *what, const char *const *known,
        struct tk_error *err)
{
	const char *name = tk_yaml_text(y, key);
	char hint[TK_SUGGEST_HINT_SIZE], shown[TK_TEXT_EXCERPT_SIZE];

	return tk_yaml_fail(y, key, err, "unknown key \"%s\"%s%s%s",
	        tk_text_format_excerpt(name, shown), *what ? " in " : "", what,
	        tk_suggest_hint(name, known, NULL, hint));
}

int tk_yaml_check_keys(const struct tk_yaml *y, int map, const char *what, const char *const *known,
        struct tk_error *err)
{
	for (size_t i = 0; i < tk_yaml_count(y, map); i++) {
		int key = tk_yaml_key(y, map, i);
		const char *name = tk_yaml_text(y, key);
		size_t k = 0;

		if (tk_yaml_kind(y, key) != TK_YAML_SCALAR)
			return tk_yaml_fail(y, key, err, "a key is %s; expected a word",
			        tk_yaml_kind_name(y, key));
		while (known[k] && strcmp(known[k], name) != 0)
			k++;
		if (!known[k])
			return unknown_key(y, key, what, known, err);
		if (tk_yaml_find(y, map, name) != tk_yaml_item(y, map, i))
			return tk_yaml_fail(y, key, err, "duplicate key \"%s\"%s%s", name,
			        *what ? " in " : "", what);
	}
	return TK_OK;
}
