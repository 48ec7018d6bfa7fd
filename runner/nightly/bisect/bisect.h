/* Finds the first bad commit of a regression: halves the first-parent history between a good and
 * a bad revision, building each middle and measuring it in A/B runs against the good one. */
#ifndef TK_BISECT_H
#define TK_BISECT_H
#include "base/base.h"
#include "core/vocabulary.h"
#include "decide/decide.h"
#include "upstream/repo.h"

struct tk_config;
struct tk_night;
struct tk_night_options;
struct tk_store;

struct tk_bisect_request {
	int64_t series_id;
	const char *good, *bad; /* revisions, as git takes them */
	const char *hint;       /* full hash that is tested first, with its parent; NULL: none */
	double budget_s;        /* wall time; 0: unlimited */
};

struct tk_bisect_report {
	enum tk_bisect_outcome outcome;
	char series[160], upstream[96];
	struct tk_revision good, bad; /* the requested range */
	/* FOUND: parent and child. RANGE: with unbuildable commits between. INCONCLUSIVE: what
	 * is left. */
	struct tk_revision last_good, first_bad;
	struct tk_ab_result range_result;    /* bad against good */
	struct tk_ab_result step_result;     /* first_bad against last_good */
	size_t revisions;                    /* in the range */
	size_t candidates;                   /* that may be the first bad one; FOUND: 1 */
	size_t builds, built, builds_failed; /* requested; of these built now, and failed */
	size_t same_code, comparisons,
	        skipped;   /* decided by equal code; by A/B runs; not decided */
	size_t pairs;      /* also of an earlier part of this bisection */
	double confidence; /* in first_bad */
	double wall_s;
	int64_t night_id;                /* newest of the series: the pairs count for its verdict */
	char explanation[256];           /* of another outcome than FOUND, or of a low confidence */
	struct tk_error detection_error; /* the result is stored, but the verdict was not updated */
};

/* Of a series whose newest run ended as build_failed, the first commit is found whose build is
 * worse than that of `good`; nothing is measured.
 *
 * Takes the lock of the history, stores the result (tk_store_list_bisections) and updates the
 * verdict of the series' newest night. Stopped and run again it continues: builds are in the
 * cache, pairs in the history. TK_EUSAGE: not a range, an end that does not build, or an
 * upstream without revisions. */
int tk_bisect_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_bisect_request *request,
        struct tk_bisect_report *out, struct tk_error *err);
/* The same with the lock and the devices of a night, without updating the verdict. */
int tk_bisect_run_in_night(struct tk_night *n, const struct tk_bisect_request *request,
        struct tk_bisect_report *out, struct tk_error *err);

/* Exit codes of `git bisect run`. */
enum tk_bisect_mark { TK_BISECT_MARK_GOOD = 0, TK_BISECT_MARK_BAD = 1, TK_BISECT_MARK_SKIP = 125 };
/* Marks one revision: bad if it has more than half of the change between good and bad. */
int tk_bisect_mark_revision(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_bisect_request *request,
        const char *rev, enum tk_bisect_mark *mark, struct tk_bisect_report *out,
        struct tk_error *err);

#endif
