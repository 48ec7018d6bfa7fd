/* A night: probe, resolve, build, plan, measure, confirm, detect, bisect, trace, tune, tidy,
 * publish. Every stage stores its result, so that a night can be resumed after a kill -9. A failed
 * stage is stored like any other result. */
#ifndef TK_NIGHTLY_H
#define TK_NIGHTLY_H
#include "base/base.h"
#include "decide/decide.h"

struct tk_config;
struct tk_store;

/* Shows progress; implemented by the program. All members may be NULL. */
struct tk_night_observer {
	void *arg;
	void (*stage)(void *arg, const char *stage, const char *detail);
	void (*progress)(void *arg, size_t done, size_t total, const char *current);
};

/* Publishes a finished night. The night does not depend on site_gen: the program passes this
 * callback. */
struct tk_night_publisher {
	void *arg;
	/* Writes the path of the page to open into index_path, of TK_NIGHT_INDEX_SIZE bytes. */
	int (*publish)(void *arg, struct tk_store *store, char *index_path, struct tk_error *err);
};
#define TK_NIGHT_INDEX_SIZE 4096

struct tk_night_options {
	const char *program; /* absolute path of the tracker binary */
	const struct tk_night_observer *observer;
	const struct tk_night_publisher *publisher; /* NULL: nothing is published */
	char *const *devices; /* overrides the configuration; NULL: as configured */
	bool split;           /* devices of one model share the problems */
	uint32_t part, parts; /* measures only the part-th of `parts` shares of the problems, from 1
	                         on; parts 0: all of them */
	bool resume;          /* the newest unfinished night */
	const char *import_file;       /* measure only the builds of this bundle; NULL: none */
	const char *only_upstream;     /* NULL: all */
	const char *backfill_revision; /* a past revision of only_upstream; NULL: the newest */
	const char *backfill_key;      /* of its build in the cache; NULL: it is built */
	int64_t backfill_as_of_s;      /* its place on the time axis */
	uint64_t seed;                 /* of the order of the jobs; 0: random */
};

struct tk_night_report {
	int64_t night_id;
	char uid[65];
	size_t nights;        /* of a backfill */
	size_t same_code;     /* revisions that a backfill left out for their machine code */
	size_t between_equal; /* and those between two that do not differ */
	size_t builds, builds_failed, builds_partial, builds_cached, upstreams_unreachable;
	size_t jobs, measured, verified, wrong, implausible, failed, unsupported, skipped;
	size_t unstable; /* of `measured`: the interval is wider than its target, or a new process
	                    measured another time */
	size_t stages_failed;
	size_t first_bad_commits;                  /* found by bisection */
	size_t stale_tunings, tuned;               /* by the stage "tune": found, searched again */
	size_t suspects, confirmed, refuted;       /* the other suspects are inconclusive */
	size_t pairs;                              /* of A/B runs */
	size_t by_status[TK_VERDICT_STATUS_COUNT]; /* series */
	bool is_stored; /* the night has its final status; only the site may be missing */
	double wall_s;
	bool complete;                        /* every job has an outcome, and nothing failed */
	char site_index[TK_NIGHT_INDEX_SIZE]; /* page to open; "": nothing was published */
};

int tk_night_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, struct tk_night_report *report,
        struct tk_error *err);

/* Measures past revisions, oldest first. Each is a night of its own at its commit's time. Revisions
 * that this machine has measured are left out, and those with the machine code of the one before.
 * `report` is the sum. */
struct tk_backfill_options {
	char *const *upstreams; /* NULL-terminated */
	char *const
	        *import_files;    /* bundles: the revisions are all those in them of `upstreams`, or
	                              of all upstreams; needs neither a repository nor a compiler */
	size_t commits;           /* of each upstream at most; 0: no limit */
	size_t every;             /* only every n-th; 0: every one */
	int64_t every_s;          /* at least that long apart; 0: any */
	const char *tags;         /* only those that have a tag, or version, of this pattern */
	int64_t since_s, until_s; /* times of commits; 0: any */
	const char *since_rev, *until_rev; /* instead: revisions of each upstream */
	bool same_code;                    /* also those with the machine code of the one before */
	bool ends_first;   /* first and last, then the middle of each range whose ends differ */
	bool newest;       /* a list alone: those of the next night, whatever is measured */
	bool with_outside; /* a list alone: also commits that touch nothing of `path` */
	const char *arch;  /* tk_backfill_export only: target; NULL: this machine */
};

enum tk_past_state {
	TK_PAST_OPEN,      /* is measured */
	TK_PAST_MEASURED,  /* by this machine */
	TK_PAST_SAME_CODE, /* as the revision before it */
	TK_PAST_BETWEEN,   /* between two revisions that do not differ */
	TK_PAST_OUTSIDE,   /* touches nothing of the upstream's `path` */
};
extern const char *const tk_past_state_words[];

int tk_backfill_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_backfill_options *backfill,
        struct tk_night_report *report, struct tk_error *err);

/* Builds the same revisions without measuring them, and packs them into `file` for another machine.
 * Builds that fail are left out and counted. TK_ENOTFOUND: none could be built. */
struct tk_backfill_build_report {
	size_t revisions, built, cached, failed;
	size_t partial; /* of those built, without all kernels */
};
int tk_backfill_export(const struct tk_config *config, const struct tk_backfill_options *backfill,
        const char *file, struct tk_backfill_build_report *out, struct tk_error *err);

#endif
