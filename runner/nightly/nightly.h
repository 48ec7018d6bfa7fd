/* A night: resolve, build, plan, measure, store, detect, publish. Every stage leaves its result in
 * the store, so that a night can be resumed after a kill -9. A failed stage is a row, not the end.
 */
#ifndef TK_NIGHTLY_H
#define TK_NIGHTLY_H
#include "detect/detect.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_config;
struct tk_error;
struct tk_store;

/* What the night says while it goes on; implemented by the program's progress display. All members
 * may be NULL. */
struct tk_night_observer {
	void *arg;
	void (*stage)(void *arg, const char *stage, const char *detail);
	void (*progress)(void *arg, size_t done, size_t total, const char *current);
};

/* Writes what people read of a finished night. The night knows no pages: the program passes this. */
struct tk_night_publisher {
	void *arg;
	/* Writes the path of the page to open into index_path, of TK_NIGHT_INDEX_SIZE bytes. */
	int (*publish)(void *arg, struct tk_store *store, char *index_path, struct tk_error *err);
};
#define TK_NIGHT_INDEX_SIZE 4096

struct tk_night_options {
	const char *program; /* absolute path of the tracker binary */
	const struct tk_night_observer *observer;
	char *const *devices; /* instead of the configuration's; NULL: as configured */
	bool split;  /* like devices share the problems, instead of each measuring all of them */
	bool resume; /* go on with the newest unfinished night */
	const struct tk_night_publisher *publisher; /* NULL: nothing is published */
	const char *import_file;   /* a bundle of `tracker build --export`: exactly what is in it is
	                              measured, nothing is   asked or built; NULL: none */
	const char *only_upstream; /* NULL: all */
	const char *backfill_revision; /* of only_upstream: a night of the past, see
	                                  tk_backfill_run; NULL: the newest */
	int64_t backfill_as_of_s;      /* where its points stand on the time axis */
	uint64_t seed;                 /* 0: from the night's start */
};

struct tk_night_report {
	int64_t night_id;
	char uid[65];
	size_t nights; /* backfill: how many were run */
	size_t builds, builds_failed, builds_cached, upstreams_unreachable;
	size_t jobs, measured, verified, wrong, failed, unsupported, skipped;
	size_t unstable; /* of those measured: the interval is wider than asked */
	size_t stages_failed;
	size_t culprits; /* commits that were found to be it */
	size_t suspects, confirmed, refuted,
	        pairs; /* of old and new builds; what is neither was left open */
	size_t by_status[TK_VERDICT_STATUS_COUNT]; /* the verdict on every series */
	double wall_s;
	bool complete; /* every planned job reached its outcome and none failed */
	char site_index[TK_NIGHT_INDEX_SIZE]; /* page of the site to open; "": none was written */
};

int tk_night_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, struct tk_night_report *report,
        struct tk_error *err);

/* Past revisions of one upstream, oldest first, each a night of its own that stands at its commit's
 * time. Revisions that this machine has measured already are left out. `report` is the sum. */
struct tk_backfill_options {
	const char *upstream;
	size_t commits,
	        every;    /* at most so many revisions, every so-manieth; 0: no limit, every one */
	int64_t since_s;  /* 0: any age */
	const char *arch; /* of tk_backfill_export: what to build for; NULL: this machine */
};

/* Where options->import_file is set, the revisions are those of that bundle (limit and age do not
 * matter), and neither the repository nor a compiler is needed. */
int tk_backfill_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_backfill_options *backfill,
        struct tk_night_report *report, struct tk_error *err);

/* Builds the same revisions instead of measuring them, and packs them into `file` for a machine
 * that measures. What does not build is left out and counted. TK_ENOTFOUND where nothing was built.
 */
struct tk_backfill_build_report {
	size_t revisions, built, cached, failed;
};
int tk_backfill_export(const struct tk_config *config, const struct tk_backfill_options *backfill,
        const char *file, struct tk_backfill_build_report *out, struct tk_error *err);

#endif
