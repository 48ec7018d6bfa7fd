/* Upstreams that are repositories in the scratch folder. */
#ifndef TK_TEST_REPOSITORY_H
#define TK_TEST_REPOSITORY_H
#include "base/error.h"
#include "base/file.h"
#include "scratch.h"
#include "upstream/repo.h"

static inline struct tk_repo git_source(const struct scratch *s, const char *url)
{
	return (struct tk_repo){.kind = TK_REPO_GIT,
	        .name = "up",
	        .url = url,
	        .cache_dir = s->cache,
	        .deadline_s = 60};
}

/* The caller frees it. */
static inline char *url_of(const struct scratch *s, const char *name)
{
	return tk_path_join(s->dir, name);
}

#endif
