/* Python packages as upstreams: what an index lists, and virtual environments with one version.
 * Internal to runner/upstream.
 *
 * An index answers with the JSON form of the Simple Repository API (PEP 691). Versions without a
 * wheel are left out: a source distribution would run code of its own to be installed. */
#ifndef TK_UPSTREAM_PACKAGE_H
#define TK_UPSTREAM_PACKAGE_H
#include "base/base.h"
#include "upstream/repo.h"

#define TK_PACKAGE_INDEX "https://pypi.org/simple"
#define TK_SHA256_SIZE 65

struct tk_package_release {
	struct tk_version version;
	char text[64];                  /* as in the names of its files */
	int64_t time_s;                 /* of the first upload; 0: unknown */
	bool yanked;                    /* all of its wheels are */
	char (*sha256)[TK_SHA256_SIZE]; /* of its wheels */
	size_t wheel_count;
	/* of the core metadata of one wheel, relative to the page; NULL: none */
	char *metadata_url;
	char *index; /* base URL of the index that has it */
};

struct tk_package_index {
	struct tk_package_release *releases; /* oldest version first */
	size_t count;
};

/* Adds what a page of `index` lists for the package. TK_EDATA: it is not such a page. */
int tk_package_index_add(struct tk_package_index *p, const char *package, const char *index,
        const char *json, size_t len, struct tk_error *err);
void tk_package_index_free(struct tk_package_index *p);

/* The name as it stands in URLs (PEP 503): "Foo_bar" is "foo-bar". The caller frees it. */
char *tk_package_normalize_name(const char *name);

/* ---- package_repo.c: the functions of repo.h for TK_REPO_PACKAGE ---- */

int tk_package_find_newest(const struct tk_repo *s, struct tk_revision *out, struct tk_error *err);
int tk_package_find_revision(
        const struct tk_repo *s, const char *rev, struct tk_revision *out, struct tk_error *err);
int tk_package_list_revisions(const struct tk_repo *s, size_t limit, int64_t since_s,
        struct tk_revision **out, size_t *count, struct tk_error *err);
int tk_package_number_versions(const struct tk_repo *s, const char *const *versions, size_t count,
        int64_t *positions, struct tk_error *err);
int tk_package_checkout(const struct tk_repo *s, const char *rev, char **dir, struct tk_error *err);

/* package_install.c: a virtual environment with this release in the cache, made once. The caller
 * frees *dir. */
int tk_package_install(const struct tk_repo *s, const struct tk_package_release *release,
        char **dir, struct tk_error *err);

#endif
