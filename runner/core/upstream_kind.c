/* See upstream_kind.h. */
#include "core/upstream_kind.h"

TK_VOCABULARY(upstream_kind, "kind of upstream", TK_UPSTREAM_KINDS);

bool tk_upstream_kind_has_commits(enum tk_upstream_kind kind)
{
	return kind == TK_UPSTREAM_SELF || kind == TK_UPSTREAM_GIT;
}

bool tk_upstream_kind_is_built(enum tk_upstream_kind kind)
{
	return tk_upstream_kind_has_commits(kind) || kind == TK_UPSTREAM_PACKAGE;
}
