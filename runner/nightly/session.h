/* A command that measures outside of a night (bisect, confirm): the lock of the history, the
 * modules and the devices; and builds of past revisions. Private to nightly/. */
#ifndef TK_SESSION_H
#define TK_SESSION_H
#include "nightly/night.h"

struct tk_lock;
struct tk_revision;

struct tk_session {
	struct tk_night night; /* night_id is 0 */
	struct tk_night_options options;
	struct tk_night_report report;
	struct tk_lock *lock;
};

/* program and observer are taken from `options`. TK_EBUSY: a night is running. Close in any
 * case. */
int tk_session_open(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err);
/* Without a history: nothing is stored. A night that is running in the history at db_path still
 * excludes it; the file need not exist. devices are taken from `options` too. */
int tk_session_open_unstored(const struct tk_config *config, const char *db_path,
        const struct tk_night_options *options, struct tk_session *s, struct tk_error *err);
void tk_session_close(struct tk_session *s);

struct tk_revision_build {
	int64_t build_id;
	bool ok, cached;
	char message[256]; /* why it failed */
};

/* Builds a revision of a git or self upstream, or takes it from the cache, and stores the build,
 * also a failed one. */
int tk_night_build_revision(struct tk_night *n, const struct tk_upstream_config *u,
        const struct tk_revision *r, struct tk_revision_build *out, struct tk_error *err);

#endif
