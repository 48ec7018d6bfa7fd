/* The kinds of upstreams: what their revisions are and who builds them. */
#ifndef TK_CORE_UPSTREAM_KIND_H
#define TK_CORE_UPSTREAM_KIND_H
#include "core/vocabulary.h"
#include <stdbool.h>

#define TK_UPSTREAM_KINDS(X) \
	X(TK_UPSTREAM_SELF, "self", \
	        "the tracker's own kernels, at HEAD of the repository around it") \
	X(TK_UPSTREAM_GIT, "git", "a repository whose newest commit is built") \
	X(TK_UPSTREAM_PACKAGE, "package", \
	        "a Python package of an index; its revisions are versions") \
	X(TK_UPSTREAM_SYSTEM, "system", "an installed library; its revision is its version") \
	X(TK_UPSTREAM_BUILTIN, "builtin", "backends that were built with the tracker")
enum tk_upstream_kind { TK_UPSTREAM_KINDS(TK_VOCABULARY_ENUM) };
extern const struct tk_vocabulary tk_upstream_kind_words;
const char *tk_upstream_kind_name(enum tk_upstream_kind value);
int tk_upstream_kind_parse(const char *name, enum tk_upstream_kind *out);
/* Whether its revisions are commits of a repository: self, git. */
bool tk_upstream_kind_has_commits(enum tk_upstream_kind kind);
/* Whether it has past revisions that an adapter can build: self, git, package. */
bool tk_upstream_kind_is_built(enum tk_upstream_kind kind);

#endif
