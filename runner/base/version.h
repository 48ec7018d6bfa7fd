/* Versions of Python packages (PEP 440): reading and ordering. */
#ifndef TK_BASE_VERSION_H
#define TK_BASE_VERSION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TK_VERSION_PARTS_MAX 8

enum tk_version_pre { TK_VERSION_ALPHA, TK_VERSION_BETA, TK_VERSION_CANDIDATE, TK_VERSION_FINAL };

struct tk_version {
	int64_t epoch;
	int64_t release[TK_VERSION_PARTS_MAX]; /* missing parts are 0 */
	enum tk_version_pre pre;
	int64_t pre_number;
	int64_t post, dev; /* -1: none */
	char local[64];    /* after "+"; "": none */
};

/* All spellings that PEP 440 allows: "v1.0-beta.2" is 1.0b2. */
bool tk_version_parse(const char *text, struct tk_version *out);
/* As strcmp. 1.0 and 1.0.0 are equal. */
int tk_version_compare(const struct tk_version *a, const struct tk_version *b);
/* A pre-release or a development release. */
bool tk_version_is_pre(const struct tk_version *v);

#endif
