/* This machine at work outside of a night: the lock of the history, the modules, the devices; and
 * past revisions, built and known to the history. Private to nightly/. */
#ifndef TK_SESSION_H
#define TK_SESSION_H
#include "nightly/night.h"

struct tk_lock;
struct tk_revision;

struct tk_session {
	struct tk_night night; /* night_id 0; what its functions need of one is there */
	struct tk_night_options options;
	struct tk_night_report report;
	struct tk_lock *lock;
};

/* program and observer are taken from `options`. TK_EBUSY where a night is under way. Close in any
 * case. */
int tk_session_open(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err);
void tk_session_close(struct tk_session *s);

struct tk_revision_build {
	int64_t build_id;
	bool ok, cached;
	char message[256]; /* why it failed */
};

/* Builds a revision of a git or self upstream, or takes it from the cache; both outcomes are rows
 * of the history. */
int tk_night_build_revision(struct tk_night *n, const struct tk_upstream_config *u,
        const struct tk_revision *r, struct tk_revision_build *out, struct tk_error *err);

/* NULL: there is none. */
const struct tk_upstream_config *tk_config_find_upstream(
        const struct tk_config *config, const char *name);

#endif
