/* `tracker tune`: which of a backend's configurations is the fastest for a problem? All of them are
 * verified and raced against each other (decide/rules/race.h); A/B runs then compare the winner
 * with the configuration that the backend prefers, its default. */
#ifndef TK_TUNE_H
#define TK_TUNE_H
#include "core/vocabulary.h"
#include "nightly/compare/ab_compare.h"

struct tk_store;
struct tk_tuning_row;

struct tk_tune_request {
	const char *target;   /* a built upstream, "BACKEND", "FILE.so"; with ":KEY=VALUE,..." */
	const char *revision; /* of a built upstream; NULL: the newest */
	/* Of the A/B runs; half of its budget is for the races. tk_tune() sets the sides. */
	struct tk_ab_request ab;
	bool no_ab;         /* do not compare the winner with the default: the races get all time */
	bool is_exhaustive; /* measure every configuration in all rounds */
	struct tk_store *store; /* gets the result; NULL: nothing is stored */
};

struct tk_tune_candidate {
	char config[128];
	enum tk_outcome outcome; /* of its verified run, or of the one that failed later */
	char message[256];
	size_t evaluations;
	double median_ns;      /* geometric mean of its evaluations; NAN: none */
	double slower, lo, hi; /* than the winner of the race, a ratio; NAN: not known */
	bool is_dropped;       /* it could no longer win */
};

/* One problem on one backend and device. */
struct tk_tune_row {
	struct tk_ab_row ab; /* base is the default, head the winner of the race */
	enum tk_tune_verdict verdict;
	struct tk_tune_candidate *candidates; /* the backend's order, its default first */
	size_t count;
	size_t winner; /* of the race; count: none */
	size_t chosen; /* what the verdict recommends; count: none */
	size_t evaluations, exhaustive_evaluations;
	size_t failed; /* candidates that neither have a timing nor are unsupported */
	double race_s;
	bool budget_spent; /* before the race was decided */
};

struct tk_tune_report {
	struct tk_ab_report ab;   /* without rows */
	struct tk_tune_row *rows; /* as requested */
	size_t count;
	size_t by_verdict[TK_TUNE_VERDICT_COUNT];
	size_t failed_candidates, evaluations;
	bool is_complete; /* all is measured, also where storing it fails */
};

/* As tk_ab_compare. Free *out in any case. */
int tk_tune(const struct tk_config *config, const struct tk_night_options *options,
        const struct tk_tune_request *request, struct tk_tune_report *out, struct tk_error *err);
/* The candidates of a row as docs/reference/tune.md has them. */
json_t *tk_tune_candidates_json(const struct tk_tune_row *row);
void tk_tune_report_free(struct tk_tune_report *r);

/* ---- `config: tuned` of an upstream: stored results as nights use them (retune.c) ---- */

/* The newest result of the backend, problem and device of a series with these options, of its mode
 * if there is one. A result of a backend without an upstream counts for upstreams that are not
 * built. is_decided: of those that decided; a newer one that did not leaves it in use. *found:
 * false where there is none. */
int tk_tuned_find(struct tk_store *s, int64_t series_id, const char *options, bool is_decided,
        struct tk_tuning_row *out, bool *found, struct tk_error *err);

#endif
