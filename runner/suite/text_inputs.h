/* Texts as inputs of kernels (dist=text:NAME). A text is a list of tokens in inputs/NAME.tokens:
 * the line "tracker-text 1", then each token as 16 bits, little-endian. NAME ends with the first
 * digits of the SHA-256 of the tokens, so a name never means other data. */
#ifndef TK_SUITE_TEXT_INPUTS_H
#define TK_SUITE_TEXT_INPUTS_H
#include "core/problem.h"

struct tk_error;

#define TK_TEXT_TOKENS_MAX 65536

struct tk_text {
	char name[TK_TEXT_NAME_SIZE];
	uint16_t *tokens; /* 0 ends a document */
	size_t count;
};

/* Appends the tokens of a document: a word, a number or a character between them, as 1 to 65535 by
 * the hash of its bytes. What is beyond TK_TEXT_TOKENS_MAX is left out. */
int tk_text_add_document(struct tk_text *t, const char *bytes, size_t len, struct tk_error *err);
size_t tk_text_count_documents(const struct tk_text *t);
size_t tk_text_count_distinct(const struct tk_text *t);
/* Completes t->name from `name` and the hash, and writes the file below `root`. */
int tk_text_save(struct tk_text *t, const char *root, const char *name, struct tk_error *err);
/* From `root`, else from the texts that come with the tracker. TK_ENOTFOUND: no such text;
 * TK_EDATA: the file is damaged. */
int tk_text_load(const char *root, const char *name, struct tk_text *out, struct tk_error *err);
/* Sorted names; freed with tk_names_free. */
int tk_text_list_names(const char *root, char ***names, size_t *count, struct tk_error *err);
void tk_text_free(struct tk_text *t);

#endif
