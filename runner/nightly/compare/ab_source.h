/* Where a side of `tracker ab` comes from: from what the user wrote to backends that can be
 * measured. Private to nightly/compare/. */
#ifndef TK_AB_SOURCE_H
#define TK_AB_SOURCE_H
#include "nightly/compare/ab_compare.h"
#include "nightly/night.h"
#include <sys/stat.h>

struct tk_ab_file_state {
	struct stat file;
	struct timespec newest; /* last change of anything in a folder */
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
/* The path of a backend of that build; a new string. */
int tk_ab_source_find_backend(
        const struct tk_ab_source *s, const char *backend, char **path, struct tk_error *err);
/* TK_EDATA: the file or package is no longer the one that was loaded, so that runs of both are
 * mixed. */
int tk_ab_source_check_file(struct tk_ab_source *s, struct tk_error *err);
void tk_ab_source_close(struct tk_ab_source *s);

#endif
