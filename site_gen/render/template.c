/* Templates: a parsed one is a flat list of tokens, which rendering walks with a stack of objects.
 */
#include "site_gen/render/template.h"

#include <ctype.h>

#include "base/base.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/value.h"

enum token_type {
	TOKEN_TEXT,
	TOKEN_VALUE,
	TOKEN_MARKUP,
	TOKEN_SECTION,
	TOKEN_INVERTED,
	TOKEN_END,
	TOKEN_PARTIAL,
	TOKEN_COMMENT
};

struct token {
	enum token_type type;
	const char *s;      /* text or name, within the text of the template */
	size_t len, offset; /* offset: of the tag in the text, for messages */
	size_t end;         /* of a section: index of its closing token */
	size_t first;  /* length of the name up to its first dot, without the `?` of a section */
	uint32_t hash; /* of that part */
};

struct tk_template {
	struct tk_template *next;
	char *name, *text;
	size_t text_len, count;
	struct token *tokens;
};

/* ---- parsing ---- */

#define NAME_MAX_BYTES 64
#define MARKUP_SUFFIX "_markup"

static int fail_at(const struct tk_template *t, size_t offset, struct tk_error *err,
        const char *what, const char *name, size_t name_len)
{
	size_t line = 1, column = 1;
	for (size_t i = 0; i < offset; i++) {
		column = t->text[i] == '\n' ? 1 : column + 1;
		line += t->text[i] == '\n';
	}
	return tk_fail(err, TK_EDATA, "%s.html:%zu:%zu: %s%s%.*s%s", t->name, line, column, what,
	        name ? " `" : "", (int)name_len, name ? name : "", name ? "`" : "");
}

static int fail(const struct tk_template *t, const struct token *token, struct tk_error *err,
        const char *what)
{
	return fail_at(t, token->offset, err, what, token->s, token->len);
}

struct parser {
	struct tk_template *t;
	size_t at;
	size_t open[TK_TEMPLATE_DEPTH_MAX], depth; /* indices of the sections that are open */
};

static void add_token(struct tk_template *t, struct token token)
{
	t->tokens = tk_reallocarray(t->tokens, t->count + 1, sizeof *t->tokens);
	if (token.type != TOKEN_TEXT) {
		size_t len = token.len - (token.len > 1 && token.s[token.len - 1] == '?');
		const char *dot = len > 1 ? memchr(token.s, '.', len) : NULL;
		token.first = dot ? (size_t)(dot - token.s) : len;
		token.hash = tk_value_hash_key(token.s, token.first);
	}
	t->tokens[t->count++] = token;
}

static bool is_valid_name(const char *s, size_t len)
{
	if (len == 1 && *s == '.')
		return true;
	if (!len || len > NAME_MAX_BYTES || s[0] == '.' || s[len - 1] == '.')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_' && s[i] != '-' &&
		        (s[i] != '.' || s[i + 1] == '.'))
			return false;
	return true;
}

/* Reads the tag at p->at; *after: the end of the tag. */
static int read_tag(const struct parser *p, struct token *out, size_t *after, struct tk_error *err)
{
	const struct tk_template *t = p->t;
	const char *s = t->text + p->at + 2, *limit = t->text + t->text_len;
	bool triple = s < limit && *s == '{';
	const char *close = triple ? "}}}" : "}}";
	s += triple;
	const char *end = memmem(s, (size_t)(limit - s), close, strlen(close));
	if (!end)
		return fail_at(t, p->at, err, "unterminated tag", NULL, 0);
	static const struct {
		char sigil;
		enum token_type type;
	} sigils[] = {{'#', TOKEN_SECTION}, {'^', TOKEN_INVERTED}, {'/', TOKEN_END},
	        {'>', TOKEN_PARTIAL}, {'!', TOKEN_COMMENT}};
	*out = (struct token){.type = triple ? TOKEN_MARKUP : TOKEN_VALUE, .offset = p->at};
	for (size_t i = 0; !triple && s < end && i < sizeof sigils / sizeof *sigils; i++)
		if (*s == sigils[i].sigil) {
			out->type = sigils[i].type;
			s++;
			break;
		}
	*after = (size_t)(end - t->text) + strlen(close);
	for (; s < end && isspace((unsigned char)*s); s++)
		;
	for (; end > s && isspace((unsigned char)end[-1]); end--)
		;
	out->s = s;
	out->len = (size_t)(end - s);
	bool is_section = out->type == TOKEN_SECTION || out->type == TOKEN_END;
	if (out->type != TOKEN_COMMENT &&
	        !is_valid_name(s, out->len - (is_section && out->len && end[-1] == '?')))
		return fail_at(t, p->at, err, "invalid name", s, out->len > 40 ? 40 : out->len);
	size_t suffix = strlen(MARKUP_SUFFIX);
	if (triple && (out->len <= suffix || memcmp(s + out->len - suffix, MARKUP_SUFFIX, suffix)))
		return fail_at(t, p->at, err,
		        "{{{ }}} takes markup, whose name must end in " MARKUP_SUFFIX ":", s,
		        out->len);
	return 0;
}

/* A tag without output that is alone on its line removes the line: widens *start and *after. */
static void widen_to_line(const struct tk_template *t, enum token_type type, size_t text_start,
        size_t *start, size_t *after)
{
	if (type == TOKEN_VALUE || type == TOKEN_MARKUP || type == TOKEN_TEXT)
		return;
	size_t from = *start, to = *after;
	while (from > text_start && (t->text[from - 1] == ' ' || t->text[from - 1] == '\t'))
		from--;
	while (to < t->text_len &&
	        (t->text[to] == ' ' || t->text[to] == '\t' || t->text[to] == '\r'))
		to++;
	bool line_starts = from == 0 || t->text[from - 1] == '\n';
	bool line_ends = to == t->text_len || t->text[to] == '\n';
	if (!line_starts || !line_ends)
		return;
	*start = from;
	*after = to < t->text_len ? to + 1 : to;
}

static int nest_section(struct parser *p, const struct token *tag, struct tk_error *err)
{
	struct tk_template *t = p->t;
	if (tag->type == TOKEN_SECTION || tag->type == TOKEN_INVERTED) {
		if (p->depth == TK_TEMPLATE_DEPTH_MAX)
			return fail(t, tag, err, "sections are nested too deep at");
		p->open[p->depth++] = t->count;
		return 0;
	}
	if (tag->type != TOKEN_END)
		return 0;
	if (!p->depth)
		return fail(t, tag, err, "no open section to close with");
	struct token *open = &t->tokens[p->open[--p->depth]];
	if (open->len != tag->len || memcmp(open->s, tag->s, tag->len))
		return fail_at(
		        t, tag->offset, err, "expected the end of section", open->s, open->len);
	open->end = t->count;
	return 0;
}

static int parse(struct tk_template *t, struct tk_error *err)
{
	struct parser p = {.t = t};
	int status = 0;
	while (!status && p.at < t->text_len) {
		const char *from = t->text + p.at,
		           *tag_at = memmem(from, t->text_len - p.at, "{{", 2);
		size_t text_start = p.at,
		       tag_start = tag_at ? (size_t)(tag_at - t->text) : t->text_len,
		       after = t->text_len;
		struct token tag = {0};
		p.at = tag_start;
		if (tag_at)
			status = read_tag(&p, &tag, &after, err);
		if (!status && tag_at)
			widen_to_line(t, tag.type, text_start, &tag_start, &after);
		if (!status && tag_start > text_start)
			add_token(t, (struct token){.type = TOKEN_TEXT,
			                     .s = from,
			                     .len = tag_start - text_start});
		if (!status && tag_at)
			status = nest_section(&p, &tag, err);
		if (!status && tag_at && tag.type != TOKEN_COMMENT)
			add_token(t, tag);
		p.at = after;
	}
	if (!status && p.depth) {
		const struct token *open = &t->tokens[p.open[p.depth - 1]];
		status = fail(t, open, err, "unclosed section");
	}
	return status;
}

#define FILE_SUFFIX ".html"

struct tk_templates {
	struct tk_template *first;
};

/* ---- the set of templates ---- */

static void free_template(struct tk_template *t)
{
	if (!t)
		return;
	free(t->name);
	free(t->text);
	free(t->tokens);
	free(t);
}

struct tk_templates *tk_templates_new(void)
{
	return tk_calloc(1, sizeof(struct tk_templates));
}

void tk_templates_free(struct tk_templates *set)
{
	if (!set)
		return;
	for (struct tk_template *t = set->first, *next; t; t = next) {
		next = t->next;
		free_template(t);
	}
	free(set);
}

static const struct tk_template *find_template(
        const struct tk_templates *set, const char *name, size_t len)
{
	for (const struct tk_template *t = set->first; t; t = t->next)
		if (!strncmp(t->name, name, len) && !t->name[len])
			return t;
	return NULL;
}

int tk_templates_add(struct tk_templates *set, const char *name, const char *text, size_t len,
        struct tk_error *err)
{
	if (len > TK_TEMPLATE_BYTES_MAX)
		return tk_fail(err, TK_EDATA, "%s.html: larger than %zu bytes", name,
		        TK_TEMPLATE_BYTES_MAX);
	if (find_template(set, name, strlen(name)))
		return tk_fail(err, TK_EDATA, "%s.html: duplicate template name", name);
	struct tk_template *t = tk_calloc(1, sizeof *t);
	t->name = tk_strdup(name);
	t->text = tk_strndup(text, len);
	t->text_len = len;
	int status = parse(t, err);
	if (status) {
		free_template(t);
		return status;
	}
	t->next = set->first;
	set->first = t;
	return 0;
}

static int load_file(
        struct tk_templates *set, const char *dir, const char *file, struct tk_error *err)
{
	size_t len = strlen(file);
	if (len < 6 || strcmp(file + len - 5, ".html"))
		return 0;
	AUTO_TEXT path = tk_path_join(dir, file);
	AUTO_TEXT name = tk_strndup(file, len - 5);
	AUTO(tk_buf) text = TK_BUF_INIT;
	TRY(tk_file_read(path, TK_TEMPLATE_BYTES_MAX, &text, err));
	return tk_templates_add(set, name, tk_buf_cstr(&text), text.len, err);
}

int tk_templates_load(struct tk_templates *set, const char *dir, struct tk_error *err)
{
	char **names = NULL;
	size_t count = 0;
	int status = tk_dir_list(dir, &names, &count, err);
	for (size_t i = 0; !status && i < count; i++)
		status = load_file(set, dir, names[i], err);
	tk_names_free(names, count);
	return status;
}

/* ---- rendering ---- */

#define STACK_MAX (TK_TEMPLATE_DEPTH_MAX * TK_TEMPLATE_DEPTH_MAX)

struct renderer {
	const struct tk_templates *set;
	struct tk_buf *out;
	struct tk_error *err;
	const struct tk_value *stack[STACK_MAX];
	size_t depth, partials, steps;
};

static const struct tk_value *lookup(const struct renderer *r, const struct token *token)
{
	const struct tk_value *v = NULL;
	const char *name = token->s;
	size_t len = token->len - (token->len > 1 && name[token->len - 1] == '?'),
	       first = token->first;
	if (len == 1 && *name == '.')
		return r->stack[r->depth - 1];
	for (size_t i = r->depth; i-- && !v;)
		v = tk_value_find_member(r->stack[i], name, first, token->hash);
	while (v && first < len) {
		name += first + 1;
		len -= first + 1;
		const char *dot = memchr(name, '.', len);
		first = dot ? (size_t)(dot - name) : len;
		v = tk_value_find_member(v, name, first, tk_value_hash_key(name, first));
	}
	return v;
}

static bool is_shown(const struct tk_value *v)
{
	if (!v)
		return false;
	switch (v->type) {
	case TK_VALUE_FLAG:
		return v->flag;
	case TK_VALUE_LIST:
		return v->first != NULL;
	case TK_VALUE_OBJECT:
		return true;
	default:
		return v->len > 0;
	}
}

static int render_value(
        const struct renderer *r, const struct tk_template *t, const struct token *token)
{
	const struct tk_value *v = lookup(r, token);
	if (!v)
		return fail(t, token, r->err, "no value for");
	if (token->type == TOKEN_MARKUP) {
		if (v->type != TK_VALUE_MARKUP)
			return fail(t, token, r->err, "not markup:");
		tk_buf_add(r->out, v->text, v->len);
		return 0;
	}
	if (v->type == TK_VALUE_LIST || v->type == TK_VALUE_OBJECT)
		return fail(t, token, r->err, "not a text:");
	if (v->type == TK_VALUE_FLAG)
		tk_buf_add_str(r->out, v->flag ? "true" : "");
	else
		tk_escape_html(r->out, v->text, v->len);
	return 0;
}

static int render_range(struct renderer *r, const struct tk_template *t, size_t from, size_t to);

static int render_section(struct renderer *r, const struct tk_template *t, size_t at)
{
	const struct token *token = &t->tokens[at];
	bool once = token->s[token->len - 1] == '?';
	const struct tk_value *v = lookup(r, token);
	if (is_shown(v) == (token->type == TOKEN_INVERTED))
		return 0;
	if (once || token->type == TOKEN_INVERTED ||
	        (v->type != TK_VALUE_LIST && v->type != TK_VALUE_OBJECT))
		return render_range(r, t, at + 1, token->end);
	if (r->depth == STACK_MAX)
		return fail(t, token, r->err, "sections are nested too deep at");
	int status = 0;
	r->depth++;
	for (const struct tk_value *item = v->type == TK_VALUE_LIST ? v->first : v; item && !status;
	        item = item->next) {
		r->stack[r->depth - 1] = item;
		status = render_range(r, t, at + 1, token->end);
		if (v->type == TK_VALUE_OBJECT)
			break;
	}
	r->depth--;
	return status;
}

static int render_partial(
        struct renderer *r, const struct tk_template *t, const struct token *token)
{
	const struct tk_template *other = find_template(r->set, token->s, token->len);
	if (!other)
		return fail(t, token, r->err, "no template named");
	if (r->partials == TK_TEMPLATE_DEPTH_MAX)
		return fail(t, token, r->err, "partials are nested too deep at");
	r->partials++;
	TRY(render_range(r, other, 0, other->count));
	r->partials--;
	return TK_OK;
}

static int render_range(struct renderer *r, const struct tk_template *t, size_t from, size_t to)
{
	int status = 0;
	for (size_t i = from; i < to && !status; i++) {
		const struct token *token = &t->tokens[i];
		if (++r->steps > TK_TEMPLATE_STEPS_MAX)
			return fail_at(
			        t, token->offset, r->err, "too many tags in one page", NULL, 0);
		switch (token->type) {
		case TOKEN_TEXT:
			tk_buf_add(r->out, token->s, token->len);
			break;
		case TOKEN_VALUE:
		case TOKEN_MARKUP:
			status = render_value(r, t, token);
			break;
		case TOKEN_SECTION:
		case TOKEN_INVERTED:
			status = render_section(r, t, i);
			i = token->end;
			break;
		case TOKEN_PARTIAL:
			status = render_partial(r, t, token);
			break;
		case TOKEN_END:
		case TOKEN_COMMENT:
			break;
		}
	}
	return status;
}

int tk_templates_render(const struct tk_templates *set, const char *name,
        const struct tk_value *data, struct tk_buf *out, struct tk_error *err)
{
	const struct tk_template *t = find_template(set, name, strlen(name));
	if (!t)
		return tk_fail(err, TK_ENOTFOUND, "%s.html: no such template", name);
	struct renderer r = {.set = set, .out = out, .err = err, .stack = {data}, .depth = 1};
	TRY(render_range(&r, t, 0, t->count));
	return tk_buf_status(out, err);
}
