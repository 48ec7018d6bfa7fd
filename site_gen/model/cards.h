/* Cards: the devices of one model, from several machines, and which of them are comparable. */
#ifndef TK_SITE_CARDS_H
#define TK_SITE_CARDS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tk_site_series;
struct json_t;
struct tk_buf;
struct tk_model;
struct tk_site_device;

#define TK_CARD_GROUP_MAX 16

struct tk_card_member {
	const struct tk_site_device *device;
	int64_t environment_id;    /* of its newest point; 0: none */
	struct json_t *attributes; /* of that environment, flat; NULL: unknown */
	size_t group;              /* members of one group are comparable */
};
struct tk_card {
	const char *name; /* the model, as the driver names it */
	char *file;
	struct tk_card_member *members; /* by group; in a group, in the order of the model */
	size_t count, group_count;      /* groups: largest first */
};
struct tk_cards {
	struct tk_card *at; /* models with at least two devices that were measured */
	size_t count;
};

/* Two devices of a model are comparable if their architecture and what is recorded of both in their
 * newest environments agree: the rules are a table in cards.c. Free with tk_cards_free(). */
void tk_cards_load(const struct tk_model *m, struct tk_cards *out);
void tk_cards_free(struct tk_cards *cards);
/* NULL: its model has no other device. */
const struct tk_card *tk_cards_find(
        const struct tk_cards *cards, const struct tk_site_device *device);
/* What makes two members incomparable: "driver 560.28 instead of 570.12, power cap 500 W instead of
 * 700 W"; nothing where they are comparable. */
void tk_card_add_obstacles(
        struct tk_buf *out, const struct tk_card_member *a, const struct tk_card_member *reference);
/* What the rules compare: "driver 570.12, power cap 700 W; not recorded: maximum clock". */
void tk_card_add_settings(struct tk_buf *out, const struct tk_card_member *a);
/* The first member of a group. */
const struct tk_card_member *tk_card_group(const struct tk_card *card, size_t group, size_t *count);

/* The timings of comparable devices next to each other, and how fast the devices are relative to
 * each other. */

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

/* tie: as in tk_point_compare. free() rows. */
void tk_card_ranking_load(const struct tk_model *m, const struct tk_card *card, size_t group,
        double tie, struct tk_card_ranking *out);

#endif
