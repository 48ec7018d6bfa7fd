/* Past revisions of upstreams and what is known of each, oldest first: what `backfill` measures and
 * `revisions` lists. Private to nightly/ and the program. */
#ifndef TK_PAST_H
#define TK_PAST_H
#include "build/build.h"
#include "nightly/nightly.h"
#include "upstream/repo.h"

struct tk_artifact;
struct tk_upstream_config;

struct tk_past {
	const struct tk_upstream_config *upstream;
	struct tk_revision revision;
	enum tk_past_state state;
	char key[TK_HASH_HEX_SIZE];  /* of its build in the cache; "": none is known */
	char code[TK_HASH_HEX_SIZE]; /* of the code of all its backends; "": unknown */
	bool build_failed;
	double build_s; /* that its build took; 0: unknown */
	size_t same_as; /* TK_PAST_SAME_CODE: index of the revision with this code */
	/* with_outside: parts of `path` that it touches; without a build, else a file that it
	 * changes and the nearest build read */
	char touched[TK_CHANGED_SIZE];
	int64_t as_of_s; /* of its night: its commit's time, a second later where that is taken */
};

struct tk_past_list {
	struct tk_past *items;
	size_t count;
};
void tk_past_list_free(struct tk_past_list *list);

/* The revisions of a request, from the repositories or from bundles, whose builds go into the
 * cache. store may be NULL: then none is measured. TK_EUSAGE: an upstream is unknown, or is not
 * built. */
int tk_past_list_read(const struct tk_config *config, struct tk_store *store,
        const struct tk_backfill_options *request, struct tk_past_list *out, struct tk_error *err);
/* Its build: from the cache, or with `may_build` made. TK_ENOTFOUND: the cache has none. */
int tk_past_load_build(const struct tk_config *config, struct tk_past *p, const char *arch,
        bool may_build, struct tk_artifact **out, struct tk_error *err);
/* Marks open revisions with the code of the newest one before them. */
void tk_past_list_mark_same(struct tk_past_list *list);
/* How many are open. */
size_t tk_past_list_count_open(const struct tk_past_list *list);

/* What a revision took lately, in seconds; NAN: unknown. store may be NULL. */
struct tk_past_cost {
	double build_s, night_s;
};
int tk_past_estimate(struct tk_store *store, const char *machine, const char *upstream,
        struct tk_past_cost *out, struct tk_error *err);

#endif
