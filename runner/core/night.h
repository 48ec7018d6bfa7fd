/* What a night was to measure, and how many of them there are. */
#ifndef TK_CORE_NIGHT_H
#define TK_CORE_NIGHT_H
#include "core/vocabulary.h"

#define TK_NIGHT_PARTS_MAX 1000

/* What a night was to measure, by the summary that it is stored with. */
struct tk_night_coverage {
	bool has_all_upstreams; /* not one of `tracker nightly --upstream` */
	uint32_t part;          /* K of `tracker nightly --part=K/N`; 0: all problems */
};
struct tk_night_coverage tk_night_read_coverage(const char *summary);

/* Counts nights of all upstreams. Those of one upstream are left out, and the parts of a split
 * night count as one: each part occurs once in it. Starts as zeros. */
struct tk_night_tally {
	uint32_t whole, of_part[TK_NIGHT_PARTS_MAX + 1];
	uint32_t most_frequent_part; /* 0: there are no parts */
};
void tk_night_tally_add(struct tk_night_tally *c, struct tk_night_coverage night);
uint32_t tk_night_tally_total(const struct tk_night_tally *c);

#endif
