/* A parsed template: a flat list of tokens. Private to template.c and template_parse.c. */
#ifndef TK_SITE_TEMPLATE_INTERNAL_H
#define TK_SITE_TEMPLATE_INTERNAL_H
#include <stddef.h>
#include <stdint.h>

struct tk_error;

enum tk_token_type {
	TOKEN_TEXT,
	TOKEN_VALUE,
	TOKEN_MARKUP,
	TOKEN_SECTION,
	TOKEN_INVERTED,
	TOKEN_END,
	TOKEN_PARTIAL,
	TOKEN_COMMENT
};

struct tk_template_token {
	enum tk_token_type type;
	const char *s;      /* text or name, within the text of the template */
	size_t len, offset; /* offset: of the tag in the text, for messages */
	size_t end;         /* of a section: index of its closing token */
	size_t first;  /* length of the name up to its first dot, without the `?` of a section */
	uint32_t hash; /* of that part */
};

struct tk_template {
	struct tk_template *next;
	char *name, *text;
	size_t text_len, count, cap;
	struct tk_template_token *tokens;
};

/* Fills the tokens of t->text; TK_EDATA with the position. */
int tk_template_parse(struct tk_template *t, struct tk_error *err);
/* TK_EDATA: "NAME.html:LINE:COLUMN: what `name`". name NULL: none. */
int tk_template_fail_at(const struct tk_template *t, size_t offset, struct tk_error *err,
        const char *what, const char *name, size_t name_len);

#endif
