/* What `tracker ab` and `tracker tune` share: two sides and their problems. Private to nightly/. */
#ifndef TK_AB_SESSION_H
#define TK_AB_SESSION_H
#include "decide/decide.h"
#include "nightly/compare/ab_compare.h"
#include "nightly/compare/ab_test.h"
#include "nightly/night.h"

/* ---- ab_source.c: from what the user wrote to backends that can be measured ---- */

/* Device, inode, size, times in ns; and the last change of anything in a folder. */
struct tk_ab_file_state {
	int64_t values[6];
};

struct tk_ab_source {
	struct tk_ab_side_report *report;
	struct tk_artifact *artifact;
	/* kind of device of each backend of the artifact; "" if it cannot be loaded */
	char **kinds;
	size_t kind_count;
	char *file; /* as the user keeps it, who may replace it meanwhile; NULL: a build */
	struct tk_ab_file_state file_state;
	char *snapshot;   /* folder, removed on closing; NULL: none */
	char *options;    /* of the backend, "" */
	char *config;     /* one of the backend's own; NULL: the one it prefers */
	uint32_t threads; /* 0: as configured */
};

/* TK_EUSAGE: there is none of that name, or it has no revisions. */
int tk_ab_find_upstream(const struct tk_config *config, const char *name,
        const struct tk_upstream_config **out, struct tk_error *err);

/* Close in any case. */
void tk_ab_source_init(
        struct tk_ab_source *s, enum tk_ab_side_id side, struct tk_ab_side_report *report);
/* Finds revisions or work trees of an upstream, then builds them or takes them from the cache. */
int tk_ab_sources_build(struct tk_night *n, const struct tk_upstream_config *u,
        const char *const specs[TK_AB_SIDES], struct tk_ab_source sources[TK_AB_SIDES],
        struct tk_error *err);
/* "FILE.so" or "BACKEND", with ":KEY=VALUE,..." after it. */
int tk_ab_source_load(
        struct tk_night *n, const char *spec, struct tk_ab_source *s, struct tk_error *err);
/* TK_EDATA: the file or package is no longer the one that was loaded, so that runs of both are
 * mixed. */
int tk_ab_source_check_file(struct tk_ab_source *s, struct tk_error *err);
void tk_ab_source_close(struct tk_ab_source *s);

/* ---- ab_session.c ---- */

/* One problem on one backend and device. */
struct tk_ab_problem {
	struct tk_ab_row row;
	struct tk_ab_test test;
	bool is_checked; /* both sides have computed the result once, verified */
	bool is_decided; /* nothing more is measured */
};

struct tk_ab_session {
	struct tk_session session;
	struct tk_night *n;
	const struct tk_ab_request *request;
	struct tk_ab_report *report;
	struct tk_ab_source source[TK_AB_SIDES];
	struct tk_ab_problem *problems;
	size_t count;
	int64_t started_ns; /* of the measurements */
};

/* The caller may rename the sides in `out` before the next step. Close in any case. */
int tk_ab_session_open(const struct tk_config *config, const struct tk_night_options *options,
        const struct tk_ab_request *q, struct tk_ab_report *out, struct tk_ab_session *c,
        struct tk_error *err);
/* Builds or loads both sides, and plans. */
int tk_ab_session_prepare(struct tk_ab_session *c, struct tk_error *err);
/* TK_EDATA: the file of a side is no longer the one that was loaded. */
int tk_ab_session_check_files(struct tk_ab_session *c, struct tk_error *err);
/* Measures until every problem is decided or the budget is spent, and sets the verdicts. */
int tk_ab_session_measure(struct tk_ab_session *c, struct tk_error *err);
void tk_ab_session_close(struct tk_ab_session *c);

#endif
