/* Finds a fast point of a large space of configurations with few measurements: a random start, then
 * always the point from which a model expects the most.
 *
 * The model is a Gaussian process over the logarithms of the times (Rasmussen and Williams 2006,
 * chapter 2): points whose parameters are near have times that are near. A parameter counts by the
 * rank of its value, not by the value. The next point is the one with the largest expected
 * improvement over the fastest one (Jones, Schonlau, Welch 1998); where the model expects the most
 * beside the fastest, that is a local search.
 *
 * Everything here is a function of the seed and the measured times: the same give the same
 * search. */
#ifndef TK_DECIDE_SPACE_SEARCH_H
#define TK_DECIDE_SPACE_SEARCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TK_SPACE_SEARCH_RUNS_MAX 200
#define TK_SPACE_SEARCH_GAIN_MIN 0.001 /* expected; less ends the search */

struct tk_space_search {
	size_t count, dimensions;
	double *at;     /* count x dimensions: 0 to 1 */
	double *log_ns; /* of each point: NAN until it has a time */
	bool *is_tried;
	size_t *tried; /* in order */
	size_t tried_count, start_count;
	size_t *start; /* of the random start */
	double *work;  /* of the model */
	double scale;  /* length along which times are alike */
	double noise;  /* of one time, relative to the spread of all; both by maximum likelihood */
};

/* values: count x dimensions, point by point; the first point is tried first. Close in any case.
 * 0 or TK_ENOMEM. */
int tk_space_search_open(struct tk_space_search *s, const int64_t *values, size_t count,
        size_t dimensions, uint64_t seed);
void tk_space_search_close(struct tk_space_search *s);
/* The next point to measure; false: the search is over. */
bool tk_space_search_next(struct tk_space_search *s, size_t *index);
/* Its time; NAN: it failed. */
void tk_space_search_put(struct tk_space_search *s, size_t index, double ns);
/* The fastest `max` of the points that were tried, the best first; returns their number. */
size_t tk_space_search_list_best(const struct tk_space_search *s, size_t *out, size_t max);

#endif
