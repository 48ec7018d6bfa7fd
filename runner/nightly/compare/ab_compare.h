/* The comparison engine: is head slower than base? Two sides are measured in A/B runs, pair by
 * pair, until the pairs decide or a budget is spent.
 *
 * `tracker ab`: the sides are revisions of an upstream, work trees, shared objects, backends or
 * their configurations; problem by problem, and nothing is stored. `tracker confirm`: the builds
 * of one stored series. A night (confirm.c), bisect/ and tune/ use the same tests. */
#ifndef TK_AB_COMPARE_H
#define TK_AB_COMPARE_H
#include "base/base.h"
#include "core/verdict.h"
#include "core/vocabulary.h"
#include "upstream/repo.h"

struct tk_config;
struct tk_night_options;
struct tk_store;

struct tk_ab_request {
	/* NULL: base and head are "FILE.so" or "BACKEND", with ":KEY=VALUE,..." after it for
	 * options. Else they are revisions of this upstream, "worktree", or a folder ("/...",
	 * "./...", "../..."). */
	const char *upstream;
	const char *side[TK_AB_SIDES];
	const char *backend; /* the only one of the upstream to measure; NULL: all */
	char *const *problems;
	size_t problem_count;
	/* measured after `problems`; NULL, and no problems: the configured ones */
	const char *suite;
	enum tk_mode mode; /* TK_MODE_COUNT: the first one that is configured for the device */
	double min_effect; /* the change that must be exceeded; NAN: as configured */
	double budget_s;   /* for measuring, without the builds; 0: no limit */
	/* Give a problem that many pairs before the next one gets any, and decide at the end of the
	 * budget by tk_ab_result_evaluate_last(). 0: the time is shared pair by pair. */
	size_t first_pairs;
	bool all; /* also measure what has the same machine code */
	bool no_verify;
	const char *db_path; /* a night running in this history excludes the comparison */
};

/* One problem on one backend and device. */
struct tk_ab_row {
	char problem[256], title[160]; /* canonical, for people */
	char backend[64];              /* of base; head has the same, or the one of its side */
	char device[64], mode[TK_MODE_WORD_SIZE];
	enum tk_ab_verdict verdict;
	struct tk_ab_result result;
	double level_ns[TK_AB_SIDES]; /* median over the pairs; NAN: none */
	enum tk_outcome outcome[TK_AB_SIDES];
	char message[512]; /* why a side failed; "" */
	double wall_s;
};

struct tk_ab_side_report {
	const char *name;            /* "base", "head" */
	const char *option;          /* in messages, before what the user wrote: "--base=" */
	char spec[256];              /* as the user wrote it */
	struct tk_revision revision; /* id "": not a revision */
	bool is_worktree, built, cached;
	char backend[64]; /* without an upstream */
	char toolchain[160];
};

struct tk_ab_report {
	char upstream[96], machine[96]; /* upstream "": none */
	struct tk_ab_side_report side[TK_AB_SIDES];
	struct tk_ab_row *rows; /* the most severe verdict first */
	size_t count;
	size_t by_verdict[TK_AB_VERDICT_COUNT];
	size_t pairs;
	double budget_s, wall_s; /* of the measurements */
	double min_effect;
	bool budget_spent; /* while problems were undecided */
};

/* `options` give program, observer, devices and seed; without devices, the first device of each
 * backend's kind is used. TK_EUSAGE: unknown upstream, revision, backend or problem, or nothing to
 * compare; TK_EDATA: a side does not build. Free *out in any case. */
int tk_ab_compare(const struct tk_config *config, const struct tk_night_options *options,
        const struct tk_ab_request *request, struct tk_ab_report *out, struct tk_error *err);
void tk_ab_report_free(struct tk_ab_report *r);

/* Two built revisions of an upstream, for a command that measures them in its own way. */
struct tk_ab_revisions {
	char *path[TK_AB_SIDES]; /* of the backend */
	struct tk_ab_side_report side[TK_AB_SIDES];
	const char *options; /* of the upstream, the configuration's; NULL: none */
};

/* From the cache where it has them. `specs` are as in struct tk_ab_request. TK_EUSAGE: no such
 * upstream, revision or backend. Free *out in any case. */
int tk_ab_revisions_build(const struct tk_config *config, const char *db_path,
        const struct tk_night_options *options, const char *upstream, const char *backend,
        const char *const specs[TK_AB_SIDES], struct tk_ab_revisions *out, struct tk_error *err);
void tk_ab_revisions_free(struct tk_ab_revisions *r);

struct tk_confirm_request {
	int64_t series_id;
	/* revisions that nights have measured; NULL: the newest one as head, and as base the last
	 * one before its change */
	const char *rev[TK_AB_SIDES];
	double budget_s; /* wall time; 0: unlimited */
};

struct tk_confirm_report {
	char series[160], rev[TK_AB_SIDES][128];
	struct tk_ab_result pairs;
	enum tk_verdict_status status; /* now, of the series' newest night */
	char reason[TK_REASON_SIZE];
	int64_t night_s; /* of that night */
	double wall_s;
	bool worse;                      /* the pairs confirm a regression */
	struct tk_error detection_error; /* as in struct tk_bisect_report */
};

/* Compares two measured builds of a series, stores the pairs and updates the verdict of the series'
 * newest night. TK_ENOTFOUND: a build is not in the cache. */
int tk_confirm_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_confirm_request *request,
        struct tk_confirm_report *out, struct tk_error *err);

#endif
