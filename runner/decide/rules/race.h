/* Which of several configurations is the fastest? They are measured in rounds, each contestant
 * once a round, and those that can no longer win are dropped. The longer a contestant stays, the
 * more rounds its estimate rests on.
 *
 * Everything here is a function of the measured times alone: the same times give the same race. */
#ifndef TK_DECIDE_RACE_H
#define TK_DECIDE_RACE_H
#include <stdbool.h>
#include <stddef.h>

#define TK_RACE_ROUNDS_MIN 2 /* before any is dropped: one run alone may have been disturbed */
#define TK_RACE_ROUNDS_MAX 6

struct tk_race_contestant {
	double log_ns[TK_RACE_ROUNDS_MAX]; /* natural logarithm of the time in each round */
	size_t rounds;                     /* it was measured in */
	bool is_out; /* set by the caller: it failed; by tk_race_evaluate: it cannot win */
	/* Set by tk_race_evaluate: by how much it is slower than the leader, a ratio, and the
	 * interval; of one that is out, when it was dropped. NAN: not known. */
	double slower, lo, hi;
};

struct tk_race {
	struct tk_race_contestant *contestants; /* the caller's */
	size_t count;
	double min_effect;  /* a difference that does not matter, a ratio */
	bool is_exhaustive; /* drops nobody and runs all rounds */
	size_t leader;      /* count: nobody has a time */
	bool is_decided;    /* no further round is needed */
};

/* To be called after each round, when all that are not out were measured in it; after a round that
 * was broken off, only the complete rounds count.
 *
 * The logarithm of a time is the contestant's level, the round's and noise. The noise is
 * estimated from all contestants together, and from an assumption that weighs as much as
 * TK_RACE_PRIOR_DF differences, so that a few equal times by chance are not taken for no noise. A
 * contestant is out when the interval of its difference to the leader is above 0; the chance that
 * the fastest one is dropped in a round is at most TK_RACE_ALPHA. The race is decided when one is
 * left, when none that is left can be faster than the leader by min_effect, or after
 * TK_RACE_ROUNDS_MAX rounds. */
#define TK_RACE_ALPHA 0.01
#define TK_RACE_PRIOR_DF 4
#define TK_RACE_PRIOR_SD 0.02
void tk_race_evaluate(struct tk_race *race);
/* Mean over the first `rounds`, a logarithm; NAN: 0 rounds. */
double tk_race_level(const struct tk_race_contestant *c, size_t rounds);

#endif
