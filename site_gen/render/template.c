/* The set of templates, and rendering: walks the tokens with a stack of objects. */
#include "site_gen/render/template.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/try.h"
#include "site_gen/render/escape.h"
#include "site_gen/render/template_internal.h"
#include "site_gen/render/value.h"

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
	if (!t || !(t->name = tk_strdup(name)) || !(t->text = tk_malloc(len + 1))) {
		free_template(t);
		return tk_fail(err, TK_ENOMEM, "out of memory");
	}
	if (len)
		memcpy(t->text, text, len);
	t->text[len] = 0;
	t->text_len = len;
	int status = tk_template_parse(t, err);
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
	char *path = tk_path_join(dir, file), *name = tk_strndup(file, len - 5);
	AUTO(tk_buf) text = TK_BUF_INIT;
	int status = tk_file_read(path, TK_TEMPLATE_BYTES_MAX, &text, err);
	if (!status)
		status = tk_templates_add(set, name, tk_buf_cstr(&text), text.len, err);
	free(path);
	free(name);
	return status;
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

static const struct tk_value *lookup(
        const struct renderer *r, const struct tk_template_token *token)
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

static int render_value(const struct renderer *r, const struct tk_template *t,
        const struct tk_template_token *token)
{
	const struct tk_value *v = lookup(r, token);
	if (!v)
		return tk_template_fail_at(
		        t, token->offset, r->err, "no value for", token->s, token->len);
	if (token->type == TOKEN_MARKUP) {
		if (v->type != TK_VALUE_MARKUP)
			return tk_template_fail_at(
			        t, token->offset, r->err, "not markup:", token->s, token->len);
		tk_buf_add(r->out, v->text, v->len);
		return 0;
	}
	if (v->type == TK_VALUE_LIST || v->type == TK_VALUE_OBJECT)
		return tk_template_fail_at(
		        t, token->offset, r->err, "not a text:", token->s, token->len);
	if (v->type == TK_VALUE_FLAG)
		tk_buf_add_str(r->out, v->flag ? "true" : "");
	else
		tk_escape_html(r->out, v->text, v->len);
	return 0;
}

static int render_range(struct renderer *r, const struct tk_template *t, size_t from, size_t to);

static int render_section(struct renderer *r, const struct tk_template *t, size_t at)
{
	const struct tk_template_token *token = &t->tokens[at];
	bool once = token->s[token->len - 1] == '?';
	const struct tk_value *v = lookup(r, token);
	if (is_shown(v) == (token->type == TOKEN_INVERTED))
		return 0;
	if (once || token->type == TOKEN_INVERTED ||
	        (v->type != TK_VALUE_LIST && v->type != TK_VALUE_OBJECT))
		return render_range(r, t, at + 1, token->end);
	if (r->depth == STACK_MAX)
		return tk_template_fail_at(t, token->offset, r->err,
		        "sections are nested too deep at", token->s, token->len);
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
        struct renderer *r, const struct tk_template *t, const struct tk_template_token *token)
{
	const struct tk_template *other = find_template(r->set, token->s, token->len);
	if (!other)
		return tk_template_fail_at(
		        t, token->offset, r->err, "no template named", token->s, token->len);
	if (r->partials == TK_TEMPLATE_DEPTH_MAX)
		return tk_template_fail_at(t, token->offset, r->err,
		        "partials are nested too deep at", token->s, token->len);
	r->partials++;
	TRY(render_range(r, other, 0, other->count));
	r->partials--;
	return TK_OK;
}

static int render_range(struct renderer *r, const struct tk_template *t, size_t from, size_t to)
{
	int status = 0;
	for (size_t i = from; i < to && !status; i++) {
		const struct tk_template_token *token = &t->tokens[i];
		if (++r->steps > TK_TEMPLATE_STEPS_MAX)
			return tk_template_fail_at(
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
