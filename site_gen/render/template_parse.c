/* Parses a template into a flat list of tokens. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "site_gen/render/template.h"
#include "site_gen/render/template_internal.h"
#include "site_gen/render/value.h"

#define NAME_MAX_BYTES 64
#define MARKUP_SUFFIX "_markup"

int tk_template_fail_at(const struct tk_template *t, size_t offset, struct tk_error *err,
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

struct parser {
	struct tk_template *t;
	size_t at;
	size_t open[TK_TEMPLATE_DEPTH_MAX], depth; /* indices of the sections that are open */
};

static void add_token(struct tk_template *t, struct tk_template_token token)
{
	if (t->count == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 64;
		t->tokens = tk_realloc(t->tokens, cap * sizeof *t->tokens);
		t->cap = cap;
	}
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
static int read_tag(
        const struct parser *p, struct tk_template_token *out, size_t *after, struct tk_error *err)
{
	const struct tk_template *t = p->t;
	const char *s = t->text + p->at + 2, *limit = t->text + t->text_len;
	bool triple = s < limit && *s == '{';
	const char *close = triple ? "}}}" : "}}";
	s += triple;
	const char *end = memmem(s, (size_t)(limit - s), close, strlen(close));
	if (!end)
		return tk_template_fail_at(t, p->at, err, "unterminated tag", NULL, 0);
	static const struct {
		char sigil;
		enum tk_token_type type;
	} sigils[] = {{'#', TOKEN_SECTION}, {'^', TOKEN_INVERTED}, {'/', TOKEN_END},
	        {'>', TOKEN_PARTIAL}, {'!', TOKEN_COMMENT}};
	*out = (struct tk_template_token){
	        .type = triple ? TOKEN_MARKUP : TOKEN_VALUE, .offset = p->at};
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
		return tk_template_fail_at(
		        t, p->at, err, "invalid name", s, out->len > 40 ? 40 : out->len);
	size_t suffix = strlen(MARKUP_SUFFIX);
	if (triple && (out->len <= suffix || memcmp(s + out->len - suffix, MARKUP_SUFFIX, suffix)))
		return tk_template_fail_at(t, p->at, err,
		        "{{{ }}} takes markup, whose name must end in " MARKUP_SUFFIX ":", s,
		        out->len);
	return 0;
}

/* A tag without output that is alone on its line removes the line: widens *start and *after. */
static void widen_to_line(const struct tk_template *t, enum tk_token_type type, size_t text_start,
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

static int nest_section(struct parser *p, const struct tk_template_token *tag, struct tk_error *err)
{
	struct tk_template *t = p->t;
	if (tag->type == TOKEN_SECTION || tag->type == TOKEN_INVERTED) {
		if (p->depth == TK_TEMPLATE_DEPTH_MAX)
			return tk_template_fail_at(t, tag->offset, err,
			        "sections are nested too deep at", tag->s, tag->len);
		p->open[p->depth++] = t->count;
		return 0;
	}
	if (tag->type != TOKEN_END)
		return 0;
	if (!p->depth)
		return tk_template_fail_at(
		        t, tag->offset, err, "no open section to close with", tag->s, tag->len);
	struct tk_template_token *open = &t->tokens[p->open[--p->depth]];
	if (open->len != tag->len || memcmp(open->s, tag->s, tag->len))
		return tk_template_fail_at(
		        t, tag->offset, err, "expected the end of section", open->s, open->len);
	open->end = t->count;
	return 0;
}

int tk_template_parse(struct tk_template *t, struct tk_error *err)
{
	struct parser p = {.t = t};
	int status = 0;
	while (!status && p.at < t->text_len) {
		const char *from = t->text + p.at,
		           *tag_at = memmem(from, t->text_len - p.at, "{{", 2);
		size_t text_start = p.at,
		       tag_start = tag_at ? (size_t)(tag_at - t->text) : t->text_len,
		       after = t->text_len;
		struct tk_template_token tag = {0};
		p.at = tag_start;
		if (tag_at)
			status = read_tag(&p, &tag, &after, err);
		if (!status && tag_at)
			widen_to_line(t, tag.type, text_start, &tag_start, &after);
		if (!status && tag_start > text_start)
			add_token(t, (struct tk_template_token){.type = TOKEN_TEXT,
			                     .s = from,
			                     .len = tag_start - text_start});
		if (!status && tag_at)
			status = nest_section(&p, &tag, err);
		if (!status && tag_at && tag.type != TOKEN_COMMENT)
			add_token(t, tag);
		p.at = after;
	}
	if (!status && p.depth) {
		const struct tk_template_token *open = &t->tokens[p.open[p.depth - 1]];
		status = tk_template_fail_at(
		        t, open->offset, err, "unclosed section", open->s, open->len);
	}
	return status;
}
