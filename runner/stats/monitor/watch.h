/* One series, night after night: has its level changed, by what is known tonight?
 *
 * The noise is learnt from the series' own past (stats/states.h; a weekly pattern is taken out where there is one)
 * about the levels that it had. Then the log-likelihood of "another level since night s" is set against "the same
 * level": for splits of three to some fifty nights back, at the best new level, less the share that the uncertainty of
 * the old level and of the fit takes away. A change is what its caller accepts. */
#ifndef TK_STATS_WATCH_H
#define TK_STATS_WATCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_numbers;
struct tk_watch;
struct tk_watch_room; /* what a watch works in for one night: those that are asked in turn share one */

struct tk_suspicion {
	size_t split;         /* of y: the first night at the new level */
	double before, after; /* levels, logarithms */
	double evidence;      /* log-likelihood ratio; 0: nothing is suspected */
};

#define TK_WATCH_EVIDENCE 10.0 /* that makes a change */
#define TK_WATCH_MEMORY 200    /* nights that are looked at */
#define TK_WATCH_FIRST 20      /* nights before anything is said */

struct tk_watch_room *tk_watch_room_new(void); /* NULL: out of memory */
void tk_watch_room_free(struct tk_watch_room *room);
struct tk_watch *tk_watch_new(
        double min_effect, struct tk_watch_room *room); /* min_effect: relative; NULL: out of memory */
void tk_watch_free(struct tk_watch *w);
/* y[0 .. n): logarithms of all nights so far, day: their numbers; of more than TK_WATCH_MEMORY only the last so many
 * are looked at. To be called once a night. 0 or TK_ENOMEM. */
int tk_watch_night(struct tk_watch *w, const double *y, const int64_t *day, size_t n, struct tk_suspicion *out);
/* The last suspicion is true. False: not a new level, but the end of an excursion of two weeks at most from the one
 * before: that one goes on, and what lay between counts as its noise. *nights: how long it was. */
bool tk_watch_accept(struct tk_watch *w, const struct tk_suspicion *s, size_t *nights);
/* The level that it is at; after TK_WATCH_FIRST nights. */
double tk_watch_level(const struct tk_watch *w);
/* p of so much evidence on one night, with what was searched. */
double tk_watch_p(double evidence);

/* Writes or reads what is known after n nights, so that another process goes on with night n + 1. 0 or TK_EDATA: out of
 * memory, or these are not its numbers; a watch that was read is to be thrown away then. */
int tk_watch_visit(struct tk_watch *w, size_t n, struct tk_numbers *io);

#endif
