/* Suites: files of problems. docs/reference/suites.md describes both formats. */
#ifndef TK_CONFIG_SUITE_H
#define TK_CONFIG_SUITE_H
#include "base/base.h"
#include "core/problem.h"
#include "core/vocabulary.h"

struct tk_suite_problem {
	char *text;   /* canonical, see core/problem.h */
	char *source; /* where the problem comes from */
	char *group;  /* for pages: "llama-70b", "squares"; may be "" */
};

struct tk_suite {
	char *name, *title, *path;
	struct tk_suite_problem *problems;
	size_t count;
	/* Of a sequence: indices of problems in the order of their launches, with repeated ones. */
	uint32_t *launches;
	size_t launch_count;
	bool is_sequence;
	uint32_t rotate_nights; /* that measure the suite once, a share each; 0, 1: every night */
	char hash[TK_HASH_HEX_SIZE]; /* of the problems, in their order */
};

/* name: a path, or NAME of suites/NAME.yml below `root`, else of the suites that come with the
 * tracker. *.json is read in the shape of public benchmark runners. */
int tk_suite_load(const char *root, const char *name, struct tk_suite **out, struct tk_error *err);
void tk_suite_free(struct tk_suite *s);
TK_AUTO_PTR(tk_suite)

/* Names of the suites below `root` and of those that come with the tracker, sorted; freed with
 * tk_names_free. */
int tk_suite_list_names(const char *root, char ***names, size_t *count, struct tk_error *err);
/* Else a name. */
bool tk_suite_name_is_path(const char *name);
/* A name with a slash or with the ending .yml, .yaml or .json is a path from root. TK_ENOTFOUND:
 * the message suggests a name. *path is the caller's. */
int tk_suite_find_file(const char *root, const char *name, char **path, struct tk_error *err);

/* ---- sequences ------------------------------------------------------------------------------- */

/* A suite as the sequence of mode "sequence": its kernels in the order of their launches. */
struct tk_suite_sequence {
	char mode[TK_MODE_WORD_SIZE]; /* "sequence:NAME@HASH" */
	struct tk_suite *suite;
	const char **kernels; /* problems of the suite; borrowed from it */
	size_t count;
};

/* The suite has `sequence: yes`, otherwise TK_ECONFIG; see tk_suite_load. */
int tk_suite_load_sequence(
        const char *root, const char *name, struct tk_suite_sequence *out, struct tk_error *err);
void tk_suite_free_sequence(struct tk_suite_sequence *s);

/* ---- shares of a large suite ----------------------------------------------------------------- */

/* Rotation: each night measures the problems of one slot of K, so that K
 * nights in a row measure every problem once. Parts: each of several machines measures one. */
#define TK_ROTATION_NIGHTS_MAX 366

/* What decides the slot of a problem. text: canonical, see core/problem.h. Other problems of the
 * suite have no influence: adding or removing them moves nothing. */
uint32_t tk_rotation_key(const char *text);

/* Whether the night with this number, which counts from 0 and rises by 1 from night to night,
 * measures the problem with this key. nights: K; 0, 1: every night does. */
bool tk_rotation_is_due(uint32_t key, uint32_t nights, uint64_t night_number);

/* "K/N" in decimal digits; false and nothing is set: not 1 <= K <= N <= TK_NIGHT_PARTS_MAX. */
bool tk_part_parse(const char *text, uint32_t *part, uint32_t *parts);

/* A suite in `parts` parts, from 1 on, of which several machines measure one each; 0: there are no
 * parts. A part has the same share of every slot of a rotation. */
bool tk_rotation_is_in_part(uint32_t key, uint32_t part, uint32_t parts);

/* ---- texts as inputs ------------------------------------------------------------------------- */

/* Texts as inputs of kernels (dist=text:NAME). A text is a list of tokens in inputs/NAME.tokens:
 * the line "tracker-text 1", then each token as 16 bits, little-endian. NAME ends with the first
 * digits of the SHA-256 of the tokens, so a name never means other data. */
#define TK_TEXT_TOKENS_MAX 65536

struct tk_text {
	char name[TK_TEXT_NAME_SIZE];
	uint16_t *tokens; /* 0 ends a document */
	size_t count;
};

/* Appends the tokens of a document: a word, a number or a character between them, as 1 to 65535 by
 * the hash of its bytes. What is beyond TK_TEXT_TOKENS_MAX is left out. */
void tk_text_add_document(struct tk_text *t, const char *bytes, size_t len);
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
