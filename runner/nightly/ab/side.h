/* One side of `tracker ab`: from what the user wrote to backends that can be measured. Private to
 * nightly/ab/. */
#ifndef TK_AB_SIDE_H
#define TK_AB_SIDE_H
#include "nightly/ab/ab.h"
#include "nightly/night.h"
#include <sys/stat.h>

struct tk_ab_file_state {
	struct stat file;
	struct timespec newest; /* last change of anything in a folder */
};

struct tk_ab_side {
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
/* Finds a revision or a work tree of an upstream. Close in any case. */
int tk_ab_side_resolve(const struct tk_night *n, const struct tk_upstream_config *u,
        const char *spec, struct tk_ab_side *side, struct tk_error *err);
/* Builds what was found, or takes it from the cache. */
int tk_ab_side_build(struct tk_night *n, const struct tk_upstream_config *u,
        struct tk_ab_side *side, struct tk_error *err);
/* "FILE.so" or "BACKEND", with ":KEY=VALUE,..." after it. */
int tk_ab_side_load(
        struct tk_night *n, const char *spec, struct tk_ab_side *side, struct tk_error *err);
/* TK_EDATA: the file or package is no longer the one that was loaded, so that runs of both are
 * mixed. */
int tk_ab_side_check_file(struct tk_ab_side *side, struct tk_error *err);
void tk_ab_side_close(struct tk_ab_side *side);

#endif
