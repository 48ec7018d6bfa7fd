/* Which commit did it: the first-parent history between a good and a bad revision is halved, each
 * middle built and measured in turns with the good one, until two neighbours are left on either
 * side of the step. */
#ifndef TK_BISECT_H
#define TK_BISECT_H
#include "base/error.h"
#include "core/ab.h"
#include "detect/detect.h"
#include "detect/report/reason.h"
#include "upstream/repo.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_config;
struct tk_night;
struct tk_night_options;
struct tk_store;

struct tk_bisect_request {
	int64_t series_id;
	const char *good, *bad; /* revisions, as git takes them */
	const char *hint; /* a full hash that is asked about first, with the one before it; NULL:
	                     none */
	double budget_s;  /* wall time; 0: as long as it takes */
};

struct tk_bisect_report {
	enum tk_bisect_outcome word;
	char series[160], upstream[96];
	struct tk_revision good, bad; /* the range that was asked about */
	struct tk_revision last_good,
	        first_bad;               /* neighbours, but for RANGE; OPEN: how far it got */
	struct tk_ab_result whole, step; /* bad against good; first_bad against last_good */
	size_t revisions, left;          /* in the range; that may be it: 1 where it was found */
	size_t builds, built,
	        builds_failed; /* revisions that were asked for; made now, not in the cache; none */
	size_t same_code, comparisons,
	        skipped;           /* told by their machine code; by pairs; by nothing */
	size_t pairs;              /* used, also those of an earlier part */
	double confidence, wall_s; /* that first_bad is it */
	int64_t night_id; /* the newest of the series: its verdict is about these pairs, too */
	char why[256];    /* SAME, OPEN, RANGE */
	struct tk_error unjudged; /* all is stored, but its night was not judged again: why; TK_OK:
	                             it was */
};

/* Opens the devices, which takes the lock of the history; stores what it found
 * (tk_store_list_bisections), and judges the series' newest night again with the pairs it took:
 * where that fails, it is `unjudged`, not an error. Stopped and run again it goes on: builds are in
 * the cache, pairs in the history. TK_EUSAGE: the range is none, an end of it does not build, the
 * upstream has no revisions. */
int tk_bisect_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_bisect_request *request,
        struct tk_bisect_report *out, struct tk_error *err);
/* The same with what a night has open. */
int tk_bisect_run_in_night(struct tk_night *n, const struct tk_bisect_request *request,
        struct tk_bisect_report *out, struct tk_error *err);

/* For `git bisect run`: one revision against good, on which side of half the change of bad. */
enum tk_bisect_mark { TK_BISECT_MARK_GOOD = 0, TK_BISECT_MARK_BAD = 1, TK_BISECT_MARK_SKIP = 125 };
int tk_bisect_mark_revision(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_bisect_request *request,
        const char *rev, enum tk_bisect_mark *side, struct tk_bisect_report *out,
        struct tk_error *err);

/* One series measured in turns, its newest build against the one before its last step, or the
 * revisions given (bad only with good; NULL: those); then its night is judged again, or it is
 * `unjudged` as above. */
struct tk_confirm_report {
	char series[160], good[128], bad[128];
	struct tk_ab_result pairs;
	enum tk_verdict_status status; /* the verdict now, of the series' newest night */
	char reason[TK_REASON_SIZE];
	int64_t night_s; /* that night */
	double wall_s;
	bool worse; /* decided, in the bad direction */
	struct tk_error unjudged;
};
int tk_confirm_run(const struct tk_config *config, struct tk_store *store,
        const struct tk_night_options *options, const struct tk_bisect_request *request,
        struct tk_confirm_report *out, struct tk_error *err);

#endif
