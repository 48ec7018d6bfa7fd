/* The timings of comparable devices next to each other, and how fast the devices are relative to
 * each other. */
#ifndef TK_SITE_CARD_RANKING_H
#define TK_SITE_CARD_RANKING_H
#include <stdbool.h>
#include <stddef.h>

#include "site_gen/model/cards.h"

struct tk_site_series;

/* One backend (upstream and configuration) on one problem. */
struct tk_card_row {
	const struct tk_site_series *at[TK_CARD_GROUP_MAX]; /* by member of the group; NULL: none */
	/* compared: of the revision that most devices have, in an environment that agrees with its
	 * device's */
	bool is_counted[TK_CARD_GROUP_MAX];
	/* the fastest device's, of the compared where there are any */
	const struct tk_site_series *best;
	bool is_ranked; /* some timing of it is compared */
	size_t rank;    /* of the ranked backends of this problem, from 1 */
	bool is_tied;   /* with another of that rank */
	double spread;  /* of the counted: slowest to fastest, 0.03: 3 %; NAN: fewer than two */
};
/* How the times of one member compare to those of another, over the rows in which both count. */
struct tk_card_pair {
	size_t count;
	double log_sum, lo, hi; /* of the ratios of times; lo and hi: the extremes */
};
struct tk_card_ranking {
	const struct tk_card_member *members;
	size_t member_count;
	struct tk_card_row *rows; /* what differs most between devices first */
	size_t row_count;
	struct tk_card_pair pairs[TK_CARD_GROUP_MAX][TK_CARD_GROUP_MAX];
	size_t order[TK_CARD_GROUP_MAX]; /* of the members, fastest first */
	struct {
		int64_t environment_id;
		bool agrees;
	} checked[TK_CARD_GROUP_MAX]; /* the environment that was checked last */
};

/* tie: as in tk_point_compare. free() rows, also after a failure. */
void tk_card_ranking_load(const struct tk_model *m, const struct tk_card *card, size_t group,
        double tie, struct tk_card_ranking *out);

#endif
